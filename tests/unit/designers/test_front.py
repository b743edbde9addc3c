"""What the front door of all designers refuses, copies and never claims."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from discreet import LDP, LIP, SRLIP, Joint, Mechanism, ProductMechanism, SensitiveMechanism, design, frontier, measures
from discreet._support.errors import InputError, InvalidMechanismError, UnseenSymbolError
from discreet.frontiers.rows import carried


def test_other_priors_may_come_from_a_generator() -> None:
    joint, other = Joint.random(3, 5, seed=1), Joint.random(3, 5, seed=101, concentration=0.3)
    robust = design(joint, LIP(0.2), also=(prior for prior in [other]))
    assert LIP(0.2).holds(other, robust.mechanism)
    for wrong in (None, other, ["x"]):
        with pytest.raises(InputError, match="list of joints"):
            design(joint, LIP(0.2), also=wrong)


@pytest.mark.parametrize("epsilon", [1e-16, 1e-14, 1e-12, 1e-10, 1e-8])
def test_no_bound_is_claimed_that_rounding_could_break(epsilon: float) -> None:
    """A joint so close to independence that lifts differ by the budget: what is allowed stays below the bound."""
    total, off = 10**18, max(1, int(epsilon * 10**18))
    joint = Joint.from_counts(
        np.array([[total + 2 * off, total - 2 * off], [total - 2 * off, total + 2 * off]], dtype=object)
    )
    bound = design(joint, LIP(epsilon)).bound
    for keep in np.linspace(0.5, 1, 60):
        mechanism = Mechanism.from_channel([[keep, 1 - keep], [1 - keep, keep]])
        if LIP(epsilon).holds(joint, mechanism):
            assert measures.nmi(joint, mechanism) <= bound + 1e-12


def test_values_that_never_occur_prove_nothing() -> None:
    cells = np.zeros((2, 5))
    cells[:, :4] = Joint.random(2, 4, seed=4).probabilities
    joint = Joint.from_array(cells)
    start = Mechanism.from_blocks(joint, [2, 1, 0, 1, 9])
    hasty = design(joint, LIP(0.15), start=start, time_limit=1e-9)
    assert hasty.bound >= design(joint, LIP(0.15)).nmi - 1e-9
    assert start.notion is None  # the given mechanism is not written to
    assert start.method is None
    assert design(Joint.from_array([[0.3, 0.2, 0], [0.2, 0.3, 0]]), LIP(9), "grr").status == "optimal"


def test_mechanisms_that_read_s_do_not_hide_behind_x() -> None:
    """y = s xor x tells nothing of S by itself, and everything to those who know x."""
    joint = Joint.from_counts([[1, 1], [1, 1]], useful=[(0, 0), (1, 1)])
    weights = np.zeros((2, 2, 2), dtype=np.int64)
    for s, x in np.ndindex(2, 2):
        weights[s, x, s ^ x] = 2**60
    mechanism = SensitiveMechanism.from_cells(joint, weights, ["0", "1"])
    assert LIP(0).holds(joint, mechanism)
    assert not SRLIP(0.5).holds(joint, mechanism)


def test_empty_labels_do_not_weaken_srlip() -> None:
    useful = [(0, 0), (0, 1), (1, 0), (1, 1)]
    joint = Joint.from_counts([[2, 1, 1, 2, 0], [1, 2, 2, 1, 0]], useful=[*useful, None])
    assert not SRLIP(0.3).holds(joint, Mechanism.from_blocks(joint, [0, 0, 1, 1, 1]))
    mixed = Joint.from_counts([[2, 1], [1, 2]], useful=[(0, 0), "x"])
    with pytest.raises(InputError, match="one number of attributes"):
        SRLIP(0.3).holds(mixed, Mechanism.from_blocks(mixed, [0, 0]))


def test_a_carried_row_says_what_it_is() -> None:
    rows = list(frontier(Joint.random(3, 6, seed=2), LIP, [0.3, 0.5]).rows)
    low, high = rows
    less = {"nmi": 0.01, "kept": 0.01}
    poor = dataclasses.replace(high, **less, design=dataclasses.replace(high.design, **less))
    row = list(carried([low, poor]))[1]
    assert row.nmi == low.nmi
    assert row.status.startswith("gap")
    assert row.design.bound == row.bound == high.bound


def test_rare_values_are_unseen_all_the_same() -> None:
    mechanism = design(
        Joint.from_counts([[3, 1], [1, 3]], sensitive="ab", useful="xz"), LIP(0.2), "conditional-reporting"
    ).mechanism
    big = 10**400
    rare = Joint.from_counts(np.array([[big, 1], [big, 1]], dtype=object), sensitive="ab", useful="xU")
    with pytest.raises(UnseenSymbolError):
        rare.through(mechanism)


@pytest.mark.parametrize("seed", range(20))
def test_rare_cells_do_not_stop_the_optimum_that_reads_s(seed: int) -> None:
    joint = Joint.random(4, 5, seed=seed, concentration=0.05)
    result = design(joint, LIP(0.5), "optimal-with-sensitive")
    assert LIP(0.5).holds(joint, result.mechanism)
    assert result.bound is None or result.bound >= result.nmi


def test_the_optimum_that_reads_s_says_that_it_is_not_searched_for_at_budget_zero() -> None:
    joint = Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", "b", "c"])
    nothing, little = (design(joint, LIP(epsilon), "optimal-with-sensitive") for epsilon in (0, 1e-4))
    assert any("not searched where a budget is zero" in note for note in nothing.notes)
    assert nothing.nmi < little.nmi
    assert little.notes == ()


@pytest.mark.parametrize("method", ["grr", "oue", "conditional-reporting", "tight-rr", "optimal-with-sensitive"])
@pytest.mark.parametrize("epsilon", [1e-300, 1e-17, 1e-15])
def test_budgets_below_the_integers_merge_everything(method: str, epsilon: float) -> None:
    joint = Joint.from_counts([[3, 1, 2], [1, 3, 1]])
    for notion in (LIP(epsilon), LDP(epsilon)):
        assert notion.holds(joint, design(joint, notion, method).mechanism)


def test_attributes_without_budget_release_constants() -> None:
    joint = Joint.from_counts([[5, 2, 5], [1, 3, 7]], useful=[("a", 0), ("b", 0), ("c", 0)])
    result = design(joint, SRLIP(0), "independent-attributes")
    assert SRLIP(0).holds(joint, result.mechanism)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"time_limit": "3"}, "time_limit"),
        ({"time_limit": 0}, "time_limit"),
    ],
)
def test_shared_options_are_checked_once(options: dict[str, object], message: str) -> None:
    for method in ("optimal", "subset-response", "auto", "optimal-with-sensitive"):
        with pytest.raises(InputError, match=message):
            design(Joint.random(2, 3), LIP(1), method, **options)


@pytest.mark.parametrize(
    "arguments",
    [
        {"epsilons": 0.5},
        {"epsilons": ["a"]},
        {"epsilons": [None]},
        {"epsilons": [0.5], "lams": [0.5]},
        {"epsilons": [0.5], "workers": None},
        {"epsilons": [0.5], "tim_limit": 3},
        {"epsilons": [0.5], "methods": "optimal"},
    ],
)
def test_frontiers_refuse_odd_arguments(arguments: dict[str, object]) -> None:
    with pytest.raises(InputError):
        frontier(Joint.random(2, 3), LIP, **arguments)


def test_damaged_kinds_are_refused() -> None:
    joint = Joint.random(2, 3)
    reading = design(joint, LIP(0.2), "conditional-reporting").mechanism.to_dict()
    parts = ProductMechanism([Mechanism.from_channel([[1.0]], useful=["a"])], [("a",)]).to_dict()
    for damaged in (
        reading | {"p_joint": [[None, 0, 0], [0, 0, 0]]},
        reading | {"p_joint": [[-1, 0, 0], [0, 0, 0]]},
        reading | {"method": "\ud800"},
        parts | {"parts": [], "useful": [[]]},
    ):
        with pytest.raises(InvalidMechanismError):
            Mechanism.from_dict(damaged)
