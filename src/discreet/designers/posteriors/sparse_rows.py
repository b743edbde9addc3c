"""Rows of few entries become integers over 2**60."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

from discreet._support.numeric import DENOMINATOR, DENOMINATOR_BITS, IntArray

__all__ = ["rounded_rows"]


def rounded_rows(row: IntArray, released: IntArray, mass: Any) -> tuple[IntArray, IntArray, IntArray]:
    """Entries (row, released, weight) in proportion to their masses; the largest of a row takes up its rounding.

    Masses of the same row and released symbol are added up.

    >>> row, released, mass = np.array([1, 0, 0, 0]), np.array([0, 0, 1, 1]), np.array([2.0, 1.0, 1.0, 2.0])
    >>> rows, columns, weights = rounded_rows(row, released, mass)
    >>> rows.tolist(), columns.tolist(), [weight / 2**60 for weight in weights.tolist()]
    ([0, 0, 1], [0, 1, 0], [0.25, 0.75, 1.0])
    """
    order = np.lexsort((released, row))
    row, released, mass = row[order], released[order], mass[order]
    distinct = np.flatnonzero((np.diff(row, prepend=-1) > 0) | (np.diff(released, prepend=-1) != 0))
    row, released, mass = row[distinct], released[distinct], np.add.reduceat(mass, distinct)
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    number = np.diff(starts, append=len(row))
    share = mass / np.repeat(np.add.reduceat(mass, starts), number)
    weights = np.floor(np.ldexp(share, DENOMINATOR_BITS)).astype(np.int64)
    largest = np.lexsort((-weights, row))[starts]
    weights[largest] += DENOMINATOR - np.add.reduceat(weights, starts)
    some = weights > 0
    return row[some], released[some], weights[some]
