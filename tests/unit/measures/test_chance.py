"""What chance gives, against every way of pairing records and every table with the same sums."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

import discreet as dc
from discreet._support.errors import InputError
from discreet.measures import chance
from discreet.measures.chance import chance_information, chi2_moments, independence_test

#: Sums of a few hundred floats.
ROUNDING = 1e-12

TABLES = [
    [[2, 1, 0], [0, 1, 3]],
    [[1, 1, 1], [1, 1, 1]],
    [[3, 0, 0], [1, 1, 1], [0, 0, 2]],
    [[1, 1, 1, 1, 0], [0, 0, 1, 1, 2]],
    [[4, 0], [0, 4]],
    [[2, 0, 1], [0, 0, 3], [0, 0, 0]],  # values that never occur
]


def tables_with(down: tuple[int, ...], across: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every table of non-negative integers with these sums."""
    if len(down) == 1:
        yield (across,)
        return
    for row in itertools.product(*(range(min(down[0], limit) + 1) for limit in across)):
        if sum(row) == down[0]:
            rest = tuple(limit - k for limit, k in zip(across, row))
            for others in tables_with(down[1:], rest):
                yield (row, *others)


def every(table: list[list[int]]) -> list[tuple[Fraction, np.ndarray]]:
    """Tables with the same sums, and how likely each is where records are paired at random."""
    down, across = (tuple(np.sum(table, axis=axis).tolist()) for axis in (1, 0))
    ways = math.prod(map(math.factorial, (*down, *across)))
    found = [
        (Fraction(ways, math.factorial(sum(down)) * math.prod(math.factorial(k) for row in one for k in row)), one)
        for one in tables_with(down, across)
    ]
    assert sum(p for p, _ in found) == 1
    return [(p, np.array(one)) for p, one in found]


def chi2(table: np.ndarray) -> float:
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    some = expected > 0
    return float(((table - expected)[some] ** 2 / expected[some]).sum())


@pytest.mark.parametrize("table", TABLES)
def test_the_expected_information_is_the_mean_over_all_tables(table: list[list[int]]) -> None:
    mean = sum(float(p) * dc.measures.mutual_information(dc.Joint.from_counts(one)) for p, one in every(table))
    assert chance_information(dc.Joint.from_counts(table)) == pytest.approx(mean, abs=ROUNDING)


def test_the_expected_information_is_the_mean_over_permutations() -> None:
    """Every pairing of seven records, one by one."""
    s, x = [0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 2, 2]
    found = []
    for order in itertools.permutations(range(7)):
        table = np.zeros((2, 3), dtype=int)
        np.add.at(table, ([s[k] for k in order], x), 1)
        found.append(table.tobytes())
    kinds = {one: dc.Joint.from_counts(np.frombuffer(one, dtype=int).reshape(2, 3)) for one in set(found)}
    mean = np.mean([dc.measures.mutual_information(kinds[one]) for one in found])
    assert chance_information(next(iter(kinds.values()))) == pytest.approx(mean, abs=1e-10)


def test_series_and_sums_of_the_expected_information_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    joint = dc.Joint.from_counts([[9_000, 30_000, 70_000], [14_000, 25_000, 90_000]])
    series = chance_information(joint)
    monkeypatch.setattr(chance, "LARGE_MEAN", math.inf)
    summed = chance_information(joint)
    assert series == pytest.approx(summed, rel=1e-6)
    assert summed == pytest.approx(2 / (2 * 238_000), rel=1e-3)  # where all values are common


def test_where_every_value_occurs_once_all_of_the_information_is_chance() -> None:
    joint = dc.Joint.from_counts(np.eye(2, dtype=int)[[k % 2 for k in range(40)]].T)
    assert chance_information(joint) == pytest.approx(math.log(2))
    assert independence_test(joint).p_value == 1


