"""Numbers, shares and names as short texts; rounded to the nearest, unlike the factors of a promise in `words`."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
import math
from collections.abc import Sequence

from discreet._support.visible import visible

__all__ = [
    "between",
    "brief",
    "more_words",
    "named",
    "nats",
    "number",
    "percent",
    "points",
    "several",
    "short",
    "span",
    "times",
    "visible",
    "yes",
]


def number(value: float) -> str:
    """Four significant digits, and words for what is not finite."""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"{value:.4g}"


def nats(value: float) -> str:
    """A log-lift with two digits after the point, and words for what is not finite.

    >>> nats(0.4321), nats(-0.001), nats(float("-inf"))
    ('0.43', '0.00', '-inf')
    """
    return f"{value:.2f}".replace("-0.00", "0.00") if math.isfinite(value) else number(value)


def percent(share: float) -> str:
    r"""A share in per cent, with enough digits to tell small ones from none.

    >>> percent(0.63689), percent(0.00021), percent(0.0000003), percent(1)
    ('63.7\xa0%', '0.021\xa0%', '< 0.001\xa0%', '100\xa0%')
    """
    value = 100 * share
    if value == 0 or value >= 99.95:
        return f"{value:.0f}\u00a0%"
    if value < 0.001:
        return "< 0.001\u00a0%"
    return f"{value:.1f}\u00a0%" if value >= 1 else f"{value:.2g}\u00a0%"


def points(difference: float) -> str:
    r"""A difference of two shares, or how far one is off, in percentage points.

    >>> points(0.0031), points(-0.00021), points(0)
    ('0.31\xa0pp', '-0.021\xa0pp', '0\xa0pp')
    """
    return f"{'-' if difference < 0 else ''}{percent(abs(difference)).replace('%', 'pp')}"


def several(number_of: int, what: str) -> str:
    """A number of things, one of them without its plural.

    >>> several(1, "column"), several(1200, "row")
    ('1 column', '1,200 rows')
    """
    return f"{number_of:,} {what}{'' if number_of == 1 else 's'}"


def times(factor: float) -> str:
    """A factor with its sign."""
    return f"\u00d7 {number(factor)}"


def between(interval: Sequence[float] | None) -> str:
    """An interval of a lift behind it, its ends rounded outwards; nothing where there is none.

    >>> between((0.91049, 2.0312)), between((0, 0.99999)), between(None)
    (' (0.91 to 2.04)', ' (0 to 1)', '')
    """
    return "" if interval is None else f" ({' to '.join(_outwards(interval, 3))})"


def span(interval: Sequence[float] | None) -> str:
    """The same in a narrow cell of its own.

    >>> span((0.91049, 2.0312)), span((0, 39.7)), span(None)
    ('0.91-2.1', '0-40', '')
    """
    return "" if interval is None else "-".join(_outwards(interval, 2))


def _outwards(interval: Sequence[float], digits: int) -> list[str]:
    ends = zip(interval, (decimal.ROUND_FLOOR, decimal.ROUND_CEILING))
    rounded = (decimal.Context(digits, rounding).plus(decimal.Decimal(end)).normalize() for end, rounding in ends)
    return [f"{end:f}" for end in rounded]


def brief(lift: float) -> str:
    """A lift in a narrow cell.

    >>> brief(1.64872), brief(0.0312), brief(0), brief(48.3), brief(0.0001)
    ('1.65', '0.03', '0', '48', '<0.01')
    """
    if lift == 0:
        return "0"
    if lift < 0.01:
        return "<0.01"
    return f"{lift:.2f}" if lift < 10 else f"{lift:,.0f}"


def yes(kept: bool) -> str:
    """Whether something is kept, with a mark."""
    return "✓ yes" if kept else "✗ no"


def more_words(number_left: int, what: str, which: str) -> str:
    """What a table leaves out; nothing where it is whole."""
    return f" {number_left:,} more {what}, {which} ones, are left out." if number_left > 0 else ""


def named(columns: Sequence[str], otherwise: str) -> str:
    """Columns as a phrase.

    >>> named(["age", "sex", "job"], "")
    'age, sex and job'
    """
    if len(columns) < 2:
        return columns[0] if columns else otherwise
    return " and ".join([", ".join(columns[:-1]), columns[-1]])


def short(name: str, most: int = 60) -> str:
    """A name that fits a sentence.

    >>> short("education"), short("abcdef", 4)
    ('education', 'abc…')
    """
    return name if len(name) <= most else f"{name[: most - 1]}…"
