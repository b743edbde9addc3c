"""Features as models need them: classes to count, or columns to measure distances in."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.publishing.features import MOST_CODES

__all__ = ["Classes", "Columns"]

#: Classes of a number: twentieths. Codes have theirs, and one is for missing cells.
PARTS = 20
MISSING = MOST_CODES + 1

#: Values of a category that get columns of their own, the commonest.
MOST_COLUMNS = 40

#: Scaled numbers end here: a few very large ones do not hide all others.
FARTHEST = 5.0

#: One column, ready to fill: its feature, and what is subtracted and divided by, or the code that it stands for.
Scale = tuple[int, float, float]


class Classes:
    """Features as codes from 0 to `MISSING`: numbers by twentieths of the records that it was made of."""

    def __init__(self, matrix: FloatArray, is_category: BoolArray) -> None:
        steps = np.arange(1, PARTS) / PARTS
        self._edges = [
            None if category or np.isnan(column).all() else np.unique(np.nanquantile(column, steps))
            for column, category in zip(matrix.T, is_category)
        ]

    def of(self, matrix: FloatArray) -> IntArray:
        """Codes of the same shape."""
        codes = np.full(matrix.shape, MISSING)
        for k, (column, edges) in enumerate(zip(matrix.T, self._edges)):
            there = ~np.isnan(column)
            found = column[there] if edges is None else np.searchsorted(edges, column[there], side="right")
            codes[there, k] = np.minimum(found, MOST_CODES)
        return codes


class Columns:
    """Scaled numbers, and a column of ones and zeros for each common value of a category."""

    def __init__(self, matrix: FloatArray, is_category: BoolArray) -> None:
        self._scales: list[Scale] = []
        self._codes: list[tuple[int, float]] = []
        for k, (column, category) in enumerate(zip(matrix.T, is_category)):
            there = column[~np.isnan(column)]
            if category:
                values, counts = np.unique(there, return_counts=True)
                common = values[np.argsort(-counts, kind="stable")[:MOST_COLUMNS]]
                self._codes += [(k, float(value)) for value in common]
            elif np.isfinite(there).any():
                self._scales.append((k, *_scale(there[np.isfinite(there)])))
            if len(there) < len(column):
                self._codes.append((k, np.nan))

    def of(self, matrix: FloatArray) -> NDArray[np.float32]:
        """The columns of some records."""
        result = np.zeros((len(matrix), len(self._scales) + len(self._codes)), dtype=np.float32)
        for place, (k, mean, width) in enumerate(self._scales):
            result[:, place] = np.nan_to_num(np.clip((matrix[:, k] - mean) / width, -FARTHEST, FARTHEST))
        for place, (k, value) in enumerate(self._codes, len(self._scales)):
            result[:, place] = np.isnan(matrix[:, k]) if np.isnan(value) else matrix[:, k] == value
        return result


def _scale(numbers: FloatArray) -> tuple[float, float]:
    """The middle of numbers, and how far most of them lie apart: a few very large ones, as 999999, change neither."""
    low, quarter, middle, three, high = np.quantile(numbers, [0.05, 0.25, 0.5, 0.75, 0.95])
    width = next((width for width in (three - quarter, high - low, numbers.std()) if width > 0), 1.0)
    return float(middle), float(width)
