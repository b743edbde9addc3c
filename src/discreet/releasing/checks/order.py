"""Does the order of rows give a column away? A release that keeps the order of its input would then tell it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.core import labels

__all__ = ["BLOCK", "is_telling", "ranks"]

#: Rows in a stretch that is looked at as a whole where a table is too long to look at all of it.
BLOCK = 2048

#: Neighbours that are alike this much of the way from chance to certainty give a column away.
LARGEST_EXCESS = 0.5

#: Chance below which rows of equal values side by side are no accident.
ACCIDENT = 1e-3

#: Standard deviations below which an excess may be an accident.
DEVIATIONS = 6.0


def is_telling(codes: IntArray, follows: BoolArray, shares: FloatArray) -> bool:
    """Whether the order of rows tells the values of a column: equal values, or close ones, stand side by side.

    Parameters
    ----------
    codes : ndarray of int
        Values of the column, row by row, as ranks in their own order.
    follows : ndarray of bool
        For each row but the first, whether the row before it in ``codes`` is the one before it in the table.
    shares : ndarray
        How often each value occurs in the whole table, of which ``codes`` may show a part.
    """
    first, second = codes[:-1][follows], codes[1:][follows]
    if len(first) == 0 or (shares > 0).sum() < 2:
        return False
    alike = float((first == second).mean())
    counts = np.bincount(codes)
    in_runs = int((codes[1:] != codes[:-1]).sum()) + 1 == int((counts > 0).sum())
    if follows.all() and in_runs and _chance_of_groups(counts) < ACCIDENT:
        return True
    chance = float((shares**2).sum())
    deviation = math.sqrt(max(chance * (1 - chance), 1e-300) / len(first))
    if (alike - chance) / (1 - chance) > LARGEST_EXCESS and alike - chance > DEVIATIONS * deviation:
        return True
    if first.std() == 0 or second.std() == 0:
        return False
    related = float(np.corrcoef(first, second)[0, 1])
    return related > LARGEST_EXCESS and related * math.sqrt(len(first)) > DEVIATIONS


def _chance_of_groups(counts: IntArray) -> float:
    """Chance that a random order puts every value in one run."""
    present = counts[counts > 0]
    logs = [math.lgamma(n + 1) for n in present.tolist()]
    return math.exp(math.lgamma(len(present) + 1) + sum(logs) - math.lgamma(int(present.sum()) + 1))


def ranks(column: Any) -> IntArray:
    """Values of an Arrow column as ranks in the order of an alphabet."""
    encoded = column.combine_chunks().dictionary_encode("encode")
    values = encoded.dictionary.to_pylist()
    order = sorted(range(len(values)), key=lambda k: labels.sort_key(values[k]))
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values))
    result: IntArray = rank[np.asarray(encoded.indices)]
    return result
