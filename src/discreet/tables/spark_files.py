"""Files that Spark draws from, asked by DuckDB where both run on one machine and read the same in them.

Counts, ids and orders need few columns, and one job of Spark costs more than all of these questions together. They are
asked only where both read the same: Parquet files of one schema, whose columns have the same types in both. The order
of rows is the one in which Spark reads them, and writes the release.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
import re
import urllib.parse
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple

from discreet._support.errors import UnreadableTableError
from discreet._support.numeric import IntArray
from discreet.tables import stretches
from discreet.tables.dialect import DUCKDB, is_float
from discreet.tables.digest import Content
from discreet.tables.files import check_identity, hive_columns, table_files, table_root
from discreet.tables.session import FILE, OWN, ROW, DuckDBTable, Limits, open_table
from discreet.tables.spark import SparkTable, path_of

__all__ = ["FilesOfSpark", "asked_by_duckdb"]

#: Types whose values read the same. Dates and times are not among them: Spark moves old ones to another calendar.
ALIKE = ("VARCHAR", "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT")

#: How Spark writes a part of a file that one of its tasks reads.
PART = re.compile(r"path: (.*?), range: (\d+)-(\d+), partition values: ")


class Piece(NamedTuple):
    """Rows of a file that Spark reads in one go."""

    file: str
    first: int
    last: int


class FilesOfSpark:
    """The files of a table of Spark, open for questions in DuckDB."""

    dialect = DUCKDB

    def __init__(self, read: DuckDBTable, drawn: SparkTable, files: SparkTable, pieces: Sequence[Piece]) -> None:
        self.read, self.drawn, self.files, self.pieces = read, drawn, files, pieces
        self.name, self.kinds, self.has_stable_rows = drawn.name, read.kinds, drawn.has_stable_rows

    def aggregate(self, select: str, by: str = "") -> Any:
        return self.read.aggregate(select, by)

    def repeated(self, column: str) -> tuple[int, int]:
        return self.read.repeated(column)

    def hashes_of(self, texts: Sequence[str | None]) -> IntArray | None:
        return self.read.hashes_of(texts)

    def in_order(self, expressions: Sequence[str], by: str | None, rows: int, read: Sequence[str]) -> list[Any]:
        if by is not None or len(self.pieces) == 1:
            return self.read.in_order(expressions, by, rows, read)
        shown = ", ".join(f"{expression} AS c{k}" for k, expression in enumerate(expressions))
        part = f"hash({FILE}, {ROW} // {stretches.STRETCH}) % {stretches.every(rows)} = 0"
        chosen = self.read.relation.filter(part).project(f"{shown}, {FILE} AS f, {ROW} AS r")
        chosen.create_view(f"{OWN}shown", replace=True)
        self.read.connection.register(f"{OWN}pieces", _as_table(self.pieces))
        try:
            asked = f"SELECT {OWN}shown.* FROM {OWN}shown JOIN {OWN}pieces ON f = file AND r BETWEEN first AND last"
            found = self.read.connection.sql(f"{asked} ORDER BY place, r").to_arrow_table()
        finally:
            self.read.connection.unregister(f"{OWN}pieces")
        return list(found.columns)[: len(expressions)]

    def smallest(self, expressions: Sequence[str], by: str, most: int) -> Any:
        return self.read.smallest(expressions, by, most)

    def start_digest(self) -> None:
        self.drawn.start_digest()

    def content(self, *, in_order: bool = False) -> Content:
        return self.drawn.content(in_order=in_order)

    def check_unchanged(self) -> None:
        """What was asked, what was drawn from and what has these names now are the same files."""
        self.read.check_unchanged()
        self.files.check_unchanged()


def _as_table(pieces: Sequence[Piece]) -> Any:
    import pyarrow as pa

    columns = [pa.array(column) for column in zip(*pieces)]
    return pa.table([*columns, pa.array(range(len(pieces)))], names=["file", "first", "last", "place"])


@contextlib.contextmanager
def asked_by_duckdb(
    drawn: SparkTable, limits: Limits, columns: Sequence[str] | None = None
) -> Iterator[FilesOfSpark | None]:
    """The files of a table as DuckDB reads them, or None where Spark is elsewhere or may read something else.

    ``columns`` are those that matter; all where left out.
    """
    files = _of_files(drawn) if _is_here(drawn.session) else None
    pieces = _pieces(files) if files is not None and files.has_stable_rows else None
    if files is None or pieces is None:
        yield None
        return
    with open_table(files.path, places=True, limits=limits) as read:
        if not _read_alike(read, files, columns):
            yield None
            return
        _check_same_files(read, files)
        yield FilesOfSpark(read, drawn, files, pieces)


def _of_files(drawn: SparkTable) -> SparkTable | None:
    """The table by the files that it was read from; a DataFrame has such where it is one Parquet table and no more."""
    if drawn.path is not None:
        return drawn
    planned = drawn.frame._jdf.queryExecution().analyzed()
    if planned.getClass().getSimpleName() != "LogicalRelation" or not str(planned.simpleString(0)).endswith(" parquet"):
        return None
    relation = planned.relation()
    roots = relation.location().rootPaths()
    if roots.size() != 1 or roots.head().toUri().getScheme() != "file" or relation.options().size() > 1:
        return None
    path = str(roots.head().toUri().getPath())
    read = {urllib.parse.unquote(path_of(uri)) for uri in drawn.frame.inputFiles()}
    files = [os.path.abspath(file) for file in table_files(path)]
    return SparkTable(drawn.frame, path=path, files=files) if set(files) == read else None


def _is_here(session: Any) -> bool:
    """Whether Spark runs on this machine alone."""
    context = getattr(session, "_sc", None)
    return context is not None and str(context.master).startswith("local")


def _read_alike(read: DuckDBTable, drawn: SparkTable, columns: Sequence[str] | None) -> bool:
    """Whether the columns that matter are of the same types; numbers in the names of folders are wider in DuckDB."""
    hive = hive_columns(str(drawn.path), drawn.files)
    if list(read.kinds) != list(drawn.kinds):
        return False
    wanted = None if columns is None else {column.casefold() for column in columns}
    for column, kind in drawn.kinds.items():
        if wanted is not None and column.casefold() not in wanted:
            continue
        wider = column in hive and (kind, read.kinds[column]) == ("INTEGER", "BIGINT")
        alike = kind in ALIKE or is_float(kind) or kind.startswith("DECIMAL")
        if not wider and not (alike and kind == read.kinds[column]):
            return False
    return True


def _check_same_files(read: DuckDBTable, drawn: SparkTable) -> None:
    """What is open here is what Spark finds under these names."""
    names = [replace(file, path="") for file in drawn.identity]
    if [replace(file, path="") for file in read.identity] != names:
        raise UnreadableTableError(f"{drawn.name} was changed while it was opened. Wait until it is whole.")
    check_identity(drawn.identity, drawn.name)


def _pieces(drawn: SparkTable) -> list[Piece] | None:
    """The rows in the order in which Spark reads them; None where that is not told, or the files are not alike."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with ThreadPoolExecutor() as pool:
            footers = dict(zip(drawn.files, pool.map(pq.read_metadata, drawn.files)))
    except (pa.ArrowException, OSError):
        return None  # Spark says what is wrong with them
    schema = footers[drawn.files[0]].schema
    if any(not footer.schema.equals(schema) for footer in footers.values()):
        return None
    root = table_root(str(drawn.path))
    if len(footers) == 1:  # Spark cuts it into parts, and keeps their order
        return [Piece(os.path.relpath(drawn.files[0], root), 0, max(0, footers[drawn.files[0]].num_rows - 1))]
    parts = _parts(drawn.frame)
    if {file for file, _, _ in parts} != set(footers):
        return None
    return [piece for part in parts for piece in _rows_of(part, footers[part[0]], root)]


def _parts(frame: Any) -> list[tuple[str, int, int]]:
    """(file, first byte, byte behind the last) of what the tasks of Spark read, one after the other."""
    tasks = frame._jdf.queryExecution().toRdd().partitions()
    text = frame.sparkSession._jvm.org.apache.commons.lang3.ArrayUtils.toString
    found = (PART.findall(text(task.files())) for task in tasks)
    return [(urllib.parse.unquote(path_of(uri)), int(first), int(end)) for part in found for uri, first, end in part]


def _rows_of(part: tuple[str, int, int], footer: Any, root: str) -> Iterator[Piece]:
    """The rows of a part of a file: those of the row groups whose middle lies in it."""
    file, first, end = part
    row = 0
    for k in range(footer.num_row_groups):
        group = footer.row_group(k)
        if first <= _middle(group) < end and group.num_rows:
            yield Piece(os.path.relpath(file, root), row, row + group.num_rows - 1)
        row += group.num_rows


def _middle(group: Any) -> int:
    """The byte in the middle of a row group."""
    pages = (group.column(0).dictionary_page_offset, group.column(0).data_page_offset)
    size = sum(group.column(k).total_compressed_size for k in range(group.num_columns))
    return int(min(page for page in pages if page is not None) + size // 2)
