"""Promises with confidence beside the definition, on joints of a few records."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import discreet as dc
from discreet._support.numeric import DENOMINATOR
from discreet.measures import belief_limits
from discreet.notions.confident import Sample
from discreet.proof.polytope import Polytope
from tests.bruteforce import samples, vertices

CONFIDENCES = (0.5, 0.95, 0.999)


def joint_of(seed: int, n_sensitive: int, n_useful: int, most: int = 40) -> dc.Joint:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, most, (n_sensitive, n_useful))
    counts[:, 0] += 1
    counts[rng.integers(n_sensitive)] += 1
    return dc.Joint.from_counts(counts)


def fractions(joint: dc.Joint, confidence: float) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    limits = belief_limits(joint, confidence)
    low, high = ([[Fraction(int(n), DENOMINATOR) for n in row] for row in ends] for ends in (limits.low, limits.high))
    return low, high


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("n_sensitive", [2, 3])
def test_limits_are_those_of_clopper_and_pearson(n_sensitive: int, confidence: float) -> None:
    """Rounded outwards, by less than a billionth of what is left beside them."""
    joint = joint_of(7, n_sensitive, 4)
    cells = 4 * (1 if n_sensitive == 2 else n_sensitive)
    alpha = (1 - Fraction(confidence)) / (2 * cells)
    low, high = fractions(joint, confidence)
    for s in range(n_sensitive):
        for x in range(4):
            n, k = int(joint.counts[:, x].sum()), int(joint.counts[s, x])
            assert samples.covered(n, k, low[s][x], high[s][x], alpha)
            hair = Fraction(1, 10**7)
            if high[s][x] < 1:
                assert samples.below(n, k, high[s][x] - hair * (1 - high[s][x])) > alpha
            if low[s][x] > 0:
                assert 1 - samples.below(n, k - 1, low[s][x] * (1 + hair)) > alpha


@pytest.mark.parametrize("seed", range(25))
def test_decisions_are_those_of_all_corners(seed: int) -> None:
    rng = np.random.default_rng(seed)
    joint = joint_of(seed, int(rng.integers(2, 4)), int(rng.integers(2, 6)))
    confidence = float(rng.choice(CONFIDENCES))
    mechanism = dc.Mechanism.from_channel(rng.dirichlet([0.4] * 4, joint.n_useful), useful=joint.useful)
    weights = [[int(w) for w in row] for row in mechanism.weights]
    records = [int(n) for n in joint.counts.sum(axis=0)]
    worst = samples.lifts(records, weights, *fractions(joint, confidence))
    top, low = max(high for _, high in worst), min(low for low, _ in worst)
    exact_upper, exact_lower = math.log(top), math.inf if low == 0 else -math.log(low)
    for shift in (-1e-7, -1e-12, 0.0, 1e-12, 1e-7):
        upper = max(exact_upper + shift, 0.0)
        notion = dc.MaxLift(upper, confidence=confidence)
        assert notion.holds(joint, mechanism) == _at_most(top, upper)
        if exact_lower < math.inf:
            lower = max(exact_lower + shift, 0.0)
            notion = dc.ALIP(eps_lower=lower, confidence=confidence)
            assert notion.holds(joint, mechanism) == _at_most(1 / low, lower)
    both = dc.ALIP(eps_lower=5.0, eps_upper=5.0, confidence=confidence)
    assert both.slack(joint, mechanism) == pytest.approx(5.0 - max(exact_upper, exact_lower))


def _at_most(value: Fraction, epsilon: float) -> bool:
    """value <= exp(epsilon), by 60 digits."""
    import mpmath

    with mpmath.workdps(60):
        return bool(mpmath.mpf(value.numerator) / value.denominator <= mpmath.exp(mpmath.mpf(epsilon)))


PROMISES = [
    dc.LIP(0.5, confidence=0.9),
    dc.ALIP(eps_lower=0.3, eps_upper=0.7, confidence=0.9),
    dc.MaxLift(0.4, confidence=0.9),
]


@pytest.mark.parametrize("notion", PROMISES, ids=str)
def test_rows_allow_what_the_definition_does(notion: dc.Notion) -> None:
    """A posterior exceeds the rows of its polytope exactly where a symbol that has it breaks the promise."""
    seen = []
    for seed in range(12):
        joint, rng = joint_of(seed, 3, 4, most=400), np.random.default_rng(seed)
        p, limits, polytope = joint.p_useful, belief_limits(joint, 0.9), Polytope.of(joint, notion)
        far = rng.random((40, 1))
        points = (1 - far) * p + far * rng.dirichlet([0.5] * 4, 40)
        for point, exceeded in zip(points, polytope.exceeded(points)):
            chance = 0.5 * float((p / point).min()) * point / p  # what is left is released as another symbol
            mechanism = dc.Mechanism.from_channel(np.stack([chance, 1 - chance], axis=1), useful=joint.useful)
            allowed = bool(Sample.of(joint, limits, mechanism).allowed(notion.bounds)[0])
            assert allowed == (exceeded == 0) or 0 < exceeded < 1e-9
            seen.append(allowed)
    assert 0.05 < np.mean(seen) < 0.95


@pytest.mark.parametrize("sides", [(0.4, 0.4), (None, 0.5), (0.6, 0.3)])
@pytest.mark.parametrize("seed", range(6))
def test_optima_are_those_of_all_vertices(seed: int, sides: tuple[float | None, float]) -> None:
    """Rows of every corner of the limits, and all vertices of what they leave, on alphabets of three symbols."""
    joint = joint_of(seed, 2 + seed % 2, 3, most=3000)
    lower, upper = sides
    low, high = fractions(joint, 0.9)
    records = [int(n) for n in joint.counts.sum(axis=0)]
    points = vertices.vertices(np.unique(np.array(samples.rows(records, low, high, upper, lower)), axis=0))
    best = vertices.best_mixture(points, joint.p_useful)
    found = dc.design(joint, dc.ALIP(eps_lower=lower, eps_upper=upper, confidence=0.9))
    assert found.status == "optimal"
    assert found.mutual_information == pytest.approx(best, abs=2e-7)


@pytest.mark.parametrize("seed", range(40))
def test_values_that_a_table_lacks_change_nothing(seed: int) -> None:
    """A mechanism that knows more values than a table has is judged as if they were counted zero times."""
    rng = np.random.default_rng(seed)
    joint = joint_of(seed, int(rng.integers(2, 4)), int(rng.integers(2, 6)))
    present = np.flatnonzero(joint.occurs)
    kept = rng.permutation(present)[: max(1, len(present) - int(rng.integers(0, 3)))]
    table = dc.Joint.from_counts(np.maximum(joint.counts[:, kept], 1), useful=[f"x{k}" for k in kept])
    names = [f"x{k}" for k in range(joint.n_useful)]
    whole = table.over(names)
    mechanism = dc.Mechanism.from_channel(rng.dirichlet([0.4] * 3, joint.n_useful), useful=names)
    for epsilon in (0.05, 0.3, 1.0):
        notion = dc.LIP(epsilon, confidence=0.8)
        assert notion.slack(table, mechanism) == pytest.approx(notion.slack(whole, mechanism), abs=1e-9)
        assert notion.holds(table, mechanism) == notion.holds(whole, mechanism)
        if notion.holds(table, mechanism):
            assert dc.LIP(epsilon).holds(table, mechanism)


@pytest.mark.parametrize("invariant", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_no_channel_under_every_corner_keeps_more_values(seed: int, invariant: bool) -> None:
    """The best share of values kept, by one programme with a row for every corner of the limits."""
    rng = np.random.default_rng(seed)
    joint = joint_of(seed, int(rng.integers(2, 4)), int(rng.integers(2, 5)), most=400)
    notion = dc.LIP(0.6, confidence=0.9) if seed % 2 else dc.MaxLift(0.6, confidence=0.9)
    low, high = fractions(joint, 0.9)
    records = joint.counts.sum(axis=0).tolist()
    corners = np.array(samples.rows(records, low, high, 0.6, 0.6 if seed % 2 else None))
    n, p = joint.n_useful, joint.p_useful
    # Masses P(x) R(g | x), guess by guess: rows of the corners for each, and the total of each x.
    blocks = np.kron(np.eye(n), corners)
    totals = np.vstack([np.tile(np.eye(n), n), *([np.kron(np.eye(n), np.ones(n))] if invariant else [])])
    best = linprog(-np.eye(n).ravel(), blocks, np.zeros(len(blocks)), totals, np.tile(p, 1 + invariant))
    design = dc.design(joint, notion, utility="accuracy", invariant=invariant)
    assert design.status == "optimal"
    assert notion.holds(joint, design.mechanism)
    prior = p @ p if invariant else p.max()
    assert design.kept == pytest.approx((-best.fun - prior) / (1 - prior), abs=1e-7)
