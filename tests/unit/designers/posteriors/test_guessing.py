"""Optima in the column's own values: labels, ties, absent values, limits of size and time, several joints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import LDP, LIP, SRLIP, Joint, L1Lift, Mechanism, Notion, PerfectPrivacy, compare, design, frontier
from discreet._support.errors import InputError
from discreet.designers.posteriors import guessing
from discreet.testing import awkward_joint
from discreet.utilities import Distance, GuessingUtility, utility_of
from tests.strategies import budgets, joints

#: Limits are told from values by sums of a few floats.
ROUNDING = 1e-9


@settings(max_examples=60)
@given(joint=joints(min_useful=2), epsilon=budgets, utility=st.sampled_from(["accuracy", "distance"]), data=st.data())
def test_every_joint_gets_a_mechanism_that_keeps_its_promise(
    joint: Joint, epsilon: float, utility: str, data: st.DataObject
) -> None:
    notion: Notion = data.draw(st.sampled_from([LIP(epsilon), LDP(epsilon), L1Lift(eps_upper=epsilon)]))
    for invariant in (False, True):
        found = design(joint, notion, utility=utility, invariant=invariant)
        assert notion.holds(joint, found.mechanism)
        assert found.bound is None or found.kept <= found.bound + ROUNDING
        wanted = utility_of(utility, invariant=invariant)
        for method in ("subset-merging", "watchdog"):
            other = design(joint, notion, method, utility=wanted)
            assert found.kept >= other.kept - ROUNDING
            assert found.bound is None or other.kept <= found.bound + ROUNDING


@pytest.mark.parametrize("invariant", [False, True])
@pytest.mark.parametrize("utility", ["accuracy", "distance"])
@pytest.mark.parametrize("seed", range(4))
def test_no_other_method_without_s_keeps_more(seed: int, utility: str, invariant: bool) -> None:
    joint = Joint.random(3, 7, seed=seed)
    found = compare(joint, LIP(0.4), utility=utility, invariant=invariant)
    assert not found.skipped
    best = next(made for made in found.designs if made.method == "optimal")
    assert best.status == "optimal"
    assert best.bound is not None
    for made in found.designs:
        assert made.mechanism.reads_sensitive or made.kept <= best.bound + ROUNDING
        assert made.utility == best.utility


@pytest.mark.parametrize("seed", range(40))
def test_awkward_joints_are_served(seed: int) -> None:
    joint = awkward_joint(seed)
    for utility in ("accuracy", "distance"):
        for invariant in (False, True):
            found = design(joint, LIP(0.3), utility=utility, invariant=invariant)
            assert LIP(0.3).holds(joint, found.mechanism)
            assert 0 <= found.kept <= 1


def test_released_labels_are_the_values_and_stay_so_where_records_are_few() -> None:
    joint = Joint.from_counts([[3, 1, 6], [1, 4, 2]], useful=["a", None, "b"])
    found = design(joint, LIP(0.4), utility="accuracy", invariant=True)
    assert found.mechanism.is_private
    assert found.mechanism.released == ("a", "null", "b")
    assert found.measured is not None
    told = joint.p_useful @ np.diag(found.mechanism.channel)
    assert found.measured.value == pytest.approx(told, abs=1e-12)


def test_one_value_and_nothing_to_hide() -> None:
    one = Joint.from_counts([[4], [2]], useful=["a"])
    assert design(one, LIP(0.3), utility="accuracy").kept == 0
    apart = Joint.from_counts([[4, 2], [2, 1]], useful=[1, 2])
    for utility in ("accuracy", "distance"):
        for invariant in (False, True):
            found = design(apart, PerfectPrivacy(), utility=utility, invariant=invariant)
            assert (found.kept, found.status) == (1.0, "optimal")


def test_a_value_that_never_occurs_is_guessed_where_that_is_best() -> None:
    """Between two far ends a middle that never occurs is the nearest guess."""
    joint = Joint.from_counts([[9, 0, 1, 5], [1, 0, 9, 5]], useful=["left", "middle", "right", "away"])
    far = Distance([[0, 1, 3, 9], [1, 0, 1, 9], [3, 1, 0, 9], [9, 9, 9, 0]])
    found = design(joint, LIP(0.1), utility=far)
    assert found.status == "optimal"
    assert "middle" in found.mechanism.released
    assert design(joint, LIP(0.1), utility="accuracy").mechanism.released == ("left", "right", "away")
    assert design(joint, LIP(0.1), utility=far, invariant=True).mechanism.released == ("left", "right", "away")


def test_a_private_channel_that_keeps_shares_falls_back_and_says_so() -> None:
    joint = Joint.from_counts([[4, 2, 2, 6], [2, 4, 6, 2]])
    found = design(joint, PerfectPrivacy(), utility="accuracy", invariant=True)
    assert PerfectPrivacy().holds(joint, found.mechanism)
    assert found.bound is not None
    assert found.kept < found.bound
    assert found.status.startswith("gap")


def test_all_joints_bind_the_channel() -> None:
    joint, other = Joint.random(3, 6, seed=1), Joint.random(3, 6, seed=2)
    alone = design(joint, LIP(0.3), utility="accuracy")
    for invariant in (False, True):
        both = design(joint, LIP(0.3), utility="accuracy", invariant=invariant, also=[other])
        assert both.status == "optimal"
        assert LIP(0.3).holds(other, both.mechanism)
    assert not LIP(0.3).holds(other, alone.mechanism)


def test_large_programmes_are_refused_with_a_way_out_which_auto_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guessing, "MOST_COEFFICIENTS", 100)
    joint = Joint.random(3, 7, seed=1)
    with pytest.raises(InputError, match=r"more than 100\. Use method='auto'"):
        design(joint, LIP(0.3), utility="accuracy")
    found = design(joint, LIP(0.3), "auto", utility="accuracy")
    assert (found.bound, found.status) == (None, "heuristic")
    assert found.kept > 0
    pairs = Joint.from_counts([[2, 1, 1, 5], [1, 4, 2, 1]], useful=[(0, 0), (0, 1), (1, 0), (1, 1)])
    monkeypatch.setattr(guessing, "MOST_COEFFICIENTS", 1)
    assert design(pairs, SRLIP(0.4), "auto", utility="accuracy").status == "heuristic"


def test_what_time_does_not_allow_is_merged() -> None:
    joint = Joint.random(5, 60, seed=1)
    found = design(joint, LIP(0.3), utility="accuracy", time_limit=1e-9)
    merged = design(joint, LIP(0.3), "subset-merging", utility="accuracy")
    assert (found.bound, found.kept) == (None, merged.kept)
    told = design(joint, LIP(0.3), utility="accuracy", invariant=True, time_limit=1e-9)
    assert told.kept > 0


def test_a_known_mechanism_is_never_left_for_less() -> None:
    joint = Joint.random(3, 6, seed=3)
    strong = design(joint, LIP(0.2), utility="distance").mechanism
    found = design(joint, LIP(0.4), utility="distance", start=strong, time_limit=1e-9)
    assert found.mechanism.weights.tolist() == strong.weights.tolist()


def test_frontiers_grow_and_attributes_are_served() -> None:
    joint = Joint.random(3, 6, seed=1)
    sweep = frontier(joint, LIP, [0.1, 0.3, 0.9], utility="accuracy", invariant=True)
    assert (np.diff([row.kept for row in sweep.rows]) >= 0).all()
    assert "invariant accuracy" in repr(sweep)
    pairs = Joint.from_counts([[2, 1, 1, 5], [1, 4, 2, 1]], useful=[(0, 0), (0, 1), (1, 0), (1, 1)])
    found = design(pairs, SRLIP(0.4), utility="accuracy")
    assert found.status == "optimal"
    with pytest.raises(InputError, match="values that are numbers"):
        design(pairs, SRLIP(0.4), utility="distance")


def test_vertices_and_channels_agree() -> None:
    for seed in range(3):
        joint = Joint.random(3, 5, seed=seed)
        for utility in ("accuracy", "distance"):
            by_vertices = design(joint, LIP(0.4), utility=utility, search="vertices")
            assert design(joint, LIP(0.4), utility=utility).kept == pytest.approx(by_vertices.kept, abs=1e-7)
        drawn = design(joint, LIP(0.4), utility="accuracy", invariant=True, search="vertices")
        assert drawn.evidence == "checkable"  # vertices know nothing of published values


def test_losses_from_outside_get_a_proof_too() -> None:
    class Initials(GuessingUtility):
        name, unit = "initials", "share"

        def losses(self, useful):  # type: ignore[no-untyped-def]
            first = np.array([value[0] for value in useful])
            return (first[:, None] != first).astype(float)

    joint = Joint.from_counts([[9, 4, 2, 3], [1, 5, 8, 4]], useful=["ape", "ant", "bee", "bat"])
    found = design(joint, LIP(0.2), utility=Initials())
    assert (found.utility, found.status, found.evidence) == ("initials", "optimal", "checkable")
    assert found.measured is not None
    assert found.measured.title == "mean loss of initials"
    with pytest.raises(InputError, match="needs to know the values"):
        Initials().costs(np.ones(4) / 4)


def test_a_mechanism_in_other_words_is_read_as_draws() -> None:
    joint = Joint.random(2, 5, seed=1)
    told = utility_of("accuracy", invariant=True)
    merged = Mechanism.from_blocks(joint, [0, 0, 1, 1, 2])
    made = design(joint, LIP(5), "subset-merging", utility=told)
    assert made.utility == "invariant accuracy"
    kept = told.measured(joint, told.value(joint, merged)).value
    cells = joint.p_useful[:, None] * merged.channel
    assert kept == pytest.approx((cells**2 / cells.sum(axis=0)).sum())
