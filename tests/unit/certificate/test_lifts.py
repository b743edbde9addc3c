"""Extremes and shares that floats find are those that integers give."""

# SPDX-License-Identifier: Apache-2.0
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import LIP, Joint, certify, design
from discreet.certificate import record
from discreet.certificate.lifts import extreme_lifts


@given(st.integers(0, 10**6))
def test_extreme_lifts_are_those_of_all_cells(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, rng.choice([2, 5, 10**9]), size=rng.integers(1, 6, size=2))
    counts[0, 0] += 1
    total, rows, columns = int(counts.sum()), counts.sum(axis=1), counts.sum(axis=0)
    every = [
        Fraction(int(counts[s, y]) * total, int(rows[s]) * int(columns[y]))
        for s in range(counts.shape[0])
        for y in range(counts.shape[1])
        if rows[s] and columns[y]
    ]
    assert extreme_lifts(Joint.from_counts(counts)) == (min(every), max(every))


@given(st.integers(0, 10**6))
def test_floats_state_the_share_that_integers_give(seed: int) -> None:
    counts = np.random.default_rng(seed).integers(1, 50, size=(2, 4))
    made = design(Joint.from_counts(counts), LIP(0.4), method="subset-merging")
    by_floats = certify(made).to_dict()["nmi"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "LEAST_ENTROPY", 1e9)  # no floats
        assert certify(made).to_dict()["nmi"] == by_floats
