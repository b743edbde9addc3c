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
from discreet.core.joint import Joint
from discreet.tables.arrow import numbers
from discreet.tables.binning import Quantiles, parse_bins
from discreet.tables.coding import Codes, codes_of, symbol_codes
from discreet.tables.dialect import is_label_type, is_number
from discreet.tables.session import Table
from discreet.tables.wide import count_lines, has_many_useful

__all__ = [
    "Grouped",
    "Lines",
    "Pairs",
    "check_kinds",
    "columns_to_count",
    "count_pairs",
    "count_values",
    "group",
    "group_pairs",
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
    return group_pairs(source, sensitive, useful, bins=bins).joint()


def count_values(source: Table, useful: str | Sequence[str], *, bins: Mapping[str, Any] | None = None) -> Joint:
    """Count the values of columns alone, as a joint with one nameless sensitive value."""
    return _grouped(source, (), validate.as_columns(useful, "useful"), bins).joint()


def columns_to_count(sensitive: str | Sequence[str], useful: str | Sequence[str]) -> tuple[str, ...]:
    """All columns that a count reads; none of them is sensitive and useful at once."""
    rows, columns = validate.as_columns(sensitive, "sensitive"), validate.as_columns(useful, "useful")
    shared = [name for name in rows if name in columns]
    if shared:
        raise InputError(f"column {shared[0]!r} is both sensitive and useful: releasing it would publish the secret.")
    return (*rows, *columns)


def group_pairs(
    source: Table,
    sensitive: str | Sequence[str],
    useful: str | Sequence[str],
    *,
    bins: Mapping[str, Any] | None = None,
) -> Grouped | Lines:
    """All that has to be asked of an open table; what is made of it can wait until the table has freed its memory."""
    columns_to_count(sensitive, useful)
    return _grouped(source, validate.as_columns(sensitive, ""), validate.as_columns(useful, ""), bins)


class Pairs(NamedTuple):
    """The pairs of values that occur, by code, and how many records carry each."""

    row: Codes
    column: Codes
    records: Codes
    sensitive: Sequence[Any]
    useful: Sequence[Any]


class Grouped(NamedTuple):
    """The combinations of cells that occur, as Arrow has them; the last column tells how many records carry each."""

    cells: Any
    sensitive_columns: tuple[str, ...]
    useful_columns: tuple[str, ...]
    bins: Mapping[str, tuple[float, ...]]

    def pairs(self) -> Pairs:
        """The same by code."""
        wanted, n_rows = (*self.sensitive_columns, *self.useful_columns), len(self.sensitive_columns)
        parts = codes_of(self.cells, wanted, self.bins)
        records = numbers(self.cells.column(len(wanted)))
        row, sensitive = symbol_codes(parts[:n_rows]) if n_rows else (np.zeros(len(records), dtype=np.int64), [None])
        column, useful = symbol_codes(parts[n_rows:])
        _warn_of_many(useful, self.useful_columns)
        return Pairs(row, column, records, sensitive, useful)

    def joint(self) -> Joint:
        """The counts as a joint, which is dense."""
        row, column, records, sensitive, useful = self.pairs()
        dense = _no_counts(sensitive, useful)
        dense[row, column] = records
        return _joint(self, dense, sensitive, useful)


class Lines(NamedTuple):
    """The same where useful values are many: a line for each, with a column of counts for each sensitive one."""

    values: Any
    lines: Any
    sensitive_columns: tuple[str, ...]
    useful_columns: tuple[str, ...]
    bins: Mapping[str, tuple[float, ...]]

    def joint(self) -> Joint:
        """The counts as a joint, which is dense."""
        row, sensitive = _distinct_codes(self.values, self.sensitive_columns, self.bins)
        column, useful = _distinct_codes(self.lines, self.useful_columns, self.bins)
        _warn_of_many(useful, self.useful_columns)
        dense = _no_counts(sensitive, useful)
        for k, s in enumerate(row.tolist()):
            dense[s, column] = numbers(self.lines.column(len(self.useful_columns) + k))
        return _joint(self, dense, sensitive, useful)

    def pairs(self) -> Pairs:
        """The pairs that occur, by code."""
        joint = self.joint()
        counts = np.asarray(joint.counts)
        row, column = np.nonzero(counts)
        return Pairs(row, column, counts[row, column], joint.sensitive, joint.alphabet)


def _distinct_codes(
    cells: Any, columns: tuple[str, ...], bins: Mapping[str, tuple[float, ...]]
) -> tuple[Codes, Sequence[Any]]:
    """Codes of lines that differ, so that a single column has no cell twice."""
    return symbol_codes(codes_of(cells, columns, bins, distinct=len(columns) == 1))


def _warn_of_many(useful: Sequence[Any], columns: Sequence[str]) -> None:
    if len(useful) > MANY_VALUES:
        warnings.warn(
            f"{' + '.join(columns)} takes {len(useful)} distinct values, as an identifier would. "
            "Bin it or choose fewer columns if that is not meant.",
            DiscreetWarning,
            stacklevel=5,
        )


def _no_counts(sensitive: Sequence[Any], useful: Sequence[Any]) -> IntArray:
    if len(sensitive) * len(useful) > MOST_CELLS:
        raise UnusableColumnError(
            f"{len(sensitive)} sensitive times {len(useful)} useful values are more than {MOST_CELLS} pairs. "
            "Bin the columns or choose fewer."
        )
    return np.zeros((len(sensitive), len(useful)), dtype=np.int64)


def _joint(found: Grouped | Lines, counts: IntArray, sensitive: Sequence[Any], useful: Sequence[Any]) -> Joint:
    return Joint.counted(
        counts,
        sensitive=tuple(sensitive),
        useful=useful,
        sensitive_columns=found.sensitive_columns,
        useful_columns=found.useful_columns,
        bins=found.bins,
    )


def _grouped(
    source: Table, rows: tuple[str, ...], columns: tuple[str, ...], bins: Mapping[str, Any] | None
) -> Grouped | Lines:
    wanted = (*rows, *columns)
    rules = parse_bins(bins)
    for name in rules:
        if name not in wanted:
            raise InputError(f"bins name the column {name!r}, which is neither sensitive nor useful.")
    validate.columns_exist(wanted, list(source.kinds), source.name)
    check_kinds(wanted, source.kinds, rules)
    edges = _edges(source, rules)
    symbols = [source.dialect.symbol(c, source.kinds[c], edges.get(c)) for c in wanted]
    s, x = symbols[: len(rows)], symbols[len(rows) :]
    if rows and has_many_useful(source, x):
        with progress.stage("counting"):
            lines = count_lines(source, s, x)
        if lines is not None:
            return Lines(*lines, rows, columns, edges)
    cells = group(source, symbols)
    if cells.num_rows == 0:
        raise EmptyTableError(f"{source.name} has no rows.")
    return Grouped(cells, rows, columns, edges)


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
