"""Numbers of DF20: its five examples, and the Hungarian heart data."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest

from discreet import quantise, ranges
from discreet.quantising.baselines import suppression
from discreet.quantising.distortion import Distortion
from discreet.ranges import Range
from tests.unit.measures.test_nonstochastic import figure_1

#: Values of x1 ... x7 in (3) of the paper.
VALUES = [0.2, 0.1, 0.4, 0.3, 0.6, 1.5, 1.0]

#: The paper prints four digits.
DIGITS = 5.1e-5


def names(point) -> set[frozenset[int]]:
    return {frozenset(int(x[1:]) for x in block) for block in point.blocks}


def test_example_1() -> None:
    """L_0 = log 6, I_0 = log 3, I_* = log 5."""
    whole = figure_1()
    assert ranges.uncertainty_reduction(whole) == pytest.approx(math.log2(6))
    assert ranges.maximin_information(whole) == pytest.approx(math.log2(5))


def test_example_2_resolution() -> None:
    """Algorithm 1, U1, lam .3. Misprint: U1 is written with |[[S|X]]|; the examples count members of X-blocks."""
    path = quantise(figure_1())
    assert path.changes(0.3) == pytest.approx([-0.5245, -0.4605, -0.7578], abs=DIGITS)
    assert names(path.points[1]) == {frozenset({1, 2, 7}), frozenset({3, 5}), frozenset({4, 6})}
    assert len(path.best(0.3).blocks) == 1  # step 13 returns the last partition where the step still helped


def test_example_2_distortion() -> None:
    """Algorithm 1, U2, lam 2.5. Misprint: the text returns blocks of the first run; {1,2,4}, {3,5}, {6,7} come out."""
    path = quantise(figure_1(), utility="distortion", values=VALUES)
    assert path.changes(2.5) == pytest.approx([-0.3750, 0.0758], abs=DIGITS)
    assert names(path.best(2.5)) == {frozenset({1, 2, 4}), frozenset({3, 5}), frozenset({6, 7})}


def test_example_3() -> None:
    """Algorithm 2, U1, lam .3. Misprint: Psi asks for empty intersections; candidates must lie in two components."""
    path = quantise(figure_1(), "maximin")
    assert path.changes(0.3) == pytest.approx([-0.0219, -0.4150, -0.5850, -0.8245], abs=DIGITS)
    assert names(path.best(0.3)) == {frozenset({1, 3, 7}), frozenset({2, 5}), frozenset({4, 6})}


def test_example_4() -> None:
    """Algorithm 2, U2, lam .3, x7 = 4. Misprint: the printed stop needs squared errors; with |x - x^| it goes on."""
    values = [*VALUES[:6], 4.0]
    path = quantise(figure_1(), "maximin", "distortion", values=values)
    squared = [math.log2(p.components) + 0.3 * p.distortion**2 for p in path.points]
    assert np.diff(squared) == pytest.approx([-0.3212, -0.4128, -0.4546, 0.0074], abs=DIGITS)
    assert path.best(0.3).components == 1
    third = {block for block in names(path.points[3]) if len(block) > 1}
    assert third == {frozenset({1, 4}), frozenset({3, 5, 6})}


def test_example_5() -> None:
    """Problem (7), lam .3: {2,3}, {4,5}, {6,7}, then {1,6,7}."""
    path = quantise(figure_1(), "indistinguishable", weight=0.3)
    merged = [{block for block in names(point) if len(block) > 1} for point in path.points]
    assert merged[1] == {frozenset({2, 3})}
    assert merged[2] == {frozenset({2, 3}), frozenset({4, 5})}
    assert merged[3] == {frozenset({2, 3}), frozenset({4, 5}), frozenset({6, 7})}
    assert merged[4] == {frozenset({2, 3}), frozenset({4, 5}), frozenset({1, 6, 7})}


@pytest.fixture(scope="module")
def heart(shared_data) -> Range:
    """Age given by cholesterol; the repeated record dropped, a missing level taken as -9 on purpose."""
    with open(shared_data / "processed.hungarian.data") as stream:
        records = list(dict.fromkeys(tuple(row) for row in csv.reader(stream)))
    age, level = ([int(r[0]) for r in records], [-9 if r[4] == "?" else int(r[4]) for r in records])
    ages, levels = sorted(set(age)), sorted(set(level))
    return Range([ages.index(a) for a in age], [levels.index(x) for x in level], sensitive=ages, useful=levels,
                 records=[1] * len(age))  # fmt: skip


def test_heart_sizes(heart: Range) -> None:
    assert (heart.n_sensitive, heart.n_useful, len(heart.useful_of)) == (38, 154, 281)
    assert int((heart.records == 1).sum()) == 269
    assert ranges.uncertainty_reduction(heart) == pytest.approx(5.248, abs=5e-4)
    assert ranges.maximin_information(heart) == 1
    assert len(quantise(heart, "maximin").points) == 2  # so Fig. 9 cannot come from this S and X


def test_heart_resolution(heart: Range) -> None:
    """Best k at largest block m: Algorithm 1 and the proven optimum."""
    greedy, exact = quantise(heart), quantise(heart, method="exact")
    for m, by_greedy, optimum in ((3, 2, 5), (8, 7, 13), (16, 14, 23), (39, 24, 31)):
        assert max(p.k for p in greedy.points if p.largest_block <= m) == by_greedy
        best = max((p for p in exact.points if p.largest_block <= m), key=lambda p: p.k)
        assert (best.k, best.status) == (optimum, "optimal")
    at_5 = min((p for p in exact.points if p.k >= 5), key=lambda p: p.largest_block)
    assert (at_5.largest_block, round(at_5.loss, 3)) == (3, 0.218)
    merged = quantise(heart, method="suppression").points[4]
    assert (merged.largest_block, round(merged.loss, 3)) == (151, 0.996)
    assert (suppression(heart, 5) == merged.block_of).all()


def test_heart_distortion(heart: Range) -> None:
    exact = quantise(heart, utility="distortion", method="exact", codeword="midpoint")
    assert [exact.points[k - 1].distortion for k in (2, 5, 10)] == [37, 68.5, 122.5]
    metric = Distortion(heart.useful, "midpoint")
    for point in exact.points:
        assert metric.of(np.flatnonzero(point.block_of == point.block_of[0]).tolist()) <= point.distortion
