"""Tables of every kind as DuckDB relations; no row passes through Python."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import csv
import glob
import io
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import duckdb

from discreet._support import validate
from discreet._support.errors import DataError, DiscreetError, UnreadableTableError, UnusableColumnError
from discreet.tables.dialect import DUCKDB, SPARK, Dialect, literal

__all__ = ["DuckDBSource", "Source", "connect", "is_spark", "open_table", "readable", "table_files"]

#: Enough of a file to hold its line of column names.
HEADER_BYTES = 1 << 20

PARQUET_ENDINGS = (".parquet", ".pq")
CSV_ENDINGS = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".txt")


class Source(Protocol):
    """A table that an engine holds, open for questions."""

    name: str  # for messages
    dialect: Dialect
    kinds: dict[str, str]  # type of each column, in DuckDB's words

    def aggregate(self, select: str, by: str = "") -> Any:
        """Arrow table of expressions over the rows, grouped by expressions."""
        ...


class DuckDBSource:
    """A relation of DuckDB."""

    dialect = DUCKDB

    def __init__(self, relation: Any, name: str) -> None:
        self.relation, self.name = relation, name
        self.kinds = {column: str(kind) for column, kind in zip(relation.columns, relation.types)}

    def aggregate(self, select: str, by: str = "") -> Any:
        return self.relation.aggregate(select, by).to_arrow_table()


@contextlib.contextmanager
def open_table(table: Any, columns: Sequence[str]) -> Iterator[Source]:
    """A source with these columns; closed at the end unless it was the caller's."""
    if isinstance(table, duckdb.DuckDBPyRelation):
        validate.columns_exist(columns, table.columns, "the relation")
        with readable("the relation"):
            yield DuckDBSource(table, "the relation")
        return
    if is_spark(table):
        from discreet.tables.spark import SparkSource, answering

        _check_names(columns, table.columns, "the table")
        with answering("the table"):
            yield SparkSource(table.select(*[SPARK.identifier(c) for c in dict.fromkeys(columns)]), "the table")
        return
    connection = connect()
    try:
        name = f"table {Path(table).name!r}" if isinstance(table, str | os.PathLike) else "the table"
        with readable(name):
            yield DuckDBSource(_relation(connection, table, columns, name), name)
    finally:
        connection.close()


def connect(config: Mapping[str, Any] | None = None) -> duckdb.DuckDBPyConnection:
    """A connection of its own, which prints nothing."""
    connection = duckdb.connect(config=dict(config or {}))
    with contextlib.suppress(duckdb.Error):  # a notebook without widgets has no bar, and no such setting
        connection.execute("SET enable_progress_bar_print = false")
    return connection


def is_spark(table: Any) -> bool:
    """Whether a table is a Spark DataFrame, told without importing Spark."""
    return type(table).__module__.startswith("pyspark.sql.") and type(table).__name__ == "DataFrame"


def _relation(connection: duckdb.DuckDBPyConnection, table: Any, columns: Sequence[str], name: str) -> Any:
    if isinstance(table, str | os.PathLike):
        return _from_path(connection, os.fspath(table), columns, name)
    return connection.from_arrow(to_arrow(table, columns))


def to_arrow(table: Any, columns: Sequence[str]) -> Any:
    """Columns of a frame of any library as an Arrow table."""
    library = type(table).__module__.partition(".")[0]
    convert = {"pandas": _pandas_to_arrow, "polars": _polars_to_arrow, "pyarrow": _arrow}.get(library)
    if convert is None:
        raise UnreadableTableError(
            f"a table must be a pandas, Polars or Spark frame, an Arrow table, a DuckDB relation or a path, "
            f"got {type(table).__name__}."
        )
    return convert(table, columns)


