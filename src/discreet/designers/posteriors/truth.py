r"""The mixture of allowed posteriors that most often tells the truth, by one linear programme.

.. math:: \max \sum_x P(x, Y = x) \quad \text{over } P(x, y) \ge 0, \; \sum_y P(x, y) = P(x), \; R \, P(\cdot, y) \le 0

with R the homogeneous rows of the allowed posteriors. Where entries of a posterior count by parts, P(x, y) is a sum of
parts, each but the last at most its width times P(y), which is a variable of its own. Our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray
from discreet.designers.posteriors.lp import maximise
from discreet.proof.polytope import Polytope

__all__ = ["coefficients", "most_truthful"]

#: Released symbols of less probability than this are left out.
UNSEEN = 1e-12


def coefficients(polytope: Polytope) -> int:
    """Size of the programme."""
    return (polytope.rows.size + 2 * (polytope.n_own - polytope.n_useful)) * polytope.n_useful


def most_truthful(polytope: Polytope, time_limit: float | None = None) -> tuple[FloatArray, FloatArray] | None:
    """Posteriors, one a row, and their weights; None where the solver gives up or runs out of time."""
    rows, equal = _with_parts(polytope)
    p, n, width, own = polytope.p_useful, polytope.n_useful, rows.shape[1], polytope.n_own
    # Variables are P(x, y), y by y; every y has the rows of the notion, every x its total.
    y, k, x = np.meshgrid(np.arange(n), np.arange(len(rows)), np.arange(width), indexing="ij")
    inside = np.broadcast_to(rows != 0, y.shape)
    of_rows = (y * len(rows) + k)[inside], (y * width + x)[inside], np.broadcast_to(rows, y.shape)[inside]
    every_y, every_x = np.divmod(np.arange(n * own), own)
    of_totals = n * len(rows) + every_x % n, every_y * width + every_x, np.ones(n * own)
    entries = tuple(np.concatenate(parts) for parts in zip(of_rows, of_totals))
    truth = np.zeros((n, width))
    truth[:, :own] = np.tile(np.eye(n), own // n)
    found = maximise(
        truth.ravel(),
        (entries[0], entries[1], entries[2]),
        np.concatenate([np.tile(np.where(equal, 0.0, -np.inf), n), p]),
        np.concatenate([np.zeros(n * len(rows)), p]),
        time_limit,
    )
    if found is None:
        return None
    cells = found.reshape(n, width)[:, :own].reshape(n, -1, n).sum(axis=1)
    weights = cells.sum(axis=1)
    used = weights > UNSEEN
    return cells[used] / weights[used, None], weights[used]


def _with_parts(polytope: Polytope) -> tuple[FloatArray, BoolArray]:
    """Rows of one released symbol, and which are equations; its mass, the last variable, bounds parts of entries."""
    rows, equal, n, own = polytope.rows, polytope.equal, polytope.n_useful, polytope.n_own
    if polytope.steps is None:
        return rows, equal
    widths = np.diff(polytope.steps, axis=0, prepend=0.0).ravel()  # of all parts but the last, which fill up
    mass = np.append(np.ones(own), -1.0)
    bounded = np.hstack([np.eye(own)[: own - n], -widths[:, None]])
    known = np.hstack([rows, np.zeros((len(rows), 1))])
    return np.vstack([known, mass, bounded]), np.concatenate([equal, [True], np.zeros(own - n, dtype=bool)])
