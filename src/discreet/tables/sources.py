"""Tables of every kind as DuckDB relations; no row passes through Python."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import glob
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb

from discreet import _validate
from discreet.errors import DataError, UnreadableTableError

__all__ = ["open_table", "readable"]

#: Enough of a file to hold its line of column names.
HEADER_BYTES = 1 << 20


@contextlib.contextmanager
def open_table(table: Any, columns: Sequence[str]) -> Iterator[tuple[Any, str]]:
    """A relation with these columns, and a name for messages; closed at the end unless it was the caller's."""
    if isinstance(table, duckdb.DuckDBPyRelation):
        _validate.columns_exist(columns, table.columns, "the relation")
        with readable("the relation"):
            yield table, "the relation"
        return
    connection = duckdb.connect()
    try:
        name = f"table {Path(table).name!r}" if isinstance(table, str | os.PathLike) else "the table"
        with readable(name):
            relation = _relation(connection, table, columns)
            _validate.columns_exist(columns, relation.columns, name)
            yield relation, name
    finally:
        connection.close()


def _relation(connection: duckdb.DuckDBPyConnection, table: Any, columns: Sequence[str]) -> Any:
    if isinstance(table, str | os.PathLike):
        return _from_path(connection, os.fspath(table))
    library = type(table).__module__.partition(".")[0]
    convert = {"pandas": _pandas_to_arrow, "polars": _polars_to_arrow, "pyarrow": _arrow}.get(library)
    if convert is None:
        raise UnreadableTableError(
            f"a table must be a pandas or Polars frame, an Arrow table, a DuckDB relation or a path, "
            f"got {type(table).__name__}."
        )
    return connection.from_arrow(convert(table, columns))


def _pandas_to_arrow(frame: Any, columns: Sequence[str]) -> Any:
    import pyarrow as pa

    if not hasattr(frame, "columns"):
        raise UnreadableTableError(f"a table must have columns, got a pandas {type(frame).__name__}.")
    _validate.columns_exist(columns, [str(c) for c in frame.columns], "the table")
    try:
        return pa.Table.from_pandas(frame[list(dict.fromkeys(columns))], preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        # Arrow's own message quotes a cell.
        raise UnreadableTableError(
            f"one of the columns {', '.join(columns)} mixes types of values. Convert it to one type, such as str."
        ) from None


def _polars_to_arrow(frame: Any, columns: Sequence[str]) -> Any:
    names = frame.collect_schema().names() if hasattr(frame, "collect_schema") else None
    if names is None:
        raise UnreadableTableError(f"a table must have columns, got a Polars {type(frame).__name__}.")
    _validate.columns_exist(columns, names, "the table")
    chosen = frame.select(list(dict.fromkeys(columns)))
    return (chosen.collect() if hasattr(chosen, "collect") else chosen).to_arrow()


def _arrow(table: Any, columns: Sequence[str]) -> Any:
    import pyarrow as pa

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if not hasattr(table, "schema"):
        raise UnreadableTableError(f"a table must have columns, got a pyarrow {type(table).__name__}.")
    _validate.columns_exist(columns, table.schema.names, "the table")
    return table


def _from_path(connection: duckdb.DuckDBPyConnection, path: str) -> Any:
    if os.path.isdir(path):
        raise UnreadableTableError(
            f"{path!r} is a directory. Name its files with a glob, such as {os.path.join(path, '*.parquet')!r}."
        )
    if os.path.exists(path):
        files, pattern = [path], glob.escape(path)
    else:
        files, pattern = sorted(f for f in glob.glob(path, recursive=True) if os.path.isfile(f)), path
    if not files:
        raise UnreadableTableError(f"no file {path!r}.")
    for file in files:
        _check_file(file)
    if _is_parquet(files[0]):
        return connection.read_parquet(pattern)
    # Text stays text: codes such as 007 are not numbers, and an empty quoted cell is not a null. The dialect is
    # pinned, because a guessing reader skips lines or drops quotes to make a damaged file fit.
    return connection.read_csv(
        pattern,
        header=True,
        all_varchar=True,
        allow_quoted_nulls=False,
        delimiter=_delimiter(files[0]),
        quotechar='"',
        escapechar='"',
        skiprows=0,
    )


def _delimiter(path: str) -> str:
    """The separator that occurs most often in the line of column names; a comma where none does."""
    import pyarrow as pa

    try:
        with pa.input_stream(path) as stream:  # decompresses by the name of the file
            start = stream.read(HEADER_BYTES).decode("utf-8", errors="replace")
    except (OSError, pa.ArrowException):
        raise UnreadableTableError(f"{path!r} is damaged: it cannot be decompressed.") from None
    names = re.sub(r'"[^"]*"', "", start.lstrip("\ufeff").partition("\n")[0])
    return max(",;\t|", key=names.count)


def _check_file(path: str) -> None:
    try:
        with open(path, "rb") as stream:
            if not stream.read(1):
                raise UnreadableTableError(f"{path!r} is empty.")
    except OSError as error:
        raise UnreadableTableError(f"cannot read {path!r}: {error.strerror}.") from None


def _is_parquet(path: str) -> bool:
    if path.lower().endswith((".parquet", ".pq")):
        return True
    with open(path, "rb") as stream:
        return stream.read(4) == b"PAR1"


@contextlib.contextmanager
def readable(name: str) -> Iterator[None]:
    """DuckDB's errors in our words: its own quote the offending line, and logs travel further than data."""
    try:
        yield
    except duckdb.Error as error:
        raise UnreadableTableError(_reason(name, str(error))) from None
    except MemoryError:
        raise DataError(f"{name} needs more memory than there is. Choose fewer columns or bin them.") from None


def _reason(name: str, message: str) -> str:
    lowered = message.lower()
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f" at line {line.group(1)}" if line else ""
    if any(word in lowered for word in ("unicode", "utf-8", "utf8", "encoded")):
        return f"{name} is not text in UTF-8{where}. Convert it, for instance with iconv -f latin1 -t utf-8."
    if "csv" in lowered or "sniff" in lowered:
        return f"{name} is not a regular CSV{where}: a quote may be left open, or a line has too many or too few cells."
    if "parquet" in lowered or "magic" in lowered or "thrift" in lowered:
        return f"{name} is damaged or not a Parquet file; it may have been cut off while it was written."
    return f"{name} cannot be read ({type_of(message)}). Check that the file is whole and of the kind its name says."


def type_of(message: str) -> str:
    """The class that DuckDB puts in front of its messages, without the message."""
    return message.partition(":")[0][:60] if ":" in message else "unknown reason"
