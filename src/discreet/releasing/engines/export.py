"""The draw as portable SQL: lookup tables and one query, for engines that discreet does not drive itself."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from discreet._support.errors import InputError
from discreet._support.visible import is_hidden, visible
from discreet.drawing.lookup import key_values, value_rows
from discreet.drawing.statement import Joined, Statement, joined_tables
from discreet.drawing.thresholds import draws_of, row_digits
from discreet.mechanism import Mechanism
from discreet.tables.dialect import DUCKDB, POSTGRES, SPARK, Dialect, literal
from discreet.tables.session import OWN

__all__ = ["KEY_TABLE", "export_sql"]

DIALECTS = {"duckdb": DUCKDB, "postgres": POSTGRES, "spark": SPARK}

#: Table of sub-keys that the user makes: (draw INTEGER, subkey TEXT). No key is ever part of the printed SQL.
KEY_TABLE = f"{OWN}key"

#: Where Spark sees a variable, in literals and in names alike.
VARIABLE = "${"

_SHARED: dict[type, str] = {bool: "BOOLEAN", int: "BIGINT", dt.date: "DATE"}
_TYPES: dict[str, dict[type, str]] = {
    "duckdb": {**_SHARED, str: "VARCHAR", float: "DOUBLE", dt.datetime: "TIMESTAMP"},
    "postgres": {**_SHARED, str: "TEXT", float: "DOUBLE PRECISION", dt.datetime: "TIMESTAMP"},
    "spark": {**_SHARED, str: "STRING", float: "DOUBLE", dt.datetime: "TIMESTAMP_NTZ"},
}


def export_sql(mechanism: Mechanism, dialect: str, *, table: str, id: str, rename: str | None = None) -> list[str]:
    """Statements that draw a release: lookup tables, then the query over ``table``.

    The query reads sub-keys from a table ``discreet_key (draw, subkey)``, which whoever runs it fills with
    `ReleaseKey.subkey` of every draw; it gives the same bits as a release with that key. A mechanism in values gives
    values, in the widest type of their kind. Texts are compared by their bytes, whatever the collation of the column,
    and the statements hold no character that cannot be seen.
    """
    if dialect not in DIALECTS:
        raise InputError(f"SQL can be had for {', '.join(DIALECTS)}, not for {dialect!r}.")
    words = DIALECTS[dialect]
    draws = joined_tables(draws_of(mechanism))
    released = mechanism.released_columns(rename)
    _check_names(words, [table, id, *released, *(column for joined in draws for column in joined.draw.inputs)])
    names, statements = {}, []
    for joined in draws:
        statements += _tables(words, mechanism, joined)
        names[joined.symbols] = _with_subkey(words, mechanism, joined)
    keys = {
        column: _key(words, mechanism, joined, k) for joined in draws for k, column in enumerate(joined.draw.inputs)
    }
    record = words.as_text(words.identifier(id))
    output: list[tuple[str | int, str]] = [(id, id), *enumerate(released)]
    hint = ""
    if words is SPARK:
        aliases = [alias for j in draws for alias in (j.inner("w"), *([j.inner("v")] if j.is_apart else []))]
        aliases += [joined.inner("z") for joined in draws if joined.is_in_values]
        hint = f"/*+ BROADCAST({', '.join(aliases)}) */ "
    query = Statement(
        words, words.identifier(table), keys, record, draws, tuple(output), (f"{OWN}id",), hint, names=names
    )
    return [*statements, query.text()]


def _key(words: Dialect, mechanism: Mechanism, joined: Joined, place: int) -> str:
    """The value that is looked up of a column: NaN is null, and a binned column is the number of its interval."""
    column = joined.draw.inputs[place]
    name = words.identifier(column)
    number = f"CAST({name} AS {words.double})"
    missing = (
        f"NULLIF({number}, 'NaN')" if words is POSTGRES else f"CASE WHEN isnan({number}) THEN NULL ELSE {number} END"
    )
    if column in mechanism.bins:
        return words.bin_code(missing, mechanism.bins[column])
    kind = _kind_at(joined, place)
    return missing if kind is float else _by_bytes(words, name) if kind is str else name


def _check_names(words: Dialect, names: Sequence[str]) -> None:
    """Names that read in the statements as they do in the engine; for others there is no spelling in every dialect."""
    for name in names:
        if visible(name) != name:
            raise InputError(f"the name {name!r} has control or invisible characters. Rename that table or column.")
        if words is SPARK and VARIABLE in name:
            raise InputError(f"Spark takes {VARIABLE!r} in the name {name!r} for a variable. Rename that column.")


def _by_bytes(words: Dialect, text: str) -> str:
    """A text as it is compared: by its bytes, though the column may have a collation that ignores case."""
    if words is DUCKDB:
        return f"encode({words.as_text(text)})"
    return f"{words.as_text(text)}{words.collation}" if words is POSTGRES else text  # Spark mixes no collations


def _kind_at(joined: Joined, place: int) -> type:
    return _kind([symbol[place] for symbol in joined.draw.symbols])


def _kind(values: Sequence[Any]) -> type:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return float
    if kinds - {str, bool, int, float, dt.date, dt.datetime} or len(kinds) > 1:
        raise InputError("values of mixed or rare types have no portable SQL. Cast the column to text and design anew.")
    return kinds.pop() if kinds else str


def _is_text(mechanism: Mechanism, joined: Joined, place: int) -> bool:
    """Whether a column is looked up as text; a binned one is by the number of its interval."""
    return joined.draw.inputs[place] not in mechanism.bins and _kind_at(joined, place) is str


def _with_subkey(words: Dialect, mechanism: Mechanism, joined: Joined) -> str:
    """The table of symbols with prefixes made from the sub-key at hand."""
    made = ["k.subkey || w.d AS p"]
    if joined.lookup is None:
        bits = range(len(joined.draw.symbols))
        subkeys = [words.sha256(f"k.subkey || 'bit{bit}'") for bit in bits]
        made += [f"substr({subkey}, 1, 32) || w.d AS b{bit}_" for bit, subkey in zip(bits, subkeys)]
    texts = [f"i{k}" for k in range(len(joined.draw.inputs)) if words is DUCKDB and _is_text(mechanism, joined, k)]
    replaced = ", ".join(f"{_by_bytes(words, f'w.{name}')} AS {name}" for name in texts)
    every = f"w.* REPLACE ({replaced})" if texts else "w.*"
    return (
        f"(SELECT {every}, {', '.join(made)} FROM {joined.symbols} AS w CROSS JOIN {KEY_TABLE} AS k "
        f"WHERE k.draw = {joined.number})"
    )


def _tables(words: Dialect, mechanism: Mechanism, joined: Joined) -> list[str]:
    draw = joined.draw
    symbols = [key_values(symbol, draw.inputs, mechanism.bins) for symbol in draw.symbols]
    types = _TYPES[words.name]
    columns = [(f"i{k}", types[_kind([symbol[k] for symbol in symbols])]) for k in range(len(draw.inputs))]
    columns += [("d", types[str]), ("r", types[int])]
    rows = [(*symbol, row_digits(row), row) for row, symbol in enumerate(symbols)]
    if joined.lookup is not None and not joined.is_apart:
        columns += [(name, types[str]) for name in joined.lookup.names]
        rows = [(*row, *rest[2:]) for row, rest in zip(rows, joined.lookup.rows)]
    made = _table(words, joined.symbols, columns, rows)
    if joined.is_apart:
        assert joined.lookup is not None
        apart = [("r", types[int]), ("d", types[str])]
        apart += [(name, types[str]) for name in joined.lookup.names]
        made += _table(words, joined.thresholds, apart, list(joined.lookup.rows))
    if joined.is_in_values:
        rows = value_rows(draw.draw)
        kinds = [types[_kind([row[k] for row in rows])] for k in range(1, len(rows[0]))]
        typed = [("y", types[str]), *((f"v{k}", kind) for k, kind in enumerate(kinds))]
        made += _table(words, joined.values, typed, rows)
    return made


def _table(words: Dialect, name: str, columns: Sequence[tuple[str, str]], rows: Sequence[tuple[Any, ...]]) -> list[str]:
    lines = ",\n".join("(" + ", ".join(_literal(words, value) for value in row) + ")" for row in rows)
    if words is SPARK:
        typed = ", ".join(f"CAST({column} AS {kind}) AS {column}" for column, kind in columns)
        names = ", ".join(column for column, _ in columns)
        return [f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT {typed} FROM VALUES\n{lines} AS t({names})"]
    declared = ", ".join(f"{column} {kind}" for column, kind in columns)
    return [f"CREATE TEMPORARY TABLE {name} ({declared})", f"INSERT INTO {name} VALUES\n{lines}"]


def _literal(words: Dialect, value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | Decimal):
        return str(value)
    return _TEXTS[words.name](repr(value) if isinstance(value, float) else str(value))


def _duckdb_text(text: str) -> str:
    """Literals joined with characters by their number, since there are no escapes; ``''`` where there is nothing."""
    shown: list[str] = []
    for hidden, group in itertools.groupby(text, is_hidden):
        run = "".join(group)
        shown += [f"chr({ord(character)})" for character in run] if hidden else [literal(run)]
    return " || ".join(shown) or "''"


def _postgres_text(text: str) -> str:
    """A plain literal, or one with escapes, whose backslashes mean the same whatever the server's settings say."""
    if "\0" in text:
        raise InputError("a value holds the character 0, which PostgreSQL cannot store. Design on a cleaned column.")
    escaped = _with_code_points(text.replace("\\", "\\\\"))
    return literal(text) if escaped == text else f"E{literal(escaped)}"


def _spark_text(text: str) -> str:
    """A literal with escapes, in which nothing reads as a variable."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace(VARIABLE, "\\u0024{")
    return f"'{_with_code_points(escaped)}'"


def _with_code_points(text: str) -> str:
    """What cannot be seen, by its number."""
    return "".join(
        c if not is_hidden(c) else f"\\u{ord(c):04x}" if ord(c) < 1 << 16 else f"\\U{ord(c):08x}" for c in text
    )


_TEXTS = {"duckdb": _duckdb_text, "postgres": _postgres_text, "spark": _spark_text}
