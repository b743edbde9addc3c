"""A proof of weak duality cannot be fooled: whatever its multipliers are, its limit is true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import LDP, LIP, Joint, L1Lift, MaxLift, PerfectPrivacy, design
from discreet.designers.posteriors.own_values import best_channel
from discreet.notions import Notion
from discreet.proof.channels import ChannelProof
from discreet.utilities import Utility, utility_of

NOTIONS: list[Notion] = [LIP(0.3), LDP(0.6), MaxLift(eps_upper=0.2), L1Lift(eps_upper=0.2)]

#: Losses that mechanisms really have are told from limits by sums of a few floats.
ROUNDING = 1e-12


def proven(seed: int, notion: Notion, utility: str, invariant: bool) -> tuple[ChannelProof, float, float]:
    """A proof, its limit, and what the mechanism beside it loses."""
    joint = Joint.random(3, 6, seed=seed, concentration=0.7)
    wanted: Utility = utility_of(utility, invariant=invariant)
    found = design(joint, notion, utility=wanted)
    assert isinstance(found.proof, ChannelProof)
    lost = wanted.prior(joint) - wanted.value(joint, found.mechanism)
    return found.proof, found.proof.limit, lost


@pytest.mark.parametrize("invariant", [False, True])
@pytest.mark.parametrize("utility", ["accuracy", "distance"])
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_the_limit_is_evaluated_anew_and_is_tight(notion: Notion, utility: str, invariant: bool) -> None:
    proof, limit, lost = proven(1, notion, utility, invariant)
    assert proof.check() == limit
    assert limit <= lost + ROUNDING
    assert lost - limit <= 1e-9
    assert proof.to_dict() is None  # type: ignore[func-returns-value]


@settings(max_examples=150)
@given(
    seed=st.integers(0, 3),
    notion=st.sampled_from(NOTIONS),
    utility=st.sampled_from(["accuracy", "distance"]),
    invariant=st.booleans(),
    size=st.sampled_from([1e-9, 1e-3, 1.0, 1e6, 1e18]),
    noise=st.integers(0, 2**32 - 1),
    turned=st.booleans(),
)
def test_wrong_multipliers_prove_less_and_nothing_false(
    seed: int, notion: Notion, utility: str, invariant: bool, size: float, noise: int, turned: bool
) -> None:
    proof, _, lost = proven(seed, notion, utility, invariant)
    rng = np.random.default_rng(noise)

    def wrong(numbers: Any) -> Any:
        return (-numbers if turned else numbers) + size * rng.standard_normal(numbers.shape)

    changed = replace(
        proof,
        multipliers=wrong(proof.multipliers),
        prices=None if proof.prices is None else wrong(proof.prices),
    )
    assert changed.check() <= lost + ROUNDING


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_proves_nothing(number: float) -> None:
    proof, _, _ = proven(0, LIP(0.3), "accuracy", True)
    broken = proof.multipliers.copy()
    broken[0, 0] = number
    assert replace(proof, multipliers=broken).check() == -np.inf
    assert proof.prices is not None
    assert replace(proof, prices=np.full_like(proof.prices, number)).check() == -np.inf


def test_rows_that_are_equations_have_multipliers_of_both_signs() -> None:
    joint = Joint.from_counts([[4, 2, 2, 6], [2, 4, 6, 2]])
    found = design(joint, PerfectPrivacy(), utility="accuracy")
    assert found.status == "optimal"
    assert (found.proof.multipliers < 0).any()
    assert found.proof.check() == found.proof.limit


def test_a_limit_from_thin_air_is_seen() -> None:
    proof, limit, _ = proven(2, LIP(0.3), "distance", False)
    assert replace(proof, limit=limit + 0.01).check() == limit


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e9])
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_multipliers_of_the_wrong_sign_count_for_nothing(notion: Notion, size: float) -> None:
    """Taken as they are they would prove anything, since P_X itself lies strictly inside the rows."""
    for utility in ("accuracy", "distance"):
        proof, _, lost = proven(1, notion, utility, False)
        assert replace(proof, multipliers=np.full_like(proof.multipliers, -size)).check() <= lost + ROUNDING


def test_multipliers_that_forget_auxiliary_variables_prove_nothing_false() -> None:
    """Those of rows without them, which ask for perfect privacy, are paid for."""
    proof, _, lost = proven(1, L1Lift(eps_upper=0.2), "accuracy", False)
    own = replace(proof.polytope, rows=proof.polytope.own_rows.copy())
    stricter = best_channel(own, proof.losses, shares=None)
    assert stricter is not None
    assert stricter.proof.limit > lost + 0.01
    assert replace(proof, multipliers=stricter.proof.multipliers).check() <= lost + ROUNDING


def test_limits_of_kept_shares_hold_for_every_channel_that_keeps_them() -> None:
    joint = Joint.random(3, 5, seed=4)
    wanted = utility_of("accuracy", invariant=True)
    proof = design(joint, LIP(0.3), utility=wanted).proof
    independent = np.tile(joint.p_useful, (5, 1))
    rng = np.random.default_rng(0)
    for _ in range(50):
        prices = rng.normal(size=5)
        lost = 1 - (joint.p_useful * np.diag(independent)).sum()
        assert replace(proof, prices=prices).check() <= lost + ROUNDING
