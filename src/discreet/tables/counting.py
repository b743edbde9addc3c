"""Joints counted from open tables, by one GROUP BY inside the engine that holds them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from discreet._support import progress, validate
from discreet._support.errors import DiscreetWarning, EmptyTableError, InputError, UnusableColumnError
from discreet._support.numeric import IntArray
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.tables.arrow import integers
from discreet.tables.binning import Quantiles, interval_text, parse_bins
from discreet.tables.dialect import is_label_type, is_number
from discreet.tables.session import Table

__all__ = [
    "Pairs",
    "check_kinds",
    "column_codes",
    "columns_to_count",
    "count_pairs",
    "count_values",
    "dictionary_of",
    "group",
    "list_pairs",
    "symbol_codes",
]

#: A useful alphabet of more values is probably an identifier, and warns.
MANY_VALUES = 100_000

#: Cells of a dense joint; more would not fit in the memory of an ordinary machine.
MOST_CELLS = 50_000_000


def count_pairs(
    source: Table,
    sensitive: str | Sequence[str],
    useful: str | Sequence[str],
    *,
    bins: Mapping[str, Any] | None = None,
) -> Joint:
    """Count the pairs of sensitive and useful values of an open table; see `Joint.from_table`."""
    return _dense(list_pairs(source, sensitive, useful, bins=bins))


def count_values(source: Table, useful: str | Sequence[str], *, bins: Mapping[str, Any] | None = None) -> Joint:
    """Count the values of columns alone, as a joint with one nameless sensitive value."""
    return _dense(_listed(source, (), validate.as_columns(useful, "useful"), bins))


def columns_to_count(sensitive: str | Sequence[str], useful: str | Sequence[str]) -> tuple[str, ...]:
    """All columns that a count reads; none of them is sensitive and useful at once."""
    rows, columns = validate.as_columns(sensitive, "sensitive"), validate.as_columns(useful, "useful")
    shared = [name for name in rows if name in columns]
    if shared:
        raise InputError(f"column {shared[0]!r} is both sensitive and useful: releasing it would publish the secret.")
    return (*rows, *columns)


def _dense(pairs: Pairs) -> Joint:
    n_sensitive, n_useful = len(pairs.sensitive), len(pairs.useful)
    if n_sensitive * n_useful > MOST_CELLS:
        raise UnusableColumnError(
            f"{n_sensitive} sensitive times {n_useful} useful values are more than {MOST_CELLS} pairs. "
            "Bin the columns or choose fewer."
        )
    dense = np.zeros((n_sensitive, n_useful), dtype=np.int64)
    dense[pairs.row, pairs.column] = pairs.records
    return Joint.from_counts(
        dense,
        sensitive=pairs.sensitive,
        useful=pairs.useful,
        sensitive_columns=pairs.sensitive_columns,
        useful_columns=pairs.useful_columns,
        bins=pairs.bins,
    )


class Pairs(NamedTuple):
    """The pairs of values that occur, by code, and how many records carry each."""

    row: IntArray
    column: IntArray
    records: IntArray
    sensitive: Sequence[Any]
    useful: Sequence[Any]
    sensitive_columns: tuple[str, ...]
    useful_columns: tuple[str, ...]
    bins: Mapping[str, tuple[float, ...]]


def list_pairs(
    source: Table,
    sensitive: str | Sequence[str],
    useful: str | Sequence[str],
    *,
    bins: Mapping[str, Any] | None = None,
) -> Pairs:
    """The pairs that occur in an open table, as many as there are distinct ones."""
    columns_to_count(sensitive, useful)
    return _listed(source, validate.as_columns(sensitive, ""), validate.as_columns(useful, ""), bins)


def _listed(source: Table, rows: tuple[str, ...], columns: tuple[str, ...], bins: Mapping[str, Any] | None) -> Pairs:
    wanted = (*rows, *columns)
    rules = parse_bins(bins)
    for name in rules:
        if name not in wanted:
            raise InputError(f"bins name the column {name!r}, which is neither sensitive nor useful.")
    validate.columns_exist(wanted, list(source.kinds), source.name)
    check_kinds(wanted, source.kinds, rules)
    edges = _edges(source, rules)
    cells = group(source, [source.dialect.symbol(c, source.kinds[c], edges.get(c)) for c in wanted])
    if cells.num_rows == 0:
        raise EmptyTableError(f"{source.name} has no rows.")
    alphabets = [column_codes(cells.column(k), c, edges.get(c)) for k, c in enumerate(wanted)]
    return _assemble(rows, columns, alphabets, integers(cells.column(len(wanted))), edges)


def check_kinds(wanted: Sequence[str], kinds: Mapping[str, str], rules: Mapping[str, Any]) -> None:
    """All columns can be counted, those with rules in intervals."""
    for column in wanted:
        kind = kinds[column]
        if column in rules:
            if not is_number(kind) and kind != "VARCHAR":
                raise UnusableColumnError(f"column {column!r} is of type {kind}, so it cannot be cut into intervals.")
        elif not is_label_type(kind):
            raise UnusableColumnError(
                f"column {column!r} is of type {kind}, whose values cannot be symbols. Cast it to text or a number."
            )


def _edges(source: Table, rules: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    """Explicit edges as they are, quantiles as found in the data."""
    result = {}
    for column, rule in rules.items():
        if source.kinds[column] == "VARCHAR":
            _check_all_numbers(source, column)
        result[column] = _quantile_edges(source, column, rule) if isinstance(rule, Quantiles) else rule
    return result


def _check_all_numbers(source: Table, column: str) -> None:
    name = source.dialect.identifier(column)
    counted = source.aggregate(
        f"count(*) FILTER (WHERE {name} IS NOT NULL AND TRY_CAST({name} AS DOUBLE) IS NULL) AS n"
    )
    wrong = counted.column(0)[0].as_py()
    if wrong:
        raise UnusableColumnError(
            f"column {column!r} has {wrong} values that are not numbers, so it cannot be cut into intervals. "
            "Empty those cells first: nulls stay a symbol of their own."
        )


def _quantile_edges(source: Table, column: str, rule: Quantiles) -> tuple[float, ...]:
    number = source.dialect.number_or_null(column, source.kinds[column])
    numbers = source.aggregate(f"count({number}) AS n").column(0)[0].as_py()
    # Half a record below the last of every interval: engines round k / rule to other records at times.
    shares = [(math.ceil(Fraction(k * numbers, rule)) - 0.5) / numbers for k in range(1, rule)] if numbers else []
    found = source.aggregate(f"{source.dialect.quantiles(number, shares)} AS q").column(0)[0].as_py() if shares else []
    edges = tuple(sorted({float(edge) for edge in found if edge is not None}))
    if not edges or not all(np.isfinite(edges)):
        raise UnusableColumnError(f"column {column!r} has no finite numbers to take quantiles of.")
    return edges


def group(source: Table, expressions: Sequence[str]) -> Any:
    """Arrow table of the distinct combinations and how many rows carry each."""
    named = [f"{expression} AS c{k}" for k, expression in enumerate(expressions)]
    with progress.stage("counting"):
        return source.aggregate(", ".join([*named, "count(*) AS n"]), ", ".join(expressions))


def column_codes(cells: Any, column: str, edges: Sequence[float] | None) -> tuple[IntArray, list[Any]]:
    """Codes of the cells and the labels they stand for, in the order of the alphabet."""
    encoded = dictionary_of(cells)
    try:
        values = encoded.dictionary.to_pylist()
    except (OverflowError, ValueError):
        raise UnusableColumnError(
            f"column {column!r} has dates or times beyond the years 1 to 9999. Cast it to text."
        ) from None
    order = sorted(range(len(values)), key=lambda k: labels.sort_key(values[k]))
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values))
    ordered = [values[k] for k in order]
    if edges is not None:
        ordered = [None if code is None else interval_text(code, edges) for code in ordered]
    return rank[integers(encoded.indices)], ordered


def dictionary_of(cells: Any) -> Any:
    """Cells as codes of a dictionary, in which null has a place too."""
    encoded = cells.combine_chunks().dictionary_encode(null_encoding="encode")
    # Some versions keep a chunked array of one chunk.
    return encoded.chunk(0) if hasattr(encoded, "chunks") else encoded


def _assemble(
    rows: tuple[str, ...],
    columns: tuple[str, ...],
    alphabets: Sequence[tuple[IntArray, list[Any]]],
    counts: IntArray,
    edges: Mapping[str, tuple[float, ...]],
) -> Pairs:
    row, sensitive = symbol_codes(alphabets[: len(rows)]) if rows else (np.zeros(len(counts), dtype=np.int64), [None])
    column, useful = symbol_codes(alphabets[len(rows) :])
    if len(useful) > MANY_VALUES:
        warnings.warn(
            f"{' + '.join(columns)} takes {len(useful)} distinct values, as an identifier would. "
            "Bin it or choose fewer columns if that is not meant.",
            DiscreetWarning,
            stacklevel=6,
        )
    return Pairs(row, column, counts, sensitive, useful, rows, columns, edges)


def symbol_codes(parts: Sequence[tuple[IntArray, Sequence[Any]]]) -> tuple[IntArray, Sequence[Any]]:
    """One column as it is, several as tuples in lexicographic order."""
    if len(parts) == 1:
        return parts[0]
    codes = np.stack([code for code, _ in parts], axis=1)
    distinct, place = np.unique(codes, axis=0, return_inverse=True)
    names = [tuple(part[1][k] for part, k in zip(parts, line)) for line in distinct.tolist()]
    return place.reshape(-1), names
