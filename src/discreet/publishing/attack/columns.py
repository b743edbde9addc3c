"""Cells of an original and of its release, in one code where their values are of one kind."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.publishing.parts import FREE_TEXT, is_free_text, part_of
from discreet.tables.arrow import whole
from discreet.twins.cells import Cells, cells_of

__all__ = ["CellPairs", "cell_pairs", "together"]

#: Share of the released cells that hold values of the original, or numbers as it does, from which both are of one kind.
LEAST_KNOWN = 0.5


@dataclass(frozen=True, eq=False)
class CellPairs:
    """Columns of both tables.

    Attributes
    ----------
    before, after : tuple of Cells
        Columns of the original that the release has too, and all columns of the release.
    shared : tuple of str
        Those that are in one code: equal values of both tables have equal codes.
    notes : tuple of str
        What was taken for something else, and what links rows to people.
    unchecked : tuple of str
        What models cannot read.
    """

    before: tuple[Cells, ...]
    after: tuple[Cells, ...]
    shared: tuple[str, ...]
    notes: tuple[str, ...]
    unchecked: tuple[str, ...] = ()


def cell_pairs(original: Mapping[str, Any], released: Mapping[str, Any]) -> CellPairs:
    """Cells of all released columns, and of those of the same names in the original."""
    texts = [name for name in released if _is_nested(released[name]) or _is_nested(original.get(name, released[name]))]
    raw = [name for name in texts if _is_bytes(released[name].type)]
    original, released = (_as_texts(table, texts) for table in (original, released))
    before, after, shared = [], [], []
    for name, column in released.items():
        if name not in original:
            after.append(cells_of(name, column))
            continue
        first, second, is_shared = _of_both(name, original[name], column)
        before.append(first)
        after.append(second)
        shared += [name] if is_shared else []
    notes = [f"Taken as texts, their cells being lists, structures or bytes: {', '.join(texts)}."] if texts else []
    notes += [
        f"{second.name!r} differs in all rows of the release and is that of the original: it links rows to people."
        for first, second in zip(before, (cells for cells in after if cells.name in original))
        if second.name in shared and _links(first, second)
    ]
    unchecked = [f"{name} holds bytes, which no model reads." for name, column in released.items() if name in raw]
    unchecked += [f"{cells.name} is free text: {FREE_TEXT}." for cells in after if is_free_text(cells)]
    return CellPairs(tuple(before), tuple(after), tuple(shared), (*notes, *unchecked), tuple(unchecked))


def _links(before: Cells, after: Cells) -> bool:
    """Whether all cells of a column differ, and are those of the original."""
    return bool(
        (before.codes == after.codes).all() and 1 < len(after.codes) == len(np.unique(after.codes[after.codes >= 0]))
    )


def _of_both(name: str, first: Any, second: Any) -> tuple[Cells, Cells, bool]:
    """Cells of both tables, and whether they share codes."""
    cells = _by_number(cells_of(name, together(first, second)))
    before, after = (cells.taken(slice(0, len(first))), cells.taken(slice(len(first), None)))
    given = after.codes[after.codes >= 0]
    known = before.counts > 0
    if cells.numbers is not None:
        known |= np.isfinite(cells.numbers)  # of any two numbers it is known how far they are apart
    if len(given) and known[given].mean() >= LEAST_KNOWN:
        return before, after, True
    return cells_of(name, first), cells_of(name, second), False


def _by_number(cells: Cells) -> Cells:
    """Texts of the same number, such as 39 and 39.0, as one value; of long numbers all digits count."""
    if cells.numbers is None or not len(cells.numbers) or not cells.is_text:
        return cells
    import pyarrow as pa

    is_first = np.append(True, cells.numbers[1:] != cells.numbers[:-1])
    rest = np.nan_to_num(part_of(cells, "rest"))  # dates have none
    is_first[1:] |= rest[1:] != rest[:-1]
    place = np.append(np.cumsum(is_first) - 1, -1)
    values = cells.values.filter(pa.array(is_first))
    return replace(cells, codes=place[cells.codes], numbers=cells.numbers[is_first], values=values)


def together(first: Any, second: Any) -> Any:
    """Two columns one after the other, in a type that holds both: theirs, numbers, times or texts."""
    import pyarrow as pa

    parts = [_plain(first), _plain(second)]
    kinds = [part.type for part in parts]
    if kinds[0] != kinds[1]:
        numbers = all(map(_is_number, kinds))
        times = all(pa.types.is_date(kind) or pa.types.is_timestamp(kind) for kind in kinds)
        kind = pa.float64() if numbers else pa.timestamp("us") if times else pa.string()
        parts = [part.cast(kind, safe=False) for part in parts]
    return pa.concat_arrays(parts)


def _plain(column: Any) -> Any:
    import pyarrow as pa

    plain = whole(column)
    return plain.dictionary_decode() if pa.types.is_dictionary(plain.type) else plain


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_nested(column: Any) -> bool:
    """Whether cells are lists, structures, bytes or spans of time, which are neither numbers nor texts."""
    import pyarrow as pa

    of = pa.types
    return _is_bytes(column.type) or of.is_nested(column.type) or of.is_interval(column.type)


def _is_bytes(kind: Any) -> bool:
    import pyarrow as pa

    of = pa.types
    return bool(of.is_binary(kind) or of.is_large_binary(kind) or of.is_fixed_size_binary(kind))


def _as_texts(columns: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Columns of these names as texts, where they are nested."""
    import pyarrow as pa

    def texts(column: Any) -> Any:
        return pa.array([None if cell is None else str(cell) for cell in column.to_pylist()], pa.string())

    return {name: texts(c) if name in names and _is_nested(c) else c for name, c in columns.items()}
