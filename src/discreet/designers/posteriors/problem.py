"""One design as a problem of posteriors: which are allowed, what they cost, and how a mixture becomes a mechanism.

Every method that mixes posteriors starts here and ends in `Problem.outcome`.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from discreet._support import progress
from discreet._support.errors import BrokenNotionError, InputError, UnsupportedNotionError
from discreet._support.numeric import FloatArray, IntArray, ObjectArray
from discreet.core.beliefs import on_classes
from discreet.core.joint import Joint
from discreet.designers.history import History
from discreet.designers.merging.opposites import opposite_blocks
from discreet.designers.merging.subset_merging import partitions
from discreet.designers.outcome import Outcome
from discreet.designers.posteriors.generation import Budget
from discreet.designers.posteriors.lp import is_nearly_certain
from discreet.designers.posteriors.nearness import places_on_a_line
from discreet.designers.posteriors.perfect import Independence, private_weights
from discreet.designers.posteriors.quotient import Quotient, is_about_beliefs
from discreet.designers.posteriors.realise import (
    RARE,
    SOLVED_EXACTLY,
    mixture_weights,
    polish,
    realise,
    released_labels,
)
from discreet.designers.protocols.excess import bounds_lifts
from discreet.designers.protocols.tight_rr import tight_rr
from discreet.mechanism import ChannelMechanism, Earlier, Mechanism, provenance
from discreet.notions import SRLIP, Notion
from discreet.notions.srlip import slices
from discreet.proof.boxes import Proof
from discreet.proof.curved import Curved
from discreet.proof.pairs import by_pairs
from discreet.proof.polytope import Polytope
from discreet.utilities import Distance, Information, Utility

__all__ = ["Problem"]

#: More classes than this are gathered into cells.
MOST_SYMBOLS = 2000

#: Alphabets up to this size are enclosed by cuts where there are rows as well.
CUT_UP_TO = 40

#: Larger proofs are not kept: the bound is then claimed, and nobody can check it.
MOST_PROOF_NUMBERS = 20_000_000

#: Alphabets up to this size are merged symbol by symbol too, where they are designed on by class; larger ones where
#: there are seconds for so many symbols each, up to the last size.
MERGED_BY_SYMBOL, MERGED_IN_A_SECOND, MERGED_UP_TO = 5_000, 7_000, 50_000

#: Alphabets up to this size have protocols tried whose weights are a full matrix.
MOST_IN_PROTOCOLS = 500

#: Integers that judging such a protocol takes where it is tried in any case: some tenths of a second.
QUICK_PROTOCOLS = 1_000_000

#: Entries of the equations of perfect privacy that a second is enough for, all that comes of them included.
EQUATIONS_IN_A_SECOND = 50_000

#: Rows that a given posterior may exceed by rounding; it is polished like any other.
INSIDE = 1e-12


class Problem:
    """One joint, or several over the same alphabets, and the symbols that need a decision.

    Where several symbols tell the same about S, the problem is about classes of them (`Quotient`): its joint is that of
    S and the class, and a mechanism on classes becomes one on symbols in the end.

    Attributes
    ----------
    joint : Joint
        What is designed on: P(s, x), or P(s, class of x).
    given : Joint
        P(s, x).
    symbols : ndarray of int
        Those that occur; the problem speaks of them as 0, 1, 2, ...
    polytope : Polytope
        Posteriors over them that are allowed.
    costs : Utility
        The utility over them.
    fallback : ndarray of int
        Blocks of all symbols that are allowed as they are.
    in_shares : bool
        Whether a solver counts in shares of each symbol (`ColumnGeneration`).
    """

    def __init__(
        self,
        joint: Joint,
        notion: Notion,
        utility: Utility,
        also: Sequence[Joint] = (),
        start: Mechanism | None = None,
        near: Distance | None = None,
        after: Earlier | None = None,
        *,
        by_cuts: bool = False,
        budget: Budget | None = None,
    ) -> None:
        if not (notion.is_enclosed if by_cuts else notion.is_polyhedral):
            raise UnsupportedNotionError(
                f"the allowed posteriors of {notion} are not a polytope, which {utility.name} needs them to be. Use "
                "method='auto', which designs inside of them, or the utility 'information'."
            )
        if notion.confidence is not None and int(joint.occurs.sum()) > MOST_SYMBOLS:
            raise InputError(
                f"designs under {notion} take {MOST_SYMBOLS:,} useful values at most, got {int(joint.occurs.sum()):,}: "
                "so many have few records each, which tell little. Make them coarser (bins, fewer columns), or use "
                "method='subset-merging'."
            )
        if start is not None and start.useful != joint.useful:
            raise InputError("start takes a mechanism over the useful values of the joint, in the same order.")
        if any(other.useful != joint.useful for other in also):
            raise InputError("also takes joints over the same useful values, in the same order.")
        if after is not None:
            _check_after(notion, after, also)
        # A zero budget on either side is perfect privacy, whose equations are easier to solve than its inequalities.
        self.is_perfect = any(bound.epsilon == 0 for bound in notion.bounds) and notion.confidence is None
        self.notion, self.utility, self.known_mechanism = notion, utility, start
        self.budget = Budget(None) if budget is None else budget
        self.given, self.given_also, self.after = joint, tuple(also), after
        self.history = History(utility.prior(joint))
        places = None if near is None else places_on_a_line(near, joint.useful)
        # Symbols of one belief are not alike where earlier releases told them apart.
        on_beliefs = is_about_beliefs(notion, utility) and after is None
        self.quotient = Quotient.of(joint, *also, places=places) if on_beliefs else None
        if self.quotient is not None:
            joint, also = self.quotient.inner, [on_classes(other, self.quotient.classes) for other in also]
        self.joint, self.also = joint, also
        self.symbols: IntArray = np.flatnonzero(joint.p_useful > 0)
        inner = joint if len(self.symbols) == joint.n_useful else joint.given(self.symbols)
        self.costs = utility.over(inner.useful)
        others = [_folded(other, joint, self.symbols) for other in also]
        outcomes = () if after is None else [table[:, self.symbols] for table in after.outcomes]
        self._inner = inner
        if not self.is_perfect:
            # Rows with auxiliary variables are faster than cuts where symbols are many, but no checker makes them anew.
            is_cut = by_cuts and after is None and not (notion.is_polyhedral and len(self.symbols) > CUT_UP_TO)
            curved = Curved.of(inner, notion, others) if is_cut else None
            if curved is not None and len(self.symbols) > MOST_SYMBOLS:
                raise InputError(
                    f"optima under {notion} take {MOST_SYMBOLS:,} useful values that tell different things about S at "
                    f"most, got {len(self.symbols):,}. Use method='auto', which designs under notions that imply it."
                )
            self.polytope = Polytope.of(inner, notion, others, outcomes, curved)
        self.in_shares = is_nearly_certain(inner.p_useful)

    def counted_in_shares(self) -> Problem | None:
        """The same for a solver that sees the rarest symbols too, where there are such and it was not told to."""
        if self.in_shares or float(self.polytope.p_useful.min()) >= RARE:
            return None
        other = copy.copy(self)
        other.in_shares = True
        return other

    @cached_property
    def polytope(self) -> Polytope:
        """That of perfect privacy, whose equations take their time; others are made at once."""
        return self._independent.polytope(self._inner.p_useful)

    @property
    def is_hasty(self) -> bool:
        """Whether the time is too short for the equations of perfect privacy, which are made in integers."""
        entries = self.joint.n_sensitive * len(self.symbols)
        return self.is_perfect and not self.budget.is_enough_for(entries / EQUATIONS_IN_A_SECOND)

    @property
    def beyond_classes(self) -> float:
        """H(X) - H(C), nats: what members of a class tell beyond it, which every design can keep."""
        return 0.0 if self.quotient is None else self.utility.prior(self.given) - self.utility.prior(self.joint)

    @cached_property
    def fallback(self) -> IntArray:
        """Partition of the symbols that keeps the notion: subset merging, or all in one where others object."""
        if self.is_large:  # merging takes too long
            return np.zeros(self.joint.n_useful, dtype=np.int64)
        blocks: IntArray = partitions([self.joint], [self.notion], is_over=self.budget.is_over)[0]
        merged = Mechanism.from_blocks(self.joint, blocks)
        if self.holds(merged) if self.quotient is None else self._holds_on_classes(merged):
            return blocks
        found = self._opposites()
        if found is not None and self.holds(Mechanism.from_blocks(self.joint, found)):
            return found
        return np.zeros(self.joint.n_useful, dtype=np.int64)

    def _opposites(self) -> IntArray | None:
        """Blocks of opposite symbols that the rows allow, which know what came before; None where rows are lifted."""
        inside = None if self.is_perfect or self.quotient is not None else self.polytope.narrowed
        if inside is None or inside.is_lifted or inside.equal.any() or inside.curved is not None:
            return None
        blocks = opposite_blocks(inside.own_rows, inside.p_useful, is_over=self.budget.is_over)
        result = np.full(self.joint.n_useful, self.symbols[blocks[int(inside.p_useful.argmax())]])
        result[self.symbols] = self.symbols[blocks]
        return result

    def _holds_on_classes(self, mechanism: Mechanism) -> bool:
        return all(self.notion.holds(joint, mechanism) for joint in (self.joint, *self.also))

    @property
    def chains(self) -> list[IntArray]:
        """Groups of the symbols for limits by the chain rule, the fewest first; none where promises end there.

        By the attribute with the most values, and by all others: one kind has few groups, the other small ones.
        """
        is_inside = isinstance(self.notion, SRLIP) and not self.is_perfect and self.after is None
        if not is_inside or self.utility != Information():
            return []
        codes = self.joint.attributes[:, self.symbols]
        most = max(range(len(codes)), key=lambda k: len(np.unique(codes[k])))
        parts = [codes[most : most + 1], np.delete(codes, most, axis=0)] if len(codes) > 1 else []
        found = [np.unique(part, axis=1, return_inverse=True)[1].reshape(-1) for part in parts]
        proper = [groups for groups in found if 0 < groups.max() < len(groups) - 1]
        return sorted(proper, key=lambda groups: int(groups.max()))

    def merged(self) -> list[Mechanism]:
        """The fallback as a mechanism on symbols, and what merging symbols gives where they are few enough."""
        if self.quotient is None and not self.is_large:
            return [Mechanism.from_blocks(self.joint, self.fallback)]
        blocks = self.fallback if self.quotient is None else self.fallback[self.quotient.classes]
        made = [Mechanism.from_blocks(self.given, blocks)]
        if self.given.n_useful <= MERGED_BY_SYMBOL:
            made.append(self._merged_by_symbol())
        return [mechanism for mechanism in made if self.holds(mechanism)]

    def merged_in(self, seconds: float) -> list[Mechanism]:
        """What merging symbols gives, where so many seconds are enough for an alphabet that is not merged anyway."""
        most = min(MERGED_IN_A_SECOND * min(max(seconds, 0.0), MERGED_UP_TO), MERGED_UP_TO)
        if not MERGED_BY_SYMBOL < self.given.n_useful <= most:
            return []
        made = self._merged_by_symbol()
        return [made] if self.holds(made) else []

    def _protocols(self) -> list[Mechanism]:
        """The best response that keeps the value or draws one.

        It needs few digits, where most symbols are rare, and little time, where that was limited.
        """
        c, n = self.given.probabilities.shape
        is_quick = self.budget.is_limited and c * n * max(c, n) <= QUICK_PROTOCOLS
        is_tried = n <= MOST_IN_PROTOCOLS and (self.in_shares or is_quick)
        if not is_tried or self.is_perfect or self.notion.confidence is not None or not bounds_lifts(self.notion):
            return []
        return [mechanism for mechanism in [tight_rr(self.given, self.notion)] if self.holds(mechanism)]

    def _merged_by_symbol(self) -> Mechanism:
        blocks = partitions([self.given], [self.notion], is_over=self.budget.is_over)[0]
        return Mechanism.from_blocks(self.given, blocks)

    def holds(self, mechanism: Mechanism) -> bool:
        """The exact check of a mechanism on symbols, under every joint, and after what came before."""
        if self.after is not None and not self.notion.on_counts().holds(self.after.through(mechanism)):
            return False
        return all(self.notion.holds(joint, mechanism) for joint in (self.given, *self.given_also))

    def accepted(self, mechanism: ChannelMechanism) -> Mechanism | None:
        """A mechanism of this problem as one on symbols, where that passes the exact check."""
        made = mechanism if self.quotient is None else self.quotient.coupled(mechanism)
        return made if self.holds(made) else None

    @property
    def is_large(self) -> bool:
        """Whether the symbols are so many that they are designed on by cells, which equations do not have."""
        is_about = is_about_beliefs(self.notion, self.utility) and not self.is_perfect and self.after is None
        return len(self.symbols) > MOST_SYMBOLS and is_about

    def start(self) -> tuple[FloatArray, FloatArray]:
        """Posteriors of the fallback's blocks and their weights: they average to P_X, a first mechanism."""
        p = self.polytope.p_useful
        _, blocks = np.unique(self.fallback[self.symbols], return_inverse=True)
        weights = np.zeros(int(blocks.max()) + 1)
        np.add.at(weights, blocks, p)
        points = np.zeros((len(weights), len(p)))
        points[blocks, np.arange(len(p))] = p / weights[blocks]
        return points, weights

    def known(self) -> FloatArray:
        """Posteriors of the mechanism given to start from, those that are allowed."""
        is_unknown = self.polytope.is_lifted and self.polytope.steps is None and not self.polytope.is_banded
        if self.known_mechanism is None or is_unknown:
            return np.empty((0, self.polytope.n_useful))
        cells = self.given.p_useful[:, None] * self.known_mechanism.channel
        if self.quotient is not None:
            cells = self.quotient.summed(cells)
        cells = cells[self.symbols].T
        points: FloatArray = cells[cells.sum(axis=1) > 0]
        points /= points.sum(axis=1, keepdims=True)
        return points[self.polytope.exceeded(points) <= INSIDE]

    def outcome(self, points: FloatArray, weights: FloatArray, proof: Proof | None) -> Outcome:
        """The mixture as a mechanism, or the fallback where that keeps more."""
        self.history.ended()
        candidates = [*self.merged(), *self._protocols()]
        if self.known_mechanism is not None and self.holds(self.known_mechanism):
            candidates.append(self.known_mechanism)
        with progress.stage("making integers"):
            made = self.made(points, weights)
        return self.best_of([*candidates, *([] if made is None else [made])], proof)

    def best_of(self, candidates: Sequence[Mechanism], proof: Proof | None) -> Outcome:
        """The mechanism that keeps most, with what the proof says of it."""
        best = max(candidates, key=lambda mechanism: self.utility.value(self.given, mechanism))
        limit = None if proof is None else self.most(proof.limit, best)
        if proof is None and self.is_large:  # no time for a proof, and nothing keeps more than all of X
            limit = self.utility.whole(self.given)
        proof = None if proof is None else by_pairs(proof)
        if proof is None or proof.size > MOST_PROOF_NUMBERS:
            return Outcome(best, limit, history=self.history)
        return Outcome(best, limit, replace(proof, is_on_classes=self.quotient is not None), self.history)

    def made(self, points: FloatArray, weights: FloatArray) -> Mechanism | None:
        """The mixture as a mechanism in integers that keep the notion, where there is one."""
        order = np.argsort(points.argmax(axis=1), kind="stable")  # by what they mostly stand for
        points, weights = points[order], weights[order]
        if self.is_perfect:
            return self._perfect(points, weights)
        return realise(
            self.joint, self.polytope, self.symbols, points, weights, self.accepted, in_shares=self.in_shares
        )

    def most(self, cost: float, reached: Mechanism) -> float:
        """What mechanisms can keep where none costs less than this; never less than what one does keep."""
        return max(self.utility.prior(self.given) - cost, self.utility.value(self.given, reached))

    # Perfect privacy, in integers.

    def _independence(self, joint: Joint, also: Sequence[Joint]) -> Independence:
        """What makes columns over the symbols that occur exactly private under every joint."""
        masses = [_folded_masses(other, joint) for other in (joint, *also)]
        if self.after is not None:  # whose outcomes tell nothing either, so that P(s) is the same in each of them
            masses += [table[:, joint.occurs] for table in self.after.outcomes]
        given = joint.given(joint.occurs)
        groups = list(slices(given)) if isinstance(self.notion, SRLIP) else [np.arange(given.n_useful)]
        return Independence.of(masses, groups)

    @cached_property
    def by_symbol(self) -> Independence:
        """The same over the symbols that were given, whatever the design is on."""
        if self.quotient is None:
            return self._independent
        return self._independence(self.given, self.given_also)

    @cached_property
    def _independent(self) -> Independence:
        """The same over what is designed on."""
        return self._independence(self.joint, self.also)

    def narrowed(self) -> Iterator[Problem]:
        """Problems of private columns that 60 bits can hold, where they cannot hold all."""
        for independence in self.by_symbol.narrowed():
            other = copy.copy(self)
            other.quotient, other.joint, other.also = None, self.given, self.given_also
            other.symbols = np.flatnonzero(self.given.occurs)
            other.costs = self.utility.over([self.given.useful[x] for x in other.symbols.tolist()])
            other.polytope = independence.polytope(self.given.p_useful[other.symbols])
            other.fallback = np.zeros(self.given.n_useful, dtype=np.int64)
            yield other

    def _perfect(self, points: FloatArray, weights: FloatArray) -> Mechanism | None:
        """The mixture in integers that are exactly private, where 60 bits can hold them."""
        polytope, given = self.polytope, self.given
        points = polish(polytope, points, 0.0, in_shares=self.in_shares)
        if polytope.n_useful <= SOLVED_EXACTLY:
            weights = np.maximum(mixture_weights(points, weights, polytope.p_useful), 0.0)
        channel = self._laid_out((weights[:, None] * points).T / polytope.p_useful[:, None])
        exact = private_weights(self.by_symbol, channel)
        if exact is None:
            return None
        symbols = np.flatnonzero(given.occurs)
        rows = np.repeat(exact[[int(given.p_useful[symbols].argmax())]], given.n_useful, axis=0)
        rows[symbols] = exact
        posteriors = (exact * given.p_useful[symbols, None]).T.astype(np.float64)
        posteriors /= posteriors.sum(axis=1, keepdims=True)
        names = released_labels(given, symbols, posteriors)
        made = ChannelMechanism.from_weights(rows, useful=given.useful, released=names, **provenance(given))
        return made if self.holds(made) else None

    def _laid_out(self, channel: FloatArray) -> FloatArray:
        """A channel from the symbols of this problem as one from those that were given."""
        if self.quotient is None:
            return channel
        full = np.zeros((self.joint.n_useful, channel.shape[1]))
        full[self.symbols] = channel / channel.sum(axis=1, keepdims=True)
        full[~self.joint.occurs, 0] = 1.0
        names = [str(k) for k in range(channel.shape[1])]
        made = ChannelMechanism.from_channel(full, useful=self.joint.useful, released=names, **provenance(self.joint))
        return self.quotient.coupled(made).channel[self.given.occurs]


