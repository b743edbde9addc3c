r"""Which promise follows from which: the largest level of one measure that bounds on others still allow.

The published statements are Lemma 1 of [LTS20]_ and Propositions 1, 3 and 5 of [ZDS23]_; five of the printed
bounds are false, because they look at one side of the lift only. What holds for lifts in :math:`[m, M]` with
mean 1 is the concave envelope at 1: for a measure :math:`E f(l)` the extreme puts all mass on two lifts,

.. math:: \frac{(b - 1) f(m) + (1 - m) f(b)}{b - m},

with :math:`b = M` where f is convex, and with the worst :math:`b \le M` for the inverse l1 and chi-square.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from discreet.notions.bound import Bound

__all__ = ["ceiling", "implies"]

#: Ceilings are computed with this many digits: budgets are floats of 17, and their differences may cancel most.
DIGITS = 80

#: Added to computed ceilings, relative to one plus their size; far above rounding at that many digits.
SAFETY = Decimal("1e-35")

#: Ternary search for the worst second lift narrows its interval by (2/3)**STEPS.
STEPS = 140

#: Lifts beyond exp of this are treated as unbounded, which only weakens what is claimed.
LARGEST_BUDGET = 10_000

_CONTEXT = decimal.Context(prec=DIGITS, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
_INFINITE = Decimal("Infinity")
_ONE = Decimal(1)


def implies(premise: Iterable[Bound], conclusion: Iterable[Bound]) -> bool:
    """Whether the theorems prove that the first bounds entail the second ones, whatever the joint."""
    given = tuple(premise)
    if any(bound.epsilon == 0 for bound in given):
        return True  # the mean lift is 1: a zero budget on either side leaves only perfect privacy
    return all(ceiling(given, bound) <= Decimal(bound.epsilon) for bound in conclusion)


@lru_cache(maxsize=4096)
def ceiling(given: tuple[Bound, ...], target: Bound) -> Decimal:
    """Nats that the target's measure can need at most where the given bounds hold; inf where no limit is known."""
    with decimal.localcontext(_CONTEXT):
        return min([_INFINITE, *(_direct(bound, target) for bound in given), _from_lifts(given, target)])


def _direct(bound: Bound, target: Bound) -> Decimal:
    """From a measure to itself and to weaker means of the same kind."""
    epsilon = Decimal(bound.epsilon)
    if bound.kind == target.kind and (bound.alpha or 0) >= (target.alpha or 0):
        return epsilon
    source, goal = bound.kind.removesuffix("_inverse"), target.kind.removesuffix("_inverse")
    if bound.kind.endswith("_inverse") != target.kind.endswith("_inverse"):
        return _INFINITE
    if source == "chi2_lift":
        # Cauchy-Schwarz, and Minkowski: ||l|| <= 1 + ||l - 1||
        return epsilon if goal == "l1_lift" or (goal == "alpha_lift" and (target.alpha or 0) <= 2) else _INFINITE
    if source == "alpha_lift" and (bound.alpha or 0) >= 2 and goal in ("chi2_lift", "l1_lift"):
        # E (l - 1)^2 <= E l^2 - 1, since E l >= 1 for the lift and for its inverse
        return _safe((1 + ((2 * epsilon).exp() - 1).sqrt()).ln()) if epsilon <= LARGEST_BUDGET else _INFINITE
    return _INFINITE


def _safe(level: Decimal) -> Decimal:
    return level + SAFETY * (1 + abs(level))


def _from_lifts(given: Sequence[Bound], target: Bound) -> Decimal:
    """From a range of the lifts to every measure."""
    by_kind = {bound.kind: Decimal(bound.epsilon) for bound in given}
    ratio = by_kind.get("lift_ratio", _INFINITE)  # LDP(e) keeps the lifts within [exp(-e), exp(e)]
    upper = min(by_kind.get("max_lift", _INFINITE), ratio)
    lower = min(by_kind.get("min_lift_inverse", _INFINITE), ratio)
    if target.kind == "max_lift":
        return upper
    if target.kind == "min_lift_inverse":
        return lower
    if target.kind == "lift_ratio":
        return min(_exact_sum(lower, upper), ratio)
    low = (-lower).exp() if lower <= LARGEST_BUDGET else Decimal(0)
    high = upper.exp() if upper <= LARGEST_BUDGET else _INFINITE
    mean = _largest_mean(target, low, high)
    if not mean.is_finite():
        return _INFINITE
    return _safe(_level(target, mean))


def _exact_sum(first: Decimal, second: Decimal) -> Decimal:
    """The sum of two floats without rounding: they may differ by 600 orders of magnitude."""
    if not (first.is_finite() and second.is_finite()):
        return _INFINITE
    total = Fraction(first) + Fraction(second)
    return decimal.Context(prec=1400, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN).divide(
        Decimal(total.numerator), Decimal(total.denominator)
    )


def _level(target: Bound, mean: Decimal) -> Decimal:
    kind = target.kind.removesuffix("_inverse")
    if kind == "alpha_lift":
        return mean.ln() / Decimal(target.alpha or 1)
    return (1 + (mean.sqrt() if kind == "chi2_lift" else mean)).ln()


def _largest_mean(target: Bound, low: Decimal, high: Decimal) -> Decimal:
    """Largest E f(l) over lifts in [low, high] with mean one."""
    inverse = target.kind.endswith("_inverse")
    if low == 0 and inverse:
        return _INFINITE
    if high == _INFINITE:
        # The far lift has no mass in the limit, but may keep a slope: 1 for l1, none for inverses, else unbounded.
        slope = _ONE if target.kind == "l1_lift" else Decimal(0) if inverse else _INFINITE
        at_infinity = _f(target, low) + (1 - low) * slope
        return at_infinity if target.kind not in _NOT_CONVEX else max(at_infinity, _worst_chord(target, low, _FAR))
    if target.kind in _NOT_CONVEX:
        return max(_chord(target, low, high), _worst_chord(target, low, high))
    return _chord(target, low, high)


#: The inverse l1 and chi-square lifts are convex up to a point only; their worst second lift is near one.
_NOT_CONVEX = ("l1_lift_inverse", "chi2_lift_inverse")
_FAR = Decimal("1e200")


def _worst_chord(target: Bound, low: Decimal, high: Decimal) -> Decimal:
    """The largest chord over the second lift, which rises and then falls along it (ternary search on a log scale)."""
    left, right = Decimal(0), high.ln()
    for _ in range(STEPS):
        third = (right - left) / 3
        if _chord(target, low, (left + third).exp()) < _chord(target, low, (right - third).exp()):
            left += third
        else:
            right -= third
    return _chord(target, low, left.exp())


def _chord(target: Bound, low: Decimal, b: Decimal) -> Decimal:
    """Mean of f where all mass sits on the lifts ``low`` and ``b``."""
    if b <= 1 or low >= 1:
        return Decimal(0) if target.kind.removesuffix("_inverse") != "alpha_lift" else _ONE
    return ((b - 1) * _f(target, low) + (1 - low) * _f(target, b)) / (b - low)


def _f(target: Bound, lift: Decimal) -> Decimal:
    value = 1 / lift if target.kind.endswith("_inverse") else lift
    kind = target.kind.removesuffix("_inverse")
    if kind == "alpha_lift":
        return (value.ln() * Decimal(target.alpha or 1)).exp() if value else Decimal(0)
    return abs(value - 1) if kind == "l1_lift" else (value - 1) ** 2
