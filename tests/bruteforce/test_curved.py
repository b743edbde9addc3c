"""Optima by cuts against the border of the allowed posteriors, walked around ray by ray."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import AlphaLift, Chi2Lift, Joint, L1Lift, Notion, design, measures
from tests.bruteforce import curved
from tests.conftest import quick_first

#: What mixtures of 1,500 border points miss of a curved border, as a share of H(X).
BETWEEN_RAYS = 1e-4

#: Rounding of a linear programme's value.
ROUNDING = 1e-7

CONVEX: list[Notion] = [
    AlphaLift(2, eps_upper=0.05),
    AlphaLift(10, eps_upper=0.2),
    AlphaLift(1.3, eps_upper=0.02),
    AlphaLift(2, eps_lower=0.1),
    AlphaLift(3, eps_lower=0.1, eps_upper=0.1),
    Chi2Lift(eps_upper=0.2),
    L1Lift(eps_upper=0.15),
]
NOT_CONVEX: list[Notion] = [
    L1Lift(eps_lower=0.2),
    L1Lift(eps_lower=0.3, eps_upper=0.2),
    Chi2Lift(eps_lower=0.3),
    Chi2Lift(eps_lower=0.3, eps_upper=0.25),
]


def compared(seed: int, notion: Notion) -> tuple[float, float, float]:
    """What is kept, the bound, and what border points keep, as shares of H(X)."""
    joint = Joint.random(2 + seed % 3, 3, seed=seed)
    known = curved.best_information(joint.probabilities, notion.to_dict()) / measures.entropy(joint)
    found = design(joint, notion)
    assert found.bound is not None
    return found.nmi, found.bound, known


@pytest.mark.parametrize("seed", quick_first(range(12), 4))
@pytest.mark.parametrize("notion", CONVEX, ids=str)
def test_convex_optima_are_found_and_proven(notion: Notion, seed: int) -> None:
    kept, bound, known = compared(seed, notion)
    assert known - ROUNDING <= kept <= known + BETWEEN_RAYS
    assert kept <= bound <= kept + ROUNDING


@pytest.mark.parametrize("seed", quick_first(range(12), 4))
@pytest.mark.parametrize("notion", NOT_CONVEX, ids=str)
def test_limits_hold_where_the_border_is_not_convex(notion: Notion, seed: int) -> None:
    kept, bound, known = compared(seed, notion)
    assert kept <= known + BETWEEN_RAYS  # nothing that is not allowed
    assert bound >= known - ROUNDING  # and no limit that something allowed exceeds


def test_what_is_left_open_is_little_on_average() -> None:
    gaps = {notion: [compared(seed, notion)[:2] for seed in range(4)] for notion in NOT_CONVEX}
    left = {notion: np.mean([bound - kept for kept, bound in pairs]) for notion, pairs in gaps.items()}
    assert max(left.values()) < 0.01
    assert max(gap for notion, gap in left.items() if isinstance(notion, Chi2Lift)) < 1e-5
