r"""A tableau of the entries of posteriors alone, for polytopes of many rows of which a programme touches few.

With k rows at a bound, k entries are basic, and only those are written in nonbasic variables, :math:`x_B = T x_N`: k
rows instead of one for each row of the polytope. Its other rows follow from the entries, :math:`z = A x`, a product of
matrices for all programmes; the tableau row of the one that is violated most is made when it is needed. Rows come and
go as they are touched. Under LDP with 26 sensitive values there are 650 rows, and a vertex touches ten.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray, product
from discreet.designers.posteriors.pivoting import FEASIBILITY, TOUCHING, Status, ratio_test

__all__ = ["Rows", "ShortTableau"]

#: Places for basic entries at first, and how many more each time that they do not suffice.
PLACES = 8


class Rows(NamedTuple):
    """The rows z = A x of a polytope, and the range of each z."""

    matrix: FloatArray
    low: FloatArray
    high: FloatArray


class ShortTableau:
    """A batch of programmes min cost . x over x in a box and A x in its range.

    Variables are numbered: the entries x first, then the rows z. A basis is given by its nonbasic variables, as many as
    there are entries. Places of basic entries may be free; those stand for a variable that is always zero.

    Attributes
    ----------
    pivots : int
        How many steps all programmes took together.
    """

    def __init__(self, rows: Rows, cost: FloatArray, low: FloatArray, high: FloatArray, bases: IntArray) -> None:
        size, width = cost.shape
        self.rows, self.width = rows, width
        self._extended = np.hstack([rows.matrix, np.zeros((len(rows.matrix), 1))])  # and a variable that is always zero
        self._low = np.hstack([low, np.repeat(rows.low[None], size, axis=0)])
        self._high = np.hstack([high, np.repeat(rows.high[None], size, axis=0)])
        self.nonbasic = bases.copy()
        self._place(cost)
        every = np.arange(size)[:, None]
        self.low_n, self.high_n = self._low[every, self.nonbasic], self._high[every, self.nonbasic]
        self.low_b, self.high_b = self._bounds_of_basic()
        self.at_high = self.reduced < 0
        self.slack = np.zeros(size)  # what bounds are loosened by
        self.index = np.arange(size)
        self.most_pivots = 50 + 10 * len(rows.matrix)
        self.pivots = 0

    def run(self, is_over: Callable[[], bool]) -> tuple[FloatArray, FloatArray, IntArray, FloatArray, IntArray]:
        """Entries, reduced costs of the rows, statuses, rays of empty programmes on the rows, and final bases."""
        size, count = len(self.nonbasic), len(self.rows.matrix)
        self.value, self.status = np.zeros((size, self.width)), np.zeros(size, dtype=np.int64)
        self.of_rows, self.ray = np.zeros((size, count)), np.zeros((size, count))
        self.bases = self.nonbasic.copy()
        for _ in range(self.most_pivots):
            x = self._entries()
            leaving, worst, sign = self._most_violated(x)
            done = worst <= FEASIBILITY
            if done.any():
                self._store(done, x, Status.SOLVED)
                if done.all():
                    break
                leaving, worst, sign = leaving[~done], worst[~done], sign[~done]
            row = self._row(leaving)
            entering, flips, short = ratio_test(
                self.reduced, row * sign[:, None], worst, self.at_high, self.high_n - self.low_n
            )
            touching = (short > 0) & (short <= TOUCHING)
            if touching.any():  # a box that misses the polytope by rounding touches it
                self.slack[touching] += short[touching] + FEASIBILITY
                continue
            self.at_high ^= flips
            hopeless = short > 0
            if hopeless.any():
                self._store_empty(hopeless, row * sign[:, None], sign, leaving)
                keep = ~hopeless
                leaving, entering, sign, row = leaving[keep], entering[keep], sign[keep], row[keep]
                if hopeless.all():
                    break
            self._pivot(leaving, entering, sign, row)
            if is_over():
                break
        self._store(np.ones(len(self.index), dtype=bool), None, Status.LOST)
        return self.value, self.of_rows, self.status, self.ray, self.bases

    def _place(self, cost: FloatArray) -> None:
        """Basic entries and their rows from the nonbasic variables; from the start where those are no basis."""
        size, width = cost.shape
        every = np.arange(size)[:, None]
        is_basic = np.ones((size, width + 1), dtype=bool)
        is_basic[every, np.minimum(self.nonbasic, width)] = False
        is_basic[:, width] = False
        number = is_basic.sum(axis=1)
        most = int(number.max(initial=0))
        self.basic = np.full((size, most + PLACES), width)
        self.table = np.zeros((size, most + PLACES, width))
        self.reduced = np.hstack([cost, np.zeros((size, 1))])[every, np.minimum(self.nonbasic, width)]
        if not most:
            return
        slot = np.arange(most) < number[:, None]
        self.basic[:, :most][slot] = np.nonzero(is_basic)[1]
        # A_touched,basic x_B = z_touched - A_touched,N x_N; free places have an equation of their own.
        touched = np.full((size, most), -1)
        touched[slot] = (self.nonbasic[self.nonbasic >= width]) - width
        own = self._extended[touched[:, :, None], self.basic[:, None, :most]]
        own[~slot] = 0.0
        own[:, np.arange(most), np.arange(most)] += ~slot
        goal = -self._extended[touched[:, :, None], np.minimum(self.nonbasic, width)[:, None, :]]
        goal[~slot] = 0.0
        which, place = np.nonzero(self.nonbasic >= width)
        goal[which, np.nonzero(slot)[1], place] = 1.0
        try:
            self.table[:, :most] = np.linalg.solve(own, goal)
        except np.linalg.LinAlgError:
            self.nonbasic[:] = np.arange(width)
            self._place(cost)
            return
        of_basic = np.hstack([cost, np.zeros((size, 1))])[every, self.basic]
        self.reduced += np.matmul(of_basic[:, None], self.table)[:, 0]

    def _bounds_of_basic(self) -> tuple[FloatArray, FloatArray]:
        every, free = np.arange(len(self.basic))[:, None], self.basic == self.width
        entry = np.minimum(self.basic, self.width - 1)
        return np.where(free, -np.inf, self._low[every, entry]), np.where(free, np.inf, self._high[every, entry])

    def _entries(self) -> FloatArray:
        """All entries."""
        at = np.where(self.at_high, self.high_n, self.low_n)
        x = np.empty((len(at), self.width + 1))
        every = np.arange(len(at))[:, None]
        x[every, np.minimum(self.nonbasic, self.width)] = at
        self._at_basic = np.matmul(self.table, at[:, :, None])[:, :, 0]
        x[every, self.basic] = self._at_basic
        result: FloatArray = x[:, : self.width]
        return result

    def _most_violated(self, x: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """The basic variable furthest outside of its bounds (places of entries, then rows), by how much, which side."""
        rows, places = self.rows, self.basic.shape[1]
        z = product(x, rows.matrix.T)
        outside = np.empty((len(x), places + z.shape[1] + 1))
        np.maximum(self.low_b - self._at_basic, self._at_basic - self.high_b, out=outside[:, :places])
        np.maximum(rows.low - z, z - rows.high, out=outside[:, places:-1])
        # Rows at a bound are there but for rounding.
        at_bound = np.where(self.nonbasic >= self.width, places + self.nonbasic - self.width, outside.shape[1] - 1)
        outside[np.arange(len(x))[:, None], at_bound] = -np.inf
        leaving = outside[:, :-1].argmax(axis=1)
        every = np.arange(len(x))
        worst = outside[every, leaving] - self.slack
        of_entry = leaving < places
        place, row = np.where(of_entry, leaving, 0), np.where(of_entry, 0, leaving - places)
        below = np.where(
            of_entry, self.low_b[every, place] > self._at_basic[every, place], rows.low[row] > z[every, row]
        )
        return leaving, worst, np.where(below, 1.0, -1.0)

    def _row(self, leaving: IntArray) -> FloatArray:
        """The leaving variables written in nonbasic ones."""
        every, places = np.arange(len(leaving)), self.basic.shape[1]
        row = np.maximum(leaving - places, 0)
        is_row = (leaving >= places)[:, None]
        weights = np.where(is_row, self._extended[row[:, None], self.basic], 0.0)
        entry = np.flatnonzero(leaving < places)
        weights[entry, leaving[entry]] = 1.0
        own = np.where(is_row, self._extended[row[:, None], np.minimum(self.nonbasic, self.width)], 0.0)
        result: FloatArray = own + np.matmul(weights[every, None], self.table)[:, 0]
        return result

    def _pivot(self, leaving: IntArray, entering: IntArray, sign: FloatArray, row: FloatArray) -> None:
        self.pivots += len(leaving)
        table, every, places = self.table, np.arange(len(leaving)), self.basic.shape[1]
        pivot = row[every, entering]
        row = row / pivot[:, None]
        column, reduced = table[every, :, entering], self.reduced[every, entering]
        table -= column[:, :, None] * row[:, None, :]
        table[every, :, entering] = column / pivot[:, None]
        self.reduced -= reduced[:, None] * row
        self.reduced[every, entering] = reduced / pivot
        # What leaves: its bounds and number, and its place becomes free.
        is_entry = leaving < places
        place, z = np.where(is_entry, leaving, 0), np.where(is_entry, 0, leaving - places)
        number = np.where(is_entry, self.basic[every, place], z + self.width)
        low = np.where(is_entry, self.low_b[every, place], self.rows.low[z])
        high = np.where(is_entry, self.high_b[every, place], self.rows.high[z])
        self._free(np.flatnonzero(is_entry), leaving[is_entry])
        # What enters: an entry takes a free place.
        which = np.flatnonzero(self.nonbasic[every, entering] < self.width)
        self._take(which, entering[which], row[which], pivot[which])
        self.nonbasic[every, entering] = number
        self.low_n[every, entering], self.high_n[every, entering] = low, high
        self.at_high[every, entering] = sign < 0

    def _free(self, which: IntArray, place: IntArray) -> None:
        self.basic[which, place] = self.width
        self.table[which, place] = 0.0
        self.low_b[which, place], self.high_b[which, place] = -np.inf, np.inf

    def _take(self, which: IntArray, entering: IntArray, row: FloatArray, pivot: FloatArray) -> None:
        if not len(which):
            return
        if not (self.basic[which] == self.width).any(axis=1).all():
            self._widen()
        place = (self.basic[which] == self.width).argmax(axis=1)
        self.basic[which, place] = self.nonbasic[which, entering]
        self.table[which, place] = -row
        self.table[which, place, entering] = 1 / pivot
        self.low_b[which, place], self.high_b[which, place] = self.low_n[which, entering], self.high_n[which, entering]

    def _widen(self) -> None:
        size = len(self.basic)
        self.basic = np.hstack([self.basic, np.full((size, PLACES), self.width)])
        self.table = np.concatenate([self.table, np.zeros((size, PLACES, self.width))], axis=1)
        self.low_b = np.hstack([self.low_b, np.full((size, PLACES), -np.inf)])
        self.high_b = np.hstack([self.high_b, np.full((size, PLACES), np.inf)])

    def _store(self, done: BoolArray, x: FloatArray | None, status: Status) -> None:
        """Write out what is finished, and go on with the rest."""
        where = self.index[done]
        if x is not None:
            self.value[where] = x[done]
        which, place = np.nonzero(self.nonbasic[done] >= self.width)
        self.of_rows[where[which], self.nonbasic[done][which, place] - self.width] = self.reduced[done][which, place]
        self.status[where] = status
        self.bases[where] = self.nonbasic[done]
        self._go_on(~done)

    def _store_empty(self, hopeless: BoolArray, row: FloatArray, sign: FloatArray, leaving: IntArray) -> None:
        where, places = self.index[hopeless], self.basic.shape[1]
        which, place = np.nonzero(self.nonbasic[hopeless] >= self.width)
        self.ray[where[which], self.nonbasic[hopeless][which, place] - self.width] = -row[hopeless][which, place]
        of_row = leaving[hopeless] >= places
        self.ray[where[of_row], leaving[hopeless][of_row] - places] = sign[hopeless][of_row]
        self._store(hopeless, None, Status.EMPTY)

    def _go_on(self, keep: BoolArray) -> None:
        self.table, self.basic, self.nonbasic = self.table[keep], self.basic[keep], self.nonbasic[keep]
        self.low_b, self.high_b = self.low_b[keep], self.high_b[keep]
        self.low_n, self.high_n = self.low_n[keep], self.high_n[keep]
        self.at_high, self.index, self.reduced = self.at_high[keep], self.index[keep], self.reduced[keep]
        self.slack = self.slack[keep]