def _check_names(wanted: Sequence[str], names: Sequence[Any], table: str) -> None:
    """The wanted columns are there, and no two names are the same to an engine that ignores case."""
    if not all(isinstance(name, str) for name in names):
        raise UnreadableTableError(f"{table} has column names that are not text. Rename its columns.")
    validate.columns_exist(wanted, names, table)
    seen: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        first = seen.setdefault(name.casefold(), place)
        if first != place:
            raise UnusableColumnError(
                f"{table} has two columns of one name, capital letters aside: columns {first} and {place}. "
                "Rename one of them."
            )


def _pandas_to_arrow(frame: Any, columns: Sequence[str]) -> Any:
    import pyarrow as pa

    if not hasattr(frame, "columns"):
        raise UnreadableTableError(f"a table must have columns, got a pandas {type(frame).__name__}.")
    _check_names(columns, list(frame.columns), "the table")
    try:
        return pa.Table.from_pandas(frame[list(dict.fromkeys(columns))], preserve_index=False)
    except (pa.ArrowException, OverflowError, UnicodeError, TypeError):
        # Arrow's own message quotes a cell.
        raise UnreadableTableError(
            f"one of the columns {', '.join(columns)} mixes types of values, or has some that no column type "
            "holds. Convert it to one type, such as str."
        ) from None


def _polars_to_arrow(frame: Any, columns: Sequence[str]) -> Any:
    if not hasattr(frame, "collect_schema"):
        raise UnreadableTableError(f"a table must have columns, got a Polars {type(frame).__name__}.")
    try:
        _check_names(columns, frame.collect_schema().names(), "the table")
        chosen = frame.select(list(dict.fromkeys(columns)))
        return (chosen.collect() if hasattr(chosen, "collect") else chosen).to_arrow()
    except DiscreetError:
        raise
    except Exception as error:  # a lazy frame fails in the ways of its source, and its message may quote a cell
        raise UnreadableTableError(
            f"the frame cannot be computed: Polars raised {type(error).__name__}. Collect it to see why."
        ) from None


def _arrow(table: Any, columns: Sequence[str]) -> Any:
    import pyarrow as pa

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if not hasattr(table, "schema"):
        raise UnreadableTableError(f"a table must have columns, got a pyarrow {type(table).__name__}.")
    _check_names(columns, table.schema.names, "the table")
    # A reader can be read once only, and quantiles need a second look.
    return table.read_all() if isinstance(table, pa.RecordBatchReader) else table


def _from_path(connection: duckdb.DuckDBPyConnection, path: str, columns: Sequence[str], name: str) -> Any:
    files = existing_files(path)
    if is_parquet(files[0]):
        hive = hive_columns(path, files)
        _check_names(columns, [*parquet_names(files[0], name), *hive], name)
        return connection.read_parquet([glob.escape(file) for file in files], hive_partitioning=bool(hive))
    return connection.sql(f"SELECT * FROM {csv_reader(files, columns, name)}")


def existing_files(path: str) -> list[str]:
    """The files that a path names: at least one, and none of them empty."""
    files = table_files(path)
    if not files:
        raise UnreadableTableError(f"no file {path!r}.")
    for file in files:
        _check_file(file)
    return files


def csv_reader(files: Sequence[str], columns: Sequence[str], name: str) -> str:
    """DuckDB's call that reads CSV files as text, whose headers were checked."""
    separator, names = read_csv_header(files[0], name)
    _check_names(columns, names, name)
    for file in files[1:]:
        if read_csv_header(file, name) != (separator, names):
            raise UnreadableTableError(f"{file!r} has other columns, or another order of them, than {files[0]!r}.")
    # Text stays text: codes such as 007 are not numbers, and an empty quoted cell is not a null. Nothing is left to
    # guess, because a guessing reader skips lines, drops quotes or takes data for comments to make a file fit.
    kinds = ", ".join(f"{literal(column)}: 'VARCHAR'" for column in names)
    return (
        f"read_csv([{', '.join(literal(glob.escape(file)) for file in files)}], columns={{{kinds}}}, "
        f"auto_detect=false, header=true, delim={literal(separator)}, quote='\"', escape='\"', "
        "allow_quoted_nulls=false, hive_partitioning=false)"
    )


