"""Accuracy, distance and what keeps a distribution: formulas, scales, and values that have no distance."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from discreet import LIP, Joint, Mechanism, compare, design, frontier, measures
from discreet._support.errors import InputError
from discreet.utilities import UTILITIES, Accuracy, Distance, Information, Invariant, Utility, utility_of

#: Sums of a few floats.
ROUNDING = 1e-12

NUMBERS = [3, 10, 11.5, 40]


def some_channel(seed: int) -> tuple[Joint, Mechanism]:
    joint = Joint.random(3, 4, seed=seed)
    joint = Joint.from_array(joint.probabilities, useful=NUMBERS)
    channel = np.random.default_rng(seed).dirichlet(np.ones(5), 4)
    return joint, Mechanism.from_channel(channel, useful=NUMBERS)


@pytest.mark.parametrize("seed", range(5))
def test_values_are_those_of_the_best_guesses(seed: int) -> None:
    joint, mechanism = some_channel(seed)
    cells = joint.p_useful[:, None] * mechanism.channel
    right = cells.max(axis=0).sum()
    accuracy = Accuracy()
    assert accuracy.value(joint, mechanism) == pytest.approx(right - joint.p_useful.max(), abs=ROUNDING)
    assert accuracy.value(joint, mechanism) == pytest.approx(Utility.value(accuracy, joint, mechanism), abs=ROUNDING)
    assert accuracy.measured(joint, accuracy.value(joint, mechanism)).value == pytest.approx(right, abs=ROUNDING)
    values = np.array(NUMBERS)
    left = sum(min((column * np.abs(values - guess)).sum() for guess in values) for column in cells.T)
    distance = Distance()
    assert distance.measured(joint, distance.value(joint, mechanism)).value == pytest.approx(left, abs=40 * ROUNDING)
    assert distance.whole(joint) == pytest.approx(distance.prior(joint))
    assert 0 <= distance.kept(joint, distance.value(joint, mechanism)) <= 1


@pytest.mark.parametrize("seed", range(5))
def test_what_is_read_as_draws_is_what_the_measures_say(seed: int) -> None:
    joint, mechanism = some_channel(seed)
    drawn = Invariant(Accuracy())
    told = drawn.measured(joint, drawn.value(joint, mechanism)).value
    assert told == pytest.approx(measures.unchanged(joint, mechanism), abs=ROUNDING)
    far = Invariant(Distance())
    assert far.measured(joint, far.value(joint, mechanism)).value == pytest.approx(
        measures.distortion(joint, mechanism), abs=40 * ROUNDING
    )
    assert drawn.prior(joint) == pytest.approx(1 - (joint.p_useful**2).sum())


def test_published_values_are_taken_as_they_are_only_in_their_own_shares() -> None:
    joint = Joint.from_array([[0.3, 0.2], [0.2, 0.3]], useful=["a", "b"])
    told = Invariant(Accuracy())
    kept = Mechanism.from_channel([[0.9, 0.1], [0.1, 0.9]], useful=["a", "b"], released=["a", "b"])
    assert told.measured(joint, told.value(joint, kept)).value == pytest.approx(0.9)
    lopsided = Mechanism.from_channel([[0.9, 0.1], [0.5, 0.5]], useful=["a", "b"], released=["a", "b"])
    assert told.measured(joint, told.value(joint, lopsided)).value == pytest.approx(
        measures.unchanged(joint, lopsided), abs=ROUNDING
    )


@pytest.mark.parametrize("utility", [Accuracy(), Distance(), Distance(lambda x, g: (x - g) ** 2)], ids=repr)
def test_few_symbols_are_priced_like_all(utility: Accuracy | Distance) -> None:
    laid = utility.over(NUMBERS)
    shares, symbols = np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([[3, 1], [0, 2]])
    full = np.zeros((2, 4))
    np.put_along_axis(full, symbols, shares, axis=1)
    for costs in (laid.costs, laid.drawn_costs):
        assert costs(shares, symbols) == pytest.approx(costs(full), abs=ROUNDING)
    assert laid.alone(np.arange(4)).tolist() == [0, 0, 0, 0]
    assert laid.over(NUMBERS) is laid
    assert laid.costs(full).max() <= 1  # whatever the unit of the column


def test_texts_that_are_numbers_are_read_as_such() -> None:
    """The values of CSV files are texts."""
    assert Distance().losses(["1", "2.5", " 4"]).tolist() == Distance().losses([1, 2.5, 4]).tolist()
    for wrong in (["1", "nan"], ["1", "2 years"], ["1", 2]):
        with pytest.raises(InputError, match="values that are numbers"):
            Distance().losses(wrong)


def test_a_part_of_the_values_keeps_the_scale() -> None:
    laid = Distance().over([0, 1, 100])
    part = laid.over([0, 1])
    assert part.losses([0, 1]).tolist() == [[0, 0.01], [0.01, 0]]
    with pytest.raises(InputError, match="laid out over other values"):
        laid.over([0, 2])


@pytest.mark.parametrize(
    "useful", [["a", "b"], [1, None], [(1, 2), (2, 1)], [True, False], [1.0, float("inf")], [0, 10**400]]
)
def test_what_is_no_number_has_no_distance(useful: list[object]) -> None:
    joint = Joint.from_counts([[30, 10], [10, 30]], useful=useful)
    for invariant in (False, True):
        for ask in (design, compare):
            with pytest.raises(InputError, match=r"values that are numbers.*Use utility='accuracy'"):
                ask(joint, LIP(0.4), utility="distance", invariant=invariant)
        assert design(joint, LIP(0.4), utility="accuracy", invariant=invariant).kept > 0
    given = design(joint, LIP(0.4), utility=Distance(lambda x, guess: 0 if x == guess else 2))
    assert given.measured is not None
    assert given.kept == pytest.approx(design(joint, LIP(0.4), utility="accuracy").kept)
    assert (given.measured.unit, given.utility) == ("in units of X", "distance")


@pytest.mark.parametrize(
    "between", [[[0, 1]], [[0, -1], [1, 0]], [[1, 1], [1, 0]], [[0, np.nan], [1, 0]], lambda x, g: "far", "near", 3]
)
def test_distances_that_are_none_are_refused(between: object) -> None:
    with pytest.raises(InputError, match=r"distances|between"):
        design(Joint.from_counts([[3, 1], [1, 3]]), LIP(0.4), utility=Distance(between))


def test_utilities_are_values_that_never_change() -> None:
    assert list(UTILITIES) == ["information", "accuracy", "distance"]
    for utility in (Accuracy(), Distance(), Distance().over([1, 2]), Invariant(Accuracy())):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
            utility.name = "other"
        with pytest.raises(dataclasses.FrozenInstanceError):
            utility.between = None  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="read-only"):
        Distance().over([1, 2]).losses([1, 2])[0, 0] = 3


def test_only_published_values_can_keep_a_distribution() -> None:
    joint = Joint.random(2, 3)
    told = utility_of("accuracy", invariant=True)
    assert utility_of(told, invariant=True) is told
    for ask in (design, compare):
        for utility in ("information", Information()):
            with pytest.raises(InputError, match="Use it with utility='accuracy' or 'distance'"):
                ask(joint, LIP(1), utility=utility, invariant=True)
    with pytest.raises(InputError, match="Use it with"):
        frontier(joint, LIP, [1], invariant=True)


def test_released_symbols_that_are_too_many_are_refused_in_time() -> None:
    joint = Joint.random(2, 40, seed=1)
    with pytest.raises(InputError, match="too many to list"):
        design(joint, LIP(0.5), "oue", utility="accuracy")
    assert "too many" in compare(joint, LIP(0.5), ["oue", "grr"], utility="accuracy").skipped["oue"]


def test_too_many_values_have_no_matrix() -> None:
    with pytest.raises(InputError, match=r"at most 5000 values.*into bins"):
        Distance().over(range(6000))
