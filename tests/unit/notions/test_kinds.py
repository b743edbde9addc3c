"""What every kind of bound owes, whatever the notion it is used in."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import LDP, LIP, SRLIP, Joint, L1Lift, PerfectPrivacy
from discreet.measures import lift
from discreet.notions import (
    AlphaMean,
    BoundKind,
    Chi2Mean,
    InverseMean,
    L1Mean,
    LargestLift,
    LiftRatio,
    PosteriorRows,
    SmallestLift,
)
from discreet.notions.exact import Symbol
from discreet.notions.rows import stacked
from discreet.testing import awkward_joint

MEANS = [L1Mean(), Chi2Mean(), AlphaMean(1.5), AlphaMean(3)]
KINDS: list[BoundKind] = [LargestLift(), SmallestLift(), LiftRatio(), *MEANS, *(InverseMean(mean) for mean in MEANS)]

every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.title)


@every_kind
def test_limits_are_the_values_of_levels(kind: BoundKind) -> None:
    levels = np.array([0.0, 1e-6, 0.3, 2.0, 20.0])
    assert kind.level(kind.limit(levels)) == pytest.approx(levels, rel=1e-9, abs=1e-9)


@every_kind
def test_a_symbol_that_tells_nothing_needs_nothing(kind: BoundKind) -> None:
    assert kind.level(kind.value(np.ones((3, 1)), np.array([0.2, 0.3, 0.5])))[0] == pytest.approx(0, abs=1e-12)


@every_kind
def test_the_exact_test_agrees_with_the_value(kind: BoundKind) -> None:
    """Away from the border, where floats can be trusted."""
    for seed in range(60):
        joint = awkward_joint(seed)
        total = int(joint.masses.sum())
        levels = kind.level(kind.value(lift(joint), joint.p_sensitive))
        for y in range(joint.n_useful):
            cells = [(int(n), int(r)) for n, r in zip(joint.masses[:, y], joint.masses.sum(axis=1)) if r]
            symbol = Symbol(cells, sum(n for n, _ in cells), total)
            if symbol.mass == 0 or not levels[y] > 1e-6:
                continue
            assert not kind.keeps(symbol, Fraction(min(levels[y], 100.0)) * Fraction(999, 1000))
            if math.isfinite(levels[y]):
                assert kind.keeps(symbol, Fraction(levels[y]) * Fraction(1001, 1000))


@every_kind
def test_kinds_are_values(kind: BoundKind) -> None:
    assert sum(kind == other for other in KINDS) == 1
    assert len({kind, *KINDS}) == len(KINDS)
    with pytest.raises(AttributeError):
        kind.alpha = 3.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", KINDS[:3], ids=lambda kind: kind.title)
def test_kinds_on_lifts_are_what_they_compare(kind: BoundKind) -> None:
    """The value is the largest quotient of the two probabilities that are compared."""
    assert kind.is_on_lifts
    joint = Joint.random(3, 4)
    given = joint.probabilities / joint.p_sensitive[:, None]
    high, low = kind.compared(given, joint.p_useful)
    quotients = (high / low).reshape(-1, joint.n_useful)
    assert quotients.max(axis=0) == pytest.approx(kind.value(lift(joint), joint.p_sensitive))


def test_ranges_are_those_of_single_lifts() -> None:
    assert LargestLift().lift_range(0.5) == (0.0, math.exp(0.5))
    assert SmallestLift().lift_range(0.5) == (math.exp(-0.5), math.inf)
    assert LargestLift().lift_range(1e6) == (0.0, math.exp(700))
    for kind in KINDS[2:]:
        assert kind.lift_range(0.5) == (0.0, math.inf)


def test_rows_are_stacked_with_their_own_helpers() -> None:
    joint = Joint.random(2, 3)
    l1, range_, equal = L1Lift(eps_upper=0.5).rows(joint), LIP(0.5).rows(joint), PerfectPrivacy().rows(joint)
    both = stacked([l1, range_, l1])
    assert both.n_auxiliary == 4
    assert both.matrix.shape == (5 + 4 + 5, 3 + 4)
    assert (both.matrix[:5, :5] == l1.matrix).all()
    assert (both.matrix[5:9, :3] == range_.matrix).all()
    assert (both.matrix[9:, [0, 1, 2, 5, 6]] == l1.matrix).all()
    assert not both.matrix[:5, 5:].any()
    assert not both.matrix[5:9, 3:].any()
    assert not both.matrix[9:, 3:5].any()
    assert both.labels == ()
    named = stacked([equal, range_])
    assert named.labels == (*range_.labels, *equal.labels)
    assert (named.equal_matrix == equal.equal_matrix).all()
    assert (named.bound == range_.bound).all()


def test_rows_follow_from_the_bounds() -> None:
    joint = Joint.random(3, 4)
    assert isinstance(LDP(1).rows(joint), PosteriorRows)
    for notion in (LIP(1), LDP(1), SRLIP(1), L1Lift(eps_upper=1), PerfectPrivacy()):
        assert notion.is_polyhedral
    assert not L1Lift(eps_lower=1).is_polyhedral
