"""Bits: the sets that decide, utility without listing, labels, storage."""

from __future__ import annotations

import pytest

from discreet import ALIP, LDP, LIP, BitMechanism, Chi2Lift, Joint, MaxLift, Mechanism, design, measures
from discreet._support.errors import InputError, InvalidMechanismError, UnseenSymbolError, UnsupportedNotionError
from discreet.mechanism import bits
from discreet.testing import awkward_joint

HALF = 2**59


@pytest.mark.parametrize("seed", range(40))
def test_few_sets_decide_like_all_of_them(seed: int) -> None:
    joint = awkward_joint(seed, n_useful=2 + seed % 5)
    mechanism = BitMechanism(joint.useful, HALF, int(HALF * (0.02 + 0.9 * ((seed * 37) % 50) / 50)))
    everything = joint.through(mechanism)
    for notion in (LIP(0.2), ALIP(eps_lower=0.3), MaxLift(0.1), LDP(0.4)):
        few = mechanism.judged(joint, [bound.kind for bound in notion.bounds])
        assert notion.holds(joint, mechanism) == notion.allowed(everything).all()
        assert notion.levels(few).max(axis=1) == pytest.approx(notion.levels(everything).max(axis=1), abs=1e-9)


@pytest.mark.parametrize("other", [0, HALF // 7, HALF // 2, HALF])
def test_utility_is_that_of_the_listed_channel(other: int) -> None:
    joint = Joint.random(2, 7, seed=4)
    mechanism = BitMechanism(joint.useful, HALF, other)
    listed = measures.mutual_information(Joint.from_array(joint.p_useful[:, None] * mechanism.channel))
    assert measures.useful_information(joint, mechanism) == pytest.approx(listed, abs=1e-12)


def test_the_grid_understates_utility_by_little(monkeypatch: pytest.MonkeyPatch) -> None:
    joint = Joint.random(2, 12, seed=4)
    mechanism = BitMechanism(joint.useful, HALF, HALF // 5)
    exactly = measures.useful_information(joint, mechanism)
    monkeypatch.setattr(bits, "MOST_SUMS", 1)
    assert exactly - 1e-6 < measures.useful_information(joint, mechanism) <= exactly


def test_large_alphabets_are_served() -> None:
    joint = Joint.random(4, 300, seed=1)
    result = design(joint, LIP(0.5), "oue")
    assert 0 <= LIP(0.5).slack(joint, result.mechanism) <= 1e-9
    assert 0 < result.nmi < 0.5
    for attribute in ("channel", "released"):
        with pytest.raises(InvalidMechanismError, match="16 bits"):
            getattr(result.mechanism, attribute)
    with pytest.raises(UnsupportedNotionError, match="bound lifts"):
        Chi2Lift(eps_upper=1).holds(joint, result.mechanism)


def test_released_symbols_are_strings_of_bits() -> None:
    mechanism = BitMechanism(["a", "b"], HALF, HALF // 2, p_useful=[0.5, 0.5])
    assert mechanism.released == ("00", "10", "01", "11")
    assert mechanism.channel[0].tolist() == [0.375, 0.375, 0.125, 0.125]
    assert list(mechanism.codebook()["10"]) == ["a", "b"]
    with pytest.raises(InvalidMechanismError, match="true_weight"):
        _ = mechanism.weights
    for wrong in ({"1": 3}, {"2x": 1}, ([5, 5, 5], 9), ([10, 1], 5)):
        with pytest.raises(InputError):
            mechanism.estimate(wrong)
    assert mechanism.estimate({"10": 50, "01": 50}).probabilities == pytest.approx([1, 1])


def test_bits_survive_json_and_meet_only_known_values(tmp_path) -> None:
    mechanism = BitMechanism([("x", 1), None], HALF, 7)
    mechanism.to_json(tmp_path / "m.json")
    assert Mechanism.from_json(tmp_path / "m.json") == mechanism
    with pytest.raises(UnseenSymbolError):
        LIP(1).holds(Joint.random(2, 2), mechanism)
    for true, other in ((HALF, HALF + 1), (2**61, 1), (5, -1)):
        with pytest.raises(InvalidMechanismError):
            BitMechanism(["a"], true, other)
