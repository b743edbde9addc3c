"""Subset random response: never below merging, and its repairs on joints with zero cells."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import ALIP, LIP, Joint, Mechanism, design
from discreet.designers.merging.subset_merging import partitions
from discreet.designers.merging.watchdog import watchdog
from tests.conftest import quick_first


def with_zeros(seed: int) -> Joint:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 50, (4, 9)) * (rng.random((4, 9)) < 0.7)
    if seed % 4 == 0:
        counts[0] = 0  # no union of other symbols can make up for a value that they all rule out
    counts[:, 0] = 40  # this symbol tells little, so there is something to absorb
    return Joint.from_counts(counts)


@pytest.mark.parametrize("seed", quick_first(range(40), 10))
def test_zero_cells_are_repaired(seed: int) -> None:
    joint = with_zeros(seed)
    for notion in (LIP(0.3), LIP(1.0), ALIP.split(1.0, 0.65)):
        response = design(joint, notion, "subset-response")
        assert notion.holds(joint, response.mechanism)
        assert response.nmi >= design(joint, notion, "subset-merging").nmi - 1e-12
        assert response.nmi <= design(joint, notion).bound + 1e-12


def test_both_repairs_occur() -> None:
    """Blocks unite, and low-risk symbols are absorbed where even all high-risk symbols together are not allowed."""
    united = absorbed = 0
    for seed in range(40):
        joint, notion = with_zeros(seed), LIP(1.0)
        low_risk = notion.allowed(joint)
        block_of = partitions([joint], [notion], unite_previous=True)[0]
        merged = [set(np.flatnonzero(block_of == block)) for block in np.unique(block_of[~low_risk])]
        absorbed += any(low_risk[list(block)].any() for block in merged)
        united += len(merged) == 1 and not low_risk[list(merged[0])].any()
    assert absorbed >= 5
    assert united >= 5


def test_without_time_it_merges() -> None:
    joint = Joint.random(4, 12, seed=1)
    hasty = design(joint, LIP(0.3), "subset-response", time_limit=1e-9)
    assert set(hasty.mechanism.weights.ravel().tolist()) == {0, 2**60}
    assert hasty.nmi >= design(joint, LIP(0.3), "subset-merging").nmi


def test_the_last_block_unites_with_the_one_before_it() -> None:
    """Where both orders end in different partitions, the previous block is the one that was taken in."""
    joint, notion = Joint.random(5, 17, seed=2), ALIP.split(2.0, 0.65)
    by_risk = partitions([joint], [notion])[0]
    previous = partitions([joint], [notion], unite_previous=True)[0]
    assert len(set(by_risk)) > 1
    assert any(by_risk != previous)
    assert notion.holds(joint, Mechanism.from_blocks(joint, previous))


def test_blocks_respond_inside_themselves() -> None:
    """No released symbol mixes two blocks."""
    joint, notion = Joint.random(5, 17, seed=2), ALIP.split(2.0, 0.65)
    block_of = partitions([joint], [notion], unite_previous=True)[0]
    mechanism = design(joint, notion, "subset-response").mechanism
    for column in mechanism.weights.T:
        assert len(set(block_of[column > 0])) == 1
    assert isinstance(watchdog(joint, notion), Mechanism)
