"""Does the order of rows give a column away? A release that keeps the order of its input would then tell it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np

from discreet._numeric import BoolArray, IntArray

__all__ = ["BLOCK", "is_grouped"]

#: Rows in a stretch that is looked at as a whole where a table is too long to look at all of it.
BLOCK = 2048

#: Neighbours that are alike this much of the way from chance to certainty give a column away.
LARGEST_EXCESS = 0.5

#: Chance below which rows of equal values side by side are no accident.
ACCIDENT = 1e-3

#: Standard deviations below which an excess may be an accident.
DEVIATIONS = 6.0


def is_grouped(codes: IntArray, follows: BoolArray) -> bool:
    """Whether equal values stand side by side far more often than chance has it.

    Parameters
    ----------
    codes : ndarray of int
        Values of the column, row by row.
    follows : ndarray of bool
        For each row but the first, whether the row before it in ``codes`` is the one before it in the table.
    """
    alike = (codes[1:] == codes[:-1])[follows]
    shares = np.bincount(codes) / max(len(codes), 1)
    if len(alike) == 0 or (shares > 0).sum() < 2:
        return False
    if follows.all() and (~alike).sum() + 1 == (shares > 0).sum() and _chance_of_groups(np.bincount(codes)) < ACCIDENT:
        return True
    chance = float((shares**2).sum())
    excess = (alike.mean() - chance) / (1 - chance)
    deviation = math.sqrt(chance * (1 - chance) / len(alike))
    return bool(excess > LARGEST_EXCESS and alike.mean() - chance > DEVIATIONS * deviation)


def _chance_of_groups(counts: IntArray) -> float:
    """Chance that a random order puts every value in one run."""
    present = counts[counts > 0]
    logs = [math.lgamma(n + 1) for n in present.tolist()]
    return math.exp(math.lgamma(len(present) + 1) + sum(logs) - math.lgamma(int(present.sum()) + 1))
