"""The search for a proof that no mechanism under a notion keeps more: where to cut the boxes of `discreet.proof.boxes`.

Exact pricing of the column generation, as a branch and bound over many boxes at once. The boxes of least bound are
solved; their minimisers are posteriors that improve the mechanism, or show where a chord is too far below the curve and
the box is cut. Prices move with the mechanism, and every box is bounded anew at the new prices by its old multipliers.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet._support.numeric import FloatArray, IntArray
from discreet._support.progress import UNHEARD, Stage
from discreet.designers.posteriors.extremes import Extremes, largest_shares, smallest_shares
from discreet.designers.posteriors.generation import LAST_SMOOTHING, Budget, ColumnGeneration
from discreet.designers.posteriors.simplex import Programmes
from discreet.proof.boxes import (
    ROUNDING,
    Cover,
    Evaluator,
    Proof,
    chords,
    closed_form,
)
from discreet.utilities import SeparableUtility

__all__ = ["closed_gap", "prove"]

Entry = TypeVar("Entry", bound=np.generic)

#: Entries of the boxes' corners, which bound the memory (three such matrices); past it the proof stays as it is.
MOST_ENTRIES = 30_000_000

#: Larger alphabets get the closed form alone: their first boxes, one a symbol, would take minutes.
BOXES_UP_TO = 2000

#: The search for a proof ends at a gap of this share of the whole: below the 1e-7 that count as optimal, because
#: rounding a mixture to integers costs a little as well.
CLOSED_GAP = 3e-8

#: Sizes of multipliers that are tried on an empty box.
RAY_SIZES = (1.0, 1e2, 1e4, 1e6)

#: Boxes are not cut closer than this to their sides.
NARROW = 1e-9

#: Rounding of a sum of some thousand terms of size one.
SUMMED = 1e-13

#: A gap that shrank to this share is worth a copy of its proof.
CLEARLY_LESS = 0.8

#: Boxes solved at once.
BATCH = 300

#: Entries bounded at once: what a cache holds.
CHUNK = 500_000


def prove(
    generation: ColumnGeneration,
    utility: SeparableUtility,
    budget: Budget,
    most_work: float,
    stage: Stage = UNHEARD,
    *,
    largest: Extremes | None = None,
    centre: FloatArray | None = None,
) -> Proof:
    """The best limit that fits the budget; new posteriors found on the way improve the generation too.

    ``utility`` is the generation's, which must be separable: others have no chords. ``largest`` are the largest shares
    where they are known, ``centre`` prices that seem to prove much.
    """
    known = largest_shares(generation.polytope, generation.pricing, budget) if largest is None else largest
    return _Prover(generation, utility, budget, most_work, stage).run(known, centre)


def closed_gap(whole: float) -> float:
    """The gap at which a proof is as good as done."""
    # Where there is next to nothing to keep, what is left open is the rounding of the proof itself.
    return max(CLOSED_GAP * whole, 4 * ROUNDING)


class _Prover:
    """Refines a cover until its limit meets the value of the generation."""

    def __init__(
        self,
        generation: ColumnGeneration,
        utility: SeparableUtility,
        budget: Budget,
        most_work: float,
        stage: Stage,
    ) -> None:
        self.generation = generation
        self.utility = utility
        self.polytope = generation.polytope
        self.pricing = generation.pricing
        self.budget = budget
        self.most_work = most_work
        self.stage = stage
        self.evaluator = Evaluator(self.polytope)
        self.p_useful = self.polytope.p_useful
        self.closed = closed_gap(generation.whole)

    def run(self, largest_known: Extremes, centre: FloatArray | None) -> Proof:
        largest, of_largest = largest_known
        smallest, of_smallest = smallest_shares(self.polytope, self.pricing, self.budget)
        limit = closed_form(self.utility, self.p_useful, largest)
        self.best = Proof(self.polytope, self.utility, limit, smallest, of_smallest, largest, of_largest)
        if not self._done() and 2 <= self.polytope.n_useful <= BOXES_UP_TO:
            self.boxes = _Boxes(Cover(smallest, largest), self.utility, self.evaluator, self.pricing)
            prices = self._refine(self._better(centre))
            self._record(prices, float(self.boxes.bounds(prices).min()), final=True)
        self.generation.told(self.stage, self.best.limit)
        return self.best

    def _better(self, centre: FloatArray | None) -> FloatArray:
        """Of the prices of the mixture and those of a search, the ones at which the first boxes prove more."""
        known = [self.generation.prices, *([] if centre is None else [centre])]
        return max(known, key=lambda prices: float(prices @ self.p_useful + self.boxes.bounds(prices).min()))

    def _refine(self, prices: FloatArray) -> FloatArray:
        """Solve the boxes of least bound; their minimisers become columns of the true problem, or places to cut.

        Returns the prices at which the boxes prove the most.
        """
        bounds = self.boxes.bounds(prices)
        while not self._done():
            self._record(prices, float(bounds.min()))
            self.generation.told(self.stage, self.best.limit)
            weak = np.flatnonzero(bounds < self._needed(prices))
            if not len(weak) or self._is_full:
                break
            some = weak[np.argsort(bounds[weak], kind="stable")[:BATCH]]
            before = bounds[some]
            bounds[some], points = self._price(some, prices)
            still = (bounds[some] < self._needed(prices)) & ~np.isnan(points[:, 0])
            new = self._cut(some[still], points[still])
            reduced = self.generation.reduced_costs(points, self.generation.prices)
            gain = points[reduced < self.generation.no_gain(points)]
            gain = gain[self.polytope.exceeded(gain) <= NARROW]  # boxes that only touch the polytope yield none
            if not len(gain) and not len(new) and (bounds[some] <= before).all():
                break  # chords touch the curve, or a box is called empty without proof: only rounding is left
            if len(gain):
                nearby = self.generation.descend(gain, prices, smoothing=LAST_SMOOTHING)
                self.generation.add(np.vstack([gain, nearby]))
                if not self.generation.solve():
                    break
                prices = self.generation.prices
                bounds = self.boxes.bounds(prices)
            else:
                bounds = np.append(bounds, np.zeros(len(new)))
                touched = np.concatenate([some[still], new])
                bounds[touched] = self.boxes.bounds(prices, touched)
        return prices

    def _cut(self, boxes: IntArray, points: FloatArray) -> IntArray:
        """Split boxes at the entry whose chord lies furthest below the curve at their points; the new boxes."""
        lower, upper = self.boxes.cover.lower[boxes], self.boxes.cover.upper[boxes]
        terms = self.utility.terms
        below = terms(points) - terms(lower) - self.boxes.slope[boxes] * (points - lower)
        symbol = below.argmax(axis=1)
        every = np.arange(len(boxes))
        low, high, at = lower[every, symbol], upper[every, symbol], points[every, symbol]
        able = (below[every, symbol] > 0) & (low + NARROW < at) & (at < high - NARROW)
        # At the point itself, where both halves then have chords that touch the curve.
        return self.boxes.split(boxes[able], symbol[able], at[able])

    def _record(self, prices: FloatArray, worst: float, *, final: bool = False) -> None:
        """Keep the proof where it is clearly the best so far, or the best at the end: copies are large."""
        limit = float(prices @ self.p_useful) + worst
        value = self.generation.value
        limit -= SUMMED  # evaluated in another order, the same sum may differ by this
        if not limit > self.best.limit or (not final and value - limit > CLEARLY_LESS * (value - self.best.limit)):
            return
        self.best = replace(
            self.best,
            limit=limit,
            prices=prices,
            splits=tuple(self.boxes.cover.splits),
            multipliers=self.boxes.multipliers.copy(),
        )

    def _done(self) -> bool:
        gap = self.generation.value - self.best.limit
        return gap <= self.closed or self.budget.over or self.pricing.work > self.most_work

    @property
    def _is_full(self) -> bool:
        return len(self.boxes.cover) * self.polytope.n_useful > MOST_ENTRIES

    def _needed(self, prices: FloatArray) -> float:
        """Reduced cost that would close the gap: boxes above it need no attention."""
        return self.generation.value - self.closed / 2 - float(prices @ self.p_useful)

    def _price(self, boxes: IntArray, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Limits of boxes by their own programmes, and minimisers, nan where there is none."""
        own = self.boxes
        cost = own.slope[boxes] - prices
        solved = self.pricing.minimise(cost, own.cover.lower[boxes], own.cover.upper[boxes], own.bases[boxes])
        own.bases[boxes] = solved.bases
        own.learn(boxes, solved.multipliers)
        bounds = own.bounds(prices, boxes)
        for size in RAY_SIZES:
            # The bound of an empty box grows with the multipliers that prove it empty; of one that only touches the
            # polytope, it shrinks when they get large.
            empty = np.flatnonzero(solved.is_empty & (bounds < self._needed(prices)))
            if not len(empty):
                break
            before = own.multipliers[boxes[empty]]
            own.learn(boxes[empty], solved.multipliers[empty] + size * solved.rays[empty])
            tried = own.bounds(prices, boxes[empty])
            worse = tried <= bounds[empty]
            own.learn(boxes[empty[worse]], before[worse])
            bounds[empty] = np.maximum(tried, bounds[empty])
        return bounds, np.where(solved.is_solved[:, None], solved.points, np.nan)


