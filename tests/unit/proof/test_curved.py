"""Cuts: every allowed posterior keeps them, and a proof that claims more than they give is not believed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import AlphaLift, Chi2Lift, Joint, L1Lift, Notion, design
from discreet.notions import Bound
from discreet.proof.boxes import Proof
from discreet.proof.curved import Curved, Cut
from discreet.proof.polytope import Polytope
from tests.strategies import budgets, joints, orders

#: Rows are scaled to a largest entry of one; their own rounding is added to this.
ROUNDING = 1e-12


def curved_notions(epsilon: float, alpha: float) -> list[Notion]:
    return [
        make(**sides)
        for make in (L1Lift, Chi2Lift, lambda **sides: AlphaLift(alpha, **sides))
        for sides in ({"eps_upper": epsilon}, {"eps_lower": epsilon}, {"eps_lower": epsilon, "eps_upper": epsilon})
    ]


def uncut(joint: Joint, notion: Notion, *also: Joint) -> Polytope:
    curved = Curved.of(joint, notion, also)
    assert curved is not None
    return Polytope.of(joint, notion, also, curved=curved)


def some_posteriors(rng: np.random.Generator, polytope: Polytope) -> np.ndarray:
    """Allowed ones: on the border, inside of it, and as far out as one symbol alone."""
    n = polytope.n_useful
    points = np.vstack([rng.dirichlet(np.full(n, 0.4), 12), np.eye(n)])
    pulled = polytope.pulled(points)
    return np.vstack([pulled, polytope.p_useful + rng.random((len(points), 1)) * (pulled - polytope.p_useful)])


@given(joints(max_size=4, min_useful=2), st.integers(0, 10_000), budgets, orders)
def test_every_allowed_posterior_keeps_every_cut(joint: Joint, seed: int, epsilon: float, alpha: float) -> None:
    """Whatever the lifts that a cut is made at."""
    rng = np.random.default_rng(seed)
    joint = joint.given(np.flatnonzero(joint.occurs))
    for notion in curved_notions(epsilon, alpha):
        polytope = uncut(joint, notion)
        curved, points = polytope.curved, some_posteriors(rng, polytope)
        assert curved is not None
        assert (curved.excess(points) <= 0).all()
        at = np.exp(rng.normal(0, 1, (6, joint.n_sensitive)))
        made = [Cut(0, k % len(curved.bounds), w) for k, w in enumerate(at)]
        cut = polytope.cut([*made, *curved.cuts(np.eye(joint.n_useful), joint.p_useful)])
        assert cut.cuts_are_valid()
        assert (points @ cut.rows.T <= cut.rounding + ROUNDING).all(), notion


@given(joints(max_size=4, min_useful=2), st.integers(0, 10_000), budgets)
def test_cuts_leave_out_what_they_are_made_for(joint: Joint, seed: int, epsilon: float) -> None:
    """Of a convex measure every posterior that is not allowed is cut off, by a row that the border touches."""
    joint = joint.given(np.flatnonzero(joint.occurs))
    for notion in (L1Lift(eps_upper=epsilon), Chi2Lift(eps_upper=epsilon), AlphaLift(2, eps_lower=epsilon)):
        polytope = uncut(joint, notion)
        curved, points = polytope.curved, np.random.default_rng(seed).dirichlet(np.full(joint.n_useful, 0.4), 8)
        assert curved is not None
        outside = points[curved.excess(points) > 1e-6]
        cut = polytope.cut(curved.cuts(outside, joint.p_useful))
        assert len(cut.cuts) == len(outside)
        if len(outside):
            assert (cut.exceeded(outside) > 0).all()
            border = polytope.pulled(outside)
            assert np.abs((border * cut.rows).sum(axis=1)).max() < 1e-6


def test_the_bound_that_is_met_first_is_cut_by() -> None:
    """Of two bounds the one that allows less on the way, so that both kinds of cuts come about."""
    joint = Joint.random(3, 5, seed=1)
    polytope = uncut(joint, AlphaLift(2, eps_lower=0.2, eps_upper=0.05))
    assert polytope.curved is not None
    points = np.random.default_rng(0).dirichlet(np.full(5, 0.3), 40)
    outside = points[polytope.curved.excess(points) > 1e-6]
    cut = polytope.cut(polytope.curved.cuts(outside, joint.p_useful))
    assert {made.bound for made in cut.cuts} == {0, 1}
    assert (np.diag(outside @ cut.rows.T) > 0).all()  # each by its own row


def test_under_several_joints_each_has_cuts() -> None:
    joint, other = Joint.random(3, 4, seed=1), Joint.random(3, 4, seed=2)
    polytope = uncut(joint, AlphaLift(2, eps_upper=0.05), other)
    assert polytope.curved is not None
    cut = polytope.cut(polytope.curved.cuts(np.eye(4), joint.p_useful))
    assert {made.view for made in cut.cuts} == {0, 1}
    assert cut.labels == ()  # no certificate is about two tables
    points = some_posteriors(np.random.default_rng(0), polytope)
    assert (points @ cut.rows.T <= cut.rounding + ROUNDING).all()
    seen = points * other.p_useful / joint.p_useful
    lifts = other.probabilities / other.p_useful @ (seen / seen.sum(axis=1, keepdims=True)).T
    mean = other.p_sensitive @ (lifts / other.p_sensitive[:, None]) ** 2
    assert (mean <= np.exp(2 * 0.05) + 1e-9).all()


@pytest.fixture(scope="module")
def proof() -> Proof:
    found = design(Joint.random(3, 5, seed=0), AlphaLift(2, eps_upper=0.1)).proof
    assert isinstance(found, Proof)
    assert found.polytope.cuts
    return found


def changed(proof: Proof, **fields: Any) -> Proof:
    return replace(proof, polytope=replace(proof.polytope, **fields))


def test_a_proof_is_checked_from_its_cuts(proof: Proof) -> None:
    assert proof.check() >= proof.limit


def moved(proof: Proof, change: Any) -> tuple[Cut, ...]:
    return tuple(cut._replace(at=change(cut.at)) for cut in proof.polytope.cuts)


@pytest.mark.parametrize(
    "forge",
    [
        lambda proof: changed(proof, rows=proof.polytope.rows + 1e-6),  # every right side a little tighter
        lambda proof: changed(proof, rows=np.where(proof.polytope.rows > 0, 1.01, 1.0) * proof.polytope.rows),
        lambda proof: changed(proof, rounding=0 * proof.polytope.rounding),
        lambda proof: changed(proof, equal=~proof.polytope.equal),
        lambda proof: changed(proof, cuts=moved(proof, lambda at: -at)),
        lambda proof: changed(proof, cuts=moved(proof, lambda at: 0 * at)),
        lambda proof: changed(proof, cuts=moved(proof, lambda at: at + np.inf)),
        lambda proof: changed(proof, cuts=moved(proof, lambda at: 1.01 * at)),
        lambda proof: changed(proof, curved=None),
        lambda proof: changed(proof, curved=replace(proof.polytope.curved, bounds=(wider(proof),))),
    ],
)
def test_forged_cuts_prove_nothing(proof: Proof, forge: Any) -> None:
    assert forge(proof).check() == -np.inf


def wider(proof: Proof) -> Bound:
    """The bound of a larger budget, whose cuts are weaker than the rows that the proof has."""
    curved = proof.polytope.curved
    assert curved is not None
    return replace(curved.bounds[0], epsilon=0.2)
