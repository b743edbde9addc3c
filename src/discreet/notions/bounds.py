"""Bounds: one measure of the lift family kept below a level, the atoms that notions are made of.

A *level* is the budget, in nats, at which a bound would just hold: the logarithm of a lift or of a mean lift,
``log(1 + l1)``, ``log(1 + sqrt(chi2))``. So every bound reads "level at most epsilon", and zero is perfect privacy.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet._numeric import FloatArray, log
from discreet.measures import kernels

__all__ = ["KINDS", "Bound", "Kind"]


@dataclass(frozen=True)
class Kind:
    """A measure that can be bounded: its formula, the level of its values, and which side it guards."""

    value: Callable[[FloatArray, FloatArray, float | None], FloatArray]
    level: Callable[[FloatArray], FloatArray]
    side: str  # "upper": how likely s may become; "lower": how unlikely; "both"


def _log1p_root(values: FloatArray) -> FloatArray:
    return np.log1p(np.sqrt(values))


def _alpha(lifts: FloatArray, prior: FloatArray, alpha: float | None) -> FloatArray:
    assert alpha is not None
    return kernels.alpha_lift(lifts, prior, alpha)


KINDS: dict[str, Kind] = {
    "max_lift": Kind(lambda lifts, prior, _: kernels.max_lift(lifts, prior), log, "upper"),
    "min_lift_inverse": Kind(lambda lifts, prior, _: kernels.min_lift_inverse(lifts, prior), log, "lower"),
    "lift_ratio": Kind(lambda lifts, prior, _: kernels.lift_ratio(lifts, prior), log, "both"),
    "l1_lift": Kind(lambda lifts, prior, _: kernels.l1_lift(lifts, prior), np.log1p, "upper"),
    "l1_lift_inverse": Kind(lambda lifts, prior, _: kernels.l1_lift(kernels.inverse(lifts), prior), np.log1p, "lower"),
    "chi2_lift": Kind(lambda lifts, prior, _: kernels.chi2_lift(lifts, prior), _log1p_root, "upper"),
    "chi2_lift_inverse": Kind(
        lambda lifts, prior, _: kernels.chi2_lift(kernels.inverse(lifts), prior), _log1p_root, "lower"
    ),
    "alpha_lift": Kind(_alpha, log, "upper"),
    "alpha_lift_inverse": Kind(lambda lifts, prior, alpha: _alpha(kernels.inverse(lifts), prior, alpha), log, "lower"),
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
