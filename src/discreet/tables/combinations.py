"""What occurs together with further columns, counted in as few and as light passes as that takes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet._support.errors import InternalError
from discreet._support.numeric import IntArray
from discreet.tables import coding, counting
from discreet.tables.arrow import integers
from discreet.tables.session import Table

__all__ = ["Combinations", "about_distinct", "count_distinct", "count_rows", "list_combinations"]


class Combinations(NamedTuple):
    """The combinations of sensitive, useful and further values that occur, by code, and how many records carry each.

    ``beside`` has a column of codes for each of the further columns, whose values themselves are not listed.
    """

    row: IntArray
    column: IntArray
    beside: IntArray
    records: IntArray
    sensitive: Sequence[Any]
    useful: Sequence[Any]


def list_combinations(
    source: Table,
    sensitive: Sequence[str],
    useful: Sequence[str],
    beside: Sequence[str],
    *,
    bins: Mapping[str, tuple[float, ...]],
    known: Mapping[str, Sequence[Any]] | None = None,
) -> Combinations:
    """What occurs together, with further columns told apart as their readers can; one GROUP BY.

    Parameters
    ----------
    known : mapping, optional
        All values of some sensitive or useful columns, in their order. Texts among them are grouped by numbers that
        stand for them, which takes half the time.
    """
    wanted = (*sensitive, *useful)
    counting.check_kinds(wanted, source.kinds, bins)
    short = {c: hashes for c in wanted if (hashes := _hashes(source, c, bins, known or {})) is not None}
    symbols = [source.dialect.symbol(c, source.kinds[c], bins.get(c)) for c in wanted]
    keys = [source.dialect.hashed(s) if c in short else s for c, s in zip(wanted, symbols)]
    cells = counting.group(source, [*keys, *(source.dialect.published(c, source.kinds[c]) for c in beside)])
    alphabets = [
        _decoded(cells.column(k), short[c], (known or {})[c])
        if c in short
        else coding.column_codes(cells.column(k), c, bins.get(c))
        for k, c in enumerate(wanted)
    ]
    row, sensitive_values = coding.symbol_codes(alphabets[: len(sensitive)])
    column, useful_values = coding.symbol_codes(alphabets[len(sensitive) :])
    further = [integers(coding.dictionary_of(cells.column(len(wanted) + k)).indices) for k in range(len(beside))]
    codes = np.stack(further, axis=1) if further else np.zeros((len(row), 0), dtype=np.int64)
    records = integers(cells.column(cells.num_columns - 1))
    places = row.astype(np.int64), column.astype(np.int64)
    return Combinations(*places, codes, records, sensitive_values, useful_values)


def _hashes(source: Table, column: str, bins: Mapping[str, Any], known: Mapping[str, Sequence[Any]]) -> IntArray | None:
    """A number for each known text of a column; None where they are no texts, or two of them share one."""
    if source.kinds[column] != "VARCHAR" or column in bins or column not in known:
        return None
    numbers = source.hashes_of(known[column])
    return numbers if numbers is not None and len(np.unique(numbers)) == len(numbers) else None


def _decoded(cells: Any, hashes: IntArray, values: Sequence[Any]) -> tuple[IntArray, Sequence[Any]]:
    """Codes of cells that stand for texts."""
    order = np.argsort(hashes)
    found = integers(cells)
    place = np.minimum(np.searchsorted(hashes, found, sorter=order), len(order) - 1)
    if len(found) and not np.array_equal(hashes[order[place]], found):
        raise InternalError("a table holds texts that it did not hold when it was counted.")
    codes: IntArray = order[place].astype(np.int64)
    return codes, values


def count_rows(source: Table) -> int:
    """Number of rows, which files of Parquet state."""
    return int(source.aggregate("count(*) AS n").column(0)[0].as_py())


def count_distinct(source: Table, expressions: Sequence[str]) -> list[int]:
    """How many different values each expression takes, in one pass; nulls count for nothing."""
    return _asked(source, [f"count(DISTINCT {expression})" for expression in expressions])


def about_distinct(source: Table, sets: Sequence[Sequence[str]]) -> list[int]:
    """About how many combinations of values each set of expressions takes, in one pass; every cell is hashed once."""
    hashed = source.dialect.hashed
    numbers = [hashed(", ".join(map(hashed, expressions))) for expressions in sets]
    return _asked(source, [f"approx_count_distinct({number})" for number in numbers])


def _asked(source: Table, numbers: Sequence[str]) -> list[int]:
    if not numbers:
        return []
    found = source.aggregate(", ".join(f"{number} AS d{k}" for k, number in enumerate(numbers)))
    return [int(column[0].as_py()) for column in found.columns]
