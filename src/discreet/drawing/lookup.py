"""Rows of the tables that a release joins with: symbols with their sub-key, thresholds with their labels."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.drawing.keys import DrawKeys
from discreet.drawing.statement import Joined
from discreet.drawing.thresholds import KNOWN_ANSWERS, bit_subkey, row_digits
from discreet.mechanism import Draw, Mechanism
from discreet.tables.binning import interval_text

__all__ = ["key_values", "known_answer_rows", "symbol_rows", "value_rows"]


def key_values(symbol: Sequence[Any], inputs: Sequence[str], bins: Mapping[str, Sequence[float]]) -> tuple[Any, ...]:
    """A symbol as it is looked up: intervals by their number.

    >>> key_values(("[0, 18)", "x"), ("age", "job"), {"age": (0.0, 18.0)})
    (1, 'x')
    """
    return tuple(
        _code(value, bins[column]) if column in bins and value is not None else value
        for value, column in zip(symbol, inputs)
    )


def _code(label: str, edges: Sequence[float]) -> int:
    return _codes(tuple(edges))[label]


@functools.lru_cache(maxsize=16)
def _codes(edges: tuple[float, ...]) -> dict[str, int]:
    """Interval to its number; edges that read alike keep the first, as a search would find it."""
    texts = [interval_text(code, edges) for code in range(len(edges) + 1)]
    return {text: code for code, text in reversed(list(enumerate(texts)))}


def symbol_rows(
    mechanism: Mechanism, joined: Joined, keys: DrawKeys, suppressed: Mapping[tuple[Any, ...], tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """(values..., prefix, row number, ...) of every symbol, and of those that are drawn like another one."""
    draw = joined.draw
    subkey = keys.columns[joined.number]
    place = {symbol: row for row, symbol in enumerate(draw.symbols)}
    chosen = [*place.items(), *((symbol, place[like]) for symbol, like in suppressed.items())]
    rows = []
    for symbol, row in chosen:
        rest: tuple[Any, ...] = ()
        if joined.lookup is None:
            rest = tuple(bit_subkey(subkey, k) + row_digits(row) for k in range(len(draw.symbols)))
        elif not joined.is_apart:
            rest = joined.lookup.rows[row][2:]
        values = key_values(symbol, draw.inputs, mechanism.bins)
        order = (keys.shuffle,) if joined.is_shuffled else ()
        rows.append((*values, subkey + row_digits(row), row, *order, *rest))
    return rows


def value_rows(draw: Draw) -> list[tuple[Any, ...]]:
    """(label, values...) of every label that is published as values."""
    return [(label, *values) for label, values in (draw.values or {}).items()]


def known_answer_rows() -> list[tuple[str, str, str]]:
    """(prefix, id, u) of the known answers."""
    return [(subkey + row_digits(row), record, u) for subkey, row, record, u in KNOWN_ANSWERS]
