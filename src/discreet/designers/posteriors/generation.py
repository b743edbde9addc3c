r"""Optimal random response by column generation: a cheap mixture of allowed posteriors that averages to P_X.

The master problem is :math:`\min \sum_k q_k h(v_k)` subject to :math:`\sum_k q_k v_k = P_X`, with h the cost of the
utility. Its prices :math:`\pi` ask for a posterior of negative reduced cost :math:`h(v) - \pi \cdot v`. That function
is concave, so its minima are vertices, and linearising it finds vertices: from many starts, minimise
:math:`(h'(v) - \pi) \cdot v` over the polytope, the slopes taken over ever shorter steps. This finds good mechanisms;
the prover tells how good they are.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time

import numpy as np

from discreet._support.numeric import FloatArray, IntArray
from discreet._support.progress import UNHEARD, Stage
from discreet.designers.posteriors.columns import Columns, best_pairs, singles
from discreet.designers.posteriors.lp import MasterLP
from discreet.designers.posteriors.simplex import Programmes
from discreet.proof.polytope import Polytope
from discreet.utilities import Utility

__all__ = ["SEARCH_FROM", "Budget", "ColumnGeneration", "kept_words"]

#: Smaller alphabets under few rows need no search before a proof, which finds all that is missing on its way.
SEARCH_FROM = 40

#: A reduced cost above this is no improvement.
NO_GAIN = -1e-9

#: Smoothing of the slopes: first value, factor per step, last value, and most steps of one search.
FIRST_SMOOTHING, SHRINK, LAST_SMOOTHING, MOST_STEPS = 0.03, 0.05, 1e-9, 8

#: Posteriors closer than this are one.
SAME = 1e-9

#: Alphabets up to this size list all of their pairs at once; larger ones the best few of each symbol.
ALL_PAIRS_UP_TO, SOME_PAIRS = 300, 30

#: Points from which the search of one round starts, besides the symbols, and rounds without new columns.
RANDOM_STARTS, MOST_ROUNDS, MOST_STALLED = 40, 60, 3


class Budget:
    """Time that is left; None means no limit."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left, inf without a limit."""
        return float("inf") if self._end is None else self._end - time.monotonic()

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self.left() <= 0

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
    ) -> None:
        self.polytope = polytope
        self.utility = utility
        self.pricing = Programmes(polytope)
        self.columns = self._columns(start)
        self.master = MasterLP(polytope.p_useful)
        self.master.add(self.columns.cost, self.columns.starts, self.columns.symbol, self.columns.value)
        self._rng = np.random.default_rng(seed)
        self.weights = weights
        self.value = float(self.weights @ self.columns.cost)
        self.prices = np.zeros(polytope.n_useful)
        self.nothing_kept = beyond + float(utility.costs(polytope.p_useful))
        self.whole = self.nothing_kept - float(polytope.p_useful @ utility.alone(np.arange(polytope.n_useful)))
        self.solve()

    def solve(self) -> bool:
        """The best mixture of the columns so far; False where the solver gives up, and the last one stays."""
        solution = self.master.solve()
        if solution is None:
            return False
        self.value, self.prices, self.weights = solution
        return True

    def told(self, stage: Stage, limit: float | None = None) -> None:
        """Say what the best mixture so far keeps, and what the limit of the cost leaves to hope for."""
        if stage.is_heard:
            stage.update(detail=kept_words(self.nothing_kept, self.whole, self.value, limit))

    def add(self, points: FloatArray) -> None:
        """More posteriors, one a row; `solve` takes them into account."""
        self._join(self._columns(points))

    def _columns(self, points: FloatArray) -> Columns:
        return Columns.of(points, self.utility.costs(points))

    def _join(self, columns: Columns) -> None:
        if len(columns):
            self.master.add(columns.cost, columns.starts, columns.symbol, columns.value)
            self.columns = self.columns.joined(columns)

    def list_small_supports(self, budget: Budget) -> None:
        """All singles, and all pairs or the best of them."""
        n = self.polytope.n_useful
        alone = singles(self.polytope)
        self._join(Columns(np.arange(len(alone)), alone, np.ones(len(alone)), self.utility.alone(alone)))
        if self.polytope.is_lifted or n < 2:
            self.solve()
            return
        if n <= ALL_PAIRS_UP_TO:
            self._join(best_pairs(self.polytope, self.utility, None, n))
            self.solve()
            return
        self._join(best_pairs(self.polytope, self.utility, None, SOME_PAIRS))
        self.solve()
        for _ in range(3):
            if budget.over:
                break
            before = self.value
            self._join(best_pairs(self.polytope, self.utility, self.prices, SOME_PAIRS))
            self.solve()
            if before - self.value < 1e-4:
                break

    def search(self, budget: Budget, stage: Stage = UNHEARD) -> None:
        """Rounds of pricing by local search until nothing improves."""
        stalled = 0
        for _ in range(MOST_ROUNDS):
            found = self._round(budget)
            if not len(found) or budget.over:
                return
            before = self.value
            self.add(found)
            if not self.solve():
                return
            self.told(stage)
            # A degenerate master may need several rounds of new columns before its value moves.
            stalled = 0 if before - self.value > 1e-10 else stalled + 1
            if stalled > MOST_STALLED:
                return

    def _round(self, budget: Budget) -> FloatArray:
        starts = self._starts()
        found = [np.empty((0, self.polytope.n_useful))]
        for first in range(0, len(starts), self.pricing.batch):
            if budget.over:
                break
            found.append(self.descend(starts[first : first + self.pricing.batch]))
        return np.vstack(found)

    def _starts(self) -> FloatArray:
        """Symbols, columns in use, and random triples of symbols."""
        n = self.polytope.n_useful
        symbols = np.eye(n)[self._rng.permutation(n)]
        used = self.columns.dense(self._rng.permutation(self.used())[:RANDOM_STARTS], n)
        triples = np.zeros((RANDOM_STARTS, n))
        np.put_along_axis(triples, self._rng.integers(0, n, (RANDOM_STARTS, 3)), 1 / 3, axis=1)
        return np.vstack([symbols, used, triples])

    def descend(self, starts: FloatArray, smoothing: float = FIRST_SMOOTHING) -> FloatArray:
        """Different vertices of negative reduced cost that no linearisation improves, one a row."""
        if not len(starts):
            return starts
        point = starts
        best = np.full(len(starts), np.inf)
        found = starts.copy()
        bases: IntArray | None = None
        for _ in range(MOST_STEPS):
            solved = self.pricing.minimise(self.utility.slopes(point, smoothing) - self.prices, bases=bases)
            point, bases = solved.points, solved.bases
            reduced = np.where(solved.is_solved, self.reduced_costs(point), np.inf)
            better = reduced < best
            found[better], best[better] = point[better], reduced[better]
            if smoothing <= LAST_SMOOTHING and not better.any():
                break
            smoothing = max(smoothing * SHRINK, LAST_SMOOTHING)
        found = found[(best < NO_GAIN) & (self.polytope.exceeded(found) <= SAME)]
        _, first = np.unique(np.round(found / SAME), axis=0, return_index=True)
        return found[np.sort(first)]

    def reduced_costs(self, points: FloatArray) -> FloatArray:
        """h(v) - prices . v of each row."""
        return self.utility.costs(points) - points @ self.prices

    def used(self) -> IntArray:
        """Numbers of the columns in the best mixture."""
        return np.flatnonzero(self.weights > 0)
