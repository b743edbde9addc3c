r"""Tight randomised response: the best protocol that keeps the value or draws a new one without looking at it.

Keep x with probability :math:`1 / (1 + \sum_y d_y)`, else draw y in proportion to d_y, the least that it needs:

.. math:: d_y = \max \frac{(h - F g)^+}{F - 1}

over the conditions of the notion. GRR is a post-processing of it, so it never keeps less. Our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from discreet._support.errors import BrokenNotionError
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.designers.protocols.excess import excesses
from discreet.designers.protocols.seal import seal
from discreet.mechanism import Mechanism
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
    channel = (np.eye(joint.n_useful) + needed) / (1 + needed.sum())
    names = labels.unique_texts(labels.text(x) for x in joint.useful)
    try:
        return seal(joint, notion, channel, released=names)
    except BrokenNotionError:  # a budget below what integers over 2**60 can express
        return merged
