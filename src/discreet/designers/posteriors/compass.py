r"""Allowed posteriors of less reduced cost near given ones, where the border is curved: steps along it.

From each posterior a step towards every symbol and away from it is tried, and what it leads to is pulled back towards
:math:`P_X` until it is allowed. The best of these is the next posterior; where none is better, steps get shorter. It
needs no slopes and no convexity, so it finds its way along borders that cuts cannot follow.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np

from discreet._support.numeric import FloatArray
from discreet.proof.polytope import Polytope

__all__ = ["improved", "lattice"]

#: The first step, as a share of the way to a symbol, its factor where nothing is better, and the most steps.
FIRST, SHRINK, MOST_STEPS = 0.25, 0.4, 40

#: Steps end where they are shorter than this.
SHORTEST = 1e-5

#: Halvings of the way back to the border: enough for a distance that is short beside the shortest step.
HALVINGS = 22


def improved(
    points: FloatArray,
    cost: Callable[[FloatArray], FloatArray],
    polytope: Polytope,
    is_over: Callable[[], bool],
) -> FloatArray:
    """A posterior for each given one, which are allowed, from where no short step lowers the cost.

    Cost of a step: O(n_points * n_useful**2 * n_sensitive), some twenty times.
    """
    n, here = polytope.n_useful, points
    best, step = cost(here), np.full(len(here), FIRST)
    symbols = np.eye(n)
    for _ in range(MOST_STEPS):
        if not len(here) or step.max() < SHORTEST or is_over():
            break
        towards = here[:, None] + step[:, None, None] * (symbols - here[:, None])
        # Away from a symbol until it is gone, at most.
        back = np.minimum(step[:, None], here / np.maximum(1 - here, SHORTEST))
        away = here[:, None] - back[:, :, None] * (symbols - here[:, None])
        tried = np.maximum(np.concatenate([towards, away], axis=1), 0.0)
        tried /= tried.sum(axis=2, keepdims=True)
        flat = polytope.pulled(tried.reshape(-1, n), HALVINGS)
        costs = cost(flat).reshape(len(here), -1)
        chosen = costs.argmin(axis=1)
        every = np.arange(len(here))
        better = costs[every, chosen] < best
        here = np.where(better[:, None], flat.reshape(len(here), -1, n)[every, chosen], here)
        best = np.where(better, costs[every, chosen], best)
        step = np.where(better, step, SHRINK * step)
    return here


def lattice(n: int, most: int) -> FloatArray:
    """Posteriors whose entries are multiples of one share, the smallest for which there are so many at most.

    >>> lattice(2, 3).tolist()
    [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]
    """
    steps = 1
    while n > 1 and math.comb(steps + n, n - 1) <= most:
        steps += 1
    # Bars among steps: the entries are what stands between them.
    bars = np.array([*itertools.combinations(range(steps + n - 1), n - 1)], dtype=np.int64).reshape(-1, n - 1)
    ends = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), steps + n - 1)])
    result: FloatArray = (np.diff(ends, axis=1) - 1) / steps
    return result
