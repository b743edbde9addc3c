r"""Optimal random response by column generation: a cheap mixture of allowed posteriors that averages to P_X.

The master problem is :math:`\min \sum_k q_k H(v_k)` subject to :math:`\sum_k q_k v_k = P_X`. Its prices :math:`\pi`
ask for a posterior of negative reduced cost :math:`H(v) - \pi \cdot v`. That function is concave, so its minima are
vertices, and linearising it finds vertices: from many starts, minimise :math:`(-\log(v + d) - \pi) \cdot v` over the
polytope and shrink d. This finds good mechanisms; ``_bound.py`` proves how good they are.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from discreet._numeric import FloatArray, IntArray
from discreet.designers._columns import Columns, best_pairs, entropies, singles
from discreet.designers._lp import MasterLP, PricingLP
from discreet.designers._polytope import Polytope

__all__ = ["Budget", "ColumnGeneration"]

#: A reduced cost above this is no improvement, nats.
NO_GAIN = -1e-9

#: Smoothing of the logarithm: first value, factor per step, last value, and most steps of one search.
FIRST_SMOOTHING, SHRINK, LAST_SMOOTHING, MOST_STEPS = 0.03, 0.2, 1e-9, 12

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


class ColumnGeneration:
    """The columns found so far and the master problem over them.

    Attributes
    ----------
    value : float
        H(X | Y) of the best mixture so far, nats.
    prices : ndarray of shape (n_useful,)
        Prices of the master problem.
    """

    def __init__(self, polytope: Polytope, start: FloatArray, seed: int) -> None:
        self.polytope = polytope
        self.pricing = PricingLP(polytope)
        self.columns = Columns.of(start)
        self.master = MasterLP(polytope.p_useful)
        self.master.add(self.columns.entropy, self.columns.starts, self.columns.symbol, self.columns.value)
        self._rng = np.random.default_rng(seed)
        # The start averages to P_X with its own masses as weights: a solution even where no solver helps.
        self.weights = np.linalg.lstsq(start.T, polytope.p_useful, rcond=None)[0].clip(0)
        self.value = float(self.weights @ self.columns.entropy)
        self.prices = np.zeros(polytope.n_useful)
        self.solve()

    def solve(self) -> bool:
        """The best mixture of the columns so far; False where the solver gives up, and the last one stays."""
        solution = self.master.solve()
        if solution is None:
            return False
        self.value, self.prices, self.weights = solution
        return True

    def add(self, columns: Columns) -> None:
        """More columns; `solve` takes them into account."""
        if len(columns):
            self.master.add(columns.entropy, columns.starts, columns.symbol, columns.value)
            self.columns = self.columns.joined(columns)

    def list_small_supports(self) -> None:
        """All singles, and all pairs or the best of them."""
        n = self.polytope.n_useful
        alone = singles(self.polytope)
        self.add(Columns(np.arange(len(alone)), alone, np.ones(len(alone)), np.zeros(len(alone))))
        if self.polytope.is_lifted or n < 2:
            self.solve()
            return
        if n <= ALL_PAIRS_UP_TO:
            self.add(best_pairs(self.polytope, None, n))
            self.solve()
            return
        self.add(best_pairs(self.polytope, None, SOME_PAIRS))
        self.solve()
        for _ in range(3):
            before = self.value
            self.add(best_pairs(self.polytope, self.prices, SOME_PAIRS))
            self.solve()
            if before - self.value < 1e-4:
                break

    def search(self, budget: Budget) -> None:
        """Rounds of pricing by local search until nothing improves."""
        stalled = 0
        for _ in range(MOST_ROUNDS):
            found = list(self._round(budget))
            if not found or budget.over:
                return
            before = self.value
            self.add(Columns.of(np.array(found)))
            if not self.solve():
                return
            # A degenerate master may need several rounds of new columns before its value moves.
            stalled = 0 if before - self.value > 1e-10 else stalled + 1
            if stalled > MOST_STALLED:
                return

    def _round(self, budget: Budget) -> Iterable[FloatArray]:
        for start in self._starts():
            if budget.over:
                return
            point, reduced = self.descend(start)
            if point is not None and reduced < NO_GAIN:
                yield point

    def _starts(self) -> Iterable[FloatArray]:
        """Symbols, columns in use, and random triples of symbols."""
        n = self.polytope.n_useful
        yield from np.eye(n)[self._rng.permutation(n)]
        used = np.flatnonzero(self.weights > 0)
        yield from self.columns.dense(self._rng.permutation(used)[:RANDOM_STARTS], n)
        for _ in range(RANDOM_STARTS):
            start = np.zeros(n)
            start[self._rng.integers(0, n, 3)] = 1 / 3
            yield start

    def descend(self, start: FloatArray) -> tuple[FloatArray | None, float]:
        """A vertex that no linearisation improves, and its reduced cost."""
        point, smoothing, best = start, FIRST_SMOOTHING, np.inf
        found: FloatArray | None = None
        for _ in range(MOST_STEPS):
            candidate = self.pricing.minimise(-np.log(point + smoothing) - self.prices)
            if candidate is None:
                break
            reduced = float(entropies(candidate) - self.prices @ candidate)
            if reduced < best:
                found, best = candidate, reduced
            elif smoothing <= LAST_SMOOTHING:
                break
            point, smoothing = candidate, max(smoothing * SHRINK, LAST_SMOOTHING)
        return found, best

    def used(self) -> IntArray:
        """Numbers of the columns in the best mixture."""
        return np.flatnonzero(self.weights > 0)
