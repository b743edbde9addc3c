"""Designs for alphabets of any size, on cells of symbols that tell nearly the same."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet._support import progress
from discreet._support.numeric import FloatArray, IntArray
from discreet.designers.merging.opposites import seconds_to_look
from discreet.designers.posteriors.generation import Budget
from discreet.designers.posteriors.levels import FEWEST_CELLS, LEVEL_SHARE, MOST_CELLS, Levels, cells_for
from discreet.designers.posteriors.problem import Problem
from discreet.designers.posteriors.quotient import Quotient
from discreet.mechanism import ChannelMechanism
from discreet.utilities import SeparableUtility

__all__ = ["gathered", "quick_mixtures"]

#: Share of the time for whose square cells are chosen at first; twice as many are tried where time is left.
FIRST_SHARE = 0.08

#: Seconds for each symbol that a level takes, at least.
LEVEL_SECONDS = 4e-6

#: How much of the time that all levels took must be left for twice the cells to be tried.
DOUBLED = 1.5


def quick_mixtures(
    problem: Problem, utility: SeparableUtility, seed: int, budget: Budget
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Posteriors over the symbols of a problem, one a row, and weights: starts for a search on symbols themselves.

    Where time is limited the fewest cells come first, as they would with less time: more of them may lead elsewhere.
    """
    polytope = problem.polytope.narrowed
    most = cells_for(budget.left() * LEVEL_SHARE if budget.is_limited else None)
    for number in dict.fromkeys([FEWEST_CELLS, most] if budget.is_limited else [most]):
        levels = Levels(polytope, utility, polytope.own_rows, polytope.p_useful, seed)
        levels.run(number, budget, progress.UNHEARD)
        yield levels.mixture(problem.budget.is_over)
        if budget.over:
            break


def gathered(problem: Problem, utility: SeparableUtility, seed: int, budget: Budget) -> ChannelMechanism | None:
    """A mechanism on symbols by levels of cells, or None where none passes the exact check.

    Where there is no time for a level, symbols are merged with their opposites.
    """
    classes = np.arange(problem.joint.n_useful) if problem.quotient is None else problem.quotient.classes
    place = np.full(problem.joint.n_useful, -1)
    place[problem.symbols] = np.arange(len(problem.symbols))
    rng = np.random.default_rng(seed)
    occurring = rng.permutation(np.flatnonzero(place[classes] >= 0))  # members of a cell are taken in no order
    rows, mass = problem.polytope.own_rows[:, place[classes][occurring]], problem.given.p_useful[occurring]
    tried = [Levels(problem.polytope, utility, rows, mass, seed)]  # of which the first has placed nothing
    whole, looking = budget, seconds_to_look(len(occurring))
    looks = budget.is_limited and looking > 0 and budget.is_enough_for(looking)
    if looks:  # what levels leave looks for its opposite
        budget = Budget(budget.left() - looking)
    number = cells_for(budget.left() * FIRST_SHARE if budget.is_limited else None)
    with progress.stage("searching") as stage:
        while budget.is_enough_for(LEVEL_SECONDS * len(occurring)):
            before = budget.left()
            levels = Levels(problem.polytope, utility, rows, mass, seed)
            levels.run(number, budget, stage)
            tried.append(levels)
            problem.history.saw(levels.cost)
            number *= 2
            if not budget.is_limited or number > MOST_CELLS or budget.left() < DOUBLED * (before - budget.left()):
                break
        if not looks:
            problem.history.ended()
        best = min(tried, key=lambda levels: levels.merged_cost)
        pairs = best.pairs(whole.left() if looks else 0.0)
    problem.history.ended()
    with progress.stage("making integers"):
        quotient = problem.quotient or Quotient(problem.given, classes, problem.joint)
        return _mechanism(problem, best.number, pairs, occurring, quotient)


def _mechanism(
    problem: Problem,
    number_placed: int,
    pairs: tuple[IntArray, IntArray, FloatArray],
    occurring: IntArray,
    quotient: Quotient,
) -> ChannelMechanism | None:
    """All of it in integers; what breaks the promise after all goes with what is left."""
    symbol, released, mass = pairs
    symbol = occurring[symbol]
    kinds = [bound.kind for bound in problem.notion.bounds]
    for _ in range(3):
        mechanism = quotient.of_masses(symbol, released, mass)
        judged = [mechanism.judged(joint, kinds) for joint in (problem.given, *problem.given_also)]
        broken = ~np.logical_and.reduce([problem.notion.allowed(joint) for joint in judged])
        if not broken.any():
            return mechanism
        number = np.unique(released, return_inverse=True)[1].reshape(-1)
        with_rest = broken[number] | (released >= number_placed)
        symbol, released, mass = _added_up(symbol, np.where(with_rest, number_placed, released), mass)
    return None


def _added_up(symbol: IntArray, released: IntArray, mass: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Each pair of a symbol and a released one once."""
    order = np.lexsort((released, symbol))
    symbol, released, mass = symbol[order], released[order], mass[order]
    starts = np.flatnonzero((np.diff(symbol, prepend=-1) != 0) | (np.diff(released, prepend=-1) != 0))
    return symbol[starts], released[starts], np.add.reduceat(mass, starts)
