"""Pieces of SQL: quoting, nulls, and which column types can serve as an alphabet."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "bin_code",
    "identifier",
    "is_float",
    "is_label_type",
    "is_number",
    "literal",
    "number_or_null",
    "value_or_null",
]

_INTEGERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
)
_FLOATS = ("FLOAT", "DOUBLE", "REAL")
#: Types with values that Python cannot hold exactly, or knows under several names.
_AS_TEXT = ("UUID", "HUGEINT", "UHUGEINT", "TIME", "TIME WITH TIME ZONE", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE")
_OTHERS = ("VARCHAR", "BOOLEAN", "DATE", "TIME", "TIMESTAMP", "DECIMAL", "ENUM", "UUID")


def identifier(name: str) -> str:
    """A column name as SQL, whatever characters it holds."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def is_float(kind: str) -> bool:
    """Whether a DuckDB type is a binary float, which knows NaN."""
    return kind in _FLOATS


def is_number(kind: str) -> bool:
    """Whether a DuckDB type holds numbers."""
    return kind in _INTEGERS or is_float(kind) or kind.startswith("DECIMAL")


def is_label_type(kind: str) -> bool:
    """Whether the values of a DuckDB type can be symbols; nested and binary values cannot."""
    return not kind.endswith("]") and (is_number(kind) or kind.startswith(_OTHERS))


def value_or_null(name: str, kind: str) -> str:
    """The column as a symbol: NaN counts as null, so that every engine agrees on what is missing."""
    column = identifier(name)
    if is_float(kind):
        return f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END"
    return f"CAST({column} AS VARCHAR)" if kind in _AS_TEXT or kind.startswith("ENUM") else column


def number_or_null(name: str, kind: str) -> str:
    """The column as a double: NaN and text that is no number are null."""
    column = f"TRY_CAST({identifier(name)} AS DOUBLE)"
    return column if kind not in ("VARCHAR", *_FLOATS) else f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END"


def bin_code(number: str, edges: Sequence[float]) -> str:
    """Number of the interval that a value falls in: how many edges are at most the value."""
    return "(" + " + ".join(f"CAST({number} >= CAST('{edge!r}' AS DOUBLE) AS INTEGER)" for edge in edges) + ")"
