"""Designs with room for other tables: margins, next tables, records held out."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.designers import share_of_next_tables


def population(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(15, 3.0)).reshape(3, 5)


def sample(joint: np.ndarray, records: int, seed: int) -> dc.Joint:
    return dc.Joint.from_counts(np.random.default_rng(seed).multinomial(records, joint.ravel()).reshape(joint.shape))


@pytest.mark.parametrize("notion", [dc.LIP(0.3), dc.MaxLift(0.3), dc.LDP(0.6)], ids=str)
def test_next_tables_pass_as_often_as_asked(notion: dc.Notion) -> None:
    """At 95 %, at least 90 % of 200 fresh samples pass, averaged over first tables; of nominal designs hardly any."""
    joint, later, nominal = population(), [], []
    months = [sample(joint, 20_000, seed) for seed in range(100, 300)]
    for first in range(4):
        table = sample(joint, 20_000, first)
        found, best = dc.design(table, notion, for_later=0.95), dc.design(table, notion)
        assert found.room is not None
        assert found.room.share >= 0.95
        assert 0 < found.nmi < best.nmi
        assert found.bound is None
        later.append(np.mean([notion.holds(month, found.mechanism) for month in months]))
        nominal.append(np.mean([notion.holds(month, best.mechanism) for month in months]))
    assert np.mean(later) >= 0.9
    assert np.mean(nominal) < 0.3


def test_the_simulated_share_is_that_of_real_next_tables() -> None:
    joint, notion = population(3), dc.LIP(0.3)
    table = sample(joint, 5_000, 1)
    mechanism = dc.design(table, notion, margin=0.05).mechanism
    real = np.mean([notion.holds(sample(joint, 5_000, seed), mechanism) for seed in range(2, 402)])
    assert share_of_next_tables(table, notion, mechanism) == pytest.approx(real, abs=0.2)


def test_more_chance_costs_more() -> None:
    table = sample(population(4), 10_000, 1)
    kept = [dc.design(table, dc.LIP(0.3), for_later=chance).nmi for chance in (0.5, 0.9, 0.99)]
    assert kept[0] >= kept[1] >= kept[2]


def test_a_margin_is_left() -> None:
    table = sample(population(5), 10_000, 1)
    found = dc.design(table, dc.ALIP(eps_lower=0.5, eps_upper=0.3), margin=0.1)
    assert found.notion == dc.ALIP(eps_lower=0.5, eps_upper=0.3)
    assert found.notion.slack(table, found.mechanism) >= 0.1 - 1e-9
    assert found.mechanism.notion == found.notion.to_dict()
    assert found.bound is None
    assert found.proof is None
    with pytest.raises(dc.errors.InvalidNotionError, match="leaves nothing"):
        dc.design(table, dc.LIP(0.2), margin=0.3)


def test_records_that_are_held_out_are_others() -> None:
    table = sample(population(6), 9_000, 1)
    found = dc.design(table, dc.LIP(0.4), holdout=1 / 3, for_later=0.9, seed=2)
    assert found.designed_on is not None
    assert found.designed_on.records == 6_000
    assert found.joint.records == 3_000
    assert (found.designed_on.counts + found.joint.counts == table.counts).all()
    assert dc.LIP(0.4).holds(found.joint, found.mechanism)
    certificate = dc.certify(found)
    assert certificate["designed_on"]["records"] == 6_000
    assert certificate["rows"]["input"] == 3_000
    verdict = dc.verify(certificate)
    assert verdict.level == "verified"
    assert "the records that it was designed on" in str(verdict.to_dict())
    lying = certificate.with_fields(designed_on={"records": 6_000, "log_max_lift": "9.900000", "log_min_lift": "-inf"})
    assert dc.verify(lying).level == "failed"


def test_a_design_that_fits_its_own_records_only_is_refused() -> None:
    table = sample(population(7), 2_000, 1)
    with pytest.raises(dc.errors.BrokenNotionError, match="held out"):
        dc.design(table, dc.LIP(0.2), holdout=0.5)
    with pytest.raises(dc.errors.InputError, match="every mechanism at once"):
        dc.design(table, dc.LIP(0.2, confidence=0.9), holdout=0.5)


def test_splits_are_random_and_repeatable() -> None:
    table = sample(population(8), 4_000, 1)
    first = [table.split(0.5, seed=seed)[1].counts.tolist() for seed in (0, 0, 1)]
    assert first[0] == first[1] != first[2]
    cells = np.array([table.split(0.25, seed=seed)[1].counts for seed in range(300)])
    assert cells.mean(axis=0) == pytest.approx(table.counts / 4, rel=0.05)


@pytest.mark.parametrize("share", [0, 1, -0.5, "half", True])
def test_a_part_is_a_part(share: object) -> None:
    with pytest.raises(dc.errors.InputError):
        sample(population(), 100, 0).split(share)
