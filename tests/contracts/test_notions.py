"""What every notion owes."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import ALIP, LDP, LIP, AlphaLift, Chi2Lift, Joint, L1Lift, MaxLift, Mechanism
from discreet._support.errors import InvalidNotionError, UnsupportedNotionError
from discreet.notions import Notion, exact, from_dict
from discreet.testing import awkward_joint, every_notion
from tests.strategies import budgets, channels, joints, lams, orders


@given(joints(), st.data(), budgets, lams, orders)
def test_slack_agrees_with_holds(joint: Joint, data: st.DataObject, eps: float, lam: float, alpha: float) -> None:
    mechanism = data.draw(channels(joint.n_useful))
    for notion in every_notion(eps, lam=lam, alpha=alpha):
        assert (notion.slack(joint, mechanism) >= 0) == notion.holds(joint, mechanism)
        assert notion.holds(joint, mechanism) == notion.holds(joint.through(mechanism))


@given(joints(), budgets, lams, orders)
def test_holds_is_allowed_at_every_symbol(joint: Joint, eps: float, lam: float, alpha: float) -> None:
    for notion in every_notion(eps, lam=lam, alpha=alpha):
        allowed = notion.allowed(joint)
        assert notion.holds(joint) == allowed.all()
        assert (allowed == exact.keeps(joint.masses, notion.bounds)).all()


@given(joints(), budgets)
def test_a_release_of_nothing_keeps_every_notion(joint: Joint, epsilon: float) -> None:
    merged = Mechanism.from_blocks(joint, np.zeros(joint.n_useful, dtype=int))
    for notion in [*every_notion(epsilon), *every_notion(0.0)]:
        assert notion.holds(joint, merged)
        assert notion.slack(joint, merged) >= 0


@pytest.mark.parametrize("notion", every_notion(0.7), ids=str)
def test_a_notion_is_a_small_immutable_value(notion: Notion) -> None:
    assert from_dict(notion.to_dict()) == notion
    assert hash(from_dict(notion.to_dict())) == hash(notion)
    assert type(notion).__name__ in str(notion)
    for field in dataclasses.fields(notion):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(notion, field.name, 1.0)


@given(joints(max_size=4), st.integers(0, 10_000), budgets, lams)
def test_linear_rows_describe_the_allowed_posteriors(joint: Joint, seed: int, eps: float, lam: float) -> None:
    """A random posterior satisfies the rows exactly where the notion allows a symbol with it."""
    rng = np.random.default_rng(seed)
    posterior = rng.dirichlet(np.full(joint.n_useful, 0.7))
    present = joint.p_useful > 0
    posterior = np.where(present, posterior, 0)
    posterior /= posterior.sum()
    if rng.random() < 0.5:  # close to P_X, where notions tend to hold
        posterior = 0.1 * posterior + 0.9 * joint.p_useful
    # A symbol with this posterior, released rarely enough to leave the rest a distribution.
    share = 0.5 * (joint.p_useful[present] / np.maximum(posterior[present], 1e-300)).min()
    channel = np.zeros((joint.n_useful, 2))
    channel[present, 0] = share * posterior[present] / joint.p_useful[present]
    channel[:, 1] = 1 - channel[:, 0]
    released = joint.through(Mechanism.from_channel(channel))
    for notion in every_notion(eps, lam=lam):
        if not notion.is_polyhedral:
            with pytest.raises(UnsupportedNotionError):
                notion.rows(joint)
            continue
        level = max(0.0, float((notion.levels(released)[:, 0] - [b.epsilon for b in notion.bounds]).max()))
        if abs((notion.levels(released)[:, 0] - [b.epsilon for b in notion.bounds]).max()) < 1e-6:
            continue  # too close to the border for rows in floats
        assert satisfied(notion, joint, posterior) == (level == 0.0), notion


def satisfied(notion: Notion, joint: Joint, posterior: np.ndarray) -> bool:
    rows = notion.rows(joint)
    auxiliary = np.abs(joint_lift(joint) @ posterior - 1)[: rows.n_auxiliary]
    point = np.concatenate([posterior, auxiliary])
    # Lifts may be as large as 1e9, and so is what rounding makes of them.
    rounding = 1e-9 * (1 + np.abs(rows.matrix) @ np.abs(point))
    equal_rounding = 1e-9 * (1 + np.abs(rows.equal_matrix) @ np.abs(point))
    return bool(
        (rows.matrix @ point <= rows.bound + rounding).all()
        and (np.abs(rows.equal_matrix @ point - rows.equal_bound) <= equal_rounding).all()
    )


def joint_lift(joint: Joint) -> np.ndarray:
    product = np.outer(joint.p_sensitive, joint.p_useful)
    return np.divide(joint.probabilities, product, out=np.ones_like(product), where=product > 0)


@pytest.mark.parametrize("value", [-0.1, math.inf, -math.inf, math.nan, "1", True])
@pytest.mark.parametrize(
    "make",
    [
        lambda e: LIP(e),
        lambda e: LDP(e),
        lambda e: MaxLift(e),
        lambda e: ALIP(eps_lower=e, eps_upper=1),
        lambda e: ALIP(eps_lower=1, eps_upper=e),
        lambda e: L1Lift(eps_upper=e),
        lambda e: Chi2Lift(eps_lower=e),
        lambda e: AlphaLift(2, eps_upper=e),
        lambda e: ALIP.split(e, 0.5),
    ],
)
def test_a_wrong_budget_is_refused(make, value) -> None:
    with pytest.raises(InvalidNotionError):
        make(value)


@pytest.mark.parametrize("alpha", [1, 0.5, -2, math.inf, math.nan, "2", True])
def test_a_wrong_order_is_refused(alpha) -> None:
    with pytest.raises(InvalidNotionError, match="alpha"):
        AlphaLift(alpha, eps_upper=1)


def test_a_notion_with_both_sides_open_is_refused() -> None:
    for kind in (ALIP, L1Lift, Chi2Lift):
        with pytest.raises(InvalidNotionError, match="promises nothing"):
            kind()
    with pytest.raises(InvalidNotionError, match="open"):
        ALIP(eps_lower=math.inf, eps_upper=1)


@pytest.mark.parametrize(("rho1", "rho2"), [(0, 0.5), (0.5, 0.5), (0.6, 0.5), (0.5, 1), (-1, 2)])
def test_breach_probabilities_are_checked(rho1: float, rho2: float) -> None:
    with pytest.raises(InvalidNotionError, match="rho"):
        ALIP.against_breach(rho1, rho2)


@pytest.mark.parametrize("seed", range(40))
def test_merge_risk_is_the_sum_of_the_bounded_measures(seed: int) -> None:
    joint = awkward_joint(seed)
    for notion in every_notion(0.5):
        expected = sum(bound.value(joint_lift(joint), joint.p_sensitive) for bound in notion.bounds)
        assert notion.merge_risk(joint) == pytest.approx(expected)
