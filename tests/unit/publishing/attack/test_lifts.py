"""Lifts of parts: counts by slow loops, limits by the binomial distribution itself, ties, rare values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from discreet.publishing.attack.lifts import FEWEST_PARTS, MOST_PARTS, area_under_curve, cells_with_limits, parts_of


def parts_by_hand(scores: list[float], truth: list[bool]) -> list[tuple[int, int]]:
    """Records and those with s: each score goes to the part where the middle of its records lies."""
    wanted = max(2, min(20, sum(truth) // 30))
    members: dict[int, list[int]] = {}
    for k, score in enumerate(scores):
        lower = sum(other < score for other in scores)
        equal = sum(other == score for other in scores)
        members.setdefault(int((lower + equal / 2) / len(scores) * wanted), []).append(k)
    return [(len(rows), sum(truth[k] for k in rows)) for _, rows in sorted(members.items())]


@pytest.mark.parametrize("distinct", [3, 40, 10_000])
def test_parts_are_what_loops_count(distinct: int) -> None:
    random = np.random.default_rng(distinct)
    scores = random.integers(1, distinct + 1, 700) / (distinct + 1)
    truth = random.random(700) < scores
    beliefs = np.column_stack([1 - scores, scores])
    found = parts_of("m", beliefs, truth.astype(np.int64))[1]
    assert list(zip(found.n.tolist(), found.k.tolist())) == parts_by_hand(scores.tolist(), truth.tolist())


def test_records_of_equal_belief_are_in_one_part_in_any_order() -> None:
    """S in long runs: were ties split by the order of rows, parts would be pure."""
    secret = np.repeat([0, 1], 500)
    beliefs = np.tile([0.5, 0.5], (1000, 1))
    for order in (np.arange(1000), np.random.default_rng(0).permutation(1000)):
        for found in parts_of("m", beliefs[order], secret[order]):
            assert (found.n.tolist(), found.k.tolist()) == ([1000], [500])
    almost = beliefs + np.random.default_rng(1).normal(0, 1e-15, beliefs.shape)  # rounding is no order
    assert [len(found.n) for found in parts_of("m", almost, secret)] == [1, 1]


def test_rare_values_have_few_parts() -> None:
    random = np.random.default_rng(0)
    for number in (1, 45, 95, 3000):
        secret = (np.arange(20_000) < number).astype(np.int64)
        scores = random.random(20_000)
        found = parts_of("m", np.column_stack([1 - scores, scores]), secret)[1]
        assert len(found.n) == min(MOST_PARTS, max(FEWEST_PARTS, number // 30))
        assert found.n.max() - found.n.min() <= 1
    assert parts_of("m", np.full((10, 3), 1 / 3), np.zeros(10, dtype=np.int64))[-1].value == 0  # none of the others


def test_limits_are_those_of_the_binomial_distribution() -> None:
    random = np.random.default_rng(4)
    scores = random.random(900)
    secret = (random.random(900) < scores**3).astype(np.int64)
    secret[scores < 0.1] = 0
    prior, alpha = np.array([0.7, 0.3]), 0.01
    parts = parts_of("m", np.column_stack([1 - scores, scores]), secret)
    cells = cells_with_limits(parts, prior, alpha)
    assert len(cells) == sum(len(part.n) for part in parts)
    for cell in cells:
        p = prior[cell.value]
        low, high = (p * math.exp(end) for end in (cell.low, cell.high))
        if cell.k == 0:
            assert cell.low == cell.log_lift == -math.inf
        else:
            assert stats.binom.sf(cell.k - 1, cell.n, low) == pytest.approx(alpha / 2, rel=1e-5)
            assert cell.log_lift == pytest.approx(math.log(cell.k / cell.n / p))
        if cell.k < cell.n:
            assert stats.binom.cdf(cell.k, cell.n, high) == pytest.approx(alpha / 2, rel=1e-5)
        else:
            assert high == pytest.approx(1)


def test_limits_hold_all_at_once() -> None:
    """Of 300 tables without anything to learn, about 5 % at most have any interval that excludes 0."""
    random, missed = np.random.default_rng(7), 0
    for _ in range(300):
        secret = (random.random(1000) < 0.3).astype(np.int64)
        scores = random.random(1000)
        parts = parts_of("m", np.column_stack([1 - scores, scores]), secret)
        cells = cells_with_limits(parts, np.array([0.7, 0.3]), 0.05 / sum(len(part.n) for part in parts))
        missed += any(cell.low > 0 or cell.high < 0 for cell in cells)
    assert 1 <= missed <= 30  # a binomial number of mean below 15: more than 30 has a chance of 1e-4


def test_the_area_is_the_chance_of_the_right_order() -> None:
    random = np.random.default_rng(2)
    scores = random.integers(1, 9, 80) / 10
    truth = random.random(80) < scores
    pairs = [(a > b) + (a == b) / 2 for a in scores[truth] for b in scores[~truth]]
    assert area_under_curve(scores, truth) == pytest.approx(np.mean(pairs))
    assert area_under_curve(scores, np.ones(80, dtype=bool)) is None