@pytest.mark.parametrize("table", TABLES)
def test_mean_and_variance_of_the_statistic_are_those_of_all_tables(table: list[list[int]]) -> None:
    whole = np.array(table)
    whole = whole[np.ix_(whole.sum(axis=1) > 0, whole.sum(axis=0) > 0)]
    found = [(float(p), chi2(one)) for p, one in every(whole.tolist())]
    mean = sum(p * value for p, value in found)
    variance = sum(p * (value - mean) ** 2 for p, value in found)
    assert chi2_moments(whole.sum(axis=1), whole.sum(axis=0)) == pytest.approx((mean, variance), abs=1e-9)


@pytest.mark.parametrize("table", TABLES)
def test_p_values_are_those_of_all_tables(table: list[list[int]]) -> None:
    found = independence_test(dc.Joint.from_counts(table))
    own = chi2(np.array(table))
    exact = float(sum(p for p, one in every(table) if chi2(one) >= own - 1e-9))
    assert found.statistic == pytest.approx(own, abs=1e-9)
    assert found.method == "tables"
    # Ten thousand draws: five standard errors.
    assert abs(found.p_value - exact) <= 5 * math.sqrt(exact * (1 - exact) / 9_999) + 1 / 9_999


def test_p_values_are_uniform_where_nothing_is_told() -> None:
    """Over all tables with some sums: a p-value is at most p with probability at most p, and nearly that."""
    down, across = [7, 5], [4, 4, 4]
    table = np.zeros((2, 3), dtype=int)
    table[0, :2], table[0, 2], table[1, 2] = (4, 3), 0, 4
    table[1, 1] = 1
    assert (table.sum(axis=1).tolist(), table.sum(axis=0).tolist()) == (down, across)
    found = [(float(p), independence_test(dc.Joint.from_counts(one)).p_value) for p, one in every(table.tolist())]
    values = sorted({round(value, 3) for _, value in found})
    assert len(values) > 2
    for level in values:
        reached = sum(p for p, value in found if value <= level + 5e-4)
        assert reached == pytest.approx(level, abs=0.03)


@pytest.mark.parametrize("sparse", [True, False])
def test_p_values_by_moments_are_uniform_where_nothing_is_told(sparse: bool) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 4000 if sparse else 900, 12_000)
    s = rng.choice(4, 12_000, p=[0.6, 0.3, 0.08, 0.02])
    found = []
    for _ in range(300):
        counts = np.zeros((4, x.max() + 1), dtype=int)
        np.add.at(counts, (rng.permutation(s), x), 1)
        test = independence_test(dc.Joint.from_counts(counts))
        assert test.method == "moments"
        found.append(test.p_value)
    # Kolmogorov's distance of 300 uniform numbers is below 0.11 but once in a thousand times.
    assert np.abs(np.sort(found) - np.linspace(0, 1, 300)).max() < 0.11


def test_both_methods_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    for _ in range(10):
        joint = dc.Joint.from_counts(rng.poisson(6, (3, 40)))
        drawn = independence_test(joint)
        with monkeypatch.context() as patched:
            patched.setattr(chance, "MOST_DRAWN", 0)
            moments = independence_test(joint)
        assert (drawn.method, moments.method) == ("tables", "moments")
        assert moments.p_value == pytest.approx(drawn.p_value, abs=0.03)


def test_dependence_is_found_and_a_seed_says_the_same_again() -> None:
    joint = dc.Joint.from_counts([[60, 30, 40], [30, 60, 40]])
    assert independence_test(joint).p_value == 0.0001
    assert independence_test(joint, seed=3) == independence_test(joint, seed=3)


def test_one_value_alone_has_nothing_to_test() -> None:
    joint = dc.Joint.from_counts([[3, 4, 5]])
    assert independence_test(joint).method == "none"
    assert independence_test(joint).p_value == 1
    assert chance_information(joint) == 0


def test_two_records_are_tested_too() -> None:
    assert independence_test(dc.Joint.from_counts([[1, 0], [0, 1]])).p_value == 1


@pytest.mark.parametrize("ask", [independence_test, chance_information])
def test_probabilities_alone_tell_nothing_about_chance(ask) -> None:
    with pytest.raises(InputError, match="number of records"):
        ask(dc.Joint.random(2, 3))
    with pytest.raises(InputError, match="at most"):
        ask(dc.Joint.from_counts([[2**60, 1], [1, 1]]))
