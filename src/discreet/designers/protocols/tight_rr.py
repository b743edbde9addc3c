r"""Tight randomised response: the best protocol that keeps the value or draws a new one without looking at it.

Keep x with probability :math:`1 / (1 + \sum_y d_y)`, else draw y in proportion to d_y, the least that it needs:

.. math:: d_y = \max \frac{(h - F g)^+}{F - 1}

over the conditions of the notion. GRR is a post-processing of it, so it never keeps less. Our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet._support.numeric import DENOMINATOR
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.designers.protocols.excess import excesses
from discreet.designers.protocols.nudge import first_that_holds
from discreet.mechanism import Mechanism, provenance
from discreet.notions import Notion

__all__ = ["tight_rr"]


def tight_rr(joint: Joint, notion: Notion) -> Mechanism:
    """The tight response; without budget, everything is merged."""
    found = excesses(joint, notion)
    everything = Mechanism.from_blocks(joint, range(joint.n_useful))
    if notion.holds(joint, everything):
        return everything
    merged = Mechanism.from_blocks(joint, np.zeros(joint.n_useful, dtype=np.int64))
    if any(room == 0 for _, room in found):
        return merged
    needed = np.max([excess.max(axis=0, initial=0.0) / room for excess, room in found], axis=0)
    shares = [Fraction(need) for need in (needed / needed.max()).tolist()] if needed.any() else []
    names = labels.unique_texts(labels.text(x) for x in joint.useful)

    def respond(largest: int) -> Mechanism:
        drawn = np.array([math.ceil(share * largest) for share in shares], dtype=np.int64)
        weights = np.tile(drawn, (joint.n_useful, 1))
        weights[np.diag_indices(joint.n_useful)] += DENOMINATOR - drawn.sum()
        return Mechanism.from_weights(weights, useful=joint.useful, released=names, **provenance(joint))

    if not shares:  # what X itself breaks is lost in the rounding of floats
        return merged
    # Rounded up, a draw is a little likelier and the response a little more private.
    first = math.ceil(DENOMINATOR * Fraction(needed.max()) / (1 + sum(map(Fraction, needed.tolist()))))
    most = int((DENOMINATOR - joint.n_useful) / sum(shares))
    return first_that_holds(joint, notion, respond, min(first, most), most)
