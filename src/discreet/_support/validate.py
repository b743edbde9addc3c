"""Argument checks that several rooms share: budgets, orders, columns and names."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from discreet._support.errors import (
    ColumnNotFoundError,
    InputError,
    InvalidNotionError,
)

__all__ = ["as_columns", "budget", "closest", "columns_exist", "confidence", "order_above_one"]


#: Columns that an error lists.
MOST_NAMES = 30


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


def confidence(value: Any, name: str = "confidence") -> float:
    """A confidence: a number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real | np.number):
        raise InvalidNotionError(f"{name} must be a number between 0 and 1, got {type(value).__name__}.")
    number = float(value)
    if not 0 < number < 1:
        percent = f" For {number:g} % use {number / 100:g}." if 1 < number < 100 else ""
        raise InvalidNotionError(f"{name} must lie between 0 and 1, got {number:g}.{percent}")
    return number


def order_above_one(value: Any, name: str = "alpha", *, infinite: bool = False) -> float:
    """The order of an alpha-measure: a number above 1."""
    if isinstance(value, bool) or not isinstance(value, Real | np.number):
        raise InvalidNotionError(f"{name} must be a number above 1, got {type(value).__name__}.")
    number = float(value)
    if math.isnan(number) or number <= 1 or (math.isinf(number) and not infinite):
        allowed = "a number above 1" + (", inf included" if infinite else " and finite")
        raise InvalidNotionError(f"{name} must be {allowed}, got {number:g}.")
    return number


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


def columns_exist(wanted: Iterable[str], available: Sequence[str], table: str, *, listed: bool = False) -> None:
    """Every wanted column is in the table.

    The names that are there are listed only where they cannot be data: in a CSV without a line of names they would be
    its first record.
    """
    for name in wanted:
        if name not in available:
            named = f": {', '.join(map(repr, available[:MOST_NAMES]))}" if listed and available else ""
            left = len(available) - MOST_NAMES
            more = f" and {left:,} more" if named and left > 0 else ""
            raise ColumnNotFoundError(
                f"no column {name!r} in {table}, which has {len(available)} columns{named}{more}."
                f"{closest(name, available)}",
                available,
            )
