r"""Optimised unary encoding: a bit for every value; the true one is 1 half of the time, others with 1/(exp(alpha) + 1).

For the set A of ones, P(A | s) is proportional to 1 + t P_X(A | s) with t = exp(alpha) - 1, so the worst set takes all
positive excesses together, and t has a closed form. Source: [LTS20]_, Section VI, after Wang et al.; the closed form
for a target level is our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

from discreet._support.numeric import DENOMINATOR
from discreet.core.joint import Joint
from discreet.designers.protocols.excess import excesses
from discreet.designers.protocols.nudge import first_that_holds
from discreet.mechanism import BitMechanism, Mechanism, provenance
from discreet.notions import Notion

__all__ = ["oue", "oue_strength"]

HALF = DENOMINATOR // 2


def oue(joint: Joint, notion: Notion) -> Mechanism:
    """The encoding with the largest alpha that keeps the notion; x or nothing where every alpha does."""

    def encode(other: int) -> Mechanism:
        return BitMechanism(joint.useful, HALF, other, **provenance(joint))

    if notion.holds(joint, encode(0)):
        return encode(0)
    strength = min(oue_strength(joint, notion), float(DENOMINATOR))
    return first_that_holds(joint, notion, encode, math.ceil(DENOMINATOR / (strength + 2)), HALF)


def oue_strength(joint: Joint, notion: Notion) -> float:
    """t = exp(alpha) - 1 in closed form; inf where any alpha keeps the notion, up to rounding."""
    limits = []
    for excess, room in excesses(joint, notion):
        worst = float(excess.sum(axis=1).max(initial=0.0))
        if worst > 0:
            limits.append(room / worst)
    return min(limits, default=math.inf)
