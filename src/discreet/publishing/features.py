"""Features of records for models of S: numbers and codes of their cells, made without looking at S.

A value of a number is a number; of a category with few values its code, which a model may split as it likes. Texts of
many values have their place in the alphabet, how common they are, and codes of the commonest. Null is missing.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.twins.cells import Cells

__all__ = ["Features", "features_of"]

#: Codes of one feature: what scikit-learn's trees take, less one for all other values.
MOST_CODES = 250


@dataclass(frozen=True, eq=False)
class Features:
    """A matrix of numbers, one row a record.

    Attributes
    ----------
    matrix : ndarray of float, shape (n, k)
        Missing cells are nan.
    is_category : ndarray of bool, shape (k,)
        Whether the numbers of a column are codes from 0 on, without an order.
    names : tuple of str
        Column of the table that each comes from.
    """

    matrix: FloatArray
    is_category: BoolArray
    names: tuple[str, ...]

    def of(self, rows: IntArray | BoolArray) -> FloatArray:
        """The matrix of some records."""
        return self.matrix[rows]


def features_of(columns: Sequence[Cells]) -> Features:
    """Features of all columns."""
    made: list[FloatArray] = []
    is_category: list[bool] = []
    names: list[str] = []
    for cells in columns:
        for values, codes in _of_column(cells):
            made.append(cells.of_values(values))
            is_category.append(codes)
            names.append(cells.name)
    matrix = np.column_stack(made) if made else np.zeros((0, 0))
    return Features(matrix, np.array(is_category, dtype=bool), tuple(names))


def _of_column(cells: Cells) -> list[tuple[FloatArray, bool]]:
    """Features of the distinct values of a column, and which are codes."""
    places = np.arange(cells.n_values, dtype=np.float64)
    if cells.numbers is not None:
        return [(cells.numbers, False)]
    if cells.n_values <= MOST_CODES:
        return [(places, True)]
    common = np.full(cells.n_values, float(MOST_CODES))
    best = np.argsort(-cells.counts, kind="stable")[:MOST_CODES]
    common[best] = np.arange(len(best))
    return [(places, False), (np.log1p(cells.counts), False), (common, True)]
