r"""Optimal random response by column generation: a cheap mixture of allowed posteriors that averages to P_X.

The master problem is :math:`\min \sum_k q_k h(v_k)` subject to :math:`\sum_k q_k v_k = P_X`, with h the cost of the
utility. Its prices :math:`\pi` ask for a posterior of negative reduced cost :math:`h(v) - \pi \cdot v`. That function
is concave, so its minima are vertices, and linearising it finds vertices: from many starts, minimise
:math:`(h'(v) - \pi) \cdot v` over the polytope, the slopes taken over ever shorter steps. Here is the pool of columns
and that descent; `search` asks for columns until nothing improves, and the prover tells how good they are.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time

import numpy as np

from discreet._support.numeric import FloatArray, IntArray
from discreet._support.progress import Stage
from discreet.designers.history import History
from discreet.designers.posteriors.columns import Columns, best_pairs, least_entries, singles
from discreet.designers.posteriors.lp import MasterLP, is_nearly_certain
from discreet.designers.posteriors.simplex import Programmes
from discreet.proof.polytope import Polytope
from discreet.utilities import Utility

__all__ = ["LAST_SMOOTHING", "NO_GAIN", "Budget", "ColumnGeneration", "distinct", "kept_words"]

#: A reduced cost above this is no improvement; where all but one symbol are rare, one lost in rounding.
NO_GAIN, ROUNDED = -1e-9, -1e-13

#: Smoothing of the slopes: first value, factor per step, last value, and most steps of one search.
FIRST_SMOOTHING, SHRINK, LAST_SMOOTHING, MOST_STEPS = 0.03, 0.05, 1e-9, 8

#: Posteriors closer than this are one.
SAME = 1e-9

#: Points from which the search of one round starts, besides the symbols.
RANDOM_STARTS = 40


class Budget:
    """Time that is left; None means no limit."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, inf without a limit."""
        return float("inf") if self._end is None else self._end - time.monotonic()

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit at all."""
        return self._end is not None

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self.left() <= 0

    def is_over(self) -> bool:
        """The same, for work that asks as it goes."""
        return self.over

    def is_enough_for(self, seconds: float) -> bool:
        """Whether so much is left."""
        return self.left() >= seconds

    def share(self, fraction: float) -> Budget:
        """A part of what is left."""
        return Budget(None if self._end is None else max(0.0, fraction * self.left()))


def kept_words(nothing: float, whole: float, cost: float, limit: float | None = None) -> str:
    """What a mixture of some cost keeps of the whole, and the most that a limit of the cost allows."""
    if whole <= 0:
        return ""
    most = "" if limit is None else f", at most {min(1.0, (nothing - limit) / whole):.4f}"
    return f"keeps {max(0.0, nothing - cost) / whole:.4f}{most}"


class ColumnGeneration:
    """The columns found so far and the master problem over them.

    It starts from a mixture that averages to P_X, which is a solution even where no solver helps.

    Attributes
    ----------
    value : float
        Cost of the best mixture so far.
    nothing_kept, whole : float
        Cost where nothing is released, and how much less it is where everything is; ``beyond`` is what is told beyond
        the classes that the design is on, and always kept.
    prices : ndarray of shape (n_useful,)
        Prices of the master problem.
    in_shares : bool
        Whether weights are counted as shares of what each symbol is released as, however rare it is; left out, where
        all symbols but one are rare.
    """

    def __init__(
        self,
        polytope: Polytope,
        utility: Utility,
        start: FloatArray,
        weights: FloatArray,
        seed: int,
        *,
        beyond: float = 0.0,
        history: History | None = None,
        in_shares: bool | None = None,
    ) -> None:
        self.polytope = polytope
        self.in_shares = is_nearly_certain(polytope.p_useful) if in_shares is None else in_shares
        self.utility = utility
        self.history = history
        self.pricing = Programmes(polytope)
        self.nothing_kept = beyond + float(utility.costs(polytope.p_useful))
        self.whole = self.nothing_kept - float(polytope.p_useful @ utility.alone(np.arange(polytope.n_useful)))
        self.columns = self._columns(start)
        self.master = MasterLP(polytope.p_useful, self.whole, in_shares=self.in_shares)
        self.master.add(self.columns.cost, self.columns.starts, self.columns.symbol, self.columns.value)
        self._rng = np.random.default_rng(seed)
        self.weights = weights
        self.value = float(self.weights @ self.columns.cost)
        self.prices = np.zeros(polytope.n_useful)
        self.solve()

    def solve(self, seconds: float = np.inf) -> bool:
        """The best mixture of the columns so far; False where the solver gives up, and the last one stays."""
        solution = self.master.solve(seconds)
        if solution is None:
            self.weights = np.append(self.weights, np.zeros(len(self.columns) - len(self.weights)))
            self._keep_better(self.master.reached)
            return False
        self.value, self.prices, self.weights = solution
        return True

    def _keep_better(self, weights: FloatArray | None) -> None:
        """Weights of all columns whose mixture averages to P_X, where it costs less than the best so far."""
        cost = np.inf if weights is None else float(weights @ self.columns.cost)
        if weights is not None and cost < self.value:
            self.weights, self.value = weights, cost

    def take(self, points: FloatArray, weights: FloatArray) -> None:
        """A mixture that averages to P_X: its posteriors, and itself where it is the best, whatever a solver does."""
        before = len(self.columns)
        columns = self.add(points)
        if len(columns) == len(weights) and self.polytope.exceeded(points).max(initial=0.0) <= SAME:
            self._keep_better(np.append(np.zeros(before), weights))

    def told(self, stage: Stage, limit: float | None = None) -> None:
        """Say what the best mixture so far keeps, and what the limit of the cost leaves to hope for."""
        if self.history is not None:
            self.history.saw(self.value, limit)
        if stage.is_heard:
            stage.update(detail=kept_words(self.nothing_kept, self.whole, self.value, limit))

    def add(self, points: FloatArray) -> Columns:
        """More posteriors, one a row; `solve` takes them into account."""
        columns = self._columns(points)
        self._join(columns)
        return columns

    def _columns(self, points: FloatArray) -> Columns:
        return Columns.of(points, self.utility.costs(points), least_entries(self.polytope.p_useful))

    def _join(self, columns: Columns) -> None:
        if len(columns):
            self.master.add(columns.cost, columns.starts, columns.symbol, columns.value)
            self.columns = self.columns.joined(columns)

    def list_small_supports(self, prices: FloatArray | None, most: int, budget: Budget) -> None:
        """All singles, and of each symbol the pairs with others that price best; without prices, the purest."""
        alone = singles(self.polytope, budget.is_over)
        self._join(Columns(np.arange(len(alone)), alone, np.ones(len(alone)), self.utility.alone(alone)))
        inside = self.polytope.narrowed
        if not inside.is_lifted and self.polytope.n_useful > 1 and not budget.over:
            self._join(best_pairs(inside, self.utility, prices, most, lambda: budget.over))

    def starts(self, count: int) -> FloatArray:
        """Points to descend from: so many symbols, columns in use, and random triples of symbols."""
        n = self.polytope.n_useful
        symbols = np.zeros((min(n, count), n))
        symbols[np.arange(len(symbols)), self._rng.permutation(n)[: len(symbols)]] = 1.0
        used = self.columns.dense(self._rng.permutation(self.used())[:RANDOM_STARTS], n)
        triples = np.zeros((RANDOM_STARTS, n))
        np.put_along_axis(triples, self._rng.integers(0, n, (RANDOM_STARTS, 3)), 1 / 3, axis=1)
        return np.vstack([symbols, used, triples])

    def priced(self, prices: FloatArray, starts: FloatArray, budget: Budget) -> FloatArray:
        """Different vertices of negative reduced cost, found from as many of the starts as there is time for."""
        found = [np.empty((0, self.polytope.n_useful))]
        for first in range(0, len(starts), self.pricing.batch):
            if budget.over:
                break
            found.append(self.descend(starts[first : first + self.pricing.batch], prices, budget))
        return distinct(np.vstack(found))

    def descend(
        self,
        starts: FloatArray,
        prices: FloatArray,
        budget: Budget,
        *,
        smoothing: float = FIRST_SMOOTHING,
        gains_only: bool = True,
    ) -> FloatArray:
        """Vertices that no linearisation improves, of a reduced cost that gains something, one a row."""
        if not len(starts):
            return starts
        point = starts
        best = np.full(len(starts), np.inf)
        found = starts.copy()
        bases: IntArray | None = None
        for _ in range(MOST_STEPS):
            slopes = self.utility.slopes(point, smoothing) - prices
            solved = self.pricing.minimise(slopes, bases=bases, is_over=budget.is_over)
            point, bases = solved.points, solved.bases
            reduced = np.where(solved.is_solved, self.reduced_costs(point, prices), np.inf)
            better = reduced < best
            found[better], best[better] = point[better], reduced[better]
            if budget.over or (smoothing <= LAST_SMOOTHING and not better.any()):
                break
            smoothing = max(smoothing * SHRINK, LAST_SMOOTHING)
        most = self.no_gain(found) if gains_only else np.inf
        return found[(best < most) & (self.polytope.exceeded(found) <= SAME)]

    def no_gain(self, points: FloatArray) -> FloatArray | float:
        """The reduced cost of each posterior above which the master problem does not take it.

        In a scaled problem, whose weights are shares of what a symbol is released as, the tolerance is one of those.
        """
        if not self.in_shares:
            return NO_GAIN
        shares = (points / self.polytope.p_useful).max(axis=1)
        result: FloatArray = np.minimum(NO_GAIN * self.whole * shares, ROUNDED)
        return result

    def reduced_costs(self, points: FloatArray, prices: FloatArray) -> FloatArray:
        """h(v) - prices . v of each row."""
        return self.utility.costs(points) - points @ prices

    def used(self) -> IntArray:
        """Numbers of the columns in the best mixture."""
        return np.flatnonzero(self.weights > 0)


def distinct(points: FloatArray) -> FloatArray:
    """The rows that differ, each once, in the order in which they first come."""
    _, first = np.unique(_hashed(np.round(points / SAME)), return_index=True)
    return points[np.sort(first)]


def _hashed(points: FloatArray) -> FloatArray:
    """A number for each row that is the same for equal rows, and hardly ever for others."""
    return points @ np.random.default_rng(0).uniform(0.5, 1.0, points.shape[1])
