r"""Generalised randomised response: keep the value with one probability, else draw any other one.

.. math:: P(y \mid x) = \frac{e^{\alpha 1_{x = y}}}{e^\alpha + a - 1}

With t = exp(alpha) - 1, P(y | s) is proportional to 1 + t P_X(y | s), which gives the largest t in closed form.
Source: [LTS20]_, (31); the closed form for a target level is our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np

from discreet._support.numeric import DENOMINATOR
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.designers.protocols.excess import excesses
from discreet.designers.protocols.nudge import first_that_holds
from discreet.mechanism import Mechanism, provenance
from discreet.notions import Notion

__all__ = ["grr", "grr_strength"]


def grr(joint: Joint, notion: Notion) -> Mechanism:
    """The randomised response with the largest alpha that keeps the notion; X itself where every alpha does."""
    n = joint.n_useful
    everything = Mechanism.from_blocks(joint, range(n))
    if notion.holds(joint, everything):
        return everything
    strength = min(grr_strength(joint, notion), float(DENOMINATOR))
    if strength == 0:  # a uniform draw in integers is not exactly uniform, and without budget it must be
        return Mechanism.from_blocks(joint, np.zeros(n, dtype=np.int64))

    def respond(other: int) -> Mechanism:
        weights = np.full((n, n), other, dtype=np.int64)
        np.fill_diagonal(weights, DENOMINATOR - (n - 1) * other)
        names = labels.unique_texts(labels.text(x) for x in joint.useful)
        return Mechanism.from_weights(weights, useful=joint.useful, released=names, **provenance(joint))

    # Rounded up, an other symbol is a little likelier and the response a little more private.
    return first_that_holds(joint, notion, respond, math.ceil(DENOMINATOR / (strength + n)), DENOMINATOR // n)


def grr_strength(joint: Joint, notion: Notion) -> float:
    """t = exp(alpha) - 1 in closed form; inf where X itself keeps the notion, up to rounding."""
    limits = [
        room / float(excess.max(initial=0.0)) for excess, room in excesses(joint, notion) if excess.max(initial=0.0) > 0
    ]
    return min(limits, default=math.inf)
