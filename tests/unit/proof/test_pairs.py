"""Bands stand for rows of all pairs of sensitive values: same posteriors, same optimum, proofs by named pairs."""

# SPDX-License-Identifier: Apache-2.0
import copy

import numpy as np
import pytest

import discreet as dc
from discreet.certificate import checker
from discreet.designers.posteriors.simplex import Programmes
from discreet.notions import lift_kinds
from discreet.proof.boxes import Evaluator
from discreet.proof.pairs import every_pair
from discreet.proof.polytope import Polytope


@pytest.fixture
def always_banded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bands however few sensitive values there are."""
    monkeypatch.setattr(lift_kinds, "PAIRED_UP_TO", 1)


def both(joint: dc.Joint, notion: dc.Notion, monkeypatch: pytest.MonkeyPatch) -> tuple[Polytope, Polytope]:
    """A polytope by pairs and by bands."""
    made = []
    for most in (100, 1):
        monkeypatch.setattr(lift_kinds, "PAIRED_UP_TO", most)
        made.append(Polytope.of(joint, notion))
    return made[0], made[1]


def test_many_sensitive_values_have_two_rows_each() -> None:
    assert Polytope.of(dc.Joint.random(200, 5), dc.LDP(1)).rows.shape == (400, 6)
    assert Polytope.of(dc.Joint.random(10, 5), dc.LDP(1)).rows.shape[1] == 5


@pytest.mark.parametrize("seed", range(4))
def test_bands_allow_the_posteriors_that_pairs_allow(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, bands = both(dc.Joint.random(5, 6, seed=seed), dc.LDP(0.7), monkeypatch)
    points = np.random.default_rng(seed).dirichlet(np.full(6, 0.6), 400)
    points = np.vstack([points, (points + 4 * pairs.p_useful) / 5])
    allowed = pairs.exceeded(points) <= 0
    assert allowed.any()
    assert not allowed.all()
    assert np.array_equal(allowed, bands.exceeded(points) <= 0)
    assert np.array_equal(allowed, every_pair(bands).exceeded(points) <= 0)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_narrowed_is_allowed(seed: int, always_banded: None) -> None:
    polytope = Polytope.of(dc.Joint.random(5, 6, seed=seed), dc.LDP(0.7))
    points = np.random.default_rng(seed).dirichlet(np.full(6, 2.0), 400)
    inside = points[polytope.narrowed.exceeded(points) <= 0]
    assert len(inside)
    assert (polytope.exceeded(inside) <= 0).all()
    assert polytope.narrowed.exceeded(polytope.p_useful[None])[0] <= 0


@pytest.mark.parametrize("seed", range(4))
def test_programmes_over_bands_find_what_those_over_pairs_find(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, bands = both(dc.Joint.random(6, 8, seed=seed), dc.LDP(0.5), monkeypatch)
    costs = np.random.default_rng(seed).normal(size=(20, 8))
    first, second = (Programmes(polytope).minimise(costs) for polytope in (pairs, bands))
    assert second.is_solved.all()
    assert np.einsum("ij,ij->i", costs, second.points) == pytest.approx(np.einsum("ij,ij->i", costs, first.points))
    # Their multipliers prove as much, and leave t alone.
    balanced = Evaluator(bands).usable(second.multipliers)
    assert balanced @ bands.auxiliary == pytest.approx(0.0, abs=1e-12)
    unit = np.ones(costs.shape)
    least = Evaluator(bands).least(0 * unit, unit, balanced, costs)
    assert least == pytest.approx(np.einsum("ij,ij->i", costs, second.points), abs=1e-8)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_designs_by_bands_are_as_good_and_as_proven(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    joint = dc.Joint.random(8, 7, seed=3)
    found = []
    for most in (100, 1):
        monkeypatch.setattr(lift_kinds, "PAIRED_UP_TO", most)
        found.append(dc.design(joint, dc.LDP(epsilon)))
    assert found[1].status == "optimal"
    assert found[1].nmi == pytest.approx(found[0].nmi, abs=1e-6)
    proof = found[1].proof
    assert proof is not None
    assert proof.check() >= proof.limit
    assert not proof.polytope.bands
    assert {label[0] for label in proof.polytope.labels} == {"ratio"}


@pytest.mark.parametrize("is_after", [False, True])
def test_the_standalone_checker_follows_proofs_that_were_found_by_bands(is_after: bool, always_banded: None) -> None:
    counts = np.random.default_rng(1).integers(20, 60, (5, 6))
    joint = dc.Joint.from_counts(counts)
    after = {"after": [dc.Mechanism.from_blocks(joint, [0, 0, 0, 1, 1, 1])]} if is_after else {}
    found = dc.design(joint, dc.LDP(0.8), **after)
    assert found.bound is not None
    assert found.bound < 1
    content = dc.certify(found).to_dict()
    assert content["bound_evidence"] == "proof"
    assert checker.proven_bound(content) <= checker._number(content["bound"])
    weaker = copy.deepcopy(content)
    weaker["proof"]["rows"] = [["ratio", b, a, *rest] for _, a, b, *rest in weaker["proof"]["rows"]]
    assert checker.proven_bound(weaker) > checker._number(content["bound"])


def test_vertices_are_listed_under_bands_too(monkeypatch: pytest.MonkeyPatch) -> None:
    joint, kept = dc.Joint.random(4, 4, seed=2), []
    for most in (100, 1):
        monkeypatch.setattr(lift_kinds, "PAIRED_UP_TO", most)
        kept.append(dc.design(joint, dc.LDP(0.6), search="vertices").nmi)
    assert kept[1] == pytest.approx(kept[0], abs=1e-9)


def test_bands_of_several_joints_and_other_bounds_go_together(always_banded: None) -> None:
    joint, other = dc.Joint.random(4, 5, seed=0), dc.Joint.random(4, 5, seed=1)
    notion = dc.LDP(0.9) & dc.MaxLift(0.4)
    found = dc.design(joint, notion, also=[other])
    assert notion.holds(joint, found.mechanism)
    assert notion.holds(other, found.mechanism)
    assert found.proof is None or found.proof.check() >= found.proof.limit
    alone = dc.design(joint, notion)
    assert alone.status == "optimal"
    assert alone.nmi >= found.nmi - 1e-7
