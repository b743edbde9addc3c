r"""Information: the mutual information of X and the release, in nats.

.. math:: h(v) = H(v) = -\sum_x v(x) \log v(x), \qquad U(X; Y) = H(X) - H(X \mid Y) = I(X; Y)

Its share of the whole, I(X; Y) / H(X), is the NMI. Source: [ZDS23]_, (11).
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._support.numeric import FloatArray, xlogx
from discreet.core.joint import Joint
from discreet.measures import entropy, useful_information
from discreet.mechanism import Mechanism
from discreet.utilities.base import SeparableUtility

__all__ = ["Information"]


@dataclass(frozen=True)
class Information(SeparableUtility):
    """Mutual information of useful and released variable.

    >>> joint = Joint.from_array([[0.25, 0.25], [0.25, 0.25]])
    >>> round(Information().value(joint, Mechanism.from_blocks(joint, [0, 1])), 4)
    0.6931
    """

    name = "information"
    unit = "nats"
    is_checkable = True

    def terms(self, t: FloatArray) -> FloatArray:
        """-t log t, whose sum is the entropy."""
        return -xlogx(t)

    def rates(self, largest: FloatArray) -> FloatArray:
        """-log t."""
        result: FloatArray = -np.log(np.minimum(largest, 1.0))
        return result

    def slopes(self, points: FloatArray, smoothing: float) -> FloatArray:
        """-log t, a little away from zero."""
        result: FloatArray = -np.log(points + smoothing)
        return result

    def prior(self, joint: Joint) -> float:
        """H(X)."""
        return entropy(joint)

    def whole(self, joint: Joint) -> float:
        """H(X)."""
        return entropy(joint)

    def value(self, joint: Joint, mechanism: Mechanism) -> float:
        """I(X; Y) by the closed form of the mechanism's kind: bits have too many released symbols to list."""
        return useful_information(joint, mechanism)
