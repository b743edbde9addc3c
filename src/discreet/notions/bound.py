"""Bounds: one measure of the lift family kept below a level, the atoms that notions are made of.

A *level* is the budget, in nats, at which a bound would just hold: the logarithm of a lift or of a mean lift,
``log(1 + l1)``, ``log(1 + sqrt(chi2))``. So every bound reads "level at most epsilon", and zero is perfect privacy.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet._support.numeric import FloatArray, log
from discreet.measures import kernels

__all__ = ["KINDS", "Bound", "Kind"]


@dataclass(frozen=True)
class Kind:
    """A measure that can be bounded: its formula, the level of its values, and the value of a level."""

    value: Callable[[FloatArray, FloatArray, float | None], FloatArray]
    level: Callable[[FloatArray], FloatArray]
    limit: Callable[[FloatArray], FloatArray]


def _log1p_root(values: FloatArray) -> FloatArray:
    return np.log1p(np.sqrt(values))


def _square_expm1(levels: FloatArray) -> FloatArray:
    return np.sign(levels) * np.square(np.expm1(levels))  # increasing, and negative below zero


def _alpha(lifts: FloatArray, prior: FloatArray, alpha: float | None) -> FloatArray:
    assert alpha is not None
    return kernels.alpha_lift(lifts, prior, alpha)


KINDS: dict[str, Kind] = {
    "max_lift": Kind(lambda lifts, prior, _: kernels.max_lift(lifts, prior), log, np.exp),
    "min_lift_inverse": Kind(lambda lifts, prior, _: kernels.min_lift_inverse(lifts, prior), log, np.exp),
    "lift_ratio": Kind(lambda lifts, prior, _: kernels.lift_ratio(lifts, prior), log, np.exp),
    "l1_lift": Kind(lambda lifts, prior, _: kernels.l1_lift(lifts, prior), np.log1p, np.expm1),
    "l1_lift_inverse": Kind(lambda lifts, prior, _: kernels.l1_lift(kernels.inverse(lifts), prior), np.log1p, np.expm1),
    "chi2_lift": Kind(lambda lifts, prior, _: kernels.chi2_lift(lifts, prior), _log1p_root, _square_expm1),
    "chi2_lift_inverse": Kind(
        lambda lifts, prior, _: kernels.chi2_lift(kernels.inverse(lifts), prior), _log1p_root, _square_expm1
    ),
    "alpha_lift": Kind(_alpha, log, np.exp),
    "alpha_lift_inverse": Kind(lambda lifts, prior, alpha: _alpha(kernels.inverse(lifts), prior, alpha), log, np.exp),
}


@dataclass(frozen=True)
class Bound:
    """Level of the measure ``kind`` at most ``epsilon`` nats, at every released symbol."""

    kind: str
    epsilon: float
    alpha: float | None = None

    def value(self, lifts: FloatArray, prior: FloatArray) -> FloatArray:
        """The measure itself at each symbol."""
        return KINDS[self.kind].value(lifts, prior, self.alpha)

    def level(self, values: FloatArray) -> FloatArray:
        """Nats that these values of the measure need."""
        return KINDS[self.kind].level(values)

    def limit(self, levels: FloatArray) -> FloatArray:
        """The inverse of `level`: the values that need so many nats."""
        with np.errstate(over="ignore"):
            return KINDS[self.kind].limit(levels)
