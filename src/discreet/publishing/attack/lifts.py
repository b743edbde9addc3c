r"""Lifts that a model reaches: records in the order of its beliefs, cut into parts, and S counted in each.

.. math:: \frac{k / n}{P(s)}, \qquad k \text{ of } n \text{ records of a part have } s

P(s) is the share of s in the whole table, and taken as known. Limits of k / n are those of [CP34]_, for all parts of
all models at once. A part is a set of released symbols, so under a promise on all lifts its own are within it too.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from discreet._support.numeric import FloatArray, IntArray, log
from discreet.measures.limits import limits_of

__all__ = ["Cell", "Parts", "area_under_curve", "cells_with_limits", "parts_of"]

#: Parts of the records, and records of s that are expected in each at least.
MOST_PARTS, FEWEST_PARTS, LEAST_EXPECTED = 20, 2, 30

#: Digits of the logarithm of a belief: what differs by less is rounding, and equal.
DIGITS = 9


class Cell(NamedTuple):
    """One part of the records under one model and one sensitive value.

    ``value`` is the place of the sensitive value, ``share`` of the records are in lower parts or in the lower half of
    this one, k of n have the value, ``predicted`` is the model's mean belief; ``low`` and ``high`` limit the log-lift,
    in nats.
    """

    model: str
    value: int
    part: int
    share: float
    n: int
    k: int
    predicted: float
    log_lift: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Parts:
    """Counts of one model and one sensitive value, in growing order of belief."""

    model: str
    value: int
    n: IntArray
    k: IntArray
    predicted: FloatArray


def parts_of(model: str, beliefs: FloatArray, secret: IntArray, prior: FloatArray | None = None) -> list[Parts]:
    """Parts of records under all sensitive values that they have, or would have many of by their share in the table."""
    expected = np.zeros(beliefs.shape[1]) if prior is None else prior * len(secret)
    return [
        Parts(model, value, *_counted(beliefs[:, value], secret == value))
        for value in range(beliefs.shape[1])
        if (secret == value).any() or expected[value] >= LEAST_EXPECTED
    ]


def _counted(scores: FloatArray, truth: Any) -> tuple[IntArray, IntArray, FloatArray]:
    """Records, those with s, and the mean belief of each part; records of equal belief are in one part."""
    wanted = int(np.clip(truth.sum() // LEAST_EXPECTED, FEWEST_PARTS, MOST_PARTS))
    _, place, counts = np.unique(np.round(log(scores), DIGITS), return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(scores)
    part = np.minimum((middle * wanted).astype(np.int64), wanted - 1)[place]
    n = np.bincount(part, minlength=wanted)
    k = np.bincount(part, weights=truth, minlength=wanted).astype(np.int64)
    summed = np.bincount(part, weights=scores, minlength=wanted)
    some = n > 0
    return n[some], k[some], summed[some] / n[some]


def cells_with_limits(
    parts: Sequence[Parts], prior: FloatArray, alpha: float, rows_each: float = 1.0
) -> tuple[Cell, ...]:
    """All cells, each with limits that fail with probability alpha at most; so many rows say no more than one."""
    cells: list[Cell] = []
    for one in parts:
        p = float(prior[one.value])
        low, high = _limits(one.k, one.n, alpha / 2, rows_each)
        columns = (one.n, one.k, one.predicted, log(one.k / one.n / p), log(low / p), log(high / p))
        share = (np.cumsum(one.n) - one.n / 2) / one.n.sum()
        for place, row in enumerate(zip(share, *columns)):
            middle, n, k, *rest = row
            cells.append(Cell(one.model, one.value, place, float(middle), int(n), int(k), *map(float, rest)))
    return tuple(cells)


def _limits(k: IntArray, n: IntArray, alpha: float, rows_each: float) -> tuple[FloatArray, FloatArray]:
    """Limits of k / n, fewer records being rounded outwards."""
    fewest, most = (rounded(k / rows_each).astype(np.int64) for rounded in (np.floor, np.ceil))
    smaller, larger = (rounded(n / rows_each).astype(np.int64) for rounded in (np.floor, np.ceil))
    low = limits_of(fewest[None], larger, alpha).floats[0]
    high = limits_of(most[None], np.maximum(smaller, most), alpha).floats[1]
    return low[0], high[0]


def area_under_curve(scores: FloatArray, truth: Any) -> float | None:
    """Chance that a record with s has a larger belief in it than one without; None where one kind is missing."""
    from scipy.stats import rankdata

    inside, outside = int(truth.sum()), int((~truth).sum())
    if not inside or not outside:
        return None
    ranks = rankdata(np.round(log(scores), DIGITS))
    return float((ranks[truth].sum() - inside * (inside + 1) / 2) / (inside * outside))
