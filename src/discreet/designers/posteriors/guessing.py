r"""The optimum under utilities of guessing: a channel in the column's own values, proven by its duals.

A mechanism is worth what its best guesses are worth, and released symbols with the same guess may be merged, which
breaks no convex notion; so no mechanism keeps more than the best channel in the column's own values. Where the
distribution is to be kept, the channel is the best of those that keep it (`Invariant`).

The channel is solved for a hair inside its rows. Where rounding breaks the notion all the same, it is mixed with a
little of a draw that ignores x:

.. math:: R'(g \mid x) = (1 - t) R(g \mid x) + t \, P(X' = g)

which moves every posterior towards :math:`P_X`, inside of every notion, and keeps the shares of the published values.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet._support import progress
from discreet._support.errors import InputError
from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.core.beliefs import on_classes
from discreet.core.joint import Joint
from discreet.designers.outcome import Outcome
from discreet.designers.posteriors.generation import Budget
from discreet.designers.posteriors.own_values import best_channel
from discreet.designers.posteriors.problem import Problem
from discreet.designers.posteriors.quotient import Quotient
from discreet.designers.posteriors.subset_response import subset_response
from discreet.designers.posteriors.truth_by_class import told_by_members
from discreet.mechanism import ChannelMechanism, Mechanism, provenance
from discreet.notions import Notion
from discreet.proof.polytope import Polytope
from discreet.utilities import Accuracy, GuessingUtility, Invariant, Utility, own_texts

__all__ = ["automatic_guessing", "is_about_guesses", "optimal_guessing"]

#: Coefficients of the programme; more would take minutes, and gigabytes.
MOST_COEFFICIENTS = 10_000_000

#: Larger programmes, of more than 300 values under ten rows, come after a response inside blocks, which takes seconds.
SOLVED_FIRST = 1_000_000

#: Alphabets up to this size have an independent draw laid out.
MOST_DRAWN = 1_000

#: Shares of an independent draw that the channel is mixed with, tried in turn.
PULLS = (0.0, *(10.0**-k for k in range(15, 2, -1)))

#: Shares that are off by no more than this are as they were: a few roundings of a float.
ROUNDED_SHARE = 4e-16

#: Size of the dense system that settles shares without changing zeros.
MOST_SETTLED = 1_000_000

#: Values that differ by less are the same; a channel loses less than this by being pulled inside.
TIE = 1e-9

#: Guesses of less mass than this are left out where shares may change: their weights would be too coarse.
LIGHT = 1e-10


def is_about_guesses(utility: Utility) -> bool:
    """Whether the optimum is a channel in the column's own values."""
    return isinstance(utility, GuessingUtility | Invariant)


def automatic_guessing(
    joint: Joint, notion: Notion, *, utility: Utility, seed: int = 0, time_limit: float | None = None
) -> Outcome:
    """The best channel; a response inside blocks, or merging, where its programme is too large or time too short."""
    budget, problem = Budget(time_limit), Problem(joint, notion, utility)
    size = _Programme.of(problem).size
    fits = size <= MOST_COEFFICIENTS
    if notion.is_conditional:
        return optimal_guessing(problem, time_limit) if fits else Outcome(_best(problem, problem.merged()))
    if fits and size <= SOLVED_FIRST:
        return optimal_guessing(problem, time_limit)
    by_blocks = subset_response(joint, notion, utility=utility, seed=seed, time_limit=time_limit)
    if not fits or budget.over:
        return by_blocks
    found = optimal_guessing(problem, None if time_limit is None else budget.left())
    return Outcome(_best(problem, [found.mechanism, by_blocks.mechanism]), found.limit, found.proof)


