"""Cells of symbols: limits around them, mechanisms on their members, and searches that are good at any moment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet import ALIP, LDP, LIP, Joint, MaxLift, Notion, certify, design, measures
from discreet.certificate import checker
from discreet.designers.posteriors import problem as problems
from discreet.designers.posteriors.cells import Cells
from discreet.designers.posteriors.generation import Budget
from discreet.designers.posteriors.search import proven_around
from discreet.designers.posteriors.walking import Mixture, walked
from discreet.proof.polytope import Polytope
from discreet.utilities import Information

NOTIONS = [LIP(0.3), LIP(1), ALIP(eps_lower=0.4, eps_upper=0.8), LDP(0.9), MaxLift(0.5)]


def many(n_useful: int, seed: int = 0, n_sensitive: int = 3) -> Joint:
    """Every symbol with a belief of its own, and records enough."""
    return Joint.from_counts(np.random.default_rng(seed).integers(20, 2000, (n_sensitive, n_useful)))


def test_cells_are_as_many_as_asked_for_and_tell_nearly_the_same() -> None:
    polytope = Polytope.of(many(500), LIP(0.5))
    spread = []
    for number in (1, 10, 100):
        cells = Cells.of(polytope, number)
        assert sorted(set(cells.cell_of.tolist())) == list(range(number))
        spread.append(float(np.abs(cells.around.own_rows - cells.between(1.0).own_rows).mean()))
    assert spread == sorted(spread, reverse=True)
    alone = Cells.of(polytope, 10_000)
    assert alone.number == 500
    assert np.allclose(alone.around.own_rows[:, alone.cell_of], polytope.own_rows)


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_every_allowed_posterior_is_allowed_around_its_cells(notion: Notion) -> None:
    polytope = Polytope.of(many(60), notion)
    cells = Cells.of(polytope, 7)
    rng = np.random.default_rng(1)
    for _ in range(200):
        towards = rng.dirichlet(np.full(60, 0.05))
        far = max(share for share in np.linspace(0, 1, 51) if _allowed(polytope, _mixed(polytope, towards, share)))
        inside = np.bincount(cells.cell_of, _mixed(polytope, towards, far), minlength=cells.number)
        assert (cells.around.own_rows @ inside <= 1e-12).all()


def _mixed(polytope: Polytope, towards: np.ndarray, share: float) -> np.ndarray:
    return share * towards + (1 - share) * polytope.p_useful


def _allowed(polytope: Polytope, posterior: np.ndarray) -> bool:
    return bool((polytope.own_rows @ posterior <= 0).all())


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_a_limit_around_cells_is_one_for_symbols(notion: Notion) -> None:
    joint = many(30)
    best = design(joint, notion)
    assert best.status == "optimal"
    entropy = measures.entropy(joint)
    for number in (3, 8, 20):
        proof = proven_around(Polytope.of(joint, notion), Information(), number, 0, Budget(None), 1e8)
        assert proof.limit <= entropy - best.mutual_information + 1e-9
        assert proof.check() >= proof.limit


def test_the_checker_follows_a_proof_on_cells_and_refuses_cells_that_leave_symbols_out() -> None:
    joint = many(40)
    found = design(joint, LIP(0.4))
    proof = proven_around(Polytope.of(joint, LIP(0.4)), Information(), 12, 0, Budget(None), 1e8)
    entropy = measures.entropy(joint)
    stated = replace(found, proof=proof, bound=(entropy - proof.limit) / entropy + 1e-9)
    content = certify(stated).to_dict()
    assert content["proof"]["cells"] == proof.cell_of.tolist()
    assert all(passed for _, passed, _ in checker.check(content))
    limit = float(checker.proven_bound(content))
    assert limit == pytest.approx((entropy - proof.limit) / entropy, abs=1e-7)
    for wrong in (content["proof"]["cells"][:-1], [0, *content["proof"]["cells"]]):
        with pytest.raises(ValueError, match=r"zip|no least rows"):
            checker.proven_bound(content | {"proof": content["proof"] | {"cells": wrong}})
    # Cells that gather what tells different things prove less, never more.
    shuffled = np.random.default_rng(0).permutation(content["proof"]["cells"]).tolist()
    assert float(checker.proven_bound(content | {"proof": content["proof"] | {"cells": shuffled}})) >= found.nmi


@pytest.mark.parametrize("seed", range(4))
def test_what_walks_along_members_is_allowed_and_adds_up(seed: int) -> None:
    joint = many(400, seed)
    polytope = Polytope.of(joint, LIP(0.5))
    cells = Cells.of(polytope, 40)
    inner = cells.between(0.4)
    # Every pair of a cell with the whole, as far as it is allowed, is a column.
    rng = np.random.default_rng(seed)
    columns, places, masses = [], [], []
    for k, share in enumerate(rng.dirichlet(np.ones(30))):
        a, b = rng.choice(40, 2, replace=False)
        columns += [k, k]
        places += [a, b]
        masses += [share * 0.6, share * 0.4]
    mixture = Mixture(np.array(columns), np.array(places), np.array(masses))
    room = 0.8 * (polytope.own_rows @ polytope.p_useful)
    found = walked(mixture, cells.cell_of, polytope.p_useful, polytope.own_rows, room)
    given = np.bincount(found.symbol, found.mass, minlength=400)
    assert np.allclose(given + found.rest, polytope.p_useful, atol=1e-13)
    assert (found.rest >= 0).all()
    assert (polytope.own_rows @ found.rest <= room * found.rest.sum() + 1e-12).all()
    if len(found.released):
        cell = np.zeros((int(found.released.max()) + 1, 400))
        np.add.at(cell, (found.released, found.symbol), found.mass)
        assert (cell @ polytope.own_rows.T <= 1e-15).all()
    assert inner.p_useful.sum() == pytest.approx(1)


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_designs_on_cells_keep_the_notion_and_come_near_the_optimum(
    notion: Notion, monkeypatch: pytest.MonkeyPatch
) -> None:
    joint = many(150, n_sensitive=2)
    best = design(joint, notion)
    monkeypatch.setattr(problems, "MOST_SYMBOLS", 50)
    by_cells = design(joint, notion)
    assert notion.holds(joint, by_cells.mechanism)
    assert best.nmi - 0.03 <= by_cells.nmi <= best.bound + 1e-9
    assert by_cells.bound >= best.nmi - 1e-9
    assert by_cells.proof.cell_of is not None


def test_designs_on_cells_hold_under_other_joints_and_with_symbols_that_never_occur(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(problems, "MOST_SYMBOLS", 50)
    counts = np.random.default_rng(3).integers(20, 2000, (3, 120))
    counts[:, [5, 60]] = 0
    joint = Joint.from_counts(counts)
    other = Joint.from_counts(counts + np.random.default_rng(4).integers(0, 40, counts.shape))
    found = design(joint, LIP(0.6), also=[other], time_limit=5)
    assert LIP(0.6).holds(joint, found.mechanism)
    assert LIP(0.6).holds(other, found.mechanism)
    assert found.nmi > 0.5


def test_a_search_tells_what_it_had_when() -> None:
    joint = many(120)
    found = design(joint, LIP(0.4), time_limit=3)
    assert found.history
    seconds, kept, bounds = zip(*found.history)
    assert list(seconds) == sorted(seconds)
    assert list(kept) == sorted(kept)
    known = [bound for bound in bounds if bound is not None]
    assert known == sorted(known, reverse=True)
    assert kept[-1] == pytest.approx(found.nmi, abs=1e-6)
    assert known[-1] == pytest.approx(found.bound, abs=1e-5)
    assert 0 < found.search_seconds <= found.seconds
    assert design(joint, LIP(0.4), "watchdog").history == ()


def test_degenerate_beliefs_are_not_left_merged() -> None:
    """Symbols that settle S: most mixtures of columns do not average to P_X, and prices of a plain search jump."""
    rng = np.random.default_rng(5)
    counts = np.where(rng.random((6, 300)) < 0.7, 0, rng.integers(1, 60, (6, 300)))
    counts[rng.integers(0, 6, 300), np.arange(300)] += 5
    joint = Joint.from_counts(counts)
    for notion in (MaxLift(1), LIP(1)):
        merged, found = design(joint, notion, "subset-merging"), design(joint, notion, time_limit=8)
        assert found.nmi > merged.nmi + 0.02
        assert found.bound - found.nmi < 0.1


def test_more_time_is_never_worse_than_merging(monkeypatch: pytest.MonkeyPatch) -> None:
    joint = many(3000, n_sensitive=4)
    merged = design(joint, LIP(0.5), "subset-merging").nmi
    for limit in (0.05, 2):
        assert design(joint, LIP(0.5), time_limit=limit).nmi >= merged - 1e-12


def test_a_notion_that_binds_nothing_releases_everything_at_any_size() -> None:
    for size in (120, 2_100):
        joint = Joint.from_counts(np.random.default_rng(0).integers(1000, 2000, (2, size)))
        found = design(joint, LIP(8))
        assert found.nmi == pytest.approx(1)
        assert found.status == "optimal"
