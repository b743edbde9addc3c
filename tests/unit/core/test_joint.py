"""Joints: what is accepted, what is kept exactly, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import LDP, LIP, Chi2Lift, Joint, Mechanism, design, measures
from discreet._support.errors import InputError, InvalidJointError, UnseenSymbolError, UnusableColumnError


def test_counts_are_kept_exactly_at_any_size() -> None:
    joint = Joint.from_counts(np.array([[10**40, 1], [0, 7]], dtype=object))
    assert joint.masses.tolist() == [[10**40, 1], [0, 7]]
    assert joint.records == 10**40 + 8
    small = Joint.from_counts([[3, 1], [0, 7]])
    assert small.counts is not None
    assert small.counts.dtype == np.int64


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ([[0.5, 0.4]], "sum to 1"),
        ([[0.5, np.nan]], "NaN"),
        ([[1.5, -0.5]], "between"),
        ([[np.inf, 0.0]], "between"),
        ([0.5, 0.5], "matrix"),
        ([[]], "matrix"),
        ([["a", "b"]], "numbers"),
    ],
)
def test_an_array_that_is_no_joint_is_refused(bad, says: str) -> None:
    with pytest.raises(InvalidJointError, match=says):
        Joint.from_array(bad)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ([[0.5, 0.5]], "integers"),
        ([[-1, 2]], "at least 0"),
        ([[0, 0]], "all be 0"),
        (np.array([[1, 2.5]], dtype=object), "integers"),
        (np.array([[True, False]]), "integers"),
    ],
)
def test_counts_that_are_none_are_refused(bad, says: str) -> None:
    with pytest.raises(InvalidJointError, match=says):
        Joint.from_counts(bad)


def test_labels_must_fit_and_differ() -> None:
    with pytest.raises(InvalidJointError, match="2 labels"):
        Joint.from_counts([[1, 2]], useful=["a"])
    with pytest.raises(InvalidJointError, match="distinct"):
        Joint.from_counts([[1, 2]], useful=["a", "a"])


def test_numpy_labels_become_plain_values() -> None:
    joint = Joint.from_counts([[1, 2]], useful=np.array([4, 5]))
    assert [type(label) for label in joint.useful] == [int, int]


@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (-1, 2)])
def test_random_joints_need_symbols(sizes: tuple[int, int]) -> None:
    with pytest.raises(InputError):
        Joint.random(*sizes)


def test_random_joints_are_the_ones_the_papers_use() -> None:
    cells = np.random.default_rng(5).random((3, 4))
    assert Joint.random(3, 4, seed=5).probabilities == pytest.approx(cells / cells.sum())
    dirichlet = Joint.random(3, 4, seed=5, concentration=0.5)
    assert dirichlet.probabilities.sum() == pytest.approx(1)
    with pytest.raises(InputError):
        Joint.random(2, 2, concentration=-1)


def test_through_matches_labels_not_positions() -> None:
    joint = Joint.from_counts([[3, 1], [1, 5]], useful=["a", "b"])
    mechanism = Mechanism.from_channel([[1, 0], [0, 1]], useful=["b", "a"], released=["B", "A"])
    assert joint.through(mechanism).probabilities.tolist() == [[0.1, 0.3], [0.5, 0.1]]
    assert joint.through(mechanism).released == ("B", "A")


def test_a_value_that_the_mechanism_does_not_know_stops_it() -> None:
    joint = Joint.from_counts([[3, 1, 2]], useful=["a", "b", "c"])
    mechanism = Mechanism.from_channel([[1], [1]], useful=["a", "b"])
    with pytest.raises(UnseenSymbolError, match="1 of 3"):
        joint.through(mechanism)
    without = Joint.from_counts([[3, 1, 0]], useful=["a", "b", "c"])
    assert without.through(mechanism).probabilities.tolist() == [[1.0]]


def test_zero_mass_symbols_are_skipped_by_measures_and_hidden_by_designs() -> None:
    joint = Joint.from_counts([[30, 0, 5, 9], [10, 0, 25, 9]], useful=["a", "new", "c", "d"])
    assert measures.max_lift(joint)[1] == measures.min_lift(joint)[1] == 1
    assert measures.l1_lift(joint)[1] == measures.l1_lift_inverse(joint)[1] == 0
    for method in ("watchdog", "subset-merging"):
        mechanism = design(joint, LIP(0.5), method).mechanism
        assert mechanism.is_deterministic
        block = mechanism.released[int(mechanism.weights[1].argmax())]
        assert "new" in block
        assert block.startswith("{")
    harmless = design(joint, LIP(5), "watchdog").mechanism
    assert harmless.released == ("{a, new}", "c", "d")


def test_a_sensitive_value_without_mass_is_an_error_in_designs() -> None:
    joint = Joint.from_counts([[1, 2], [0, 0]], sensitive=["ill", "never"])
    assert measures.max_lift(joint).tolist() == [1, 1]
    with pytest.raises(UnusableColumnError, match="never"):
        design(joint, LIP(1))


def test_one_useful_symbol_is_a_valid_joint() -> None:
    joint = Joint.from_counts([[3], [4]])
    result = design(joint, LIP(0.1), "subset-merging")
    assert result.nmi == 0
    assert measures.mutual_information(joint) == 0


def test_representations_read_well() -> None:
    joint = Joint.from_counts([[3, 1]], useful=["<a>", "b"], sensitive_columns=["s"], useful_columns=["x"])
    assert repr(joint) == "Joint(1 sensitive x 2 useful, s given by x, 4 records)"
    assert "&lt;a&gt;" in joint._repr_html_()
    assert joint.to_dict()["counts"] == [[3, 1]]
    result = design(Joint.random(3, 4), LIP(0.2))
    assert "NMI" in repr(result)
    assert "<table>" in result._repr_html_()
    assert "useful" in repr(result.mechanism)


def test_what_was_counted_cannot_be_changed() -> None:
    joint = Joint.from_counts([[5, 5], [5, 5]])
    for array in (joint.counts, joint.masses, joint.probabilities):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 50
    mechanism = design(joint, LIP(1), "watchdog").mechanism
    for array in (mechanism.weights, mechanism.channel):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 50


@pytest.mark.parametrize("epsilon", [700.0, 710.0, 1e6, 1e300])
def test_budgets_beyond_floats_still_forbid_zero_lifts(epsilon: float) -> None:
    joint = Joint.from_counts([[5, 1, 0], [0, 2, 3]])
    for notion in (LIP(epsilon), LDP(epsilon), Chi2Lift(eps_lower=epsilon)):
        for method in ("watchdog", "subset-merging"):
            assert notion.holds(joint, design(joint, notion, method).mechanism)
        assert not notion.holds(joint)


def test_wide_joints_of_counts_are_screened_in_floats_and_decided_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of counts lose nothing, so that only what lies close to a budget needs integers."""
    from discreet import LIP
    from discreet.core import joint as module
    from discreet.notions import exact

    counts = np.random.default_rng(5).poisson(3, (4, 300))
    counts[:, 0] = counts[:, 1:].sum(axis=1)  # tells nothing: as close to a budget of zero as can be
    wanted = {e: LIP(e).allowed(Joint.from_counts(counts)) for e in (0, 0.3, 1)}
    monkeypatch.setattr(module, "MOST_SUMMED", 100)
    asked: list[int] = []
    keeps = exact.keeps
    monkeypatch.setattr(exact, "keeps", lambda masses, *rest: (asked.append(len(rest[1])), keeps(masses, *rest))[1])
    wide = Joint.from_counts(counts)
    assert wide.floats_suffice
    assert wide.p_useful.tolist() == (counts.sum(axis=0) / counts.sum()).tolist()
    assert all(np.array_equal(LIP(e).allowed(wide), wanted[e]) for e in wanted)
    assert sum(asked) < 300
    assert "masses" not in wide.__dict__
    assert not Joint.from_array(wide.probabilities).floats_suffice
    assert not Joint.from_counts(counts.T).floats_suffice
    tall = Joint.from_counts(counts.astype(object) * 10**30)
    assert not tall.floats_suffice
    assert np.array_equal(LIP(0.3).allowed(tall), wanted[0.3])
