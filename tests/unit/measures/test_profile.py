"""What is measured in one pass is what each measure says by itself, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from discreet import Joint, measures
from discreet.measures import kernels
from discreet.measures.profile import profile
from tests.strategies import joints


def check(joint: Joint) -> None:
    found = profile(joint, 2.0)
    alone = {
        "max_lift": measures.max_lift(joint),
        "min_lift": measures.min_lift(joint),
        "lift_ratio": measures.lift_ratio(joint),
        "l1_lift": measures.l1_lift(joint),
        "l1_lift_inverse": measures.l1_lift_inverse(joint),
        "chi2_lift": measures.chi2_lift(joint),
        "chi2_lift_inverse": measures.chi2_lift_inverse(joint),
        "alpha_lift": measures.alpha_lift(joint, 2.0),
        "alpha_lift_inverse": measures.alpha_lift_inverse(joint, 2.0),
    }
    assert list(found.lifts) == list(alone)
    for name, values in alone.items():
        assert np.array_equal(found.lifts[name], values), name
    lifts = measures.lift(joint)
    assert np.array_equal(found.likelier, lifts.argmax(axis=0))
    assert np.array_equal(found.unlikelier, lifts.argmin(axis=0))
    scalars = found.scalars()
    for name in ("total_variation", "chi2_divergence", "mutual_information", "maximal_leakage", "realizable_leakage"):
        assert scalars[name] == getattr(measures, name)(joint), name
    for name in ("sibson_information", "arimoto_information"):
        assert scalars[name] == getattr(measures, name)(joint, 2.0), name


@given(joints())
def test_one_pass_says_what_each_measure_says(joint: Joint) -> None:
    check(joint)


@pytest.mark.parametrize("n_sensitive", [1, 2, 9, 17])
def test_stretches_change_no_bit(n_sensitive: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.random.default_rng(1).poisson(0.7, (n_sensitive, 20_011))
    counts[:, 0] = 1
    counts[:, 5] = 0
    joint = Joint.from_counts(counts)
    whole = profile(joint, 2.0)
    information = measures.mutual_information(joint)
    monkeypatch.setattr(kernels, "STRETCH", 1000)
    assert len(kernels.stretches(joint.n_useful)) == 21
    cut = profile(joint, 2.0)
    assert all(np.array_equal(cut.lifts[name], whole.lifts[name]) for name in whole.lifts)
    assert np.array_equal(cut.norms, whole.norms)
    assert cut.scalars() == whole.scalars()
    assert measures.mutual_information(joint) == information
    check(joint)
