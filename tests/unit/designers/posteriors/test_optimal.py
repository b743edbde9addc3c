"""The optimal random response: both searches agree, bounds are bounds, proofs can be checked and can fail."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from discreet import ALIP, LDP, LIP, Joint, L1Lift, MaxLift, PerfectPrivacy, design, measures
from discreet._support.errors import InputError
from discreet.notions import Notion, exact
from discreet.testing import awkward_joint
from tests.conftest import quick_first

# Both searches end in the same linear programme, up to the solver's tolerance of 1e-9 a row.
SAME = 1e-7

KINDS = [LIP, LDP, MaxLift, lambda e: ALIP.split(2 * e, 0.65)]


@pytest.mark.parametrize("seed", quick_first(range(200), 50))
def test_columns_equal_vertices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    joint = awkward_joint(seed, n_sensitive=int(rng.integers(2, 5)), n_useful=int(rng.integers(2, 7)))
    if measures.entropy(joint) < 1e-6:
        return  # all but one symbol vanish within the solver's tolerance
    for kind, epsilon in zip(KINDS, rng.permutation([0.05, 0.4, 1.0, 1.5])):
        notion = kind(epsilon)
        columns, vertices = design(joint, notion), design(joint, notion, search="vertices")
        assert columns.nmi == pytest.approx(vertices.nmi, abs=SAME), notion
        assert columns.bound >= vertices.nmi - 1e-12
        assert columns.status == "optimal"


@pytest.mark.parametrize("epsilon", [0.25, 1.0])
def test_columns_equal_vertices_at_17_by_5(epsilon: float) -> None:
    joint = Joint.random(5, 17, seed=3)
    columns = design(joint, ALIP.split(epsilon, 0.5))
    vertices = design(joint, ALIP.split(epsilon, 0.5), search="vertices")
    assert columns.status == "optimal"
    assert columns.nmi == pytest.approx(vertices.nmi, abs=SAME)


@pytest.mark.parametrize("seed", quick_first(range(60), 20))
def test_awkward_joints_keep_their_promises(seed: int) -> None:
    """No exception, no broken notion by integers, no bound below the value, never below subset merging."""
    joint = awkward_joint(seed)
    rng = np.random.default_rng([seed, 2])
    epsilon = float(rng.choice([1e-9, 1e-3, 0.1, 0.5, 1.0, 8.0]) * rng.uniform(0.5, 1))
    for notion in (*(kind(epsilon) for kind in KINDS), PerfectPrivacy(), L1Lift(eps_upper=epsilon)):
        result = design(joint, notion)
        released = joint.masses @ result.mechanism.weights.astype(object)
        assert exact.keeps(released, notion.bounds).all()
        assert result.nmi >= design(joint, notion, "subset-merging").nmi - 1e-12
        assert result.bound is None or result.bound >= result.nmi


@pytest.mark.parametrize("notion", [LIP(0.3), LDP(0.6), MaxLift(0.3), L1Lift(eps_upper=0.2)], ids=str)
def test_no_random_channel_beats_the_bound(notion: Notion) -> None:
    """Channels pulled inside the notion from random ones never keep more than the proven limit."""
    joint = Joint.random(3, 5, seed=11)
    bound = design(joint, notion).bound
    rng = np.random.default_rng(0)
    tried = 0
    for _ in range(300):
        channel = rng.dirichlet(np.full(5, 0.15), size=5)
        marginal = joint.p_useful @ channel
        for keep in (1.0, 0.7, 0.4, 0.2):
            mixed = keep * channel + (1 - keep) * marginal
            released = Joint.from_array(joint.probabilities @ mixed)
            if (notion.levels(released).max(axis=1) <= [b.epsilon for b in notion.bounds]).all():
                information = measures.mutual_information(Joint.from_array(joint.p_useful[:, None] * mixed))
                assert information / measures.entropy(joint) <= bound
                tried += 1
                break
    assert tried > 100


@pytest.mark.parametrize("seed", range(10))
def test_answers_agree_with_proposition_1_and_lemma_1(seed: int) -> None:
    """ALIP(lam e, (1 - lam) e) implies LDP(e), LDP(e) implies LIP(e), LIP(e) implies LDP(2e): so do the optima."""
    joint = Joint.random(2 + seed % 3, 6, seed=seed)
    ldp, lip, wide = (design(joint, notion) for notion in (LDP(0.5), LIP(0.5), LDP(1.0)))
    for lam in (0.35, 0.5, 0.65):
        split = design(joint, ALIP.split(0.5, lam))
        assert LDP(0.5).holds(joint, split.mechanism)
        assert split.nmi <= ldp.nmi + SAME
    assert LIP(0.5).holds(joint, ldp.mechanism)
    assert LDP(1.0).holds(joint, lip.mechanism)
    assert ldp.nmi <= lip.nmi + SAME
    assert lip.nmi <= wide.nmi + SAME


def test_proofs_are_checked_without_a_solver_and_can_fail() -> None:
    joint = Joint.random(4, 12, seed=2)
    proof = design(joint, LIP(0.4)).proof
    assert len(proof.splits) > 10
    assert proof.check() >= proof.limit - 1e-12
    nothing = dataclasses.replace(proof.multipliers, value=0 * proof.multipliers.value)
    weaker = dataclasses.replace(proof, multipliers=nothing)
    assert weaker.check() < proof.limit - 1e-6
    forged = dataclasses.replace(proof, largest=0.9 * proof.largest)
    assert forged.check() == -np.inf
    cheaper = dataclasses.replace(proof, prices=proof.prices + 0.1)
    assert cheaper.check() < proof.limit + 1e-9
    box, symbol, _ = proof.splits[0]
    outside = dataclasses.replace(proof, splits=((box, symbol, 2.0), *proof.splits[1:]))
    assert outside.check() == -np.inf


def test_a_bound_says_how_it_can_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    joint = Joint.random(3, 6, seed=2)
    assert design(joint, LIP(0.4)).evidence == "checkable"
    assert design(joint, LIP(0.4), search="vertices").evidence == "claimed, not checkable"
    assert design(joint, LIP(9), "watchdog").evidence == "whole"
    assert design(joint, LIP(0.4), "watchdog").evidence is None
    monkeypatch.setattr("discreet.designers.posteriors.problem.MOST_PROOF_NUMBERS", 10)
    large = design(joint, LIP(0.4))
    assert (large.evidence, large.proof, large.status) == ("claimed, not checkable", None, "optimal")


def test_a_time_limit_still_gives_a_mechanism_and_a_bound() -> None:
    joint = Joint.random(15, 150, seed=1)
    notion = ALIP.split(1.0, 0.5)
    result = design(joint, notion, time_limit=1.0)
    assert result.status.startswith("gap")
    assert result.nmi < result.bound < 1
    assert result.proof.check() >= result.proof.limit - 1e-12
    assert notion.holds(joint, result.mechanism)
    assert result.nmi >= design(joint, notion, "subset-merging").nmi


def test_the_same_seed_gives_the_same_mechanism() -> None:
    joint = Joint.random(4, 10, seed=5)
    first, second = (design(joint, LIP(0.5), seed=3) for _ in range(2))
    assert first.mechanism == second.mechanism
    assert first.bound == second.bound


def test_other_priors_are_kept_as_well() -> None:
    joint = Joint.random(4, 10, seed=0)
    others = [
        Joint.from_array(0.9 * joint.probabilities + 0.1 * Joint.random(4, 10, seed=s).probabilities) for s in (1, 2)
    ]
    notion = LIP(0.4)
    robust = design(joint, notion, also=others)
    for prior in (joint, *others):
        assert notion.holds(prior, robust.mechanism)
    alone = design(joint, notion)
    assert not all(notion.holds(prior, alone.mechanism) for prior in others)
    assert robust.nmi <= alone.nmi + SAME
    with pytest.raises(InputError, match="same useful values"):
        design(joint, notion, also=[Joint.random(4, 9)])


@pytest.mark.parametrize("notion", [PerfectPrivacy(), LIP(0), MaxLift(0), LDP(0)], ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_perfect_privacy_is_solved_in_integers(notion: Notion, seed: int) -> None:
    """Exactly private and proven optimal, where merging alone would keep less."""
    rng = np.random.default_rng(seed)
    joint = Joint.from_counts(rng.integers(1, 9, (2 + seed % 2, 6)))
    result = design(joint, notion)
    assert PerfectPrivacy().holds(joint, result.mechanism)
    assert result.status == "optimal"
    assert result.nmi > design(joint, notion, "subset-merging").nmi + 1e-3


def test_perfect_privacy_under_two_priors() -> None:
    rng = np.random.default_rng(1)
    joint, other = (Joint.from_counts(rng.integers(1, 9, (2, 7))) for _ in range(2))
    result = design(joint, PerfectPrivacy(), also=[other])
    assert all(PerfectPrivacy().holds(prior, result.mechanism) for prior in (joint, other))
    assert 0 < result.nmi <= design(joint, PerfectPrivacy()).nmi


def test_symbols_too_rare_for_the_solver_do_not_spoil_the_others() -> None:
    """A value seen once in ten billion records is released like the commonest; the rest stays optimal."""
    common = np.random.default_rng(3).integers(1, 10**9, (3, 6))
    counts = np.column_stack([common, [1, 0, 0]])
    joint = Joint.from_counts(counts)
    result = design(joint, LIP(0.4))
    without = design(Joint.from_counts(common), LIP(0.4))
    assert LIP(0.4).holds(joint, result.mechanism)
    assert result.nmi == pytest.approx(without.nmi, abs=1e-5)
    assert result.nmi <= result.bound


def test_labels_say_what_a_symbol_stands_for() -> None:
    joint = Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", "b", "c"])
    released = design(joint, LIP(0.3)).mechanism.released
    assert "b" in released
    assert any("%" in label and label.startswith(("a ", "c ")) for label in released)


@pytest.mark.long
def test_thousands_of_symbols_get_an_answer_and_a_limit() -> None:
    joint = Joint.random(3, 1500, seed=4)
    notion = ALIP.split(2.0, 0.5)
    greedy = design(joint, notion, "subset-merging")
    blocks = design(joint, notion, "subset-response")
    result = design(joint, notion, "optimal", time_limit=6)
    assert greedy.nmi < blocks.nmi <= result.bound < 1
    assert greedy.nmi < result.nmi <= result.bound
    assert design(joint, notion, "auto", time_limit=8).nmi >= blocks.nmi - 1e-9


def test_a_posterior_of_everything_has_a_name() -> None:
    from discreet.designers.posteriors.realise import released_labels

    joint = Joint.random(2, 3000, seed=0)
    points = np.vstack([joint.p_useful, np.eye(3000)[7], 0.5 * np.eye(3000)[8] + 0.5 * joint.p_useful])
    assert released_labels(joint, np.arange(3000), points) == ("anything", "7", "8 50 %")


def test_wrong_options_are_named() -> None:
    joint = Joint.random(2, 3)
    with pytest.raises(InputError, match="search must be"):
        design(joint, LIP(1), search="magic")
    with pytest.raises(InputError, match="time_limit"):
        design(joint, LIP(1), time_limit=0)
    with pytest.raises(InputError, match="search='columns'"):
        design(Joint.random(8, 60), LIP(1), search="vertices")
