"""Watchdog: release low-risk symbols as they are, hide which high-risk symbol it was.

Complete merging releases one symbol for all of the high-risk ones; uniform randomisation releases a random one
of them. Both leak the same, the least that a watchdog can (Theorem 1 of [ZDS23]_). Where even the merged block
is not allowed, it absorbs the low-risk symbol of least merge risk until it is; all of X merged has lift 1.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import IntArray
from discreet.core.joint import Joint
from discreet.designers.merging.confident import batch_of
from discreet.mechanism import Mechanism
from discreet.notions import Notion

__all__ = ["partitions", "watchdog"]

#: A uniform block of k symbols has k * k weights; beyond this many the mechanism would not fit.
LARGEST_UNIFORM_BLOCK = 3000


def watchdog(joint: Joint, notion: Notion, *, randomisation: str = "merge") -> Mechanism:
    """Mechanism of the watchdog; ``randomisation`` is ``"merge"`` or ``"uniform"``."""
    if randomisation not in ("merge", "uniform"):
        raise InputError(f"randomisation must be 'merge' or 'uniform', got {randomisation!r}.")
    block_of = partitions([joint], [notion])[0]
    sizes = np.bincount(block_of, minlength=joint.n_useful)
    uniform: list[int] = []
    if randomisation == "uniform":
        uniform = np.flatnonzero(sizes > 1).tolist()
        if sizes.max() > LARGEST_UNIFORM_BLOCK:
            raise InputError(
                f"a uniform draw among {sizes.max()} symbols needs {int(sizes.max()) ** 2} weights. "
                "Use randomisation='merge', which leaks the same."
            )
    return Mechanism.from_blocks(joint, block_of, uniform=uniform)


def partitions(joints: Sequence[Joint], notions: Sequence[Notion]) -> IntArray:
    """Block of every symbol for paired joints and notions, shape (n_problems, n_useful)."""
    batch = batch_of(joints, notions)
    who = np.flatnonzero(batch.high_risk.any(axis=1))
    seed = batch.high_risk[who].argmax(axis=1)
    batch.block_of[who] = np.where(batch.high_risk[who], seed[:, None], batch.block_of[who])
    short = batch.breaking(who, seed)
    batch.absorb_low_risk(who[short], seed[short])
    batch.place_absent()
    return batch.block_of
