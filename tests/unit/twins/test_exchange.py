"""Records exchanged one for one: whole numbers with the right means, every record once, no order of rows."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.twins.cells import cells_of
from discreet.twins.distance import Distance
from discreet.twins.exchange import BITS, exchanged, whole_flows

WHOLE = 12


def rows_of(weights: list[list[int]]) -> list[list[tuple[int, int]]]:
    return [[(b, weight) for b, weight in enumerate(row) if weight] for row in weights]


def invariant_rows(rng: np.random.Generator, sizes: list[int]) -> list[list[tuple[int, int]]]:
    """Weights under which every class is given away as often as it is there: pairs exchange equally many."""
    n, denominator = len(sizes), 10**6
    weights = np.zeros((n, n), dtype=np.int64)
    for a, b in itertools.combinations(range(n), 2):
        amount = int(rng.integers(0, denominator * min(sizes) // (n * max(sizes)) + 1))
        weights[a, b], weights[b, a] = amount * sizes[b], amount * sizes[a]
    scale = max(sizes)
    for a in range(n):
        weights[a, a] = denominator * scale - weights[a].sum()
    assert (weights >= 0).all()
    return rows_of(weights.tolist())


def hashes_of(n: int, key: str = "") -> np.ndarray:
    return np.array([hashlib.sha256(f"{key}:{k}".encode()).hexdigest().encode() for k in range(n)], dtype="S64")


def numbers(rng: np.random.Generator) -> Iterator[int]:
    while True:
        yield int.from_bytes(rng.bytes(BITS // 8), "big")


def setting(sizes: list[int], seed: int = 0) -> tuple[np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    classes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    return classes, [rng.integers(0, 50, len(classes)), rng.integers(0, 3, len(classes))]


def distance_of(columns: list[np.ndarray]) -> Distance:
    return Distance([cells_of(f"c{k}", pa.array(column)) for k, column in enumerate(columns)])


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=4, max_size=4),
    st.lists(st.integers(1, 30), min_size=4, max_size=4),
    st.integers(0, 1000),
)
def test_flows_are_whole_next_to_their_means_and_sums_are_kept(
    given: list[list[int]], sizes: list[int], seed: int
) -> None:
    weights = [[*row[:a], row[a] + 36 - sum(row), *row[a + 1 :]] for a, row in enumerate(given)]
    flows = whole_flows(sizes, rows_of(weights), 36, numbers(np.random.default_rng(seed)))
    for (a, b), found in flows.items():
        assert abs(found - Fraction(sizes[a] * weights[a][b], 36)) < 1
    for k in range(4):
        assert sum(number for (a, _), number in flows.items() if a == k) == sizes[k]
        exact = sum(Fraction(sizes[a] * weights[a][k], 36) for a in range(4))
        assert abs(sum(number for (_, b), number in flows.items() if b == k) - exact) < 1


def test_flows_have_the_means_that_the_channel_says() -> None:
    """Over many keys; weights that differ by a twentieth of a record are told apart."""
    sizes, weights = [3, 5, 2], [[7, 4, 1], [2, 9, 1], [3, 0, 9]]
    rng = numbers(np.random.default_rng(1))
    times = 8000
    total: Counter[tuple[int, int]] = Counter()
    for _ in range(times):
        total.update(whole_flows(sizes, rows_of(weights), WHOLE, rng))
    for (a, b), found in total.items():
        mean = sizes[a] * weights[a][b] / WHOLE
        rest = mean % 1
        if rest == 0:
            assert found == times * mean
            continue
        ups = found - times * int(mean)
        assert stats.binomtest(ups, times, rest).pvalue > 1e-6
        assert stats.binomtest(ups, times, min(1.0, rest + 0.05)).pvalue < 1e-6


@pytest.mark.parametrize("sizes", [[40, 60, 25], [200, 200], [10, 300, 90, 120]])
def test_every_record_is_published_once(sizes: list[int]) -> None:
    rng = np.random.default_rng(3)
    rows = invariant_rows(rng, sizes)
    whole = sum(weight for _, weight in rows[0])
    classes, columns = setting(sizes)
    found = exchanged(hashes_of(len(classes)), classes, rows, whole, distance_of(columns))
    assert sorted(found.tolist()) == list(range(len(classes)))
    moved = (found != np.arange(len(classes))).mean()
    assert 0 < moved < 1
    for a, row in enumerate(rows):
        for b, weight in row:
            number = int((classes[found[classes == a]] == b).sum())
            assert abs(number - sizes[a] * weight / whole) < 1


def test_every_record_of_a_class_moves_and_is_given_as_often_as_any_other() -> None:
    """Over many keys: who stays, and who appears elsewhere, does not depend on what the records are."""
    sizes, times = [6, 6, 6], 3000
    rows, whole = rows_of([[6, 4, 2], [4, 5, 3], [2, 3, 7]]), 12
    classes, columns = setting(sizes)
    distance = distance_of(columns)
    stays, as_other = np.zeros(18), np.zeros((18, 3))
    for key in range(times):
        found = exchanged(hashes_of(18, str(key)), classes, rows, whole, distance)
        stays += found == np.arange(18)
        as_other[np.arange(18), classes[found]] += 1
    for record in range(18):
        own = dict(rows[classes[record]])
        assert stats.binomtest(int(stays[record]), times, own[classes[record]] / whole).pvalue > 1e-6
        for other, weight in own.items():
            assert stats.binomtest(int(as_other[record, other]), times, weight / whole).pvalue > 1e-6


def test_other_sizes_than_those_of_the_design_repeat_few() -> None:
    """A later table: rows move as the channel says, and classes that lack records repeat some."""
    sizes = [100, 300]
    rows = rows_of([[6, 6], [6, 6]])
    classes, columns = setting(sizes)
    found = exchanged(hashes_of(400), classes, rows, WHOLE, distance_of(columns))
    assert len(found) == 400
    for a, size in enumerate(sizes):
        assert int((classes[found[classes == a]] == a).sum()) == size // 2
    times = np.bincount(found, minlength=400)
    assert times[classes == 0].min() >= 1
    assert times[classes == 1].max() <= 1


def test_the_order_of_rows_decides_nothing() -> None:
    sizes = [40, 60, 25]
    rows = invariant_rows(np.random.default_rng(3), sizes)
    whole = sum(weight for _, weight in rows[0])
    classes, columns = setting(sizes)
    hashes = hashes_of(len(classes))
    found = exchanged(hashes, classes, rows, whole, distance_of(columns))
    order = np.random.default_rng(1).permutation(len(classes))
    again = exchanged(hashes[order], classes[order], rows, whole, distance_of([own[order] for own in columns]))
    assert (order[again] == found[order]).all()


def test_twins_are_near() -> None:
    sizes = [300, 300]
    classes, columns = setting(sizes)
    distance = distance_of(columns)
    found = exchanged(hashes_of(600), classes, rows_of([[6, 6], [6, 6]]), WHOLE, distance)
    moved = np.flatnonzero(found != np.arange(600))
    between = distance.between(moved, found[moved]).astype(float)
    assert np.diag(between).mean() < 0.3 * between.mean()
