"""Does a released symbol keep its bounds? Decided in integers, with rational bounds around exp(epsilon).

Everything here starts from masses: integers in exactly the proportions of P(s, y). No float decides. A bound
with a positive budget compares an algebraic number (a lift, a sum of lifts or of their powers) with
exp(epsilon) for a rational epsilon, which is transcendental (Lindemann): the two are never equal, so enclosing
both ever more tightly always ends. A zero budget leaves only perfect privacy, a plain equation of integers.

This module imports no designer and no notion: it takes what it needs of a bound, its ``epsilon`` and the test that its
``kind`` has, and gives kinds the comparisons that such tests are made of.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np

from discreet._support.numeric import BoolArray, IntArray, ObjectArray

__all__ = [
    "BoundLike",
    "Symbol",
    "at_most_exp",
    "decided_around_exp",
    "exp_bounds",
    "keeps",
    "log_below",
    "power_mean_at_most_exp",
    "root_at_most_expm1",
]

#: Bits of the first enclosure of exp(epsilon); doubled until the comparison is decided.
FIRST_BITS = 128


class KindLike(Protocol):
    """What is asked of a bounded measure: its test of one symbol against a positive budget."""

    def keeps(self, symbol: Symbol, epsilon: Fraction) -> bool: ...


class BoundLike(Protocol):
    """What is asked of a bound: which measure, and how many nats."""

    @property
    def kind(self) -> KindLike: ...
    @property
    def epsilon(self) -> float: ...


def keeps(
    masses: IntArray | ObjectArray, bounds: Iterable[BoundLike], columns: Sequence[int] | None = None
) -> BoolArray:
    """Whether each released symbol keeps all bounds.

    Parameters
    ----------
    masses : ndarray of integers whose sums fit, shape (n_sensitive, n_released)
        Proportional to P(s, y). Sensitive values and symbols without mass promise nothing and pass.
    bounds : iterable of bounds
        Each with ``kind`` and ``epsilon``.
    columns : sequence of int, optional
        The symbols to look at; all where left out.

    Returns
    -------
    ndarray of bool
        One entry for each symbol looked at.

    Examples
    --------
    >>> from discreet import LIP
    >>> masses = np.array([[3, 1], [1, 3]], dtype=object)
    >>> keeps(masses, LIP(0.7).bounds), keeps(masses, LIP(0.6).bounds)
    (array([ True,  True]), array([False, False]))
    """
    prior = masses.sum(axis=1)
    total = int(prior.sum())
    rows = [int(r) for r in prior]
    chosen = range(masses.shape[1]) if columns is None else columns
    tests = [(bound.kind.keeps, Fraction(bound.epsilon)) for bound in bounds]
    result = np.empty(len(chosen), dtype=bool)
    for k, y in enumerate(chosen):
        cells = [(int(n), r) for n, r in zip(masses[:, y], rows) if r]
        symbol = Symbol(cells, sum(n for n, _ in cells), total)
        result[k] = (
            symbol.mass == 0
            or symbol.tells_nothing()
            or all(epsilon > 0 and test(symbol, epsilon) for test, epsilon in tests)
        )
    return result


class Symbol:
    """One released symbol: its mass with each sensitive value, that value's own mass, and the total.

    ``cells`` are pairs of integers (mass of s and y together, mass of s); values of s without mass are left out.
    """

    def __init__(self, cells: list[tuple[int, int]], mass: int, total: int) -> None:
        self.cells = cells
        self.mass = mass
        self.total = total

    def tells_nothing(self) -> bool:
        """All lifts are exactly one."""
        return all(n * self.total == r * self.mass for n, r in self.cells)

    def lifts(self) -> list[Fraction]:
        """l(s, y) for every sensitive value."""
        return [Fraction(n * self.total, r * self.mass) for n, r in self.cells]

    def prior(self) -> list[Fraction]:
        """P(s) in the same order."""
        return [Fraction(r, self.total) for _, r in self.cells]

    @property
    def rules_out(self) -> bool:
        """Some sensitive value is impossible here."""
        return any(n == 0 for n, _ in self.cells)


def at_most_exp(value: Fraction, epsilon: Fraction) -> bool:
    """``value <= exp(epsilon)`` for a positive rational epsilon."""
    if value.numerator.bit_length() - value.denominator.bit_length() + 1 <= epsilon:
        return True  # value < 2**epsilon: no need to enclose a huge exponential
    return decided_around_exp(epsilon, lambda low, high: _compare(value, low, high))


def root_at_most_expm1(square: Fraction | int, epsilon: Fraction) -> bool:
    """``sqrt(square) <= exp(epsilon) - 1`` for a positive rational epsilon."""
    square = Fraction(square)
    if (square.numerator.bit_length() - square.denominator.bit_length() + 1) / 2 + 1 <= epsilon and epsilon >= 2:
        return True  # 1 + sqrt(square) < 2**epsilon
    return decided_around_exp(
        epsilon, lambda low, high: _compare(square, max(low - 1, Fraction(0)) ** 2, (high - 1) ** 2)
    )


def _compare(value: Fraction, low: Fraction, high: Fraction) -> bool | None:
    """True below the enclosed number, False above it, None inside the enclosure."""
    if value <= low:
        return True
    return False if value >= high else None


def decided_around_exp(epsilon: Fraction, attempt: Callable[[Fraction, Fraction], bool | None]) -> bool:
    """What an attempt answers that is given ever closer rationals around exp(epsilon), until it knows."""
    bits = FIRST_BITS
    while (answer := attempt(*exp_bounds(epsilon, bits))) is None:
        bits *= 2
    return answer


@lru_cache(maxsize=4096)
def exp_bounds(epsilon: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Rationals strictly around ``exp(epsilon)``, relatively closer than ``2**-bits``.

    The decimal module rounds ``exp`` correctly, so one step outwards at each side encloses it.

    >>> low, high = exp_bounds(Fraction(1), 64)
    >>> low < Fraction("2.718281828459045235360287471352") < high
    True
    """
    low, high = _decimal_exp(epsilon, epsilon, int(bits * 0.302) + 3)
    return Fraction(low), Fraction(high)


