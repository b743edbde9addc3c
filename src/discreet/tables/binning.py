"""Numeric columns cut into intervals, by an explicit choice only."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from discreet._support.errors import InputError

__all__ = ["Quantiles", "interval_text", "parse_bins", "parse_option"]


#: Intervals that a column may be cut into; each of them is part of every query.
MOST_INTERVALS = 2000

#: Digits from which on a number is not read, only refused.
LONGEST_NUMBER = 10


class Quantiles(int):
    """A number of intervals of about equally many records each."""


def parse_option(options: Iterable[str]) -> dict[str, str]:
    """``["age=0,18,65"]`` as ``{"age": "0,18,65"}``.

    >>> parse_option(["age=quantiles:10"])
    {'age': 'quantiles:10'}
    """
    result: dict[str, str] = {}
    for option in options:
        name, mark, rule = option.rpartition("=")
        if not mark or not name:
            raise InputError(f"bins must read COLUMN=EDGES or COLUMN=quantiles:N, got {option!r}.")
        if name in result:
            raise InputError(f"column {name!r} has two binning rules.")
        result[name] = rule
    return result


def parse_bins(bins: Mapping[str, Any] | None) -> dict[str, Quantiles | tuple[float, ...]]:
    """Binning rules as increasing edges or a number of quantiles.

    >>> parse_bins({"age": [0, 18, 65], "income": "quantiles:4"})
    {'age': (0.0, 18.0, 65.0), 'income': 4}
    """
    if bins is not None and not isinstance(bins, Mapping):
        raise InputError(f"bins must map column names to edges or 'quantiles:N', got {type(bins).__name__}.")
    return {name: _rule(name, rule) for name, rule in (bins or {}).items()}


def _rule(name: str, rule: Any) -> Quantiles | tuple[float, ...]:
    if isinstance(rule, str):
        if rule.startswith("quantiles:"):
            return _quantiles(name, rule.removeprefix("quantiles:"))
        rule = rule.split(",")
    try:
        edges = tuple(float(edge) for edge in rule)
    except (TypeError, ValueError):
        raise InputError(f"bins of {name!r} must be numbers or 'quantiles:N', got {rule!r}.") from None
    if not edges or not all(math.isfinite(edge) for edge in edges):
        raise InputError(f"bins of {name!r} must be finite edges, at least one, got {list(edges)}.")
    _check_number(name, len(edges) + 1)
    if any(a >= b for a, b in itertools.pairwise(edges)):
        raise InputError(f"bins of {name!r} must increase, got {list(edges)}.")
    return edges


def _quantiles(name: str, text: str) -> Quantiles:
    number = int(text) if text.isdecimal() and len(text) < LONGEST_NUMBER else MOST_INTERVALS + 1
    if not text.isdecimal() or number < 2:
        raise InputError(f"bins of {name!r} need at least 2 quantiles, got 'quantiles:{text}'.")
    _check_number(name, number)
    return Quantiles(number)


def _check_number(name: str, intervals: int) -> None:
    if intervals > MOST_INTERVALS:
        raise InputError(f"bins of {name!r} are more than {MOST_INTERVALS} intervals, which is the most. Give fewer.")


def interval_text(code: int, edges: Sequence[float]) -> str:
    """Label of an interval: the lower edge belongs to it, the upper one does not.

    >>> [interval_text(code, (0, 18)) for code in range(3)]
    ['< 0', '[0, 18)', '>= 18']
    """
    if code == 0:
        return f"< {_number(edges[0])}"
    if code == len(edges):
        return f">= {_number(edges[-1])}"
    return f"[{_number(edges[code - 1])}, {_number(edges[code])})"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
