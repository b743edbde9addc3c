"""Ties in Algorithm 1 go to the smallest index, whatever rounding says: compared with a slow run in fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.core.range import Range
from discreet.quantising.agglomerative import by_uncertainty
from discreet.quantising.distortion import Distortion

VALUES = [5, 5, 3, 2, 4, 3, 1]


def slow_path(seen: list[set[int]], values: list[Fraction], n_sensitive: int) -> list[list[int]]:
    """Algorithm 1 with the distortion to centroids, as it is written."""
    blocks = [[x] for x in range(len(values))]

    def of(block: list[int]) -> set[int]:
        return set().union(*(seen[x] for x in block))

    def cost(block: list[int]) -> Fraction:
        centre = sum(values[x] for x in block) / Fraction(len(block))
        return max(abs(values[x] - centre) for x in block)

    path = [labelled(blocks, len(values))]
    while len(blocks) > 1:
        fewest = min(len(of(block)) for block in blocks)
        if fewest == n_sensitive:
            break
        merged = False
        for block in sorted((b for b in blocks if len(of(b)) == fewest), key=min):
            others = [other for other in blocks if other is not block and of(other) != of(block)]
            if not any(block is b for b in blocks) or not others:
                continue
            other = min(others, key=lambda b: (cost([*block, *b]), min(b)))
            blocks = [b for b in blocks if b is not block and b is not other] + [sorted([*block, *other])]
            merged = True
        if not merged:
            break
        path.append(labelled(blocks, len(values)))
    return path


def labelled(blocks: list[list[int]], n: int) -> list[int]:
    return [next(min(block) for block in blocks if x in block) for x in range(n)]


def check(table: Any, values: list[Any]) -> None:
    seen = [set(np.flatnonzero(column).tolist()) for column in np.asarray(table).T]
    expected = slow_path(seen, [Fraction(str(value)) for value in values], len(table))
    found = [path.tolist() for path in by_uncertainty(Range.of(table), Distortion(values))]
    assert found == expected


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("unit", [1, Fraction(1, 10), Fraction(1, 3)], ids=str)
def test_ties_go_to_the_smallest_index(seed: int, unit: Any) -> None:
    rng = np.random.default_rng(seed)
    table = rng.random((5, 7)) < 0.35
    table[rng.integers(0, 5, 7), np.arange(7)] = True
    order = rng.permutation(7)
    check(table, [float(VALUES[k] * unit) for k in order])
