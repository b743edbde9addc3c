"""Optima that read S, designed on classes of equal beliefs, beside the best over symbols found by listing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from discreet import ALIP, LDP, LIP, Joint, MaxLift, Notion, SensitiveMechanism, design
from discreet.designers.posteriors.quotient import Quotient
from discreet.designers.with_sensitive import coupling
from discreet.designers.with_sensitive import optimal as with_sensitive
from discreet.utilities import SeparableUtility
from tests.bruteforce import oracle
from tests.bruteforce.pairs import least_cost
from tests.bruteforce.test_beliefs import repeating

#: Both sides solve programmes with numbers of size one within 1e-9; a hair and a rest are less.
SAME = 1e-9

METHOD = "optimal-with-sensitive"


@dataclass(frozen=True)
class Gini(SeparableUtility):
    name = "gini"
    unit = "chance"

    def terms(self, t: np.ndarray) -> np.ndarray:
        return t * (1 - t)


def notions(seed: int) -> list[Notion]:
    a, b = np.random.default_rng([seed, 2]).uniform(0.05, 0.6, 2)
    return [LIP(a), ALIP(eps_lower=a, eps_upper=b), LDP(a + b), MaxLift(b)]


def fields(notion: Notion) -> dict[str, float]:
    return {name: value for name, value in vars(notion).items() if value is not None}


@pytest.mark.parametrize("seed", range(8))
def test_designs_on_classes_are_the_best_on_symbols(seed: int) -> None:
    joint = repeating(seed)
    for notion in notions(seed):
        left = least_cost(joint.probabilities, notion.name, fields(notion), lambda v: -v * math.log(v) if v > 0 else 0)
        found = design(joint, notion, METHOD)
        entropy = -(joint.p_useful * np.log(joint.p_useful)).sum()
        assert found.mutual_information == pytest.approx(entropy - left, abs=SAME)
        assert found.status == "optimal"
        assert found.proof.is_on_classes
        assert found.proof.check() >= found.proof.limit - 1e-12
        assert found.proof.limit <= left + SAME
        if isinstance(found.mechanism, SensitiveMechanism):
            carried = found.mechanism.expected(joint)
            assert notion.holds(carried)
            assert oracle.holds(oracle.normalised([[int(n) for n in row] for row in carried.masses]), notion.to_dict())


@pytest.mark.parametrize("seed", range(4))
def test_other_separable_utilities_are_designed_on_classes_too(seed: int) -> None:
    joint, gini = repeating(seed), Gini()
    for notion in notions(seed):
        left = least_cost(joint.probabilities, notion.name, fields(notion), lambda v: v * (1 - v))
        found = design(joint, notion, METHOD, utility=gini)
        assert gini.value(joint, found.mechanism) == pytest.approx(gini.prior(joint) - left, abs=SAME)
        assert found.status == "optimal"
        assert found.proof.is_on_classes


@pytest.mark.parametrize("seed", range(10))
def test_classes_keep_what_symbols_keep(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    joint = repeating(seed)
    for notion in notions(seed + 100):
        by_class = design(joint, notion, METHOD)
        with monkeypatch.context() as symbols:
            symbols.setattr(with_sensitive.Quotient, "of", classmethod(lambda *_, **__: None))
            by_symbol = design(joint, notion, METHOD)
        assert by_class.kept >= by_symbol.kept - SAME
        assert by_class.bound == pytest.approx(by_symbol.bound, abs=SAME)
        assert not by_symbol.proof.is_on_classes


@pytest.mark.parametrize("seed", range(20))
def test_a_released_symbol_stands_for_one_value_of_each_class_whatever_s(seed: int) -> None:
    """Any mixture over classes keeps its cost and its beliefs on symbols."""
    joint = repeating(seed)
    quotient = Quotient.of(joint)
    if quotient is None:
        return
    rng = np.random.default_rng(seed)
    cells = quotient.inner.probabilities
    channel = rng.dirichlet(np.full(4, 0.5), cells.shape)
    drawn = (cells[:, :, None] * channel).transpose(2, 0, 1)
    weights = drawn.sum(axis=(1, 2))
    made = coupling.coupled_pairs(quotient, drawn / weights[:, None, None], weights)
    assert made is not None
    assert (made.weights.sum(axis=2) == 2**60).all()
    by_symbol = joint.probabilities[:, :, None] * made.channel
    values = by_symbol.sum(axis=0)
    stands_for = np.zeros((quotient.inner.n_useful, made.n_released), dtype=int)
    np.add.at(stands_for, quotient.classes, values > 0)
    assert stands_for.max() == 1
    by_class = drawn.sum(axis=1)

    def left(table: np.ndarray, given: np.ndarray) -> float:
        seen = table > 0
        return float(-(table[seen] * np.log((table / given)[seen])).sum())

    assert left(values.T, values.sum(axis=0)[:, None]) == pytest.approx(
        left(by_class, by_class.sum(axis=1, keepdims=True)), abs=1e-12
    )


def test_values_that_never_occur_have_rows_too() -> None:
    joint = Joint.from_counts([[2, 4, 0, 0, 9, 3], [4, 8, 0, 5, 1, 0]], useful="abcdef")
    found = design(joint, LIP(0.3), METHOD)
    assert isinstance(found.mechanism, SensitiveMechanism)
    assert (found.mechanism.weights.sum(axis=2) == 2**60).all()
    assert LIP(0.3).holds(joint, found.mechanism)


def test_what_is_too_large_to_check_falls_back_under_the_same_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    joint = repeating(0)
    whole = design(joint, LIP(0.2), METHOD)
    monkeypatch.setattr(coupling, "MOST_CELLS", 10)
    found = design(joint, LIP(0.2), METHOD)
    assert found.bound == pytest.approx(whole.bound, abs=SAME)
    assert found.kept < whole.kept
    assert not found.mechanism.reads_sensitive or found.mechanism.n_released < whole.mechanism.n_released


def test_the_cost_is_the_number_of_beliefs() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 30, (3, 8))[:, rng.integers(0, 8, 300)] * rng.integers(20, 90, 300)
    found = design(Joint.from_counts(counts), LIP(0.2), METHOD)
    assert found.status == "optimal"
    assert found.proof.prices.shape == (3, 8)
    assert found.mechanism.released[0]  # by what it stands for, since records are many
