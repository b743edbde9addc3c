"""Mechanisms that tell about single people: who is one, what keeps being one, and what their files hold."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from discreet import ALIP, LIP, SRLIP, Joint, Mechanism, design
from discreet._support.errors import InvalidMechanismError, UnseenSymbolError
from discreet.mechanism import About, ProductMechanism, SensitiveMechanism

COMMON = Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", "b", "c"])
FEW = Joint.from_counts([[3, 2, 1], [1, 1, 3]], useful=["a", "b", "c"])


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.parametrize("method", ["optimal", "watchdog", "grr", "oue", "conditional-reporting", "auto"])
def test_designs_on_few_records_are_private(method: str) -> None:
    assert design(FEW, LIP(0.5), method).mechanism.is_private
    assert not design(COMMON, LIP(0.5), method).mechanism.is_private


def test_one_joint_with_rare_values_is_enough() -> None:
    assert design(COMMON, LIP(0.5), also=[FEW]).mechanism.is_private
    assert not design(COMMON, LIP(0.5), also=[COMMON]).mechanism.is_private


def test_what_starts_from_a_private_mechanism_is_private() -> None:
    start = design(FEW, LIP(0.5)).mechanism
    assert design(COMMON, LIP(0.5), start=start).mechanism.is_private


def test_a_method_from_outside_that_knows_nothing_of_it_makes_private_mechanisms() -> None:
    def constant(joint: Joint, notion: object) -> Mechanism:
        return Mechanism.from_channel(np.ones((joint.n_useful, 1)), useful=joint.useful)

    assert design(FEW, LIP(0.5), constant).mechanism.is_private


def test_privacy_is_carried_along() -> None:
    secret, known = design(FEW, LIP(0.5)).mechanism, design(COMMON, LIP(0.5)).mechanism
    blunt = Mechanism.from_channel(np.ones((secret.n_released, 1)), useful=secret.released)
    assert secret.promising(None).is_private
    assert secret.compose(blunt).is_private
    assert secret.reweighted(secret.weights, secret.released).is_private
    last = Mechanism.from_channel(np.ones((known.n_released, 1)), useful=known.released, is_private=True)
    assert known.compose(last).is_private
    assert not known.compose(Mechanism.from_channel(np.ones((known.n_released, 1)), useful=known.released)).is_private


def test_all_parts_of_a_private_product_are_private() -> None:
    tuples = [(a, b) for a in "xy" for b in "uv"]
    few = Joint.from_counts([[3, 2, 1, 2], [1, 1, 3, 2]], useful=tuples)
    product = design(few, SRLIP(0.8), "independent-attributes").mechanism
    assert isinstance(product, ProductMechanism)
    assert product.is_private
    assert all(part.is_private for part in product.parts)
    assert all("%" not in name for part in product.parts for name in part.released)
    plain = [Mechanism.from_channel(np.eye(2), useful=values, is_private=values == "uv") for values in ("xy", "uv")]
    both = ProductMechanism(plain, tuples)
    assert both.is_private
    assert both.parts[0].is_private
    assert Mechanism.from_dict(both.to_dict()) == both


def test_a_public_file_holds_what_draws_need_and_no_share_of_the_table(tmp_path: Path) -> None:
    mechanism = design(COMMON, LIP(0.5)).mechanism
    mechanism.to_json(tmp_path / "m.json")
    stored = json.loads((tmp_path / "m.json").read_text())
    assert mode(tmp_path / "m.json") == 0o644
    assert not {"p_useful", "p_joint", "counts"} & set(stored)
    assert stored["private"] is False
    again = Mechanism.from_json(tmp_path / "m.json")
    assert again.fingerprint == mechanism.fingerprint
    assert (again.weights == mechanism.weights).all()


def test_a_file_with_everything_is_for_its_owner_alone(tmp_path: Path) -> None:
    for name, joint in (("few", FEW), ("common", COMMON)):
        mechanism = design(joint, LIP(0.5), "conditional-reporting").mechanism
        mechanism.to_json(tmp_path / name, private=True)
        assert mode(tmp_path / name) == 0o600
        assert Mechanism.from_json(tmp_path / name) == mechanism
        assert {"p_useful", "p_joint"} <= set(json.loads((tmp_path / name).read_text()))


def test_the_public_part_of_a_private_mechanism_is_private_unless_it_is_published_on_purpose(tmp_path: Path) -> None:
    mechanism = design(FEW, LIP(0.5)).mechanism
    target = tmp_path / "m.json"
    target.write_text("{}")
    target.chmod(0o644)
    mechanism.to_json(target)
    assert mode(target) == 0o600
    assert "p_useful" not in target.read_text()
    assert Mechanism.from_json(target).is_private
    mechanism.to_json(target, private=False)
    assert mode(target) == 0o644
    assert "p_useful" not in target.read_text()


def test_products_store_no_shares_of_their_parts_either(tmp_path: Path) -> None:
    tuples = [(a, b) for a in "xy" for b in "uv"]
    joint = Joint.from_counts([[30, 20, 20, 30], [20, 30, 30, 40]], useful=tuples)
    design(joint, SRLIP(0.8), "independent-attributes").mechanism.to_json(tmp_path / "m.json")
    assert "p_useful" not in (tmp_path / "m.json").read_text()


def test_files_that_say_nothing_of_it_are_read_as_not_private_and_nonsense_is_refused() -> None:
    stored = design(FEW, LIP(0.5)).mechanism.to_dict()
    old = {name: value for name, value in stored.items() if name != "private"}
    assert not Mechanism.from_dict(old).is_private
    for wrong in (None, 1, "true", []):
        with pytest.raises(InvalidMechanismError, match="private of a stored mechanism"):
            Mechanism.from_dict(stored | {"private": wrong})


def test_a_mechanism_that_is_kept_private_draws_alike() -> None:
    public = Mechanism.from_channel(np.eye(2))
    assert public.kept_private().fingerprint == public.fingerprint
    assert public.kept_private().about.is_private
    assert not About().is_private


def test_labels_of_a_private_mechanism_tell_no_shares_and_no_company() -> None:
    """Who shares a released value with whom follows from what each tells about S."""
    notion = ALIP(eps_lower=0.2, eps_upper=0.4)
    made = design(FEW, notion).mechanism
    assert any("%" in name for name in design(COMMON, notion).mechanism.released)
    assert all(name in FEW.useful or name.startswith("symbol ") for name in made.released)
    assert notion.holds(FEW, made)
    merged = design(FEW, LIP(0.5), "subset-merging").mechanism
    assert any(name.startswith("{") for name in merged.released)  # which the release shows anyhow


def test_numbered_labels_never_collide_with_values() -> None:
    half = [[0.5, 0.5, 0], [0, 0.5, 0.5]]
    mechanism = Mechanism.from_channel(
        half, useful=["symbol 1", "b"], released=["b 60 %, symbol 1 40 %", "symbol 1", "b"]
    )
    assert mechanism.unnamed().released == ("symbol 1", "symbol 1 (2)", "b")


@pytest.mark.parametrize("method", ["optimal", "watchdog", "oue", "conditional-reporting"])
def test_a_codebook_is_made_from_the_table_at_hand(method: str) -> None:
    """By label, whatever the order, and the same as the one of the design on its own table."""
    mechanism = design(COMMON, LIP(0.5), method).mechanism
    public = Mechanism.from_dict(mechanism.public_dict())
    with pytest.raises(InvalidMechanismError, match=r"codebook\(joint\)"):
        public.codebook()
    assert public.codebook(COMMON).keys() == mechanism.codebook().keys()
    for name, meaning in mechanism.codebook().items():
        assert public.codebook(COMMON)[name] == pytest.approx(meaning)
    turned = Joint.from_counts([[25, 15, 10], [5, 15, 30]], sensitive=[1, 0], useful=["c", "b", "a"])
    for name, meaning in public.codebook(turned).items():
        assert {x: p for x, p in meaning.items() if p > 0} == pytest.approx(mechanism.codebook()[name])
    with pytest.raises(UnseenSymbolError):
        public.codebook(Joint.from_counts([[1, 1], [1, 1]], useful=["a", "z"]))


def test_a_codebook_of_another_table_has_its_shares() -> None:
    mechanism = Mechanism.from_blocks(COMMON, [0, 0, 1])
    other = Joint.from_counts([[30, 10], [0, 0]], useful=["a", "c"])
    assert mechanism.codebook(other) == {"{a, b}": {"a": 1.0, "b": 0.0}, "c": {"c": 1.0}}


def test_mechanisms_that_read_s_take_the_pairs_of_the_table() -> None:
    weights = (np.array([[[1.0, 0], [0, 1]], [[0, 1], [0, 1]]]) * 2**60).astype(np.int64)
    joint = Joint.from_counts([[1, 1], [1, 1]], useful=["a", "b"])
    mechanism = SensitiveMechanism.from_cells(joint, weights, ["y", "z"])
    book = mechanism.codebook(Joint.from_counts([[1, 0], [3, 1]], useful=["a", "b"]))
    assert book["y"] == {"a": 1.0}
    assert book["z"] == pytest.approx({"a": 0.75, "b": 0.25})
