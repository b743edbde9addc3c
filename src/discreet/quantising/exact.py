r"""Optima beside the greedy algorithms, for the resolution: closed forms, and partitions that meet a counting bound.

**Maximin information.** Blocks of at most m members make at least n/m blocks, and b blocks can remove at most n - b
components. So to remove r of them takes m >= ceil(n / (n - r)), and joining ever the largest components reaches it.

**Uncertainty.** With blocks of at most m members there are at least b = ceil(n/m) of them, and a sensitive value that
occurs with c_s useful values can be in at most min(c_s, b) blocks. So k b <= sum_s min(c_s, b). Filling blocks in one
pass and then swapping members reaches this bound on real data, which proves the partition optimal. Where members are
pairs (s, x), each of one s, dealing them out in turn always reaches it. Our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from discreet._support.numeric import BoolArray, IntArray
from discreet.core import partition
from discreet.core.range import Range
from discreet.measures.nonstochastic import components

__all__ = ["counting_bound", "deal", "fewest_components", "fill", "smallest_blocks", "solve"]

#: Time for the mixed-integer programme of a small range.
SOLVER_SECONDS = 10.0

#: Rounds of swapping without an improvement before the search gives up.
PATIENCE = 60


def smallest_blocks(n: int, removed: int) -> int:
    """The least largest block with which so many components can be removed."""
    return math.ceil(n / (n - removed))


def fewest_components(whole: Range, removed: int) -> IntArray:
    """A partition that removes so many components with the least largest block.

    The joined part starts as the largest component; each block takes one of its free members and one member of each
    of the m - 1 largest components left, whose other members become free. Where no member is free, as in a range of
    single values, the next largest component starts a part of its own: what is left meets the same bound.
    """
    n, parts = whole.n_useful, components(whole)
    size = smallest_blocks(n, removed)
    members = [np.flatnonzero(parts.useful == c).tolist() for c in range(parts.number)]
    members.sort(key=lambda part: (-len(part), part[0]))
    block_of = np.arange(n)
    free: list[int] = []
    rest, left = members, removed
    while left:
        if not free:
            free, rest = list(rest[0]), rest[1:]
        take = min(size - 1, left)
        chosen, rest = rest[:take], rest[take:]
        block = [free.pop(0), *(part[0] for part in chosen)]
        free += [x for part in chosen for x in part[1:]]
        block_of[block] = min(block)
        left -= take
    return block_of


def counting_bound(whole: Range, largest: int) -> int:
    """No partition into blocks of at most ``largest`` members leaves more distinct sensitive values than this."""
    blocks = math.ceil(whole.n_useful / largest)
    occurrences = np.bincount(whole.sensitive_of)
    return int(min(whole.n_sensitive, np.minimum(occurrences, blocks).sum() // blocks))


def deal(whole: Range, largest: int) -> IntArray:
    """For members of one sensitive value each: dealt out in turn, they meet the counting bound.

    Values with fewer members than blocks are dealt one after the other, so that blocks get equally many of them up to
    one; the others reach every block.
    """
    blocks = math.ceil(whole.n_useful / largest)
    occurrences = np.bincount(whole.sensitive_of)
    few_first = np.lexsort((whole.sensitive_of, occurrences[whole.sensitive_of] >= blocks))
    member = whole.useful_of[few_first]
    block = np.arange(whole.n_useful) % blocks
    block_of = np.empty(whole.n_useful, dtype=np.int64)
    block_of[member] = block
    return partition.named(block_of)


class Solution(NamedTuple):
    """A partition, or none; and whether that is proven: a solver may run out of time."""

    partition: IntArray | None
    is_proven: bool


def solve(whole: Range, largest: int, target: int) -> Solution:
    """A partition that leaves ``target`` values with blocks of at most ``largest``, or that there is none.

    A mixed-integer programme, for small ranges. Two blocks that fit into one
    may be merged, so fewer than 2 n / (largest + 1) + 1 blocks are enough.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    n, c = whole.n_useful, whole.n_sensitive
    blocks = min(n, 2 * n // (largest + 1) + 1)
    size = n * blocks + c * blocks + blocks  # member x in b, value s in b, block b used
    in_block = np.arange(n * blocks).reshape(n, blocks)
    has_value = n * blocks + np.arange(c * blocks).reshape(c, blocks)
    used = n * blocks + c * blocks + np.arange(blocks)
    rows: list[dict[int, float]] = []
    low: list[float] = []
    high: list[float] = []

    def add(row: dict[int, float], least: float, most: float) -> None:
        rows.append(row)
        low.append(least)
        high.append(most)

    for x in range(n):
        add(dict.fromkeys(in_block[x].tolist(), 1.0), 1.0, 1.0)
    for b in range(blocks):
        add({**dict.fromkeys(in_block[:, b].tolist(), 1.0), int(used[b]): -float(largest)}, -np.inf, 0.0)
        add({**dict.fromkeys(has_value[:, b].tolist(), 1.0), int(used[b]): -float(target)}, 0.0, np.inf)
        for s in range(c):
            members = whole.useful_of[whole.sensitive_of == s]
            add({**dict.fromkeys(in_block[members, b].tolist(), -1.0), int(has_value[s, b]): 1.0}, -np.inf, 0.0)
    entries = [(k, column, value) for k, row in enumerate(rows) for column, value in row.items()]
    k, column, value = (np.array(part) for part in zip(*entries))
    matrix = coo_array((value, (k, column)), shape=(len(rows), size)).tocsr()
    found = milp(
        np.zeros(size),
        constraints=LinearConstraint(matrix, low, high),
        integrality=np.ones(size),
        bounds=Bounds(0, 1),
        options={"time_limit": SOLVER_SECONDS},
    )
    if found.status == 2:
        return Solution(None, True)
    if found.x is None:
        return Solution(None, False)
    block_of = found.x[: n * blocks].reshape(n, blocks).argmax(axis=1)
    return Solution(partition.named(block_of), True)


def fill(whole: Range, largest: int, target: int, seed: int = 0) -> tuple[IntArray, int]:
    """A partition into blocks of at most ``largest`` members, and the fewest sensitive values that a block has.

    One pass deals symbols to the block that lacks values most, then swaps improve the poorest blocks until ``target``
    is met or nothing helps.
    """
    n, count = whole.n_useful, math.ceil(whole.n_useful / largest)
    seen = np.zeros((n, whole.n_sensitive), dtype=bool)
    seen[whole.useful_of, whole.sensitive_of] = True
    rarity = 1.0 / np.bincount(whole.sensitive_of)
    # Symbols with many and rare values come first, while all blocks still want them.
    order = np.lexsort((np.arange(n), -(seen @ rarity)))
    block_of = np.empty(n, dtype=np.int64)
    held = np.zeros((count, whole.n_sensitive), dtype=np.int64)
    size = np.zeros(count, dtype=np.int64)
    for x in order.tolist():
        gain = (seen[x] & (held == 0)).sum(axis=1).astype(float)
        gain[size >= largest] = -np.inf
        distinct = (held > 0).sum(axis=1)
        # What a block gains counts up to what it still lacks; the poorest block wins ties.
        useful = np.minimum(gain, np.maximum(target - distinct, 0))
        best = int(np.lexsort((np.arange(count), size, distinct, -useful))[0])
        if not np.isfinite(gain[best]):
            best = int(np.argmin(np.where(size < largest, distinct, np.iinfo(np.int64).max)))
        block_of[x] = best
        held[best] += seen[x]
        size[best] += 1
    _improve(seen, block_of, held, size, largest, target, np.random.default_rng(seed))
    return partition.named(block_of), int((held[size > 0] > 0).sum(axis=1).min())


def _improve(
    seen: BoolArray,
    block_of: IntArray,
    held: IntArray,
    size: IntArray,
    largest: int,
    target: int,
    rng: np.random.Generator,
) -> None:
    """Swap or move members so that what blocks lack of the target, summed, falls; sideways steps escape plateaus."""
    stalled = 0
    while stalled < PATIENCE:
        lack = np.maximum(target - (held > 0).sum(axis=1), 0)
        if not lack.any():
            return
        poor = int(rng.choice(np.flatnonzero(lack == lack.max())))
        change = _best_change(seen, block_of, held, size, largest, target, poor, rng)
        if change is None:
            stalled += 1
            continue
        x, y, gain = change
        stalled = 0 if gain > 0 else stalled + 1
        other = int(block_of[y])
        held[other] += -seen[y].astype(np.int64)
        held[poor] += seen[y]
        block_of[y] = poor
        if x >= 0:
            held[poor] -= seen[x]
            held[other] += seen[x]
            block_of[x] = other
        else:
            size[poor] += 1
            size[other] -= 1


def _best_change(
    seen: BoolArray,
    block_of: IntArray,
    held: IntArray,
    size: IntArray,
    largest: int,
    target: int,
    poor: int,
    rng: np.random.Generator,
) -> tuple[int, int, int] | None:
    """The swap (x out of the poor block, y into it; x = -1 moves y alone) that lowers the sum of lacks most."""
    outside = np.flatnonzero(block_of != poor)
    inside: list[int] = np.flatnonzero(block_of == poor).tolist()
    if size[poor] < largest:
        inside.append(-1)
    distinct = (held > 0).sum(axis=1)
    lack = np.maximum(target - distinct, 0)
    owner = block_of[outside]
    best: tuple[int, int, int] | None = None
    options: list[tuple[int, int, int]] = []
    for x in inside:
        given = seen[x].astype(np.int64) if x >= 0 else np.zeros(seen.shape[1], dtype=np.int64)
        poor_after = ((held[poor] - given + seen[outside]) > 0).sum(axis=1)
        other_after = ((held[owner] - seen[outside] + given) > 0).sum(axis=1)
        emptied = (size[owner] == 1) & (x < 0)
        gain = (
            lack[poor]
            - np.maximum(target - poor_after, 0)
            + lack[owner]
            - np.where(emptied, 0, np.maximum(target - other_after, 0))
        )
        top = int(gain.max())
        if best is None or top > best[2]:
            options = []
        if best is None or top >= best[2]:
            options += [(x, int(outside[k]), top) for k in np.flatnonzero(gain == top)]
            best = options[-1]
    if best is None or best[2] < 0:
        return None
    return options[int(rng.integers(len(options)))]
