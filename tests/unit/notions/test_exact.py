"""Exact decisions at the border, where floats would guess."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet import ALIP, LDP, LIP, AlphaLift, Chi2Lift, Joint, L1Lift, MaxLift, PerfectPrivacy
from discreet._support.numeric import exact_integers
from discreet.notions import exact
from discreet.testing import every_notion


@pytest.mark.parametrize("epsilon", [1e-300, 1e-17, 1e-9, 0.1, 0.5, 1.0, 7.5, 40.0, 709.0])
@pytest.mark.parametrize("bits", [64, 128, 1024])
def test_exponentials_are_enclosed(epsilon: float, bits: int) -> None:
    low, high = exact.exp_bounds(Fraction(epsilon), bits)
    with mpmath.workdps(bits + 700):
        value = mpmath.exp(mpmath.mpf(epsilon))
        assert mpmath.mpf(low.numerator) / low.denominator < value < mpmath.mpf(high.numerator) / high.denominator
        assert (high - low) / low < Fraction(1, 2**bits)


@pytest.mark.parametrize("digits", [20, 40])
def test_logarithms_and_quotients_are_enclosed(digits: int) -> None:
    """One step outwards at each side: a correctly rounded logarithm alone is on the wrong side half of the time."""
    rng = np.random.default_rng(digits)
    for numerator, denominator in rng.integers(1, 10**9, (200, 2)).tolist():
        value = Fraction(numerator, denominator)
        low, high = exact._decimal_log(value, digits)
        below, above = exact._quotient(value, digits)
        assert Fraction(below) <= value <= Fraction(above)
        with mpmath.workdps(3 * digits):
            true = mpmath.log(mpmath.mpf(numerator) / denominator)
            assert mpmath.mpf(str(low)) <= true <= mpmath.mpf(str(high))
            assert mpmath.mpf(str(high)) - mpmath.mpf(str(low)) <= (1 + abs(true)) * mpmath.mpf(10) ** (2 - digits)


def rational_near_exp(epsilon: float, digits: int, *, above: bool) -> Fraction:
    """A fraction within 10**-digits of exp(epsilon), on the chosen side."""
    with mpmath.workdps(digits + 40):
        scaled = mpmath.exp(mpmath.mpf(epsilon)) * mpmath.mpf(10) ** digits
        return Fraction(int(mpmath.ceil(scaled) if above else mpmath.floor(scaled)), 10**digits)


def joint_with_lift(largest: Fraction) -> Joint:
    """A symbol whose max-lift is exactly this: s has probability p, and y = 0 has lift ``largest`` at s."""
    p_s, p_y = Fraction(1, 8), Fraction(1, 16)
    both = largest * p_s * p_y
    cells = [[both, p_s - both], [p_y - both, 1 - p_s - p_y + both]]
    scale = math.lcm(*(cell.denominator for row in cells for cell in row))
    return Joint.from_counts(np.array([[int(cell * scale) for cell in row] for row in cells], dtype=object))


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 1.7])
@pytest.mark.parametrize("digits", [12, 20, 60, 200])
def test_a_lift_a_hair_above_is_broken_and_a_hair_below_holds(epsilon: float, digits: int) -> None:
    below = joint_with_lift(rational_near_exp(epsilon, digits, above=False))
    above = joint_with_lift(rational_near_exp(epsilon, digits, above=True))
    notion = MaxLift(epsilon)
    assert notion.allowed(below)[0]
    assert not notion.allowed(above)[0]
    assert notion.slack(above) < 0


@pytest.mark.parametrize("epsilon", [0.3, 1.1])
def test_averages_are_decided_at_the_border(epsilon: float) -> None:
    """Two-valued symbols whose l1, chi-square and alpha lift are within 1e-40 of their limit, on both sides."""
    for above in (False, True):
        factor = rational_near_exp(epsilon, 40, above=above)
        # Lifts 1 + d and 1 - d with equal priors: l1 is d, chi2 is d^2.
        if factor - 1 < 1:
            joint = symmetric(factor - 1)
            assert L1Lift(eps_upper=epsilon).allowed(joint)[0] == (not above)
            assert Chi2Lift(eps_upper=epsilon).allowed(joint)[0] == (not above)
        # alpha_lift of order 2 is sqrt(1 + d^2); the limit is reached at d^2 = e^(2 eps) - 1.
        square = rational_near_exp(2 * epsilon, 40, above=above) - 1
        d = Fraction(math.isqrt(int(square * 10**80)) + (1 if above else 0), 10**40)
        if d < 1:
            joint = symmetric(d)
            assert AlphaLift(2, eps_upper=epsilon).allowed(joint)[0] == (not above)


def symmetric(distance: Fraction) -> Joint:
    n = distance.denominator
    plus, minus = int((1 + distance) * n), int((1 - distance) * n)
    return Joint.from_counts(np.array([[plus, minus], [minus, plus]], dtype=object))


def test_floats_near_the_border_do_not_decide() -> None:
    """exp of the float nearest to log 2 is below 2, so a lift of exactly 2 breaks that budget."""
    joint = Joint.from_counts([[2, 0], [0, 2]])
    assert measures_max(joint) == 2.0
    assert not MaxLift(math.log(2)).holds(joint)
    assert MaxLift(math.nextafter(math.log(2), 1)).holds(joint)


def measures_max(joint: Joint) -> float:
    from discreet import measures

    return float(measures.max_lift(joint).max())


def test_a_zero_budget_is_an_equation_of_integers() -> None:
    independent = Joint.from_counts([[10**30, 2 * 10**30], [3 * 10**30, 6 * 10**30]])
    off_by_one = Joint.from_counts([[10**30, 2 * 10**30], [3 * 10**30, 6 * 10**30 + 1]])
    for notion in (PerfectPrivacy(), *every_notion(0.0)):
        assert notion.holds(independent), notion
        if notion.bounds:
            assert not notion.holds(off_by_one), notion


def test_tiny_budgets_terminate() -> None:
    joint = Joint.from_counts([[10**20, 10**20 + 1], [10**20, 10**20]])
    for epsilon in (5e-324, 1e-300, 1e-50, 1e-30, 1e-21, 1e-19):
        # The lifts are 2.5e-21 away from 1; the power mean feels the square of that.
        for notion in (LIP(epsilon), LDP(epsilon), L1Lift(eps_upper=epsilon)):
            assert notion.holds(joint) == (epsilon > 1e-20), notion
        assert AlphaLift(1.5, eps_upper=epsilon).holds(joint) == (epsilon > 1e-40)


def test_huge_budgets_terminate() -> None:
    joint = Joint.from_counts([[1, 10**40], [10**40, 1]])
    for notion in (LIP(1e300), LDP(1e6), ALIP(eps_lower=1e6, eps_upper=1e6), AlphaLift(50, eps_lower=200)):
        assert notion.holds(joint), notion
        assert exact.keeps(joint.masses, notion.bounds).all()


def test_cells_too_small_for_floats_are_decided_in_integers() -> None:
    tiny = 10**400
    joint = Joint.from_counts(np.array([[tiny, tiny], [1, 1]], dtype=object))
    assert not joint.floats_suffice
    assert PerfectPrivacy().holds(joint)
    skewed = Joint.from_counts(np.array([[tiny, tiny], [1, 2]], dtype=object))
    assert not LIP(0.1).holds(skewed)
    assert LIP(0.5).holds(skewed)
    floats = Joint.from_array([[0.5, 0.5 - 2e-200], [1e-200, 1e-200]])
    assert not floats.floats_suffice
    assert LIP(1e-6).holds(floats)


@pytest.mark.parametrize("values", [[0.1, 0.2, 0.7], [1e-320, 1.0], [0.0, 0.5], [5e-324, 1e-10, 0.3]])
def test_floats_are_read_as_the_rationals_they_are(values: list[float]) -> None:
    whole = exact_integers(np.array(values))
    nonzero = next(k for k, v in enumerate(values) if v)
    for value, number in zip(values, whole):
        assert Fraction(int(number), int(whole[nonzero])) == Fraction(value) / Fraction(values[nonzero])


def test_a_lift_of_exactly_one_among_others_is_no_trouble() -> None:
    """The logarithm of 1 is 0, whose decimal neighbours are too small to be written as fractions."""
    joint = Joint.from_counts([[889, 112], [889, 112], [1778, 223], [3556, 445], [1778, 223]])
    for alpha in (1.3, 2.0, 7.0):
        notion = AlphaLift(alpha, eps_lower=0.09, eps_upper=0.07)
        assert exact.keeps(joint.masses, notion.bounds).all()
        assert not exact.keeps(joint.masses, AlphaLift(alpha, eps_lower=1e-9).bounds).any()


def test_chi_square_is_decided_below_the_first_precision() -> None:
    """With few digits exp(epsilon) may be enclosed from below 1; its square must not count."""
    n = 10**45
    joint = Joint.from_counts(np.array([[n + 1, n - 1], [n, n]], dtype=object))
    assert not Chi2Lift(eps_upper=1e-60).holds(joint)
    assert not Chi2Lift(eps_lower=1e-60).holds(joint)
    assert Chi2Lift(eps_upper=1e-40, eps_lower=1e-40).holds(joint)


@pytest.mark.parametrize(
    ("notion", "expected"),
    [
        (AlphaLift(1e9, eps_upper=0.1), False),
        (AlphaLift(1e300, eps_upper=0.1), False),
        (AlphaLift(1e20, eps_upper=math.log(1.5) - 1e-10), False),
        (AlphaLift(1e20, eps_upper=500.0), True),
        (Chi2Lift(eps_upper=1e8), True),
        (Chi2Lift(eps_upper=1e300), True),
        (LIP(800.0), True),
    ],
    ids=str,
)
def test_huge_orders_and_budgets_are_decided_at_once(notion, expected: bool) -> None:
    tiny = Joint.from_array([[0.5, 1e-200], [0.25, 0.25 - 1e-200]])
    assert exact.keeps(tiny.masses, notion.bounds).all() == expected


def test_floats_lost_on_the_way_are_not_trusted() -> None:
    """A weight of 2**-60, nineteen times over, vanishes from floats but not from the integers."""
    from discreet import Mechanism

    step = Mechanism.from_weights(np.array([[1, 2**60 - 1], [0, 2**60]]), useful=["0", "1"], released=["0", "1"])
    joint = Joint.from_counts([[1, 0], [0, 1]], useful=["0", "1"])
    for _ in range(19):
        joint = joint.through(step)
    assert not joint.floats_suffice
    assert not LIP(0.1).holds(joint)


def test_what_occurs_too_rarely_for_floats_still_occurs() -> None:
    from discreet import Mechanism, design
    from discreet._support.errors import UnseenSymbolError

    big = 10**400
    joint = Joint.from_counts(np.array([[big, big, 1], [big, big, 0]], dtype=object), useful=["a", "b", "c"])
    with pytest.raises(UnseenSymbolError):
        joint.through(Mechanism.from_channel([[1, 0], [0, 1]], useful=["a", "b"]))
    for method in ("watchdog", "subset-merging"):
        mechanism = design(joint, LIP(0.1), method).mechanism
        assert exact.keeps(joint.masses @ mechanism.weights.astype(object), LIP(0.1).bounds).all()
