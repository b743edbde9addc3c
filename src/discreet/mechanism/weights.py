"""Floats become integers over 2**60, here and nowhere else; and integers become floats again."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

from discreet._support.errors import InvalidMechanismError
from discreet._support.numeric import (
    DENOMINATOR,
    DENOMINATOR_BITS,
    FINE_DENOMINATOR,
    SUM_TOLERANCE,
    FloatArray,
    IntArray,
    WeightArray,
)

__all__ = ["checked_channel", "denominator_of", "filled", "rescaled", "shares", "to_weights"]


def denominator_of(weights: WeightArray) -> int:
    """What weights are parts of: 64 bits hold those over 2**60, and Python's integers those over 2**120.

    >>> denominator_of(np.array([2**60])) == 2**60, denominator_of(np.array([2**120], dtype=object)) == 2**120
    (True, True)
    """
    return FINE_DENOMINATOR if weights.dtype == object else DENOMINATOR


def shares(weights: WeightArray) -> FloatArray:
    """Weights as probabilities.

    >>> shares(np.array([2**118, 3 * 2**118], dtype=object))
    array([0.25, 0.75])
    """
    return np.asarray(weights / denominator_of(weights), dtype=np.float64)


def to_weights(channel: FloatArray) -> IntArray:
    """Rows of probabilities (along the last axis) as weights that sum to exactly 2**60.

    Zeros stay zeros, equal rows stay equal, and the largest entry of a row takes up its rounding.

    >>> to_weights(np.array([[0.25, 0.75]])).tolist() == [[2**58, 3 * 2**58]]
    True
    """
    rounded = np.floor(np.ldexp(channel, DENOMINATOR_BITS)).astype(np.int64)
    return filled(rounded, rounded.argmax(axis=-1))


def filled(weights: Any, largest: IntArray, total: int = DENOMINATOR) -> IntArray:
    """Rows of integers whose entry ``largest`` takes what each row lacks of ``total``."""
    result = weights.copy()
    place = largest[..., None]
    missing = total - result.sum(axis=-1, keepdims=True)
    np.put_along_axis(result, place, np.take_along_axis(result, place, axis=-1) + missing, axis=-1)
    made: IntArray = result.astype(np.int64)
    return made


def rescaled(weights: IntArray, total: int) -> IntArray:
    """Rows that sum to ``total`` in the proportions of weights over 2**60; equal rows stay equal."""
    return filled((weights.astype(object) * total) // DENOMINATOR, weights.argmax(axis=-1), total)


def checked_channel(channel: Any) -> FloatArray:
    """A matrix of probabilities whose rows sum to one, normalised; an `InvalidMechanismError` where it is none."""
    matrix = np.asarray(channel, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InvalidMechanismError(f"channel must be a matrix (useful, released), got shape {matrix.shape}.")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise InvalidMechanismError("channel must hold finite probabilities of at least 0.")
    off = np.abs(matrix.sum(axis=1) - 1).max()
    if off > SUM_TOLERANCE:
        raise InvalidMechanismError(f"rows of a channel must sum to 1 within {SUM_TOLERANCE:g}, got {off:g} off.")
    normalised: FloatArray = matrix / matrix.sum(axis=1, keepdims=True)
    return normalised
