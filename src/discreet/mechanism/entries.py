"""Rows of integer weights, kept sparse: what plain channels and channels that read S are made of."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet._support.errors import InvalidMechanismError
from discreet._support.numeric import DENOMINATOR, DENOMINATOR_BITS, FloatArray, IntArray, ObjectArray, WeightArray
from discreet.mechanism.weights import denominator_of, shares

__all__ = ["Entries", "Spread"]


class Entries(NamedTuple):
    """The positive weights, row by row: row, released symbol, weight over 2**60 or 2**120."""

    rows: IntArray
    columns: IntArray
    weights: WeightArray

    @classmethod
    def checked(
        cls, given: tuple[Any, Any, Any], n_rows: int, released: Sequence[str], denominator: int = DENOMINATOR
    ) -> Entries:
        """Sorted, immutable entries; every row sums to the denominator and every released symbol occurs."""
        rows, columns = (np.asarray(part, dtype=np.int64) for part in given[:2])
        weights = np.asarray(given[2], dtype=_kind_of(denominator))
        if not (rows.shape == columns.shape == weights.shape) or rows.ndim != 1:
            raise InvalidMechanismError("entries must be three vectors of one length.")
        if not all(isinstance(label, str) for label in released) or len(set(released)) != len(released):
            raise InvalidMechanismError("released labels must be distinct strings.")
        if len(rows) and (
            rows.min() < 0 or rows.max() >= n_rows or columns.min() < 0 or columns.max() >= len(released)
        ):
            raise InvalidMechanismError("an entry points outside the alphabets.")
        order = np.lexsort((columns, rows))
        entries = cls(rows[order], columns[order], weights[order])
        entries._check_weights(n_rows, len(released))
        for part in entries:
            part.setflags(write=False)
        return entries

    def _check_weights(self, n_rows: int, n_released: int) -> None:
        rows, columns, weights = self
        if ((np.diff(rows) == 0) & (np.diff(columns) == 0)).any():
            raise InvalidMechanismError("an entry occurs twice.")
        if len(weights) and (weights.min() <= 0 or weights.max() > self.denominator):
            raise InvalidMechanismError(f"weights must lie between 1 and {self._whole_text}.")
        if len(rows) == 0 or (np.bincount(rows, minlength=n_rows) == 0).any():
            raise InvalidMechanismError("every useful symbol needs a released one.")
        # At most 2**60 each, so a row of over 8 entries could overflow 64 bits: halves are summed apart.
        starts = np.searchsorted(rows, np.arange(n_rows))
        low = np.add.reduceat(weights & 0xFFFFFFFF, starts)
        high = np.add.reduceat(weights >> 32, starts)
        if (low & 0xFFFFFFFF).any() or (high + (low >> 32) != self.denominator >> 32).any():
            raise InvalidMechanismError(f"the weights of every useful symbol must sum to exactly {self._whole_text}.")
        if (np.bincount(columns, minlength=n_released) == 0).any():
            raise InvalidMechanismError("every released symbol needs a useful one.")

    @property
    def denominator(self) -> int:
        """What the weights of a row sum to."""
        return denominator_of(self.weights)

    @property
    def _whole_text(self) -> str:
        return f"2**{self.denominator.bit_length() - 1}"

    @property
    def shares(self) -> FloatArray:
        """The weights as probabilities."""
        return shares(self.weights)

    @classmethod
    def of_matrix(cls, matrix: Any) -> tuple[Entries, IntArray]:
        """Entries of a dense matrix of weights, and the columns that occur: others are left out."""
        used = np.flatnonzero((matrix > 0).any(axis=0))
        rows, columns = np.nonzero(matrix[:, used])
        return cls(rows, columns, matrix[:, used][rows, columns]), used

    @classmethod
    def stored(cls, rows: Any, denominator: int = DENOMINATOR) -> Entries:
        """Out of the rows of a stored mechanism, each a list of (released symbol, weight)."""
        triples = [(i, j, w) for i, row in enumerate(rows) for j, w in row]
        if not all(type(n) is int for triple in triples for n in triple):
            raise InvalidMechanismError("rows of a mechanism must be pairs of integers.")
        table = np.array(triples, dtype=_kind_of(denominator)).reshape(-1, 3).T
        return cls(table[0].astype(np.int64), table[1].astype(np.int64), table[2])

    def to_lists(self, n_rows: int) -> list[list[list[int]]]:
        """The inverse of `stored`."""
        pairs = list(zip(self.columns.tolist(), self.weights.tolist()))
        return [[list(pair) for pair in pairs[a:b]] for a, b in itertools.pairwise(self.starts(n_rows).tolist())]

    def starts(self, n_rows: int) -> IntArray:
        """First entry of each row, and the number of entries at the end."""
        return np.searchsorted(self.rows, np.arange(n_rows + 1))

    def dense(self, n_rows: int, n_released: int) -> WeightArray:
        """The weights as a matrix that cannot be written to."""
        matrix: WeightArray = np.zeros((n_rows, n_released), dtype=self.weights.dtype)
        matrix[self.rows, self.columns] = self.weights
        matrix.setflags(write=False)
        return matrix

    @property
    def is_deterministic(self) -> bool:
        """Whether every row has one entry."""
        return bool((self.weights == self.denominator).all())

    def sample(self, rows: IntArray, rng: np.random.Generator, n_rows: int) -> IntArray:
        """A released symbol for each given row."""
        drawn = _uniform(rng, len(rows), self.denominator)
        order, starts = np.argsort(rows, kind="stable"), self.starts(n_rows)
        result = np.empty(len(rows), dtype=np.int64)
        for row in np.unique(rows).tolist():
            here = order[slice(*np.searchsorted(rows[order], [row, row + 1]))]
            part = slice(starts[row], starts[row + 1])
            # The cumulated weights are the thresholds: entry k is drawn for draws from its threshold's predecessor on.
            result[here] = self.columns[part][np.searchsorted(np.cumsum(self.weights[part]), drawn[here], "right")]
        return result


def _kind_of(denominator: int) -> Any:
    """The type of array that holds weights over it."""
    return np.int64 if denominator == DENOMINATOR else object


def _uniform(rng: np.random.Generator, size: int, denominator: int) -> WeightArray:
    """Integers from 0 to below the denominator, each as likely as any other."""
    low = rng.integers(0, DENOMINATOR, size)
    if denominator == DENOMINATOR:
        return low
    result: ObjectArray = (rng.integers(0, DENOMINATOR, size).astype(object) << DENOMINATOR_BITS) | low.astype(object)
    return result


#: Products of entries and sensitive values from which a matrix is made of a channel with so large a share of entries,
#: if it has no more than so many cells.
MANY_PRODUCTS, DENSE, MOST_DENSE = 10_000_000, 0.01, 50_000_000


class Spread(NamedTuple):
    """Where the mass of each symbol goes: entries sorted by released symbol, one run per released symbol."""

    source: IntArray  # useful symbol of the entry
    weight: WeightArray
    starts: IntArray  # first entry of each released symbol

    def floats(self, cells: FloatArray) -> FloatArray:
        """``cells @ channel`` in floats."""
        if self._is_dense(cells):
            return cells @ self._channel(cells.shape[1])
        moved = cells[:, self.source] * shares(self.weight)
        return np.add.reduceat(moved, self.starts, axis=1)

    def _is_dense(self, cells: FloatArray) -> bool:
        """Whether a product of matrices is faster: zeros that it adds are exact, so it rounds no more often."""
        whole = cells.shape[1] * len(self.starts)
        return len(self.source) * len(cells) > MANY_PRODUCTS and whole <= min(MOST_DENSE, len(self.source) / DENSE)

    def _channel(self, n_useful: int) -> FloatArray:
        """P(y | x) as a matrix."""
        released = np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=len(self.source)))
        result = np.zeros((n_useful, len(self.starts)))
        np.add.at(result, (self.source, released), shares(self.weight))
        return result

    def rounding(self, n_sensitive: int) -> FloatArray:
        """Nats by which a level of each released symbol may be off where P(s, y) comes from `floats`, of counts.

        A cell is a sum of k products of numbers that are rounded once: relatively off by at most (k + 3) u with u =
        2**-53. P(y) adds n_sensitive of them up, P(s) is rounded once, so a lift is off by (2 k + n_sensitive + 10) u,
        and a level, at most 2-Lipschitz in logarithms of lifts, by twice that and its own few roundings.
        """
        runs = np.diff(self.starts, append=len(self.source))
        result: FloatArray = 8.0 * (runs + n_sensitive + 16) * 2.0**-53
        return result

    def integers(self, masses: ObjectArray) -> ObjectArray:
        """``masses @ weights`` in integers, up to a common factor."""
        moved = masses[:, self.source]
        if not (self.weight == denominator_of(self.weight)).all():
            moved = moved * self.weight.astype(object)
        return np.add.reduceat(moved, self.starts, axis=1)
