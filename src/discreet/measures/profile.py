"""All that an audit measures at each symbol, in one pass over the joint."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support.numeric import FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.measures import kernels
from discreet.measures.entropy import entropy, mutual_information
from discreet.measures.leakage import leakages

__all__ = ["Profile", "profile"]

#: The measures of the lift at a symbol, by name.
LIFTS = (
    "max_lift",
    "min_lift",
    "lift_ratio",
    "l1_lift",
    "l1_lift_inverse",
    "chi2_lift",
    "chi2_lift_inverse",
    "alpha_lift",
    "alpha_lift_inverse",
)


@dataclass(frozen=True)
class Profile:
    """The measures of every symbol.

    Attributes
    ----------
    joint : Joint
        What was measured.
    alpha : float
        Order of the alpha-lifts and norms.
    lifts : dict
        A vector over the symbols for each measure of the lift, by the measure's name.
    norms : ndarray
        Norms of the columns of P(s, y).
    likelier, unlikelier : ndarray of int
        The sensitive values of the largest and the smallest lift.
    """

    joint: Joint
    alpha: float
    lifts: Mapping[str, FloatArray]
    norms: FloatArray
    likelier: IntArray
    unlikelier: IntArray

    def scalars(self) -> dict[str, float]:
        """The measures of the whole, by name; informations and leakages in nats."""
        worst = {name: float(values.max()) for name, values in self.lifts.items() if name != "min_lift"}
        smallest = float(self.lifts["min_lift"].min())
        joint = self.joint
        return {
            "entropy_sensitive": entropy(joint.p_sensitive),
            "entropy_useful": entropy(joint),
            "mutual_information": mutual_information(joint),
            "log_max_lift": math.log(worst["max_lift"]),
            "log_min_lift": math.log(smallest) if smallest > 0 else -math.inf,
            "min_lift": smallest,
            **worst,
            **leakages(joint.p_sensitive, joint.p_useful, self.lifts, self.norms, self.alpha),
            "alpha": self.alpha,
        }


def profile(joint: Joint, alpha: float) -> Profile:
    """Measure every symbol of a joint; ``alpha`` is finite and above 1.

    Each vector is what the function of its name gives for the joint. Cost O(n_sensitive * n_released), once.
    """
    names = (*LIFTS, "norms", "likelier", "unlikelier")
    found: dict[str, Any] = {name: np.empty(joint.n_useful, _kind_of(name)) for name in names}
    prior, released = joint.p_sensitive, joint.p_useful

    def fill(here: slice) -> None:
        for name, values in _measured(joint.probabilities[:, here], prior, released[here], alpha).items():
            found[name][here] = values

    kernels.side_by_side(fill, joint.n_useful)
    return Profile(joint, alpha, {name: found.pop(name) for name in LIFTS}, **found)


def _kind_of(name: str) -> type[np.int64 | np.float64]:
    return np.int64 if "likelier" in name else np.float64


def _measured(
    cells: FloatArray, prior: FloatArray, released: FloatArray, alpha: float
) -> dict[str, FloatArray | IntArray]:
    lifts = kernels.lift(cells, prior, released)
    inverse = kernels.inverse(lifts)
    return {
        "max_lift": kernels.max_lift(lifts, prior),
        "min_lift": kernels.min_lift(lifts, prior),
        "lift_ratio": kernels.lift_ratio(lifts, prior),
        "l1_lift": kernels.l1_lift(lifts, prior),
        "l1_lift_inverse": kernels.l1_lift(inverse, prior),
        "chi2_lift": kernels.chi2_lift(lifts, prior),
        "chi2_lift_inverse": kernels.chi2_lift(inverse, prior),
        "alpha_lift": kernels.alpha_lift(lifts, prior, alpha),
        "alpha_lift_inverse": kernels.alpha_lift(inverse, prior, alpha),
        "norms": kernels.norms(cells, alpha),
        "likelier": lifts.argmax(axis=0),
        "unlikelier": lifts.argmin(axis=0),
    }
