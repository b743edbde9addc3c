"""The search for a proof that no mechanism under a notion keeps more: where to cut the boxes of `discreet.proof.boxes`.

Exact pricing of the column generation, as a branch and bound over many boxes at once. The boxes of least bound are
solved; their minimisers are posteriors that improve the mechanism, or show where a chord is too far below the curve and
the box is cut. Prices move with the mechanism, and every box is bounded anew at the new prices by its old multipliers.
Where that proves little for long, the prices of a relaxed mixture take their place (`relaxation`).
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from discreet._support.numeric import FloatArray
from discreet._support.progress import UNHEARD, Stage
from discreet.designers.posteriors.extremes import Extremes, largest_shares, smallest_shares
from discreet.designers.posteriors.generation import LAST_SMOOTHING, Budget, ColumnGeneration
from discreet.designers.posteriors.learnt_boxes import NARROW, LearntBoxes
from discreet.designers.posteriors.relaxation import Relaxation
from discreet.designers.posteriors.simplex import Programmes
from discreet.proof.boxes import ROUNDING, Cover, Evaluator, Proof, closed_form
from discreet.proof.multipliers import Multipliers, Run
from discreet.utilities import SeparableUtility

__all__ = ["closed_gap", "prove"]

#: Entries of the boxes' corners, which bound the memory (three such matrices); past it the proof stays as it is.
MOST_ENTRIES = 30_000_000

#: Larger alphabets get the closed form alone: their first boxes, one a symbol, would take minutes.
BOXES_UP_TO = 2000

#: The search for a proof ends at a gap of this share of the whole: below the 1e-7 that count as optimal, because
#: rounding a mixture to integers costs a little as well.
CLOSED_GAP = 3e-8

#: Rounding of a sum of some thousand terms of size one.
SUMMED = 1e-13

#: A gap that shrank to this share is worth a copy of its proof.
CLEARLY_LESS = 0.98

#: Boxes solved at once.
BATCH = 300

#: Looks at how the prices of the true problem get on: after this share of the time each, and so many seconds at least.
WINDOW, LEAST_WINDOW = 0.1, 1.0

#: Where, under many rows, the gap was not brought down to this share between two looks, and is more than the second of
#: what the closed form leaves, prices of a relaxed mixture are taken, until the gap is the last share of the whole.
SHRINKING, SMALL, NEARLY = 0.75, 0.2, 0.005

#: Of the gap: by how much bounds may be below zero at the prices of a relaxed mixture before their boxes are solved,
#: and how much more than is proven the mixture may cost for boxes to be cut.
PRICED, SETTLED = 0.02, 0.3

#: What the master problem of a relaxed mixture counts as, in entries of tableaus.
MASTER_WORK = 100_000


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


#: A box, the symbol whose entry it is cut at, and where.
Split = tuple[int, int, float]


class _Patience(NamedTuple):
    """Until when to go on."""

    budget: Budget
    work: float

    def is_over(self, pricing: Programmes) -> bool:
        return self.budget.over or pricing.work > self.work


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
        self._of_best: tuple[list[Split], list[Run]] = [], []  # splits and multipliers of the best proof
        self.closed = closed_gap(generation.whole)

    def run(self, largest_known: Extremes, centre: FloatArray | None) -> Proof:
        largest, of_largest = largest_known
        smallest, of_smallest = smallest_shares(self.polytope, self.pricing, self.budget)
        limit = closed_form(self.utility, self.polytope.summed(self.p_useful), largest)
        self.best = Proof(self.polytope, self.utility, limit, smallest, of_smallest, largest, of_largest)
        if not self._done() and 2 <= self.polytope.n_useful <= BOXES_UP_TO:
            self.boxes = self._first_boxes()
            self._search(centre)
        self.generation.told(self.stage, self.best.limit)
        return self._written_out()

    def _first_boxes(self) -> LearntBoxes:
        cover = Cover(self.best.smallest, self.best.largest)
        return LearntBoxes(cover, self.utility, self.evaluator, self.pricing)

    def _search(self, centre: FloatArray | None) -> None:
        """Prove what the prices of the true problem allow, by way of a relaxed one where they get on too slowly."""
        left, gap_at_first = self.budget.left(), self.generation.value - self.best.limit
        window = None if math.isinf(left) else max(WINDOW * left, LEAST_WINDOW)
        work = WINDOW * (self.most_work - self.pricing.work)
        before = gap_at_first / SHRINKING  # the first look asks for no less than what the closed form leaves
        prices = self._better(centre)
        while not self._done():
            patience = _Patience(Budget(window), self.pricing.work + work)
            prices = self._refine(prices, patience)
            gap = self._gap_at(prices)
            if self._done() or not patience.is_over(self.pricing):
                break
            is_slow = gap > max(SHRINKING * before, SMALL * gap_at_first)
            if is_slow and self.pricing.has_many_rows and not self.generation.in_shares:
                self._relax()
                prices, before = self.generation.prices, math.inf
                window, work = None, self.most_work
            before = gap
        self._record(prices, float(self.boxes.bounds(prices).min()), final=True)

    def _gap_at(self, prices: FloatArray) -> float:
        """What prices leave open, with the boxes as they are."""
        return self.generation.value - float(prices @ self.p_useful + self.boxes.bounds(prices).min())

    def _better(self, centre: FloatArray | None) -> FloatArray:
        """Of the prices of the mixture and those of a search, the ones at which the first boxes prove more."""
        known = [self.generation.prices, *([] if centre is None else [centre])]
        return max(known, key=lambda prices: float(prices @ self.p_useful + self.boxes.bounds(prices).min()))

    def _relax(self) -> None:
        """Cut the boxes that a relaxed mixture uses, at prices at which boxes prove the most.

        It starts from the first boxes, and at the prices of the closed form: those that were cut for other prices would
        all have to be solved again and again.
        """
        self.boxes = self._first_boxes()
        centre = self.polytope.spread(self.utility.rates(self.best.largest))
        relaxed = Relaxation(self.boxes, self.p_useful, centre)
        limit = closed_form(self.utility, self.polytope.summed(self.p_useful), self.best.largest)
        nearly = NEARLY * self.generation.whole
        while not self._done() and self.generation.value - self.best.limit > nearly and not self._is_full:
            mixture = relaxed.solve(self.budget.left())
            if mixture is None:
                break
            prices = mixture.prices
            bounds = self.boxes.bounds(prices)
            self.pricing.work += MASTER_WORK + len(bounds) * len(prices)
            gap = self.generation.value - self.best.limit
            weak = np.flatnonzero(bounds < -PRICED * gap)
            some = weak[np.argsort(bounds[weak], kind="stable")[:BATCH]]
            bounds[some], points = self.boxes.solve(some, prices, gap, self.budget.is_over)
            found = ~np.isnan(points[:, 0])
            relaxed.add(some[found], points[found])
            reached = float(prices @ self.p_useful + bounds.min())
            is_settled = mixture.cost - reached < SETTLED * (self.generation.value - reached)
            cut = relaxed.cut_used(mixture.weights) if is_settled else 0
            if reached > limit:
                limit = reached
                relaxed.centred(prices)
                self._record(prices, float(bounds.min()))
                self.generation.told(self.stage, self.best.limit)
            elif not cut and not found.any() and not relaxed.bolder():
                break
            relaxed.prune(mixture)

    def _refine(self, prices: FloatArray, patience: _Patience) -> FloatArray:
        """Solve the boxes of least bound; their minimisers become columns of the true problem, or places to cut.

        Returns the prices at which the boxes prove the most.
        """
        bounds = self.boxes.bounds(prices)
        while not self._done() and not patience.is_over(self.pricing):
            self._record(prices, float(bounds.min()))
            self.generation.told(self.stage, self.best.limit)
            weak = np.flatnonzero(bounds < self._needed(prices))
            if not len(weak) or self._is_full:
                break
            some = weak[np.argsort(bounds[weak], kind="stable")[:BATCH]]
            before = bounds[some]
            needed = self._needed(prices)
            bounds[some], points = self.boxes.solve(some, prices, needed, self.budget.is_over)
            still = (bounds[some] < needed) & ~np.isnan(points[:, 0])
            new = self.boxes.cut(some[still], points[still]).new
            reduced = self.generation.reduced_costs(points, self.generation.prices)
            gain = points[reduced < self.generation.no_gain(points)]
            gain = gain[self.polytope.exceeded(gain) <= NARROW]  # boxes that only touch the polytope yield none
            if not len(gain) and not len(new) and (bounds[some] <= before).all():
                if prices is self.generation.prices:
                    break  # chords touch the curve, or a box is called empty without proof: only rounding is left
                prices = self.generation.prices  # those of a search have no more to tell
                bounds = self.boxes.bounds(prices)
            elif len(gain):
                nearby = self.generation.descend(gain, prices, self.budget, smoothing=LAST_SMOOTHING)
                self.generation.add(np.vstack([gain, nearby]))
                if not self.generation.solve(self.budget.left()):
                    break
                prices = self.generation.prices
                bounds = self.boxes.bounds(prices)
            else:
                bounds = np.append(bounds, np.zeros(len(new)))
                touched = np.concatenate([some[still], new])
                bounds[touched] = self.boxes.bounds(prices, touched)
        return prices

    def _record(self, prices: FloatArray, worst: float, *, final: bool = False) -> None:
        """Keep the proof where it is clearly the best so far, or the best at the end: copies are large."""
        limit = float(prices @ self.p_useful) + worst
        value = self.generation.value
        limit -= SUMMED  # evaluated in another order, the same sum may differ by this
        if not limit > self.best.limit or (not final and value - limit > CLEARLY_LESS * (value - self.best.limit)):
            return
        self.best = replace(self.best, limit=limit, prices=prices)
        self._of_best = self.boxes.cover.splits.copy(), self.boxes.runs.copy()

    def _written_out(self) -> Proof:
        """The best proof with its boxes and their multipliers."""
        if self.best.prices is None:
            return self.best
        splits, runs = self._of_best
        return replace(self.best, splits=tuple(splits), multipliers=Multipliers.of(runs, len(self.polytope.rows)))

    def _done(self) -> bool:
        gap = self.generation.value - self.best.limit
        return gap <= self.closed or self.budget.over or self.pricing.work > self.most_work

    @property
    def _is_full(self) -> bool:
        return len(self.boxes.cover) * self.polytope.n_useful > MOST_ENTRIES

    def _needed(self, prices: FloatArray) -> float:
        """Reduced cost that would close the gap: boxes above it need no attention."""
        return self.generation.value - self.closed / 2 - float(prices @ self.p_useful)
