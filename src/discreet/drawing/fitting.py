"""Which values of a mechanism can occur in a column of a given type."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet._support.errors import UnusableColumnError
from discreet._support.numeric import BoolArray
from discreet.tables.arrow import texts

__all__ = ["fitting", "published_values"]


def fitting(
    symbols: Sequence[tuple[Any, ...]], kinds: Sequence[Any], columns: Sequence[str]
) -> tuple[list[Any], list[int]]:
    """Arrow columns of the symbols that have the given types, and which symbols those are; others cannot occur."""
    columns_of = list(zip(*symbols)) if symbols else [()] * len(kinds)
    fits = np.ones(len(symbols), dtype=bool)
    for values, kind in zip(columns_of, kinds):
        fits &= _fit(values, kind)
    known = np.nonzero(fits)[0].tolist()
    if not known:
        raise UnusableColumnError(
            f"no value of the mechanism fits the type of {' + '.join(columns)}: it was designed on another type. "
            "Convert the column, or design the mechanism on this table."
        )
    return [_column([values[k] for k in known], kind) for values, kind in zip(columns_of, kinds)], known


def published_values(values: Sequence[tuple[Any, ...]], kinds: Sequence[Any], columns: Sequence[str]) -> list[Any]:
    """Arrow columns of values that are published in columns of the given types; an error where one cannot hold them."""
    made, known = fitting(values, kinds, columns)
    if len(known) < len(values):
        raise UnusableColumnError(
            f"{len(values) - len(known)} values that would be published do not fit the type of {' + '.join(columns)}. "
            "Release the symbols of the mechanism as labels (as_values=False, --as-labels)."
        )
    return made


def _column(values: Sequence[Any], kind: Any) -> Any:
    import pyarrow as pa

    return texts(values) if pa.types.is_string(kind) else pa.array(values, kind)


def _fit(values: Sequence[Any], kind: Any) -> BoolArray:
    """Which values a column of this type can hold: all at a glance, or one by one where not all of them do."""
    import pyarrow as pa

    if pa.types.is_string(kind):
        return np.array([value is None or isinstance(value, str) for value in values], dtype=bool)
    if _held(values, kind) == list(values):
        return np.ones(len(values), dtype=bool)
    return np.array([value is None or _held([value], kind) == [value] for value in values], dtype=bool)


def _held(values: Sequence[Any], kind: Any) -> list[Any] | None:
    """Values as they come back from a column of this type; None where it cannot hold them."""
    import pyarrow as pa

    try:
        found: list[Any] = pa.array(values, kind).to_pylist()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return found
