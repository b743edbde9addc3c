"""Extreme lifts as certificates state them: floats choose the candidates, integers decide."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from discreet._support.numeric import BoolArray
from discreet.core.joint import Joint
from discreet.measures.lift import lift

__all__ = ["extreme_lifts", "lift_text", "rounded_extremes", "steps_text"]

#: Step of log-lifts that are stated beside a release; they are public, and more digits would tell more of the counts.
STEP = decimal.Decimal("0.001")

#: Thousandths of a nat within which floats do not tell how a log-lift is rounded; relative distance of equal lifts.
UNSURE, ALIKE = 1e-5, 1e-9


def extreme_lifts(joint: Joint) -> tuple[Fraction, Fraction]:
    """Smallest and largest lift of all symbols.

    >>> extreme_lifts(Joint.from_counts([[30, 15, 5], [10, 15, 25]]))
    (Fraction(1, 3), Fraction(5, 3))
    """
    low, high = _candidates(joint, slice(None))
    return min(_exact_lifts(joint, low)), max(_exact_lifts(joint, high))


def rounded_extremes(joint: Joint, symbols: slice) -> tuple[decimal.Decimal, decimal.Decimal]:
    """Smallest and largest log-lift of some symbols, nats, rounded away from zero."""
    lifts = lift(joint)[:, symbols]
    down = _rounded(float(lifts.min()), decimal.ROUND_FLOOR) if joint.floats_suffice else None
    up = _rounded(float(lifts.max()), decimal.ROUND_CEILING) if joint.floats_suffice else None
    if down is None or up is None:
        low, high = _candidates(joint, symbols)
        down = _steps(min(_exact_lifts(joint, low)), decimal.ROUND_FLOOR) if down is None else down
        up = _steps(max(_exact_lifts(joint, high)), decimal.ROUND_CEILING) if up is None else up
    return down, up


def lift_text(value: Fraction, rounding: str) -> str:
    """The logarithm of a lift, nats, rounded in thousandths."""
    return steps_text(_steps(value, rounding))


def steps_text(steps: decimal.Decimal) -> str:
    """A rounded log-lift as it is stated."""
    return "-inf" if steps.is_infinite() else format(steps, "f")


def _candidates(joint: Joint, symbols: slice) -> tuple[BoolArray, BoolArray]:
    """Where, among some symbols, the smallest lift may be, and where the largest."""
    lifts = lift(joint)
    looked_at = np.zeros(lifts.shape, dtype=bool)
    looked_at[:, symbols] = True
    if not joint.floats_suffice:
        return looked_at, looked_at
    low, high = lifts[looked_at].min(), lifts[looked_at].max()
    return looked_at & (lifts <= low * (1 + ALIKE)), looked_at & (lifts >= high * (1 - ALIKE))


def _rounded(value: float, rounding: str) -> decimal.Decimal | None:
    """The logarithm of a lift in steps, or None where floats do not tell which."""
    if value == 0:
        return decimal.Decimal("-Infinity")
    steps = math.log(value) / float(STEP)
    return None if abs(steps - round(steps)) < UNSURE else decimal.Decimal(math.log(value)).quantize(STEP, rounding)


def _exact_lifts(joint: Joint, wanted: BoolArray) -> Iterator[Fraction]:
    """The lifts of these sensitive values at these symbols; those that never occur have none."""
    masses = joint.masses
    prior, mass = masses.sum(axis=1), masses.sum(axis=0)
    rows, columns = np.nonzero(wanted)
    cells = set(zip(masses[rows, columns].tolist(), prior[rows].tolist(), mass[columns].tolist()))
    total = int(prior.sum())
    return (Fraction(n * total, r * m) for n, r, m in cells if r and m)


def _steps(value: Fraction, rounding: str) -> decimal.Decimal:
    """The logarithm of a lift in steps."""
    if value == 0:
        return decimal.Decimal("-Infinity")
    context = decimal.Context(prec=40)
    quotient = context.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
    return context.ln(quotient).quantize(STEP, rounding)
