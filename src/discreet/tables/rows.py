"""Rows of Parquet files shared out among workers."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

__all__ = ["RowRange", "rows_of_files", "shared_out"]


class RowRange(NamedTuple):
    """Rows of one file, the last one left out; or all rows of several files that follow each other.

    Attributes
    ----------
    files : tuple of str
        One file, or several.
    first, last : int
        Rows of the one file; of several, 0 and the number of their rows.
    before : int
        Rows of the table in front of the first one.
    """

    files: tuple[str, ...]
    first: int
    last: int
    before: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.last - self.first

    def condition(self, row: str) -> str:
        """SQL that holds for these rows, by the expression of a row's number in its file."""
        return "true" if len(self.files) > 1 else f"{row} >= {self.first} AND {row} < {self.last}"


def rows_of_files(files: Sequence[str]) -> int:
    """Number of rows that the files state."""
    import pyarrow.parquet as pq

    return sum(pq.read_metadata(file).num_rows for file in files)


def shared_out(files: Sequence[str], workers: int) -> list[list[RowRange]]:
    """Rows of files shared out among workers, in their order and about equally; cut where groups of rows end.

    Whole files that follow each other are one range, so that thousands of small ones are read by a few queries.
    """
    groups = list(_groups(files))
    total, done = sum(group.rows for group in groups), 0
    shares: list[list[RowRange]] = [[] for _ in range(min(workers, max(1, len(groups))))]
    for group in groups:
        share = shares[min(len(shares) - 1, done * len(shares) // max(1, total))]
        if share and share[-1].files == group.files:
            share[-1] = share[-1]._replace(last=group.last)
        else:
            share.append(group)
        done += group.rows
    sizes = {group.files[0]: group.last for group in groups}
    return [list(_together(share, sizes)) for share in shares if share]


def _groups(files: Sequence[str]) -> Iterator[RowRange]:
    """The groups of rows of all files."""
    import pyarrow.parquet as pq

    before = 0
    for file in files:
        metadata, first = pq.read_metadata(file), 0
        for number in range(metadata.num_row_groups):
            last = first + metadata.row_group(number).num_rows
            yield RowRange((file,), first, last, before + first)
            first = last
        before += first


def _together(share: Sequence[RowRange], sizes: dict[str, int]) -> Iterator[RowRange]:
    """Ranges that are whole files, and follow each other, as one."""
    whole: list[RowRange] = []
    for part in share:
        if part.first == 0 and part.last == sizes[part.files[0]]:
            whole.append(part)
            continue
        yield from _united(whole)
        whole = []
        yield part
    yield from _united(whole)


def _united(parts: Sequence[RowRange]) -> Iterator[RowRange]:
    if parts:
        files = tuple(file for part in parts for file in part.files)
        yield RowRange(files, 0, sum(part.rows for part in parts), parts[0].before)
