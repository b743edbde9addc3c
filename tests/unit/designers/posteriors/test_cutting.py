"""The optimum where allowed posteriors have a curved border: what it reaches, proves, takes and refuses."""

from __future__ import annotations

import time

import numpy as np
import pytest

from discreet import (
    LIP,
    AlphaLift,
    Chi2Lift,
    Joint,
    L1Lift,
    MaxLift,
    Mechanism,
    Notion,
    design,
    measures,
    methods,
)
from discreet.designers.posteriors.compass import improved
from discreet.designers.posteriors.problem import Problem
from discreet.errors import InputError, UnsupportedNotionError
from discreet.utilities import Information, Utility
from tests.bruteforce.vertices import best_information

#: The gap that was asked for, as a share of H(X).
PROVEN = 1e-4


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("epsilon", [0.1, 0.5])
@pytest.mark.parametrize("alpha", [2, 10])
def test_five_symbols_are_proven(alpha: float, epsilon: float, seed: int) -> None:
    joint = Joint.random(3, 5, seed=seed)
    found = design(joint, AlphaLift(alpha, eps_upper=epsilon))
    assert found.bound is not None
    assert found.bound - found.nmi <= PROVEN
    assert found.evidence in ("checkable", "whole")
    assert found.proof is None or found.proof.check() >= found.proof.limit
    assert found.nmi >= design(joint, AlphaLift(alpha, eps_upper=epsilon), "subset-merging").nmi
    assert found.nmi >= design(joint, MaxLift(epsilon)).nmi - 1e-7  # which implies it


def test_seventeen_symbols_are_proven_to_a_percent() -> None:
    found = design(Joint.random(5, 17, seed=0), AlphaLift(2, eps_upper=0.1), time_limit=30)
    assert found.bound is not None
    assert found.bound - found.nmi < 0.01
    assert found.seconds < 30


@pytest.mark.parametrize("seed", range(4))
def test_the_l1_optimum_is_that_of_its_polytope(seed: int) -> None:
    """Whose rows, one for each pattern of signs, are listed by hand."""
    joint = Joint.random(3, 4, seed=seed)
    notion = L1Lift(eps_upper=0.15)
    found = design(joint, notion)
    assert found.mutual_information == pytest.approx(best_information(joint.probabilities, notion.to_dict()), abs=1e-6)
    assert found.status == "optimal"


def test_orders_lie_between_the_smallest_and_the_largest() -> None:
    """The larger the order the tighter the promise; the limit is max-lift."""
    joint = Joint.random(4, 6, seed=2)
    kept = [design(joint, AlphaLift(alpha, eps_upper=0.2)).nmi for alpha in (1.2, 2, 5, 20, 200)]
    kept.append(design(joint, MaxLift(0.2)).nmi)
    assert kept == sorted(kept, reverse=True)
    assert kept[-2] - kept[-1] < 0.05


def test_a_tiny_and_a_huge_budget() -> None:
    joint = Joint.random(3, 5, seed=4)
    for make in (lambda e: AlphaLift(2, eps_upper=e, eps_lower=e), lambda e: Chi2Lift(eps_upper=e, eps_lower=e)):
        tiny, nothing, huge = (design(joint, make(epsilon)) for epsilon in (1e-7, 0.0, 500.0))
        assert huge.nmi == 1
        assert nothing.bound is not None
        assert tiny.nmi == pytest.approx(nothing.bound, abs=2e-3)  # what real numbers would keep in perfect privacy


def test_a_value_that_is_ruled_out_has_no_inverse() -> None:
    joint = Joint.from_counts([[5, 0, 3, 9], [1, 4, 2, 9], [2, 2, 2, 9]])
    for epsilon in (0.3, 400.0):  # the second is beyond what cuts are made for
        for notion in (AlphaLift(2, eps_lower=epsilon), L1Lift(eps_lower=epsilon), Chi2Lift(eps_lower=epsilon)):
            found = design(joint, notion)
            assert notion.holds(joint, found.mechanism)
            assert 0 < found.nmi < 1
            assert measures.min_lift(found.released).min() > 0


def test_promises_of_both_kinds_together() -> None:
    joint = Joint.random(3, 5, seed=5)
    lift, mean = MaxLift(0.3), AlphaLift(2, eps_upper=0.05)
    found = design(joint, lift & mean)
    assert found.status == "optimal"
    assert found.nmi < min(design(joint, lift).nmi, design(joint, mean).nmi) - 1e-4
    assert design(joint, lift & AlphaLift(2, eps_upper=9)).nmi == pytest.approx(design(joint, lift).nmi, abs=1e-6)


def test_several_tables_at_once() -> None:
    joint, other = Joint.random(3, 5, seed=6), Joint.random(3, 5, seed=7)
    notion = Chi2Lift(eps_upper=0.3)
    alone, both = design(joint, notion), design(joint, notion, also=[other])
    assert both.status == "optimal"
    assert notion.holds(other, both.mechanism)
    assert not notion.holds(other, alone.mechanism)
    assert both.nmi < alone.nmi


def test_classes_of_equal_beliefs_are_one() -> None:
    joint = Joint.from_counts(np.array([[3, 6, 1, 5, 2], [2, 4, 4, 1, 8]]))
    found = design(joint, Chi2Lift(eps_upper=0.2))
    assert found.status == "optimal"
    assert found.proof is not None
    assert found.proof.is_on_classes
    assert found.proof.check() >= found.proof.limit


