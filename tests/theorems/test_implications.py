"""`implies` says only what is true, and as much as can be said."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import ALIP, LDP, LIP, AlphaLift, Chi2Lift, Joint, L1Lift, MaxLift, PerfectPrivacy, measures
from discreet.notions import AlphaMean, Bound, BoundKind, Chi2Mean, InverseMean, L1Mean
from discreet.notions.implication import ceiling
from discreet.testing import every_notion
from tests.conftest import quick_first
from tests.strategies import budgets, joints, lams, orders


@given(joints(), budgets, budgets, lams, lams, orders)
def test_what_is_implied_holds(joint: Joint, e1: float, e2: float, lam1: float, lam2: float, alpha: float) -> None:
    for stronger in every_notion(e1, lam=lam1, alpha=alpha):
        if not stronger.holds(joint):
            continue
        for weaker in every_notion(e2, lam=lam2, alpha=2.0):
            if stronger.implies(weaker):
                assert weaker.holds(joint), (stronger, weaker)


@given(budgets, lams, orders)
def test_implication_is_reflexive_and_perfect_privacy_implies_all(epsilon: float, lam: float, alpha: float) -> None:
    for notion in every_notion(epsilon, lam=lam, alpha=alpha):
        assert notion.implies(notion)
        assert PerfectPrivacy().implies(notion)
        assert notion.implies(PerfectPrivacy()) == (notion == PerfectPrivacy())


def two_lifts(low: float, high: float) -> np.ndarray:
    """Prior and lifts of the two-valued symbol with these lifts; the mean lift is 1."""
    p = (1 - low) / (high - low)
    return np.array([p, 1 - p]), np.array([high, low])


@pytest.mark.parametrize(("eps_lower", "eps_upper"), quick_first([(0.2, 1.5), (2.0, 0.3), (1.0, 1.0), (0.05, 3.0)], 2))
@pytest.mark.parametrize(
    "kind",
    [
        L1Mean(),
        Chi2Mean(),
        AlphaMean(3.0),
        InverseMean(L1Mean()),
        InverseMean(Chi2Mean()),
        InverseMean(AlphaMean(1.5)),
    ],
    ids=lambda kind: kind.title,
)
def test_ceilings_are_attained(eps_lower: float, eps_upper: float, kind: BoundKind) -> None:
    """The largest level over two-valued symbols with lifts in [m, M] equals the ceiling, up to the grid."""
    target = Bound(kind, 0.0)
    m, M = math.exp(-eps_lower), math.exp(eps_upper)
    best = 0.0
    for low in np.linspace(m, 0.999, 60):
        for high in np.concatenate([[M], np.linspace(1.001, M, 400)]):
            prior, lifts = two_lifts(low, high)
            best = max(best, float(target.level(target.value(lifts[:, None], prior))[0]))
    proven = float(ceiling(ALIP(eps_lower=eps_lower, eps_upper=eps_upper).bounds, target))
    assert best <= proven + 1e-12  # the left side is computed in floats
    assert best == pytest.approx(proven, rel=2e-3)


@given(st.integers(2, 5), st.integers(0, 10_000), budgets, budgets)
def test_ceilings_bound_symbols_of_many_values(n: int, seed: int, eps_lower: float, eps_upper: float) -> None:
    rng = np.random.default_rng(seed)
    m, M = math.exp(-eps_lower), math.exp(eps_upper)
    # Lifts on both sides of one, half of them at the ends, and a prior under which their mean is one.
    lifts = np.concatenate([rng.choice([m, rng.uniform(m, 1)], n), rng.choice([M, rng.uniform(1, M)], n)])
    weight = rng.random(2 * n)
    below, above = weight[:n] @ (1 - lifts[:n]), weight[n:] @ (lifts[n:] - 1)
    prior = np.concatenate([weight[:n] * above, weight[n:] * below])
    prior /= prior.sum()
    assert prior @ lifts == pytest.approx(1)
    given_bounds = ALIP(eps_lower=eps_lower, eps_upper=eps_upper).bounds
    for notion in every_notion(1.0):
        for bound in notion.bounds:
            level = float(bound.level(bound.value(lifts[:, None], prior))[0])
            assert level <= float(ceiling(given_bounds, bound)) + 1e-9


EXTREME = [
    (1e-17, 10.0),
    (1.0, 1000.0),
    (1.0772622411e-05, 11.784777434491135),
    (400.0, 400.0),
    (1e-9, 1e-9),
    (3.0, 1e-12),
]


@pytest.mark.parametrize(("eps_lower", "eps_upper"), EXTREME)
@pytest.mark.parametrize(
    "kind",
    [L1Mean(), Chi2Mean(), AlphaMean(20.0), InverseMean(L1Mean()), InverseMean(Chi2Mean())],
    ids=lambda kind: kind.title,
)
def test_ceilings_hold_at_extreme_budgets(eps_lower: float, eps_upper: float, kind: BoundKind) -> None:
    """Two-valued symbols at the ends of the range, in 200 digits, against the ceiling."""
    proven = ceiling(ALIP(eps_lower=eps_lower, eps_upper=eps_upper).bounds, Bound(kind, 0.0))
    with mpmath.workdps(200):
        m, M = mpmath.exp(-mpmath.mpf(eps_lower)), mpmath.exp(mpmath.mpf(eps_upper))
        for share in (1, 0.5, 0.1, 0.01):
            b = 1 + (M - 1) * share
            p = (1 - m) / (b - m)
            f = {
                L1Mean(): lambda x: abs(x - 1),
                Chi2Mean(): lambda x: (x - 1) ** 2,
                AlphaMean(20.0): lambda x: x**20,
                InverseMean(L1Mean()): lambda x: abs(1 / x - 1),
                InverseMean(Chi2Mean()): lambda x: (1 / x - 1) ** 2,
            }[kind]
            mean = p * f(b) + (1 - p) * f(m)
            level = {
                L1Mean(): lambda v: mpmath.log(1 + v),
                Chi2Mean(): lambda v: mpmath.log(1 + mpmath.sqrt(v)),
                AlphaMean(20.0): lambda v: mpmath.log(v) / 20,
            }[getattr(kind, "of", kind)](mean)
            assert level <= mpmath.mpf(str(proven))


def test_extreme_budgets_claim_nothing_false_and_raise_nothing() -> None:
    assert not ALIP(eps_lower=1e-17, eps_upper=10).implies(AlphaLift(20, eps_upper=0.001))
    assert not ALIP(eps_lower=1e-17, eps_upper=10).implies(Chi2Lift(eps_upper=1e-9))
    assert not ALIP(eps_lower=1, eps_upper=1000).implies(AlphaLift(1.005, eps_upper=4))
    assert not ALIP(eps_lower=1, eps_upper=400).implies(Chi2Lift(eps_upper=1))
    assert not AlphaLift(2, eps_upper=400).implies(Chi2Lift(eps_upper=1))
    assert not LIP(400).implies(Chi2Lift(eps_lower=1))
    assert not LIP(1e300).implies(L1Lift(eps_lower=1e299))
    assert LIP(1e300).implies(LDP(2e300))


def test_open_sides_bound_what_they_can() -> None:
    assert MaxLift(0.5).implies(L1Lift(eps_upper=math.log(1 + 2 * (1 - math.exp(-0.5))) + 1e-9))
    assert not MaxLift(0.5).implies(L1Lift(eps_lower=9))
    assert ALIP(eps_lower=0.5).implies(L1Lift(eps_upper=math.log(3 - 2 * math.exp(-0.5)) + 1e-9))
    assert not ALIP(eps_lower=0.5).implies(Chi2Lift(eps_upper=50))
    assert not L1Lift(eps_upper=0.1).implies(MaxLift(5))
    assert AlphaLift(2, eps_upper=0.3).implies(Chi2Lift(eps_upper=math.log1p(math.sqrt(math.expm1(0.6))) + 1e-9))


def test_the_printed_bounds_are_not_implied() -> None:
    """The counterexample: lifts 1/2 and 5/4 satisfy ALIP(log 2, log 5/4), but not the printed l1 bound."""
    premise = ALIP(eps_lower=math.log(2) + 1e-9, eps_upper=math.log(1.25) + 1e-9)
    joint = Joint.from_counts(5 - 3 * np.eye(3, dtype=int))
    printed = L1Lift(eps_upper=math.log(1.25) + 1e-9)
    assert premise.holds(joint)
    assert not printed.holds(joint)
    assert not premise.implies(printed)
    assert LIP(1).implies(L1Lift(eps_upper=1))  # el <= eu: the printed form holds
    assert float(measures.l1_lift(joint)[0]) == pytest.approx(1 / 3)


def test_split_budgets_always_give_ldp() -> None:
    rng = np.random.default_rng(0)
    for epsilon, lam in rng.random((500, 2)):
        assert ALIP.split(5 * epsilon, lam).implies(LDP(5 * epsilon))
