"""Propositions of Zarrabian, Ding and Sadeghi (Entropy 2023), in the form that holds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet import ALIP, LDP, Joint, Mechanism, measures
from tests.strategies import budgets, channels, joints, lams, orders

# Both sides of an inequality carry the rounding of some dozen float operations; the largest quantities here
# are of the size of a lift, at most 1e10.
SLACK = 1 + 1e-9
ABSOLUTE = 1e-12


def extremes(joint: Joint) -> tuple[float, float]:
    """Smallest and largest lift: the joint satisfies ALIP(-log m, log M) and nothing tighter."""
    return float(measures.min_lift(joint).min()), float(measures.max_lift(joint).max())


def below(value: float, bound: float) -> bool:
    return value <= bound * SLACK + ABSOLUTE


@given(joints())
def test_proposition_1_1(joint: Joint) -> None:
    """(eps_l, eps_u)-ALIP implies I(S;Y) <= eps_u."""
    assert below(measures.mutual_information(joint), math.log(extremes(joint)[1]))


@given(joints())
def test_proposition_1_2_corrected(joint: Joint) -> None:
    """With lifts in [m, M]: T(S;Y) <= (M-1)(1-m)/(M-m) and chi2(S;Y) <= (M-1)(1-m).

    As printed, T <= (M-1)/2 and chi2 <= (M-1)^2; those hold where M + m >= 2.
    """
    m, M = extremes(joint)
    assume(m < M)
    T, chi2 = measures.total_variation(joint), measures.chi2_divergence(joint)
    assert below(T, (M - 1) * (1 - m) / (M - m))
    assert below(chi2, (M - 1) * (1 - m))
    if M + m >= 2:
        assert below(T, (M - 1) / 2)
        assert below(chi2, (M - 1) ** 2)


@given(joints(), orders)
def test_proposition_1_3(joint: Joint, alpha: float) -> None:
    """(eps_l, eps_u)-ALIP implies that Sibson and Arimoto information are at most alpha/(alpha-1) eps_u."""
    bound = alpha / (alpha - 1) * math.log(extremes(joint)[1])
    assert below(measures.sibson_information(joint, alpha), bound)
    assert below(measures.arimoto_information(joint, alpha), bound)


@given(joints())
def test_proposition_1_3_at_infinity(joint: Joint) -> None:
    """Maximal leakage is Sibson information of infinite order, at most eps_u and at most realizable leakage."""
    leakage = measures.maximal_leakage(joint)
    assert leakage == measures.sibson_information(joint, math.inf)
    assert below(leakage, measures.realizable_leakage(joint))
    assert measures.realizable_leakage(joint) == pytest.approx(math.log(extremes(joint)[1]))


@given(joints(), budgets, budgets)
def test_proposition_1_4(joint: Joint, eps_lower: float, eps_upper: float) -> None:
    """(eps_l, eps_u)-ALIP implies (eps_l + eps_u)-LDP."""
    if ALIP(eps_lower=eps_lower, eps_upper=eps_upper).holds(joint):
        assert LDP(math.nextafter(eps_lower + eps_upper, math.inf)).holds(joint)


@given(joints(), budgets, lams)
def test_proposition_2_on_the_high_risk_sets(joint: Joint, epsilon: float, lam: float) -> None:
    """Symbols of high risk under eps-LDP are of high risk under (lam eps, (1-lam) eps)-ALIP."""
    high_ldp = ~LDP(epsilon).allowed(joint)
    high_alip = ~ALIP.split(epsilon, lam).allowed(joint)
    assert not (high_ldp & ~high_alip).any()


def test_the_printed_propositions_1_2_and_3_are_false() -> None:
    """S, Y uniform on three values, lift 1/2 on the diagonal and 5/4 off it."""
    joint = Joint.from_counts(5 - 3 * np.eye(3, dtype=int))
    m, M = extremes(joint)
    assert (m, M) == pytest.approx((0.5, 1.25))
    assert measures.l1_lift(joint) == pytest.approx([1 / 3] * 3)
    assert measures.l1_lift(joint).max() > M - 1  # 3.1 as printed
    assert measures.chi2_lift(joint) == pytest.approx([0.125] * 3)
    assert measures.chi2_lift(joint).max() > (M - 1) ** 2  # 3.2 as printed
    assert measures.total_variation(joint) > (M - 1) / 2  # 1.2 as printed
    assert measures.chi2_divergence(joint) > (M - 1) ** 2  # 1.2 as printed
    # The corrected bounds are attained.
    assert measures.l1_lift(joint).max() == pytest.approx(2 * (M - 1) * (1 - m) / (M - m))
    assert measures.chi2_lift(joint).max() == pytest.approx((M - 1) * (1 - m))


def test_the_printed_proposition_5_is_false() -> None:
    """S, Y uniform on three values, lift 7/5 on the diagonal and 4/5 off it, so that 1/M + 1/m < 2."""
    joint = Joint.from_counts(4 + 3 * np.eye(3, dtype=int))
    m, M = extremes(joint)
    assert (m, M) == pytest.approx((0.8, 1.4))
    assert 1 / M + 1 / m < 2
    assert measures.l1_lift_inverse(joint).max() > 1 / m - 1  # 5.1 as printed
    assert measures.chi2_lift_inverse(joint).max() > (1 / m - 1) ** 2  # 5.2 as printed


@given(joints(), orders)
def test_proposition_3_corrected(joint: Joint, alpha: float) -> None:
    """With lifts in [m, M]: l1_lift <= 2(M-1)(1-m)/(M-m), chi2_lift <= (M-1)(1-m), alpha_lift <= M.

    As printed, l1_lift <= M-1 and chi2_lift <= (M-1)^2; those hold where M + m >= 2.
    """
    m, M = extremes(joint)
    assume(m < M)
    l1, chi2 = float(measures.l1_lift(joint).max()), float(measures.chi2_lift(joint).max())
    assert below(l1, 2 * (M - 1) * (1 - m) / (M - m))
    assert below(chi2, (M - 1) * (1 - m))
    assert below(float(measures.alpha_lift(joint, alpha).max()), M)
    if M + m >= 2:
        assert below(l1, M - 1)
        assert below(chi2, (M - 1) ** 2)


@given(joints(), orders)
def test_proposition_4(joint: Joint, alpha: float) -> None:
    """Bounds on l1, chi2 and alpha lift bound the max-lift, through P(s) of the value where it is reached."""
    lifts = measures.lift(joint)
    s, y = np.unravel_index(lifts.argmax(), lifts.shape)
    p = joint.p_sensitive[s]
    worst = float(lifts[s, y])
    assert below(worst, float(measures.l1_lift(joint).max()) / p + 1)
    assert below(worst, math.sqrt(float(measures.chi2_lift(joint).max()) / p) + 1)
    assert below(worst, float(measures.alpha_lift(joint, alpha).max()) / p ** (1 / alpha))


@given(joints(zeros=False), orders)
def test_proposition_5_corrected(joint: Joint, alpha: float) -> None:
    """With lifts in [m, M]: the inverse l1 lift is at most max(1/m - 1, 1 - 1/M), chi2 at most its square.

    As printed, 1/m - 1 and its square alone; those hold where 1/M + 1/m >= 2. alpha_lift_inverse <= 1/m.
    """
    m, M = extremes(joint)
    l1, chi2 = float(measures.l1_lift_inverse(joint).max()), float(measures.chi2_lift_inverse(joint).max())
    bound = max(1 / m - 1, 1 - 1 / M)
    assert below(l1, bound)
    assert below(chi2, bound**2)
    assert below(float(measures.alpha_lift_inverse(joint, alpha).max()), 1 / m)
    if 1 / M + 1 / m >= 2:
        assert below(l1, 1 / m - 1)
        assert below(chi2, (1 / m - 1) ** 2)


@given(joints(zeros=False), orders)
def test_proposition_6(joint: Joint, alpha: float) -> None:
    """Bounds on the inverse l1, chi2 and alpha lift bound the min-lift, through P(s) where it is reached."""
    lifts = measures.lift(joint)
    s, y = np.unravel_index(lifts.argmin(), lifts.shape)
    p = joint.p_sensitive[s]
    worst = float(lifts[s, y])
    l1, chi2 = float(measures.l1_lift_inverse(joint).max()), float(measures.chi2_lift_inverse(joint).max())
    assert below(p / (l1 + p), worst)
    assert below(math.sqrt(p) / (math.sqrt(chi2) + math.sqrt(p)), worst)
    assert below(p ** (1 / alpha) / float(measures.alpha_lift_inverse(joint, alpha).max()), worst)


@given(joints(max_size=4), st.floats(0.05, 0.9), st.floats(0.05, 0.95))
def test_proposition_a1(joint: Joint, rho1: float, share: float) -> None:
    """Min-lift >= (1-rho2)/(1-rho1) and max-lift <= rho2/rho1 prevent breaches of every property of S."""
    rho2 = rho1 + share * (0.99 - rho1)
    assume(rho1 < rho2 < 1)
    notion = ALIP.against_breach(rho1, rho2)
    released = joint if notion.holds(joint) else joint.through(nearly_merged(joint, notion))
    assert notion.holds(released)
    before, after = released.p_sensitive, released.probabilities / np.maximum(released.p_useful, 1e-300)
    values = range(released.n_sensitive)
    for size in range(1, released.n_sensitive):
        for subset in itertools.combinations(values, size):
            q = list(subset)
            for y in np.flatnonzero(released.p_useful > 0):
                if before[q].sum() <= rho1:
                    assert below(after[q, y].sum(), rho2)
                if before[q].sum() >= rho2:
                    assert below(rho1, after[q, y].sum())


def nearly_merged(joint: Joint, notion: ALIP) -> Mechanism:
    """The most faithful "keep or draw" channel among a few that keeps the notion."""
    for keep in (0.5, 0.2, 0.05, 0.01, 0.0):
        channel = keep * np.eye(joint.n_useful) + (1 - keep) * joint.p_useful
        mechanism = Mechanism.from_channel(channel)
        if notion.holds(joint, mechanism):
            return mechanism
    raise AssertionError("an independent draw keeps every notion")


@given(joints(min_useful=2), st.data())
def test_theorem_1(joint: Joint, data: st.DataObject) -> None:
    """No randomisation of a set of symbols has a smaller worst lift ratio than merging the set."""
    merged = Mechanism.from_blocks(joint, np.zeros(joint.n_useful, dtype=int))
    other = data.draw(channels(joint.n_useful))
    best = float(measures.lift_ratio(joint.through(merged)).max())
    assert below(best, float(measures.lift_ratio(joint.through(other)).max()))


@given(joints(min_useful=3), st.data())
def test_definition_4_refining_a_partition_keeps_more(joint: Joint, data: st.DataObject) -> None:
    """A refinement of a partition never has less mutual information I(X;Y)."""
    fine = np.array([data.draw(st.integers(0, 3)) for _ in range(joint.n_useful)])
    coarse = fine // 2
    kept = [measures.useful_information(joint, Mechanism.from_blocks(joint, blocks)) for blocks in (coarse, fine)]
    assert below(kept[0], kept[1])


@given(joints(min_useful=2), st.data())
def test_merging_never_raises_the_extremes(joint: Joint, data: st.DataObject) -> None:
    """Post-processing only mixes posteriors: max-lift cannot rise, min-lift cannot fall."""
    mechanism = data.draw(channels(joint.n_useful))
    (m0, M0), (m1, M1) = extremes(joint), extremes(joint.through(mechanism))
    assert below(M1, M0)
    assert below(m0, m1)
