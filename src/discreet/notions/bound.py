"""Bounds: one measure of the lift family kept below a level, the atoms that notions are made of.

A *level* is the budget, in nats, at which a bound would just hold: the logarithm of a lift or of a mean lift,
``log(1 + l1)``, ``log(1 + sqrt(chi2))``. So every bound reads "level at most epsilon", and zero is perfect privacy.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from discreet._support import validate
from discreet._support.errors import InvalidNotionError, UnsupportedNotionError
from discreet._support.numeric import FloatArray, log
from discreet.core.joint import Joint
from discreet.notions.envelope import INFINITE
from discreet.notions.exact import Symbol
from discreet.notions.lines import Lines
from discreet.notions.rows import PosteriorRows

__all__ = ["LARGEST_CURVED", "LARGEST_EXPONENT", "Bound", "BoundKind", "factor"]

#: Lifts in floats stay below exp(700); a larger budget bounds nothing.
LARGEST_EXPONENT = 700.0

#: Budgets beyond this are not cut by: squares of exp(epsilon) would overflow, and no lift of a float comes near it.
LARGEST_CURVED = 300.0


def factor(epsilon: float) -> float:
    """``exp(epsilon)`` as a float that does not overflow."""
    return math.exp(min(epsilon, LARGEST_EXPONENT))


class BoundKind(ABC):
    """A measure that can be bounded, and all that is known about bounds on it; a small immutable value.

    A kind needs ``title``, `value` and `keeps`, besides `level` and `limit` where a level is not the logarithm of a
    value. With these alone every notion made of it can be decided, and designed for by merging. All else is
    knowledge that opens more: `rows` the methods that solve linear programmes, `lines` the optimum where there are no
    rows, `compared` the protocols, `passes_on`, `ceiling_within` and `lift_budgets` the proofs of what implies what.
    What is left out is not claimed.

    Subclasses are frozen dataclasses: kinds with equal fields are one kind. A level rises with the value, is at most 0
    where all lifts are 1, and as computed in floats is off by less than 1e-9 nats.
    """

    #: What is bounded, as a noun that follows "the".
    title: str
    #: What it says of the factors by which beliefs change, around ``{limit}``; empty where it is on single lifts.
    clause: str = ""
    #: What is taken off exp(epsilon) to get that limit: 1 where it says how far the factors differ from 1.
    clause_less: int = 0
    #: Whether the factors are those that would turn beliefs back.
    is_inverse: bool = False
    #: Whether a level of zero leaves only symbols that tell nothing. Other kinds take positive budgets only.
    zero_is_perfect: bool = False
    #: Whether the allowed posteriors form a polytope, so that `rows` exist.
    is_linear: bool = False
    #: Whether `lines` exist, so that cuts enclose the allowed posteriors.
    has_lines: bool = False
    #: Whether it bounds lifts or their ratios, nothing else, so that `compared` says it all.
    is_on_lifts: bool = False
    #: Whether it compares two sensitive values with each other, not one with the mean.
    compares_pairs: bool = False

    @abstractmethod
    def value(self, lifts: FloatArray, prior: FloatArray) -> FloatArray:
        """The measure at each symbol; ``lifts`` end in the axes (sensitive, released), ``prior`` in (sensitive)."""

    @abstractmethod
    def keeps(self, symbol: Symbol, epsilon: Fraction) -> bool:
        """Whether a symbol that tells something needs at most ``epsilon`` > 0 nats, decided without floats."""

    def level(self, values: FloatArray) -> FloatArray:
        """Nats that these values of the measure need."""
        return log(values)

    def limit(self, levels: FloatArray) -> FloatArray:
        """The inverse of `level`: the values that need so many nats."""
        return np.exp(levels)

    def rows(self, joint: Joint, epsilon: float) -> PosteriorRows:
        """The posteriors P(x | y) that keep the bound, where they are a polytope."""
        raise UnsupportedNotionError(f"a bound on the {self.title} has no linear rows.")

    def lines(self, at: FloatArray, largest: FloatArray, epsilon: float) -> Lines:
        """Lines in the lifts whose mean over P(s) is at most 1 wherever the bound holds, close to it at some lifts.

        Parameters
        ----------
        at : ndarray of shape (..., n_sensitive)
            Positive lifts.
        largest : ndarray of shape (n_sensitive,)
            Lifts that no allowed posterior exceeds.
        epsilon : float
            The budget, at most `LARGEST_CURVED`.
        """
        raise UnsupportedNotionError(f"a bound on the {self.title} has no lines below it.")

    def largest_lifts(self, prior: FloatArray, epsilon: float) -> FloatArray:
        """For each sensitive value a lift that no allowed symbol exceeds, whatever the table: 1 / P(s) or less."""
        return 1 / prior

    def compared(self, given: FloatArray, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Probabilities (h, g) of which the bound asks h <= exp(epsilon) g, made of P(x | s) and P(x)."""
        raise UnsupportedNotionError(f"a bound on the {self.title} compares no two probabilities.")

    def lift_budgets(self, epsilon: float) -> tuple[float, float]:
        """Nats by which lifts fall and rise at most where the bound holds, whatever the joint; inf where unknown."""
        return math.inf, math.inf

    def lift_range(self, epsilon: float) -> tuple[float, float]:
        """Lowest and highest lift that the bound allows by itself; (0, inf) where it is not on single lifts."""
        falling, rising = (math.inf, math.inf) if self.compares_pairs else self.lift_budgets(epsilon)
        return math.exp(-falling), math.inf if math.isinf(rising) else factor(rising)

    def levels_within(self, least: FloatArray, largest: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Nats that the bound needs at least, and at most, at symbols whose lifts lie between these; None: unknown.

        Arrays of shape (sensitive, released). Each lift is taken to lie anywhere between its two.
        """
        return None

    def passes_on(self, epsilon: Decimal, other: BoundKind) -> Decimal:
        """Nats that another measure needs at most where this one needs ``epsilon``, whatever the joint."""
        return epsilon if other == self else INFINITE

    def ceiling_within(self, falling: Decimal, rising: Decimal) -> Decimal:
        """Nats that this measure needs at most where all lifts fall and rise by at most so many."""
        return INFINITE


@dataclass(frozen=True)
class Bound:
    """Level of the measure ``kind`` at most ``epsilon`` nats, at every released symbol."""

    kind: BoundKind
    epsilon: float

    def __post_init__(self) -> None:
        if not isinstance(self.kind, BoundKind):
            raise InvalidNotionError(f"kind must be a BoundKind, got {type(self.kind).__name__}.")
        object.__setattr__(self, "epsilon", validate.budget(self.epsilon, "epsilon"))
        if self.epsilon == 0 and not self.kind.zero_is_perfect:
            raise InvalidNotionError(
                f"a budget of 0 stands for perfect privacy, which a bound on the {self.kind.title} does not give. "
                "Use a positive budget, or PerfectPrivacy."
            )

    def value(self, lifts: FloatArray, prior: FloatArray) -> FloatArray:
        """The measure itself at each symbol."""
        return self.kind.value(lifts, prior)

    def level(self, values: FloatArray) -> FloatArray:
        """Nats that these values of the measure need."""
        return self.kind.level(values)

    def limit(self, levels: FloatArray) -> FloatArray:
        """The inverse of `level`: the values that need so many nats."""
        with np.errstate(over="ignore"):
            return self.kind.limit(levels)
