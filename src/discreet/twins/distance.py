"""How far two records are apart: a weighted sum over columns, in whole numbers.

Different categories are as far apart as can be. Values with an order are as far apart as the share of cells between
them, and a little for being different at all; so are null and everything else. Whole numbers make the nearest twins
the same on every machine.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._support.errors import InputError
from discreet._support.numeric import IntArray
from discreet.twins.cells import Cells

__all__ = ["MOST_WEIGHT", "Distance", "checked_weight"]

#: Distance of two different categories under the weight 1.
UNIT = 256

#: Part of the distance between different values of an order that is there however near they are.
DIFFERENT = 64

#: Steps of the weight 1.
STEPS = 16

#: A weight of infinity counts so much: more than all other columns together.
MOST_WEIGHT = 1000.0


class Distance:
    """The distance between records of one table.

    Parameters
    ----------
    columns : sequence of Cells
        All useful columns.
    weights : mapping of str to float
        How much a column counts, 1 where it is not named; infinity: twins share its value wherever they can.
    """

    def __init__(self, columns: Sequence[Cells], weights: Mapping[str, float] | None = None) -> None:
        self._weights = [checked_weight(cells.name, (weights or {}).get(cells.name, 1.0)) for cells in columns]
        self._codes = [cells.codes.astype(np.int32) for cells in columns]
        self._places = [_places(cells) if cells.is_ordered else None for cells in columns]

    def between(self, rows: IntArray, others: IntArray) -> NDArray[np.int32]:
        """Distances of some records from some others, a matrix."""
        total = np.zeros((len(rows), len(others)), dtype=np.int32)
        for weight, codes, places in zip(self._weights, self._codes, self._places):
            steps = round(weight * STEPS)
            different = codes[rows][:, None] != codes[others]
            if places is None:
                total += different * np.int32(steps * UNIT)
                continue
            total += np.abs(places[rows][:, None] - places[others]) * np.int32(steps)
            total += different * np.int32(steps * DIFFERENT)
        return total


def _places(cells: Cells) -> NDArray[np.int32]:
    """Ranks of cells in whole numbers; null is half-way from everything."""
    return np.rint(cells.of_values(cells.ranks, 0.5) * (UNIT - DIFFERENT)).astype(np.int32)


def checked_weight(name: str, weight: Any) -> float:
    """The weight of a column as it counts, refused where it is none."""
    if isinstance(weight, bool) or not isinstance(weight, Real) or math.isnan(weight) or weight < 0:
        raise InputError(f"the weight of {name!r} must be a number of at least 0, or infinity, got {weight!r}.")
    return min(float(weight), MOST_WEIGHT)
