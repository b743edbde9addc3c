"""Information: the general form and the closed form agree, for every kind of mechanism."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import LIP, SRLIP, Joint, Mechanism, design, measures
from discreet._support.errors import InputError
from discreet.notions import Notion
from discreet.testing import awkward_joint
from discreet.utilities import UTILITIES, Information, SeparableUtility, Utility, released_cells, utility_of

#: A method for each kind of mechanism.
KINDS = ["optimal", "grr", "oue", "conditional-reporting", "optimal-with-sensitive"]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("method", KINDS)
def test_the_closed_form_is_the_general_one(method: str, seed: int) -> None:
    joint = Joint.random(3, 6, seed=seed, concentration=0.5 if seed % 2 else None)
    mechanism = design(joint, LIP(0.6), method).mechanism
    information = Information()
    assert Utility.value(information, joint, mechanism) == pytest.approx(
        measures.useful_information(joint, mechanism), abs=1e-12
    )
    assert Utility.whole(information, joint) == pytest.approx(measures.entropy(joint), abs=1e-12)
    cells = released_cells(joint, mechanism)
    assert cells.sum(axis=1) == pytest.approx(joint.p_useful)
    if not mechanism.reads_sensitive:
        assert cells == pytest.approx(joint.p_useful[:, None] * mechanism.channel)


def test_products_and_absent_values_have_cells_too() -> None:
    joint = Joint.from_counts([[2, 1, 1, 5], [1, 4, 2, 1]], useful=[(0, 0), (0, 1), (1, 0), (1, 1)])
    mechanism = design(joint, SRLIP(0.4), "independent-attributes").mechanism
    assert Utility.value(Information(), joint, mechanism) == pytest.approx(
        measures.useful_information(joint, mechanism), abs=1e-12
    )
    absent = Joint.from_counts([[3, 0, 1], [1, 0, 3]], useful="abc")
    assert released_cells(absent, Mechanism.from_blocks(absent, [0, 0, 1])).tolist() == [[0.5, 0], [0, 0], [0, 0.5]]


@pytest.mark.parametrize("seed", range(30))
def test_costs_are_entropies_and_slopes_their_gradient(seed: int) -> None:
    information = Information()
    p = awkward_joint(seed).p_useful
    assert float(information.costs(p)) == pytest.approx(measures.entropy(p), abs=1e-12)
    shares, symbols = np.array([[0.25, 0.75]]), np.array([[3, 1]])
    assert information.costs(shares, symbols) == pytest.approx(information.costs(shares))
    inside = 0.9 * p + 0.1 / len(p)
    for form in (information.slopes, lambda *at: SeparableUtility.slopes(information, *at)):
        for general in (Utility.slopes(information, inside, 1e-6),):
            exact = form(inside, 1e-9)
            assert exact - exact.mean() == pytest.approx(general - general.mean(), abs=1e-3)
    largest = np.maximum(inside, 0.2)
    assert information.rates(largest) == pytest.approx(SeparableUtility.rates(information, largest))


@pytest.mark.parametrize("notion", [LIP(0.4), LIP(9)], ids=str)
def test_a_design_says_what_it_kept(notion: Notion) -> None:
    joint = Joint.random(3, 6, seed=2)
    found = design(joint, notion, utility="information")
    assert (found.utility, found.kept) == ("information", found.nmi)
    assert found.nmi == measures.nmi(joint, found.mechanism)
    assert found.mutual_information == measures.useful_information(joint, found.mechanism)
    assert found.to_dict()["kept"] == found.nmi
    assert f"NMI {found.nmi:.4f}" in repr(found)
    timeless = {"seconds": 0, "search_seconds": 0}
    assert design(joint, notion, utility=Information()).to_dict() | timeless == found.to_dict() | timeless


def test_utilities_are_found_by_name_or_refused() -> None:
    assert utility_of("information") is UTILITIES["information"]
    for wrong in ("informaton", "beauty"):
        with pytest.raises(InputError, match=r"Known utilities: information, accuracy, distance"):
            design(Joint.random(2, 3), LIP(1), utility=wrong)
    with pytest.raises(InputError, match="a name or a Utility"):
        utility_of(3)  # type: ignore[arg-type]
