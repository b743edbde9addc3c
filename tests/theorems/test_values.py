"""Section "in values": what a promise about symbols says about the values that are drawn from them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from discreet import (
    ALIP,
    LDP,
    LIP,
    AlphaLift,
    Chi2Lift,
    Joint,
    L1Lift,
    MaxLift,
    Mechanism,
    Notion,
    PerfectPrivacy,
    design,
)
from discreet.testing import awkward_joint

ONE = 2**60

#: Promises whose posteriors form a convex set, by a budget that all of their sides share.
CONVEX: dict[str, Callable[[float], Notion]] = {
    "lip": LIP,
    "alip": lambda e: ALIP(eps_lower=1.5 * e, eps_upper=e),
    "lower side": lambda e: ALIP(eps_lower=e),
    "ldp": LDP,
    "max-lift": MaxLift,
    "l1": lambda e: L1Lift(eps_upper=e),
    "chi2": lambda e: Chi2Lift(eps_upper=e),
    "alpha": lambda e: AlphaLift(2.5, eps_lower=e, eps_upper=e),
}

#: Budgets are within this many nats of the smallest that the symbols keep.
TIGHT = 1e-9


def random_mechanism(joint: Joint, seed: int) -> Mechanism:
    """Sparse rows on the values of a joint."""
    rng = np.random.default_rng(seed)
    channel = rng.dirichlet(np.full(int(rng.integers(1, 6)), 0.5), joint.n_useful)
    return Mechanism.from_channel(channel, useful=joint.useful)


def tightest(family: Callable[[float], Notion], joint: Joint, mechanism: Mechanism) -> Notion | None:
    """The notion with nearly the smallest budget that the mechanism keeps; None where it keeps none."""
    low, high = 0.0, 64.0
    if not family(high).holds(joint, mechanism):
        return None
    while high - low > TIGHT * max(1.0, low):
        middle = (low + high) / 2
        low, high = (low, middle) if family(middle).holds(joint, mechanism) else (middle, high)
    return family(high)


def check(seeds: range) -> None:
    kept = 0
    for seed in seeds:
        joint = awkward_joint(seed, largest=5)
        mechanism = random_mechanism(joint, seed)
        made = mechanism.in_values(joint)
        names = list(CONVEX)
        for name in (names[seed % len(names)], names[(seed // 7) % len(names)]):
            notion = tightest(CONVEX[name], joint, mechanism)
            if notion is not None:
                kept += 1
                assert notion.holds(joint, made), (seed, name)
        if PerfectPrivacy().holds(joint, mechanism):
            assert PerfectPrivacy().holds(joint, made), seed
    assert kept > len(seeds) / 2  # else this shows nothing


def test_values_keep_every_convex_promise_that_symbols_keep() -> None:
    """x' ~ q(. | y) keeps LIP, ALIP, LDP, max-lift, l1-, chi-square- and alpha-lifts of y, decided in integers."""
    check(range(400))


@pytest.mark.long
def test_values_keep_them_on_two_thousand_joints() -> None:
    check(range(2_000))


def test_values_of_designs_keep_what_those_keep_to_the_last_digit() -> None:
    """An optimal design meets its promise with equality, up to a hair; rounding R to 2**60 would have to miss it."""
    for seed in range(12):
        joint = Joint.random(3, 7, seed=seed)
        for notion in (LIP(0.3), LDP(0.5), MaxLift(0.2), PerfectPrivacy()):
            made = design(joint, notion).mechanism
            assert notion.holds(joint, made.in_values(joint))


def test_perfect_privacy_is_kept_exactly() -> None:
    """Symbols that tell nothing, met by equations of integers: every lift of every published value is exactly one."""
    joint = Joint.from_counts([[2, 4, 6, 3], [1, 2, 3, 9]], useful="abcd")
    weights = [[ONE // 2, ONE // 2], [ONE // 4, 3 * ONE // 4], [ONE, 0], [ONE // 3, ONE - ONE // 3]]
    alike = Joint.from_counts([[2, 4, 6, 3], [4, 8, 12, 6]], useful="abcd")
    mechanism = Mechanism.from_weights(np.array(weights), useful="abcd")
    assert PerfectPrivacy().holds(alike, mechanism.in_values(alike))
    assert not PerfectPrivacy().holds(joint, mechanism.in_values(joint))


@pytest.mark.parametrize("family", [L1Lift, Chi2Lift])
def test_the_inverse_l1_and_chi_square_lifts_may_break(family: Callable[..., Notion]) -> None:
    """Their posteriors form no convex set: between lifts (5/2, 3/2, 3/4) and (3/2, 5/2, 3/4) both are larger."""
    joint = Joint.from_counts([[120, 40, 240], [40, 120, 240], [240, 240, 2720]])
    mechanism = Mechanism.from_channel([[0.75, 0.25, 0], [0.25, 0.75, 0], [0, 0, 1]])
    notion = tightest(lambda e: family(eps_lower=e), joint, mechanism)
    assert notion is not None
    assert notion.holds(joint, mechanism)
    assert not notion.holds(joint, mechanism.in_values(joint))
