"""What a reader sees of a row beside its values: how cells are written, and how many rows are the same.

Numbers are one value however they are written, such as 39, 39.0 and +39, and so is a day with any time of it. Somebody
who published them differently for different people has told something all the same.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from discreet.publishing.attack.cells import tuple_keys
from discreet.publishing.shapes import CLOCK, shape_of, tail_of
from discreet.tables.arrow import whole
from discreet.twins.cells import Cells, cells_of, is_dates

__all__ = ["TIMES", "times_of", "written_beside"]

#: Name of the column of repeated rows, and the number from which they are counted as equally many.
TIMES, MOST_TIMES = "times a row occurs", 3

#: The time of day behind a date, by its parts.
TIME = re.compile(rf"(?:^|\D){CLOCK}")
PARTS = ("hour", "minute", "second")

Columns = Mapping[str, Any]


def written_beside(
    original: Columns, released: Columns, before: Sequence[Cells], after: Sequence[Cells]
) -> tuple[tuple[Cells, ...], tuple[Cells, ...]]:
    """Further columns of both tables, out of raw columns and cells; of the original those that the release has too."""
    first, second = (
        [cells for name in released if name in table for cells in _written(name, table[name])]
        for table in (original, released)
    )
    names = {cells.name for cells in second}
    pairs = [cells for cells in first if cells.name in names], second
    return (*pairs[0], *times_of([*before, *pairs[0]])), (*pairs[1], *times_of([*after, *pairs[1]]))


def _written(name: str, column: Any) -> list[Cells]:
    """How cells of one column are written, where that differs."""
    import pyarrow as pa

    plain = whole(column)
    if pa.types.is_dictionary(plain.type):
        plain = plain.dictionary_decode()
    if pa.types.is_floating(plain.type):
        return _listed(f"{name} (as written)", _of_floats(plain))
    if not (pa.types.is_string(plain.type) or pa.types.is_large_string(plain.type)):
        return []
    cells = cells_of(name, plain)
    if cells.way is None:
        return []
    way = cells.way
    shapes = _listed(f"{name} (as written)", _of_texts(cells, lambda text: shape_of(text, way)))
    if not is_dates(way):
        return shapes
    times = [_listed(f"{name} ({part})", _of_texts(cells, partial(_time, part))) for part in PARTS]
    tails = _listed(f"{name} (behind the date)", _of_texts(cells, tail_of))
    return [*shapes, *(cells for listed in times for cells in listed), *tails]


def _of_texts(cells: Cells, told: Callable[[str], str | None]) -> Any:
    """Of each cell what is told of its text, worked out once for each distinct one."""
    import pyarrow as pa

    of_values = pa.array([told(text) for text in cells.values.to_pylist()], pa.string())
    return of_values.take(pa.array(cells.codes, mask=cells.codes < 0))


def _of_floats(column: Any) -> Any:
    """Missing cells as nan or null, zeros by their sign; null throughout where one kind of each is there."""
    import pyarrow as pa

    numbers = np.asarray(column.cast(pa.float64()).fill_null(1.0), dtype=np.float64)
    kinds = np.full(len(numbers), "number")
    kinds[np.isnan(numbers)] = "nan"
    kinds[numbers == 0] = np.where(np.signbit(numbers[numbers == 0]), "-0", "0")
    kinds[np.asarray(column.is_null())] = "null"
    there = set(kinds.tolist())
    differs = {"nan", "null"} <= there or {"-0", "0"} <= there
    return pa.array(kinds.tolist()) if differs else pa.nulls(len(numbers), pa.string())


def _time(part: str, text: str) -> str | None:
    """A part of the time of day in a text: seconds without their fraction."""
    found = TIME.search(text)
    told = None if found is None else found.group(part)
    return None if told is None else told[:2].zfill(2)


def _listed(name: str, texts: Any) -> list[Cells]:
    """A column of categories, where it has more than one."""
    cells = cells_of(name, texts, way=None)
    return [cells] if cells.n_values > 1 else []


def times_of(columns: Sequence[Cells]) -> list[Cells]:
    """How often the row of each record occurs, where some do more often than others."""
    import pyarrow as pa

    _, place, counts = np.unique(tuple_keys(columns), return_inverse=True, return_counts=True)
    times = np.minimum(counts, MOST_TIMES)[place.reshape(-1)]
    return [cells_of(TIMES, pa.array(times))] if (counts == 1).any() and (counts > 1).any() else []
