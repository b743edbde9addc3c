"""Tables, opened once: one connection with its limits, the place of every row, and the questions that are asked.

Whoever needs a table is handed an open one: counting, checks, the draw, digests and verification all ask the same
connection, under the same memory limit, and what does not fit into memory goes to a folder that its owner alone may
read.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import duckdb
import numpy as np

from discreet._support import validate
from discreet._support.errors import InputError, UnusableColumnError
from discreet._support.numeric import IntArray
from discreet.tables import frames, stretches
from discreet.tables.arrow import column_of, integers
from discreet.tables.arrow import texts as as_column
from discreet.tables.dialect import DUCKDB, Dialect, literal
from discreet.tables.digest import Content, FilesDigest, ordered_digest, relation_digest
from discreet.tables.files import (
    FileIdentity,
    check_identity,
    check_names,
    csv_reader,
    existing_files,
    hive_columns,
    is_parquet,
    parquet_names,
    readable,
    table_root,
)
from discreet.tables.parquet_types import check_types
from discreet.tables.pinned import pinned
from discreet.tables.spill import private_folder

__all__ = ["FILE", "OWN", "ROW", "DuckDBTable", "Limits", "Table", "connect", "is_spark", "open_table"]

#: Put before the names that discreet makes up, so that they never meet a column of the user's.
OWN = "discreet_"

#: Columns that hold the place of a row. The file's name is relative to the table's root, and empty in memory.
FILE, ROW = f"{OWN}file", f"{OWN}row"

#: An integer id whose range is at most this many times the number of rows is counted in a bitmap.
WIDEST_RANGE, MOST_BITS = 32, 1 << 32


class Table(Protocol):
    """A table that an engine holds, open for questions."""

    name: str  # for messages
    dialect: Dialect
    kinds: dict[str, str]  # type of each column, in DuckDB's words
    has_stable_rows: bool  # whether the place of a row can serve as its id

    def aggregate(self, select: str, by: str = "") -> Any:
        """Arrow table of expressions over the rows, grouped by expressions."""
        ...

    def repeated(self, column: str) -> tuple[int, int]:
        """Rows without an id, and rows beyond the first of every id."""
        ...

    def hashes_of(self, texts: Sequence[str | None]) -> IntArray | None:
        """The number that `Dialect.hashed` gives each text; None where asking would cost more than it saves."""
        ...

    def in_order(self, expressions: Sequence[str], by: str | None, rows: int, read: Sequence[str]) -> list[Any]:
        """Arrow columns of expressions, in the order of rows or in that of the ids in the column ``by``.

        Integers come as numbers and text as text, byte by byte. Long tables show stretches of themselves, a million
        rows or so, for the cost of reading the columns: once, and the ids twice. The order of some engines depends on
        which columns are ``read``.
        """
        ...

    def smallest(self, expressions: Sequence[str], by: str, most: int) -> Any:
        """Arrow table of expressions and, last, of ``by``: those rows where that is smallest."""
        ...

    def start_digest(self) -> None:
        """Begin with what `content` will be asked for, where it need not wait for other questions."""
        ...

    def content(self, *, in_order: bool = False) -> Content:
        """The digest of all that the table holds; ``in_order`` where the same rows in another order are another table.

        Files are digested byte by byte, which tells their order too.
        """
        ...

    def check_unchanged(self) -> None:
        """An error where the files behind the table are not those that were opened."""
        ...


@dataclass(frozen=True)
class Limits:
    """What every connection of a session keeps to.

    Attributes
    ----------
    memory : str or None
        Such as 2GB; left out, what DuckDB takes by itself.
    spill : str or None
        A private folder for what does not fit; left out, one of its own that ends with the session.
    threads : int or None
        Threads of one connection.
    """

    memory: str | None = None
    spill: str | None = None
    threads: int | None = None


def connect(limits: Limits) -> duckdb.DuckDBPyConnection:
    """A connection of its own under these limits, which prints nothing."""
    chosen = {"memory_limit": limits.memory, "temp_directory": limits.spill, "threads": limits.threads}
    try:
        connection = duckdb.connect(config={name: value for name, value in chosen.items() if value is not None})
    except duckdb.Error:
        raise InputError(f"memory_limit must be a size such as 2GB, got {limits.memory!r}.") from None
    with contextlib.suppress(duckdb.Error):  # a notebook without widgets has no bar, and no such setting
        connection.execute("SET enable_progress_bar_print = false")
    return connection


class DuckDBTable:
    """A table that DuckDB reads, with the columns `FILE` and `ROW` beside its own where places were asked for."""

    dialect = DUCKDB

    def __init__(
        self,
        connection: Any,
        relation: Any,
        name: str,
        *,
        limits: Limits,
        path: str | None = None,
        files: Sequence[str] = (),
        given: str | None = None,
        has_stable_rows: bool = True,
    ) -> None:
        self.connection, self.relation, self.name, self.limits = connection, relation, name, limits
        self.kinds = {
            column: str(kind) for column, kind in zip(relation.columns, relation.types) if column not in (FILE, ROW)
        }
        self.path, self.files, self.given = path, tuple(files), given
        self.identity = tuple(FileIdentity.of(file) for file in self.files)
        self.has_stable_rows = has_stable_rows
        self._digest = None if path is None else FilesDigest(self.files, table_root(path))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table itself."""
        return tuple(self.kinds)

    def aggregate(self, select: str, by: str = "") -> Any:
        return self.relation.aggregate(select, by).to_arrow_table()

    def count(self) -> int:
        """Number of rows."""
        return int(self.aggregate("count(*) AS n").column(0)[0].as_py())

    def memory(self) -> int:
        """Bytes that the connection may use."""
        text = str(self.connection.execute("SELECT current_setting('memory_limit')").fetchall()[0][0])
        number, unit = text.split()
        return int(float(number) * 1024 ** ("KMGT".index(unit[0]) + 1 if unit[0] in "KMGT" else 0))

    def repeated(self, column: str) -> tuple[int, int]:
        name = DUCKDB.identifier(column)
        whole = self.kinds[column] not in ("VARCHAR", "UUID")
        ends = f", min({name}) AS low, max({name}) AS high" if whole else ""
        found = self.aggregate(f"count(*) AS n, count({name}) AS given{ends}").to_pylist()[0]
        given = int(found["given"])
        distinct = f"count(DISTINCT {name})"
        if whole and given:
            low, high = int(found["low"]), int(found["high"])
            if high - low < min(WIDEST_RANGE * given, MOST_BITS) and abs(low) < 2**62 and abs(high) < 2**62:
                distinct = f"bit_count(bitstring_agg(CAST({name} AS BIGINT), {low}, {high}))"
        different = int(self.aggregate(f"{distinct} AS d").column(0)[0].as_py() or 0)
        return int(found["n"]) - given, given - different

    def hashes_of(self, texts: Sequence[str | None]) -> IntArray | None:
        import pyarrow as pa

        given = self.connection.from_arrow(pa.table({"t": as_column(texts)}))
        return integers(given.project(f"{DUCKDB.hashed('t')} AS h").to_arrow_table().column(0))

    def in_order(self, expressions: Sequence[str], by: str | None, rows: int, read: Sequence[str]) -> list[Any]:
        shown = ", ".join(f"{expression} AS c{k}" for k, expression in enumerate(expressions))
        if by is None:
            part = f"hash({FILE}, {ROW} // {stretches.STRETCH}) % {stretches.every(rows)} = 0"
            places = FILE if len(self.files) > 1 else "''"
            found = self.relation.filter(part).project(f"{shown}, {places} AS f, {ROW} AS r").order("f, r")
            return list(found.to_arrow_table().columns)[:-2]
        view, name = f"{OWN}in_order", DUCKDB.identifier(by)
        self.relation.create_view(view, replace=True)
        part, ends = self._windows(view, name) if stretches.is_long(rows) else ("true", [])
        asked = f"SELECT {shown} FROM (SELECT * FROM {view} WHERE {part}) ORDER BY {name}"
        return list(self.connection.sql(asked, params=ends).to_arrow_table().columns)

    def _windows(self, view: str, name: str) -> tuple[str, list[Any]]:
        """A condition on ids that lets stretches of their order pass, and its parameters.

        The ids at the ends come from a sample, whose order is that of all ids: nothing else is sorted for it.
        """
        some = f"SELECT {name} FROM {view} WHERE hash({name}) % {stretches.ONE_ID_IN} = 0 ORDER BY 1"
        chosen = stretches.windows([row[0] for row in self.connection.sql(some).fetchall()])
        ends = [end for window in chosen for end in window]
        return (stretches.inside(name, 0, len(ends)), ends) if ends else ("true", [])

    def smallest(self, expressions: Sequence[str], by: str, most: int) -> Any:
        shown = ", ".join(f"{expression} AS c{k}" for k, expression in enumerate([*expressions, by]))
        return self.relation.project(shown).order(f"c{len(expressions)}").limit(most).to_arrow_table()

    def name_of(self, file: str) -> str:
        """A file as the places of its rows name it."""
        assert self.path is not None
        return file[len(os.path.join(table_root(self.path), "")) :]

    def start_digest(self) -> None:
        """Begin to digest the files, beside whatever else is done until `content` is asked for."""
        if self._digest is not None:
            self._digest.start()

    def content(self, columns: Sequence[str] | None = None, *, in_order: bool = False) -> Content:
        """The digest of its files; of a frame that of its rows, or of some columns of them."""
        if self._digest is not None and columns is None:
            return Content("files", self._digest.result())
        if in_order:
            return Content("rows in order", ordered_digest(self.relation, columns or self.columns, ROW))
        return Content("rows", relation_digest(self.relation, columns or self.columns))

    def check_unchanged(self) -> None:
        check_identity(self.identity, self.name)

    def of_files(self, files: Sequence[str], connection: duckdb.DuckDBPyConnection) -> DuckDBTable:
        """Some of the files alone, under a connection of its own; the places of their rows stay the same."""
        assert self.path is not None
        relation = _placed_files(connection, self.path, files, self.name, self.kinds)
        return DuckDBTable(connection, relation, self.name, limits=self.limits, path=self.path, files=files)


