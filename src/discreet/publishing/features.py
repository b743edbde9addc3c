"""Features of records for models of S: numbers and codes of their cells, made without looking at S.

A value of a number is a number; of a category with few values its code, which a model may split as it likes. Texts of
many values have their place in the alphabet, how common they are, and codes of the commonest. Parts that an order
hides, such as weekdays, are features of their own. Null is missing, and so is what a later table has and this one had
not.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.publishing.parts import CODES, part_of, parts_of
from discreet.twins.cells import Cells

__all__ = ["Encoder", "Features", "Kind", "features_of"]

#: Codes of one feature: what scikit-learn's trees take, less one for all other values.
MOST_CODES = 250

#: Records of a value on average, from which what is known of the others with it says something about one.
REPEATED = 4


class Kind(NamedTuple):
    """What the numbers of a feature are.

    ``column`` of the table it comes from; whether they are codes from 0 on without an order, one of so many repeated
    values that they have no codes, or a part of a value that another feature has whole.
    """

    column: str
    is_code: bool = False
    is_many: bool = False
    is_part: bool = False


@dataclass(frozen=True, eq=False)
class Features:
    """A matrix of numbers, one row a record.

    Attributes
    ----------
    matrix : ndarray of float, shape (n, k)
        Missing cells are nan.
    kinds : tuple of Kind
        Of its columns.
    """

    matrix: FloatArray
    kinds: tuple[Kind, ...]

    @property
    def is_category(self) -> BoolArray:
        """Whether the numbers of each column are codes."""
        return np.array([kind.is_code for kind in self.kinds], dtype=bool)

    def of(self, rows: slice | IntArray | BoolArray) -> Features:
        """Those of some records."""
        return Features(self.matrix[rows], self.kinds)

    def only(self, columns: BoolArray) -> Features:
        """Some features of all records."""
        kinds = tuple(kind for kind, is_used in zip(self.kinds, columns) if is_used)
        return Features(np.ascontiguousarray(self.matrix[:, columns]), kinds)

    def beside(self, others: Features) -> Features:
        """All features of both, of the same records."""
        return Features(np.hstack([self.matrix, others.matrix]), (*self.kinds, *others.kinds))


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
        self._check(columns)
        made = [
            (cells.of_values(values), kind)
            for known, cells in zip(self._columns, columns, strict=True)
            for values, kind in known.features(cells)
        ]
        matrix = np.column_stack([values for values, _ in made]) if made else np.zeros((0, 0))
        return Features(matrix, tuple(kind for _, kind in made))

    def unknown(self, columns: Sequence[Cells]) -> dict[str, float]:
        """Of columns of a later table that have texts which this one lacks, the share of its rows with such."""
        found = {}
        for known, cells in zip(self._columns, columns, strict=True):
            strange = 0 if known.is_number else int(cells.counts[known.places(cells) < 0].sum())
            if strange:
                found[cells.name] = strange / len(cells.codes)
        return found

    def _check(self, columns: Sequence[Cells]) -> None:
        """Refuse columns that are of another kind than those that the codes were made of."""
        for known, cells in zip(self._columns, columns, strict=True):
            if known.kind != cells.kind and int(cells.counts.sum()) and len(known.values):
                raise InputError(
                    f"the column {cells.name!r} was {known.kind} in the first table and is {cells.kind} here, so that "
                    "models cannot read it. Give it the same type."
                )


class _Known:
    """What is known of one column: its values, how common they are, and which kinds of features they make."""

    def __init__(self, cells: Cells) -> None:
        self.values, self.counts, self.is_number = cells.values, cells.counts, cells.numbers is not None
        self.common = np.full(cells.n_values, float(MOST_CODES))
        best = np.argsort(-cells.counts, kind="stable")[:MOST_CODES]
        self.common[best] = np.arange(len(best))
        self.parts, self.kind = parts_of(cells), cells.kind
        self.is_many = MOST_CODES < cells.n_values <= int(cells.counts.sum()) // REPEATED

    def features(self, cells: Cells) -> list[tuple[FloatArray, Kind]]:
        """Features of the distinct values of a column."""
        parts = [(part_of(cells, name), Kind(cells.name, name in CODES, is_part=True)) for name in self.parts]
        return [*self._whole(cells), *parts]

    def _whole(self, cells: Cells) -> list[tuple[FloatArray, Kind]]:
        name = cells.name
        if self.is_number:
            numbers = np.full(cells.n_values, np.nan) if cells.numbers is None else cells.numbers
            return [(numbers, Kind(name, is_many=self.is_many))]
        place = self.places(cells)
        known, here = place >= 0, np.maximum(place, 0).astype(np.int64)
        if len(self.values) <= MOST_CODES:
            return [(np.where(known, place, np.nan), Kind(name, is_code=True))]
        return [
            (np.where(known, here, np.nan), Kind(name, is_many=self.is_many)),
            (np.where(known, np.log1p(self.counts[here]), 0.0), Kind(name)),
            (np.where(known, self.common[here], float(MOST_CODES)), Kind(name, is_code=True)),
        ]

    def places(self, cells: Cells) -> FloatArray:
        """Of each value of a column its place among the known ones, -1 where it is new."""
        if cells.values is self.values:
            return np.arange(cells.n_values, dtype=np.float64)
        import pyarrow as pa
        import pyarrow.compute as pc

        if not len(self.values):
            return np.full(cells.n_values, -1.0)
        found: Any = pc.index_in(cells.values.cast(pa.string()), self.values.cast(pa.string()))
        return np.asarray(found.fill_null(-1), dtype=np.float64)


def features_of(columns: Sequence[Cells]) -> Features:
    """Features of all columns of one table."""
    return Encoder(columns).features(columns)
