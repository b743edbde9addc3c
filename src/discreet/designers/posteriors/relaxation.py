r"""Prices at which boxes prove the most, where their chords are far below the curve: those of a relaxed mixture.

At the prices of the true problem the worst box decides what is proven. But the limit

.. math:: \pi \cdot P_X + \min_b \min_{v \in b} \bigl( \text{chords}_b(v) - \pi \cdot v \bigr)

is concave in the prices, and its maximum is the cost of the cheapest mixture whose posteriors cost what the chords of
their boxes say: there every box counts by how much of :math:`P_X` goes through it, and boxes need cutting only where
that mixture uses them. This is again a master problem with columns (box, posterior) that boxes are asked for; its
prices are approached from those that prove the most so far, so that they do not jump about. The closed form is the
solution for one box that holds all posteriors.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet._support.numeric import FloatArray, IntArray
from discreet.designers.posteriors.columns import Columns
from discreet.designers.posteriors.learnt_boxes import Cut, LearntBoxes
from discreet.designers.posteriors.lp import BoxedMaster

__all__ = ["Relaxation", "Relaxed"]

#: How far prices may be from the centre, nats of a unit.
WIDTH = 0.5

#: Share of the way from the solution's prices back to the centre; halved where nothing comes of it, down to the least.
BACK, LEAST_BACK = 0.9, 1e-2

#: Columns for each symbol that are kept, those of least reduced cost, when there are twice as many.
KEPT = 15

#: Share of what is missing in all that boxes are cut for at once; the rest has boxes that hardly count.
CUT_SHARE = 0.95

#: Boxes are cut so far from their points towards their upper sides: other entries are to blame as well, and will move.
FURTHER = 0.5

#: Weights below this are none.
NO_WEIGHT = 1e-9


class Relaxed(NamedTuple):
    """Cost of the relaxed mixture, prices to try, and the weights of its columns."""

    cost: float
    prices: FloatArray
    weights: FloatArray


class Relaxation:
    """The master problem whose columns cost what the chords of their boxes say.

    The centre must be prices that prove something: where a box is worse by more than the width, no prices near do.
    """

    def __init__(self, boxes: LearntBoxes, target: FloatArray, centre: FloatArray) -> None:
        self._boxes = boxes
        self._master = BoxedMaster(target, centre, WIDTH)
        self._most = KEPT * len(target)
        self._box = np.empty(0, dtype=np.int64)
        self._points = np.empty((0, len(target)))
        self._cost = np.empty(0)
        self._centre, self._back = centre, BACK

    def solve(self, seconds: float) -> Relaxed | None:
        """The best relaxed mixture so far, with prices between its own and the centre; None if the solver gives up."""
        solution = self._master.solve(seconds)
        if solution is None:
            return None
        cost, prices, weights = solution
        return Relaxed(cost, self._back * self._centre + (1 - self._back) * prices, weights)

    def centred(self, prices: FloatArray) -> None:
        """Prices that prove more than those before."""
        self._centre, self._back = prices, BACK
        self._master.move(prices, WIDTH)

    def bolder(self) -> bool:
        """Try prices further from the centre; False where that was tried."""
        self._back /= 2
        return self._back > LEAST_BACK

    def add(self, boxes: IntArray, points: FloatArray) -> None:
        """Posteriors that boxes offer, at the costs of their chords."""
        cost = self._boxes.chord_costs(boxes, points)
        columns = Columns.of(points, cost)
        if len(columns):
            self._master.add(columns.cost, columns.starts, columns.symbol, columns.value)
        self._box, self._cost = np.append(self._box, boxes), np.append(self._cost, cost)
        self._points = np.vstack([self._points, points])

    def cut_used(self, weights: FloatArray) -> int:
        """Cut the boxes that the mixture goes through, those first where the most is missing; returns how many."""
        used = np.flatnonzero(weights > NO_WEIGHT)
        missing = weights[used] * self._boxes.below(self._box[used], self._points[used]).sum(axis=1)
        order = np.argsort(-missing, kind="stable")
        order = order[: 1 + int((np.cumsum(missing[order]) <= CUT_SHARE * missing.sum()).sum())]
        _, first = np.unique(self._box[used[order]], return_index=True)
        chosen = used[order[np.sort(first)]]
        cut = self._boxes.cut(self._box[chosen], self._points[chosen], FURTHER)
        if len(cut.boxes):
            self._follow(cut)
        return len(cut.boxes)

    def _follow(self, cut: Cut) -> None:
        """Columns move to the halves that they are in, where they cost more, those at the cut to both."""
        number = np.full(len(self._boxes.cover), -1)
        number[cut.boxes] = np.arange(len(cut.boxes))
        touched = np.flatnonzero(number[self._box] >= 0)
        which = number[self._box[touched]]
        entries = self._boxes.entries(self._points[touched])
        above = entries[np.arange(len(touched)), cut.symbols[which]] > cut.at[which]
        self._box[touched[above]] = cut.new[which[above]]
        self._cost[touched] = self._boxes.chord_costs(self._box[touched], self._points[touched])
        self._master.reprice(touched, self._cost[touched])

    def prune(self, relaxed: Relaxed) -> None:
        """Do without columns that are far too dear, where there are many."""
        if len(self._box) <= 2 * self._most:
            return
        reduced = self._cost - self._points @ relaxed.prices
        reduced[: len(relaxed.weights)][relaxed.weights > 0] = -np.inf
        dropped = np.sort(np.argsort(reduced, kind="stable")[self._most :])
        self._master.drop(dropped)
        self._box, self._cost = np.delete(self._box, dropped), np.delete(self._cost, dropped)
        self._points = np.delete(self._points, dropped, axis=0)
