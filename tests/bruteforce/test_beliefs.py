"""Designs on classes of equal beliefs beside the best over symbols, found by listing all vertices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet import ALIP, LDP, LIP, Joint, L1Lift, MaxLift, Mechanism, Notion, certify, design
from discreet.certificate import checker
from discreet.core.beliefs import belief_classes
from discreet.designers.posteriors.quotient import Quotient
from tests.bruteforce import oracle
from tests.bruteforce.vertices import best_information, entropy

#: Polished vertices, and those of l1 that are mixed with a little of P_X instead: their rows have auxiliary variables.
SAME, SAME_OF_L1 = 1e-9, 3e-8

#: What couplings may lose by rounding to weights over 2**60.
ROUNDING_LOSS = 1e-12


def notions(rng: np.random.Generator) -> list[Notion]:
    a, b = rng.uniform(0.05, 1.2, 2)
    return [LIP(a), ALIP(eps_lower=a, eps_upper=b), LDP(a + b), MaxLift(b), L1Lift(eps_upper=a)]


def repeating(seed: int) -> Joint:
    """A joint of few beliefs: each of them held by several symbols of different sizes."""
    rng = np.random.default_rng(seed)
    n_sensitive = int(rng.integers(2, 4))
    n_beliefs = int(rng.integers(1, 5))
    beliefs = rng.integers(0 if seed % 3 else 1, 7, (n_sensitive, n_beliefs))
    beliefs[:, beliefs.sum(axis=0) == 0] = 1
    beliefs[beliefs.sum(axis=1) == 0, 0] = 1
    most = 10 if n_sensitive == 2 else 7
    held = np.concatenate([np.arange(n_beliefs), rng.integers(0, n_beliefs, int(rng.integers(1, most - n_beliefs)))])
    return Joint.from_counts(beliefs[:, rng.permutation(held)] * rng.integers(1, 30, len(held)))


@pytest.mark.parametrize("seed", range(6))
def test_designs_on_classes_are_as_good_as_the_best_on_symbols(seed: int) -> None:
    compare(seed)


@pytest.mark.parametrize("seed", range(6, 66))
def test_three_hundred_designs_on_classes_are_as_good_as_the_best_on_symbols(seed: int) -> None:
    compare(seed)


def compare(seed: int) -> None:
    joint = repeating(seed)
    exact = oracle.normalised([[int(n) for n in row] for row in joint.masses])
    for notion in notions(np.random.default_rng([seed, 1])):
        found = design(joint, notion)
        best = best_information(joint.probabilities, notion.to_dict())
        assert found.mutual_information == pytest.approx(best, abs=SAME_OF_L1 if isinstance(notion, L1Lift) else SAME)
        assert found.status == "optimal"
        assert (found.mechanism.weights.sum(axis=1) == 2**60).all()
        released = oracle.through(exact, found.mechanism.weights.tolist())
        assert oracle.holds(released, notion.to_dict())


@pytest.mark.parametrize("seed", range(30))
def test_couplings_lose_nothing_but_rounding(seed: int) -> None:
    """I(X; Y) = H(X) - H(C | Y) for every coupling, up to the rounding of weights."""
    joint = repeating(seed)
    quotient = Quotient.of(joint)
    if quotient is None:
        return
    rng = np.random.default_rng(seed)
    inner = Mechanism.from_channel(
        rng.dirichlet(np.full(4, 0.5), quotient.inner.n_useful), useful=quotient.inner.useful
    )
    made = quotient.coupled(inner)
    by_class = quotient.inner.p_useful[:, None] * inner.channel
    by_symbol = joint.p_useful[:, None] * made.channel
    left = entropy(by_class.ravel()) - entropy(by_class.sum(axis=0))
    assert entropy(by_symbol.ravel()) - entropy(by_symbol.sum(axis=0)) == pytest.approx(left, abs=ROUNDING_LOSS)
    one_of_each = np.zeros((quotient.inner.n_useful, made.n_released), dtype=int)
    np.add.at(one_of_each, quotient.classes, made.weights > 0)
    assert one_of_each.max() == 1


def test_beliefs_are_equal_where_fractions_are() -> None:
    joint = Joint.from_counts([[2, 1, 3, 0, 10**30], [4, 5, 6, 0, 5 * 10**30]])
    assert belief_classes(joint).tolist() == [0, 1, 0, 2, 1]
    shares = [[Fraction(int(n), int(column.sum())) for n in column] for column in joint.masses.T if column.any()]
    assert len({tuple(share) for share in shares}) == 2


def test_joints_of_floats_have_beliefs_too() -> None:
    assert belief_classes(Joint.from_array([[0.125, 0.25, 0.125], [0.25, 0.125, 0.125]])).tolist() == [0, 1, 2]
    assert belief_classes(Joint.from_array([[0.25, 0.125, 0.125], [0.25, 0.125, 0.125]])).tolist() == [0, 0, 0]


def test_under_several_priors_beliefs_are_equal_where_they_are_under_all() -> None:
    joint = Joint.from_counts([[1, 2, 3], [1, 2, 3]])
    other = Joint.from_counts([[1, 2, 1], [3, 6, 5]])
    assert belief_classes(joint, other).tolist() == [0, 0, 1]
    found = design(joint, LIP(0.2), also=[other])
    assert LIP(0.2).holds(other, found.mechanism)


def test_auto_looks_at_beliefs_where_symbols_are_many() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 9, (3, 6))[:, rng.integers(0, 6, 2000)] * rng.integers(1, 5, 2000)
    found = design(Joint.from_counts(counts), LIP(0.3), "auto")
    assert found.status == "optimal"
    assert found.mechanism.n_released < 4000


def test_the_checker_follows_a_proof_on_classes() -> None:
    joint = Joint.from_counts([[300, 150, 50, 600, 25, 30], [100, 150, 250, 200, 125, 30]])
    found = design(joint, LIP(0.5))
    certificate = certify(found)
    assert certificate["proof"]["on"] == "beliefs"
    assert len(certificate["proof"]["largest"]) == 3
    content = certificate.to_dict()
    assert all(passed for _, passed, _ in checker.check(content))
    bound = checker.proven_bound(content)
    best = best_information(joint.probabilities, LIP(0.5).to_dict()) / entropy(joint.p_useful)
    assert float(bound) == pytest.approx(best, abs=1e-6)
    content["counts"]["cells"][0][2] += 1  # another belief, and so other classes than the proof speaks of
    with pytest.raises((ValueError, IndexError)):
        checker.proven_bound(content)
