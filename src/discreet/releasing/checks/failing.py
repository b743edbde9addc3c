"""Where a mechanism breaks its promise on a table, and whether chance explains it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from discreet._support.visible import visible
from discreet.core.joint import Joint
from discreet.measures import belief_limits
from discreet.mechanism import ChannelMechanism, Mechanism
from discreet.notions import LIFTS, Notion
from discreet.notions.confident import Sample

__all__ = ["where_broken"]

#: Released values that are named, and the confidence with which chance is told from leakage.
NAMED, SURE = 3, 0.95


def where_broken(notion: Notion, joint: Joint, mechanism: Mechanism) -> str:
    """At which released values a promise on lifts is broken, and whether a sample of this size may come out like that.

    It may where limits of P(s | x), given X, leave open that the population keeps the promise.
    """
    if notion.is_conditional or notion.confidence is not None or not isinstance(mechanism, ChannelMechanism):
        return ""
    released = mechanism.expected(joint)
    broken = np.flatnonzero(~notion.allowed(released))
    worst = broken[np.argsort(-notion.levels(released).max(axis=0)[broken], kind="stable")]
    named = ", ".join(visible(repr(released.useful[y])) for y in worst[:NAMED].tolist())
    more = f" and {len(broken) - NAMED:,} more" if len(broken) > NAMED else ""
    place = f", at {len(broken):,} of {released.n_useful:,} released values ({named}{more})"
    if not {bound.kind for bound in notion.bounds} <= set(LIFTS):
        return place
    least, largest = Sample.of(joint, belief_limits(joint, SURE), mechanism).extremes
    budgets = {bound.kind: bound.epsilon for bound in notion.bounds}
    rise, fall = (budgets.get(kind, np.inf) for kind in LIFTS)
    with np.errstate(divide="ignore"):
        surely = (np.log(least[:, broken]) > rise).any() or (-np.log(largest[:, broken]) > fall).any()
    chance = "more than sampling error explains" if surely else "within sampling error of a population that keeps it"
    return f"{place}, {chance} ({100 * SURE:g} % confidence)"
