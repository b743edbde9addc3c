"""The optimum that may read S: posteriors over pairs (s, x), generated as columns and priced exactly for few s.

Whoever holds the table knows S, and a mechanism may use it, as conditional reporting does. The promise binds what y
tells about S; it says nothing about how y was drawn. See `discreet.proof.beliefs` for the pricing.

Symbols with the same belief are designed on as one class under separable utilities, which loses nothing (`coupling`):
the cost is the number of distinct beliefs.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from discreet._support import progress
from discreet._support.errors import UnsupportedNotionError
from discreet._support.numeric import FloatArray
from discreet._support.progress import Stage
from discreet.core.joint import Joint
from discreet.designers.merging.subset_merging import subset_merging
from discreet.designers.outcome import Outcome
from discreet.designers.posteriors.columns import Columns, least_entries
from discreet.designers.posteriors.generation import (
    FIRST_SMOOTHING,
    LAST_SMOOTHING,
    NO_GAIN,
    SHRINK,
    Budget,
    kept_words,
)
from discreet.designers.posteriors.lp import MasterLP
from discreet.designers.posteriors.optimal import optimal
from discreet.designers.posteriors.quotient import Quotient
from discreet.designers.posteriors.realise import released_labels, with_rest
from discreet.designers.protocols.excess import bounds_lifts
from discreet.designers.with_sensitive.conditional_reporting import conditional_reporting
from discreet.designers.with_sensitive.coupling import coupled_pairs
from discreet.mechanism import ChannelMechanism, Mechanism, SensitiveMechanism
from discreet.mechanism.weights import to_weights
from discreet.notions import Notion
from discreet.proof.beliefs import (
    MOST_EXACT,
    BeliefProof,
    allowed_beliefs,
    cheapest_beliefs,
    price_exactly,
)
from discreet.proof.boxes import ROUNDING
from discreet.utilities import SeparableUtility, Utility

__all__ = ["optimal_with_sensitive"]

#: How far inside its bounds a belief is put, tried in turn.
MARGINS = (1e-13, 1e-11, 1e-9, 1e-7)

#: Columns taken over in one round, rounds at most, and random starts of the local search.
TAKEN, MOST_ROUNDS, STARTS = 60, 400, 60

#: More sensitive values are searched locally first, and priced exactly once that finds nothing.
FEW = 4

#: Share of the time for the optimum without S, which is a start for the one with S.
WITHOUT_SHARE = 0.4

#: Pairs rarer than this need not be averaged to exactly: integers are too coarse to tell.
SEEN = 1e-7

#: Released symbols, and posteriors of a mixture, of less weight than this are left out.
UNSEEN = 1e-12

#: Of a design whose budget is zero, or zero on one side.
NOT_SEARCHED = (
    "mechanisms that read S are not searched where a budget is zero: this is the better of the optimum that does not "
    "read S and conditional reporting, without a proven limit; a small budget, such as 0.0001, is searched and may "
    "keep far more"
)

#: Alphabets up to this size are reported on symbol by symbol too, where they are designed on by class.
REPORTED_UP_TO = 300


def optimal_with_sensitive(
    joint: Joint, notion: Notion, *, utility: Utility, seed: int = 0, time_limit: float | None = None
) -> Outcome:
    """The best mechanism that may read S; a proven limit up to nine sensitive values, of separable utilities."""
    if not bounds_lifts(notion):
        raise UnsupportedNotionError(
            f"optimal-with-sensitive serves bounds on lifts (LIP, ALIP, LDP, max-lift), not {notion}. Use 'optimal'."
        )
    budget = Budget(time_limit)
    without = None if time_limit is None else time_limit * WITHOUT_SHARE
    if any(bound.epsilon == 0 for bound in notion.bounds):
        plain = optimal(joint, notion, utility=utility, seed=seed, time_limit=without)
        best = _best(joint, utility, [plain.mechanism, conditional_reporting(joint, notion)])
        return Outcome(best, notes=(NOT_SEARCHED,))
    quotient = Quotient.of(joint) if isinstance(utility, SeparableUtility) else None
    inner = joint if quotient is None else quotient.inner
    known = [
        optimal(inner, notion, utility=utility, seed=seed, time_limit=without).mechanism,
        conditional_reporting(inner, notion),
    ]
    search = _PairSearch(inner, notion, utility, known, seed, joint)
    with progress.stage("searching with S") as stage:
        limit = search.run(budget, stage)
    made = _realise(search, quotient, joint)
    best = _best(joint, utility, [*(known if quotient is None else _on_symbols(quotient, notion, known)), *made])
    if limit is None or search.separable is None:
        return Outcome(best)
    proof = BeliefProof(notion, search.separable, inner.probabilities, search.prices, limit, quotient is not None)
    return Outcome(best, max(utility.prior(joint) - limit, utility.value(joint, best)), proof)


def _best(joint: Joint, utility: Utility, mechanisms: Iterable[Mechanism]) -> Mechanism:
    return max(mechanisms, key=lambda mechanism: utility.value(joint, mechanism))


def _on_symbols(quotient: Quotient, notion: Notion, known: Iterable[Mechanism]) -> list[Mechanism]:
    """What is known on classes as mechanisms on symbols; merging, where rounding would break the notion."""
    joint = quotient.joint
    found: list[Mechanism] = [subset_merging(joint, notion)]
    found += [quotient.coupled(mechanism) for mechanism in known if isinstance(mechanism, ChannelMechanism)]
    if joint.n_useful <= REPORTED_UP_TO:
        found.append(conditional_reporting(joint, notion))
    return [mechanism for mechanism in found if notion.holds(joint, mechanism)]


class _PairSearch:
    """Column generation over posteriors of pairs; ``given`` is the joint of the symbols behind useful values."""

    def __init__(
        self, joint: Joint, notion: Notion, utility: Utility, known: Iterable[Mechanism], seed: int, given: Joint
    ) -> None:
        self.joint, self.notion, self.utility = joint, notion, utility.over(joint.useful)
        #: The utility where posteriors can be priced exactly under it.
        self.separable = self.utility if isinstance(self.utility, SeparableUtility) else None
        self.nothing_kept, self.whole = utility.prior(given), utility.whole(given)
        self.value = self.nothing_kept
        self.cells = joint.probabilities
        self.occurs = self.cells > 0
        self.points = np.empty((0, *self.cells.shape))
        self.master = MasterLP(self.cells[self.occurs], self.whole)
        self.prices = np.zeros(self.cells.shape)
        self.weights = np.empty(0)
        self._rng = np.random.default_rng(seed)
        for mechanism in known:
            channel = mechanism.channel if mechanism.reads_sensitive else mechanism.channel[None]
            drawn = (self.cells[:, :, None] * channel).transpose(2, 0, 1)
            total = drawn.sum(axis=(1, 2), keepdims=True)
            self.add(drawn[total[:, 0, 0] > UNSEEN] / total[total[:, 0, 0] > UNSEEN][:, :1])
        self.solve()

    def add(self, points: FloatArray) -> None:
        """More posteriors over pairs, shape (count, n_sensitive, n_useful)."""
        # What counts is the cost of the posterior of x, not of the pair.
        least = least_entries(self.cells[self.occurs])
        columns = Columns.of(points[:, self.occurs], self.utility.costs(points.sum(axis=1)), least)
        self.master.add(columns.cost, columns.starts, columns.symbol, columns.value)
        self.points = np.concatenate([self.points, points])

    def solve(self) -> bool:
        solution = self.master.solve()
        if solution is None:
            return False
        self.value, prices, self.weights = solution
        self.prices[self.occurs] = prices
        return True

    def run(self, budget: Budget, stage: Stage) -> float | None:
        """Generate columns; the proven lower limit of the average cost where pricing is exact."""
        exact = self.separable if self.joint.n_sensitive <= MOST_EXACT else None
        beliefs = allowed_beliefs(self.notion, self.joint.p_sensitive) if exact else self.points[:0, :, 0]
        limit, best_prices = -np.inf, self.prices.copy()
        for _ in range(MOST_ROUNDS):
            proven = limit if limit > -np.inf else None
            stage.update(detail=kept_words(self.nothing_kept, self.whole, self.value, proven))
            found = self.descend() if self.joint.n_sensitive > FEW or exact is None else self.points[:0]
            if not len(found) and exact is not None:
                priced = price_exactly(beliefs, self.prices, self.occurs, exact)
                least = float((self.prices * self.cells).sum() + priced.reduced.min()) - ROUNDING
                if least > limit:
                    limit, best_prices = least, self.prices.copy()
                order = np.argsort(priced.reduced, kind="stable")[:TAKEN]
                found = priced.points(self.joint.n_useful)[order[priced.reduced[order] < NO_GAIN]]
            if not len(found) or budget.over:
                break
            self.add(found)
            if not self.solve():
                break
        self.prices = best_prices
        return None if exact is None else limit

    def descend(self) -> FloatArray:
        """Vertices of negative reduced cost by linearising the cost; each linear step has a closed form."""
        c, n = self.cells.shape
        marginal = np.vstack([np.eye(n), self._rng.dirichlet(np.ones(n), STARTS)])
        smoothing, best = FIRST_SMOOTHING, np.full(len(marginal), np.inf)
        kept = np.zeros((len(marginal), c, n))
        prices = np.where(self.occurs, self.prices, -np.inf)
        while smoothing >= LAST_SMOOTHING:
            cost = self.utility.slopes(marginal, smoothing)[:, None, :] - prices
            choice = cost.argmin(axis=2)
            belief = cheapest_beliefs(self.notion, self.joint.p_sensitive, cost.min(axis=2))
            points = np.zeros_like(kept)
            np.put_along_axis(points, choice[:, :, None], belief[:, :, None], axis=2)
            marginal = points.sum(axis=1)
            reduced = self.utility.costs(marginal) - (points * self.prices).sum(axis=(1, 2))
            better = reduced < best
            kept[better], best[better] = points[better], reduced[better]
            smoothing *= SHRINK
        return kept[best < NO_GAIN]

    def mixture(self) -> tuple[FloatArray, FloatArray]:
        """Posteriors in use, and their weights."""
        used = self.weights > UNSEEN
        return self.points[: len(used)][used], self.weights[used]


def _realise(search: _PairSearch, quotient: Quotient | None, given: Joint) -> list[Mechanism]:
    """The mixture as a mechanism in integers, ever further inside until the exact check passes."""
    points, weights = search.mixture()
    if not len(points):  # probabilities too small for the solver
        return []
    joint, prior, occurs = search.joint, search.joint.p_sensitive, search.occurs
    target = joint.probabilities[occurs]
    for margin in MARGINS:
        # Beliefs a hair nearer to the prior; each s still puts all of its belief on its own x.
        beliefs = points.sum(axis=2, keepdims=True)
        closer = (1 - margin) * beliefs + margin * prior[:, None]
        own = np.divide(points, beliefs, out=np.zeros_like(points), where=beliefs > 0)  # x of each s
        flat, shares = with_rest((own * closer)[:, occurs], weights, target, target >= SEEN)
        moved = np.zeros((len(flat), *occurs.shape))
        moved[:, occurs] = flat
        mechanism = _mechanism(joint, moved, shares) if quotient is None else coupled_pairs(quotient, moved, shares)
        if mechanism is None:
            break
        if search.notion.holds(given, mechanism):
            return [mechanism]
    return []


def _mechanism(joint: Joint, points: FloatArray, weights: FloatArray) -> SensitiveMechanism:
    drawn = (weights[:, None, None] * points).transpose(1, 2, 0)
    total = drawn.sum(axis=2, keepdims=True)
    # Pairs that never occur are released like anything else: by the marginal of y.
    channel = np.where(total > 0, np.divide(drawn, total, out=np.zeros_like(drawn), where=total > 0), weights)
    channel /= channel.sum(axis=2, keepdims=True)
    names = released_labels(joint, np.arange(joint.n_useful), points.sum(axis=1))
    return SensitiveMechanism.from_cells(joint, to_weights(channel), names)