def _context(digits: int) -> decimal.Context:
    return decimal.Context(
        prec=digits,
        Emax=decimal.MAX_EMAX,
        Emin=decimal.MIN_EMIN,
        rounding=decimal.ROUND_HALF_EVEN,
        traps=_TRAPS,
    )


_TRAPS = [decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow]


def _quotient(value: Fraction, digits: int) -> tuple[decimal.Decimal, decimal.Decimal]:
    """Decimals on both sides of a rational."""
    context = _context(digits)
    nearest = context.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
    if Fraction(nearest) == value:
        return nearest, nearest
    return nearest.next_minus(context), nearest.next_plus(context)


def _decimal_exp(low: Fraction, high: Fraction, digits: int) -> tuple[decimal.Decimal, decimal.Decimal]:
    """Decimals on both sides of exp over [low, high]."""
    context = _context(digits)
    # The argument carries extra digits, so that its own rounding stays below one unit of the result.
    extra = digits + max(len(str(int(abs(high)))), 1) + 2
    below, above = _quotient(low, extra)[0], _quotient(high, extra)[1]
    return context.exp(below).next_minus(context), context.exp(above).next_plus(context)


def _decimal_log(value: Fraction, digits: int) -> tuple[decimal.Decimal, decimal.Decimal]:
    """Decimals on both sides of the logarithm of a positive rational."""
    context = _context(digits)
    below, above = _quotient(value, digits)
    low, high = context.ln(below), context.ln(above)
    # log 1 is exactly 0, and the neighbours of 0 have exponents beyond all bounds.
    return low.next_minus(context) if low else low, high.next_plus(context) if high else high


def log_below(value: Fraction, digits: int = 30) -> Fraction:
    """A rational just below ``log(value)``."""
    return Fraction(_decimal_log(value, digits)[0])


def power_mean_at_most_exp(
    prior: Sequence[Fraction], values: Sequence[Fraction], epsilon: Fraction, alpha: float
) -> bool:
    """``(sum prior * values**alpha)**(1/alpha) <= exp(epsilon)`` by outward interval arithmetic."""
    order = Fraction(alpha)
    digits = 40
    while True:
        low = high = Fraction(0)
        for p, value in zip(prior, values):
            if value == 0:
                continue
            log_low, log_high = _decimal_log(value, digits)
            # The sum is divided by exp(alpha * epsilon) term by term, so that the limit is 1.
            exponent = order * (Fraction(log_low) - epsilon), order * (Fraction(log_high) - epsilon)
            if exponent[0] > p.denominator.bit_length():
                return False  # p * exp(exponent) > 1 by itself
            if exponent[1] < -100 * digits:
                high += p * Fraction(1, 10 ** (40 * digits))  # exp(-100 d) < 10**(-40 d): too small to spell out
                continue
            term = _decimal_exp(*exponent, digits)
            low += p * Fraction(term[0])
            high += p * Fraction(term[1])
        if high <= 1:
            return True
        if low > 1:
            return False
        digits *= 2
