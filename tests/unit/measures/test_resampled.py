"""What is left of a column in its own words, beside loops over R and beside simulated columns."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import LIP, Joint, Mechanism, design
from discreet.errors import InputError, UnseenSymbolError
from discreet.measures import distortion, resampled, share_errors, unchanged


def joint_and_mechanism(seed: int) -> tuple[Joint, Mechanism]:
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 7)), int(rng.integers(1, 7))
    channel = rng.dirichlet(np.full(m, 0.4), n)
    values = sorted(rng.choice(1000, n, replace=False).tolist())
    counts = rng.integers(1, 50, (2, n))
    return Joint.from_counts(counts, useful=values), Mechanism.from_channel(channel, useful=values)


def through_values(joint: Joint, mechanism: Mechanism) -> list[list[float]]:
    """R(x' | x), entry by entry as it is defined."""
    p, w = joint.p_useful, mechanism.channel
    n, m = w.shape
    p_released = [sum(p[x] * w[x, y] for x in range(n)) for y in range(m)]
    return [
        [sum(w[x, y] * p[z] * w[z, y] / p_released[y] for y in range(m) if p_released[y] > 0) for z in range(n)]
        for x in range(n)
    ]


@given(st.integers(0, 10**6))
def test_beside_the_definition(seed: int) -> None:
    joint, mechanism = joint_and_mechanism(seed)
    r, p, values = through_values(joint, mechanism), joint.p_useful, joint.useful
    every = range(len(p))
    assert unchanged(joint, mechanism) == pytest.approx(sum(p[x] * r[x][x] for x in every))
    assert distortion(joint, mechanism) == pytest.approx(
        sum(p[x] * r[x][z] * abs(values[x] - values[z]) for x in every for z in every), abs=1e-9
    )
    by_hand = [sum(p[x] * r[x][z] * (1 - r[x][z]) for x in every) / 1000 for z in every]
    errors = share_errors(joint, mechanism, records=1000)
    assert errors is not None
    assert errors**2 == pytest.approx(by_hand, abs=1e-12)
    assert [sum(p[x] * r[x][z] for x in every) for z in every] == pytest.approx(p)  # the distribution stays


@given(st.integers(0, 10**6))
def test_dense_and_sparse_products_agree(seed: int) -> None:
    joint, mechanism = joint_and_mechanism(seed)
    dense = share_errors(joint, mechanism)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resampled, "MOST_CELLS", 0)
        assert share_errors(joint, mechanism) == pytest.approx(dense, abs=1e-9)
        patch.setattr(resampled, "MOST_PRODUCTS", 0)
        assert share_errors(joint, mechanism) is None


def test_errors_agree_with_simulated_columns() -> None:
    """20,000 releases of 200 records: symbols drawn, then values drawn from what the symbols stand for."""
    rng = np.random.default_rng(7)
    counts = np.array([[40, 20, 30, 5], [10, 50, 25, 20]])
    joint = Joint.from_counts(counts)
    mechanism = design(joint, LIP(0.3)).mechanism
    records = np.repeat(np.arange(4), counts.sum(axis=0))
    back = joint.p_useful[:, None] * mechanism.channel
    back = (back / back.sum(axis=0)).cumsum(axis=0).T
    shares, same = [], []
    for _ in range(20_000):
        symbols = mechanism.sample(records, rng)
        values = (rng.random(len(records))[:, None] > back[symbols]).sum(axis=1)
        shares.append(np.bincount(values, minlength=4) / len(records))
        same.append((values == records).mean())
    errors = share_errors(joint, mechanism)
    assert errors is not None
    assert np.std(shares, axis=0) == pytest.approx(errors, rel=0.03)
    assert np.mean(shares, axis=0) == pytest.approx(joint.p_useful, abs=1e-3)
    assert np.mean(same) == pytest.approx(unchanged(joint, mechanism), abs=1e-3)


def test_extremes() -> None:
    joint = Joint.from_counts([[3, 1], [1, 3]])
    assert unchanged(joint, Mechanism.from_channel(np.eye(2))) == 1.0
    assert share_errors(joint, Mechanism.from_channel(np.eye(2))).tolist() == [0.0, 0.0]  # type: ignore[union-attr]
    assert unchanged(joint, Mechanism.from_channel(np.ones((2, 1)))) == 0.5
    assert (
        distortion(Joint.from_counts([[1, 1]], useful=["a", 2]), Mechanism.from_channel(np.eye(2), useful=["a", 2]))
        is None
    )
    with pytest.raises(InputError, match="number of records"):
        share_errors(Joint.from_array([[0.5, 0.5]]), Mechanism.from_channel(np.eye(2)))


@pytest.mark.parametrize("base", [0, 1_700_000_000, 1_700_000_000_000_000, 2**62, 0.5])
def test_distances_of_large_numbers_lose_no_digits(base: float) -> None:
    values = [base + k for k in range(1000)]
    in_pairs = np.zeros((1000, 500))
    in_pairs[np.arange(1000), np.arange(1000) // 2] = 1
    joint = Joint.from_array(np.full((1, 1000), 1e-3), useful=values)
    assert distortion(joint, Mechanism.from_channel(in_pairs, useful=values)) == pytest.approx(0.5)


def test_numbers_beyond_floats_have_no_distance() -> None:
    values = [10**400, 5]
    mechanism = Mechanism.from_channel([[0.75, 0.25], [0.25, 0.75]], useful=values)
    assert distortion(Joint.from_counts([[3, 1], [1, 3]], useful=values), mechanism) is None


def test_a_sensitive_value_that_the_mechanism_cannot_read() -> None:
    joint = Joint.from_counts([[400, 100], [100, 400]])
    mechanism = design(joint, LIP(0.3), "optimal-with-sensitive").mechanism
    assert 0.5 < unchanged(joint, mechanism) < 1
    with pytest.raises(UnseenSymbolError):
        unchanged(Joint.from_counts([[400, 100], [100, 400], [500, 500]]), mechanism)
