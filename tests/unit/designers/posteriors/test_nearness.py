"""Couplings that keep close values together cost no information and bring published values closer."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.designers.posteriors.nearness import places_on_a_line
from discreet.utilities import Distance


def joint_of(labels: list[object]) -> dc.Joint:
    """Three beliefs, each held by many values in no order."""
    rng = np.random.default_rng(0)
    kinds = np.array([[8, 1, 1], [1, 8, 1], [1, 1, 8], [2, 2, 6]])
    return dc.Joint.from_counts(40 * kinds[rng.integers(0, 4, len(labels))].T, useful=labels)


def test_numbers_come_out_closer() -> None:
    values = np.random.default_rng(1).permutation(120).tolist()
    joint, notion = joint_of(values), dc.LIP(0.4)
    plain, near = dc.design(joint, notion), dc.design(joint, notion, near=Distance())
    assert near.nmi == pytest.approx(plain.nmi, abs=1e-9)
    assert near.bound == plain.bound
    assert near.distortion < 0.8 * plain.distortion


def test_words_come_out_closer_by_a_distance_of_ones_own() -> None:
    rng = np.random.default_rng(2)
    words = [f"w{k:03d}" for k in rng.permutation(90)]
    joint, notion = joint_of(words), dc.LIP(0.4)

    def apart(one: str, other: str) -> float:
        return abs(int(one[1:]) - int(other[1:]))

    matrix = np.array([[apart(a, b) for b in words] for a in words])
    distances = []
    for options in ({}, {"near": Distance(apart)}):
        made = dc.design(joint, notion, "auto", **options).mechanism.in_values(joint)
        channel = np.zeros((90, 90))
        channel[:, [words.index(x) for x in made.released_values]] = made.channel
        distances.append(float(joint.p_useful @ (channel * matrix).sum(axis=1)))
    assert distances[1] < 0.8 * distances[0]


def test_places_follow_the_distance() -> None:
    points = np.random.default_rng(3).uniform(0, 1, 50)
    places = places_on_a_line(Distance(np.abs(points[:, None] - points)), list(range(50)))
    assert abs(np.corrcoef(places, points)[0, 1]) > 0.999


def test_what_is_no_distance_is_refused() -> None:
    joint = joint_of(list("abcdefgh"))
    with pytest.raises(dc.errors.InputError, match="near takes"):
        dc.design(joint, dc.LIP(0.4), near="numbers")
    with pytest.raises(dc.errors.InputError, match="needs values that are numbers"):
        dc.design(joint, dc.LIP(0.4), near=Distance())
