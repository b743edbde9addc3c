"""Integer weights just inside a notion: from a closed form in floats, upwards until the exact check passes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

from discreet.core.joint import Joint
from discreet.mechanism import Mechanism
from discreet.notions import Notion

__all__ = ["first_that_holds"]

#: First step, relative to the weight, as a power of two: a few units in the last place of a float.
FIRST_STEP = 50


def first_that_holds(
    joint: Joint, notion: Notion, made: Callable[[int], Mechanism], weight: int, most: int
) -> Mechanism:
    """The mechanism of the first weight that keeps the notion: ``weight``, then ever larger ones up to ``most``.

    Where none does, everything is merged.
    """
    step = max(1, weight >> FIRST_STEP)
    while True:
        mechanism = made(min(weight, most))
        if notion.holds(joint, mechanism):
            return mechanism
        if weight >= most:  # a budget below what integers over 2**60 can express
            return Mechanism.from_blocks(joint, [0] * joint.n_useful)
        weight, step = weight + step, 2 * step
