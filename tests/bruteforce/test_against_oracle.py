"""Measures, exact verdicts and designers against slow code written from the papers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Joint, design, measures
from discreet.notions import exact
from discreet.testing import awkward_joint, every_notion
from tests.bruteforce import oracle
from tests.strategies import budgets, channels, joints, lams, orders

# A dozen float operations on numbers of size one.
ROUNDING = 1e-12


def exact_joint(joint: Joint) -> list[list[Fraction]]:
    return oracle.normalised([[int(n) for n in row] for row in joint.masses])


@given(joints())
def test_lifts_equal_their_definition(joint: Joint) -> None:
    expected = exact_joint(joint)
    got = measures.lift(joint)
    for y in oracle.symbols(expected):
        for s in range(joint.n_sensitive):
            assert got[s, y] == pytest.approx(float(oracle.lift(expected, s, y)), rel=ROUNDING, abs=0)


@given(joints(), orders)
def test_per_symbol_measures_equal_their_definition(joint: Joint, alpha: float) -> None:
    expected = exact_joint(joint)
    forms = {
        "max_lift": lambda pairs: max(v for _, v in pairs),
        "min_lift": lambda pairs: min(v for _, v in pairs),
        "l1_lift": lambda pairs: sum(p * abs(v - 1) for p, v in pairs),
        "chi2_lift": lambda pairs: sum(p * (v - 1) ** 2 for p, v in pairs),
        "alpha_lift": lambda pairs: sum(float(p) * float(v) ** alpha for p, v in pairs) ** (1 / alpha),
    }
    inverses = {"l1_lift": "l1_lift_inverse", "chi2_lift": "chi2_lift_inverse", "alpha_lift": "alpha_lift_inverse"}
    for name, form in forms.items():
        got = _call(name, joint, alpha)
        for y in oracle.symbols(expected):
            pairs = oracle.lifts_of_symbol(expected, y)
            assert got[y] == pytest.approx(float(form(pairs)), rel=1e-9, abs=ROUNDING), name
            if name in inverses:
                inverse = _call(inverses[name], joint, alpha)[y]
                if min(v for _, v in pairs) == 0:
                    assert inverse == math.inf
                else:
                    flipped = [(p, 1 / v) for p, v in pairs]
                    assert inverse == pytest.approx(float(form(flipped)), rel=1e-9, abs=ROUNDING), name


def _call(name: str, joint: Joint, alpha: float) -> np.ndarray:
    function = getattr(measures, name)
    return function(joint, alpha) if name.startswith("alpha") else function(joint)


@given(joints(), orders)
def test_averages_equal_their_definition(joint: Joint, alpha: float) -> None:
    p = joint.probabilities
    p_s, p_y = joint.p_sensitive, joint.p_useful
    cells = [(s, y) for s in range(len(p_s)) for y in range(len(p_y)) if p_y[y] > 0]
    assert measures.mutual_information(joint) == pytest.approx(
        float(oracle.mutual_information(exact_joint(joint))), abs=ROUNDING
    )
    assert measures.total_variation(joint) == pytest.approx(
        sum(abs(p[s, y] - p_s[s] * p_y[y]) for s, y in cells) / 2, abs=ROUNDING
    )
    assert measures.chi2_divergence(joint) == pytest.approx(
        sum((p[s, y] - p_s[s] * p_y[y]) ** 2 / (p_s[s] * p_y[y]) for s, y in cells), rel=1e-9, abs=ROUNDING
    )
    # Sibson by (13) and Arimoto by (11) of ZDS22, written with P(y | s) and with norms of posteriors.
    sibson = sum(
        sum(p_s[s] * (p[s, y] / p_s[s]) ** alpha for s in range(len(p_s))) ** (1 / alpha) for y in range(len(p_y))
    )
    assert measures.sibson_information(joint, alpha) == pytest.approx(
        alpha / (alpha - 1) * math.log(sibson), rel=1e-9, abs=1e-11
    )
    norm = sum(p_y[y] * np.linalg.norm(p[:, y] / p_y[y], alpha) for y in range(len(p_y)) if p_y[y] > 0)
    assert measures.arimoto_information(joint, alpha) == pytest.approx(
        alpha / (alpha - 1) * math.log(norm / np.linalg.norm(p_s, alpha)), rel=1e-9, abs=1e-11
    )
    leakage = math.log(sum(max(p[s, y] / p_s[s] for s in range(len(p_s))) for y in range(len(p_y))))
    assert measures.maximal_leakage(joint) == pytest.approx(leakage, abs=ROUNDING)


@given(joints(), st.data(), budgets, lams, orders)
def test_exact_verdicts_equal_the_oracle(
    joint: Joint, data: st.DataObject, eps: float, lam: float, alpha: float
) -> None:
    mechanism = data.draw(channels(joint.n_useful))
    released = oracle.through(exact_joint(joint), mechanism.weights.tolist())
    for notion in every_notion(eps, lam=lam, alpha=alpha):
        expected = oracle.holds(released, notion.to_dict())
        assert notion.holds(joint, mechanism) == expected, notion
        # The integers alone, without the floats that settle clear cases.
        assert exact.keeps(joint.through(mechanism).masses, notion.bounds).all() == expected, notion


@pytest.mark.parametrize("seed", range(60))
def test_designers_equal_the_papers_algorithms(seed: int) -> None:
    joint = awkward_joint(seed, largest=5)
    rng = np.random.default_rng(seed)
    expected = exact_joint(joint)
    for notion in every_notion(float(rng.uniform(0.05, 1.5)), lam=float(rng.uniform(0.2, 0.8)), alpha=2.0):
        for method, slow in (("watchdog", oracle.watchdog), ("subset-merging", oracle.subset_merging)):
            blocks = slow(expected, notion.to_dict())
            assert blocks_of(design(joint, notion, method).mechanism, joint) == {frozenset(b) for b in blocks}, (
                method,
                notion,
            )


def blocks_of(mechanism, joint: Joint) -> set[frozenset[int]]:
    """Blocks of a merging mechanism, without the symbols that never occur."""
    assert mechanism.is_deterministic
    target = mechanism.weights.argmax(axis=1)
    present = np.flatnonzero(joint.p_useful > 0)
    return {frozenset(int(x) for x in present if target[x] == y) for y in set(target[present])}
