"""Two questions about an estimate, two errors: of the population, and of the table that was released."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import LIP, Joint, Mechanism, design

#: Four standard errors of a standard deviation that is estimated from so many runs.
RUNS = 4_000
CLOSE = 4 / np.sqrt(2 * RUNS)

CHANNEL = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]]


def responses(counts: list[int], rng: np.random.Generator) -> np.ndarray:
    return sum(rng.multinomial(n, row) for n, row in zip(counts, CHANNEL))  # type: ignore[return-value]


def test_errors_are_those_of_repeated_draws_from_one_table_and_from_a_population() -> None:
    rng, table, n = np.random.default_rng(0), [500, 300, 200], 1000
    mechanism = Mechanism.from_channel(CHANNEL, useful=["a", "b", "c"], released=["a", "b", "c"])
    expected = mechanism.estimate(np.array(table) @ np.array(CHANNEL))
    fixed = [mechanism.estimate(responses(table, rng)).probabilities for _ in range(RUNS)]
    sampled = [
        mechanism.estimate(responses(rng.multinomial(n, np.array(table) / n).tolist(), rng)).probabilities
        for _ in range(RUNS)
    ]
    assert np.std(fixed, axis=0) == pytest.approx(expected.table_errors, rel=CLOSE)
    assert np.std(sampled, axis=0) == pytest.approx(expected.standard_errors, rel=CLOSE)
    p = expected.probabilities
    assert expected.standard_errors**2 - expected.table_errors**2 == pytest.approx(p * (1 - p) / n)


def test_where_nothing_is_drawn_the_table_is_known() -> None:
    mechanism = Mechanism.from_channel(np.eye(2), useful=["a", "b"], released=["a", "b"])
    estimate = mechanism.estimate({"a": 30, "b": 70})
    assert estimate.table_errors.tolist() == [0.0, 0.0]
    assert estimate.standard_errors == pytest.approx([np.sqrt(0.3 * 0.7 / 100)] * 2)
    assert estimate.to_dict()["table_errors"] == [0.0, 0.0]


def test_errors_of_bits() -> None:
    """Ones of a bit among those with the value, and among the others, are binomial."""
    joint = Joint.from_counts([[30, 15, 5], [10, 15, 25]])
    mechanism = design(joint, LIP(0.5), "oue").mechanism
    p, q = mechanism.true_weight / 2**60, mechanism.other_weight / 2**60  # type: ignore[attr-defined]
    shares, n = np.array([0.5, 0.3, 0.2]), 10_000
    estimate = mechanism.estimate((n * (shares * p + (1 - shares) * q), n))
    drawn = (shares * p * (1 - p) + (1 - shares) * q * (1 - q)) / n / (p - q) ** 2
    assert estimate.probabilities == pytest.approx(shares)
    assert estimate.table_errors == pytest.approx(np.sqrt(drawn))
    assert estimate.standard_errors == pytest.approx(np.sqrt(drawn + shares * (1 - shares) / n))
