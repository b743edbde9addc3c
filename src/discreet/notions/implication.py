"""Which promise follows from which: the largest level of one measure that bounds on others still allow.

The published statements are Lemma 1 of [LTS20]_ and Propositions 1, 3 and 5 of [ZDS23]_; five of the printed
bounds are false, because they look at one side of the lift only. What holds is computed in `envelope`; each kind of
bound knows what it passes on to others, and what a range of the lifts leaves of it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache

from discreet.notions.bound import Bound
from discreet.notions.envelope import INFINITE

__all__ = ["ceiling", "implies"]

#: Ceilings are computed with this many digits: budgets are floats of 17, and their differences may cancel most.
DIGITS = 80

_CONTEXT = decimal.Context(prec=DIGITS, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def implies(premise: Iterable[Bound], conclusion: Iterable[Bound]) -> bool:
    """Whether the theorems prove that the first bounds entail the second ones, whatever the joint."""
    given = tuple(premise)
    if any(bound.epsilon == 0 for bound in given):
        return True  # the mean lift is 1: a zero budget on either side leaves only perfect privacy
    return all(ceiling(given, bound) <= Decimal(bound.epsilon) for bound in conclusion)


@lru_cache(maxsize=4096)
def ceiling(given: tuple[Bound, ...], target: Bound) -> Decimal:
    """Nats that the target's measure can need at most where the given bounds hold; inf where no limit is known."""
    with decimal.localcontext(_CONTEXT):
        passed_on = [bound.kind.passes_on(Decimal(bound.epsilon), target.kind) for bound in given]
        budgets = [bound.kind.lift_budgets(bound.epsilon) for bound in given]
        falling = min((Decimal(lower) for lower, _ in budgets), default=INFINITE)
        rising = min((Decimal(upper) for _, upper in budgets), default=INFINITE)
        return min([INFINITE, *passed_on, target.kind.ceiling_within(falling, rising)])