def optimal_guessing(problem: Problem, time_limit: float | None = None) -> Outcome:
    """The best channel, with a proof; merging where time runs out, which proves nothing."""
    programme = _Programme.of(problem)
    if programme.size > MOST_COEFFICIENTS:
        raise InputError(
            f"the optimum of {problem.utility.name} would need {programme.size:.3g} coefficients, more than "
            f"{MOST_COEFFICIENTS:.3g}. Use method='auto' or 'subset-merging', or cut the column into fewer values."
        )
    with progress.stage("solving for the best channel"):
        found = best_channel(programme.polytope, programme.losses(), shares=programme.shares, time_limit=time_limit)
    candidates = problem.merged()
    if problem.known_mechanism is not None and problem.holds(problem.known_mechanism):
        candidates.append(problem.known_mechanism)
    if isinstance(problem.utility, Invariant) and problem.given.n_useful <= MOST_DRAWN:
        candidates.insert(0, _independent(problem.given, problem.utility))  # first, since it publishes values
    if found is None:
        return Outcome(_best(problem, candidates))
    with progress.stage("making integers"):
        made = _made(problem, programme, found.channel)
    best = _best(problem, candidates)
    if made is not None and not best.releases_everything(problem.given):
        kept, other = (problem.utility.value(problem.given, mechanism) for mechanism in (made, best))
        # In the column's own values on a tie, unless all would be published as one value.
        best = made if kept > TIE and kept > other - TIE else best
    return Outcome(best, problem.most(found.proof.limit, best), found.proof)


@dataclass(frozen=True)
class _Programme:
    """The programme of a problem: on its symbols, or for accuracy on classes of those that tell the same about S."""

    inner: Problem  # whose symbols the channel is between
    quotient: Quotient | None
    guessing: GuessingUtility
    keeps_shares: bool

    @classmethod
    def of(cls, problem: Problem) -> _Programme:
        utility = problem.utility
        guessing = utility.guessing if isinstance(utility, Invariant) else utility
        assert isinstance(guessing, GuessingUtility)
        keeps_shares = isinstance(utility, Invariant)
        sees_symbols = problem.notion.is_conditional or problem.notion.confidence is not None
        is_counted = not isinstance(utility, Invariant) or utility.sizes is None
        is_told = isinstance(guessing, Accuracy) and not sees_symbols and not problem.is_perfect and is_counted
        quotient = Quotient.of(problem.given, *problem.given_also) if is_told else None
        if quotient is None:
            return cls(problem, None, guessing, keeps_shares)
        also = [on_classes(other, quotient.classes) for other in problem.given_also]
        return cls(Problem(quotient.inner, problem.notion, utility, also), quotient, guessing, keeps_shares)

    @cached_property
    def shares(self) -> FloatArray | None:
        """Those that are kept, of the symbols of the channel."""
        if not self.keeps_shares:
            return None
        utility, p = self.inner.utility, self.inner.polytope.p_useful
        assert isinstance(utility, Invariant)
        return utility.shares([self.inner.given.useful[x] for x in self.inner.symbols.tolist()], p)

    @cached_property
    def polytope(self) -> Polytope:
        """Posteriors over the symbols of the channel that are allowed."""
        return self.inner.polytope.unfolded()

    @property
    def size(self) -> int:
        """Coefficients."""
        return self.polytope.rows.size * self.polytope.n_useful

    @property
    def _all_losses(self) -> FloatArray:
        return self.guessing.losses(self.inner.given.useful)[self.inner.symbols]

    @property
    def guesses(self) -> IntArray:
        """Those that occur, and where shares may change others that may be better than each of these."""
        if self.keeps_shares or isinstance(self.guessing, Accuracy):
            return self.inner.symbols
        return _worth_guessing(self._all_losses, self.inner.given.occurs)

    def losses(self) -> FloatArray:
        """Of the guesses, where each symbol is true."""
        return self._all_losses[:, self.guesses]

    def mechanism(self, channel: FloatArray) -> ChannelMechanism:
        """The channel in integers; values that never occur are released like the commonest one."""
        if self.quotient is not None:
            return told_by_members(self.quotient, self.inner.symbols, channel)
        joint, symbols = self.inner.given, self.inner.symbols
        full = np.repeat(channel[[int(self.inner.polytope.p_useful.argmax())]], joint.n_useful, axis=0)
        full[symbols] = channel
        texts = own_texts(joint)
        return ChannelMechanism.from_channel(
            full, useful=joint.useful, released=[texts[g] for g in self.guesses.tolist()], **provenance(joint)
        )


