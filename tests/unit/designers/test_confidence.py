"""Designs under promises with confidence: every method that serves them, their bounds and their refusals."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.measures import belief_limits

METHODS = ("watchdog", "subset-merging", "max-truth", "subset-response", "optimal", "auto")
NOTIONS = (
    dc.LIP(0.4, confidence=0.95),
    dc.ALIP(eps_lower=0.8, eps_upper=0.3, confidence=0.9),
    dc.MaxLift(0.3, confidence=0.99),
)


def joint_of(seed: int, n_sensitive: int = 3, n_useful: int = 7, most: int = 5000) -> dc.Joint:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, most, (n_sensitive, n_useful)) // rng.integers(1, 60, n_useful)
    counts[:, 0] += 1
    return dc.Joint.from_counts(counts)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_methods_keep_the_promise(seed: int, notion: dc.Notion, method: str) -> None:
    joint = joint_of(seed)
    found = dc.design(joint, notion, method)
    assert notion.holds(joint, found.mechanism)
    best = dc.design(joint, notion)
    assert found.nmi <= best.bound + 1e-9
    assert best.nmi >= dc.design(joint, notion, "subset-merging").nmi - 1e-12


def test_the_methods_that_serve_it() -> None:
    assert set(dc.methods(NOTIONS[0])) == set(METHODS)


@pytest.mark.parametrize("seed", range(5))
def test_proofs_can_be_checked(seed: int) -> None:
    found = dc.design(joint_of(seed), dc.LIP(0.3, confidence=0.9))
    assert found.status == "optimal"
    assert found.proof.check() >= found.proof.limit - 1e-12


def test_the_counted_table_is_covered_and_more_confidence_asks_more() -> None:
    joint = joint_of(1)
    kept = []
    for confidence in (0.5, 0.9, 0.999):
        notion = dc.LIP(0.4, confidence=confidence)
        found = dc.design(joint, notion)
        assert dc.LIP(0.4).holds(joint, found.mechanism)
        kept.append(found.nmi)
    assert kept[0] >= kept[1] >= kept[2]
    assert kept[0] <= dc.design(joint, dc.LIP(0.4)).nmi
    assert dc.LIP(0.4, confidence=0.9).implies(dc.LIP(0.4))
    assert dc.LIP(0.4, confidence=0.9).implies(dc.LIP(0.5, confidence=0.8))
    assert not dc.LIP(0.4).implies(dc.LIP(0.4, confidence=0.9))


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.01])
def test_something_is_allowed_under_every_budget(epsilon: float) -> None:
    joint = joint_of(2)
    notion = dc.LIP(epsilon, confidence=0.95)
    assert notion.holds(joint, dc.design(joint, notion, time_limit=5.0).mechanism)


def test_many_records_leave_nothing_open() -> None:
    joint = joint_of(3)
    many = dc.Joint.from_counts(joint.counts * 10**6)
    assert dc.design(many, dc.LIP(0.4, confidence=0.95)).nmi == pytest.approx(
        dc.design(joint, dc.LIP(0.4)).nmi, abs=2e-3
    )


def test_values_are_a_post_processing() -> None:
    """A drawn value keeps what the symbol that it stands for keeps."""
    joint, notion = joint_of(4), dc.LIP(0.3, confidence=0.95)
    mechanism = dc.design(joint, notion).mechanism
    assert notion.holds(joint, mechanism.in_values(joint))


def test_what_cannot_be_promised_with_confidence_is_refused() -> None:
    joint, notion = joint_of(5), dc.LIP(0.4, confidence=0.95)
    with pytest.raises(dc.errors.InputError, match="number of records"):
        dc.design(dc.Joint.random(2, 3), notion)
    with pytest.raises(dc.errors.InvalidNotionError, match=r"For 95 % use 0\.95"):
        dc.LIP(0.4, confidence=95)
    with pytest.raises(TypeError):
        dc.LDP(0.4, confidence=0.95)
    with pytest.raises(dc.errors.InvalidNotionError, match="combined"):
        notion & dc.LDP(1)
    with pytest.raises(dc.errors.InputError, match="one joint"):
        dc.design(joint, notion, also=[joint])
    with pytest.raises(dc.errors.UnsupportedNotionError, match="does not serve"):
        dc.design(joint, notion, "grr")
    reader = dc.design(joint, dc.LIP(0.4), "conditional-reporting").mechanism
    with pytest.raises(dc.errors.UnsupportedNotionError, match="read S"):
        notion.holds(joint, reader)


def test_stored_notions_come_back() -> None:
    for notion in NOTIONS:
        assert dc.notions.from_dict(notion.to_dict()) == notion
    assert "confidence" not in dc.LIP(0.4).to_dict()
    assert str(NOTIONS[0]) == "LIP(0.4, confidence=0.95)"


def test_limits_of_absent_values_are_open() -> None:
    limits = belief_limits(dc.Joint.from_counts([[5, 0, 3], [2, 0, 9]]), 0.9)
    assert limits.low[:, 1].tolist() == [0, 0]
    assert limits.high[:, 1].tolist() == [2**60, 2**60]
