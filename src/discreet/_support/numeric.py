"""Arithmetic that every layer shares: 0 log 0, ratios with zeros, named tolerances."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "DENOMINATOR",
    "DENOMINATORS",
    "DENOMINATOR_BITS",
    "FINE_DENOMINATOR",
    "LEVEL_GUARD",
    "MOST_SUMMED",
    "SMALLEST_SCREENED",
    "SUM_TOLERANCE",
    "BoolArray",
    "FloatArray",
    "IntArray",
    "ObjectArray",
    "WeightArray",
    "divide",
    "exact_integers",
    "log",
    "log_shares",
    "product",
    "xlogx",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
ObjectArray = NDArray[np.object_]  # Python integers of any size
WeightArray = NDArray[Any]  # 64 bits for weights over 2**60, Python integers for those over 2**120

DENOMINATOR_BITS = 60
#: Weights of a mechanism are integers over this number; 60 bits are 15 hex digits of a digest.
DENOMINATOR = 1 << DENOMINATOR_BITS
#: Those of a mechanism in values, whose one draw stands for two, are over this one: sums of products of two weights, of
#: which none is rounded.
FINE_DENOMINATOR = DENOMINATOR**2
DENOMINATORS = (DENOMINATOR, FINE_DENOMINATOR)

#: How far a float joint may be from summing to one: room for a million rounded additions.
SUM_TOLERANCE = 1e-9

#: Sums of more terms than this are not trusted to floats.
MOST_SUMMED = 1_000_000

#: A privacy level computed in floats is off by less than this many nats: sums of up to a million
#: non-negative terms lose at most 1e6 * 2**-53 each, a lift is a quotient of two such sums, and every
#: level is at most 2-Lipschitz in the logarithms of the lifts. Levels closer to a budget go to exact arithmetic.
LEVEL_GUARD = 1e-9

#: Multiplications of a product of matrices that BLAS leaves to one thread.
ONE_THREAD = 200_000

#: Joints with smaller positive cells skip the floats: a product of two marginals and a few weights over 2**60
#: might fall out of the normal range.
SMALLEST_SCREENED = 1e-100


def xlogx(p: FloatArray) -> FloatArray:
    """``p * log(p)`` with ``0 log 0 = 0``."""
    return p * np.log(p, where=p > 0, out=np.zeros_like(p))


def log(p: FloatArray) -> FloatArray:
    """``log(p)``, silently ``-inf`` at zero."""
    with np.errstate(divide="ignore"):
        return np.log(p)


def log_shares(p: FloatArray) -> FloatArray:
    """Logarithms of a distribution; of a share near one through the rest, which rounding would drown otherwise."""
    result = log(p)
    largest = int(np.argmax(p))
    if p[largest] > 0.5 and abs(p.sum() - 1) < SUM_TOLERANCE:
        result[largest] = np.log1p(-np.delete(p, largest).sum())
    return result


def divide(numerator: Any, denominator: Any) -> Any:
    """``numerator / denominator`` of non-negative arrays, silently ``inf`` where only the second is next to zero."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.divide(numerator, denominator)


def product(first: FloatArray, second: FloatArray) -> FloatArray:
    """``first @ second`` in pieces that BLAS does not share among threads, unless single rows are as large.

    For products of a millisecond threads bring little; where other programs keep the cores busy, they wait for each
    other a hundred times as long.

    >>> product(np.ones((900, 50)), np.ones((50, 70)))[:, 0].tolist() == [50.0] * 900
    True
    """
    step = ONE_THREAD // max(second.size, 1)
    if not 0 < step < len(first):
        whole: FloatArray = first @ second
        return whole
    result = np.empty((len(first), second.shape[1]))
    for start in range(0, len(first), step):
        np.matmul(first[start : start + step], second, out=result[start : start + step])
    return result


def exact_integers(values: FloatArray) -> ObjectArray:
    """Integers in the same proportions as these non-negative floats, each read as an exact rational.

    A float is ``m * 2**e`` with an integer ``m``; all are brought to the smallest exponent.

    >>> exact_integers(np.array([0.5, 0.375, 0.125]))
    array([4, 3, 1], dtype=object)
    """
    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    used = whole != 0
    if not used.any():
        return whole.astype(object)
    # Trailing zero bits go first, so that tidy numbers give small integers.
    lowest_bit = (whole & -whole).astype(np.float64)
    trailing = np.where(used, np.log2(np.where(used, lowest_bit, 1)), 0).astype(np.int64)
    whole >>= trailing
    shift = np.where(used, exponent + trailing, 0)
    shift = np.where(used, shift - shift[used].min(), 0)
    result: ObjectArray = whole.astype(object) << shift.astype(object)
    return result
