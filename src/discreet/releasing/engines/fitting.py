"""Which values of a mechanism can occur in a column of a given type."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet._support.errors import UnusableColumnError

__all__ = ["fitting"]


def fitting(
    symbols: Sequence[tuple[Any, ...]], kinds: Sequence[Any], columns: Sequence[str]
) -> tuple[list[Any], list[int]]:
    """Arrow columns of the symbols that have the given types, and which symbols those are; others cannot occur."""
    import pyarrow as pa

    def fits(value: Any, kind: Any) -> bool:
        try:
            return value is None or bool(pa.array([value], kind)[0].as_py() == value)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return False

    known = [k for k, symbol in enumerate(symbols) if all(fits(v, kind) for v, kind in zip(symbol, kinds))]
    if not known:
        raise UnusableColumnError(
            f"no value of the mechanism fits the type of {' + '.join(columns)}: it was designed on another type. "
            "Convert the column, or design the mechanism on this table."
        )
    return [pa.array([symbols[k][c] for k in known], kind) for c, kind in enumerate(kinds)], known
