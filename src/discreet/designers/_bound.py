"""The search for a proof that no mechanism under a notion keeps more: where to cut the boxes of ``_proof.py``.

Small alphabets are proven at the prices of the true optimum, which exact pricing converges to. For large ones no
single price vector comes close, so a relaxed master problem, with chords in place of entropies, balances the boxes
against each other, and the boxes whose relaxed columns are in use are split.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet._numeric import FloatArray
from discreet.designers._column_generation import NO_GAIN, Budget, ColumnGeneration
from discreet.designers._columns import Columns, entropies
from discreet.designers._lp import MasterLP
from discreet.designers._proof import (
    LEVELS,
    ROUNDING,
    Cover,
    Evaluator,
    Proof,
    cheapest,
    chords,
    closed_form,
    entropy_terms,
)

__all__ = ["prove"]

#: Boxes need two matrices of this many entries; past it only the first, closed-form limit is given.
MOST_ENTRIES = 60_000_000

#: The search for a proof ends at a gap of this many nats per nat of H(X): below the 1e-7 that count as optimal,
#: because rounding a mixture to integers costs a little as well.
CLOSED_GAP = 3e-8

#: Alphabets up to this size are proven at the prices of the true problem; beyond, at balanced prices.
EXACT_UP_TO = 40

#: Columns found by exact pricing before the master problem is solved again.
FRESH_COLUMNS = 5

#: Sizes of multipliers that are tried on an empty box.
RAY_SIZES = (1e2, 1e4, 1e6)

#: Boxes are not cut closer than this to their sides.
NARROW = 1e-9

#: Programmes solved per round at least, so that the relaxed problem gets several columns at once.
BATCH = 40

#: Relaxed columns whose chord lies this far below their entropy call for a split, relative to the gap.
WORTH_A_SPLIT = 1e-3


def prove(generation: ColumnGeneration, budget: Budget, most_programmes: int) -> Proof:
    """The best limit that fits the budget; new posteriors found on the way improve the generation too."""
    return _Prover(generation, budget, most_programmes).run()


class _Prover:
    """Refines a cover where the relaxed optimum over it is far from true."""

    def __init__(self, generation: ColumnGeneration, budget: Budget, most_programmes: int) -> None:
        self.generation = generation
        self.polytope = generation.polytope
        self.pricing = generation.pricing
        self.budget = budget
        self.most_programmes = most_programmes
        self.evaluator = Evaluator(self.polytope)
        self.p_useful = self.polytope.p_useful
        self.whole = float(entropies(self.p_useful))

    def run(self) -> Proof:
        largest, largest_multipliers = self._largest_entries()
        self.best = Proof(self.polytope, closed_form(self.p_useful, largest), largest, largest_multipliers)
        n = self.polytope.n_useful
        if self._done() or (len(LEVELS) - 1) * n * n > MOST_ENTRIES or n < 2:
            return self.best
        self.boxes = _Boxes(Cover(largest), self.evaluator, len(self.polytope.rows))
        if n <= EXACT_UP_TO:
            self._price_exactly()
        else:
            self._balance()
        return self.best

    def _price_exactly(self) -> None:
        """Small alphabets: prove at the prices of the true optimum, which converges within the search.

        The box of least bound is split where its minimiser touches the curve, or yields a column of the true problem.
        """
        prices = self.generation.prices
        bounds = self.boxes.bounds(prices)
        fresh: list[FloatArray] = []
        while not self._done():
            k = int(bounds.argmin())
            if fresh and (len(fresh) >= FRESH_COLUMNS or bounds[k] >= self._needed(prices)):
                self.generation.add(Columns.of(np.array(fresh)))
                if not self.generation.solve():
                    return
                fresh.clear()
                prices = self.generation.prices
                bounds = self.boxes.bounds(prices)
                continue
            self._record(prices, float(bounds[k]))
            if bounds[k] >= self._needed(prices):
                return
            before = bounds[k]
            bound, point, _ = self._price_box(k, prices)
            bounds[k] = bound
            if bound > bounds.min() or (point is None and bound > before):
                continue
            if point is None:
                return  # the solver calls the box empty, but does not prove it
            if float(entropies(point) - prices @ point) < NO_GAIN:
                fresh.append(point)
            symbol, cut = self._where_to_cut(k, point)
            if symbol < 0:
                return  # the chord touches the curve: only rounding is left
            new = self.boxes.split(k, symbol, cut)
            bounds = np.append(bounds, 0.0)
            for half in (k, new):
                bounds[half] = max(bound, self.boxes.bound(half, prices))

    def _balance(self) -> None:
        """Large alphabets: prices that balance the boxes against each other, from the relaxed master problem."""
        self.relaxed = _RelaxedMaster(self.generation)
        while not self._done():
            prices = self.relaxed.solve()
            if prices is None:
                return
            improved = self._price_boxes(prices)
            if not improved and not self._split():
                return

    def _where_to_cut(self, k: int, point: FloatArray) -> tuple[int, float]:
        """The entry whose chord lies furthest below the curve at the point, and where to cut it; -1 for none."""
        lower, upper = self.boxes.cover.lower[k], self.boxes.cover.upper[k]
        below = entropy_terms(point) - entropy_terms(lower) - self.boxes.slope[k] * (point - lower)
        symbol = int(below.argmax())
        if below[symbol] <= 0 or not lower[symbol] + NARROW < point[symbol] < upper[symbol] - NARROW:
            return -1, 0.0
        # Near the point that needs it, and a little towards the middle, so that both halves shrink.
        return symbol, float(0.75 * point[symbol] + 0.125 * (lower[symbol] + upper[symbol]))

    def _record(self, prices: FloatArray, worst: float) -> None:
        """Keep the proof where it is the best so far."""
        limit = float(prices @ self.p_useful) + worst
        if limit > self.best.limit:
            self.best = replace(
                self.best,
                limit=limit,
                prices=prices,
                splits=tuple(self.boxes.cover.splits),
                multipliers=self.boxes.multipliers.copy(),
            )

    def _done(self) -> bool:
        gap = self.generation.value - self.best.limit
        return gap <= CLOSED_GAP * self.whole or self.budget.over or self.pricing.solved > self.most_programmes

    def _largest_entries(self) -> tuple[FloatArray, FloatArray]:
        """The largest value of every entry of an allowed posterior, proven by weak duality."""
        n = self.polytope.n_useful
        self.pricing.box(np.zeros(n), np.ones(n))
        multipliers = np.zeros((n, len(self.polytope.rows)))
        for x in range(n):
            cost = np.zeros(n)
            cost[x] = -1.0
            if self.budget.over:
                break  # the trivial bound 1 stays for the rest
            if self.pricing.minimise(cost) is not None:
                multipliers[x] = self.evaluator.usable(self.pricing.multipliers())
        unit = np.ones((n, n))
        largest = -self.evaluator.least(0 * unit, unit, multipliers, -np.eye(n)) + ROUNDING
        return np.clip(largest, 0.0, 1.0), multipliers

    def _price_boxes(self, prices: FloatArray) -> bool:
        """Lower limits of all boxes at these prices; solves programmes only where the old multipliers do not do.

        Returns whether columns were found that change the relaxed problem.
        """
        bounds = self.boxes.bounds(prices)
        found = 0
        goal = min(NO_GAIN, self._needed(prices))
        worst = float(bounds[bounds >= goal].min(initial=np.inf))
        weak = np.flatnonzero(bounds < goal)
        for solved, k in enumerate(weak[np.argsort(bounds[weak])].tolist()):
            if bounds[k] >= worst and solved >= BATCH:
                break
            if self.budget.over or self.pricing.solved > self.most_programmes:
                worst = min(worst, float(bounds[k]))
                break
            bound, point, cost = self._price_box(k, prices)
            worst = min(worst, bound)
            if point is not None and cost < NO_GAIN:
                self.relaxed.add(point, cost + float(prices @ point), k)
                found += 1
        self._record(prices, worst)
        return found > 0

    def _needed(self, prices: FloatArray) -> float:
        """Reduced cost that would close the gap: boxes above it need no attention."""
        return self.generation.value - CLOSED_GAP * self.whole / 2 - float(prices @ self.p_useful)

    def _price_box(self, k: int, prices: FloatArray) -> tuple[float, FloatArray | None, float]:
        """Limit of one box by its own programme, a minimiser and its relaxed reduced cost."""
        boxes = self.boxes
        self.pricing.box(boxes.cover.lower[k], boxes.cover.upper[k])
        point = self.pricing.minimise(boxes.slope[k] - prices)
        if point is None:
            return self._prove_empty(k, prices), None, np.inf
        boxes.learn(k, self.pricing.multipliers())
        return boxes.bound(k, prices), point, float((boxes.slope[k] - prices) @ point + boxes.chord_constant[k])

    def _prove_empty(self, k: int, prices: FloatArray) -> float:
        """The bound of an empty box grows with the size of the multipliers that prove it empty."""
        ray = self.pricing.ray()
        if ray is None:
            return self.boxes.bound(k, prices)
        before = self.boxes.multipliers[k].copy()
        best, size = max((self._try(k, ray * size, prices), size) for size in RAY_SIZES)
        if best > self._try(k, before, prices):
            self.boxes.learn(k, ray * size)
        return self.boxes.bound(k, prices)

    def _try(self, k: int, multipliers: FloatArray, prices: FloatArray) -> float:
        self.boxes.learn(k, multipliers)
        return self.boxes.bound(k, prices)

    def _split(self) -> bool:
        """Split boxes whose relaxed columns are in use and cost less than their entropy."""
        gap = max(self.generation.value - self.best.limit, CLOSED_GAP * self.whole)
        touched = False
        for k, point, error in self.relaxed.in_use():
            if error < WORTH_A_SPLIT * gap:
                continue
            symbol, cut = self._where_to_cut(k, point)
            if symbol < 0:
                continue
            self.relaxed.moved(k, self.boxes.split(k, symbol, cut), self.boxes)
            touched = True
        self.generation.add(self.relaxed.fresh_points())
        return self.generation.solve() and touched


class _Boxes:
    """A cover with what the search has learnt about its boxes: chords and multipliers, kept up to date."""

    def __init__(self, cover: Cover, evaluator: Evaluator, n_rows: int) -> None:
        self.cover = cover
        self._evaluator = evaluator
        self._slope, self._constant = chords(cover.lower, cover.upper)
        self._multipliers = np.zeros((len(cover), n_rows))
        self._base = self._slope.copy()  # slope + multipliers @ rows
        self._offset = np.zeros(len(cover))  # what auxiliary variables and rounding may take off

    @property
    def slope(self) -> FloatArray:
        """Slopes of the chords."""
        return self._slope

    @property
    def chord_constant(self) -> FloatArray:
        """Constants of the chords, summed over the entries."""
        return self._constant

    @property
    def multipliers(self) -> FloatArray:
        """Multipliers of every box."""
        return self._multipliers[: len(self.cover)]

    def learn(self, k: int, multipliers: FloatArray) -> None:
        """Multipliers of a solved programme."""
        y = self._evaluator.usable(multipliers)
        self._multipliers[k] = y
        self._base[k] = self._slope[k] + y @ self._evaluator.own
        self._offset[k] = self._evaluator.offset(y)

    def bounds(self, prices: FloatArray) -> FloatArray:
        """Lower limits of H(v) - prices . v over all boxes."""
        n = len(self.cover)
        least = cheapest(self.cover.lower, self.cover.upper, self._base[:n] - prices)
        return least + self._constant[:n] + self._offset[:n] - ROUNDING

    def bound(self, k: int, prices: FloatArray) -> float:
        """The same for one box."""
        one = slice(k, k + 1)
        least = cheapest(self.cover.lower[one], self.cover.upper[one], self._base[one] - prices)
        return float(least[0] + self._constant[k] + self._offset[k] - ROUNDING)

    def split(self, k: int, symbol: int, point: float) -> int:
        """Cut a box; both halves inherit its multipliers."""
        new = self.cover.split(k, symbol, point)
        if new == len(self._slope):
            self._slope, self._constant = _doubled(self._slope), _doubled(self._constant)
            self._multipliers, self._base = _doubled(self._multipliers), _doubled(self._base)
            self._offset = _doubled(self._offset)
        self._multipliers[new] = self._multipliers[k]
        for half in (k, new):
            self._slope[half], self._constant[half] = chords(self.cover.lower[half], self.cover.upper[half])
            self.learn(half, self._multipliers[half])
        return new


def _doubled(array: FloatArray) -> FloatArray:
    return np.concatenate([array, np.zeros_like(array)])


class _RelaxedMaster:
    """The master problem with chords in place of entropies: its prices balance the boxes against each other."""

    def __init__(self, generation: ColumnGeneration) -> None:
        self.n_useful = generation.polytope.n_useful
        self.master = MasterLP(generation.polytope.p_useful)
        columns = generation.columns
        used = np.flatnonzero(generation.weights > 0)
        points = columns.dense(used, self.n_useful)
        self.points = list(points)
        self.cost = entropies(points).tolist()
        self.entropy = list(self.cost)
        self.box = [-1] * len(points)  # columns at their true cost belong to no box
        self.members: dict[int, list[int]] = {}
        self._fresh: list[FloatArray] = []
        start = Columns.of(points)
        self.master.add(start.entropy, start.starts, start.symbol, start.value)

    def add(self, point: FloatArray, cost: float, box: int) -> None:
        """A posterior at the cost that its box gives it."""
        column = Columns.of(point[None])
        self.master.add(np.array([cost]), column.starts, column.symbol, column.value)
        self.members.setdefault(box, []).append(len(self.points))
        self.points.append(point)
        self.cost.append(cost)
        self.entropy.append(float(column.entropy[0]))
        self.box.append(box)
        self._fresh.append(point)

    def solve(self) -> FloatArray | None:
        """Prices of the relaxed problem, None where the solver gives up."""
        self.master.reprice(np.array(self.cost))
        solution = self.master.solve()
        if solution is None:
            return None
        _, prices, self.weights = solution
        return prices

    def in_use(self) -> list[tuple[int, FloatArray, float]]:
        """Boxes, points and weighted errors of the relaxed columns in use, the worst of each box first."""
        weights = self.weights
        worst: dict[int, tuple[float, int]] = {}
        for c in np.flatnonzero(weights > 1e-12).tolist():
            if self.box[c] >= 0:
                error = float(weights[c]) * (self.entropy[c] - self.cost[c])
                if error > worst.get(self.box[c], (0.0, -1))[0]:
                    worst[self.box[c]] = (error, c)
        return [(k, self.points[c], error) for k, (error, c) in sorted(worst.items(), key=lambda item: -item[1][0])]

    def moved(self, old: int, new: int, boxes: _Boxes) -> None:
        """After a split, the columns of a box cost what the half that they lie in says."""
        symbol, cut = boxes.cover.splits[-1][1:]
        stay: list[int] = []
        go: list[int] = []
        for c in self.members.pop(old, []):
            (go if self.points[c][symbol] > cut else stay).append(c)
        for k, columns in ((old, stay), (new, go)):
            self.members[k] = columns
            for c in columns:
                self.box[c] = k
                chord = float(boxes.slope[k] @ self.points[c] + boxes.chord_constant[k])
                self.cost[c] = min(chord, self.entropy[c])

    def fresh_points(self) -> Columns:
        """Posteriors found since the last call; they serve the true problem too."""
        fresh, self._fresh = self._fresh, []
        return Columns.of(np.array(fresh).reshape(-1, self.n_useful))
