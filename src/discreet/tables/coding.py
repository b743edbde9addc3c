"""Cells of a counted table as codes of their alphabets, sorted inside Arrow wherever that is the order of labels."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._support.errors import UnusableColumnError
from discreet.core import labels
from discreet.core.alphabet import Cells, Tuples
from discreet.tables.arrow import numbers, whole
from discreet.tables.binning import interval_text

__all__ = ["Codes", "codes_of", "column_codes", "dictionary_of", "symbol_codes"]

Codes = NDArray[np.integer[Any]]

#: Columns of so many cells are coded side by side.
MANY_CELLS = 1 << 18

#: Codes of tuples are found in a table of all possible ones where that has at most so many places for each cell.
SPARSEST = 8


def codes_of(
    cells: Any, columns: Sequence[str], bins: Mapping[str, Sequence[float]], *, distinct: bool = False
) -> list[tuple[Codes, Sequence[Any]]]:
    """Codes and alphabets of the first columns of an Arrow table, which hold these columns of the user's.

    The cells of a binned column are the numbers of their intervals. ``distinct`` where no column has a cell twice.
    """

    def code(k: int) -> tuple[Codes, Sequence[Any]]:
        return column_codes(cells.column(k), columns[k], bins.get(columns[k]), distinct=distinct)

    if len(columns) == 1 or cells.num_rows < MANY_CELLS:
        return [code(k) for k in range(len(columns))]
    with ThreadPoolExecutor(min(len(columns), os.cpu_count() or 1)) as threads:
        return list(threads.map(code, range(len(columns))))


def column_codes(
    cells: Any, column: str, edges: Sequence[float] | None, *, distinct: bool = False
) -> tuple[Codes, Sequence[Any]]:
    """Codes of the cells and the labels they stand for, in the order of the alphabet."""
    values, codes = (whole(cells), None) if distinct else _apart(dictionary_of(cells))
    _check_years(values, column)
    order = _arrow_order(values) if _is_sorted_by_arrow(values) else _label_order(values.to_pylist())
    rank = np.empty(len(values), dtype=np.int32)
    rank[numbers(order)] = np.arange(len(values), dtype=np.int32)
    ordered: Sequence[Any] = Cells(values.take(order))
    if edges is not None:
        ordered = [None if code is None else interval_text(code, edges) for code in ordered]
    return rank if codes is None else rank[codes], ordered


def _apart(encoded: Any) -> tuple[Any, Codes]:
    return encoded.dictionary, numbers(encoded.indices)


def dictionary_of(cells: Any) -> Any:
    """Cells as codes of a dictionary, in which null has a place too."""
    return whole(whole(cells).dictionary_encode(null_encoding="encode"))


def symbol_codes(parts: Sequence[tuple[Codes, Sequence[Any]]]) -> tuple[Codes, Sequence[Any]]:
    """One column as it is, several as tuples in lexicographic order."""
    if len(parts) == 1:
        return parts[0]
    sizes = [len(alphabet) for _, alphabet in parts]
    alphabets = [alphabet for _, alphabet in parts]
    if math.prod(sizes) >= 1 << 62:
        lines, place = np.unique(np.stack([codes for codes, _ in parts], axis=1), axis=0, return_inverse=True)
        return place.reshape(-1), Tuples(alphabets, lines.T)
    key: Codes = parts[0][0].astype(np.int64)
    for codes, alphabet in parts[1:]:
        key *= len(alphabet)
        key += codes
    distinct, places = _distinct(key, math.prod(sizes))
    return places, Tuples(alphabets, np.stack(np.unravel_index(distinct, sizes)).astype(np.int32))


def _distinct(key: Codes, possible: int) -> tuple[Codes, Codes]:
    """Distinct keys in their order, and the place of each key among them."""
    if possible > SPARSEST * len(key):
        distinct, place = np.unique(key, return_inverse=True)
        return distinct, place.reshape(-1)
    occurs = np.zeros(possible, dtype=bool)
    occurs[key] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs, dtype=np.int32) - 1)[key]


def _check_years(values: Any, column: str) -> None:
    """Dates and times are such that Python knows; those in between are where the first and the last are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_temporal(values.type):
        return
    try:
        pc.min_max(values).as_py()
    except (OverflowError, ValueError):
        raise UnusableColumnError(
            f"column {column!r} has dates or times beyond the years 1 to 9999. Cast it to text."
        ) from None


def _is_sorted_by_arrow(values: Any) -> bool:
    """Whether Arrow's order is that of `labels.sort_key`.

    Text is sorted by its bytes in UTF-8, which is the order of code points; numbers, truth values, dates and times by
    value. NaN has no place among labels, and times in nanoseconds no Python value.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, types = values.type, pa.types
    if types.is_floating(kind):
        return not types.is_float16(kind) and not pc.any(pc.is_nan(values), skip_nulls=True).as_py()
    if types.is_timestamp(kind):
        return kind.tz is None and kind.unit != "ns"
    simple = (types.is_string, types.is_large_string, types.is_integer, types.is_boolean, types.is_date32)
    return types.is_decimal128(kind) or any(is_kind(kind) for is_kind in simple)


def _arrow_order(values: Any) -> Any:
    """Nulls come last, as among labels."""
    import pyarrow.compute as pc

    return pc.sort_indices(values)


def _label_order(values: list[Any]) -> Any:
    import pyarrow as pa

    return pa.array(sorted(range(len(values)), key=lambda k: labels.sort_key(values[k])), pa.int64())
