r"""The mixture of allowed posteriors that most often tells the truth, by one linear programme.

.. math:: \max \sum_x P(x, Y = x) \quad \text{over } P(x, y) \ge 0, \; \sum_y P(x, y) = P(x), \; R \, P(\cdot, y) \le 0

with R the homogeneous rows of the allowed posteriors. Our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from discreet._support.numeric import FloatArray
from discreet.designers.posteriors.lp import maximise
from discreet.proof.polytope import Polytope

__all__ = ["coefficients", "most_truthful"]

#: Released symbols of less probability than this are left out.
UNSEEN = 1e-12


def coefficients(polytope: Polytope) -> int:
    """Size of the programme."""
    return polytope.rows.size * polytope.n_useful


def most_truthful(polytope: Polytope, time_limit: float | None = None) -> tuple[FloatArray, FloatArray] | None:
    """Posteriors, one a row, and their weights; None where the solver gives up or runs out of time."""
    rows, equal, p = polytope.rows, polytope.equal, polytope.p_useful
    n, width = polytope.n_useful, rows.shape[1]
    # Variables are P(x, y), y by y; every y has the rows of the notion, every x its total.
    y, k, x = np.meshgrid(np.arange(n), np.arange(len(rows)), np.arange(width), indexing="ij")
    inside = np.broadcast_to(rows != 0, y.shape)
    of_rows = (y * len(rows) + k)[inside], (y * width + x)[inside], np.broadcast_to(rows, y.shape)[inside]
    every_y, every_x = np.divmod(np.arange(n * n), n)
    of_totals = n * len(rows) + every_x, every_y * width + every_x, np.ones(n * n)
    entries = tuple(np.concatenate(parts) for parts in zip(of_rows, of_totals))
    truth = np.zeros(n * width)
    truth[np.arange(n) * width + np.arange(n)] = 1.0
    found = maximise(
        truth,
        (entries[0], entries[1], entries[2]),
        np.concatenate([np.tile(np.where(equal, 0.0, -np.inf), n), p]),
        np.concatenate([np.zeros(n * len(rows)), p]),
        time_limit,
    )
    if found is None:
        return None
    cells = found.reshape(n, width)[:, :n]
    weights = cells.sum(axis=1)
    used = weights > UNSEEN
    return cells[used] / weights[used, None], weights[used]
