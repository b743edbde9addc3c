r"""Conditional reporting: randomise S, then release x where S survived, and a draw from P(X | s~) where it became s~.

.. math:: P(y \mid s, x) = \frac{e^\alpha 1_{x = y} + \sum_{s' \ne s} P_X(y \mid s')}{e^\alpha + c - 1}

It reads S. P(y | s) is proportional to B_y + t P_X(y | s) with B_y the sum of P_X(y | s') over all s', which gives the
largest t = exp(alpha) - 1 in closed form. Source: [LTS20]_, Section VI, whose (46) lacks the indicator.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np

from discreet._support.numeric import DENOMINATOR
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.designers.protocols.excess import excesses, given_sensitive
from discreet.designers.protocols.nudge import first_that_holds
from discreet.mechanism import Mechanism, SensitiveMechanism
from discreet.mechanism.weights import to_weights
from discreet.notions import Notion

__all__ = ["conditional_reporting", "reporting_strength"]


def conditional_reporting(joint: Joint, notion: Notion) -> Mechanism:
    """The report with the largest alpha that keeps the notion; X itself where every alpha does."""
    everything = Mechanism.from_blocks(joint, range(joint.n_useful))
    if notion.holds(joint, everything):
        return everything
    strength = min(reporting_strength(joint, notion), float(DENOMINATOR))
    if strength == 0:  # rounded weights are not exactly private, and without budget they must be
        return Mechanism.from_blocks(joint, np.zeros(joint.n_useful, dtype=np.int64))
    given, c, n = given_sensitive(joint), joint.n_sensitive, joint.n_useful
    names = labels.unique_texts(labels.text(x) for x in joint.useful)

    def report(lie: int) -> Mechanism:
        # ``lie`` is the weight of each other sensitive value; the rest keeps x.
        share = lie / DENOMINATOR
        others = share * (given.sum(axis=0) - given)
        channel = others[:, None, :] + (1 - (c - 1) * share) * np.eye(n)
        return SensitiveMechanism.from_cells(joint, to_weights(channel), names)

    return first_that_holds(joint, notion, report, math.ceil(DENOMINATOR / (strength + c)), DENOMINATOR // c)


def reporting_strength(joint: Joint, notion: Notion) -> float:
    """t = exp(alpha) - 1 in closed form; inf where X itself keeps the notion, up to rounding."""
    base = given_sensitive(joint).sum(axis=0)
    limits = []
    for excess, room in excesses(joint, notion):
        worst = excess.max(axis=0, initial=0.0)
        limits += (room * base[worst > 0] / worst[worst > 0]).tolist()
    return min(limits, default=math.inf)
