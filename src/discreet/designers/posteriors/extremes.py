"""The smallest and the largest share that each symbol can have in an allowed posterior, with what proves it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet._support.numeric import FloatArray
from discreet.designers.posteriors.generation import Budget
from discreet.designers.posteriors.simplex import Programmes
from discreet.proof.boxes import Evaluator
from discreet.proof.polytope import Polytope

__all__ = ["MOST_NEEDED", "Extremes", "largest_shares", "shares_by_single_rows", "smallest_shares"]


#: Alphabets up to this size are asked for symbols that no allowed posterior can do without.
MOST_NEEDED = 300

#: Entries of tableaus gone over for all symbols where no time limit is given; others keep the trivial bound.
WORK = 4_000_000_000


class Extremes(NamedTuple):
    """A bound of the share of every symbol, and for each the multipliers of the polytope's rows that prove it."""

    shares: FloatArray
    multipliers: FloatArray


def largest_shares(polytope: Polytope, pricing: Programmes, budget: Budget) -> Extremes:
    """Upper bounds; symbols that there is no time or work for keep the trivial one."""
    return _extremes(polytope, pricing, -1.0, budget)


def shares_by_single_rows(polytope: Polytope) -> FloatArray:
    """Upper bounds of the shares from each row by itself: at once, and larger than need be.

    A row allows v(x) R(x) + (1 - v(x)) min R <= 0 at best.
    """
    if polytope.steps is not None:
        return np.ones(polytope.n_useful)
    own = polytope.own_rows[(polytope.auxiliary == 0).all(axis=1) & ~polytope.equal]
    least = own.min(axis=1, keepdims=True, initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.where(own > 0, -least / (own - least), 1.0)
    of_bands = [_shares_by_bands(*polytope.lifts(band), band.factor) for band in polytope.bands]
    result: FloatArray = np.clip(np.vstack([bound, *of_bands]).min(axis=0, initial=1.0), 0.0, 1.0)
    return result


def _shares_by_bands(above: FloatArray, below: FloatArray, factor: float) -> FloatArray:
    """The same from one pair for each symbol: the values whose lifts are the largest and the smallest there."""
    every, first, second = np.arange(above.shape[1]), above.argmax(axis=0), below.argmin(axis=0)
    here = above[first, every] - factor * below[second, every]
    least = np.minimum(above.min(axis=1)[first] - factor * below.max(axis=1)[second], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: FloatArray = np.where(here > 0, -least / (here - least), 1.0)
    return result


def smallest_shares(polytope: Polytope, pricing: Programmes, budget: Budget) -> Extremes:
    """Lower bounds; symbols that there is no time for keep the trivial one, and so do all of a large alphabet."""
    if polytope.n_useful > MOST_NEEDED:  # hardly ever is one of so many symbols part of all posteriors
        return Extremes(np.zeros(polytope.n_boxed), np.zeros((polytope.n_boxed, len(polytope.rows))))
    return _extremes(polytope, pricing, 1.0, budget)


def _extremes(polytope: Polytope, pricing: Programmes, sign: float, budget: Budget) -> Extremes:
    evaluator, n = Evaluator(polytope), polytope.n_boxed
    multipliers = np.zeros((n, len(polytope.rows)))
    most_work = np.inf if budget.is_limited else pricing.work + WORK
    for first in range(0, n, pricing.batch):
        if budget.over or pricing.work > most_work:
            break
        some = np.arange(first, min(n, first + pricing.batch))
        cost = sign * (some[:, None] == np.arange(n))
        solved = pricing.minimise(polytope.spread(cost), is_over=budget.is_over)
        multipliers[some] = evaluator.usable(solved.multipliers)
    return Extremes(evaluator.extremes(sign, multipliers), multipliers)
