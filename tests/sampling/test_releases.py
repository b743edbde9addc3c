"""Released frequencies agree with the weights, by a test that rejects a slightly wrong mechanism."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import discreet as dc
from discreet._support.numeric import DENOMINATOR

#: All tests of a table together raise a false alarm less often than this.
FALSE_ALARM = 1e-6
SYMBOLS = 20


def released_counts(rows: int) -> tuple[dc.Mechanism, np.ndarray]:
    """A release of values that are uniform over 20 symbols, counted."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, SYMBOLS, rows)
    s = rng.integers(0, 3, rows)
    table = pa.table({"x": x, "s": s})
    weights = rng.multinomial(1000, rng.dirichlet(np.ones(6)), SYMBOLS)
    weights = weights * (DENOMINATOR // 1000)
    weights[:, 0] += DENOMINATOR - weights.sum(axis=1)
    mechanism = dc.Mechanism.from_weights(
        weights, useful=range(SYMBOLS), released=list("abcdef"), useful_columns=["x"], sensitive_columns=["s"]
    )
    got = dc.release(table, mechanism, key=bytes(range(32)), notion=dc.LIP(1.0))
    y = np.asarray(got.column("x").combine_chunks().dictionary_encode().indices)
    names = got.column("x").combine_chunks().dictionary_encode().dictionary.to_pylist()
    counts = np.zeros((SYMBOLS, len(mechanism.released)), dtype=np.int64)
    np.add.at(counts, (x, np.array([mechanism.released.index(name) for name in names])[y]), 1)
    return mechanism, counts


def smallest_chance(counts: np.ndarray, weights: np.ndarray) -> float:
    """Two-sided binomial chances of all cells, the smallest times their number (Bonferroni)."""
    trials = counts.sum(axis=1, keepdims=True)
    chance = weights / DENOMINATOR
    tails = np.minimum(binom.cdf(counts, trials, chance), binom.sf(counts - 1, trials, chance))
    return float(2 * tails.min() * counts.size)


def check(rows: int, moved: float) -> None:
    mechanism, counts = released_counts(rows)
    assert smallest_chance(counts, mechanism.weights) > FALSE_ALARM
    for symbol in range(SYMBOLS):
        first, second = np.argsort(-mechanism.weights[symbol])[:2]
        wrong = mechanism.weights.copy()
        wrong[symbol, first] -= int(moved * DENOMINATOR)
        wrong[symbol, second] += int(moved * DENOMINATOR)
        assert smallest_chance(counts, wrong) < FALSE_ALARM


def test_a_million_draws_tell_two_percent() -> None:
    check(1_000_000, 0.02)


@pytest.mark.slow
def test_ten_million_draws_tell_half_a_percent() -> None:
    check(10_000_000, 0.005)
