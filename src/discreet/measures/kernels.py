"""The formulas of the lift family on plain arrays, shared by the measures, the notions and the designers.

Arrays end in the axes (sensitive, released); any axes before those are a batch of problems. ``lift`` has
these axes, ``prior`` lacks the last. A kernel returns one value per released symbol.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from discreet._support.numeric import FloatArray, divide

__all__ = [
    "alpha_lift",
    "chi2_lift",
    "inverse",
    "l1_lift",
    "lift",
    "lift_ratio",
    "max_lift",
    "min_lift",
    "min_lift_inverse",
    "norms",
    "side_by_side",
    "stretches",
]

#: Symbols that are measured together: what is made on the way stays in the caches of a processor.
STRETCH = 1 << 15

#: Stretches are measured by at most so many threads; more would wait for the memory.
MOST_THREADS = 4


def stretches(n_released: int) -> list[slice]:
    """All symbols, in stretches of about equal length; few of them in one.

    A kernel says the same of a symbol in any stretch that is not tiny, bit by bit.
    """
    ends = np.linspace(0, n_released, -(-n_released // STRETCH) + 1).astype(int).tolist()
    return [slice(first, last) for first, last in itertools.pairwise(ends)]


def side_by_side(work: Callable[[slice], None], n_released: int) -> None:
    """Do some work for every stretch of the symbols, several at once where there are several."""
    parts = stretches(n_released)
    if len(parts) == 1:
        work(parts[0])
        return
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as threads:
        list(threads.map(work, parts))


def lift(joint: FloatArray, prior: FloatArray, released: FloatArray) -> FloatArray:
    """P(s, y) / (P(s) P(y)); a symbol or value without mass tells nothing, so its lift is 1."""
    product = prior[..., :, None] * released[..., None, :]
    return np.divide(joint, product, out=np.ones_like(joint), where=product > 0)


def inverse(lifts: FloatArray) -> FloatArray:
    """1 / lift, inf at zero lifts."""
    result: FloatArray = divide(1.0, lifts)
    return result


def max_lift(lifts: FloatArray, prior: FloatArray) -> FloatArray:
    """Largest lift of each symbol."""
    result: FloatArray = lifts.max(axis=-2)
    return result


def min_lift(lifts: FloatArray, prior: FloatArray) -> FloatArray:
    """Smallest lift of each symbol."""
    result: FloatArray = lifts.min(axis=-2)
    return result


def min_lift_inverse(lifts: FloatArray, prior: FloatArray) -> FloatArray:
    """One over the smallest lift of each symbol."""
    return inverse(lifts.min(axis=-2))


def lift_ratio(lifts: FloatArray, prior: FloatArray) -> FloatArray:
    """Largest over smallest lift of each symbol."""
    result: FloatArray = divide(lifts.max(axis=-2), lifts.min(axis=-2))
    return result


def _mean(values: FloatArray, prior: FloatArray) -> FloatArray:
    """Mean over the sensitive values; a value without mass counts for nothing, even where infinite."""
    with np.errstate(invalid="ignore"):
        weighted = prior[..., :, None] * values
    weighted[np.isnan(weighted)] = 0.0
    result: FloatArray = weighted.sum(axis=-2)
    return result


def l1_lift(lifts: FloatArray, prior: FloatArray) -> FloatArray:
    """Mean distance of the lift from one."""
    return _mean(np.abs(lifts - 1), prior)


def chi2_lift(lifts: FloatArray, prior: FloatArray) -> FloatArray:
    """Mean squared distance of the lift from one."""
    return _mean(np.square(lifts - 1), prior)


def alpha_lift(lifts: FloatArray, prior: FloatArray, alpha: float) -> FloatArray:
    """Power mean of the lift of order alpha, scaled by the largest finite lift so that no power overflows."""
    largest = np.where(np.isfinite(lifts), lifts, 0.0).max(axis=-2)
    scale = np.where(largest > 0, largest, 1.0)
    mean = _mean((lifts / scale[..., None, :]) ** alpha, prior)
    return scale * mean ** (1 / alpha)


def norms(columns: FloatArray, order: float) -> FloatArray:
    """The norm of each column, scaled by the largest entry, so that high orders do not underflow to zero."""
    largest = columns.max(axis=-2)
    scaled = np.divide(columns, largest, out=np.zeros_like(columns), where=largest > 0)
    result: FloatArray = largest * (scaled**order).sum(axis=-2) ** (1 / order)
    return result
