"""Which orders tell their values, and that random ones are let pass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from discreet._support.numeric import IntArray
from discreet.certificate import sequence
from discreet.certificate.sequence import what_tells

#: A tenth of a budget of half a nat.
TOLERANCE = 0.05
ALARM = 1e-5

Rng = np.random.Generator

TELLING: dict[str, Callable[[int, Rng], IntArray]] = {
    "alternating": lambda n, rng: np.arange(n) % 2,
    "three in turn": lambda n, rng: np.arange(n) % 3,
    "halves": lambda n, rng: (rng.random(n) < np.where(np.arange(n) < n // 2, 0.84, 0.16)).astype(np.int64),
    "households": lambda n, rng: np.repeat(rng.integers(0, 2, n), rng.integers(2, 6, n))[:n],
    "pairs": lambda n, rng: np.repeat(rng.integers(0, 2, n // 2), 2),
    "opposite pairs": lambda n, rng: np.ravel([(k, 1 - k) for k in rng.integers(0, 2, n // 2)]),
    "sorted": lambda n, rng: np.sort(rng.integers(0, 10, n)),
    "nearly sorted": lambda n, rng: np.argsort(np.argsort(np.arange(n) + rng.normal(0, n / 10, n))),
    "near values near": lambda n, rng: np.argsort(np.argsort(np.sin(np.arange(n) / 20) + rng.normal(0, 0.5, n))),
    "twice the same": lambda n, rng: np.tile(rng.integers(0, 2, n // 2), 2),
    "pairs of a rare value": lambda n, rng: np.repeat((rng.random(n // 2) < 0.004).astype(np.int64), 2),
    "pairs of many values": lambda n, rng: np.repeat(rng.integers(0, 2_000, n // 2), 2),
    "one of 300 values at the end": lambda n, rng: np.r_[rng.integers(0, 299, n - n // 200), np.full(n // 200, 299)],
}

SHARES = {
    "two": [0.5, 0.5],
    "two, skewed": [0.99, 0.01],
    "five": [0.6, 0.2, 0.1, 0.07, 0.03],
    "ten": [0.1] * 10,
    "200": [1 / 200] * 200,
    "200, skewed": (1 / np.arange(1, 201) / (1 / np.arange(1, 201)).sum()).tolist(),
}


@pytest.mark.parametrize("order", TELLING)
@pytest.mark.parametrize("rows", [10_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_telling_orders_are_found(order: str, rows: int) -> None:
    codes = TELLING[order](rows, np.random.default_rng(1))
    assert what_tells(codes, TOLERANCE, ALARM)
    assert not what_tells(np.random.default_rng(2).permutation(codes), TOLERANCE, ALARM)


@pytest.mark.parametrize("number", [120, pytest.param(1_000, marks=pytest.mark.long)])
def test_random_orders_pass(number: int) -> None:
    """All of them; with a budget of zero, where the bound on false alarms is the tightest."""
    rng = np.random.default_rng(3)
    draws = [rng.choice(len(p), 10_000, p=p) for p in SHARES.values()]
    refused = sum(what_tells(rng.permutation(draws[k % len(draws)]), 0.0, ALARM) is not None for k in range(number))
    assert refused == 0


@pytest.mark.parametrize("shares", SHARES)
def test_the_chance_of_a_false_alarm_is_kept(shares: str) -> None:
    """Checked where it can be seen: of 200 short random orders, far fewer than a fifth alarm at a chance of a fifth."""
    rng = np.random.default_rng(4)
    codes = rng.choice(len(SHARES[shares]), 500, p=SHARES[shares])
    assert sum(what_tells(rng.permutation(codes), 0.0, 0.2) is not None for _ in range(200)) <= 40


@pytest.mark.parametrize(("drift", "tells"), [(0.02, False), (0.1, True)])
def test_a_drift_counts_where_it_is_beyond_the_tolerance(drift: float, tells: bool) -> None:
    """Nats by which the ends of a million rows differ from the whole."""
    n, rng = 1_000_000, np.random.default_rng(5)
    codes = (rng.random(n) < 0.5 * np.exp(np.linspace(-drift, drift, n))).astype(np.int64)
    assert (what_tells(codes, TOLERANCE, ALARM) is not None) is tells
    assert what_tells(codes, 0.0, ALARM), "with a budget of zero every drift counts that is no accident"


def test_neighbours_may_be_alike_within_the_tolerance() -> None:
    n, rng = 1_000_000, np.random.default_rng(6)

    def copied(share: float) -> IntArray:
        """Some rows take the value of the row before."""
        start = np.maximum.accumulate(np.where(rng.random(n) < share, 0, np.arange(n)))
        codes: IntArray = rng.integers(0, 2, n)[start]
        return codes

    assert not what_tells(copied(0.03), TOLERANCE, ALARM)
    assert what_tells(copied(0.03), 0.0, ALARM)
    assert what_tells(copied(0.08), TOLERANCE, ALARM)


def test_short_sequences_tell_where_it_cannot_be_an_accident() -> None:
    assert what_tells(np.repeat([0, 1], 20), 100.0, ALARM), "a tolerance does not help where all is told"
    assert what_tells(np.arange(60), TOLERANCE, ALARM)
    assert what_tells(np.arange(100) % 2, TOLERANCE, ALARM)
    assert not what_tells(np.repeat([0, 1], 3), TOLERANCE, ALARM)
    for codes in ([], [1], [1, 1, 1], [0, 1]):
        assert not what_tells(np.array(codes, dtype=np.int64), 0.0, ALARM)


def test_each_kind_of_test_finds_what_it_is_for() -> None:
    rng = np.random.default_rng(7)
    cases = {
        "_in_runs": np.repeat([1, 0, 2], 12),
        "_trend": np.argsort(np.argsort(np.arange(300) + rng.normal(0, 250, 300))),
        "_blocks": np.r_[rng.integers(0, 40, 5_000), rng.integers(0, 41, 5_000)],
        "_pairs": np.arange(3_000) % 2,
        "_with_themselves": np.r_[rng.permutation(np.repeat(np.arange(40), 60)), np.full(6, 40)],
        "_rare_together": np.repeat(rng.integers(0, 2_000, 2_000), 2),
        "_closeness": np.argsort(np.argsort(np.sin(np.arange(10_000) / 20) + rng.normal(0, 0.5, 10_000))),
    }
    assert set(cases) == {kind.__name__ for _, kind in sequence.KINDS}
    for name, codes in cases.items():
        kind = next(kind for _, kind in sequence.KINDS if kind.__name__ == name)
        _, dense = np.unique(codes, return_inverse=True)
        assert max(float(found.max()) for found in kind(sequence._Values(dense), TOLERANCE)) > 16, name
