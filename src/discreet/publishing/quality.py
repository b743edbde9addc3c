r"""What a published table keeps: rows, columns, shares of values, and how columns go together.

The shares of a column's values are, on average over the draw, those of the original. How far one draw is off is
estimated by the rows in which the value came or went: :math:`\sqrt{\#\{i : 1[x'_i = v] \ne 1[x_i = v]\}} / n`, since
their differences are independent and sum to zero on average.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support.numeric import IntArray
from discreet.twins.cells import Cells

__all__ = ["ColumnKept", "Quality", "groups_of", "quality_of"]

#: Values with an order are compared in so many groups of about equally many cells.
GROUPS = 10

#: Values of a category that are compared by themselves; the rest is one group.
MOST_GROUPS = 30

#: Values that are compared one by one; of more, the groups are compared: single ones come and go by chance.
MOST_COMPARED = 200

#: Values of a column that are listed with their shares.
MOST_SHOWN = 12


@dataclass(frozen=True)
class ColumnKept:
    """One published column beside the original.

    Attributes
    ----------
    unchanged : float
        Share of rows whose cell is as it was.
    distance : float
        Half the sum of |share after - share before| over all values (total variation), or over groups of very many.
    error : float
        The largest standard error of a share, over the values or groups that are shown.
    shares : tuple of (str, float, float, float)
        Values or groups with their share before and after, and the standard error of the latter.
    largest : tuple of (str, float, float)
        The value or group whose share changed most, by how much, and the standard error of that share.
    """

    unchanged: float
    distance: float
    error: float
    shares: tuple[tuple[str, float, float, float], ...]
    largest: tuple[str, float, float]


@dataclass(frozen=True)
class Quality:
    """A published table beside the original.

    Attributes
    ----------
    unchanged : float
        Share of rows whose useful cells are all as they were.
    columns : dict of str to ColumnKept
        Every column by itself.
    pairs : tuple of (str, str, float, float)
        Cramer's V of every pair of columns, before and after.
    """

    unchanged: float
    columns: dict[str, ColumnKept]
    pairs: tuple[tuple[str, str, float, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "unchanged": self.unchanged,
            "columns": {
                name: {
                    "unchanged": kept.unchanged,
                    "distance": kept.distance,
                    "standard_error": kept.error,
                    "shares": [list(share) for share in kept.shares],
                    "largest_change": dict(zip(("value", "change", "standard_error"), kept.largest)),
                }
                for name, kept in self.columns.items()
            },
            "pairs": [list(pair) for pair in self.pairs],
        }


def quality_of(columns: Sequence[Cells], published: Sequence[Cells], *, exchanged: bool = False) -> Quality:
    """A published table beside its original, row by row; both are in one code.

    Where records were ``exchanged`` one for one, no draw changes a share.
    """
    same = [before.codes == after.codes for before, after in zip(columns, published, strict=True)]
    grouped = {cells.name: groups_of(cells) for cells in columns}
    kept, groups = {}, {}
    for cells, after in zip(columns, published):
        of_code, names = grouped[cells.name]
        groups[cells.name] = of_code[cells.codes], of_code[after.codes]
        kept[cells.name] = _kept(cells, after.codes, *groups[cells.name], names, exchanged)
    pairs = [
        (one, other, _cramer(first[0], second[0]), _cramer(first[1], second[1]))
        for (one, first), (other, second) in itertools.combinations(groups.items(), 2)
    ]
    return Quality(float(np.all(same, axis=0).mean()), kept, tuple(pairs))


def _kept(
    cells: Cells, after: IntArray, before: IntArray, now: IntArray, names: list[str], exchanged: bool
) -> ColumnKept:
    n = len(after)
    counts = [np.bincount(codes + 1, minlength=cells.n_values + 1) for codes in (cells.codes, after)]
    if cells.n_values > MOST_COMPARED:
        counts = [np.bincount(groups, minlength=len(names)) for groups in (before, now)]
    distance = float(np.abs(counts[1] - counts[0]).sum()) / (2 * n)
    moved = before != now
    came = np.bincount(before[moved], minlength=len(names)) + np.bincount(now[moved], minlength=len(names))
    shares = [np.bincount(codes, minlength=len(names)) / n for codes in (before, now)]
    errors = np.sqrt(came * (not exchanged)) / n
    listed = np.argsort(-shares[0], kind="stable")[:MOST_SHOWN] if not cells.is_ordered else np.arange(len(names))
    shown = tuple((names[k], float(shares[0][k]), float(shares[1][k]), float(errors[k])) for k in listed.tolist())
    changes = shares[1] - shares[0]
    most = int(np.abs(changes).argmax())
    largest = (names[most], float(changes[most]), float(errors[most]))
    return ColumnKept(float((after == cells.codes).mean()), distance, float(errors.max(initial=0.0)), shown, largest)


def groups_of(cells: Cells) -> tuple[IntArray, list[str]]:
    """Of each code its group, of null the last one: values of a category, stretches of an order."""
    if cells.n_values <= (GROUPS if cells.is_ordered else MOST_GROUPS):
        place = np.arange(cells.n_values)
        names = [str(value) for value in cells.values.to_pylist()]
    elif cells.is_ordered:
        place = np.minimum((cells.ranks * GROUPS).astype(np.int64), GROUPS - 1)
        odd = np.zeros(cells.n_values, dtype=bool) if cells.numbers is None else np.isnan(cells.numbers)
        place[odd] = GROUPS  # texts that are no number stand last in the order, and are none of the largest
        firsts = [int(np.flatnonzero(place == g)[0]) for g in np.unique(place)]
        names = ["neither number nor date" if odd[k] else f"from {cells.values[k].as_py()}" for k in firsts]
        place = np.unique(place, return_inverse=True)[1].reshape(-1)
    else:
        common = np.argsort(-cells.counts, kind="stable")[: MOST_GROUPS - 1]
        place = np.full(cells.n_values, MOST_GROUPS - 1)
        place[common] = np.arange(len(common))
        names = [*(str(cells.values[k].as_py()) for k in common.tolist()), "other values"]
    return np.append(place, len(names)).astype(np.int64), [*names, "null"]


def _cramer(one: IntArray, other: IntArray) -> float:
    """Cramer's V: 0 where columns have nothing to do with each other, 1 where one tells the other."""
    a, b = int(one.max()) + 1, int(other.max()) + 1
    table = np.bincount(one * b + other, minlength=a * b).reshape(a, b).astype(float)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    n, least = table.sum(), min(table.shape) - 1
    if least == 0:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / n / least))