def _folded_masses(other: Joint, joint: Joint) -> ObjectArray:
    """Masses of another joint over the symbols of the first that occur; all else goes with its commonest symbol."""
    symbols = np.flatnonzero(joint.occurs)
    masses: ObjectArray = other.masses[:, symbols].copy()
    masses[:, int(joint.p_useful[symbols].argmax())] += other.masses[:, ~joint.occurs].sum(axis=1)
    return masses


def _check_after(notion: Notion, after: Earlier, also: Sequence[Joint]) -> None:
    """What came before can be added up, and keeps the promise by itself."""
    if notion.is_conditional or not notion.is_polyhedral:
        raise InputError(
            f"releases after others (after, --after, --ledger) are designed for LIP, ALIP, LDP or max-lift, not for "
            f"{notion}."
        )
    if also:
        raise InputError(
            "a promise about several releases is made on one counted table: leave out other tables (also, --also)."
        )
    seen, promise = after.through(), notion.on_counts()
    if not promise.holds(seen):
        slack = promise.slack(seen)
        if slack == -math.inf:
            raise BrokenNotionError(
                "of what was published before readers could rule out a sensitive value for some people, which breaks "
                f"{promise} whatever its budget, so nothing can follow under it."
            )
        raise BrokenNotionError(
            f"what was published before breaks {promise} by {-slack:.3g} nats already, so nothing can follow under it. "
            "Promise a larger budget for all releases together."
        )


def _folded(other: Joint, joint: Joint, symbols: IntArray) -> Joint:
    """Another joint over the first one's symbols; what never occurs in the first goes with its commonest symbol."""
    cells = other.probabilities[:, symbols].copy()
    rest = np.setdiff1d(np.arange(joint.n_useful), symbols)
    cells[:, int(joint.p_useful[symbols].argmax())] += other.probabilities[:, rest].sum(axis=1)
    return Joint.from_array(
        cells / cells.sum(), sensitive=other.sensitive, useful=[joint.useful[x] for x in symbols.tolist()]
    )
