"""Vertices by solving every square system of constraints, and optima by trying every vertex or basis; tiny sizes only."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from discreet.papers.oracles.distributions import entropy, information

__all__ = ["best_posteriors", "best_vertex", "ldp_vertices", "posterior_vertices", "systems"]

ROUNDING = 1e-9
CHUNK = 20_000


def systems(n_useful: int, n_sensitive: int) -> int:
    """Square systems that listing the vertices of the LIP polytope takes: n - 1 of its n + 2c rows hold with equality."""
    return math.comb(n_useful + 2 * n_sensitive, n_useful - 1)


def _vertices(rows: Any, least: Any, equal: Any, level: Any) -> Any:
    """Points with rows @ v >= least and equal @ v = level at which enough rows are tight."""
    free = equal.shape[1] - len(equal)
    found: list[Any] = []
    choices = itertools.combinations(range(len(rows)), free)
    while some := list(itertools.islice(choices, CHUNK)):
        tight = np.array(some)
        matrices = np.concatenate([np.broadcast_to(equal, (len(some), *equal.shape)), rows[tight]], axis=1)
        sides = np.concatenate([np.broadcast_to(level, (len(some), len(level))), least[tight]], axis=1)
        regular = np.abs(np.linalg.det(matrices)) > 1e-12
        points = np.linalg.solve(matrices[regular], sides[regular][..., None])[..., 0]
        found.append(points[((points @ rows.T) >= least - ROUNDING).all(axis=1)])
    points = np.concatenate(found)
    _, first = np.unique(np.round(points, 7), axis=0, return_index=True)
    return points[np.sort(first)]


def posterior_vertices(cells: Any, lower: float, upper: float) -> Any:
    """Vertices of the posteriors P(x | y) under which every lift of s lies in [exp(-lower), exp(upper)]."""
    given = cells / cells.sum(axis=0)  # P(s | x)
    prior = cells.sum(axis=1)
    n = cells.shape[1]
    rows = np.vstack([np.eye(n), given, -given])
    least = np.concatenate([np.zeros(n), math.exp(-lower) * prior, -math.exp(upper) * prior])
    return _vertices(rows, least, np.ones((1, n)), np.ones(1))


def best_posteriors(cells: Any, lower: float, upper: float) -> float:
    """Theorem 3 of LTS20 by brute force: I(X; Y) of the best mixture of as many vertices as symbols, over all bases."""
    points, p = posterior_vertices(cells, lower, upper), cells.sum(axis=0)
    costs = np.array([entropy(np.maximum(point, 0)) for point in points])
    best = math.inf
    for chosen in itertools.combinations(range(len(points)), len(p)):
        matrix = points[list(chosen)].T
        if abs(np.linalg.det(matrix)) > 1e-12:
            weights = np.linalg.solve(matrix, p)
            if (weights >= -ROUNDING).all():
                best = min(best, float(weights @ costs[list(chosen)]))
    return entropy(p) - best


def ldp_vertices(cells: Any, epsilon: float) -> Any:
    """Vertices of the matrices P(y | x) with as many outputs as inputs that are epsilon-LDP with respect to S."""
    given = cells / cells.sum(axis=1, keepdims=True)  # P(x | s)
    c, a = cells.shape
    rows, equal = [*np.eye(a * a)], []
    for x in range(a):
        row = np.zeros((a, a))
        row[x] = 1
        equal.append(row.ravel())
    for y in range(a):
        for s, t in itertools.permutations(range(c), 2):
            row = np.zeros((a, a))
            row[:, y] = math.exp(epsilon) * given[t] - given[s]
            rows.append(row.ravel())
    return _vertices(np.array(rows), np.zeros(len(rows)), np.array(equal), np.ones(a)).reshape(-1, a, a)


def best_vertex(cells: Any, epsilon: float) -> float:
    """Theorem 2 of LTS20 by brute force: the largest I(X; Y) of a vertex, utility being convex in the matrix."""
    p = cells.sum(axis=0)
    return max(information(p[:, None] * np.maximum(matrix, 0)) for matrix in ldp_vertices(cells, epsilon))
