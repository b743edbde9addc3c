"""What a reader sees of where a row stands: its place, and whether it is like the rows around it.

Rows that keep their order can be put beside each other. Where the order goes with S, so does a row's place; where it
goes with useful values, a row that shows somebody else's stands out from its neighbours.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet._support.numeric import FloatArray, IntArray
from discreet.twins.cells import Cells, cells_of

__all__ = ["standing_beside", "standing_elsewhere"]

#: Rows on either side that a row is compared with.
AROUND = 3

#: Steps in which unlikeness is told apart.
STEPS = 200


def standing_beside(columns: Sequence[Cells]) -> tuple[Cells, ...]:
    """Further columns of a table in its order: the place of each row, and how unlike its neighbours it is.

    Columns count by how alike neighbours are in them: not at all where the order has nothing to do with them.
    """
    import pyarrow as pa

    rows = len(columns[0].codes)
    found = [cells_of("place of the row", pa.array(np.arange(rows)))]
    unlike = sum((_unlike(cells) for cells in columns), np.zeros(rows))
    steps = np.rint(unlike / max(float(unlike.max(initial=0.0)), 1e-12) * STEPS).astype(np.int64)
    return (*found, cells_of("unlike its neighbours", pa.array(steps)))


def standing_elsewhere(columns: Sequence[Cells], places: IntArray) -> tuple[Cells, ...]:
    """The same of rows that stand at other places than they are listed at."""
    order = np.argsort(places, kind="stable")
    found = standing_beside([cells.taken(order) for cells in columns])
    back = np.argsort(order, kind="stable")
    return tuple(cells.taken(back) for cells in found)


def _unlike(cells: Cells) -> FloatArray:
    """How far each cell is from most of those around it, times how much nearer these are than any others."""
    places = np.append(cells.ranks, -1.0)[cells.codes] if cells.is_ordered else cells.codes.astype(np.float64)
    around = np.full((2 * AROUND, len(places)), np.nan)
    for step in range(1, AROUND + 1):
        apart = _apart(places[step:], places[:-step], is_ordered=cells.is_ordered)
        around[2 * step - 2, step:], around[2 * step - 1, :-step] = apart, apart
    chance = np.random.default_rng(0).permutation(places)
    expected = float(_apart(places, chance, is_ordered=cells.is_ordered).mean())
    if expected == 0:
        return np.zeros(len(places))
    likeness = max(0.0, 1.0 - float(np.nanmean(around)) / expected)
    result: FloatArray = likeness * np.nanmedian(around, axis=0) / expected
    return result


def _apart(first: FloatArray, second: FloatArray, *, is_ordered: bool) -> FloatArray:
    result: FloatArray = np.abs(first - second) if is_ordered else (first != second).astype(np.float64)
    return result
