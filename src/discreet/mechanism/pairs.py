"""What a matrix of pairs (x, y) tells: the information that is kept, and what each released value stands for."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet._support.numeric import FloatArray, xlogx

__all__ = ["information", "listed_codebook"]


def information(cells: FloatArray) -> float:
    """I(X; Y) of a matrix P(x, y), nats."""
    kept = xlogx(cells).sum() - xlogx(cells.sum(axis=0)).sum() - xlogx(cells.sum(axis=1)).sum()
    return max(0.0, float(kept))


def listed_codebook(cells: FloatArray, released: Sequence[str], useful: Sequence[Any]) -> dict[str, dict[Any, float]]:
    """P(x | y) out of a matrix P(y, x), likeliest first."""
    book: dict[str, dict[Any, float]] = {}
    for label, row in zip(released, cells):
        order = np.argsort(-row, kind="stable").tolist()
        book[label] = {useful[x]: float(row[x] / row.sum()) for x in order if row[x] > 0}
    return book
