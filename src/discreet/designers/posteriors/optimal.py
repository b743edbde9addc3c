"""Optimal random response: the front door of ``method="optimal"``, for notions whose posteriors form a polytope.

``search="columns"`` (the default) generates columns and proves a bound; ``search="vertices"`` lists all vertices of a
small polytope and solves one linear programme. Source: [ZDS23]_, (12); [LTS20]_, Theorem 2; the rest is our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Sequence

from discreet._support import progress
from discreet._support.errors import InputError
from discreet.core.joint import Joint
from discreet.designers.outcome import Outcome
from discreet.designers.posteriors.columns import Columns
from discreet.designers.posteriors.generation import SEARCH_FROM, Budget, ColumnGeneration
from discreet.designers.posteriors.guessing import is_about_guesses, optimal_guessing
from discreet.designers.posteriors.lp import MasterLP
from discreet.designers.posteriors.problem import Problem
from discreet.designers.posteriors.prover import prove
from discreet.designers.posteriors.truth import coefficients, most_truthful
from discreet.designers.posteriors.vertices import vertices
from discreet.mechanism import Mechanism
from discreet.notions import Notion
from discreet.utilities import Invariant, SeparableUtility, Utility

__all__ = ["optimal"]

#: Entries of tableaus gone over in pricing where no time limit is given: seconds, and the same result on every machine.
WORK = 300_000_000

#: Share of the time that goes to the search for mechanisms; the rest proves how good they are.
SEARCH_SHARE = 0.35

#: Coefficients of a programme that may be solved for a first mechanism.
MOST_FOR_A_START = 1_000_000

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
) -> Outcome:
    """The best mechanism found, with a proven upper limit of what any mechanism under the notion keeps.

    A utility that is not separable has no limit, unless the vertices are listed.
    """
    if search not in ("columns", "vertices"):
        raise InputError(f"search must be 'columns' or 'vertices', got {search!r}.")
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"time_limit must be a positive number of seconds, got {time_limit}.")
    problem = Problem(joint, notion, utility, also, start)
    if is_about_guesses(utility) and (search == "columns" or isinstance(utility, Invariant)):
        return optimal_guessing(problem, time_limit)
    if search == "vertices":
        return _by_vertices(problem)
    return _by_columns(problem, seed, Budget(time_limit).share(WORK_SHARE), time_limit is not None)


def _by_columns(problem: Problem, seed: int, budget: Budget, limited: bool) -> Outcome:
    """Column generation, then a proof of how good it is."""
    polytope, n = problem.polytope, problem.polytope.n_useful
    provable = isinstance(problem.costs, SeparableUtility)
    generation = ColumnGeneration(polytope, problem.costs, *problem.start(), seed, beyond=problem.beyond_classes)
    generation.add(problem.known())
    if len(problem.start()[1]) == 1 and coefficients(polytope) <= MOST_FOR_A_START:
        # Merging keeps nothing, and single columns do not help unless they average to P_X with others.
        truthful = most_truthful(polytope)
        if truthful is not None:
            generation.add(truthful[0])
    searching = budget.share(SEARCH_SHARE) if provable else budget
    generation.list_small_supports(searching)
    if n > SEARCH_FROM or len(polytope.rows) > n or not provable:
        with progress.stage("searching") as stage:
            generation.search(searching, stage)
    with progress.stage("proving") as stage:
        proof = prove(generation, budget, math.inf if limited else generation.pricing.work + WORK, stage)
    used = generation.used()
    return problem.outcome(generation.columns.dense(used, n), generation.weights[used], proof)


def _by_vertices(problem: Problem) -> Outcome:
    """All vertices and one linear programme: its value is the limit, up to the solver's tolerance."""
    with progress.stage("listing vertices"):
        points = vertices(problem.polytope)
    columns = Columns.of(points, problem.costs.costs(points))
    master = MasterLP(problem.polytope.p_useful)
    master.add(columns.cost, columns.starts, columns.symbol, columns.value)
    solution = master.solve()
    if solution is None:
        raise InputError("the vertices do not average to P(x) within the solver's tolerance. Use search='columns'.")
    value, _, weights = solution
    found = problem.outcome(points[weights > 0], weights[weights > 0], None)
    return Outcome(found.mechanism, problem.most(value, found.mechanism))
