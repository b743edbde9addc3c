"""Bounds on lifts themselves: the largest, the smallest, and their ratio."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np

from discreet._support.numeric import FloatArray, divide, log
from discreet.core.joint import Joint
from discreet.measures import kernels
from discreet.measures.lift import lift
from discreet.notions.bound import BoundKind, factor
from discreet.notions.envelope import exact_sum
from discreet.notions.exact import Symbol, at_most_exp
from discreet.notions.rows import Band, PosteriorRows

__all__ = ["LIFTS", "LargestLift", "LiftRatio", "SmallestLift"]

#: More sensitive values than this have a band in the place of rows of pairs: 40 have 1,560 pairs, 200 have 39,800, and
#: all that is done with rows takes that much longer.
PAIRED_UP_TO = 40


@dataclass(frozen=True)
class LargestLift(BoundKind):
    r"""Bounds how far beliefs rise: :math:`\max_s l(s, y) \le e^\varepsilon`."""

    title = "largest lift"
    zero_is_perfect = is_linear = is_on_lifts = True

    def value(self, lifts: FloatArray, prior: FloatArray) -> FloatArray:
        return kernels.max_lift(lifts, prior)

    def keeps(self, symbol: Symbol, epsilon: Fraction) -> bool:
        return at_most_exp(max(symbol.lifts()), epsilon)

    def rows(self, joint: Joint, epsilon: float) -> PosteriorRows:
        """Rows ``L v <= exp(epsilon)`` with L the lift matrix."""
        lifts = lift(joint)
        labels = tuple(("upper", s, s, None) for s in range(len(lifts)))
        return PosteriorRows.at_most(lifts, np.full(len(lifts), factor(epsilon)), labels=labels)

    def compared(self, given: FloatArray, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
        return given, mean

    def lift_budgets(self, epsilon: float) -> tuple[float, float]:
        return math.inf, epsilon

    def levels_within(self, least: FloatArray, largest: FloatArray) -> tuple[FloatArray, FloatArray]:
        return log(least.max(axis=0)), log(largest.max(axis=0))

    def ceiling_within(self, falling: Decimal, rising: Decimal) -> Decimal:
        return rising


@dataclass(frozen=True)
class SmallestLift(BoundKind):
    r"""Bounds how far beliefs fall: :math:`1 / \min_s l(s, y) \le e^\varepsilon`."""

    title = "inverse of the smallest lift"
    zero_is_perfect = is_linear = is_on_lifts = True

    def value(self, lifts: FloatArray, prior: FloatArray) -> FloatArray:
        return kernels.min_lift_inverse(lifts, prior)

    def keeps(self, symbol: Symbol, epsilon: Fraction) -> bool:
        return not symbol.rules_out and at_most_exp(1 / min(symbol.lifts()), epsilon)

    def rows(self, joint: Joint, epsilon: float) -> PosteriorRows:
        """Rows ``-L v <= -exp(-epsilon)`` with L the lift matrix."""
        lifts = lift(joint)
        labels = tuple(("lower", s, s, None) for s in range(len(lifts)))
        return PosteriorRows.at_most(-lifts, np.full(len(lifts), -math.exp(-epsilon)), labels=labels)

    def compared(self, given: FloatArray, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
        return mean, given

    def lift_budgets(self, epsilon: float) -> tuple[float, float]:
        return epsilon, math.inf

    def levels_within(self, least: FloatArray, largest: FloatArray) -> tuple[FloatArray, FloatArray]:
        return -log(largest.min(axis=0)), -log(least.min(axis=0))

    def ceiling_within(self, falling: Decimal, rising: Decimal) -> Decimal:
        return falling


@dataclass(frozen=True)
class LiftRatio(BoundKind):
    r"""Bounds how far any two lifts lie apart: :math:`\max_s l(s, y) / \min_s l(s, y) \le e^\varepsilon`."""

    title = "lift ratio"
    zero_is_perfect = is_linear = is_on_lifts = compares_pairs = True

    def value(self, lifts: FloatArray, prior: FloatArray) -> FloatArray:
        return kernels.lift_ratio(lifts, prior)

    def keeps(self, symbol: Symbol, epsilon: Fraction) -> bool:
        lifts = symbol.lifts()
        return not symbol.rules_out and at_most_exp(max(lifts) / min(lifts), epsilon)

    def rows(self, joint: Joint, epsilon: float) -> PosteriorRows:
        """Homogeneous rows ``(L v)(s) - exp(epsilon) (L v)(s') <= 0`` for every pair of values, or a band of many."""
        lifts = lift(joint)
        if len(lifts) > PAIRED_UP_TO:
            return _band(lifts, factor(epsilon))
        first, second = np.nonzero(~np.eye(len(lifts), dtype=bool))
        matrix = lifts[first] - factor(epsilon) * lifts[second]
        labels = tuple(("ratio", s, other, None) for s, other in zip(first.tolist(), second.tolist()))
        return PosteriorRows.at_most(matrix, np.zeros(len(matrix)), labels=labels)

    def compared(self, given: FloatArray, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
        return given[:, None], given[None]

    def lift_budgets(self, epsilon: float) -> tuple[float, float]:
        return epsilon, epsilon  # the mean lift is 1, so it lies between any two that are farthest apart

    def levels_within(self, least: FloatArray, largest: FloatArray) -> tuple[FloatArray, FloatArray]:
        return log(divide(least.max(axis=0), largest.min(axis=0))), log(divide(largest.max(axis=0), least.min(axis=0)))

    def ceiling_within(self, falling: Decimal, rising: Decimal) -> Decimal:
        return exact_sum(falling, rising)


def _band(lifts: FloatArray, most: float) -> PosteriorRows:
    """Rows ``L v <= most t`` and ``L v >= t`` with an auxiliary variable t."""
    count = len(lifts)
    every, ones = np.arange(count), np.ones((count, 1))
    matrix = np.vstack([np.hstack([lifts, -most * ones]), np.hstack([-lifts, ones])])
    band = Band(most, 0, every, every + count, every, every)
    return replace(PosteriorRows.at_most(matrix, np.zeros(2 * count), n_auxiliary=1), bands=(band,))


#: The kinds that decide between which two numbers all lifts lie.
LIFTS: tuple[BoundKind, ...] = (LargestLift(), SmallestLift())
