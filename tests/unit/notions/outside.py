"""Notions and kinds of bounds as someone outside the package writes them, from public names alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet import Joint, Notion, measures
from discreet.notions import Bound, BoundKind, L1Mean, LargestLift, PosteriorRows, Symbol, at_most_exp


@dataclass(frozen=True)
class SurenessAndDistance(Notion):
    """Two bounds that are there already: lifts of at most exp(eps_lift), and an l1 lift of at most exp(eps_l1) - 1."""

    eps_lift: float
    eps_l1: float
    name: ClassVar[str] = "sureness-and-distance"

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return Bound(LargestLift(), self.eps_lift), Bound(L1Mean(), self.eps_l1)


@dataclass(frozen=True)
class SecondLift(BoundKind):
    """The second largest lift: one belief may rise freely, all others by a factor at most. No polytope."""

    title = "second largest lift"

    def value(self, lifts: np.ndarray, prior: np.ndarray) -> np.ndarray:
        seen = np.where(prior[..., :, None] > 0, lifts, 0.0)  # a value without mass has no lift
        return np.sort(seen, axis=-2)[..., -min(2, seen.shape[-2]), :]

    def keeps(self, symbol: Symbol, epsilon: Fraction) -> bool:
        lifts = sorted(symbol.lifts())
        return at_most_exp(lifts[-min(2, len(lifts))], epsilon)


@dataclass(frozen=True)
class AllButOne(Notion):
    """A bound on a new measure."""

    epsilon: float
    name: ClassVar[str] = "all-but-one"

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return (Bound(SecondLift(), self.epsilon),)


@dataclass(frozen=True)
class Variation(BoundKind):
    """Total variation of the beliefs before and after: at most exp(epsilon) - 1. A polytope, known from the l1 lift."""

    title = "total variation"
    zero_is_perfect = is_linear = True

    def value(self, lifts: np.ndarray, prior: np.ndarray) -> np.ndarray:
        return L1Mean().value(lifts, prior) / 2

    def level(self, values: np.ndarray) -> np.ndarray:
        return np.log1p(values)

    def limit(self, levels: np.ndarray) -> np.ndarray:
        return np.expm1(levels)

    def keeps(self, symbol: Symbol, epsilon: Fraction) -> bool:
        distance = sum(p * abs(lift - 1) for p, lift in zip(symbol.prior(), symbol.lifts()))
        return at_most_exp(1 + Fraction(distance) / 2, epsilon)

    def rows(self, joint: Joint, epsilon: float) -> PosteriorRows:
        return L1Mean().rows(joint, math.log1p(2 * math.expm1(epsilon)))

    def ceiling_within(self, falling: Decimal, rising: Decimal) -> Decimal:
        return L1Mean().ceiling_within(falling, rising)  # it is half of that one


@dataclass(frozen=True)
class TCloseness(Notion):
    """A bound on a new measure that is a polytope."""

    epsilon: float
    name: ClassVar[str] = "t-closeness"

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return (Bound(Variation(), self.epsilon),)


def worst_variation(joint: Joint) -> float:
    """The measure without the package's kinds."""
    return float(measures.l1_lift(joint).max()) / 2
