"""Does the order of rows give a column away? A release that keeps the order of its input would then tell it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet._support.errors import UnusableColumnError
from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.releasing.plan import Plan
from discreet.tables.session import Table

__all__ = ["check_order", "is_telling", "ranks"]

#: Neighbours that are alike this much of the way from chance to certainty give a column away.
LARGEST_EXCESS = 0.5

#: Chance below which rows of equal values side by side are no accident.
ACCIDENT = 1e-3

#: Standard deviations below which an excess may be an accident.
DEVIATIONS = 6.0


def check_order(table: Table, plan: Plan, joint: Joint) -> None:
    """A release in the order of its input must not tell a protected column by it; ``joint`` are the table's counts."""
    if plan.shuffle:
        return
    watched = (*plan.useful, *plan.sensitive)
    symbols = [table.dialect.symbol(c, table.kinds[c], plan.mechanism.bins.get(c)) for c in watched]
    shown, follows = table.neighbours(symbols, int(joint.records or 0), plan.read)
    for column, cells in zip(watched, shown):
        if is_telling(ranks(cells), follows, _shares(joint, plan, column)):
            raise UnusableColumnError(
                f"the rows are sorted or partitioned by {column!r}, so their order would tell its values. Release them "
                "in a keyed random order (shuffle=True, --shuffle)."
            )


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


def _shares(joint: Joint, plan: Plan, column: str) -> FloatArray:
    """How often each value of one column occurs in the whole table."""
    is_useful = column in plan.useful
    columns = plan.useful if is_useful else plan.sensitive
    names, mass = (joint.useful, joint.p_useful) if is_useful else (joint.sensitive, joint.p_sensitive)
    parts = [name[columns.index(column)] if len(columns) > 1 else name for name in names]
    place = {part: k for k, part in enumerate(dict.fromkeys(parts))}
    result: FloatArray = np.bincount([place[part] for part in parts], mass).astype(np.float64)
    return result
