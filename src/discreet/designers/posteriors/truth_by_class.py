r"""Accuracy on classes of equal beliefs: the best channel on symbols costs as much as there are beliefs.

Let C be the class of X by its belief P(S = . | x). A channel on symbols makes one on classes that keeps every notion
about beliefs, since it merges released values of one class, and tells the truth no less often:
:math:`P(C' = C) \ge P(X' = X)`. So a limit for classes is one for symbols.

It is reached. With :math:`Q(d \mid c)` on classes, let x of class c be released

- as itself with probability :math:`Q(c \mid c)`,
- as g of another class d with probability :math:`Q(d \mid c) \, T_{cd}(x, g) / P(x \mid c)`, where :math:`T_{cd}` is a
  coupling of :math:`P(\cdot \mid c)` and :math:`P(\cdot \mid d)`: members of both are laid out along a line.

Then the released g of class d has :math:`P(g \mid d)` times the masses that d has of every class, and so its belief;
:math:`P(X' = X) = P(C' = C)`, and where Q keeps the distribution of C the channel keeps that of X.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

from discreet._support.numeric import DENOMINATOR, FloatArray, IntArray
from discreet.designers.posteriors.quotient import Quotient
from discreet.designers.posteriors.sparse_rows import rounded_rows
from discreet.mechanism import ChannelMechanism, provenance
from discreet.utilities import own_texts

__all__ = ["told_by_members"]

#: Ends of members closer than this are one: they differ by the rounding of 64 bits.
SAME_CUT = 1e-18


def told_by_members(quotient: Quotient, classes: IntArray, channel: FloatArray) -> ChannelMechanism:
    """A channel between these classes as one between their members.

    Parameters
    ----------
    quotient : Quotient
        The joint and its classes.
    classes : ndarray of int
        Those that occur.
    channel : ndarray of shape (len(classes), len(classes))
        Q(d | c).
    """
    joint = quotient.joint
    p: Any = joint.p_useful.astype(np.longdouble)
    members = [np.flatnonzero((quotient.classes == c) & (joint.p_useful > 0)) for c in classes.tolist()]
    ends = [np.cumsum(p[inside]) / p[inside].sum() for inside in members]
    rows, released, mass = [], [], []
    for c, d in zip(*(place.tolist() for place in np.nonzero(channel))):
        if c == d:
            x, g, chance = members[c], members[c], np.full(len(members[c]), channel[c, c], dtype=np.longdouble)
        else:
            cuts = np.unique(np.concatenate([ends[c], ends[d]]))
            cuts = cuts[np.diff(cuts, prepend=np.longdouble(0)) > SAME_CUT]
            length = np.diff(cuts, prepend=np.longdouble(0))
            x, g = (
                members[k][np.minimum(np.searchsorted(ends[k], cuts - length / 2), len(members[k]) - 1)] for k in (c, d)
            )
            chance = channel[c, d] * length * p[members[c]].sum() / p[x]
        rows.append(x)
        released.append(g)
        mass.append(chance)
    entries = rounded_rows(*(np.concatenate(parts) for parts in (rows, released, mass)))
    entries = _with_absent(entries, joint.p_useful)
    used, columns = np.unique(entries[1], return_inverse=True)
    texts = own_texts(joint)
    return ChannelMechanism(
        (entries[0], columns.reshape(-1), entries[2]),
        joint.useful,
        [texts[g] for g in used.tolist()],
        **provenance(joint),
    )


def _with_absent(
    entries: tuple[IntArray, IntArray, IntArray], p_useful: FloatArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Values that never occur are released like the commonest one always is."""
    rows, released, weights = entries
    absent = np.setdiff1d(np.arange(len(p_useful)), rows)
    if not len(absent):
        return entries
    like = released[rows == int(p_useful.argmax())][0]
    return (
        np.concatenate([rows, absent]),
        np.concatenate([released, np.full(len(absent), like)]),
        np.concatenate([weights, np.full(len(absent), DENOMINATOR)]),
    )