def is_spark(table: Any) -> bool:
    """Whether a table is a Spark DataFrame, told without importing Spark."""
    return type(table).__module__.startswith("pyspark.sql.") and type(table).__name__ == "DataFrame"


@contextlib.contextmanager
def open_table(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    places: bool = False,
    limits: Limits | None = None,
    beside: DuckDBTable | None = None,
) -> Iterator[Any]:
    """A table, open for questions; closed at the end unless it was the caller's.

    Parameters
    ----------
    table : frame or path
        pandas, Polars, Arrow, a DuckDB relation, a Spark DataFrame, or a path.
    columns : sequence of str, optional
        The columns that must be there, and of frames the only ones that are read; all where left out.
    places : bool
        Add the place of every row, `FILE` and `ROW`.
    limits : Limits, optional
        Of the connection.
    beside : DuckDBTable, optional
        An open table whose connection is shared, so that both can be asked together.
    """
    if is_spark(table):
        from discreet.tables.spark import open_spark

        with open_spark(table, columns) as opened:
            yield opened
        return
    if beside is not None:
        with contextlib.ExitStack() as stack:
            yield _opened(beside.connection, beside.limits, table, columns, places, stack)
        return
    with _spilling(limits or Limits()) as chosen, contextlib.closing(connect(chosen)) as connection:
        name = table_name(table)
        with contextlib.ExitStack() as stack, readable(name, table):
            yield _opened(connection, chosen, table, columns, places, stack)


