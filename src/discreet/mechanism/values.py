r"""A mechanism in the column's own values: each released symbol y is read as a value drawn from what it stands for.

With :math:`q(x' \mid y) = P(x') P(y \mid x') / P(y)` the record's value becomes x' by the one channel

.. math:: R(x' \mid x) = \sum_y P(y \mid x) \, q(x' \mid y).

The weights of both steps are integers over 2**60, so those of R are integers over 2**120: nothing of R is rounded, and
R *is* a post-processing of y. Whatever convex promise y keeps, x' keeps exactly, also where the promise is met to the
last digit. Rounded to 2**60 it would not; pulled inside it would no longer be sparse.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import DENOMINATOR, DENOMINATOR_BITS, BoolArray, FloatArray, IntArray, ObjectArray
from discreet.mechanism.entries import Entries

__all__ = ["AS_LABELS", "Reading", "composed", "proportions"]

#: The way out of what cannot be released in values.
AS_LABELS = "Release its symbols as labels (as_values=False, --as-labels)."

#: Weights that R may have, and products of two weights that are added up to them.
MOST_ENTRIES, MOST_PRODUCTS = 10_000_000, 200_000_000

#: Symbols that stand for more values than ``MANY`` and take less than one in ``SELDOM`` records are not spelt out.
MANY, SELDOM = 8, 10**9

#: Products that are held at a time.
PRODUCTS_AT_ONCE = 1_000_000

#: Cells of the largest matrix, and products with zeros for each that counts, up to which matrices are multiplied.
MOST_DENSE, DENSER = 4_000_000, 50

#: Digits (in bits) that weights are cut into, so that floats hold sums of so many of their products exactly.
LIMBS = {20: 1 << 13, 15: 1 << 23}


class Reading(NamedTuple):
    """q(x' | y): which values each released symbol is read as, symbol by symbol, with weights over 2**60."""

    symbols: IntArray
    values: IntArray
    weights: IntArray

    @classmethod
    def of(cls, entries: Entries, masses: ObjectArray, value_of: IntArray, n_released: int) -> Reading:
        """What the symbols of a mechanism stand for on a table, each rounded to weights that sum to 2**60.

        Parameters
        ----------
        entries : Entries
            P(y | row).
        masses : ndarray of Python integers
            In proportion to how often each row of the mechanism is used.
        value_of : ndarray of int
            The useful value of each row.
        n_released : int
            Symbols. One that never occurs on the table is read as the commonest value, and so is one that stands for
            many values and takes less than a billionth of the records: the rest that makes a mixture exact stands for
            all of them, and would make every row of R as long as the alphabet. Any reading keeps what y keeps.
        """
        by_value = np.zeros(int(value_of.max()) + 1, dtype=object)
        np.add.at(by_value, value_of, masses)
        together = masses[entries.rows] * entries.weights.astype(object)
        occurs = np.flatnonzero(together)
        symbol, value = entries.columns[occurs], value_of[entries.rows[occurs]]
        order = np.lexsort((value, symbol))
        symbol, value, together = symbol[order], value[order], together[occurs][order]
        first = np.flatnonzero((np.diff(symbol, prepend=-1) != 0) | (np.diff(value, prepend=-1) != 0))
        symbol, value, together = symbol[first], value[first], np.add.reduceat(together, first)
        seldom = _seldom(symbol, together, int(masses.sum()))
        symbol, value, together = symbol[~seldom], value[~seldom], together[~seldom]
        weights = _rounded(symbol, together)
        unused = np.setdiff1d(np.arange(n_released), symbol)
        symbol = np.append(symbol, unused)
        value = np.append(value, np.full(len(unused), int(np.argmax(by_value))))
        weights = np.append(weights, np.full(len(unused), DENOMINATOR))
        order = np.argsort(symbol, kind="stable")
        order = order[weights[order] > 0]
        return cls(symbol[order], value[order], weights[order])


def _seldom(symbol: IntArray, together: ObjectArray, masses: int) -> BoolArray:
    """Entries of symbols that stand for many values and hardly ever occur; never those of all symbols."""
    starts = np.flatnonzero(np.diff(symbol, prepend=-1))
    sizes, total = np.diff(starts, append=len(symbol)), np.add.reduceat(together, starts)
    rare = np.array(total * SELDOM < masses * DENOMINATOR, dtype=bool) & (sizes > MANY)
    return np.repeat(rare, sizes)


def _rounded(symbol: IntArray, together: ObjectArray) -> IntArray:
    """Weights over 2**60 in proportion to masses, symbol by symbol; the largest takes what rounding leaves."""
    starts = np.flatnonzero(np.diff(symbol, prepend=-1))
    sizes = np.diff(starts, append=len(symbol))
    total = np.repeat(np.add.reduceat(together, starts), sizes)
    weights: IntArray = ((together << DENOMINATOR_BITS) // total).astype(np.int64)
    order = np.lexsort((-weights, symbol))
    weights[order[starts]] += DENOMINATOR - np.add.reduceat(weights, starts)
    return weights


def proportions(masses: ObjectArray) -> FloatArray:
    """Python integers as shares of their sum.

    >>> proportions(np.array([1, 3], dtype=object))
    array([0.25, 0.75])
    """
    return np.asarray(masses / masses.sum(), dtype=np.float64)


def composed(entries: Entries, reading: Reading) -> tuple[IntArray, IntArray, ObjectArray]:
    """R as (row, value, weight over 2**120), row by row: the exact sums of products of both steps' weights."""
    starts = np.searchsorted(reading.symbols, np.arange(int(reading.symbols[-1]) + 2))
    sizes = np.diff(starts)[entries.columns]
    products = int(sizes.sum())
    _check_size(entries, reading, products)
    widest = int(np.bincount(entries.rows).max())
    bits = next(bits for bits, most in LIMBS.items() if widest <= most)
    shape = int(entries.rows[-1]) + 1, len(starts) - 1, int(reading.values.max()) + 1
    if math.prod(shape) <= DENSER * products and math.prod(shape) // min(shape) <= MOST_DENSE:
        return _multiplied(entries, reading, bits, shape)
    left, right = _limbs(entries.weights, bits), _limbs(reading.weights, bits)
    made = list[tuple[Any, Any, Any]]()
    for part in _blocks(entries.rows, sizes):
        one = np.repeat(np.arange(part.start, part.stop), sizes[part])
        offset = np.arange(len(one)) - np.repeat(np.cumsum(sizes[part]) - sizes[part], sizes[part])
        other = starts[entries.columns[one]] + offset
        pair, place = np.unique(entries.rows[one] * shape[2] + reading.values[other], return_inverse=True)
        sums = np.zeros((2 * len(left) - 1, len(pair)))
        for i, high in enumerate(left):
            for j, low in enumerate(right):
                sums[i + j] += np.bincount(place.reshape(-1), high[one] * low[other], len(pair))
        made.append((pair // shape[2], pair % shape[2], _whole(sums, bits)))
    rows, values, weights = (np.concatenate(parts) for parts in zip(*made))
    return rows, values, weights


def _multiplied(
    entries: Entries, reading: Reading, bits: int, shape: tuple[int, int, int]
) -> tuple[IntArray, IntArray, ObjectArray]:
    """The same where most values share most symbols: products of matrices of digits, which floats hold exactly."""
    left, right = _limbs(entries.weights, bits), _limbs(reading.weights, bits)
    sums = np.zeros((2 * len(left) - 1, shape[0], shape[2]))
    one, other = np.zeros(shape[:2]), np.zeros(shape[1:])
    for i, high in enumerate(left):
        one[entries.rows, entries.columns] = high
        for j, low in enumerate(right):
            other[reading.symbols, reading.values] = low
            if high.any() and low.any():
                sums[i + j] += one @ other
    rows, values = np.nonzero(sums.any(axis=0))
    return rows, values, _whole(sums[:, rows, values], bits)


def _whole(sums: FloatArray, bits: int) -> ObjectArray:
    """Sums of products of digits, the lowest first, as Python integers."""
    result = np.zeros(sums.shape[1], dtype=object)
    for digit, each in enumerate(sums):
        result += each.astype(np.int64).astype(object) << bits * digit
    return result


def _check_size(entries: Entries, reading: Reading, products: int) -> None:
    pairs = (int(entries.rows[-1]) + 1) * len(np.unique(reading.values))
    if min(products, pairs) > MOST_ENTRIES or products > MOST_PRODUCTS:
        raise InputError(
            f"in values the mechanism would have up to {min(products, pairs):,} weights out of {products:,} products "
            f"({MOST_ENTRIES:,} and {MOST_PRODUCTS:,} are the most), since many values share symbols. {AS_LABELS}"
        )


def _limbs(weights: Any, bits: int) -> list[Any]:
    """Digits of weights over 2**60, the lowest first, as floats."""
    shifts, mask = range(0, DENOMINATOR_BITS + 1, bits), (1 << bits) - 1
    return [((weights >> shift) & mask).astype(np.float64) for shift in shifts]


def _blocks(rows: IntArray, sizes: IntArray) -> Iterator[slice]:
    """Stretches of entries that hold whole rows, and about so many products as fit at a time."""
    ends = np.append(np.flatnonzero(np.diff(rows)) + 1, len(rows))  # of rows
    until = np.cumsum(sizes)[ends - 1]  # products up to there
    row = 0
    while row < len(ends):
        done = int(until[row - 1]) if row else 0
        after = max(row + 1, int(np.searchsorted(until, done + PRODUCTS_AT_ONCE, "right")))
        yield slice(int(ends[row - 1]) if row else 0, int(ends[after - 1]))
        row = after
