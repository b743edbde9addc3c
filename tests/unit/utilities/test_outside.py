"""Utilities from outside the package: they work with designs, comparisons and frontiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet import LDP, LIP, SRLIP, Chi2Lift, Joint, L1Lift, Mechanism, PerfectPrivacy, design, frontier, methods
from discreet._support.errors import InputError
from discreet.designers import compare
from discreet.designers.posteriors.vertices import vertices
from discreet.notions import Notion
from discreet.proof.polytope import Polytope
from discreet.utilities import SeparableUtility, Utility

SAME = 1e-6


@dataclass(frozen=True)
class Gini(SeparableUtility):
    """Logical entropy: the chance that two draws from the posterior differ."""

    name = "gini"
    unit = "chance"

    def terms(self, t: np.ndarray) -> np.ndarray:
        return t * (1 - t)


@dataclass(frozen=True)
class Accuracy(Utility):
    """The share of records whose value is guessed right."""

    name = "right guesses"
    unit = "share"

    def costs(self, shares: np.ndarray, symbols: np.ndarray | None = None) -> np.ndarray:
        return 1 - shares.max(axis=-1)


@dataclass(frozen=True)
class Distance(Utility):
    """How far the best guess is off: values are numbers, and their labels say which."""

    values: tuple[float, ...] = ()
    name = "how far off"
    unit = "of the column"

    def over(self, useful: Sequence[Any]) -> Utility:
        return Distance(tuple(float(x) for x in useful))

    def costs(self, shares: np.ndarray, symbols: np.ndarray | None = None) -> np.ndarray:
        own = np.array(self.values)
        off = np.abs(own[:, None] - own)  # (x, guess)
        far = np.moveaxis(off if symbols is None else off[symbols], -2, -1)  # (..., guess, x)
        return (far * shares[..., None, :]).sum(axis=-1).min(axis=-1)


LISTED = [(seed, notion) for seed in range(3) for notion in (LIP(0.4), LDP(0.7))]
CASES = [*LISTED, *((seed, L1Lift(eps_upper=0.2)) for seed in range(3))]


def least_by_hand(joint: Joint, notion: Notion, utility: Utility) -> float:
    """The cost of the best mixture of vertices, listed and solved by other means."""
    points = vertices(Polytope.of(joint, notion))
    solved = linprog(utility.over(joint.useful).costs(points), A_eq=points.T, b_eq=joint.p_useful, method="highs")
    return float(solved.fun)


@pytest.mark.parametrize(("seed", "notion"), CASES, ids=str)
def test_a_separable_utility_is_designed_for_with_a_proof(seed: int, notion: Notion) -> None:
    joint, gini = Joint.random(3, 6, seed=seed), Gini()
    found = design(joint, notion, utility=gini)
    assert (found.utility, found.status, found.evidence) == ("gini", "optimal", "checkable")
    assert found.proof.check() >= found.proof.limit - 1e-12
    assert found.proof.to_dict() is None  # the certificate's checker knows information alone
    assert found.bound >= found.kept
    assert found.kept == pytest.approx(gini.value(joint, found.mechanism) / gini.whole(joint))
    assert notion.holds(joint, found.mechanism)
    if (seed, notion) in LISTED:  # the rows of the others have auxiliary variables
        listed = design(joint, notion, utility=gini, search="vertices")
        assert found.kept == pytest.approx(listed.kept, abs=SAME)
        by_hand = gini.prior(joint) - least_by_hand(joint, notion, gini)
        assert found.kept * gini.whole(joint) == pytest.approx(by_hand, abs=SAME)
    other = design(joint, notion)
    assert gini.value(joint, found.mechanism) >= gini.value(joint, other.mechanism) - SAME
    assert other.mutual_information >= found.mutual_information - SAME


def test_no_random_channel_beats_a_bound_from_outside() -> None:
    joint, notion, gini = Joint.random(2, 4, seed=5), LIP(0.3), Gini()
    bound = design(joint, notion, utility=gini).bound
    rng, tried = np.random.default_rng(0), 0
    for _ in range(2000):
        channel = np.full((4, 4), 0.25) + rng.uniform(0, 1) * (rng.dirichlet(0.3 * np.ones(4), 4) - 0.25)
        mechanism = Mechanism.from_channel(channel / channel.sum(axis=1, keepdims=True), useful=joint.useful)
        if notion.holds(joint, mechanism):
            tried += 1
            assert gini.value(joint, mechanism) / gini.whole(joint) <= bound
    assert tried > 100


def test_the_optimum_that_reads_s_is_proven_for_separable_utilities() -> None:
    joint, gini = Joint.random(3, 5, seed=4), Gini()
    plain = design(joint, LIP(0.3), utility=gini)
    reading = design(joint, LIP(0.3), "optimal-with-sensitive", utility=gini)
    assert reading.status == "optimal"
    assert reading.kept >= plain.kept - SAME
    assert reading.proof.check() >= reading.proof.limit - 1e-12
    guessed = design(joint, LIP(0.3), "optimal-with-sensitive", utility=Accuracy())
    assert (guessed.bound, guessed.status) == (None, "heuristic")
    assert guessed.kept >= design(joint, LIP(0.3), utility=Accuracy()).kept - 1e-12


@pytest.mark.parametrize("utility", [Accuracy(), Distance()], ids=repr)
@pytest.mark.parametrize(("seed", "notion"), LISTED, ids=str)
def test_a_utility_without_terms_gets_mechanisms_without_a_proof(seed: int, notion: Notion, utility: Utility) -> None:
    joint = Joint.random(3, 6, seed=seed)
    found = design(joint, notion, utility=utility)
    assert (found.utility, found.bound, found.status, found.evidence) == (utility.name, None, "heuristic", None)
    assert notion.holds(joint, found.mechanism)
    listed = design(joint, notion, utility=utility, search="vertices")
    assert listed.status == "optimal"
    assert listed.kept >= found.kept - SAME
    assert found.kept >= 0.98 * listed.kept
    assert found.kept >= design(joint, notion, "subset-merging", utility=utility).kept - 1e-12
    by_hand = utility.prior(joint) - least_by_hand(joint, notion, utility)
    assert listed.kept * utility.whole(joint) == pytest.approx(by_hand, abs=SAME)


def test_accuracy_is_the_chance_to_guess_right() -> None:
    joint = Joint.random(2, 5, seed=1)
    mechanism = design(joint, LIP(0.3), utility=Accuracy()).mechanism
    right = (joint.p_useful[:, None] * mechanism.channel).max(axis=0).sum()
    assert Accuracy().value(joint, mechanism) == pytest.approx(right - joint.p_useful.max())
    assert Accuracy().whole(joint) == pytest.approx(1 - joint.p_useful.max())
    assert design(joint, LIP(9), utility=Accuracy()).status == "optimal"  # X itself


def test_distances_know_their_values_whatever_occurs() -> None:
    """Values that never occur are left out of the search, and the others stay what they are."""
    joint = Joint.from_counts([[5, 0, 2, 1], [1, 0, 3, 6]], useful=[10, 20, 30, 40])
    for method in ("optimal", "subset-response", "auto", "max-truth", "optimal-with-sensitive"):
        found = design(joint, LIP(0.3), method, utility=Distance())
        assert 0 < found.kept <= 1
    assert Distance().whole(joint) == pytest.approx(np.abs(np.array([10, 20, 30, 40]) - 30) @ joint.p_useful)


@pytest.mark.parametrize("utility", [Gini(), Accuracy()], ids=repr)
@pytest.mark.parametrize("notion", [LIP(0.5), PerfectPrivacy(), Chi2Lift(eps_upper=0.3)], ids=str)
def test_every_method_is_compared_by_a_utility_from_outside(utility: Utility, notion: Notion) -> None:
    joint = Joint.from_counts([[30, 15, 5, 9], [10, 15, 25, 2], [4, 4, 8, 7]])
    found = compare(joint, notion, utility=utility)
    assert {made.method for made in found.designs} | set(found.skipped) == set(methods(notion)) - {"auto"}
    kept = [made.kept for made in found.designs]
    assert kept == sorted(kept, reverse=True)
    assert {made.utility for made in found.designs} == {utility.name}
    assert list(found.to_dict()) == ["notion", "designs", "skipped"]
    assert found.designs[0].method in repr(found)
    assert "<table>" in found._repr_html_()


def test_attributes_and_frontiers_take_a_utility() -> None:
    joint = Joint.from_counts([[2, 1, 1, 5], [1, 4, 2, 1]], useful=[(0, 0), (0, 1), (1, 0), (1, 1)])
    for utility in (Gini(), Accuracy()):
        found = compare(joint, SRLIP(0.4), utility=utility)
        assert not found.skipped
        sweep = frontier(joint, LIP, [0.2, 0.4, 0.8], ["subset-merging", "optimal"], utility=utility)
        for rows in sweep.curves().values():
            assert (np.diff([row.kept for row in rows]) >= 0).all()
            assert all(row.kept == row.design.kept for row in rows)
        assert f"{utility.name} " in repr(sweep)
        assert sweep.smallest(0.5).kept >= 0.5
        assert sweep.rows[0].design.utility == utility.name
    with pytest.raises(InputError, match="Known utilities"):
        frontier(joint, LIP, [0.5], utility="beauty")


@dataclass(frozen=True)
class Convex(SeparableUtility):
    name = "convex"
    unit = "none"

    def terms(self, t: np.ndarray) -> np.ndarray:
        return t * t


@dataclass(frozen=True)
class Lifted(Gini):
    def terms(self, t: np.ndarray) -> np.ndarray:
        return 1 + t * (1 - t)


def test_terms_that_would_prove_falsehoods_are_refused() -> None:
    joint = Joint.random(2, 3)
    with pytest.raises(InputError, match="concave"):
        design(joint, LIP(1), utility=Convex())
    with pytest.raises(InputError, match="0 at 0"):
        design(joint, LIP(1), utility=Lifted())


def test_the_name_of_a_built_in_utility_is_taken() -> None:
    @dataclass(frozen=True)
    class Other(Gini):
        name = "information"

    with pytest.raises(InputError, match="a name of its own"):
        design(Joint.random(2, 3), LIP(1), utility=Other())
