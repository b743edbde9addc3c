r"""The optimum where the allowed posteriors have a curved border: two column generations that close in on each other.

*Around*: a polytope of cuts holds every allowed posterior, so mixtures over it cost no more than allowed ones, and a
limit that is proven there is proven for all. *Inside*: posteriors that were found around are pulled towards
:math:`P_X` until they are allowed, and the best mixture of all such becomes the mechanism. Where the two differ,
posteriors in use around lie outside, and each is cut off by the row that touches the border on its way to :math:`P_X`.
Vertices of the new rows lie closer to the border, most of them by a square, as Newton's steps do.

Measures that are not convex are cut by lines below their convex envelope. There mixtures around may stay outside, and
what is left between limit and mechanism is what the envelope leaves open; posteriors inside follow the border by
themselves (`compass`). The sets and rows are those of
`discreet.proof.curved`; source of the measures: [ZDS23]_, Section 6, which leaves their optimum open.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from functools import partial

import numpy as np

from discreet._support import progress
from discreet._support.numeric import FloatArray
from discreet._support.progress import Stage
from discreet.designers.posteriors.best_proof import best_proof
from discreet.designers.posteriors.compass import improved, lattice
from discreet.designers.posteriors.generation import Budget, ColumnGeneration
from discreet.designers.posteriors.problem import Problem
from discreet.designers.posteriors.prover import closed_gap
from discreet.designers.posteriors.search import Found, explore
from discreet.proof.boxes import Proof
from discreet.proof.curved import Curved, Cut
from discreet.utilities import SeparableUtility

__all__ = ["by_cuts"]

#: Rounds at most, and those in a row that bring neither a better mixture nor a closer limit.
MOST_ROUNDS, MOST_IDLE = 100, 5

#: Cuts of the first polytope at most: those towards the symbols that are furthest outside.
FIRST_CUTS = 60

#: Share of the time that is left, or of the work, that one search and one proof on the way may take, and the work of
#: one search at most for each symbol: cuts that follow it closely come first.
ROUND_SHARE, ROUND_WORK = 0.25, 1e6

#: Work where no time limit is given, some ten seconds: of all searches, of all proofs on the way, and of the last one.
SEARCH_WORK, PROOF_WORK, LAST_WORK = 2e9, 2e8, 4e8

#: Share of the time after which no further round begins; the rest proves a limit around the last cuts. Where that
#: leaves so many seconds, there are more rounds.
CUTTING_SHARE, ONCE_MORE = 0.6, 1.0

#: A proof is worth its time where the mixtures are closer than this share of the gap that is proven so far.
CLEARLY_CLOSER = 0.1

#: Rows may be exceeded by this much by what a solver calls allowed.
TOUCHING = 1e-8

#: Changes below this share of the whole are none, and below that one not worth another walk along the border.
NO_CHANGE, WORTH_FOLLOWING = 1e-9, 1e-6

#: Walks along the border at most, the share of the time that is kept for them, and alphabets that they are tried for.
MOST_FOLLOWED, FOLLOWING_SHARE, FOLLOWED_UP_TO = 20, 0.3, 100


#: Posteriors spread over all of them that walks begin from as well.
MOST_SPREAD = 3000


def by_cuts(
    problem: Problem, utility: SeparableUtility | None, seed: int, budget: Budget
) -> tuple[ColumnGeneration, Proof | None]:
    """The best mixture of allowed posteriors that was found, and the best limit; utilities of no chords have none."""
    search = _Cutting(problem, utility, seed, budget)
    with progress.stage("cutting") as stage:
        search.run(budget.share(1 - FOLLOWING_SHARE), stage)
        search.follow(budget, stage)
    return search.inside, search.proof


class _Cutting:
    """The cuts so far, the best mixture inside of them, and the best proof around them."""

    def __init__(self, problem: Problem, utility: SeparableUtility | None, seed: int, budget: Budget) -> None:
        curved = problem.polytope.curved
        assert curved is not None  # whoever comes here has asked
        self.problem, self.utility, self.seed, self.budget = problem, utility, seed, budget
        self.curved: Curved = curved
        self.p_useful: FloatArray = problem.polytope.p_useful
        self.inside = ColumnGeneration(
            problem.polytope,
            problem.costs,
            *problem.start(),
            seed,
            beyond=problem.beyond_classes,
            history=problem.history,
        )
        self.cuts: list[Cut] = []
        self.proof: Proof | None = None
        if not budget.over:
            symbols = np.eye(len(self.p_useful))
            self._allow(np.vstack([problem.known(), symbols]))
            furthest = np.argsort(-curved.excess(symbols), kind="stable")[:FIRST_CUTS]
            self.cuts = curved.cuts(symbols[furthest], self.p_useful)

    @property
    def gap(self) -> float:
        """What is proven to be left between the mixture inside and any other."""
        return math.inf if self.proof is None else self.inside.value - self.proof.limit

    def run(self, budget: Budget, stage: Stage) -> None:
        """Rounds until the limit meets the mixture, nothing changes, or time or work is over."""
        work, on_the_way, last = 3 * (math.inf,) if budget.is_limited else (SEARCH_WORK, PROOF_WORK, LAST_WORK)
        cutting, idle = budget.share(CUTTING_SHARE), 0
        closed, no_change = closed_gap(self.inside.whole), NO_CHANGE * self.inside.whole
        for number in range(1, MOST_ROUNDS + 1):
            if budget.over:
                return
            before = self.inside.value, self.gap
            around = self._around()
            most = min(ROUND_SHARE * work, ROUND_WORK * len(self.p_useful))
            found = explore(around, self.utility, budget.share(ROUND_SHARE), work=most)
            work -= around.pricing.work
            is_cut = self._learn(around)
            is_last = cutting.over or work <= 0 or idle >= MOST_IDLE or number == MOST_ROUNDS
            if is_last or not is_cut:
                is_cut |= self._prove(around, found, budget, last, stage)
            elif on_the_way > 0 and self._is_worth_a_proof(around):
                spent = around.pricing.work
                self._prove(around, found, budget.share(ROUND_SHARE), ROUND_SHARE * on_the_way, stage)
                on_the_way -= around.pricing.work - spent
            self.inside.told(stage, None if self.proof is None else self.proof.limit)
            has_time = cutting.over and budget.is_enough_for(ONCE_MORE)  # the last proof was quick
            if (is_last and not has_time) or not is_cut or self.gap <= closed:
                return
            cutting = budget.share(CUTTING_SHARE) if has_time else cutting
            is_better = self.inside.value < before[0] - no_change or self.gap < before[1] - no_change
            idle = 0 if is_better else idle + 1

    def follow(self, budget: Budget, stage: Stage) -> None:
        """Follow the border from the posteriors in use inside to where they would cost less, while that helps."""
        inside, n = self.inside, len(self.p_useful)
        if n <= FOLLOWED_UP_TO and self.gap > closed_gap(inside.whole) and not budget.over:
            self._allow(
                lattice(n, MOST_SPREAD)
            )  # what lies apart from all that is in use is not found along the border
        for _ in range(MOST_FOLLOWED if n <= FOLLOWED_UP_TO else 0):
            if self.gap <= closed_gap(inside.whole) or budget.over:
                break
            before, costs = inside.value, partial(inside.reduced_costs, prices=inside.prices)
            others = self.problem.polytope.pulled(inside.starts(n))
            points = np.vstack([inside.columns.dense(inside.used(), n), others])
            self._allow(improved(points, costs, self.problem.polytope, lambda: budget.over))
            inside.told(stage, None if self.proof is None else self.proof.limit)
            if inside.value > before - WORTH_FOLLOWING * inside.whole:
                break

    def _is_worth_a_proof(self, around: ColumnGeneration) -> bool:
        """Whether the mixtures are much closer to each other than what is proven of them."""
        return self.inside.value - around.value <= CLEARLY_CLOSER * min(self.gap, self.inside.whole)

    def _around(self) -> ColumnGeneration:
        """Mixtures over the polytope of the cuts, beginning with the best one inside."""
        inside, n = self.inside, len(self.p_useful)
        used = inside.used()
        polytope = self.problem.polytope.cut(self.cuts)
        around = ColumnGeneration(
            polytope, self.problem.costs, inside.columns.dense(used, n), inside.weights[used], self.seed
        )
        around.add(inside.columns.dense(np.arange(len(inside.columns)), n))
        return around

    def _allow(self, points: FloatArray) -> None:
        """Take posteriors inside, pulled as far as they have to be."""
        self.inside.add(self.problem.polytope.pulled(points))
        self.inside.solve(self.budget.left())

    def _learn(self, around: ColumnGeneration) -> bool:
        """Take what is in use around inside, and cut off what lies outside; False where there is nothing to cut."""
        points = around.columns.dense(around.used(), len(self.p_useful))
        known = self.problem.polytope.cut(self.cuts)  # some of them may have been cut off since
        points = points[known.exceeded(points) <= TOUCHING]
        self._allow(points)
        new = self.curved.cuts(points, self.p_useful)
        self.cuts += new
        return len(new) > 0

    def _prove(self, around: ColumnGeneration, found: Found, budget: Budget, work: float, stage: Stage) -> bool:
        """A limit around the cuts, kept where it is the best so far; whether it found more to cut off on its way."""
        if self.utility is None:
            return False
        history = self.problem.history
        proof = best_proof(around.polytope, around, found, self.utility, self.seed, budget, work, stage, history)
        if proof is not None and (self.proof is None or proof.limit > self.proof.limit):
            self.proof = proof
        return self._learn(around)