def hive_columns(path: str, files: Sequence[str]) -> list[str]:
    """Columns that stand in the names of folders, as in year=2024/part.parquet: those that all files share."""
    if os.path.isfile(path):
        return []
    found = [[part.partition("=")[0] for part in Path(file).parts[:-1] if "=" in part] for file in files]
    return found[0] if all(keys == found[0] for keys in found) else []


def table_files(path: str) -> list[str]:
    """The files that a path or glob names, or that lie in a directory; hidden ones and _SUCCESS do not count.

    The format of a directory is that of its data: Parquet where it holds any, else CSV.
    """
    if os.path.isdir(path):
        inside = sorted(
            str(file)
            for file in Path(path).rglob("*")
            if file.is_file() and not any(part.startswith((".", "_")) for part in file.relative_to(path).parts)
        )
        for endings in (PARQUET_ENDINGS, CSV_ENDINGS):
            chosen = [file for file in inside if file.lower().endswith(endings)]
            if chosen:
                return chosen
        raise UnreadableTableError(f"{path!r} is a directory without Parquet or CSV files.")
    if os.path.exists(path):
        return [path]
    return sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))


def table_root(path: str) -> str:
    """The folder that names of a table's files are relative to: what stands before the first wildcard."""
    if os.path.isdir(path):
        return path
    if os.path.exists(path):
        return os.path.dirname(path) or "."
    fixed = []
    for part in Path(path).parts:
        if glob.has_magic(part):
            break
        fixed.append(part)
    return os.path.join(*fixed) if fixed else "."


def parquet_names(path: str, name: str) -> list[str]:
    """Names of the columns of a Parquet file, out of its footer."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowException, OSError):
        raise UnreadableTableError(_reason(name, "parquet")) from None


def read_csv_header(path: str, name: str) -> tuple[str, list[str]]:
    """Separator and column names of a CSV: the separator that occurs most often in the line of names."""
    import pyarrow as pa

    try:
        with pa.input_stream(path) as stream:  # decompresses by the name of the file
            start = stream.read(HEADER_BYTES)
    except (OSError, pa.ArrowException):
        raise UnreadableTableError(f"{path!r} is damaged: it cannot be decompressed.") from None
    text = start.decode("utf-8-sig", errors="replace")  # wrong bytes are found, with their line, when all is read
    first = re.sub(r'"[^"]*"', "", text).splitlines() or [""]
    separator = max(",;\t|", key=first[0].count)
    try:
        return separator, next(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except (csv.Error, StopIteration):
        raise UnreadableTableError(_reason(name, "csv")) from None


def _check_file(path: str) -> None:
    try:
        with open(path, "rb") as stream:
            if not stream.read(1):
                raise UnreadableTableError(f"{path!r} is empty.")
    except OSError as error:
        raise UnreadableTableError(f"cannot read {path!r}: {error.strerror}.") from None


def is_parquet(path: str) -> bool:
    """Whether a file is Parquet, by its name or its first bytes."""
    if path.lower().endswith(PARQUET_ENDINGS):
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
    if "no space left" in lowered or "could not write" in lowered or "max_temp_directory_size" in lowered:
        return "the result cannot be written: there is no space left on the disk."
    if "invalid unicode" in lowered or "not utf-8 encoded" in lowered:
        return f"{name} is not text in UTF-8{where}. Convert it, for instance with iconv -f latin1 -t utf-8."
    if "csv" in lowered or "sniff" in lowered:
        return f"{name} is not a regular CSV{where}: a quote may be left open, or a line has too many or too few cells."
    if "parquet" in lowered or "magic" in lowered or "thrift" in lowered:
        return f"{name} is damaged or not a Parquet file; it may have been cut off while it was written."
    return f"{name} cannot be read ({type_of(message)}). Check that the file is whole and of the kind its name says."


def type_of(message: str) -> str:
    """The class that DuckDB puts in front of its messages, without the message."""
    return message.partition(":")[0][:60] if ":" in message else "unknown reason"
