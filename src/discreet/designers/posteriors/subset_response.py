"""Subset random response: the optimal response inside each block of subset merging, for alphabets of any size.

Algorithm 2 of [ZDS23]_. A block whose polytope is empty, or cannot average to the block's P(x), is just one that is
not allowed when merged; it unites with the block formed before it, then absorbs low-risk symbols, until it is allowed.
The result never keeps less than subset merging, which stands in where it would.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses

import numpy as np

from discreet._support import progress
from discreet._support.numeric import FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.designers.merging.subset_merging import partitions
from discreet.designers.outcome import Outcome
from discreet.designers.posteriors.generation import Budget, ColumnGeneration, kept_words
from discreet.designers.posteriors.problem import Problem
from discreet.designers.posteriors.prover import prove
from discreet.designers.posteriors.search import SEARCH_FROM, search, seed_columns
from discreet.notions import Notion
from discreet.proof.polytope import Polytope
from discreet.utilities import SeparableUtility, Utility

__all__ = ["subset_response"]

#: Entries of tableaus gone over at most inside one block.
MOST_WORK = 10_000_000


def subset_response(
    joint: Joint, notion: Notion, *, utility: Utility, seed: int = 0, time_limit: float | None = None
) -> Outcome:
    """Mechanism that responds at random inside small blocks and releases low-risk symbols as they are."""
    budget = Budget(time_limit)
    problem = Problem(joint, notion, utility, budget=budget)
    blocks = partitions([problem.joint], [notion], unite_previous=True, is_over=budget.is_over)[0][problem.symbols]
    points: list[FloatArray] = []
    weights: list[FloatArray] = []
    every = [np.flatnonzero(blocks == block) for block in np.unique(blocks)]
    with progress.stage("responding inside blocks") as stage:
        kept = _Kept(problem, every) if stage.is_heard else None
        for number, members in enumerate(every, 1):
            inside, share = _respond(problem, members, seed, budget)
            points.append(inside)
            weights.append(share)
            if kept is not None:
                stage.update(number, len(every), detail=kept.with_block(members, inside, share))
    return problem.outcome(np.vstack(points), np.concatenate(weights), None)


class _Kept:
    """What is kept so far: blocks that are done respond at random, the others are merged."""

    def __init__(self, problem: Problem, every: list[IntArray]) -> None:
        self.problem = problem
        self.nothing, self.whole = problem.utility.prior(problem.given), problem.utility.whole(problem.given)
        self.cost = sum(map(self._merged, every))

    def _merged(self, members: IntArray) -> float:
        p = self.problem.polytope.p_useful
        block = np.zeros(len(p))
        block[members] = p[members] / p[members].sum()
        return float(p[members].sum() * self.problem.costs.costs(block))

    def with_block(self, members: IntArray, inside: FloatArray, share: FloatArray) -> str:
        """In words, now that one more block is done."""
        self.cost += float(share @ self.problem.costs.costs(inside)) - self._merged(members)
        return kept_words(self.nothing, self.whole, self.cost)


def _respond(problem: Problem, members: IntArray, seed: int, budget: Budget) -> tuple[FloatArray, FloatArray]:
    """Posteriors over the members of one block, as rows over all symbols, and their weights."""
    polytope = problem.polytope
    mass = polytope.p_useful[members]
    whole = np.zeros((1, polytope.n_useful))
    whole[0, members] = mass / mass.sum()
    if len(members) == 1 or budget.over:
        return whole, np.array([mass.sum()])
    costs = problem.utility.over([problem.joint.useful[x] for x in problem.symbols[members].tolist()])
    generation = ColumnGeneration(_inside(polytope, members), costs, whole[:, members], np.ones(1), seed)
    seed_columns(generation, None, budget)
    if len(members) > SEARCH_FROM or not isinstance(costs, SeparableUtility):
        search(generation, None, budget)
    elif len(members) > 2:  # a pair has no other posteriors than those listed
        prove(generation, costs, budget, MOST_WORK)  # finds what is missing on its way
    used = generation.used()
    points = np.zeros((len(used), polytope.n_useful))
    points[:, members] = generation.columns.dense(used, len(members))
    return points, generation.weights[used] * mass.sum()


def _inside(polytope: Polytope, members: IntArray) -> Polytope:
    """Allowed posteriors that put everything on the members of a block."""
    own = np.arange(polytope.n_own).reshape(-1, polytope.n_useful)[:, members].ravel()
    kept = np.concatenate([own, np.arange(polytope.n_own, polytope.rows.shape[1])])
    mass = polytope.p_useful[members]
    steps = None if polytope.steps is None else polytope.steps[:, members]
    return dataclasses.replace(polytope, rows=polytope.rows[:, kept], p_useful=mass / mass.sum(), steps=steps)
