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

__all__ = ["Extremes", "largest_shares", "smallest_shares"]


class Extremes(NamedTuple):
    """A bound of the share of every symbol, and for each the multipliers of the polytope's rows that prove it."""

    shares: FloatArray
    multipliers: FloatArray


def largest_shares(polytope: Polytope, pricing: Programmes, budget: Budget) -> Extremes:
    """Upper bounds; symbols that there is no time for keep the trivial one."""
    return _extremes(polytope, pricing, -1.0, budget)


def smallest_shares(polytope: Polytope, pricing: Programmes, budget: Budget) -> Extremes:
    """Lower bounds; symbols that there is no time for keep the trivial one."""
    return _extremes(polytope, pricing, 1.0, budget)


def _extremes(polytope: Polytope, pricing: Programmes, sign: float, budget: Budget) -> Extremes:
    evaluator, n = Evaluator(polytope), polytope.n_useful
    multipliers = np.zeros((n, len(polytope.rows)))
    for first in range(0, n, pricing.batch):
        if budget.over:
            break
        some = np.arange(first, min(n, first + pricing.batch))
        cost = sign * (some[:, None] == np.arange(n))
        multipliers[some] = evaluator.usable(pricing.minimise(cost).multipliers)
    return Extremes(evaluator.extremes(sign, multipliers), multipliers)
