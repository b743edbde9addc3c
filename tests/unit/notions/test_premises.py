"""Notions on lifts that imply another, and that none of the same family much wider does."""

from __future__ import annotations

import pytest

from discreet import LIP, SRLIP, AlphaLift, Chi2Lift, L1Lift, MaxLift, Notion
from discreet.notions import premises
from discreet.testing import every_notion

WIDER = -1e-3  # relative; bisection ends at 1e-6


@pytest.mark.parametrize(
    "notion",
    [
        AlphaLift(2, eps_upper=0.5),
        AlphaLift(10, eps_lower=0.2, eps_upper=0.5),
        Chi2Lift(eps_upper=0.3),
        Chi2Lift(eps_lower=0.3),
        L1Lift(eps_lower=0.2, eps_upper=0.4),
        MaxLift(0.3) & Chi2Lift(eps_upper=0.2),
    ],
    ids=str,
)
def test_they_imply_it_and_are_the_widest(notion: Notion) -> None:
    found = premises(notion)
    assert len(found) >= 3
    for premise in found:
        assert premise.is_polyhedral
        assert premise.implies(notion)
        fields = {k: v for k, v in premise.to_dict().items() if k != "name" and v is not None}
        assert not type(premise)(**{name: value * (1 - WIDER) for name, value in fields.items()}).implies(notion)


def test_there_are_none_of_what_lifts_do_not_tell() -> None:
    assert premises(SRLIP(1)) == ()
    assert premises(LIP(0.5, confidence=0.95)) == ()


def test_every_notion_has_some() -> None:
    for notion in every_notion(0.5):
        if notion.name != "perfect":
            assert premises(notion), notion
