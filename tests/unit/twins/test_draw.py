"""The draw of classes and twins: integer thresholds, exactly, and frequencies that a wrong mechanism would miss."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import discreet as dc
from discreet.twins.cells import cells_of
from discreet.twins.distance import Distance
from discreet.twins.draw import coupled, drawn_classes, moves, points, sources


def mechanism_of(channel: list[list[float]]) -> dc.Mechanism:
    n = len(channel)
    names = [f"k{k}" for k in range(n)]
    made = dc.Mechanism.from_channel(channel, useful=names, released=names)
    return made.promising({"name": "lip", "epsilon": 0.5}, "optimal")


def hashes_of(n: int) -> np.ndarray:
    return np.array([hashlib.sha256(str(k).encode()).hexdigest().encode() for k in range(n)], dtype="S64")


def test_classes_follow_from_the_first_120_bits() -> None:
    """Beside Python's own integers, record by record."""
    mechanism = mechanism_of([[0.7, 0.3, 0.0], [0.0, 0.5, 0.5], [0.25, 0.25, 0.5]])
    hashes = hashes_of(3000)
    classes = np.arange(3000) % 3
    found = drawn_classes(hashes, classes, mechanism)
    rows = mechanism.public_dict()["rows"]
    places = mechanism.own_places
    for text, own, drawn in zip(hashes.tolist(), classes.tolist(), found.tolist()):
        u, total = int(text[:30], 16), 0
        for y, weight in rows[own]:
            total += int(weight) << 60
            if u < total:
                assert places[y] == drawn
                break
        else:
            pytest.fail("beyond the last weight")


def test_moves_are_the_positive_weights() -> None:
    mechanism = mechanism_of([[0.7, 0.3, 0.0], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]])
    assert set(moves(mechanism)) == {(0, 0), (0, 1), (1, 1), (2, 0), (2, 1), (2, 2)}


def test_frequencies_are_those_of_the_mechanism_and_reject_another() -> None:
    channel = np.array([[0.7, 0.3], [0.4, 0.6]])
    n = 40_000
    classes = np.arange(n) % 2
    drawn = drawn_classes(hashes_of(n), classes, mechanism_of(channel.tolist()))
    for own in (0, 1):
        moved = int((drawn[classes == own] != own).sum())
        right, wrong = channel[own, 1 - own], channel[own, 1 - own] + 0.03
        assert stats.binomtest(moved, n // 2, right).pvalue > 1e-6
        assert stats.binomtest(moved, n // 2, wrong).pvalue < 1e-6


def test_points_are_the_next_forty_bits() -> None:
    hashes = hashes_of(200)
    assert points(hashes).tolist() == [int(text[30:40], 16) for text in hashes.tolist()]
    assert stats.kstest(points(hashes_of(5000)) / 2**40, "uniform").pvalue > 1e-4


def test_who_moves_says_nothing_about_where_it_stands() -> None:
    """A tenth of a large class appears as all records of a small one, and not as a tenth of them again and again."""
    n, small = 5000, 50
    mechanism = mechanism_of([[0.9, 0.1], [0.1, 0.9]])
    classes = (np.arange(n) < small).astype(np.int64)
    hashes, distance = hashes_of(n), Distance([cells_of("a", pa.chunked_array([pa.array(["x"] * n)]))], {})
    found = sources(hashes, classes, mechanism, coupled(hashes, classes, mechanism, distance))
    shown = found[(classes == 0) & (classes[found] == 1)]
    assert len(shown) == pytest.approx(n / 10, abs=100)
    assert len(np.unique(shown)) > 0.9 * small
