"""The formulas of the lift family on plain arrays, shared by the measures, the notions and the designers.

Arrays end in the axes (sensitive, released); any axes before those are a batch of problems. ``lift`` has
these axes, ``prior`` lacks the last. A kernel returns one value per released symbol.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

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
]


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
