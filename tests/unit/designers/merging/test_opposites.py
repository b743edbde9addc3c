"""Blocks of nearly opposite symbols: always allowed, and about as good as greedy merging."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.designers.merging import opposites
from discreet.designers.merging.opposites import opposite_blocks
from discreet.proof.polytope import Polytope

NOTIONS = (dc.LIP(0.5), dc.LIP(0.05), dc.MaxLift(0.3), dc.LDP(0.4), dc.ALIP(eps_lower=0.2, eps_upper=0.6))


def joint_of(seed: int, n_sensitive: int, n_useful: int) -> dc.Joint:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_useful, 0.7))
    return dc.Joint.from_array(shares * rng.dirichlet(np.full(n_sensitive, 0.8), n_useful).T)


def blocks_of(joint: dc.Joint, notion: dc.Notion) -> np.ndarray:
    polytope = Polytope.of(joint, notion)
    return opposite_blocks(polytope.own_rows, polytope.p_useful)


@pytest.mark.parametrize("most", [0, 10**6])
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_every_block_is_allowed(seed: int, notion: dc.Notion, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether symbols look for their opposites or are paired across rows."""
    monkeypatch.setattr(opposites, "LOOKED_FOR_UP_TO", most)
    rng = np.random.default_rng(seed)
    joint = joint_of(seed, int(rng.integers(2, 7)), int(rng.integers(2, 300)))
    blocks = blocks_of(joint, notion)
    assert (blocks[blocks] == blocks).all()
    assert notion.holds(joint, dc.Mechanism.from_blocks(joint, blocks))


def test_what_is_allowed_stays_alone() -> None:
    joint = joint_of(3, 3, 200)
    notion = dc.LIP(0.9)
    blocks = blocks_of(joint, notion)
    members = np.bincount(blocks, minlength=joint.n_useful)
    alone = members[blocks] == 1
    assert (notion.allowed(joint)[alone]).all()
    assert alone[notion.allowed(joint)].mean() > 0.9  # but for a few that are absorbed


@pytest.mark.parametrize("n_useful", [500, 4000])
def test_it_keeps_nearly_as_much_as_greedy_merging(n_useful: int) -> None:
    joint = dc.Joint.from_counts(np.random.default_rng(1).integers(20, 2000, (5, n_useful)))
    notion = dc.LIP(0.5)
    merged = dc.Mechanism.from_blocks(joint, blocks_of(joint, notion))
    greedy = dc.design(joint, notion, "subset-merging").nmi
    assert dc.measures.nmi(joint, merged) > greedy - 0.01


def test_one_symbol_is_a_block() -> None:
    assert opposite_blocks(np.array([[-1.0]]), np.ones(1)).tolist() == [0]


@pytest.mark.parametrize("limit", [0.2, 1.0])
def test_short_limits_do_not_fall_back_to_one_block(limit: float) -> None:
    """A large alphabet keeps about as much as merging gives, however short the time."""
    joint = dc.Joint.from_counts(np.random.default_rng(2).integers(20, 2000, (4, 6000)))
    assert dc.design(joint, dc.LIP(0.5), time_limit=limit).nmi > 0.92
