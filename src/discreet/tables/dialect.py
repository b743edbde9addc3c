"""Pieces of SQL: the few places where engines differ, nulls, and which column types can serve as an alphabet."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "DUCKDB",
    "POSTGRES",
    "SPARK",
    "Dialect",
    "is_float",
    "is_id_type",
    "is_label_type",
    "is_null_type",
    "is_number",
    "literal",
    "plain_kind",
]

#: Edges of intervals that are all compared with every value; engines bound how deep an expression is.
MOST_TERMS = 200

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


def is_float(kind: str) -> bool:
    """Whether a type (in DuckDB's words) is a binary float, which knows NaN."""
    return kind in _FLOATS


def is_number(kind: str) -> bool:
    """Whether a type holds numbers."""
    return kind in _INTEGERS or is_float(kind) or kind.startswith("DECIMAL")


def is_label_type(kind: str) -> bool:
    """Whether the values of a type can be symbols; nested and binary values cannot."""
    return not kind.endswith("]") and (is_number(kind) or kind.startswith(_OTHERS))


def is_null_type(kind: str) -> bool:
    """Whether a type holds null alone."""
    return kind.strip('"') == "NULL"


def is_id_type(kind: str) -> bool:
    """Whether the values of a type read the same on every engine, as ids must: integers, text and UUIDs do."""
    return kind in _INTEGERS or kind in ("VARCHAR", "UUID")


def plain_kind(kind: str) -> str:
    """A type without the values that it lists, which are data: enumerations are text."""
    return "VARCHAR" if kind.startswith("ENUM") else kind


@dataclass(frozen=True)
class Dialect:
    """What differs between the SQL of engines."""

    name: str
    text: str  # the type of text
    mark: str  # around identifiers
    digest: str  # SHA-256 of a text, as lower-case hexadecimal digits
    stop: str  # an expression that fails with a message
    collation: str = ""  # makes text compare by its bytes
    double: str = "DOUBLE"  # the type of floats
    octets: str = "{}"  # text as its bytes, whatever order a column of text was given
    aggregated: str = ""  # texts of a group, sorted and joined by commas
    any_of: str = ""  # the value of one row of a group, chosen by a hash of columns
    list: str = "[{}]"  # several values in one
    bits: str = ""  # a float as the text of its bits, which tell one NaN from another; empty where none can be asked
    numbered: str = "hash({})"  # a number for several values, the same for the same ones

    def identifier(self, name: str) -> str:
        """A column name as SQL, whatever characters it holds."""
        return self.mark + name.replace(self.mark, self.mark * 2) + self.mark

    def sha256(self, text: str) -> str:
        """The digest of an expression."""
        return self.digest.format(text)

    def hashed(self, values: str) -> str:
        """A number of 64 bits that stands for values, and for few others."""
        return self.numbered.format(values)

    def joined(self, text: str) -> str:
        """All texts of a group in one, sorted."""
        return self.aggregated.format(text)

    def fail(self, message: str) -> str:
        """An expression that ends the query; the message holds no quotes."""
        return self.stop.format(message)

    def as_text(self, expression: str) -> str:
        """An expression as text."""
        return f"CAST({expression} AS {self.text})"

    def record(self, column: str | None, file: str, row: str) -> str:
        """The id of a record as text: of its column, or the place of the row where there is none."""
        if column is not None:
            return self.as_text(self.identifier(column))
        return f"{file} || ':' || {self.as_text(row)}"

    def value_or_null(self, name: str, kind: str) -> str:
        """The column as a symbol: NaN counts as null, so that every engine agrees on what is missing."""
        column = self.identifier(name)
        if is_float(kind):
            # Zero is one value, whatever its sign.
            return f"CASE WHEN isnan({column}) THEN NULL WHEN {column} = 0 THEN CAST(0 AS {kind}) ELSE {column} END"
        return self.as_text(column) if kind in _AS_TEXT or kind.startswith("ENUM") else column

    def published(self, name: str, kind: str) -> str:
        """The column so that cells which a reader can tell apart stay apart: NaN and null, -0 and 0, "a" and "A"."""
        column = self.identifier(name)
        if kind == "VARCHAR":
            return self.octets.format(column)
        if not is_float(kind):
            return self.value_or_null(name, kind)
        bits = f"WHEN isnan({column}) THEN {self.bits.format(column)} " if self.bits else ""
        return f"CASE {bits}ELSE {self.as_text(column)} END" if bits else self.as_text(column)

    def number_or_null(self, name: str, kind: str) -> str:
        """The column as a double: NaN and text that is no number are null."""
        column = f"TRY_CAST({self.identifier(name)} AS DOUBLE)"
        return column if kind not in ("VARCHAR", *_FLOATS) else f"CASE WHEN isnan({column}) THEN NULL ELSE {column} END"

    def symbol(self, name: str, kind: str, edges: Sequence[float] | None) -> str:
        """The column as it is counted: the number of its interval where it is cut into such, else its value."""
        if edges is None:
            return self.value_or_null(name, kind)
        return self.bin_code(self.number_or_null(name, kind), edges)

    def bin_code(self, number: str, edges: Sequence[float]) -> str:
        """Number of the interval that a value falls in: how many edges are at most the value."""
        tests = [f"{number} >= CAST('{edge!r}' AS {self.double})" for edge in edges]
        if len(tests) > MOST_TERMS:
            return f"CASE WHEN {number} IS NOT NULL THEN {_search(tests, 0)} END"
        return f"({' + '.join(f'CAST({test} AS INTEGER)' for test in tests)})"

    def quantiles(self, number: str, shares: Sequence[float]) -> str:
        """The values that so large shares of the records do not exceed, as one list."""
        listed = self.list.format(", ".join(f"{share:.17e}" for share in shares))  # doubles, and no decimals, anywhere
        return f"percentile_disc({listed}) WITHIN GROUP (ORDER BY {number})"


DUCKDB = Dialect(
    "duckdb",
    "VARCHAR",
    '"',
    "sha256({})",
    "error('{}')",
    octets="encode({})",
    aggregated="string_agg({0}, ',' ORDER BY {0})",
    any_of="arg_min({0}, hash({1}))",
    bits="CAST(CAST({} AS BIT) AS VARCHAR)",
)
SPARK = Dialect(
    "spark",
    "STRING",
    "`",
    "sha2({}, 256)",
    "raise_error('{}')",
    aggregated="concat_ws(',', array_sort(collect_list({})))",
    any_of="min_by({0}, xxhash64({1}))",
    list="array({})",
    numbered="xxhash64({})",
)
POSTGRES = Dialect(
    "postgres",
    "TEXT",
    '"',
    "encode(sha256(convert_to({}, 'UTF8')), 'hex')",
    "CAST(CAST('{}' AS TEXT) || substr(CAST(random() AS TEXT), 1, 0) AS INTEGER)::TEXT",
    ' COLLATE "C"',
    "DOUBLE PRECISION",
)


def _search(tests: Sequence[str], passed: int) -> str:
    """How many of increasing tests hold, by halves: a few comparisons for a record, and no deep expression."""
    if not tests:
        return str(passed)
    middle = len(tests) // 2
    above, below = _search(tests[middle + 1 :], passed + middle + 1), _search(tests[:middle], passed)
    return f"CASE WHEN {tests[middle]} THEN {above} ELSE {below} END"


def literal(text: str) -> str:
    """A text as a literal of DuckDB."""
    return "'" + text.replace("'", "''") + "'"
