"""Sealing: float channels on the border of a notion become integer weights inside it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet import LDP, LIP, AlphaLift, Joint, MaxLift, PerfectPrivacy
from discreet._support.errors import BrokenNotionError
from discreet.designers import seal
from discreet.notions import Notion, exact
from discreet.testing import every_notion

DENOMINATOR = 2**60


def border(joint: Joint, channel: np.ndarray, notion: Notion) -> list[Notion]:
    """Notions of the same kind whose budgets are what the channel needs in floats, and one float less or more."""
    released = Joint.from_array(joint.probabilities @ channel)
    levels = notion.levels(released).max(axis=1)
    if not np.isfinite(levels).all() or (levels <= 1e-6).any():
        return []
    result = []
    for step in (-2, 0, 2):
        budgets = [float(level) + step * math.ulp(float(level)) for level in levels]
        if isinstance(notion, LIP | LDP | MaxLift):
            result.append(type(notion)(max(budgets)))
        elif len(budgets) == 2 and notion != PerfectPrivacy():
            rest = {"alpha": notion.alpha} if isinstance(notion, AlphaLift) else {}
            result.append(type(notion)(eps_upper=budgets[0], eps_lower=budgets[1], **rest))
    return result


@pytest.mark.parametrize("seed", range(25))
def test_border_channels_are_pulled_inside_by_a_hair(seed: int) -> None:
    rng = np.random.default_rng(seed)
    joint = Joint.random(3, 4, seed=seed)
    channel = rng.dirichlet(np.ones(3), size=4)
    tried = 0
    for kind in every_notion(1.0, alpha=2.5):
        for notion in border(joint, channel, kind):
            mechanism = seal(joint, notion, channel)
            assert exact.keeps(joint.masses @ mechanism.weights.astype(object), notion.bounds).all()
            # The pull is of the size of float rounding, nothing that utility could notice.
            assert np.abs(mechanism.channel - channel).max() < 1e-12
            tried += 1
    assert tried >= 10


def test_some_border_channels_do_need_the_pull() -> None:
    """Without pulling, rounding alone breaks the notion for some seeds: the test above is not vacuous."""
    from discreet import Mechanism

    broken = 0
    for seed in range(25):
        channel = np.random.default_rng(seed).dirichlet(np.ones(3), size=4)
        joint = Joint.random(3, 4, seed=seed)
        for kind in (LIP(1), LDP(1)):
            broken += sum(
                not notion.holds(joint, Mechanism.from_channel(channel)) for notion in border(joint, channel, kind)
            )
    assert broken > 10


def test_a_channel_inside_stays_as_it_is() -> None:
    joint = Joint.random(3, 4, seed=1)
    channel = 0.25 * np.eye(4) + 0.75 / 4
    mechanism = seal(joint, LIP(2), channel)
    assert (mechanism.channel == channel).all()


def test_a_channel_far_outside_is_refused() -> None:
    joint = Joint.from_counts([[9, 1], [1, 9]])
    with pytest.raises(BrokenNotionError, match="more than rounding"):
        seal(joint, LIP(0.1), np.eye(2))


@pytest.mark.parametrize("notion", [PerfectPrivacy(), LIP(0), MaxLift(0)], ids=str)
def test_nearly_perfect_is_not_perfect(notion: Notion) -> None:
    joint = Joint.from_counts([[3, 1], [1, 3]])
    nearly = [[0.5 + 1e-15, 0.5 - 1e-15], [0.5, 0.5]]
    with pytest.raises(BrokenNotionError, match="merges symbols"):
        seal(joint, notion, nearly)
    assert notion.holds(joint, seal(joint, notion, [[0.3, 0.7], [0.3, 0.7]]))
