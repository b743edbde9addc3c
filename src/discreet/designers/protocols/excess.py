r"""What bounds on lifts ask of protocols that keep the value or draw a new one.

Such a protocol has :math:`P(y \mid s) \propto B_y + t P_X(y \mid s)`: t is how much it tells. Every bound on lifts asks

.. math:: B_y + t \, h \le F (B_y + t \, g), \quad \text{that is,} \quad t \, (h - F g)^+ \le (F - 1) B_y

for some pairs (h, g): (P(y|s), P(y)) where beliefs may rise by F, (P(y), P(y|s)) where they may fall by it, and
(P(y|s), P(y|s')) for ratios. Source: [LTS20]_, Section VI, for LIP; the closed forms for t are our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from discreet._support.errors import UnsupportedNotionError
from discreet._support.numeric import FloatArray
from discreet.core.joint import Joint
from discreet.notions import LARGEST_EXPONENT, Notion, factor

__all__ = ["Excess", "bounds_lifts", "excesses", "given_sensitive"]


class Excess(NamedTuple):
    """(h - F g)^+ for every condition and symbol, and F - 1."""

    excess: FloatArray  # (conditions, n_useful)
    room: float


def bounds_lifts(notion: Notion) -> bool:
    """Whether a notion bounds lifts or their ratios, which is what these protocols are solved for."""
    return all(bound.kind.is_on_lifts for bound in notion.bounds)


def given_sensitive(joint: Joint) -> FloatArray:
    """P(x | s), shape (n_sensitive, n_useful)."""
    result: FloatArray = joint.probabilities / joint.p_sensitive[:, None]
    return result


def excesses(joint: Joint, notion: Notion) -> list[Excess]:
    """What each bound of the notion asks for."""
    if not bounds_lifts(notion):
        raise UnsupportedNotionError(
            f"this method is solved for bounds on lifts (LIP, ALIP, LDP, max-lift), not for {notion}. "
            "Use method='subset-merging', which serves every notion."
        )
    given, prior = given_sensitive(joint), joint.p_useful
    found = []
    for bound in notion.bounds:
        high, low = bound.kind.compared(given, prior)
        difference = (high - factor(bound.epsilon) * low).reshape(-1, joint.n_useful)
        found.append(Excess(np.maximum(difference, 0.0), math.expm1(min(bound.epsilon, LARGEST_EXPONENT))))
    return found
