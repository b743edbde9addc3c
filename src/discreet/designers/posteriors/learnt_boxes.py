"""Boxes of a proof with what the search for it has learnt about each: chords, multipliers, and bases to start from."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet._support.numeric import FloatArray, IntArray
from discreet._support.patience import never
from discreet.designers.posteriors.simplex import Programmes
from discreet.proof.boxes import ROUNDING, Cover, Evaluator, chords
from discreet.proof.multipliers import runs_of
from discreet.utilities import SeparableUtility

__all__ = ["NARROW", "Cut", "LearntBoxes"]

Entry = TypeVar("Entry", bound=np.generic)

#: Sizes of multipliers that are tried on an empty box.
RAY_SIZES = (1.0, 1e2, 1e4, 1e6)

#: Boxes are not cut closer than this to their sides.
NARROW = 1e-9

#: Entries bounded at once: what a cache holds.
CHUNK = 500_000


class Cut(NamedTuple):
    """Boxes that were cut, the new ones that hold their entries from the points on, and where."""

    boxes: IntArray
    new: IntArray
    symbols: IntArray
    at: FloatArray


class LearntBoxes:
    """A cover with what the search has learnt about its boxes: chords, multipliers and bases, kept up to date."""

    def __init__(self, cover: Cover, utility: SeparableUtility, evaluator: Evaluator, pricing: Programmes) -> None:
        self.cover = cover
        self._utility = utility
        self._evaluator = evaluator
        self._pricing = pricing
        self.slope, self.constant = chords(utility, cover.lower, cover.upper)  # of the chords
        self._polytope = polytope = evaluator.polytope
        self.runs = list(runs_of(np.zeros((len(cover), len(polytope.rows)))))  # the multipliers
        self._added = np.zeros((len(cover), polytope.n_own))  # what they add to costs
        self._offset = np.zeros(len(cover))  # what auxiliary variables and rounding may take off
        self.bases = np.repeat(pricing.cold[None], len(cover), axis=0)

    def learn(self, boxes: IntArray, multipliers: FloatArray) -> None:
        """Multipliers of solved programmes."""
        y = self._evaluator.usable(multipliers)
        for box, run in zip(boxes.tolist(), runs_of(y)):
            self.runs[box] = run
        self._added[boxes] = self._evaluator.added(y)
        self._offset[boxes] = self._evaluator.offset(y)

    def bounds(self, prices: FloatArray, boxes: IntArray | None = None) -> FloatArray:
        """Lower limits of h(v) - prices . v over boxes, all of them unless some are named."""
        named = np.arange(len(self.cover)) if boxes is None else boxes
        step = max(1, CHUNK // len(prices))
        parts = [named[k : k + step] for k in range(0, len(named), step)]
        return np.concatenate(
            [np.empty(0)] + [self._some(prices, part, self._added[part], self._offset[part]) for part in parts]
        )

    def bounds_by(self, multipliers: FloatArray, prices: FloatArray, boxes: IntArray) -> FloatArray:
        """The same by other multipliers than those that were learnt."""
        y = self._evaluator.usable(multipliers)
        return self._some(prices, boxes, self._evaluator.added(y), self._evaluator.offset(y))

    def _some(self, prices: FloatArray, boxes: IntArray, added: FloatArray, offset: FloatArray) -> FloatArray:
        corners = self.cover.lower[boxes], self.cover.upper[boxes]
        least = self._evaluator.least_beside(*corners, added, self._cost(boxes, prices))
        result: FloatArray = least + self.constant[boxes] + offset - ROUNDING
        return result

    def _cost(self, boxes: IntArray, prices: FloatArray) -> FloatArray:
        """What symbols cost by the chords of boxes, less their prices."""
        return self._polytope.spread(self.slope[boxes]) - prices

    def split(self, boxes: IntArray, symbols: IntArray, points: FloatArray) -> IntArray:
        """Cut boxes; both halves inherit multipliers and basis."""
        new = self.cover.split(boxes, symbols, points)
        while len(self.cover) > len(self.slope):
            self.slope, self.constant = _doubled(self.slope), _doubled(self.constant)
            self._added, self._offset = _doubled(self._added), _doubled(self._offset)
            self.bases = _doubled(self.bases)
        self.runs += [self.runs[box] for box in boxes.tolist()]
        self._added[new], self._offset[new], self.bases[new] = (
            self._added[boxes],
            self._offset[boxes],
            self.bases[boxes],
        )
        halves = np.concatenate([boxes, new])
        lower, upper = self.cover.lower[halves], self.cover.upper[halves]
        self.slope[halves], self.constant[halves] = chords(self._utility, lower, upper)
        return new

    def solve(
        self, boxes: IntArray, prices: FloatArray, needed: float, is_over: Callable[[], bool] = never
    ) -> tuple[FloatArray, FloatArray]:
        """Limits of boxes by their own programmes, and minimisers, nan where there is none.

        Multipliers that prove a box empty are made as large as the bound ``needed`` asks for.
        """
        if not len(boxes):
            return np.empty(0), np.empty((0, len(prices)))
        corners = self.cover.lower[boxes], self.cover.upper[boxes]
        solved = self._pricing.minimise(self._cost(boxes, prices), *corners, self.bases[boxes], is_over)
        self.bases[boxes] = solved.bases
        self.learn(boxes, solved.multipliers)
        bounds = self.bounds(prices, boxes)
        for size in RAY_SIZES:
            # The bound of an empty box grows with the multipliers that prove it empty; of one that only touches the
            # polytope, it shrinks when they get large.
            empty = np.flatnonzero(solved.is_empty & (bounds < needed))
            if not len(empty):
                break
            larger = solved.multipliers[empty] + size * solved.rays[empty]
            tried = self.bounds_by(larger, prices, boxes[empty])
            better = tried > bounds[empty]
            self.learn(boxes[empty[better]], larger[better])
            bounds[empty] = np.maximum(tried, bounds[empty])
        return bounds, np.where(solved.is_solved[:, None], solved.points, np.nan)

    def chord_costs(self, boxes: IntArray, points: FloatArray) -> FloatArray:
        """What the chords of boxes make of points in them: no more than these cost."""
        result: FloatArray = self.constant[boxes] + (self.slope[boxes] * self.entries(points)).sum(axis=1)
        return result

    def entries(self, points: FloatArray) -> FloatArray:
        """What boxes bound of posteriors: their entries, or the sums of those over groups."""
        return self._polytope.summed(points)

    def below(self, boxes: IntArray, points: FloatArray) -> FloatArray:
        """How far the chords of boxes lie below the curve, for each entry of points in them, or group of entries."""
        lower, terms, points = self.cover.lower[boxes], self._utility.terms, self.entries(points)
        result: FloatArray = terms(points) - terms(lower) - self.slope[boxes] * (points - lower)
        return result

    def cut(self, boxes: IntArray, points: FloatArray, further: float = 0.0) -> Cut:
        """Split boxes at the entry whose chord lies furthest below the curve at their points.

        At the point itself, where both halves then have chords that touch the curve, or ``further`` towards the upper
        side, by so large a share of the way on a scale of logarithms.
        """
        lower, upper, below = self.cover.lower[boxes], self.cover.upper[boxes], self.below(boxes, points)
        symbol = below.argmax(axis=1)
        every = np.arange(len(boxes))
        entries = self.entries(points)
        low, high, at, most = (array[every, symbol] for array in (lower, upper, entries, below))
        able = (most > 0) & (low + NARROW < at) & (at < high - NARROW)
        boxes, symbol, low, high, at = boxes[able], symbol[able], low[able], high[able], at[able]
        if further:
            at = np.clip(at ** (1 - further) * high**further, low, high)
        return Cut(boxes, self.split(boxes, symbol, at), symbol, at)


def _doubled(array: NDArray[Entry]) -> NDArray[Entry]:
    return np.concatenate([array, np.zeros_like(array)])