@contextlib.contextmanager
def _spilling(limits: Limits) -> Iterator[Limits]:
    """Limits with a private folder, made for the time being where none is given."""
    if limits.spill is not None:
        yield limits
        return
    with private_folder() as folder:
        yield Limits(limits.memory, folder, limits.threads)


def table_name(table: Any) -> str:
    """A table as messages call it."""
    if isinstance(table, str | os.PathLike):
        return f"table {Path(table).name!r}"
    return "the relation" if frames.is_relation(table) else "the table"


def _opened(
    connection: duckdb.DuckDBPyConnection,
    limits: Limits,
    table: Any,
    columns: Sequence[str] | None,
    places: bool,
    stack: contextlib.ExitStack,
) -> DuckDBTable:
    if isinstance(table, str | os.PathLike):
        given = os.path.abspath(table)
        files = [os.path.abspath(file) for file in existing_files(os.fspath(table))]
        path, whole = stack.enter_context(pinned(given, files))
        return _from_path(connection, limits, given, path, whole, columns, places)
    if frames.is_relation(table) and not places:
        return DuckDBTable(
            connection, _copied(connection, table, columns), "the relation", limits=limits, has_stable_rows=False
        )
    frame = frames.collected(table, columns) if places else table
    arrow = frames.to_arrow(frame, frames.columns_of(frame) if columns is None else columns)
    relation = _placed_frame(connection, arrow) if places else connection.from_arrow(arrow)
    stable = frames.has_stable_rows(table)
    return DuckDBTable(connection, relation, "the table", limits=limits, has_stable_rows=stable)


