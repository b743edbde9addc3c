r"""From a channel in floats to integer weights that keep the notion.

Rounding to multiples of :math:`2^{-60}` can push a channel that sits on the border of its notion across it.
Then it is pulled inside: mixed with a draw that ignores x,

.. math:: P'(y \mid x) = (1 - t) P(y \mid x) + t P(y),

which moves every posterior towards :math:`P_X` and every lift towards 1, with the smallest t that helps. A zero
budget has no inside; there a float that is nearly private is refused, and merging everything is the way out.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from discreet._support.errors import BrokenNotionError
from discreet._support.numeric import DENOMINATOR
from discreet.core.joint import Joint
from discreet.mechanism import ChannelMechanism, provenance
from discreet.mechanism.weights import rescaled
from discreet.notions import Notion

__all__ = ["seal"]

#: Smallest and largest share of the independent draw that is tried, as powers of two. Rounding is off by some
#: 2**-52, so the first is below anything that could help; more than the second means a wrong channel, not rounding.
SMALLEST_PULL, LARGEST_PULL = -58, -10

#: The pull is within this factor of the smallest one that helps.
PULL_STEPS = 4


def seal(joint: Joint, notion: Notion, channel: Any, *, released: Iterable[Any] | None = None) -> ChannelMechanism:
    """A mechanism as close to ``channel`` as keeps the notion, or a `BrokenNotionError`.

    Parameters
    ----------
    joint : Joint
        P(s, x).
    notion : Notion
        The promise that the result keeps, by the exact check.
    channel : array_like of shape (n_useful, n_released)
        Allowed up to rounding.
    released : iterable, optional
        Labels of the columns.

    Examples
    --------
    >>> from discreet import LIP, Joint
    >>> joint = Joint.from_counts([[3, 1], [1, 3]])
    >>> seal(joint, LIP(0.7), [[0.75, 0.25], [0.25, 0.75]]).channel
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    rounded = ChannelMechanism.from_channel(
        channel,
        useful=joint.useful,
        released=released,
        **provenance(joint),
        notion=notion.to_dict(),
    )
    if notion.holds(joint, rounded):
        return rounded
    if any(bound.epsilon == 0 for bound in notion.bounds):
        raise BrokenNotionError(
            f"the channel is not exactly private, and {notion} leaves no room to pull it inside. "
            "Use a method that merges symbols, such as 'subset-merging'."
        )
    helps = None
    for power in range(SMALLEST_PULL, LARGEST_PULL + 1, 2):
        share = DENOMINATOR >> -power
        pulled = _pull(rounded, joint, share)
        if notion.holds(joint, pulled):
            helps = share
            break
    if helps is None:
        raise BrokenNotionError(
            f"the channel breaks {notion} by more than rounding: its slack is {notion.slack(joint, rounded):.3g} nats."
        )
    return _least_pull(rounded, joint, notion, helps)


def _least_pull(rounded: ChannelMechanism, joint: Joint, notion: Notion, helps: int) -> ChannelMechanism:
    """Bisect between the share that helps and the last that did not, a quarter of it."""
    fails = helps >> 2
    for _ in range(PULL_STEPS):
        middle = (fails + helps) // 2
        if middle in (fails, helps):
            break
        if notion.holds(joint, _pull(rounded, joint, middle)):
            helps = middle
        else:
            fails = middle
    return _pull(rounded, joint, helps)


def _pull(mechanism: ChannelMechanism, joint: Joint, share: int) -> ChannelMechanism:
    """Mix with an independent draw of weight ``share``: the same integers are added to every row."""
    p_released = joint.p_useful @ mechanism.channel
    common = np.floor(p_released / p_released.sum() * share).astype(np.int64)
    common[common.argmax()] += share - common.sum()
    kept = rescaled(mechanism.weights, DENOMINATOR - share)
    return mechanism.reweighted(kept + common, mechanism.released).promising(mechanism.notion)
