"""Tables with the place of every row: which file, which row of it. Releases draw by it and keep its order."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb

from discreet._support.errors import InputError, UnusableColumnError
from discreet.tables.dialect import literal
from discreet.tables.files import (
    DuckDBSource,
    csv_reader,
    existing_files,
    hive_columns,
    is_parquet,
    parquet_names,
    readable,
    table_root,
    to_arrow,
)
from discreet.tables.files import connect as open_connection

__all__ = ["FILE", "ROW", "RowSource", "connect", "open_rows"]

#: Columns that hold the place of a row. The file's name is relative to the table's root, and empty in memory.
FILE, ROW = "discreet_file", "discreet_row"


class RowSource(DuckDBSource):
    """A relation with the columns `FILE` and `ROW` besides those of the table."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        relation: Any,
        name: str,
        files: Sequence[str] = (),
        path: str | None = None,
    ) -> None:
        super().__init__(relation, name)
        self.connection = connection
        self.files = tuple(files)
        self.path = path
        del self.kinds[FILE], self.kinds[ROW]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table itself."""
        return tuple(self.kinds)

    def of_file(self, file: str, connection: duckdb.DuckDBPyConnection) -> Any:
        """A relation of one of the files alone, under another connection."""
        assert self.path is not None
        return _placed_files(connection, self.path, [file], self.name)


def connect(
    memory_limit: str | None = None, spill: str | None = None, threads: int | None = None
) -> duckdb.DuckDBPyConnection:
    """A connection of its own; ``spill`` is a folder for what does not fit into memory."""
    config: dict[str, Any] = {} if threads is None else {"threads": threads}
    if memory_limit is not None:
        config["memory_limit"] = memory_limit
    if spill is not None:
        config["temp_directory"] = spill
    try:
        return open_connection(config)
    except duckdb.Error:
        raise InputError(f"memory_limit must be a size such as 2GB, got {memory_limit!r}.") from None


@contextlib.contextmanager
def open_rows(
    table: Any,
    columns: Sequence[str] | None = None,
    *,
    memory_limit: str | None = None,
    spill: str | None = None,
    beside: RowSource | None = None,
) -> Iterator[RowSource]:
    """A table with the place of its rows; of frames in memory only the given columns.

    ``beside`` is an open source whose connection it shares, so that both can be asked together.
    """
    connection = connect(memory_limit, spill) if beside is None else beside.connection
    try:
        if isinstance(table, str | os.PathLike):
            name = f"table {Path(table).name!r}"
            with readable(name):
                path = os.path.abspath(table)
                files = existing_files(path)
                relation = _placed_files(connection, path, files, name)
                yield RowSource(connection, relation, name, files, path)
        else:
            with readable("the table"):
                yield RowSource(connection, _placed_frame(connection, table, columns or ()), "the table")
    finally:
        if beside is None:
            connection.close()


def _placed_files(connection: duckdb.DuckDBPyConnection, path: str, files: Sequence[str], name: str) -> Any:
    root = table_root(path)
    if is_parquet(files[0]):
        own = [c for c in parquet_names(files[0], name) if c.casefold() in (FILE, ROW, "file_row_number")]
        if own:
            raise UnusableColumnError(f"the table has a column {own[0]!r}, a name that releases need. Rename it.")
        listed = ", ".join(literal(glob.escape(file)) for file in files)
        relative = f"substr({FILE}, {len(os.path.join(root, '')) + 1})"
        relation = connection.sql(
            f"SELECT * EXCLUDE ({FILE}, file_row_number), {relative} AS {FILE}, file_row_number AS {ROW} "
            f"FROM read_parquet([{listed}], filename='{FILE}', file_row_number=true, "
            f"hive_partitioning={'true' if hive_columns(path, files) else 'false'})"
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


def _placed_frame(connection: duckdb.DuckDBPyConnection, table: Any, columns: Sequence[str]) -> Any:
    import numpy as np
    import pyarrow as pa

    arrow = to_arrow(table, columns)
    _check_own_names([*arrow.column_names, FILE, ROW])
    placed = arrow.append_column(ROW, pa.array(np.arange(arrow.num_rows, dtype=np.int64)))
    return connection.from_arrow(placed).project(f"*, '' AS {FILE}")


def _check_own_names(columns: Sequence[str]) -> None:
    """No column of the user's stands where the place of a row, or a name of the draw, would."""
    for column in columns:
        lowered = column.casefold()
        if lowered.startswith("discreet_") and lowered not in (FILE, ROW):
            raise UnusableColumnError(f"the table has a column {column!r}, a name that releases need. Rename it.")
    lowered_names = [column.casefold() for column in columns]
    if any(lowered_names.count(own) > 1 for own in (FILE, ROW)):
        raise UnusableColumnError(f"the table has a column {FILE!r} or {ROW!r}, a name that releases need. Rename it.")
