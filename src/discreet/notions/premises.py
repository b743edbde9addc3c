"""The widest notions on lifts that are proven to imply another: where designs for that one can also come from."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Callable

from discreet.notions.base import Notion
from discreet.notions.leakage import MaxLift
from discreet.notions.lip import ALIP, LIP

__all__ = ["premises"]

#: Budgets, nats, between which the largest one is looked for; beyond, a bound on lifts bounds little.
SMALLEST, LARGEST = 1e-9, 64.0

#: Halvings of that range, on a logarithmic scale.
BISECTIONS = 24

#: Families of polytopes with one budget each.
FAMILIES: tuple[Callable[[float], Notion], ...] = (
    MaxLift,
    lambda epsilon: ALIP(eps_lower=epsilon),
    lambda epsilon: ALIP(eps_lower=2 * epsilon, eps_upper=epsilon),
    LIP,
    lambda epsilon: ALIP(eps_lower=epsilon, eps_upper=2 * epsilon),
)


def premises(notion: Notion) -> tuple[Notion, ...]:
    """Of each family on lifts, the member of the largest budget that implies the notion, where there is one.

    A mechanism that keeps one of them keeps the notion too, and all are polytopes, under which optima are known.

    >>> from discreet import AlphaLift
    >>> [round(premise.bounds[0].epsilon, 4) for premise in premises(AlphaLift(2, eps_upper=0.5))]
    [1.0, 1.0793, 1.2315, 1.4618]
    """
    if notion.is_conditional or notion.confidence is not None:
        return ()
    found = (_widest(family, notion) for family in FAMILIES)
    return tuple(premise for premise in found if premise is not None)


def _widest(family: Callable[[float], Notion], notion: Notion) -> Notion | None:
    if not family(SMALLEST).implies(notion):
        return None
    low, high = SMALLEST, LARGEST
    for _ in range(BISECTIONS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if family(middle).implies(notion) else (low, middle)
    return family(low)
