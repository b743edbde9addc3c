"""``a & b``: both promises, decided, implied and designed for as one."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import discreet as dc
from discreet import Joint, Mechanism
from discreet.errors import InvalidNotionError, UnsupportedNotionError
from discreet.notions import AllOf, LargestLift, Notion, from_dict
from discreet.testing import awkward_joint, every_notion

PAIRS = list(itertools.combinations(every_notion(0.5), 2))


@pytest.fixture
def joint() -> Joint:
    return Joint.from_counts([[30, 15, 5, 8], [10, 15, 25, 9], [4, 12, 9, 20]], useful=list("abcd"))


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=str)
def test_both_hold_where_each_does(one: Notion, other: Notion) -> None:
    both = one & other
    for seed in range(30):
        joint = awkward_joint(seed)
        assert (both.allowed(joint) == (one.allowed(joint) & other.allowed(joint))).all()
        assert both.slack(joint) == min(one.slack(joint), other.slack(joint))
    assert both.is_polyhedral == (one.is_polyhedral and other.is_polyhedral)
    assert both.implies(one)
    assert both.implies(other)


def test_together_they_imply_more_than_each() -> None:
    one, other = dc.MaxLift(0.3), dc.ALIP(eps_lower=0.2)
    assert (one & other).implies(dc.LDP(0.5))
    assert not one.implies(dc.LDP(0.5))
    assert not other.implies(dc.LDP(0.5))
    assert dc.ALIP(eps_lower=0.2, eps_upper=0.3).implies(one & other)
    assert (one & dc.PerfectPrivacy()).implies(dc.PerfectPrivacy())


def test_of_equal_kinds_the_smallest_budget_counts() -> None:
    bounds = (dc.LIP(0.5) & dc.MaxLift(0.2) & dc.LIP(0.4)).bounds
    assert {bound.kind: bound.epsilon for bound in bounds}[LargestLift()] == 0.2
    assert sorted(bound.epsilon for bound in bounds) == [0.2, 0.4]


def test_it_is_a_small_value_that_can_be_stored() -> None:
    both = dc.LIP(0.5) & (dc.AlphaLift(2, eps_upper=0.3) & dc.PerfectPrivacy())
    assert isinstance(both, AllOf)
    assert len(both.parts) == 3
    again = from_dict(json.loads(json.dumps(both.to_dict())))
    assert again == both
    assert hash(again) == hash(both)
    assert str(both) == "LIP(0.5) & AlphaLift(alpha=2, eps_upper=0.3) & PerfectPrivacy()"
    for damaged in ({}, {"parts": []}, {"parts": None}, {"parts": [1]}, {"parts": [{"name": "lip"}]}, {"parts": {}}):
        with pytest.raises(InvalidNotionError):
            from_dict({"name": "all-of", **damaged})
    with pytest.raises(InvalidNotionError):
        from_dict({"name": "all-of", "parts": [dc.LIP(1).to_dict()], "epsilon": 1})


def test_conditional_notions_are_refused() -> None:
    for make in (lambda: dc.LIP(1) & dc.SRLIP(1), lambda: dc.SRLIP(1) & dc.LIP(1)):
        with pytest.raises(InvalidNotionError, match=r"SRLIP\(1\) speaks.* cannot be combined"):
            make()
    with pytest.raises(TypeError):
        dc.LIP(1) & 1  # type: ignore[operator]
    with pytest.raises(InvalidNotionError, match="one or more notions"):
        AllOf(())


@pytest.mark.parametrize(
    "notion",
    [
        dc.LIP(0.4) & dc.LDP(0.6),
        dc.MaxLift(0.3) & dc.L1Lift(eps_upper=0.2),
        dc.L1Lift(eps_upper=0.3) & dc.LDP(0.9),
        dc.LIP(0.4) & dc.Chi2Lift(eps_upper=0.2),
        dc.LIP(0.3) & dc.PerfectPrivacy(),
    ],
    ids=str,
)
def test_every_method_that_serves_it_keeps_it(notion: Notion, joint: Joint) -> None:
    for method in dc.methods(notion):
        design = dc.design(joint, notion, method)
        assert notion.holds(joint, design.mechanism), method
        if design.bound is not None:
            assert design.nmi <= design.bound + 1e-9


def test_the_optimum_under_both_is_at_most_that_under_each(joint: Joint) -> None:
    one, other = dc.LIP(0.4), dc.LDP(0.6)
    both, alone = dc.design(joint, one & other), [dc.design(joint, notion).nmi for notion in (one, other)]
    assert both.status == "optimal"
    assert both.nmi < min(alone)
    assert both.nmi >= dc.design(joint, dc.LIP(0.3)).nmi - 1e-7  # which implies both
    assert dc.design(joint, one & dc.LDP(5.0)).nmi == pytest.approx(alone[0], abs=1e-6)


def test_a_mixture_of_ranges_and_ratios_is_not_searched_with_s(joint: Joint) -> None:
    mixed = dc.LIP(0.4) & dc.LDP(0.6)
    assert "optimal-with-sensitive" not in dc.methods(mixed)
    assert "optimal-with-sensitive" in dc.methods(dc.MaxLift(0.4) & dc.ALIP(eps_lower=0.6))
    with pytest.raises(UnsupportedNotionError):
        dc.design(joint, mixed, "optimal-with-sensitive")


def test_bits_are_judged_by_ranges_and_ratios_together(joint: Joint) -> None:
    """The few sets that decide say the same as all sets."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        bits = dc.BitMechanism(joint.useful, 2**59, int(rng.integers(1, 2**59)))
        notion = dc.ALIP(eps_upper=float(rng.random())) & dc.LDP(float(rng.random()))
        assert notion.holds(joint, bits) == notion.holds(joint.through(bits))


def test_no_certificate_states_it(joint: Joint) -> None:
    both = dc.LIP(0.4) & dc.LDP(0.6)
    nothing = Mechanism.from_blocks(joint, np.zeros(joint.n_useful, dtype=int))
    with pytest.raises(UnsupportedNotionError, match="checker of certificates does not know"):
        dc.certify(nothing, joint, both)
    assert dc.certify(nothing, joint, dc.LIP(0.4)) is not None
