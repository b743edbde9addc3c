r"""The largest mean of a function of the lift, where the lifts keep to a range: a chord through two lifts.

For lifts in :math:`[m, M]` with mean 1 it is the concave envelope at 1: for a measure :math:`E f(l)` the extreme puts
all mass on two lifts,

.. math:: \frac{(b - 1) f(m) + (1 - m) f(b)}{b - m},

with :math:`b = M` where f is convex, and with the worst :math:`b \le M` for the inverse l1 and chi-square. All of it
in decimals, of as many digits as the context of the caller has.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
from decimal import Decimal
from fractions import Fraction
from typing import Protocol

__all__ = ["INFINITE", "LARGEST_BUDGET", "MeanOfLifts", "exact_sum", "largest_mean", "safe"]

INFINITE = Decimal("Infinity")

#: Lifts beyond exp of this are treated as unbounded, which only weakens what is claimed.
LARGEST_BUDGET = 10_000

#: Added to computed ceilings, relative to one plus their size; far above rounding at 80 digits.
SAFETY = Decimal("1e-35")

#: Ternary search for the worst second lift narrows its interval by (2/3)**STEPS.
STEPS = 140

#: Where lifts are unbounded, the worst second lift of the functions that are not convex is searched up to here.
FAR = Decimal("1e200")

_ONE = Decimal(1)


class MeanOfLifts(Protocol):
    """A function f of the lift, and what the envelope needs to know about it."""

    @property
    def slope(self) -> Decimal: ...
    @property
    def is_finite_at_zero(self) -> bool: ...
    @property
    def is_convex(self) -> bool: ...
    def f(self, lift: Decimal, /) -> Decimal: ...


def safe(level: Decimal) -> Decimal:
    """A level, and a little more than rounding could have taken from it."""
    return level + SAFETY * (1 + abs(level))


def exact_sum(first: Decimal, second: Decimal) -> Decimal:
    """The sum of two floats without rounding: they may differ by 600 orders of magnitude."""
    if not (first.is_finite() and second.is_finite()):
        return INFINITE
    total = Fraction(first) + Fraction(second)
    return decimal.Context(prec=1400, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN).divide(
        Decimal(total.numerator), Decimal(total.denominator)
    )


def largest_mean(measure: MeanOfLifts, low: Decimal, high: Decimal) -> Decimal:
    """Largest E f(l) over lifts in [low, high] with mean one."""
    if low == 0 and not measure.is_finite_at_zero:
        return INFINITE
    if high == INFINITE:
        # The far lift has no mass in the limit, but may keep a slope: 1 for l1, none for inverses, else unbounded.
        if measure.slope == INFINITE:
            return INFINITE
        at_infinity = measure.f(low) + (1 - low) * measure.slope
        return at_infinity if measure.is_convex else max(at_infinity, _worst_chord(measure, low, FAR))
    if measure.is_convex:
        return _chord(measure, low, high)
    return max(_chord(measure, low, high), _worst_chord(measure, low, high))


def _worst_chord(measure: MeanOfLifts, low: Decimal, high: Decimal) -> Decimal:
    """The largest chord over the second lift, which rises and then falls along it (ternary search on a log scale)."""
    left, right = Decimal(0), high.ln()
    for _ in range(STEPS):
        third = (right - left) / 3
        if _chord(measure, low, (left + third).exp()) < _chord(measure, low, (right - third).exp()):
            left += third
        else:
            right -= third
    return _chord(measure, low, left.exp())


def _chord(measure: MeanOfLifts, low: Decimal, b: Decimal) -> Decimal:
    """Mean of f where all mass sits on the lifts ``low`` and ``b``."""
    if b <= 1 or low >= 1:
        return measure.f(_ONE)
    return ((b - 1) * measure.f(low) + (1 - low) * measure.f(b)) / (b - low)
