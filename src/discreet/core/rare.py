"""When so few records stand behind useful values that what is designed on them tells about single people."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from discreet.core.joint import Joint

__all__ = ["FEW", "FEWEST", "MOST_PERCENT", "has_rare_values"]

#: A useful value with fewer records than this tells about each of them.
FEWEST = 5

#: Values with fewer records than this are few; one of them alone does no harm, many of them do.
FEW = 20

#: Largest share of the records, in percent, that may lie in values with few of them.
MOST_PERCENT = 1


def has_rare_values(joint: Joint) -> bool:
    """Whether few records stand behind the useful values, so that a mechanism designed on them is private.

    The optimum follows from P(s | x). Behind a value with one record that is the sensitive value of one person: from a
    design on 40 values of one record each, S can be read off for all 40, out of the channel P(y | x) alone. Values are
    rare where one that occurs has fewer than 5 records, or where more than 1 % of the records lie in values with fewer
    than 20. Of a joint given as probabilities nobody knows the records, and its values are not called rare.

    >>> [has_rare_values(Joint.from_counts([[n, 600], [2, 600]])) for n in (2, 3)]
    [True, False]
    """
    if joint.counts is None:
        return False
    records = joint.counts.sum(axis=0)
    records = records[records > 0]
    in_few, every = int(records[records < FEW].sum()), int(records.sum())
    return bool(records.min() < FEWEST) or 100 * in_few > MOST_PERCENT * every