def _independent(joint: Joint, utility: Invariant) -> ChannelMechanism:
    """A draw from the shares whatever x is: equal rows stay equal in integers, so it keeps every promise."""
    channel = np.tile(utility.shares(joint.useful, joint.p_useful), (joint.n_useful, 1))
    return ChannelMechanism.from_channel(channel, useful=joint.useful, released=own_texts(joint), **provenance(joint))


def _best(problem: Problem, candidates: list[Mechanism]) -> Mechanism:
    return max(candidates, key=lambda mechanism: problem.utility.value(problem.given, mechanism))


def _worth_guessing(losses: FloatArray, occurs: BoolArray) -> IntArray:
    """Values that occur, and those that do not where they may be a better guess than each of these."""
    present, absent = np.flatnonzero(occurs), np.flatnonzero(~occurs)
    worth = [g for g in absent.tolist() if not (losses[:, present] <= losses[:, [g]]).all(axis=0).any()]
    return np.sort(np.concatenate([present, np.array(worth, dtype=np.int64)]))


def _made(problem: Problem, programme: _Programme, channel: FloatArray) -> Mechanism | None:
    """The channel in integers that keep the notion, pulled inside as little as helps."""
    p, kept = programme.inner.polytope.p_useful, programme.shares
    if problem.is_perfect:
        return _perfect(problem, channel) if kept is None else None
    for share in PULLS:
        pulled = _without_light(channel, p, share) if kept is None else _with_shares(channel, kept, share)
        if pulled is None:
            continue
        mechanism = programme.mechanism(pulled)
        if problem.holds(mechanism):
            return mechanism
    return None


def _without_light(channel: FloatArray, p: FloatArray, share: float) -> FloatArray:
    """Rows that sum to one, mixed with their mean; guesses that are hardly used are merged into the commonest one."""
    rows = channel / channel.sum(axis=1, keepdims=True)
    mass = p @ rows
    light = mass < LIGHT
    rows[:, int(mass.argmax())] += rows[:, light].sum(axis=1)
    rows[:, light] = 0.0
    mixed: FloatArray = (1 - share) * rows + share * (p @ rows)
    return mixed


def _with_shares(channel: FloatArray, p: FloatArray, share: float) -> FloatArray | None:
    """Rows that sum to one and keep the distribution, mixed with it; None where there is no room for that."""
    rows = channel / channel.sum(axis=1, keepdims=True)
    if share == 0:
        return _settled(rows, p)
    mixed: FloatArray = (1 - share) * rows + share * p
    for _ in range(2):  # the second step takes up the rounding of the first
        # The same for every x: it moves no posterior but towards P_X or from it.
        mixed = mixed + _missing(mixed, p)
        if mixed.min() < 0:
            return None
        mixed /= mixed.sum(axis=1, keepdims=True)
    return mixed


def _settled(rows: FloatArray, p: FloatArray) -> FloatArray | None:
    """Rows that keep the distribution to the last digit, none of their zeros changed; None where that cannot be."""
    if np.abs(_missing(rows, p)).max() <= ROUNDED_SHARE:
        return rows
    x, g = np.nonzero(rows)
    if len(p) * len(x) > MOST_SETTLED:
        return None
    system = np.zeros((2 * len(p), len(x)))
    system[x, np.arange(len(x))] = 1.0
    system[len(p) + g, np.arange(len(x))] = p[x]
    moved = rows.copy()
    for _ in range(2):
        wanted = np.concatenate([1.0 - moved.sum(axis=1), _missing(moved, p)])
        moved[x, g] += np.linalg.lstsq(system, wanted, rcond=None)[0]
    settled = moved.min() >= 0 and np.abs(_missing(moved, p)).max() <= ROUNDED_SHARE
    return moved if settled else None


def _missing(rows: FloatArray, p: FloatArray) -> FloatArray:
    """What each value lacks of its share."""
    result: FloatArray = (p - (p.astype(np.longdouble) @ rows)).astype(np.float64)
    return result


def _perfect(problem: Problem, channel: FloatArray) -> Mechanism | None:
    """Exactly private columns close to those of the channel; what cannot be told so is a symbol of its own."""
    cells = (channel * problem.polytope.p_useful[:, None]).T
    cells = cells[cells.sum(axis=1) > LIGHT]
    weights = cells.sum(axis=1)
    return problem.outcome(cells / weights[:, None], weights, None).mechanism