def _copied(connection: duckdb.DuckDBPyConnection, relation: Any, columns: Sequence[str] | None) -> Any:
    """Columns of a relation in a table of our own connection.

    In the caller's own it would be asked under its collation, and what does not fit into memory would go to a folder
    that others may read.
    """
    validate.columns_exist(columns or (), relation.columns, "the relation")
    wanted = list(dict.fromkeys(relation.columns if columns is None else columns))
    connection.register(f"{OWN}stream", frames.stream(relation, wanted))
    try:
        connection.execute(f"CREATE TEMPORARY TABLE {OWN}copy AS SELECT * FROM {OWN}stream")
    finally:
        connection.unregister(f"{OWN}stream")
    return connection.table(f"{OWN}copy")


def _from_path(
    connection: duckdb.DuckDBPyConnection,
    limits: Limits,
    given: str,
    path: str,
    whole: Sequence[str],
    columns: Sequence[str] | None,
    places: bool,
) -> DuckDBTable:
    name, files, wanted = table_name(given), whole, columns or ()
    if is_parquet(files[0]):  # before DuckDB lets a folder's name take the place of a column
        hive = hive_columns(path, whole)
        check_names(wanted, [*parquet_names(whole[0], name), *hive], name, listed=True)
        check_types(whole, name)
    if places:
        relation = _placed_files(connection, path, whole, name)
        check_names(wanted, [column for column in relation.columns if column not in (FILE, ROW)], name)
    elif is_parquet(files[0]):
        relation = connection.read_parquet([glob.escape(file) for file in whole], hive_partitioning=bool(hive))
    else:
        relation = connection.sql(f"SELECT * FROM {csv_reader(files, wanted, name)}")
    return DuckDBTable(connection, relation, name, limits=limits, path=path, files=whole, given=given)


def _placed_files(
    connection: duckdb.DuckDBPyConnection,
    path: str,
    files: Sequence[str],
    name: str,
    kinds: Mapping[str, str] | None = None,
) -> Any:
    root = table_root(path)
    if is_parquet(files[0]):
        own = [c for c in parquet_names(files[0], name) if c.casefold() in (FILE, ROW, "file_row_number")]
        if own:
            raise UnusableColumnError(f"the table has a column {own[0]!r}, a name that releases need. Rename it.")
        listed = ", ".join(literal(glob.escape(file)) for file in files)
        relative = f"substr({FILE}, {len(os.path.join(root, '')) + 1})"  # as `name_of` has it
        relation = connection.sql(
            f"SELECT * EXCLUDE ({FILE}, file_row_number), {relative} AS {FILE}, file_row_number AS {ROW} "
            f"FROM read_parquet([{listed}], filename='{FILE}', file_row_number=true, "
            f"{_hive_options(hive_columns(path, files), kinds or {})})"
        )
    else:
        parts = [
            f"SELECT *, {literal(os.path.relpath(file, root))} AS {FILE}, row_number() OVER () - 1 AS {ROW} "
            f"FROM {csv_reader([file], (), name)}"
            for file in files
        ]
        csv_reader(files, (), name)  # all of them have the same columns
        relation = connection.sql(" UNION ALL ".join(parts))
    _check_own_names(relation.columns)
    return relation


def _hive_options(columns: Sequence[str], kinds: Mapping[str, str]) -> str:
    """How names of folders become columns; of some files with the types that the whole table has."""
    typed = ", ".join(f"{literal(column)}: {literal(kinds[column])}" for column in columns if column in kinds)
    types = f", hive_types={{{typed}}}" if typed else ""
    return f"hive_partitioning={'true' if columns else 'false'}{types}"


def _placed_frame(connection: duckdb.DuckDBPyConnection, arrow: Any) -> Any:

    _check_own_names([*arrow.column_names, FILE, ROW])
    placed = arrow.append_column(ROW, column_of(np.arange(arrow.num_rows, dtype=np.int64)))
    return connection.from_arrow(placed).project(f"*, '' AS {FILE}")


def _check_own_names(columns: Sequence[str]) -> None:
    """No column of the user's stands where the place of a row, or a name of the draw, would."""
    for column in columns:
        lowered = column.casefold()
        if lowered.startswith(OWN) and lowered not in (FILE, ROW):
            raise UnusableColumnError(f"the table has a column {column!r}, a name that releases need. Rename it.")
    lowered_names = [column.casefold() for column in columns]
    if any(lowered_names.count(own) > 1 for own in (FILE, ROW)):
        raise UnusableColumnError(f"the table has a column {FILE!r} or {ROW!r}, a name that releases need. Rename it.")
