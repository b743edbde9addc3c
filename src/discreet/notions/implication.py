r"""Which promise follows from which: the largest level of one measure that bounds on others still allow.

The published statements are Lemma 1 of [LTS20]_ and Propositions 1, 3 and 5 of [ZDS23]_; five of the printed
bounds are false, because they look at one side of the lift only. What holds for lifts in :math:`[m, M]` with
mean 1 is the concave envelope at 1: for a measure :math:`E f(l)` the extreme puts all mass on two lifts,

.. math:: \frac{(b - 1) f(m) + (1 - m) f(b)}{b - m},

with :math:`b = M` where f is convex, and with the worst :math:`b \le M` for the inverse l1 and chi-square.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np

from discreet._numeric import FloatArray
from discreet.notions.bounds import Bound

__all__ = ["ceiling", "implies"]

Level = Fraction | float

#: Added to computed ceilings: far above the rounding of a dozen float operations, far below any budget.
SAFETY = 1e-12


def implies(premise: Iterable[Bound], conclusion: Iterable[Bound]) -> bool:
    """Whether the theorems prove that the first bounds entail the second ones, whatever the joint."""
    given = tuple(premise)
    if any(bound.epsilon == 0 for bound in given):
        return True  # the mean lift is 1: a zero budget on either side leaves only perfect privacy
    return all(ceiling(given, bound) <= bound.epsilon for bound in conclusion)


def ceiling(given: Sequence[Bound], target: Bound) -> Level:
    """Nats that the target's measure can need at most where the given bounds hold; inf where no limit is known."""
    return min([math.inf, *(_direct(bound, target) for bound in given), _from_lifts(given, target)])


def _direct(bound: Bound, target: Bound) -> Level:
    """From a measure to itself and to weaker means of the same kind."""
    if bound.kind == target.kind and (bound.alpha or 0) >= (target.alpha or 0):
        return bound.epsilon
    source, goal = bound.kind.removesuffix("_inverse"), target.kind.removesuffix("_inverse")
    if bound.kind.endswith("_inverse") != target.kind.endswith("_inverse"):
        return math.inf
    if source == "chi2_lift":
        # Cauchy-Schwarz, and Minkowski: ||l|| <= 1 + ||l - 1||
        return bound.epsilon if goal == "l1_lift" or (goal == "alpha_lift" and (target.alpha or 0) <= 2) else math.inf
    if source == "alpha_lift" and (bound.alpha or 0) >= 2 and goal in ("chi2_lift", "l1_lift"):
        # E (l - 1)^2 <= E l^2 - 1, since E l >= 1 for the lift and for its inverse
        return math.log1p(math.sqrt(math.expm1(2 * bound.epsilon))) + SAFETY
    return math.inf


def _from_lifts(given: Sequence[Bound], target: Bound) -> Level:
    """From a range of the lifts to every measure."""
    by_kind = {bound.kind: bound.epsilon for bound in given}
    ratio = by_kind.get("lift_ratio", math.inf)  # LDP(e) keeps the lifts within [exp(-e), exp(e)]
    upper = min(by_kind.get("max_lift", math.inf), ratio)
    lower = min(by_kind.get("min_lift_inverse", math.inf), ratio)
    if target.kind == "max_lift":
        return upper
    if target.kind == "min_lift_inverse":
        return lower
    if target.kind == "lift_ratio":
        if math.inf in (upper, lower):
            return math.inf
        total = Fraction(lower) + Fraction(upper)
        return total if total <= ratio else ratio
    value = _largest_mean(target, math.exp(-lower), math.exp(min(upper, 700.0)) if upper < math.inf else math.inf)
    if not math.isfinite(value):
        return math.inf
    mean = value ** (1 / target.alpha) if target.alpha else value
    return float(target.level(np.array([mean]))[0]) + SAFETY


def _largest_mean(target: Bound, low: float, high: float) -> float:
    """Largest E f(l) over lifts in [low, high] with mean one."""
    inverse = target.kind.endswith("_inverse")
    if low == 0 and inverse:
        return math.inf
    f = _FUNCTIONS[target.kind.removesuffix("_inverse")](target.alpha)

    def chord(b: float) -> float:
        at_low = f(1 / low) if inverse else f(low)
        if b == math.inf:  # the far point has no mass, but may keep a slope
            return at_low + (1 - low) * _slope_at_infinity(target)
        return ((b - 1) * at_low + (1 - low) * f(1 / b if inverse else b)) / (b - low) if b > low else 0.0

    candidates = [high]
    if target.kind == "l1_lift_inverse" and low > 0.5:
        candidates.append((low + low * math.sqrt(2 - 2 * low)) / (2 * low - 1))
    if target.kind == "chi2_lift_inverse":
        candidates += _stationary_chi2_inverse(low)
    return max(chord(b) for b in candidates if 1 <= b <= high)


def _slope_at_infinity(target: Bound) -> float:
    return {"l1_lift": 1.0, "l1_lift_inverse": 0.0, "chi2_lift_inverse": 0.0, "alpha_lift_inverse": 0.0}.get(
        target.kind, math.inf
    )


def _stationary_chi2_inverse(low: float) -> list[float]:
    """Where (b - 1) (A b^2 + b - 1) / (b^2 (b - m)) is stationary in b, with A = (1 - m) / m^2."""
    a = (1 - low) / low**2
    numerator = np.polymul([1.0, -1.0], [a, 1.0, -1.0])
    denominator = np.array([1.0, -low, 0.0, 0.0])
    slope: FloatArray = np.polysub(
        np.polymul(np.polyder(numerator), denominator), np.polymul(numerator, np.polyder(denominator))
    )
    roots = np.roots(slope)
    return [float(r.real) for r in roots if abs(r.imag) < 1e-6 * abs(r.real)]


_FUNCTIONS: dict[str, Callable[[float | None], Callable[[float], float]]] = {
    "l1_lift": lambda _: lambda lift: abs(lift - 1),
    "chi2_lift": lambda _: lambda lift: (lift - 1) ** 2,
    "alpha_lift": lambda alpha: lambda lift: _power(lift, alpha or 1.0),
}


def _power(base: float, exponent: float) -> float:
    try:
        return float(base**exponent)
    except OverflowError:
        return math.inf
