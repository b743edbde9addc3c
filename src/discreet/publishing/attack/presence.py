r"""What the number of times that somebody's tuple appears in a release tells about S.

Who knows the useful values of a person counts them in the release. Where a mechanism was made of each person's own S,
that number tells it. Of records whose tuple occurs once in the original, grouped by appearances, two things are said:
how common s is among them, and how common given what x tells anyway. The second is

.. math:: \log \frac{O}{E}, \qquad E = \sum_i \frac{N(s, c(i))}{N(c(i))}

where O of the group's records have s, and c(i) are classes of beliefs that were learned without the record's own S.
Limits of O are exact for a Poisson number [GAR36], whose spread is larger than that of a sum of independent trials.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet._support.numeric import FloatArray, IntArray, log
from discreet.publishing.attack.cells import tuple_keys
from discreet.publishing.attack.models import MODELS, learned
from discreet.publishing.features import features_of
from discreet.twins.cells import Cells

__all__ = ["Appearances", "PresenceCell", "appearances_of", "presence_cells"]

#: Groups: so many appearances, the last one or more.
GROUPS = ("0", "1", "2", "3+")

#: Records that are looked at: for beliefs in all, and with their appearances.
MOST_POOLED, MOST_MEASURED = 300_000, 200_000

#: Fewer records with tuples of their own, or fewer of them in the release, say nothing.
LEAST_RECORDS, LEAST_APPEARING = 100, 0.01

#: Records in a class of beliefs at least, and how many classes there are.
CLASS_RECORDS, FEWEST_CLASSES, MOST_CLASSES = 500, 5, 40


class PresenceCell(NamedTuple):
    """Records whose tuple appears so often, and one sensitive value, by its place.

    k of n have it; ``log_lift`` compares that with its share in the table, ``log_ratio`` with the number expected from
    learned beliefs, between ``low`` and ``high``; nats.
    """

    appearances: str
    value: int
    n: int
    k: int
    expected: float
    log_lift: float
    log_ratio: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Appearances:
    """Counts of groups and sensitive values, shape (groups, n_values); or the reason why there are none."""

    n: IntArray
    k: IntArray
    expected: FloatArray
    reason: str = ""

    @property
    def n_cells(self) -> int:
        """Cells that have limits."""
        return int((self.expected > 0).sum())


def appearances_of(
    before: Sequence[Cells],
    after: Sequence[Cells],
    secret: IntArray,
    n_values: int,
    seed: int,
    beliefs: FloatArray | None = None,
) -> Appearances:
    """Records of the original by appearances of their tuples; ``before`` and ``after`` share columns and codes."""
    if not before:
        return _none("no column of the release holds values of the original.")
    keys = tuple_keys(before, seed)
    own, there = _times(keys, keys), _times(tuple_keys(after, seed), keys)
    pool = np.random.default_rng(seed).permutation(len(keys))[:MOST_POOLED]
    rows = pool[own[pool] == 1][:MOST_MEASURED]
    group = np.minimum(there[rows], len(GROUPS) - 1)
    reason = _reason(group)
    if reason:
        return _none(reason)
    believed = _out_of_fold(before, keys, secret, n_values, pool, rows, seed) if beliefs is None else beliefs[rows]
    return _grouped(group, secret[rows], _calibrated(believed, secret[rows]), n_values)


def _none(reason: str) -> Appearances:
    empty = np.zeros((0, 0), dtype=np.int64)
    return Appearances(empty, empty, np.zeros((0, 0)), reason)


def _reason(group: IntArray) -> str:
    if len(group) < LEAST_RECORDS:
        have = f"only {len(group):,} records have" if len(group) else "no record has"
        return f"{have} a tuple that occurs once in the original."
    if (group > 0).mean() < LEAST_APPEARING:
        return f"of {len(group):,} tuples that occur once in the original, fewer than one in a hundred is released."
    return "" if len(np.unique(group)) > 1 else "all tuples that occur once in the original are released equally often."


def _times(keys: IntArray, asked: IntArray) -> IntArray:
    """How often each asked key is among some."""
    found, counts = np.unique(keys, return_counts=True)
    place = np.minimum(np.searchsorted(found, asked), len(found) - 1)
    result: IntArray = np.where(found[place] == asked, counts[place], 0)
    return result


def _out_of_fold(
    before: Sequence[Cells], keys: IntArray, secret: IntArray, n_values: int, pool: IntArray, rows: IntArray, seed: int
) -> FloatArray:
    """Beliefs about records from models of the other half of all tuples, so that no duplicate tells of itself."""
    features = features_of([cells.taken(pool) for cells in before])
    place = np.empty(len(keys), dtype=np.int64)
    place[pool] = np.arange(len(pool))
    fold, own_fold = keys[pool] & 1, keys[rows] & 1
    result = np.zeros((len(rows), n_values))
    for side in (0, 1):
        others = np.flatnonzero(fold != side)
        if len(others) and (own_fold == side).any():
            model = learned(MODELS["boosting"], features.of(others), secret[pool[others]], n_values, seed)
            result[own_fold == side] = model(features.matrix[place[rows[own_fold == side]]])
    return result


def _calibrated(beliefs: FloatArray, secret: IntArray) -> FloatArray:
    """Shares of s among records of about the same belief in it, own ones included, shape (n, n_values)."""
    wanted = int(np.clip(len(secret) // CLASS_RECORDS, FEWEST_CLASSES, MOST_CLASSES))
    result = np.zeros(beliefs.shape)
    for value, column in enumerate(beliefs.T):
        _, place, counts = np.unique(column, return_inverse=True, return_counts=True)
        middle = (np.cumsum(counts) - counts / 2) / len(column)
        part = np.minimum((middle * wanted).astype(np.int64), wanted - 1)[place]
        totals = np.bincount(part, minlength=wanted)
        result[:, value] = (np.bincount(part, secret == value, wanted) / np.maximum(totals, 1))[part]
    return result


def _grouped(group: IntArray, secret: IntArray, expected: FloatArray, n_values: int) -> Appearances:
    size = len(GROUPS)
    k = np.bincount(group * n_values + secret, minlength=size * n_values).reshape(size, n_values)
    sums: FloatArray = np.stack([np.bincount(group, column, size) for column in expected.T], axis=1)
    return Appearances(np.bincount(group, minlength=size), k, sums)


def presence_cells(
    counted: Appearances, prior: FloatArray, alpha: float, rows_each: float = 1.0
) -> tuple[PresenceCell, ...]:
    """All cells, each with limits that fail with probability alpha at most; so many rows say no more than one."""
    from scipy.special import gammaincinv

    cells = []
    for group, value in zip(*np.nonzero(counted.expected > 0)):
        n, k, expected = int(counted.n[group]), int(counted.k[group, value]), float(counted.expected[group, value])
        low = float(gammaincinv(k / rows_each, alpha / 2)) * rows_each if k else 0.0
        high = float(gammaincinv(k / rows_each + 1, 1 - alpha / 2)) * rows_each
        logs = log(np.array([k / n / prior[value], k / expected, low / expected, high / expected]))
        cells.append(PresenceCell(GROUPS[group], int(value), n, k, expected, *map(float, logs)))
    return tuple(cells)
