"""Features of records for models of S: numbers and codes of their cells, made without looking at S.

A value of a number is a number; of a category with few values its code, which a model may split as it likes. Texts of
many values have their place in the alphabet, how common they are, and codes of the commonest. Null is missing, and so
is what a later table has and this one had not.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.twins.cells import Cells

__all__ = ["Encoder", "Features", "features_of"]

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


class Encoder:
    """Codes of the values of one table, under which those of later tables are read as well.

    Parameters
    ----------
    columns : sequence of Cells
        All useful columns of the table.
    """

    def __init__(self, columns: Sequence[Cells]) -> None:
        self._columns = [_Known(cells) for cells in columns]

    def features(self, columns: Sequence[Cells]) -> Features:
        """Features of the same columns of this table or a later one."""
        made = [
            (cells.of_values(values), is_code, cells.name)
            for known, cells in zip(self._columns, columns, strict=True)
            for values, is_code in known.features(cells)
        ]
        matrix = np.column_stack([values for values, _, _ in made]) if made else np.zeros((0, 0))
        is_category = np.array([is_code for _, is_code, _ in made], dtype=bool)
        return Features(matrix, is_category, tuple(name for _, _, name in made))


class _Known:
    """What is known of one column: its values, how common they are, and which kind of feature they make."""

    def __init__(self, cells: Cells) -> None:
        self.values, self.counts, self.is_number = cells.values, cells.counts, cells.numbers is not None
        self.common = np.full(cells.n_values, float(MOST_CODES))
        best = np.argsort(-cells.counts, kind="stable")[:MOST_CODES]
        self.common[best] = np.arange(len(best))

    def features(self, cells: Cells) -> list[tuple[FloatArray, bool]]:
        """Features of the distinct values of a column, and which are codes."""
        if self.is_number:
            return [(np.full(cells.n_values, np.nan) if cells.numbers is None else cells.numbers, False)]
        place = self._places(cells)
        known, here = place >= 0, np.maximum(place, 0).astype(np.int64)
        if len(self.values) <= MOST_CODES:
            return [(np.where(known, place, np.nan), True)]
        return [
            (np.where(known, here, np.nan), False),
            (np.where(known, np.log1p(self.counts[here]), 0.0), False),
            (np.where(known, self.common[here], float(MOST_CODES)), True),
        ]

    def _places(self, cells: Cells) -> FloatArray:
        """Of each value of a column its place among the known ones, -1 where it is new."""
        if cells.values is self.values:
            return np.arange(cells.n_values, dtype=np.float64)
        import pyarrow as pa
        import pyarrow.compute as pc

        if not len(self.values):
            return np.full(cells.n_values, -1.0)
        found = pc.index_in(cells.values.cast(pa.string()), self.values.cast(pa.string()))
        return np.asarray(found.fill_null(-1), dtype=np.float64)


def features_of(columns: Sequence[Cells]) -> Features:
    """Features of all columns of one table."""
    return Encoder(columns).features(columns)
