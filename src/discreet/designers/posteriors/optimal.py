"""Optimal random response: the front door of ``method="optimal"``, for polytopes and for what cuts enclose.

``search="columns"`` (the default) generates columns and proves a bound; ``search="vertices"`` lists all vertices of a
small polytope and solves one linear programme. Source: [ZDS23]_, (12); [LTS20]_, Theorem 2; the rest is our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from discreet._support import progress
from discreet._support.errors import InputError
from discreet._support.progress import UNHEARD
from discreet.core.joint import Joint
from discreet.designers.outcome import Outcome
from discreet.designers.posteriors.best_proof import best_proof
from discreet.designers.posteriors.cells import can_be_gathered, is_walkable
from discreet.designers.posteriors.columns import Columns, least_entries
from discreet.designers.posteriors.cutting import by_cuts
from discreet.designers.posteriors.gathered import gathered, quick_mixtures
from discreet.designers.posteriors.generation import Budget, ColumnGeneration
from discreet.designers.posteriors.guessing import is_about_guesses, optimal_guessing
from discreet.designers.posteriors.held import held
from discreet.designers.posteriors.lp import MasterLP
from discreet.designers.posteriors.problem import Problem
from discreet.designers.posteriors.search import WORK as SEARCH_WORK
from discreet.designers.posteriors.search import explore
from discreet.designers.posteriors.truth import coefficients, most_truthful
from discreet.designers.posteriors.vertices import vertices
from discreet.mechanism import Earlier, Mechanism
from discreet.notions import Notion
from discreet.utilities import Distance, Invariant, SeparableUtility, Utility

__all__ = ["optimal"]

#: Entries of tableaus gone over in pricing where no time limit is given: seconds, and the same result on every machine.
WORK = 300_000_000

#: The same under perfect privacy, whose few rows make tableaus small beside all else that has to be gone over: of
#: proofs, and of the search before them.
PERFECT_WORK, PERFECT_SEARCH = 80_000_000, 1_000_000_000

#: Share of the time that goes to the search for mechanisms, at most: one that finds nothing more ends sooner. The rest
#: proves how good they are, and that takes longer where the chain rule gives several proofs.
SEARCH_SHARE, CHAINED_SHARE = 0.7, 0.4

#: Of designs on cells, the share of the time that goes to their proof, which comes first.
LARGE_PROOF_SHARE = 0.25

#: The share of what is left then that may go to merging symbol by symbol.
MERGING_SHARE = 0.25

#: Larger alphabets start from a mixture that cells give, for a share of the search.
STARTED_BY_CELLS, START_SHARE = 150, 0.25

#: Coefficients of the programme for the truth that it is tried with beside others where symbols are rare.
TRUTH_UP_TO = 200_000

#: A mechanism that keeps less than its mixture by more than this share of the whole is looked for in other units.
MISSED = 1e-6

#: Share of the time that search and proof may take; the rest turns the result into a mechanism.
WORK_SHARE = 0.97


def optimal(
    joint: Joint,
    notion: Notion,
    *,
    utility: Utility,
    search: str = "columns",
    seed: int = 0,
    time_limit: float | None = None,
    also: Sequence[Joint] = (),
    start: Mechanism | None = None,
    near: Distance | None = None,
    after: Earlier | None = None,
) -> Outcome:
    """The best mechanism found, with a proven upper limit of what any mechanism under the notion keeps.

    A utility that is not separable has no limit, unless the vertices are listed.
    """
    if search not in ("columns", "vertices"):
        raise InputError(f"search must be 'columns' or 'vertices', got {search!r}.")
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"time_limit must be a positive number of seconds, got {time_limit}.")
    budget = Budget(time_limit).share(WORK_SHARE)
    # Guesses have a linear programme of their own, which needs all rows at once.
    cuts = not is_about_guesses(utility)
    problem = Problem(joint, notion, utility, also, start, near, after, by_cuts=cuts, budget=budget)
    if is_about_guesses(utility) and (search == "columns" or isinstance(utility, Invariant)):
        return optimal_guessing(problem, time_limit)
    if problem.is_hasty:
        return Outcome(problem.best_of(problem.merged(), None).mechanism, utility.whole(joint), history=problem.history)
    if search == "vertices":
        return _by_vertices(problem)
    return _by_columns(problem, seed, budget)


def _by_columns(problem: Problem, seed: int, budget: Budget) -> Outcome:
    """Column generation, then a proof of how good it is."""
    polytope, history = problem.polytope, problem.history
    separable = problem.costs if isinstance(problem.costs, SeparableUtility) else None
    most_work = math.inf if budget.is_limited else PERFECT_WORK if problem.is_perfect else WORK
    if polytope.curved is not None:
        inside, proof = by_cuts(problem, separable, seed, budget)
        used = inside.used()
        outcome = problem.outcome(inside.columns.dense(used, polytope.n_useful), inside.weights[used], proof)
        # Where there was no time for a proof, nothing keeps more than all of X.
        is_open = proof is None and separable is not None
        return replace(outcome, limit=problem.utility.whole(problem.given)) if is_open else outcome
    if separable is not None and problem.is_large and can_be_gathered(polytope):
        with progress.stage("proving") as stage:
            proof = best_proof(
                polytope, None, None, separable, seed, budget.share(LARGE_PROOF_SHARE), most_work, stage, history
            )
        merged = problem.merged_in(MERGING_SHARE * budget.left())
        made = gathered(problem, separable, seed, budget) if is_walkable(polytope) else None
        history.ended()
        return problem.best_of([*merged, *problem.merged(), *([] if made is None else [made])], proof)
    found = _generated(problem, separable, seed, budget, most_work)
    finer = problem.counted_in_shares() if found.missed > MISSED else None
    if finer is None or budget.over:
        return found.outcome
    again = _generated(finer, separable, seed, budget, most_work).outcome
    return max(found.outcome, again, key=lambda one: problem.utility.value(problem.given, one.mechanism))


class _Generated(NamedTuple):
    """What column generation found, and the share of the whole that its mixture keeps and the mechanism does not."""

    outcome: Outcome
    missed: float


def _generated(
    problem: Problem, separable: SeparableUtility | None, seed: int, budget: Budget, most_work: float
) -> _Generated:
    polytope, history, chains = problem.polytope, problem.history, problem.chains
    generation = ColumnGeneration(
        polytope,
        problem.costs,
        *problem.start(),
        seed,
        beyond=problem.beyond_classes,
        history=history,
        in_shares=problem.in_shares,
    )
    generation.told(UNHEARD)
    generation.add(problem.known())
    with progress.stage("searching") as stage:
        searching = budget if separable is None else budget.share(CHAINED_SHARE if chains else SEARCH_SHARE)
        is_many = polytope.n_useful > STARTED_BY_CELLS and not searching.over
        if separable is not None and is_many and is_walkable(polytope.narrowed):
            for points, weights in quick_mixtures(problem, separable, seed, searching.share(START_SHARE)):
                generation.take(points, weights)
            generation.solve(searching.left())
            generation.told(stage)
        work = PERFECT_SEARCH if problem.is_perfect else SEARCH_WORK
        found = explore(generation, separable, searching, stage, work=work)
    with progress.stage("proving") as stage:
        proof = best_proof(polytope, generation, found, separable, seed, budget, most_work, stage, history, chains)
    used = generation.used()
    outcome = problem.outcome(generation.columns.dense(used, polytope.n_useful), generation.weights[used], proof)
    if problem.is_perfect:
        outcome = held(problem, outcome, generation.value, seed, budget)
    elif problem.in_shares:
        outcome = _or_truthful(problem, outcome, budget)
    reached = problem.utility.value(problem.given, outcome.mechanism)
    whole = problem.utility.whole(problem.given)
    kept = problem.most(generation.value, outcome.mechanism)
    return _Generated(outcome, (kept - reached) / whole if whole > 0 else 0.0)


def _or_truthful(problem: Problem, outcome: Outcome, budget: Budget) -> Outcome:
    """The outcome, or what most often tells the truth, which takes one programme, where integers hold more of that."""
    if budget.over or problem.polytope.is_lifted or coefficients(problem.polytope) > TRUTH_UP_TO:
        return outcome
    found = most_truthful(problem.polytope, budget.left() if budget.is_limited else None)
    made = None if found is None else problem.made(*found)
    candidates = [outcome.mechanism, *([] if made is None else [made])]
    best = max(candidates, key=lambda mechanism: problem.utility.value(problem.given, mechanism))
    return replace(outcome, mechanism=best)


def _by_vertices(problem: Problem) -> Outcome:
    """All vertices and one linear programme: its value is the limit, up to the solver's tolerance."""
    with progress.stage("listing vertices"):
        points = vertices(problem.polytope)
    p_useful = problem.polytope.p_useful
    columns = Columns.of(points, problem.costs.costs(points), least_entries(p_useful))
    master = MasterLP(p_useful, float(problem.costs.costs(p_useful)))
    master.add(columns.cost, columns.starts, columns.symbol, columns.value)
    solution = master.solve()
    if solution is None:
        raise InputError("the vertices do not average to P(x) within the solver's tolerance. Use search='columns'.")
    value, _, weights = solution
    found = problem.outcome(points[weights > 0], weights[weights > 0], None)
    return Outcome(found.mechanism, problem.most(value, found.mechanism))
