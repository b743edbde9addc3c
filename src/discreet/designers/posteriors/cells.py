r"""Nearly equal beliefs: symbols gathered into cells, and two programmes on cells that enclose the one on symbols.

A row of an allowed set asks :math:`\sum_x R_{kx} v(x) \le 0`. With cells g of symbols and r(g) the share of a posterior
that lies in g,

.. math:: \sum_g r(g) \min_{x \in g} R_{kx} \;\le\; \sum_x R_{kx} v(x) \;\le\; \sum_g r(g) \max_{x \in g} R_{kx}.

*Inside*: where the right side is at most 0 for every k, every posterior with these shares is allowed, whichever members
of the cells it takes. *Around*: where v is allowed, the left side is at most 0, and the cell tells no more than the
symbol, so a limit of what mixtures of such r cost is a limit for symbols too. Designs are made somewhere between the
mean of each cell and the inside, and their members chosen so that they are allowed (`walking`).
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import heapq
from dataclasses import dataclass, replace

import numpy as np

from discreet._support.numeric import FloatArray, IntArray
from discreet.proof.polytope import Polytope

__all__ = ["Cells", "can_be_gathered", "is_walkable"]

#: Share of the way from the mean to where P_X would be on the border that a design may go.
ROOM_LEFT = 0.6

#: Cells whose rows differ by less than this are not cut further.
NARROW = 1e-12


def can_be_gathered(polytope: Polytope) -> bool:
    """Whether members of a cell may stand for each other: equations have no room for that, and no rows no need.

    Where entries count by parts, members of a cell have steps of their own.
    """
    return len(polytope.rows) > 0 and not polytope.equal.any() and polytope.steps is None


def is_walkable(polytope: Polytope) -> bool:
    """Whether rows determine shares of members: neither equations nor rows with auxiliary variables do."""
    return can_be_gathered(polytope) and not polytope.is_lifted


@dataclass(frozen=True)
class Cells:
    """A partition of the symbols of a polytope.

    Attributes
    ----------
    polytope : Polytope
        Posteriors over symbols that are allowed.
    cell_of : ndarray of int, shape (n_useful,)
        The cell of each symbol.
    number : int
        How many cells there are.
    """

    polytope: Polytope
    cell_of: IntArray
    number: int

    @classmethod
    def of(cls, polytope: Polytope, most: int) -> Cells:
        """At most so many cells, cut again and again across the row in which members of a heavy cell differ most.

        Cost O(n_rows * n_useful * log(most)).
        """
        rows, mass = polytope.own_rows, polytope.p_useful
        cell_of = np.zeros(polytope.n_useful, dtype=np.int64)
        queue: list[tuple[float, int, IntArray, int, float]] = []

        def offer(number: int, members: IntArray) -> None:
            here = rows[:, members]
            low, high = here.min(axis=1), here.max(axis=1)
            k = int((high - low).argmax())
            if high[k] - low[k] > NARROW:
                weight = float(mass[members].sum() * (high[k] - low[k]))
                heapq.heappush(queue, (-weight, number, members, k, float((low[k] + high[k]) / 2)))

        offer(0, np.arange(polytope.n_useful))
        number = 1
        while queue and number < most:
            _, cell, members, k, middle = heapq.heappop(queue)
            above = rows[k, members] > middle
            cell_of[members[above]] = number
            offer(cell, members[~above])
            offer(number, members[above])
            number += 1
        return cls(polytope, cell_of, number)

    def between(self, most: float) -> Polytope:
        """Shares of cells that are allowed for members between the mean of each cell, at 0, and any of them, at 1.

        As far towards 1 as ``most`` says, and as leaves P_X well inside.
        """
        inside, mass = self._gathered(np.maximum), self.polytope.p_useful
        whole = np.bincount(self.cell_of, mass, minlength=self.number)
        mean = np.stack([np.bincount(self.cell_of, row * mass, minlength=self.number) for row in self._own]) / whole
        wider = inside.own_rows - mean
        at_p, more = mean @ inside.p_useful, wider @ inside.p_useful
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(more > 0, -at_p / more, np.inf).min(initial=np.inf)
        far = float(np.clip(ROOM_LEFT * reach, 0.0, most))
        return replace(inside, rows=np.hstack([mean + far * wider, inside.rows[:, self.number :]]))

    @property
    def _own(self) -> FloatArray:
        return self.polytope.own_rows

    @property
    def around(self) -> Polytope:
        """Shares of cells that some allowed posterior may have."""
        return self._gathered(np.minimum)

    def _gathered(self, extreme: np.ufunc) -> Polytope:
        order = np.argsort(self.cell_of, kind="stable")
        starts = np.searchsorted(self.cell_of[order], np.arange(self.number))
        n = self.polytope.n_useful
        own = extreme.reduceat(self.polytope.rows[:, :n][:, order], starts, axis=1)
        rows = np.hstack([own, self.polytope.rows[:, n:]])
        mass = np.add.reduceat(self.polytope.p_useful[order], starts)
        return replace(self.polytope, rows=rows, p_useful=mass / mass.sum())
