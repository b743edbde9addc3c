"""Statements of Lopuhaä-Zwakenberg, Tong and Škorić (Int. J. Adv. Security 2020)."""

from __future__ import annotations

from hypothesis import given

from discreet import LDP, LIP, Joint, measures
from tests.strategies import budgets, joints


@given(joints(), budgets)
def test_lemma_1_1(joint: Joint, epsilon: float) -> None:
    """eps-LDP implies eps-LIP."""
    if LDP(epsilon).holds(joint):
        assert LIP(epsilon).holds(joint)


@given(joints(), budgets)
def test_lemma_1_2(joint: Joint, epsilon: float) -> None:
    """eps-LIP implies 2 eps-LDP, and I(S;Y) <= eps."""
    if LIP(epsilon).holds(joint):
        assert LDP(2 * epsilon).holds(joint)
        assert measures.mutual_information(joint) <= epsilon


@given(joints())
def test_lemma_1_at_the_achieved_level(joint: Joint) -> None:
    """The same at the level that the joint just reaches, where a wrong constant would show."""
    ratio = float(measures.lift_ratio(joint).max())
    largest, smallest = float(measures.max_lift(joint).max()), float(measures.min_lift(joint).min())
    rounding = 1 + 1e-12
    assert largest <= ratio * rounding
    assert smallest * ratio * rounding >= 1 or smallest == 0
    assert smallest == 0 or ratio <= max(largest, 1 / smallest) ** 2 * rounding
