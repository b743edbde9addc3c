"""What a joint may be made from: probabilities, counts and labels, checked before anything is built on them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from discreet._support.errors import InvalidJointError, UnusableColumnError
from discreet._support.numeric import SUM_TOLERANCE, FloatArray, IntArray, ObjectArray
from discreet.core.labels import plain

__all__ = ["counts", "every_sensitive_value_occurs", "label_list", "probabilities"]


def _matrix(values: Any, what: str) -> np.ndarray[Any, Any]:
    array = np.asarray(values)
    if array.ndim != 2 or 0 in array.shape:
        raise InvalidJointError(
            f"{what} must be a matrix with sensitive values as rows and useful values as columns, "
            f"got shape {array.shape}."
        )
    return array


def probabilities(values: Any) -> FloatArray:
    """A non-negative finite matrix that sums to one within `SUM_TOLERANCE`, as float64."""
    array = _matrix(values, "a joint")
    if array.dtype == object or not np.issubdtype(array.dtype, np.number):
        raise InvalidJointError(f"a joint must hold numbers, got dtype {array.dtype}.")
    array = array.astype(np.float64)
    if np.isnan(array).any():
        raise InvalidJointError(f"a joint must not hold NaN, got {int(np.isnan(array).sum())} of them.")
    if np.isinf(array).any() or (array < 0).any():
        raise InvalidJointError(
            f"a joint must hold probabilities, got values between {array.min():g} and {array.max():g}."
        )
    total = float(array.sum())
    if abs(total - 1) > SUM_TOLERANCE:
        raise InvalidJointError(
            f"a joint must sum to 1 within {SUM_TOLERANCE:g}, got {total:.10g}. For counts use Joint.from_counts."
        )
    return array


def counts(values: Any) -> IntArray | ObjectArray:
    """A matrix of non-negative integers, not all zero: int64 where their sum fits, else Python integers."""
    array = _matrix(values, "counts")
    if array.dtype == object:
        if not all(isinstance(n, int | np.integer) and not isinstance(n, bool) for n in array.flat):
            raise InvalidJointError("counts must be integers. For probabilities use Joint.from_array.")
    elif not np.issubdtype(array.dtype, np.integer):
        raise InvalidJointError(
            f"counts must be integers, got dtype {array.dtype}. For probabilities use Joint.from_array."
        )
    if array.min() < 0:
        raise InvalidJointError(f"counts must be at least 0, got {array.min()}.")
    if not array.any():
        raise InvalidJointError("counts must not all be 0.")
    if int(array.max()) * array.size < 2**62:
        return array.astype(np.int64)
    return np.array([int(n) for n in array.flat], dtype=object).reshape(array.shape)


def label_list(labels: Iterable[Any] | None, size: int, axis: str) -> tuple[Any, ...]:
    """One hashable, distinct label per row or column; 0, 1, 2, ... where none are given."""
    if labels is None:
        return tuple(range(size))
    result = tuple(plain(label) for label in labels)
    if len(result) != size:
        raise InvalidJointError(f"{axis} must have {size} labels, one for each symbol, got {len(result)}.")
    if len(set(result)) != size:
        raise InvalidJointError(f"{axis} labels must be distinct, got {size - len(set(result))} repeated.")
    return result


def _some(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, and {len(names) - most} more"


def every_sensitive_value_occurs(p_sensitive: FloatArray, labels: Sequence[Any]) -> None:
    """No declared sensitive value has probability zero: a promise about it would be empty."""
    missing = [str(label) for label, p in zip(labels, p_sensitive) if not p]
    if missing:
        raise UnusableColumnError(
            f"the sensitive value {_some(missing, 5)} has probability 0, so a design can promise nothing about it. "
            "Leave it out of the joint."
        )
