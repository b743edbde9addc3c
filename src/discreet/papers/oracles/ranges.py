"""Ranges as sets: partitions, decompositions and functions by enumeration; a range is a tuple of sets of s, one for each x."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

__all__ = [
    "algorithm1",
    "certain_classes",
    "common_information",
    "components",
    "cuts",
    "distortion",
    "edges",
    "finest_isolated",
    "fused",
    "information",
    "laplacian_parts",
    "merged",
    "partitions",
    "reduction",
    "search_steps",
]

Sets = Sequence[frozenset[Any]]


def partitions(items: Sequence[Any]) -> Iterator[list[list[Any]]]:
    """Every set partition of a few items."""
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        yield [[items[0]], *rest]
        for k in range(len(rest)):
            yield [*rest[:k], [items[0], *rest[k]], *rest[k + 1 :]]


def merged(sets: Sets, blocks: Sequence[Sequence[int]]) -> list[frozenset[Any]]:
    """The range after merging: unions of the members' sets."""
    return [frozenset().union(*(sets[x] for x in block)) for block in blocks]


def _sensitive(sets: Sets) -> frozenset[Any]:
    return frozenset().union(*sets)


def reduction(sets: Sets) -> float:
    """L_0: H_0(S) less the smallest log2 of a set."""
    return math.log2(len(_sensitive(sets))) - min(math.log2(len(some)) for some in sets)


def information(sets: Sets) -> float:
    """I_0: H_0(S) less the largest log2 of a set."""
    return math.log2(len(_sensitive(sets))) - max(math.log2(len(some)) for some in sets)


def edges(sets: Sets) -> set[tuple[int, int]]:
    """Pairs of useful values that some sensitive value has in common."""
    return {(a, b) for a, b in itertools.combinations(range(len(sets)), 2) if sets[a] & sets[b]}


def search_steps(sets: Sets) -> tuple[set[frozenset[int]], int]:
    """Connected parts by breadth-first search, and how many nodes and edge ends were looked at."""
    near: dict[int, set[int]] = {x: set() for x in range(len(sets))}
    for a, b in edges(sets):
        near[a].add(b)
        near[b].add(a)
    found, left, steps = set(), set(near), 0
    while left:
        part, queue = set(), [min(left)]
        while queue:
            x = queue.pop(0)
            steps += 1
            if x in part:
                continue
            part.add(x)
            steps += len(near[x])
            queue += sorted(near[x] - part)
        found.add(frozenset(part))
        left -= part
    return found, steps


def components(sets: Sets) -> set[frozenset[int]]:
    """Connected parts of the confusability graph."""
    return search_steps(sets)[0]


def laplacian_parts(sets: Sets) -> int:
    """Zero eigenvalues of the Laplacian of the confusability matrix."""
    shared = np.array([[len(a & b) for b in sets] for a in sets], dtype=float)
    np.fill_diagonal(shared, 0)
    values = np.linalg.eigvalsh(np.diag(shared.sum(axis=1)) - shared)
    return int((np.abs(values) < 1e-8).sum())


def cuts(sets: Sets) -> dict[frozenset[int], int]:
    """Number of edges that every proper part of the useful values cuts."""
    joined, n = edges(sets), len(sets)
    return {
        frozenset(part): sum((a in part) != (b in part) for a, b in joined)
        for size in range(1, n)
        for part in map(set, itertools.combinations(range(n), size))
    }


def finest_isolated(sets: Sets) -> list[set[frozenset[Any]]]:
    """All partitions of S of the most blocks such that no useful value occurs with two blocks."""
    best: list[set[frozenset[Any]]] = []
    for some in partitions(sorted(_sensitive(sets))):
        groups = {frozenset(block) for block in some}
        if all(sum(bool(group & seen) for group in groups) == 1 for seen in sets):
            if best and len(groups) > len(best[0]):
                best = []
            if not best or len(groups) == len(best[0]):
                best.append(groups)
    return best


def certain_classes(sets: Sets) -> int:
    """The most values of a function of x that s alone determines too: what is conveyed without any error."""
    most = 1
    for some in partitions(range(len(sets))):
        if len(some) > most:
            seen = merged(sets, some)
            if all(not a & b for a, b in itertools.combinations(seen, 2)):
                most = len(some)
    return most


def fused(sets: Sets, blocks: Sequence[Sequence[int]]) -> set[frozenset[int]]:
    """Section V-B1 of DF20: block by block, fuse the parts that it meets; parts are sets of useful values."""
    parts = components(sets)
    for block in blocks:
        met = {part for part in parts if part & set(block)}
        parts = (parts - met) | {frozenset().union(*met)}
    return parts


def distortion(values: Sequence[float], blocks: Sequence[Sequence[int]]) -> float:
    """The largest distance of a value from the mean of its block."""
    means = [math.fsum(values[x] for x in block) / len(block) for block in blocks]
    return max(abs(values[x] - mean) for block, mean in zip(blocks, means) for x in block)


def algorithm1(sets: Sets) -> tuple[list[set[frozenset[int]]], int]:
    """Algorithm 1 of DF20 with U_1: the partitions after each iteration, and how many pairs were compared.

    Ties are broken by the smallest member, as the examples need.
    """
    blocks = [frozenset([x]) for x in range(len(sets))]
    seen = {block: sets[min(block)] for block in blocks}
    path, compared = [set(blocks)], 0
    while len(blocks) > 1:
        fewest = min(len(seen[block]) for block in blocks)
        if fewest == len(_sensitive(sets)):
            break
        for block in sorted((b for b in blocks if len(seen[b]) == fewest), key=min):
            if block not in blocks:
                continue
            others = [b for b in blocks if b != block and seen[b] != seen[block]]
            compared += len(blocks) - 1
            if not others:
                continue
            partner = min(others, key=lambda b: (len(b), min(b)))
            union = block | partner
            seen[union] = seen[block] | seen[partner]
            blocks = [b for b in blocks if b not in (block, partner)] + [union]
        path.append(set(blocks))
    return path, compared


def common_information(cells: Any) -> float:
    """Gacs-Korner common information in bits: the entropy of the connected part that a pair lies in."""
    sets = [frozenset(np.flatnonzero(column).tolist()) for column in cells.T]
    masses = [cells[:, sorted(part)].sum() for part in components(sets)]
    return -math.fsum(p * math.log2(p) for p in masses if p > 0)
