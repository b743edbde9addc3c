"""Frontiers of a promise on one side: they grow, keep their promise, and say which side they are about."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from discreet import ALIP, LIP, AlphaLift, Chi2Lift, Frontier, Joint, L1Lift, MaxLift, frontier
from discreet._support.errors import InputError
from discreet.frontiers.record import EPSILON_TOLERANCE

EPSILONS = [0.1, 0.3, 0.5, 0.8]
METHODS = ["subset-merging", "optimal"]

#: Families of one budget that leave a side open; the lower sides of l1 and chi2 are not convex and take longer.
FAMILIES = {
    "alip upper": lambda e: ALIP(eps_upper=e),
    "alip lower": lambda e: ALIP(eps_lower=e),
    "l1 upper": lambda e: L1Lift(eps_upper=e),
    "l1 lower": lambda e: L1Lift(eps_lower=e),
    "chi2 upper": lambda e: Chi2Lift(eps_upper=e),
    "chi2 lower": lambda e: Chi2Lift(eps_lower=e),
    "alpha-lift upper": lambda e: AlphaLift(2, eps_upper=e),
    "alpha-lift lower": lambda e: AlphaLift(2, eps_lower=e),
}


@pytest.fixture(scope="module")
def joint() -> Joint:
    return Joint.random(3, 6, seed=1)


@pytest.fixture(scope="module")
def upper(joint: Joint) -> Frontier:
    return frontier(joint, FAMILIES["alpha-lift upper"], EPSILONS, METHODS)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_curve_of_a_side_grows_and_keeps_its_promise(name: str, joint: Joint) -> None:
    sweep = frontier(joint, FAMILIES[name], EPSILONS, METHODS)
    assert {row.side for row in sweep.rows} == {name.split()[1]}
    for rows in sweep.curves().values():
        assert (np.diff([row.kept for row in rows]) >= 0).all()
        for row in rows:
            assert FAMILIES[name](row.epsilon).holds(joint, row.design.mechanism)
            assert row.bound is None or row.bound >= row.kept
    assert sweep.knee() in sweep.best()


@pytest.mark.parametrize("name", ["alip upper", "l1 upper", "chi2 upper", "alpha-lift upper"])
def test_upper_sides_have_proven_optima(name: str, joint: Joint) -> None:
    rows = frontier(joint, FAMILIES[name], EPSILONS).rows
    assert [row.status for row in rows] == ["optimal"] * len(EPSILONS)


def test_only_a_promise_on_one_side_has_a_side() -> None:
    limited = (ALIP(eps_upper=1), L1Lift(eps_lower=1), MaxLift(1))
    assert [notion.only_side for notion in limited] == ["upper", "lower", "upper"]
    both = (LIP(1), ALIP(eps_lower=1, eps_upper=1), LIP(1) & MaxLift(0.5))
    assert [notion.only_side for notion in both] == [None] * 3


def test_a_notion_of_two_sides_is_no_family_by_itself(joint: Joint) -> None:
    with pytest.raises(InputError, match=r"lambda epsilon: ALIP\(eps_upper=epsilon\)"):
        frontier(joint, ALIP, [0.5])


def test_the_smallest_budget_of_a_side_is_the_smallest(joint: Joint, upper: Frontier) -> None:
    smallest = upper.smallest(0.9)
    assert (smallest.side, smallest.kept >= 0.9) == ("upper", True)
    below = frontier(joint, FAMILIES["alpha-lift upper"], [smallest.epsilon - 2 * EPSILON_TOLERANCE])
    assert below.rows[0].bound < 0.9


def test_families_that_cannot_be_pickled_serve_several_workers(joint: Joint, upper: Frontier) -> None:
    two = frontier(joint, FAMILIES["alpha-lift upper"], EPSILONS, METHODS, workers=2)
    assert [(r.method, r.side, r.epsilon, r.nmi, r.bound) for r in two.rows] == [
        (r.method, r.side, r.epsilon, r.nmi, r.bound) for r in upper.rows
    ]


def test_files_and_words_say_which_side(upper: Frontier, tmp_path: Path) -> None:
    for name in ("f.csv", "f.json", "f.svg"):
        upper.save(tmp_path / name)
    assert {row["side"] for row in csv.DictReader(io.StringIO((tmp_path / "f.csv").read_text()))} == {"upper"}
    stored = json.loads((tmp_path / "f.json").read_text())
    assert {row["side"] for row in [*stored["rows"], stored["knee"]]} == {"upper"}
    assert "epsilon of the upper side (nats)" in (tmp_path / "f.svg").read_text()
    assert "epsilon of the upper side 0.1 to 0.8" in repr(upper)


def test_sweeps_of_both_sides_say_nothing_of_one(joint: Joint) -> None:
    sweep = frontier(joint, LIP, [0.5], ["watchdog"])
    assert [row.side for row in sweep.rows] == [None]
    assert "side" not in repr(sweep)
