r"""Many small linear programmes over one polytope at once: a bounded dual simplex, vectorised over the programmes.

Each programme is :math:`\min c \cdot v` over :math:`\{A v = z, \; v \in \text{box}, \; z \in \text{its range}\}`. All
variables have finite bounds, so every basis becomes dual feasible by putting each nonbasic variable at the bound that
its reduced cost asks for: no first phase, and a basis of another programme is as good a start as any.

The tableau T writes basic variables in nonbasic ones, :math:`x_B = T x_N`, with the reduced costs as its last row; a
pivot is one rank-one update for all programmes. The ratio test passes over bounds ("bound flipping"), which ends these
programmes in a handful of pivots. Polytopes of many rows have a tableau of their own (`ShortTableau`). What is returned
is not believed: callers recompute bounds from the multipliers by weak duality, and residuals of the points.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet._support.patience import never
from discreet.designers.posteriors.pivoting import FEASIBILITY, TOUCHING, Status, ratio_test
from discreet.designers.posteriors.short_tableau import Rows, ShortTableau
from discreet.proof.polytope import Polytope

__all__ = ["Programmes", "Solutions"]

#: Entries of all tableaus of one batch: a few megabytes, which caches hold.
BATCH_ENTRIES = 400_000

#: Polytopes of more rows have tableaus of the rows that are touched alone.
LONG_UP_TO = 40

#: Rows whose directions differ by less than this are one row with two sides.
OPPOSITE = 1e-13


#: What each term of a sum may be off by.
SUMMED = 2.0**-50


class Solutions(NamedTuple):
    """Of each programme: a minimiser, multipliers of the polytope's rows, what came of it, and the final basis.

    Where ``is_empty``, the multipliers plus any large multiple of the ``ray`` prove that the box is. Bases are for
    later programmes of the same polytope to start from.
    """

    points: FloatArray
    multipliers: FloatArray
    is_solved: BoolArray
    is_empty: BoolArray
    rays: FloatArray
    bases: IntArray


class Programmes:
    """min cost . v over the allowed posteriors in a box, for many costs and boxes at once."""

    def __init__(self, polytope: Polytope) -> None:
        self.polytope = polytope
        self.n_useful = polytope.n_useful
        self.work = 0  # entries of tableaus that pivots went over, which is what time goes by
        self._n_rows = len(polytope.rows)
        self._first, self._second, self._ratio, low = _two_sided(polytope)
        own = polytope.rows[self._first]
        total = np.concatenate([np.ones(polytope.n_own), np.zeros(own.shape[1] - polytope.n_own)])
        self._matrix = np.vstack([own, total])
        self._low = np.append(low, 1.0)
        self._high = np.append(np.zeros(len(low)), 1.0)
        self._auxiliary = polytope.auxiliary_limit()
        if polytope.groups is not None:
            self._sum_groups(polytope.groups)
        count, width = self._matrix.shape
        # More than a long tableau is good for; sums of groups are basic from the start in a short one.
        self.has_many_rows = count > LONG_UP_TO or polytope.groups is not None
        entries = (min(count, width) + 1) * width + (count if self.has_many_rows else 0)
        self.batch = max(4, BATCH_ENTRIES // entries)
        # Entries that a pivot goes over; products of matrices are that much faster.
        self._step = width * min(count, width) + count * width // 8 if self.has_many_rows else count * width
        # All z are basic at first; a long tableau names the basic variables, a short one the others.
        self.cold = np.arange(width) if self.has_many_rows else np.arange(width, width + count)
        self.cold[self.n_useful :] += count if polytope.groups is not None else 0

    def _sum_groups(self, groups: IntArray) -> None:
        """A variable more for each group, with a last row that says that it is the sum of its members."""
        number = int(groups.max()) + 1
        wider = np.hstack([self._matrix, np.zeros((len(self._matrix), number))])
        self._matrix = np.vstack([wider, np.hstack([1.0 * (groups == np.arange(number)[:, None]), -np.eye(number)])])
        self._low, self._high = (np.append(ends, np.zeros(number)) for ends in (self._low, self._high))

    def minimise(
        self,
        cost: FloatArray,
        lower: FloatArray | None = None,
        upper: FloatArray | None = None,
        bases: IntArray | None = None,
        is_over: Callable[[], bool] = never,
    ) -> Solutions:
        """Solve a programme for each row of ``cost``; a warm start where ``bases`` has a basis for each.

        Programmes that are at work when the time ``is_over`` stay unsolved: their multipliers prove little, not wrong.
        """
        size = len(cost)
        low = np.zeros((size, self.polytope.n_boxed)) if lower is None else lower
        high = np.ones((size, self.polytope.n_boxed)) if upper is None else upper
        warm = bases is not None
        start = np.repeat(self.cold[None], size, axis=0) if bases is None else bases
        parts = []
        for first in range(0, max(size, 1), self.batch):
            some = slice(first, first + self.batch)
            parts.append(self._batch(cost[some], low[some], high[some], start[some], warm, is_over))
        return parts[0] if len(parts) == 1 else Solutions(*(np.concatenate(part) for part in zip(*parts)))

    def _batch(
        self,
        cost: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        bases: IntArray,
        warm: bool,
        is_over: Callable[[], bool],
    ) -> Solutions:
        size, n_own = len(cost), self.polytope.n_own
        rows, (low, high, costs) = Rows(self._matrix, self._low, self._high), self._variables(cost, lower, upper)
        tableau: ShortTableau | _Tableau
        if self.has_many_rows:
            tableau = ShortTableau(rows, costs, low, high, bases)
        else:
            tableau = _Tableau(rows, costs, low, high, bases, warm)
        value, reduced, status, ray, final = tableau.run(is_over)
        self.work += (tableau.pivots + size) * self._step
        whole = value[:, :n_own].reshape(size, -1, self.n_useful).sum(axis=1)
        points = np.clip(whole, 0.0, 1.0) if self.polytope.groups is not None else np.clip(whole, lower, upper)
        points /= np.maximum(points.sum(axis=1, keepdims=True), FEASIBILITY)
        return Solutions(
            points,
            self._multipliers(reduced),
            status == Status.SOLVED,
            status == Status.EMPTY,
            self._multipliers(ray),
            final,
        )

    def _variables(self, cost: FloatArray, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, ...]:
        """Lower and upper ends and costs of all variables: of entries, and of auxiliary ones or the sums of groups."""
        if self.polytope.groups is not None:
            high = self.polytope.spread(upper)
            return np.hstack([0 * high, lower]), np.hstack([high, upper]), np.hstack([cost, 0 * lower])
        pad, parts = np.zeros((len(cost), len(self._auxiliary))), self.polytope.parts
        costs = np.hstack([self.polytope.repeated(cost), pad])
        return np.hstack([parts(lower), pad]), np.hstack([parts(upper), pad + self._auxiliary]), costs

    def _multipliers(self, reduced: FloatArray) -> FloatArray:
        """Reduced costs of the z as multipliers of the polytope's own rows, each side its own."""
        result = np.zeros((len(reduced), self._n_rows))
        inner = reduced[:, : len(self._first)]
        two = self._second >= 0
        result[:, self._first] = -inner
        result[:, self._first[two]] = np.maximum(-inner[:, two], 0.0)
        result[:, self._second[two]] = np.maximum(inner[:, two], 0.0) * self._ratio[two]
        return result