class _Boxes:
    """A cover with what the search has learnt about its boxes: chords, multipliers and bases, kept up to date."""

    def __init__(self, cover: Cover, utility: SeparableUtility, evaluator: Evaluator, pricing: Programmes) -> None:
        self.cover = cover
        self._utility = utility
        self._evaluator = evaluator
        self.slope, self.constant = chords(utility, cover.lower, cover.upper)  # of the chords
        self._multipliers = np.zeros((len(cover), len(evaluator.polytope.rows)))
        self._offset = np.zeros(len(cover))  # what auxiliary variables and rounding may take off
        self.bases = np.repeat(pricing.cold[None], len(cover), axis=0)

    @property
    def multipliers(self) -> FloatArray:
        """Multipliers of every box."""
        return self._multipliers[: len(self.cover)]

    def learn(self, boxes: IntArray, multipliers: FloatArray) -> None:
        """Multipliers of solved programmes."""
        y = self._evaluator.usable(multipliers)
        self._multipliers[boxes] = y
        self._offset[boxes] = self._evaluator.offset(y)

    def bounds(self, prices: FloatArray, boxes: IntArray | None = None) -> FloatArray:
        """Lower limits of h(v) - prices . v over boxes, all of them unless some are named."""
        named = np.arange(len(self.cover)) if boxes is None else boxes
        step = max(1, CHUNK // len(prices))
        return np.concatenate(
            [np.empty(0)] + [self._some(prices, named[k : k + step]) for k in range(0, len(named), step)]
        )

    def _some(self, prices: FloatArray, boxes: IntArray) -> FloatArray:
        cost = self.slope[boxes] - prices
        corners = self.cover.lower[boxes], self.cover.upper[boxes]
        least = self._evaluator.least_beside(*corners, self._multipliers[boxes], cost)
        result: FloatArray = least + self.constant[boxes] + self._offset[boxes] - ROUNDING
        return result

    def split(self, boxes: IntArray, symbols: IntArray, points: FloatArray) -> IntArray:
        """Cut boxes; both halves inherit multipliers and basis."""
        new = self.cover.split(boxes, symbols, points)
        while len(self.cover) > len(self.slope):
            self.slope, self.constant = _doubled(self.slope), _doubled(self.constant)
            self._multipliers, self._offset = _doubled(self._multipliers), _doubled(self._offset)
            self.bases = _doubled(self.bases)
        self.bases[new] = self.bases[boxes]
        halves = np.concatenate([boxes, new])
        lower, upper = self.cover.lower[halves], self.cover.upper[halves]
        self.slope[halves], self.constant[halves] = chords(self._utility, lower, upper)
        self.learn(halves, np.tile(self._multipliers[boxes], (2, 1)))
        return new


def _doubled(array: NDArray[Entry]) -> NDArray[Entry]:
    return np.concatenate([array, np.zeros_like(array)])
