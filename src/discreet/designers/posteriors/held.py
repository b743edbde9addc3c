"""Perfect privacy where 60 bits cannot hold the best columns: designs that keep to columns which they can hold."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from discreet._support import progress
from discreet.designers.design import OPTIMAL_GAP
from discreet.designers.outcome import Outcome
from discreet.designers.posteriors.generation import Budget, ColumnGeneration
from discreet.designers.posteriors.problem import Problem
from discreet.designers.posteriors.prover import prove
from discreet.designers.posteriors.search import explore
from discreet.mechanism import Mechanism
from discreet.utilities import SeparableUtility

__all__ = ["held"]

#: Entries of tableaus gone over for each of the narrower designs: about a second.
WORK = 30_000_000


def held(problem: Problem, found: Outcome, cost: float, seed: int, budget: Budget) -> Outcome:
    """What was found for a mixture of this cost, or something better that integers hold; a note where none is as good.

    Where integers in the proportions of the best columns are too long, those of others may not be: of combinations of
    short private columns of integers.
    """
    whole = problem.utility.whole(problem.given)

    def missed(outcome: Outcome) -> float:
        return problem.most(cost, outcome.mechanism) - problem.utility.value(problem.given, outcome.mechanism)

    with progress.stage("making integers"):
        for narrower in problem.narrowed() if missed(found) > OPTIMAL_GAP * whole else ():
            if budget.over:
                break
            made = _made(narrower, seed, budget)
            candidates = [found.mechanism, *([] if made is None else [made])]
            best = max(candidates, key=lambda mechanism: problem.utility.value(problem.given, mechanism))
            found = replace(found, mechanism=best)
    if not missed(found) > OPTIMAL_GAP * whole:
        return found
    note = (
        f"Weights of 60 bits cannot hold the best private columns exactly: another {missed(found) / whole:.2g} of the "
        "whole would be kept in real numbers. Counts with fewer digits have shorter columns"
    )
    return replace(found, notes=(*found.notes, note))


def _made(problem: Problem, seed: int, budget: Budget) -> Mechanism | None:
    """The best mixture of a narrower problem in integers."""
    generation = ColumnGeneration(problem.polytope, problem.costs, *problem.start(), seed, in_shares=problem.in_shares)
    generation.add(problem.known())
    separable = problem.costs if isinstance(problem.costs, SeparableUtility) else None
    explore(generation, separable, budget)
    if separable is not None:
        prove(generation, separable, budget, generation.pricing.work + WORK)  # finds what is missing on its way
    used = generation.used()
    return problem.made(generation.columns.dense(used, problem.polytope.n_useful), generation.weights[used])
