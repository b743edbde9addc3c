"""Proofs at the prices of a relaxed mixture: never above the optimum, and better than the closed form."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np
import pytest

from discreet import LDP, LIP, SRLIP, Joint, certify, design, verify
from discreet.certificate.record import sealed
from discreet.designers.posteriors.generation import Budget, ColumnGeneration
from discreet.designers.posteriors.prover import prove
from discreet.designers.posteriors.search import explore
from discreet.notions import Notion
from discreet.proof.boxes import Proof, closed_form
from discreet.proof.polytope import Polytope
from discreet.utilities import Information

PROVER = "discreet.designers.posteriors.prover"

# Shares of H(X) that count as the same.
SAME = 1e-7

CASES = [(8, 10, LDP(0.4)), (4, 12, LIP(0.25)), (3, 8, SRLIP(0.5))]


def joint_of(n_sensitive: int, n_useful: int, notion: Notion, seed: int) -> Joint:
    cells = Joint.random(n_sensitive, n_useful, seed=seed).probabilities
    useful = [*np.ndindex(2, 2, n_useful // 4)] if isinstance(notion, SRLIP) else [*range(n_useful)]
    return Joint.from_array(cells, useful=useful)


def proven(joint: Joint, notion: Notion, work: float) -> Proof:
    """A proof for so much work."""
    polytope = Polytope.of(joint, notion)
    generation = ColumnGeneration(polytope, Information(), polytope.p_useful[None], np.ones(1), 0)
    explore(generation, Information(), Budget(None))
    return prove(generation, Information(), Budget(None), generation.pricing.work + work)


@pytest.fixture
def only_relaxed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prices of the true problem are not tried for long before those of relaxed mixtures."""
    monkeypatch.setattr("discreet.designers.posteriors.simplex.LONG_UP_TO", 0)
    for name, value in (("WINDOW", 0.0), ("SMALL", 0.0), ("SHRINKING", 1e-9)):
        monkeypatch.setattr(f"{PROVER}.{name}", value)


@pytest.mark.usefixtures("only_relaxed")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_sensitive", "n_useful", "notion"), CASES, ids=str)
def test_limits_hold_and_rise_with_the_work(n_sensitive: int, n_useful: int, notion: Notion, seed: int) -> None:
    joint = joint_of(n_sensitive, n_useful, notion, seed)
    prior = Information().prior(joint)
    optimum = prior * (1 - design(joint, notion, time_limit=60).nmi)  # the least cost
    reached = []
    for work in (0, 1e7, 3e7):
        proof = proven(joint, notion, work)
        assert proof.check() >= proof.limit - 1e-12
        assert proof.limit <= optimum + SAME * prior
        reached.append(proof.limit)
    assert reached[0] == closed_form(Information(), joint.p_useful, proof.largest)
    assert reached[0] < reached[1] - 0.2 * (optimum - reached[0])
    assert reached[1] <= reached[2]


@pytest.mark.usefixtures("only_relaxed")
@pytest.mark.parametrize(("n_sensitive", "n_useful", "notion"), CASES, ids=str)
def test_tampered_proofs_prove_less_or_nothing(n_sensitive: int, n_useful: int, notion: Notion) -> None:
    joint = joint_of(n_sensitive, n_useful, notion, seed=1)
    proof = proven(joint, notion, 1e7)
    assert proof.multipliers is not None
    kept = proof.multipliers
    without = dataclasses.replace(kept, value=0 * kept.value)
    assert dataclasses.replace(proof, multipliers=without).check() < proof.limit - 1e-6
    larger = dataclasses.replace(kept, value=1.5 * kept.value)
    assert dataclasses.replace(proof, multipliers=larger).check() < proof.limit - 1e-6
    shorter = dataclasses.replace(kept, starts=kept.starts[:-1])
    assert dataclasses.replace(proof, multipliers=shorter).check() == -np.inf
    assert dataclasses.replace(proof, splits=proof.splits[:-1]).check() == -np.inf


@pytest.mark.usefixtures("only_relaxed")
@pytest.mark.parametrize(("n_sensitive", "n_useful", "notion"), CASES, ids=str)
def test_the_standalone_checker_follows_such_proofs(n_sensitive: int, n_useful: int, notion: Notion) -> None:
    """And does not follow one with a box left out, with prices that promise more, or with a better bound."""
    cells = np.random.default_rng(3).integers(1, 60, (n_sensitive, n_useful))
    useful = joint_of(n_sensitive, n_useful, notion, 0).useful
    joint = Joint.from_counts(cells, useful=useful)
    proof = proven(joint, notion, 1e7)
    assert proof.splits
    data = certify(design(joint, notion, "max-truth"), proof=proof.to_dict()).to_dict()
    assert dict(bound_of(data)) == {"bound": True}
    for change in (a_box_less, higher_prices, better_bound):
        bad = copy.deepcopy(data)
        change(bad)
        assert dict(bound_of(sealed(bad))) == {"bound": False}


def bound_of(data: dict[str, Any]) -> list[tuple[str, bool | None]]:
    return [(f.subject, f.passed) for f in verify(data).findings if f.subject == "bound"]


def a_box_less(data: dict[str, Any]) -> None:
    data["proof"]["splits"].pop()


def higher_prices(data: dict[str, Any]) -> None:
    data["proof"]["prices"][0] += 0.5


def better_bound(data: dict[str, Any]) -> None:
    data["bound"] = f"{float(data['bound']) - 0.001:.6f}"


def test_a_proof_that_gets_nowhere_is_continued_by_a_relaxed_mixture(monkeypatch: pytest.MonkeyPatch) -> None:
    """As much work without it proves less, where a design is hard."""
    joint = Joint.random(12, 24, seed=0)
    with_it = proven(joint, LDP(0.3), 2e7)
    monkeypatch.setattr(f"{PROVER}.SMALL", np.inf)
    without = proven(joint, LDP(0.3), 2e7)
    assert with_it.limit > without.limit + 0.01
