"""Digests: of files, byte by byte; of rows, whatever their order and format, never as a sum."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

from discreet._support.beside import begun
from discreet._support.errors import InternalError
from discreet.tables.dialect import DUCKDB, Dialect

__all__ = [
    "Content",
    "FilesDigest",
    "file_digest",
    "files_digest",
    "growing_digest",
    "ordered_digest",
    "part_digests",
    "relation_digest",
    "row_digest",
    "row_groups",
    "rows_digest",
]

#: Rows that are hashed as one block where their order counts.
BLOCK = 4096

#: First digits of row digests that are sorted and hashed as one group.
GROUP = 3


class Content(NamedTuple):
    """The digest of a table, and what it is the digest of: its files, or its rows in any order."""

    of: str
    digest: str


def file_digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file, as ``sha256sum`` prints it."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def growing_digest(path: str | os.PathLike[str], sizes: Sequence[Future[int]]) -> str:
    """SHA-256 of a file that still grows: up to each of some sizes as soon as that one is reached, the last one whole.

    >>> growing_digest(os.devnull, [])[:8]
    'e3b0c442'
    """
    found = hashlib.sha256()
    block = memoryview(bytearray(1 << 18))
    with open(path, "rb", buffering=0) as stream:
        for size in sizes:
            left = size.result() - stream.tell()
            while left > 0:
                number = stream.readinto(block[:left])
                if not number:
                    raise InternalError("a file is shorter than what was written to it.")
                found.update(block[:number])
                left -= number
    return found.hexdigest()


def files_digest(files: Sequence[str], root: str) -> str:
    """Of one file its own digest; of several, that of the list which ``sha256sum`` prints of them, sorted by name."""
    if len(files) == 1:
        return file_digest(files[0])
    named = sorted((os.path.relpath(file, root), file_digest(file)) for file in files)
    return hashlib.sha256("".join(f"{found}  {name}\n" for name, found in named).encode()).hexdigest()


class FilesDigest:
    """`files_digest` beside other work: begun early, and waited for where it is needed."""

    def __init__(self, files: Sequence[str], root: str) -> None:
        self._files, self._root = files, root
        self._found: Future[str] | None = None

    def start(self) -> None:
        """Begin, unless it was begun before."""
        if self._found is None:
            self._found = begun(files_digest, self._files, self._root)

    def result(self) -> str:
        """The digest; it is computed now where nobody began."""
        self.start()
        assert self._found is not None
        return self._found.result()


def part_digests(folder: str | os.PathLike[str]) -> dict[str, str]:
    """The digest of each file in a folder that holds data; hidden ones and markers such as _SUCCESS do not."""
    root = Path(folder)
    found = [path for path in root.rglob("*") if path.is_file()]
    names = {path.relative_to(root): path for path in found}
    shown = {name: path for name, path in names.items() if not any(part[0] in "._" for part in name.parts)}
    return {name.as_posix(): file_digest(path) for name, path in sorted(shown.items())}


def row_digest(dialect: Dialect, columns: Sequence[str]) -> str:
    """SQL of a row's digest: SHA-256 of its cells in order, each as ``length:text`` in bytes, a null as ``n:``."""
    cells = []
    for column in columns:
        text = dialect.as_text(dialect.identifier(column))
        cells += [f"coalesce({dialect.as_text(f'octet_length({dialect.octets.format(text)})')}, 'n')", "':'"]
        cells.append(f"coalesce({text}, '')")
    return dialect.sha256(f"concat({', '.join(cells)})")


def row_groups(dialect: Dialect, columns: Sequence[str], source: str) -> str:
    """A query for (first digits, digest) of every group: SHA-256 over the sorted "digest count" of its rows."""
    hashed = f"SELECT {row_digest(dialect, columns)} AS h FROM {source}"
    counted = f"SELECT h, count(*) AS n FROM ({hashed}) AS rows_ GROUP BY h"
    lines = dialect.joined("h || ' ' || " + dialect.as_text("n"))
    return f"SELECT substr(h, 1, {GROUP}) AS g, {dialect.sha256(lines)} AS d FROM ({counted}) AS counted_ GROUP BY 1"


def rows_digest(groups: Sequence[tuple[str, str]]) -> str:
    """The digest of a table's rows out of those of its groups: SHA-256 over the sorted (row digest, multiplicity).

    Two tables that share it have the same rows, each as often, unless someone found a collision of SHA-256. A sum of
    row digests would be no such thing: Wagner's generalised birthday finds other rows with the same sum in minutes.
    """
    return hashlib.sha256("".join(f"{g} {d}\n" for g, d in sorted(groups)).encode()).hexdigest()


def relation_digest(relation: Any, columns: Sequence[str]) -> str:
    """`rows_digest` of these columns of a DuckDB relation."""
    return rows_digest(relation.query("discreet_rows", row_groups(DUCKDB, columns, "discreet_rows")).fetchall())


def ordered_digest(relation: Any, columns: Sequence[str], place: str) -> str:
    """SHA-256 over the digests of rows in their order, by the column that holds their places; in blocks."""
    hashed = f"SELECT {place} AS k, {row_digest(DUCKDB, columns)} AS h FROM discreet_rows"
    blocks = f"SELECT k // {BLOCK} AS g, sha256(string_agg(h, ',' ORDER BY k)) AS d FROM ({hashed}) GROUP BY 1"
    found = relation.query("discreet_rows", blocks).fetchall()
    return hashlib.sha256("".join(f"{g} {d}\n" for g, d in sorted(found)).encode()).hexdigest()