def test_a_known_mechanism_is_a_start() -> None:
    joint, notion = Joint.random(5, 17, seed=3), Chi2Lift(eps_upper=0.1)
    known = design(joint, notion, time_limit=4)
    again = design(joint, notion, start=known.mechanism, time_limit=1)
    assert again.nmi >= known.nmi - 1e-9


def test_time_limits_are_kept() -> None:
    joint = Joint.random(10, 60, seed=0)
    for limit in (0.5, 3.0):
        start = time.perf_counter()
        found = design(joint, Chi2Lift(eps_upper=0.1), time_limit=limit)
        assert time.perf_counter() - start < 1.5 * limit + 2  # integers and exact checks come after
        assert found.bound is not None


def test_the_result_depends_on_the_seed_alone() -> None:
    joint, notion = Joint.random(3, 5, seed=8), L1Lift(eps_lower=0.2)
    assert design(joint, notion, seed=1).mechanism == design(joint, notion, seed=1).mechanism


def test_a_utility_without_chords_is_served_without_a_bound() -> None:
    class TopTwo(Utility):
        name, unit = "top two", "share of records"

        def costs(self, shares: np.ndarray, symbols: np.ndarray | None = None) -> np.ndarray:
            return np.asarray(1 - np.sort(shares)[..., -2:].sum(axis=-1))

    joint, notion = Joint.random(3, 6, seed=1), AlphaLift(2, eps_upper=0.03)
    found = design(joint, notion, utility=TopTwo())
    assert notion.holds(joint, found.mechanism)
    assert found.kept > 0
    assert found.bound is None


def test_what_is_not_served_says_what_is() -> None:
    joint, notion = Joint.random(3, 5, seed=1), Chi2Lift(eps_upper=0.2)
    with pytest.raises(InputError, match="search='columns'"):
        design(joint, notion, search="vertices")
    with pytest.raises(UnsupportedNotionError, match="method='auto'"):
        design(joint, notion, utility="accuracy")
    counted = Joint.from_counts([[9, 5, 3], [2, 5, 8]])
    before = Mechanism.from_blocks(counted, [0, 0, 0])
    with pytest.raises(InputError, match="LIP, ALIP, LDP or max-lift"):
        design(counted, notion, after=[before])
    with pytest.raises(InputError, match="method='auto'"):
        design(Joint.random(3, 2500, seed=0), notion)


@pytest.mark.parametrize(
    "notion", [AlphaLift(2, eps_upper=0.1), Chi2Lift(eps_lower=0.3), L1Lift(eps_lower=0.3, eps_upper=0.3)], ids=str
)
def test_auto_is_no_worse_than_any_other(notion: Notion) -> None:
    joint = Joint.random(3, 6, seed=2)
    found = design(joint, notion, "auto")
    for method in methods(notion):
        assert found.nmi >= design(joint, notion, method).nmi - 1e-9
    assert found.bound is not None


def test_auto_designs_under_premises_what_has_no_optimum_of_its_own() -> None:
    """Accuracy needs a polytope, and thousands of beliefs are too many for cuts."""
    joint, notion = Joint.random(3, 30, seed=1), Chi2Lift(eps_upper=0.2)
    guessed = design(joint, notion, "auto", utility="accuracy")
    assert guessed.kept > design(joint, notion, "subset-merging", utility="accuracy").kept + 0.01
    many = Joint.random(3, 2500, seed=1)
    tight = AlphaLift(2, eps_upper=0.01)
    found = design(many, tight, "auto", time_limit=8)
    assert found.nmi >= design(many, tight, "subset-merging").nmi


def test_steps_along_the_border_stay_inside_and_cost_less() -> None:
    problem = Problem(Joint.random(3, 5, seed=0), L1Lift(eps_lower=0.3), Information(), by_cuts=True)
    polytope = problem.polytope
    points = polytope.pulled(np.eye(5))
    prices = np.random.default_rng(0).normal(0, 1, 5)

    def cost(some: np.ndarray) -> np.ndarray:
        return np.asarray(problem.costs.costs(some) - some @ prices)

    better = improved(points, cost, polytope, lambda: False)
    assert polytope.curved is not None
    assert (polytope.curved.excess(better) <= 1e-12).all()
    assert (cost(better) <= cost(points)).all()
    assert (cost(better) < cost(points) - 1e-3).any()
    assert (improved(points, cost, polytope, lambda: True) == points).all()


def test_a_promise_on_lifts_has_nothing_to_cut() -> None:
    problem = Problem(Joint.random(3, 5, seed=0), LIP(0.3), Information(), by_cuts=True)
    assert problem.polytope.curved is None


def test_posteriors_apart_from_those_in_use_are_found_where_the_border_is_not_convex() -> None:
    """A grid of posteriors by itself keeps .668 of this table; along the border from merged ones .655 is the end."""
    joint = Joint.from_counts([[18, 17, 52], [54, 1, 30], [49, 8, 48]])
    found = design(joint, L1Lift(eps_lower=0.15))
    assert 0.668 < found.nmi <= found.bound < 0.676
