"""All vertices of a small polytope of posteriors, support by support.

A vertex with k positive entries touches k - 1 rows, so it solves a k x k system: choose the support, choose the rows,
solve, and keep what satisfies the other rows. All systems of one size are solved at once in numpy. This needs no
further library and every vertex is verified against all rows, where double description in floats can fail silently;
the price is that only small alphabets can be listed, which column generation makes up for.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray
from discreet.proof.pairs import every_pair
from discreet.proof.polytope import Polytope

__all__ = ["vertices"]

#: Linear systems that may be solved; some minutes of work.
MOST_SYSTEMS = 20_000_000

#: Systems solved in one call of numpy.
CHUNK = 50_000

#: Systems with a smaller determinant have no unique solution; rows are scaled to a largest entry of one.
SINGULAR = 1e-12

#: A vertex may violate other rows by rounding only; vertices closer than this are one.
ROUNDING, SAME = 1e-10, 1e-9


def vertices(polytope: Polytope) -> FloatArray:
    """Every vertex, one a row; an `InputError` where there would be too many systems to solve."""
    if polytope.is_banded:
        polytope = every_pair(polytope)
    if polytope.is_lifted or polytope.curved is not None or polytope.equal.any():
        raise InputError("search='vertices' takes notions of inequalities on the lifts. Use search='columns'.")
    n, rows = polytope.n_useful, polytope.own_rows
    # A regular system has no more equations than the rows and the sum have rank: at most |S| for one prior.
    rank = int(np.linalg.matrix_rank(np.vstack([rows, np.ones(n)])))
    sizes = range(1, min(n, rank) + 1)
    work = sum(math.comb(n, k) * math.comb(len(rows), k - 1) for k in sizes)
    if work > MOST_SYSTEMS:
        raise InputError(
            f"listing the vertices would take {work:.3g} linear systems, more than {MOST_SYSTEMS:.3g}. "
            "Use search='columns'."
        )
    found = [_of_size(rows, n, k) for k in sizes]
    points = np.vstack(found)
    _, first = np.unique(np.round(points / SAME).astype(np.int64), axis=0, return_index=True)
    return points[np.sort(first)]


def _of_size(rows: FloatArray, n: int, k: int) -> FloatArray:
    """Vertices with exactly k positive entries."""
    choices = list(itertools.combinations(range(len(rows)), k - 1))
    touched = np.array(choices, dtype=np.int64).reshape(len(choices), k - 1)
    supports = np.array(list(itertools.combinations(range(n), k)), dtype=np.int64)
    step = max(1, CHUNK // max(1, len(touched)))
    found = [np.empty((0, n))]
    for start in range(0, len(supports), step):
        some = supports[start : start + step]
        # systems[support, choice of rows] = those rows on that support, and the sum
        system = np.ones((len(some), len(touched), k, k))
        system[:, :, : k - 1, :] = _rows_on(rows, touched, some)
        flat = system.reshape(-1, k, k)
        regular = np.abs(np.linalg.det(flat)) > SINGULAR
        if not regular.any():
            continue
        goal = np.zeros((int(regular.sum()), k, 1))
        goal[:, -1] = 1.0
        value = np.linalg.solve(flat[regular], goal)[..., 0]
        support = np.repeat(some, len(touched), axis=0)[regular]
        positive = (value > SAME).all(axis=1)
        points = np.zeros((int(positive.sum()), n))
        np.put_along_axis(points, support[positive], value[positive], axis=1)
        found.append(points[(points @ rows.T <= ROUNDING).all(axis=1)])
    return np.vstack(found)


def _rows_on(rows: FloatArray, touched: IntArray, supports: IntArray) -> FloatArray:
    """Entries of the touched rows on each support: (supports, choices, k - 1, k)."""
    on_support = rows[:, supports]  # (rows, supports, k)
    chosen: FloatArray = on_support[touched].transpose(2, 0, 1, 3)
    return chosen
