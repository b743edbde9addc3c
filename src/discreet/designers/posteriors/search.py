r"""The search for good mixtures: columns are asked for at steady prices until none improves.

Prices of the true master problem jump about where it is degenerate, and columns found at such prices do not average to
P_X together. Here prices stay in a box around a centre (`BoxedMaster`). The first centre is the closed form, a unit of
x at least at the rate of its largest share: no posterior has a negative reduced cost there, so it proves a first limit.
The centre moves to the prices of a solution where the limit that they seem to prove is better, and the true problem is
solved whenever its value may have changed.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from discreet._support.numeric import FloatArray
from discreet._support.progress import UNHEARD, Stage
from discreet.designers.posteriors.cells import Cells
from discreet.designers.posteriors.columns import towards_symbols
from discreet.designers.posteriors.extremes import MOST_NEEDED, Extremes, largest_shares, shares_by_single_rows
from discreet.designers.posteriors.generation import Budget, ColumnGeneration
from discreet.designers.posteriors.lp import BoxedMaster
from discreet.designers.posteriors.prover import prove
from discreet.proof.boxes import Proof
from discreet.proof.polytope import Polytope
from discreet.utilities import SeparableUtility

__all__ = ["SEARCH_FROM", "Found", "explore", "proven_around", "search", "seed_columns"]

#: Smaller alphabets under few rows need no search before a proof, which finds all that is missing on its way.
SEARCH_FROM = 40

#: How far prices may be from their centre at first, nats of a unit; halved when they no longer need to be.
FIRST_WIDTH = 1.0

#: The centre moves where the limit rises by this share of what the boxed problem hopes for.
CLEARLY_BETTER = 0.1

#: What is missed of the target below this is rounding.
NOTHING_MISSED = 1e-9

#: Rounds at most, those between two solutions of the true problem, and those without gain before the search ends.
MOST_ROUNDS, SOLVED_EVERY, MOST_IDLE = 200, 6, 4

#: Entries of tableaus gone over where no time limit is given: some ten seconds, and the same result on every machine.
WORK = 10_000_000_000

#: Pairs listed for each symbol, and alphabets up to which posteriors between P_X and each symbol help to average.
PAIRS, TOWARDS_UP_TO = 10, 400

#: Shares of symbols below this would have prices without bounds.
LEAST_SHARE = 1e-9

#: Symbols descended from in a round after which most others found nothing.
FEW_STARTS = 100


class Found(NamedTuple):
    """What a search learnt for a proof: the largest shares of symbols, and prices that seem to prove much."""

    largest: Extremes | None
    centre: FloatArray | None


def explore(
    generation: ColumnGeneration,
    utility: SeparableUtility | None,
    budget: Budget,
    stage: Stage = UNHEARD,
    *,
    work: float = WORK,
) -> Found:
    """First columns, and the search where a proof would not find what is missing on its way."""
    polytope, largest, centre = generation.polytope, None, None
    if utility is not None and polytope.n_useful <= MOST_NEEDED:
        largest = largest_shares(polytope, generation.pricing, budget)
        centre = utility.rates(largest.shares)
    elif utility is not None:  # a proof has them computed when it comes to that
        centre = utility.rates(np.maximum(shares_by_single_rows(polytope), LEAST_SHARE))
    seed_columns(generation, centre, budget)
    # A proof rounds by more than there is to keep where all but one symbol are rare.
    is_small = polytope.n_useful <= SEARCH_FROM and len(polytope.rows) <= polytope.n_useful
    if is_small and utility is not None and not generation.in_shares:
        return Found(largest, None)
    return Found(largest, search(generation, centre, budget, stage, work=work))


def proven_around(
    polytope: Polytope, utility: SeparableUtility, number: int, seed: int, budget: Budget, most_work: float
) -> Proof:
    """A limit for a polytope, proven on so many cells of its symbols."""
    cells = Cells.of(polytope, number)
    around = cells.around
    generation = ColumnGeneration(around, utility, around.p_useful[None], np.ones(1), seed)
    found = explore(generation, utility, budget.share(1 / 2))
    proof = prove(generation, utility, budget, most_work, largest=found.largest, centre=found.centre)
    return replace(proof, cell_of=cells.cell_of)


def seed_columns(generation: ColumnGeneration, centre: FloatArray | None, budget: Budget) -> None:
    """First columns: of one and two symbols, between P_X and each symbol, and one that is led by each symbol."""
    polytope, n = generation.polytope, generation.polytope.n_useful
    generation.list_small_supports(centre, PAIRS, budget)
    inside = polytope.narrowed
    is_known = not inside.is_lifted or polytope.steps is not None
    if is_known and n <= TOWARDS_UP_TO and not budget.over:
        generation.add(towards_symbols(inside))
    if centre is not None:
        step = generation.pricing.batch
        for first in range(0, n, step):
            if budget.over:
                break
            leading = (np.arange(first, min(n, first + step))[:, None] == np.arange(n)).astype(np.float64)
            generation.add(generation.descend(leading, centre, budget, gains_only=False))
    generation.solve(budget.left())


def search(
    generation: ColumnGeneration,
    centre: FloatArray | None,
    budget: Budget,
    stage: Stage = UNHEARD,
    *,
    work: float = WORK,
) -> FloatArray:
    """Rounds of pricing until nothing improves or the time is over; returns the prices that seem to prove most.

    Without a centre, which costs that are no sums over symbols do not have, the search starts at the prices of the true
    problem.
    """
    target, n = generation.polytope.p_useful, generation.polytope.n_useful
    limit = -np.inf if centre is None else float(centre @ target)
    centre = generation.prices if centre is None else centre
    width = FIRST_WIDTH
    boxed = BoxedMaster(target, centre, width, generation.whole, in_shares=generation.in_shares)
    columns = generation.columns
    boxed.add(columns.cost, columns.starts, columns.symbol, columns.value)
    count, idle = n, 0
    most_work = generation.pricing.work + (np.inf if budget.is_limited else work)
    for number in range(1, MOST_ROUNDS + 1):
        solution = boxed.solve(budget.left())
        if solution is None or budget.over or generation.pricing.work > most_work:
            break
        hoped, prices, _ = solution
        found = generation.priced(prices, generation.starts(count), budget)
        if len(found):
            new = generation.add(found)
            boxed.add(new.cost, new.starts, new.symbol, new.value)
        reduced = generation.reduced_costs(found, prices)
        least = float(reduced.min(initial=0.0))
        reached = float(prices @ target) + least
        is_whole = count == n and not budget.over
        if reached > limit + CLEARLY_BETTER * max(hoped - limit, 0.0) or (is_whole and not len(found)):
            centre, limit = prices, max(limit, reached)
            width = width / 2 if boxed.missed <= NOTHING_MISSED else width
            boxed.move(centre, width)
        gains = (reduced <= 10 * generation.no_gain(found)).any()
        idle = idle + 1 if is_whole and not gains else 0
        if idle >= (1 if boxed.missed <= NOTHING_MISSED else MOST_IDLE):
            break
        count = n if 10 * len(found) > count or count < n else min(n, FEW_STARTS)
        if boxed.missed <= NOTHING_MISSED or number % SOLVED_EVERY == 0:
            if not generation.solve(budget.left()):
                break
            generation.told(stage)
    generation.solve(budget.left())
    generation.told(stage)
    return centre
