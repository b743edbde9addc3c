"""Paths: which files they name, of which format, with which columns; and damaged files in our words."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import csv
import glob
import io
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from discreet._support import validate
from discreet._support.errors import DataError, UnreadableTableError, UnusableColumnError
from discreet.tables.dialect import literal

__all__ = [
    "FileIdentity",
    "check_identity",
    "check_names",
    "csv_reader",
    "existing_files",
    "hive_columns",
    "is_parquet",
    "parquet_names",
    "read_csv_header",
    "readable",
    "table_files",
    "table_root",
]

#: Enough of a file to hold its line of column names.
HEADER_BYTES = 1 << 20

STORE_IT = "It is read several times: store it in a file first."

_SPREADSHEET = "a spreadsheet or an archive. Save the sheet as CSV in UTF-8, or unpack the file"
_WIDE = "text in UTF-16, not in UTF-8. Convert it, for instance with iconv -f utf-16 -t utf-8"

#: First bytes of files that are taken for tables, and are none that can be read.
OTHERS = {
    b"PK\x03\x04": _SPREADSHEET,
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": _SPREADSHEET,
    b"\xff\xfe": _WIDE,
    b"\xfe\xff": _WIDE,
}

PARQUET_ENDINGS = (".parquet", ".pq")
CSV_ENDINGS = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".txt")


@dataclass(frozen=True)
class FileIdentity:
    """What tells that a file is still the one that was opened."""

    path: str
    size: int
    inode: tuple[int, int]  # of which device
    modified: int  # nanoseconds
    changed: int  # nanoseconds; unlike the time before, nobody sets it back

    @classmethod
    def of(cls, path: str) -> FileIdentity:
        """The identity of a file as it is now."""
        try:
            found = os.stat(path)
        except OSError as error:
            raise UnreadableTableError(f"cannot read {path!r}: {error.strerror}.") from None
        return cls(path, found.st_size, (found.st_dev, found.st_ino), found.st_mtime_ns, found.st_ctime_ns)


def check_identity(known: Sequence[FileIdentity], name: str) -> None:
    """An error where files are not those that were opened."""
    if any(FileIdentity.of(file.path) != file for file in known):
        raise UnreadableTableError(
            f"{name} was changed while it was read, so nothing was written. Wait until it is whole."
        )


def existing_files(path: str) -> list[str]:
    """The files that a path names: at least one, and none of them empty."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path):
        raise UnreadableTableError(f"{path!r} is not on this machine. Copy it here, and name the copy.")
    if path == "-":
        raise UnreadableTableError(f"a table cannot be piped in. {STORE_IT}")
    files = table_files(path)
    if not files:
        raise UnreadableTableError(f"no file {path!r}.")
    for file in files:
        _check_file(file)
    return files


def csv_reader(files: Sequence[str], columns: Sequence[str], name: str) -> str:
    """DuckDB's call that reads CSV files as text, whose headers were checked."""
    separator, names = read_csv_header(files[0], name)
    check_names(columns, names, name)
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
    """Columns that stand in the names of folders below the table's own, as in year=2024/part.parquet."""
    if os.path.isfile(path):
        return []
    root = os.path.abspath(table_root(path))
    found = [[part.partition("=")[0] for part in _below(root, file) if "=" in part] for file in files]
    if not found[0] or any(keys != found[0] for keys in found):
        return []
    if any("=" in part for part in Path(root).parts):
        raise UnreadableTableError(
            f"{path!r} has columns in the names of its folders and lies in a folder with such a name itself. Name the "
            "folder that holds all of them."
        )
    return found[0]


def _below(root: str, file: str) -> tuple[str, ...]:
    """The folders between a table's root and one of its files."""
    return Path(os.path.relpath(os.path.abspath(file), root)).parts[:-1]


def check_names(wanted: Sequence[str], names: Sequence[Any], table: str, *, listed: bool = False) -> None:
    """The wanted columns are there, and no two names are the same to an engine that ignores case.

    ``listed`` where an error may name all columns, because they cannot be data.
    """
    if not all(isinstance(name, str) for name in names):
        raise UnreadableTableError(f"{table} has column names that are not text. Rename its columns.")
    validate.columns_exist(wanted, names, table, listed=listed)
    seen: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        first = seen.setdefault(name.casefold(), place)
        if first != place:
            raise UnusableColumnError(
                f"{table} has two columns of one name, capital letters aside: columns {first} and {place}. "
                "Rename one of them."
            )


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
    if not os.path.isfile(path):  # opening a pipe would wait for it
        raise UnreadableTableError(f"{path!r} is a pipe or a device, and can be read once at most. {STORE_IT}")
    try:
        with open(path, "rb") as stream:
            start = stream.read(8)
    except OSError as error:
        raise UnreadableTableError(f"cannot read {path!r}: {error.strerror}.") from None
    if not start:
        raise UnreadableTableError(f"{path!r} is empty.")
    for mark, what in OTHERS.items():
        if start.startswith(mark):
            raise UnreadableTableError(f"{path!r} is {what}.")


def is_parquet(path: str) -> bool:
    """Whether a file is Parquet, by its name or its first bytes."""
    if path.lower().endswith(PARQUET_ENDINGS):
        return True
    with open(path, "rb") as stream:
        return stream.read(4) == b"PAR1"


@contextlib.contextmanager
def readable(name: str, table: Any = None) -> Iterator[None]:
    """DuckDB's errors in our words: its own quote the offending line, and logs travel further than data.

    Where the table is a path of several Parquet files, those that do not fit together are told apart from damaged ones.
    """
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except RuntimeError as error:
        if "interrupted" in str(error):  # as DuckDB says it where a person stops it
            raise KeyboardInterrupt from None
        raise
    except duckdb.Error as error:
        reason = _misfit(os.fspath(table)) if isinstance(table, str | os.PathLike) else None
        raise UnreadableTableError(reason or _reason(name, str(error))) from None
    except MemoryError:
        raise DataError(f"{name} needs more memory than there is. Choose fewer columns or bin them.") from None


def _misfit(path: str) -> str | None:
    """Which of several Parquet files lacks a column that the first one has."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        files = table_files(path)
        if len(files) < 2 or not all(map(is_parquet, files)):
            return None
        first = pq.read_schema(files[0])
        for file in files[1:]:
            schema = pq.read_schema(file)
            for column in first.names:
                if column not in schema.names:
                    return f"{file!r} has no column {column!r}, which {files[0]!r} has. Leave one of them out."
    except (pa.ArrowException, OSError, DataError):
        return None
    return None


def _reason(name: str, message: str) -> str:
    lowered = message.lower()
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f" at line {line.group(1)}" if line else ""
    if "no space left" in lowered or "could not write" in lowered or "max_temp_directory_size" in lowered:
        return "the result cannot be written: there is no space left on the disk."
    if lowered.startswith("out of memory"):
        return (
            f"{name} needs more memory than DuckDB may take. Raise the limit (memory_limit, --memory-limit), leave it "
            "out, or choose fewer columns."
        )
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
