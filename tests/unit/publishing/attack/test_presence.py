"""Appearances of tuples: found where they depend on S, not where they depend on x alone; limits and counts by hand."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from discreet._support.numeric import FloatArray, IntArray
from discreet.publishing.attack.cells import tuple_keys
from discreet.publishing.attack.counted import Beliefs
from discreet.publishing.attack.models import MODELS, Model
from discreet.publishing.attack.presence import Appearances, appearances_of, presence_cells
from discreet.publishing.features import Features
from discreet.twins.cells import Cells

N = 6000


def a_column(name: str, codes: IntArray) -> Cells:
    size = int(codes.max()) + 1
    return Cells(name, codes, np.arange(size, dtype=np.float64), pa.array(range(size)), False)


def people(seed: int = 0) -> tuple[list[Cells], IntArray, FloatArray]:
    """Tuples of their own, S that a column tells something about, and the belief that it gives."""
    random = np.random.default_rng(seed)
    x = random.integers(0, 100, N)
    belief = 0.1 + 0.6 * x / 100
    secret = (random.random(N) < belief).astype(np.int64)
    return [a_column("x", x), a_column("own", random.permutation(N))], secret, belief


def released(table: list[Cells], leave: FloatArray, seed: int) -> list[Cells]:
    random = np.random.default_rng(seed)
    rows = np.where(random.random(N) < leave, random.integers(0, N, N), np.arange(N))
    return [cells.taken(rows) for cells in table]


def found(table: list[Cells], after: list[Cells], secret: IntArray, beliefs: FloatArray | None = None) -> bool:
    counted = appearances_of(table, after, secret, 2, 0, beliefs)
    assert not counted.reason
    cells = presence_cells(counted, np.bincount(secret) / N, 0.05 / counted.n_cells)
    return any(cell.low > 0 or cell.high < 0 for cell in cells)


@pytest.mark.parametrize("handed", [True, False], ids=["beliefs handed in", "beliefs learned"])
def test_a_dependence_on_s_is_found_and_one_on_x_is_not(handed: bool) -> None:
    table, secret, belief = people()
    beliefs = np.column_stack([1 - belief, belief]) if handed else None
    assert found(table, released(table, np.where(secret == 1, 0.3, 0.7), 1), secret, beliefs)
    assert not found(table, released(table, np.full(N, 0.5), 2), secret, beliefs)
    assert not found(table, released(table, belief, 3), secret, beliefs)  # those who stay differ, as x tells anyway


def test_groups_are_what_loops_count() -> None:
    table, secret, belief = people()
    table[1] = a_column("own", table[1].codes // 2)  # some tuples occur twice
    after = released(table, np.full(N, 0.5), 1)
    counted = appearances_of(table, after, secret, 2, 0, np.column_stack([1 - belief, belief]))
    before = list(zip(*(cells.codes.tolist() for cells in table)))
    there = list(zip(*(cells.codes.tolist() for cells in after)))
    times = {key: there.count(key) for key in set(before)}
    expected = np.zeros((4, 2), dtype=np.int64)
    single = [(key, s) for key, s in zip(before, secret.tolist()) if before.count(key) == 1]
    for key, s in single:
        expected[min(3, times[key]), s] += 1
    assert counted.k.tolist() == expected.tolist()
    assert counted.n.tolist() == expected.sum(axis=1).tolist()
    assert np.allclose(counted.expected.sum(axis=0), expected.sum(axis=0))  # nobody is left out of the calibration
    assert np.allclose(counted.expected.sum(axis=1), counted.n)


def memory(features: Features, secret: IntArray, n_values: int, seed: int) -> Beliefs:
    """A model that knows by heart what it was trained on, and nothing else."""
    known = dict(zip(map(tuple, features.matrix.tolist()), secret.tolist()))
    return lambda matrix: np.array([np.eye(n_values)[known.get(tuple(row), 0)] for row in matrix.tolist()])


def test_beliefs_never_see_the_own_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were a tuple's own S among the training of its belief, it would be expected, and no dependence found."""
    table, secret, _ = people()
    after = released(table, np.where(secret == 1, 0.3, 0.7), 1)
    monkeypatch.setitem(MODELS, "boosting", Model(memory))
    assert found(table, after, secret)


def test_limits_are_those_of_the_poisson_distribution() -> None:
    counted = Appearances(np.array([40, 10]), np.array([[30, 10], [0, 10]]), np.array([[25.0, 15.0], [4.0, 0.0]]))
    assert counted.n_cells == 3
    cells = presence_cells(counted, np.array([0.6, 0.4]), 0.02)
    assert [(cell.appearances, cell.value, cell.k) for cell in cells] == [("0", 0, 30), ("0", 1, 10), ("1", 0, 0)]
    for cell in cells:
        high = cell.expected * math.exp(cell.high)
        assert stats.poisson.cdf(cell.k, high) == pytest.approx(0.01, rel=1e-6)
        if cell.k:
            assert stats.poisson.sf(cell.k - 1, cell.expected * math.exp(cell.low)) == pytest.approx(0.01, rel=1e-6)
            assert cell.log_ratio == pytest.approx(math.log(cell.k / cell.expected))
            assert cell.log_lift == pytest.approx(math.log(cell.k / cell.n / [0.6, 0.4][cell.value]))
        else:
            assert cell.low == cell.log_ratio == -math.inf


def test_where_it_cannot_be_tried_the_reason_is_given() -> None:
    table, secret, _ = people()
    nobody = [a_column("x", table[0].codes), a_column("own", table[1].codes + N)]
    for after, before, reason in (
        (table, table, "equally often"),
        (nobody, table, "fewer than one in a hundred"),
        (table[:1], table[:1], "no record has a tuple that occurs once"),
        ([], [], "no column"),
    ):
        assert reason in appearances_of(before, after, secret, 2, 0).reason


def test_keys_are_equal_for_equal_tuples_alone() -> None:
    a, b = np.repeat([-1, 0, 1, 2], 4), np.tile([-1, 0, 1, 2], 4)
    keys = tuple_keys([a_column("a", a), a_column("b", b)])
    assert len(set(keys.tolist())) == 16
    assert keys.tolist() == tuple_keys([a_column("a", a), a_column("b", b)]).tolist()
