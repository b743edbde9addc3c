"""Argument checks; every message about a wrong argument comes from here."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from discreet._numeric import SUM_TOLERANCE, FloatArray, IntArray, ObjectArray
from discreet.errors import (
    ColumnNotFoundError,
    InputError,
    InvalidJointError,
    InvalidNotionError,
    UnusableColumnError,
)
from discreet.labels import plain

__all__ = [
    "as_columns",
    "budget",
    "closest",
    "columns_exist",
    "counts",
    "every_sensitive_value_occurs",
    "label_list",
    "order_above_one",
    "probabilities",
]


def budget(value: Any, name: str, *, optional: bool = False) -> float | None:
    """A privacy budget in nats: a finite, non-negative number (or None where a side may stay open)."""
    if value is None and optional:
        return None
    if isinstance(value, bool) or not isinstance(value, Real | np.number):
        raise InvalidNotionError(f"{name} must be a number in nats, got {type(value).__name__}.")
    number = float(value)
    if math.isnan(number):
        raise InvalidNotionError(f"{name} must be a finite number of nats, got nan.")
    if math.isinf(number):
        way_out = f" Use {name}=None to leave that side open." if optional else ""
        raise InvalidNotionError(f"{name} must be a finite number of nats, got {number}.{way_out}")
    if number < 0:
        raise InvalidNotionError(f"{name} must be at least 0 nats, got {number:g}.")
    return number + 0.0  # -0.0 becomes 0.0, so that equal budgets print and hash alike


def order_above_one(value: Any, name: str = "alpha", *, infinite: bool = False) -> float:
    """The order of an alpha-measure: a number above 1."""
    if isinstance(value, bool) or not isinstance(value, Real | np.number):
        raise InvalidNotionError(f"{name} must be a number above 1, got {type(value).__name__}.")
    number = float(value)
    if math.isnan(number) or number <= 1 or (math.isinf(number) and not infinite):
        allowed = "a number above 1" + (", inf included" if infinite else " and finite")
        raise InvalidNotionError(f"{name} must be {allowed}, got {number:g}.")
    return number


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


def as_columns(names: str | Sequence[str], role: str) -> tuple[str, ...]:
    """One or several distinct column names as a tuple."""
    columns = (names,) if isinstance(names, str) else tuple(names) if isinstance(names, Iterable) else ()
    if not columns or not all(isinstance(c, str) and c for c in columns):
        raise InputError(f"{role} must be a column name or a list of them, got {names!r}.")
    if len(set(columns)) != len(columns):
        raise InputError(f"{role} names a column twice: {', '.join(columns)}.")
    return columns


def closest(name: str, candidates: Iterable[str]) -> str:
    """A sentence with the candidate most like ``name``, or nothing."""
    by_folded = {c.casefold(): c for c in candidates}
    found = difflib.get_close_matches(name.casefold(), list(by_folded), n=1)
    return f" Did you mean {by_folded[found[0]]!r}?" if found else ""


def columns_exist(wanted: Iterable[str], available: Sequence[str], table: str) -> None:
    """Every wanted column is in the table."""
    for name in wanted:
        if name not in available:
            raise ColumnNotFoundError(
                # The names are not listed: in a file without a line of names they would be its first record.
                f"no column {name!r} in {table}, which has {len(available)} columns.{closest(name, available)}",
                available,
            )


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
