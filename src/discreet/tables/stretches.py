"""Which rows of a long table show its order: stretches of rows that follow each other, chosen blindly.

Nothing is sorted that is not shown. Stretches follow one another as in the table and have thousands of rows, so that
the rows shown are a sequence of their own: nearly all neighbours are neighbours in the table too, and a row's place
among the rows shown is about its place in the table. Were the table in a random order, so would these rows be.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["STRETCH", "every", "inside", "is_long", "windows"]

#: Rows up to which the whole order of a table is looked at.
MOST_ROWS = 2_000_000

#: About how many rows of a longer table are shown: they tell rates to a per cent, and looking at them takes time.
SHOWN = 1 << 19

#: Rows in a stretch of a file.
STRETCH = 2048

#: Stretches in the order of ids. They begin and end at some ids, of which one in this many is taken.
WINDOWS = 64
ONE_ID_IN = SHOWN // WINDOWS


def is_long(rows: int) -> bool:
    """Whether only parts of a table are looked at."""
    return rows > MOST_ROWS


def every(rows: int) -> int:
    """One in how many stretches of a file is shown."""
    return rows // SHOWN if is_long(rows) else 1


def windows(ids: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Ranges of ids, the last one left out, evenly spread over some ids in order.

    >>> windows([1, 4, 6])
    [(1, 4), (4, 6)]
    """
    gaps = len(ids) - 1
    chosen = sorted({k * (gaps - 1) // (WINDOWS - 1) for k in range(WINDOWS)}) if gaps > 0 else []
    return [(ids[k], ids[k + 1]) for k in chosen]


def inside(name: str, low: int, high: int) -> str:
    """SQL for ids within windows, whose ends are the parameters: by halving, how many of them an id has passed.

    >>> inside("id", 0, 2)
    'CASE WHEN id < $2 THEN CASE WHEN id < $1 THEN false ELSE true END ELSE false END'
    """
    if low == high:
        return "true" if low % 2 else "false"
    middle = (low + high) // 2
    before, behind = inside(name, low, middle), inside(name, middle + 1, high)
    return f"CASE WHEN {name} < ${middle + 1} THEN {before} ELSE {behind} END"