class _Tableau:
    """x_basic = T x_nonbasic for a batch of programmes; the last row of T is the cost."""

    def __init__(
        self, rows: Rows, cost: FloatArray, low: FloatArray, high: FloatArray, bases: IntArray, warm: bool
    ) -> None:
        matrix = rows.matrix
        count, width = matrix.shape
        size = len(cost)
        self.low = low = np.hstack([low, np.repeat(rows.low[None], size, axis=0)])
        self.high = high = np.hstack([high, np.repeat(rows.high[None], size, axis=0)])
        self.width = width
        self.basic = bases.copy()
        rebuilt = _rebuilt(matrix, cost, self.basic) if warm else None
        if rebuilt is not None:
            self.nonbasic, self.table = rebuilt
        else:
            self.basic[:] = np.arange(width, width + count)
            self.nonbasic = np.repeat(np.arange(width)[None], size, axis=0)
            self.table = np.empty((size, count + 1, width))
            self.table[:, :-1] = matrix
            self.table[:, -1] = cost
        every = np.arange(size)[:, None]
        self.low_n, self.high_n = low[every, self.nonbasic], high[every, self.nonbasic]
        self.low_b, self.high_b = low[every, self.basic], high[every, self.basic]
        self.at_high = self.table[:, -1] < 0
        self.index = np.arange(size)
        self.most_pivots = 50 + 10 * count
        self.pivots = 0

    def run(self, is_over: Callable[[], bool]) -> tuple[FloatArray, FloatArray, IntArray, FloatArray, IntArray]:
        """Values of all variables, reduced costs of the z, statuses, rays of empty programmes on those, and bases."""
        size, total = self.low.shape
        self.value, self.reduced, self.ray = (np.zeros((size, total)) for _ in range(3))
        self.status = np.zeros(size, dtype=np.int64)
        self.bases = self.basic.copy()
        for _ in range(self.most_pivots):
            at = np.where(self.at_high, self.high_n, self.low_n)
            inside = np.matmul(self.table[:, :-1], at[:, :, None])[:, :, 0]
            below = self.low_b - inside
            violation = np.maximum(below, inside - self.high_b)
            leaving = violation.argmax(axis=1)
            every = np.arange(len(leaving))
            worst = violation[every, leaving]
            done = worst <= FEASIBILITY
            if done.any():
                self._store(done, at, inside, Status.SOLVED)
                if done.all():
                    break
                leaving, worst, below = leaving[~done], worst[~done], below[~done]
                every = np.arange(len(leaving))
            sign = np.where(below[every, leaving] > 0, 1.0, -1.0)
            row = self.table[every, leaving] * sign[:, None]
            entering, flips, short = ratio_test(self.table[:, -1], row, worst, self.at_high, self.high_n - self.low_n)
            touching = (short > 0) & (short <= TOUCHING)
            if touching.any():
                self._loosen(touching, leaving, sign, short)
                continue
            self.at_high ^= flips
            hopeless = short > 0
            if hopeless.any():
                self._store_empty(hopeless, row, sign, leaving)
                if hopeless.all():
                    break
                keep = ~hopeless
                leaving, entering, sign = leaving[keep], entering[keep], sign[keep]
            self._pivot(leaving, entering, sign)
            if is_over():
                break
        self._store(np.ones(len(self.index), dtype=bool), None, None, Status.LOST)
        return self.value, self.reduced[:, self.width :], self.status, self.ray[:, self.width :], self.bases

    def _loosen(self, touching: BoolArray, leaving: IntArray, sign: FloatArray, short: FloatArray) -> None:
        """A box that misses the polytope by rounding touches it: move the violated bound by what is missing."""
        which, where = np.flatnonzero(touching), leaving[touching]
        amount = short[touching] + FEASIBILITY
        self.low_b[which, where] -= np.where(sign[touching] > 0, amount, 0.0)
        self.high_b[which, where] += np.where(sign[touching] < 0, amount, 0.0)

    def _pivot(self, leaving: IntArray, entering: IntArray, sign: FloatArray) -> None:
        table = self.table
        self.pivots += len(leaving)
        every = np.arange(len(leaving))
        row = table[every, leaving]
        column = table[every, :, entering]
        pivot = row[every, entering][:, None]
        row = row / pivot
        table -= column[:, :, None] * row[:, None, :]
        column /= pivot
        table[every, leaving] = -row
        table[every, :, entering] = column
        table[every, leaving, entering] = 1 / pivot[:, 0]
        self.at_high[every, entering] = sign < 0
        for basic, nonbasic in (
            (self.basic, self.nonbasic),
            (self.low_b, self.low_n),
            (self.high_b, self.high_n),
        ):
            out = basic[every, leaving]
            basic[every, leaving] = nonbasic[every, entering]
            nonbasic[every, entering] = out

    def _store(self, done: BoolArray, at: FloatArray | None, inside: FloatArray | None, status: Status) -> None:
        """Write out what is finished, and go on with the rest."""
        where = self.index[done][:, None]
        if at is not None and inside is not None:
            self.value[where, self.nonbasic[done]] = at[done]
            self.value[where, self.basic[done]] = inside[done]
        self.reduced[where, self.nonbasic[done]] = self.table[done, -1]
        self.status[self.index[done]] = status
        self.bases[self.index[done]] = self.basic[done]
        self._go_on(~done)

    def _store_empty(self, hopeless: BoolArray, row: FloatArray, sign: FloatArray, leaving: IntArray) -> None:
        where = self.index[hopeless]
        self.ray[where[:, None], self.nonbasic[hopeless]] = -row[hopeless]
        self.ray[where, self.basic[hopeless, leaving[hopeless]]] = sign[hopeless]
        self._store(hopeless, None, None, Status.EMPTY)

    def _go_on(self, keep: BoolArray) -> None:
        self.table, self.basic, self.nonbasic = self.table[keep], self.basic[keep], self.nonbasic[keep]
        self.low_b, self.high_b = self.low_b[keep], self.high_b[keep]
        self.low_n, self.high_n = self.low_n[keep], self.high_n[keep]
        self.at_high, self.index = self.at_high[keep], self.index[keep]


