"""Bounds on averages of the lift over the sensitive values: l1, chi-square, alpha, and the same of inverse lifts."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from discreet._support import validate
from discreet._support.errors import UnsupportedNotionError
from discreet._support.numeric import FloatArray
from discreet.core.joint import Joint
from discreet.measures import kernels
from discreet.measures.lift import lift
from discreet.notions import exact
from discreet.notions.bound import LARGEST_EXPONENT, BoundKind
from discreet.notions.envelope import INFINITE, LARGEST_BUDGET, largest_mean, safe
from discreet.notions.exact import Symbol
from discreet.notions.lines import (
    Lines,
    chi2_inverse_lines,
    chi2_lines,
    l1_inverse_lines,
    l1_lines,
    largest_allowed,
    power_lines,
)
from discreet.notions.rows import PosteriorRows

__all__ = ["AlphaMean", "Chi2Mean", "InverseMean", "L1Mean", "MeanKind"]


class MeanKind(BoundKind):
    r"""A bound on :math:`E f(l)`, the mean of a function of the lift; ``f``, ``nats`` and ``slope`` say which."""

    zero_is_perfect = True
    #: Of f: limit of f(l) / l for large lifts.
    slope: Decimal = INFINITE
    #: Of f: whether it is finite at a lift of zero, and convex.
    is_finite_at_zero: bool = True
    is_convex: bool = True
    #: Whether f(1 / l) is convex too.
    is_inverse_convex: bool = False
    #: Whether `inverse_lines` exist.
    has_inverse_lines: bool = False

    @abstractmethod
    def f(self, lift: Decimal) -> Decimal:
        """The function whose mean is bounded."""

    def inverse_lines(self, at: FloatArray, largest: FloatArray, epsilon: float) -> Lines:
        """The same as `lines` of the bound on f(1 / l), where there are such."""
        raise UnsupportedNotionError(f"a bound on the inverse {self.title} has no lines below it.")

    def inverse_largest_lifts(self, prior: FloatArray, epsilon: float) -> FloatArray:
        """The same as `largest_lifts` of the bound on f(1 / l)."""
        return 1 / prior

    @abstractmethod
    def nats(self, mean: Decimal) -> Decimal:
        """The level of a mean."""

    @abstractmethod
    def keeps_mean(self, prior: Sequence[Fraction], values: Sequence[Fraction], epsilon: Fraction) -> bool:
        """Whether the mean over these values needs at most ``epsilon`` nats."""

    def keeps(self, symbol: Symbol, epsilon: Fraction) -> bool:
        return self.keeps_mean(symbol.prior(), symbol.lifts(), epsilon)

    def ceiling_within(self, falling: Decimal, rising: Decimal) -> Decimal:
        low = (-falling).exp() if falling <= LARGEST_BUDGET else Decimal(0)
        high = rising.exp() if rising <= LARGEST_BUDGET else INFINITE
        mean = largest_mean(self, low, high)
        return safe(self.nats(mean)) if mean.is_finite() else INFINITE


@dataclass(frozen=True)
class L1Mean(MeanKind):
    r"""Bounds the mean distance of the lift from one: :math:`\sum_s P(s) |l(s, y) - 1| \le e^\varepsilon - 1`."""

    title = "l1 lift"
    clause = "differ from 1 by at most {limit} on average"
    clause_less = 1
    is_linear = has_lines = has_inverse_lines = True
    slope = Decimal(1)

    def value(self, lifts: FloatArray, prior: FloatArray) -> FloatArray:
        return kernels.l1_lift(lifts, prior)

    def level(self, values: FloatArray) -> FloatArray:
        return np.log1p(values)

    def limit(self, levels: FloatArray) -> FloatArray:
        return np.expm1(levels)

    def keeps(self, symbol: Symbol, epsilon: Fraction) -> bool:
        # Over the common denominator total * mass, which spares a fraction for each value.
        distance = sum(abs(n * symbol.total - r * symbol.mass) for n, r in symbol.cells)
        return exact.at_most_exp(1 + Fraction(distance, symbol.total * symbol.mass), epsilon)

    def keeps_mean(self, prior: Sequence[Fraction], values: Sequence[Fraction], epsilon: Fraction) -> bool:
        return exact.at_most_exp(1 + Fraction(sum(p * abs(v - 1) for p, v in zip(prior, values))), epsilon)

    def rows(self, joint: Joint, epsilon: float) -> PosteriorRows:
        """Rows in (v, t) with one auxiliary t per sensitive value: ``|L v - 1| <= t``, ``P_S . t <= b``."""
        lifts = lift(joint)
        n = len(lifts)
        matrix = np.block(
            [
                [lifts, -np.eye(n)],
                [-lifts, -np.eye(n)],
                [np.zeros((1, joint.n_useful)), joint.p_sensitive[None, :]],
            ]
        )
        limit = math.expm1(min(epsilon, LARGEST_EXPONENT))
        return PosteriorRows.at_most(matrix, np.concatenate([np.ones(n), -np.ones(n), [limit]]), n_auxiliary=n)

    def lines(self, at: FloatArray, largest: FloatArray, epsilon: float) -> Lines:
        return l1_lines(at, math.expm1(epsilon))

    def inverse_lines(self, at: FloatArray, largest: FloatArray, epsilon: float) -> Lines:
        return l1_inverse_lines(at, largest, math.expm1(epsilon))

    def inverse_largest_lifts(self, prior: FloatArray, epsilon: float) -> FloatArray:
        return largest_allowed(lambda lifts: np.abs(1 / lifts - 1), prior, math.expm1(epsilon))

    def f(self, lift: Decimal) -> Decimal:
        return abs(lift - 1)

    def nats(self, mean: Decimal) -> Decimal:
        return (1 + mean).ln()


@dataclass(frozen=True)
class Chi2Mean(MeanKind):
    r"""Bounds the mean squared distance from one: :math:`\sum_s P(s) (l(s, y) - 1)^2 \le (e^\varepsilon - 1)^2`."""

    title = "chi-square lift"
    clause = "differ from 1 by at most {limit} in the root mean square"
    clause_less = 1
    has_lines = has_inverse_lines = True

    def value(self, lifts: FloatArray, prior: FloatArray) -> FloatArray:
        return kernels.chi2_lift(lifts, prior)

    def level(self, values: FloatArray) -> FloatArray:
        return np.log1p(np.sqrt(values))

    def limit(self, levels: FloatArray) -> FloatArray:
        return np.sign(levels) * np.square(np.expm1(levels))  # increasing, and negative below zero

    def keeps_mean(self, prior: Sequence[Fraction], values: Sequence[Fraction], epsilon: Fraction) -> bool:
        return exact.root_at_most_expm1(sum(p * (v - 1) ** 2 for p, v in zip(prior, values)), epsilon)

    def lines(self, at: FloatArray, largest: FloatArray, epsilon: float) -> Lines:
        return chi2_lines(at, math.expm1(epsilon) ** 2)

    def inverse_lines(self, at: FloatArray, largest: FloatArray, epsilon: float) -> Lines:
        return chi2_inverse_lines(at, largest, math.expm1(epsilon) ** 2)

    def inverse_largest_lifts(self, prior: FloatArray, epsilon: float) -> FloatArray:
        return largest_allowed(lambda lifts: np.square(1 / lifts - 1), prior, math.expm1(epsilon) ** 2)

    def passes_on(self, epsilon: Decimal, other: BoundKind) -> Decimal:
        # Cauchy-Schwarz, and Minkowski: ||l|| <= 1 + ||l - 1||
        weaker = other in (self, L1Mean()) or (isinstance(other, AlphaMean) and other.alpha <= 2)
        return epsilon if weaker else INFINITE

    def f(self, lift: Decimal) -> Decimal:
        return (lift - 1) ** 2

    def nats(self, mean: Decimal) -> Decimal:
        return (1 + mean.sqrt()).ln()


@dataclass(frozen=True)
class AlphaMean(MeanKind):
    r"""Bounds the power mean of the lift: :math:`(\sum_s P(s) \, l(s, y)^\alpha)^{1/\alpha} \le e^\varepsilon`."""

    alpha: float
    has_lines = has_inverse_lines = is_inverse_convex = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", validate.order_above_one(self.alpha))

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"alpha lift of order {self.alpha:g}"

    @property
    def clause(self) -> str:  # type: ignore[override]
        return f"have a mean of order {self.alpha:g} of at most {{limit}}"

    def value(self, lifts: FloatArray, prior: FloatArray) -> FloatArray:
        return kernels.alpha_lift(lifts, prior, self.alpha)

    def keeps_mean(self, prior: Sequence[Fraction], values: Sequence[Fraction], epsilon: Fraction) -> bool:
        return exact.power_mean_at_most_exp(prior, values, epsilon, self.alpha)

    def lines(self, at: FloatArray, largest: FloatArray, epsilon: float) -> Lines:
        return power_lines(at, self.alpha, self.alpha * epsilon)

    def inverse_lines(self, at: FloatArray, largest: FloatArray, epsilon: float) -> Lines:
        return power_lines(at, -self.alpha, self.alpha * epsilon)

    def passes_on(self, epsilon: Decimal, other: BoundKind) -> Decimal:
        if isinstance(other, AlphaMean):
            return epsilon if other.alpha <= self.alpha else INFINITE
        if self.alpha >= 2 and other in (Chi2Mean(), L1Mean()) and epsilon <= LARGEST_BUDGET:
            # E (l - 1)^2 <= E l^2 - 1, since E l >= 1 for the lift and for its inverse
            return safe((1 + ((2 * epsilon).exp() - 1).sqrt()).ln())
        return INFINITE

    def f(self, lift: Decimal) -> Decimal:
        return (lift.ln() * Decimal(self.alpha)).exp() if lift else Decimal(0)

    def nats(self, mean: Decimal) -> Decimal:
        return mean.ln() / Decimal(self.alpha)


@dataclass(frozen=True)
class InverseMean(MeanKind):
    """The same bound on the inverse lifts 1 / l(s, y); a symbol that rules a value out keeps no such bound."""

    of: MeanKind
    slope = Decimal(0)
    is_finite_at_zero = False
    is_inverse = True

    @property
    def clause(self) -> str:  # type: ignore[override]
        return self.of.clause

    @property
    def clause_less(self) -> int:  # type: ignore[override]
        return self.of.clause_less

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"inverse {self.of.title}"

    @property
    def is_convex(self) -> bool:  # type: ignore[override]
        return self.of.is_inverse_convex

    def value(self, lifts: FloatArray, prior: FloatArray) -> FloatArray:
        return self.of.value(kernels.inverse(lifts), prior)

    def level(self, values: FloatArray) -> FloatArray:
        return self.of.level(values)

    def limit(self, levels: FloatArray) -> FloatArray:
        return self.of.limit(levels)

    def keeps(self, symbol: Symbol, epsilon: Fraction) -> bool:
        return not symbol.rules_out and super().keeps(symbol, epsilon)

    def keeps_mean(self, prior: Sequence[Fraction], values: Sequence[Fraction], epsilon: Fraction) -> bool:
        return self.of.keeps_mean(prior, [1 / value for value in values], epsilon)

    @property
    def has_lines(self) -> bool:  # type: ignore[override]
        return self.of.has_inverse_lines

    def lines(self, at: FloatArray, largest: FloatArray, epsilon: float) -> Lines:
        return self.of.inverse_lines(at, largest, epsilon)

    def largest_lifts(self, prior: FloatArray, epsilon: float) -> FloatArray:
        return self.of.inverse_largest_lifts(prior, epsilon)

    def passes_on(self, epsilon: Decimal, other: BoundKind) -> Decimal:
        return self.of.passes_on(epsilon, other.of) if isinstance(other, InverseMean) else INFINITE

    def f(self, lift: Decimal) -> Decimal:
        return self.of.f(1 / lift)

    def nats(self, mean: Decimal) -> Decimal:
        return self.of.nats(mean)