def _rebuilt(matrix: FloatArray, cost: FloatArray, basic: IntArray) -> tuple[IntArray, FloatArray] | None:
    """Nonbasic variables and tableau of given bases, from [matrix, -1] x = 0; None where a basis is singular."""
    count, width = matrix.shape
    size = len(basic)
    every = np.arange(size)[:, None]
    outside = np.ones((size, width + count), dtype=bool)
    outside[every, basic] = False
    nonbasic = np.nonzero(outside)[1].reshape(size, width)
    whole = np.hstack([matrix, -np.eye(count)]).T
    table = np.empty((size, count + 1, width))
    try:
        table[:, :-1] = -np.linalg.solve(whole[basic].transpose(0, 2, 1), whole[nonbasic].transpose(0, 2, 1))
    except np.linalg.LinAlgError:
        return None
    full = np.hstack([cost, np.zeros((size, count))])
    table[:, -1] = full[every, nonbasic] + np.matmul(full[every, basic][:, None], table[:, :-1])[:, 0]
    return nonbasic, table


def _two_sided(polytope: Polytope) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Rows of the tableau: a first row of the polytope, the row on its other side (-1: none), their ratio, least value.

    Where R_i + r R_j is a constant -k, both rows say -k <= R_i v <= 0, because v sums to one.
    """
    rows, n = polytope.rows, polytope.n_own
    count = len(rows)
    mean = rows[:, :n].mean(axis=1)
    direction = rows[:, :n] - mean[:, None]
    length = np.abs(direction).max(axis=1, initial=0)
    second = np.full(count, -1)
    ratio = np.zeros(count)
    low = _least_values(polytope)
    taken = np.zeros(count, dtype=bool)
    usable = (length > 0) & ~polytope.equal & (rows[:, n:] == 0).all(axis=1)
    direction[usable] /= length[usable, None]
    opposites = _Opposites(direction, usable)
    for i in np.flatnonzero(usable).tolist():
        if taken[i]:
            continue
        others = opposites.of(i)
        others = others[~taken[others] & (others > i)]
        opposite = others[(np.abs(direction[others] + direction[i]) < OPPOSITE).all(axis=1)]
        if len(opposite):
            j = int(opposite[0])
            second[i], taken[j] = j, True
            ratio[i] = length[i] / length[j]
            low[i] = mean[i] + ratio[i] * mean[j]
    first = np.flatnonzero(~taken)
    return first, second[first], ratio[first], low[first]


class _Opposites:
    """Directions that may be opposite to a given one: those whose sums of the same multiples are.

    Comparing each with all others takes minutes where there are some thousand rows of some thousand entries.
    """

    def __init__(self, direction: FloatArray, usable: BoolArray) -> None:
        self._rows = np.flatnonzero(usable)
        multiples = np.random.default_rng(0).uniform(0.5, 1.0, (direction.shape[1],))
        self._sums = direction @ multiples
        self._apart = (OPPOSITE + SUMMED) * max(direction.shape[1], 1)
        self._rows = self._rows[np.argsort(self._sums[self._rows], kind="stable")]

    def of(self, row: int) -> IntArray:
        """Rows in ascending order."""
        ordered = self._sums[self._rows]
        first, last = np.searchsorted(ordered, [-self._sums[row] - self._apart, -self._sums[row] + self._apart])
        result: IntArray = np.sort(self._rows[first:last])
        return result


def _least_values(polytope: Polytope) -> FloatArray:
    """The least value of every row over the simplex; 0 for equations."""
    auxiliary = np.minimum(polytope.auxiliary, 0.0) @ polytope.auxiliary_limit()
    return np.where(polytope.equal, 0.0, polytope.own_rows.min(axis=1) + auxiliary)
