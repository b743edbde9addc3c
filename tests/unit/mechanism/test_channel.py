"""Mechanisms: integer weights, composition, codebooks, storage."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import numpy as np
import pytest

from discreet import Joint, Mechanism
from discreet._support.errors import InputError, InvalidMechanismError
from discreet.core import labels

DENOMINATOR = 2**60


@pytest.mark.parametrize("seed", range(20))
def test_rounded_rows_sum_exactly_and_stay_close(seed: int) -> None:
    rng = np.random.default_rng(seed)
    channel = rng.dirichlet(np.full(40, 0.05), size=6)
    channel[channel < 1e-9] = 0
    channel /= channel.sum(axis=1, keepdims=True)
    mechanism = Mechanism.from_channel(channel)
    assert (mechanism.weights.astype(object).sum(axis=1) == DENOMINATOR).all()
    used = channel.max(axis=0) > 0
    assert ((mechanism.weights == 0) | (channel[:, used] > 0)).all()
    assert np.abs(mechanism.channel - channel[:, used]).max() < 1e-14


def test_equal_rows_stay_equal() -> None:
    row = np.random.default_rng(0).dirichlet(np.ones(7))
    weights = Mechanism.from_channel([row, row, row]).weights
    assert (weights == weights[0]).all()


@pytest.mark.parametrize(
    ("channel", "says"),
    [([[0.5, 0.4]], "sum to 1"), ([[1.5, -0.5]], "at least 0"), ([[np.nan, 1]], "finite"), ([1.0], "matrix")],
)
def test_a_wrong_channel_is_refused(channel, says: str) -> None:
    with pytest.raises(InvalidMechanismError, match=says):
        Mechanism.from_channel(channel)


def test_weights_must_sum_to_the_denominator() -> None:
    for row in ([DENOMINATOR - 1, 0], [DENOMINATOR, 1], [2**59, 2**58], [2**59] * 34):
        with pytest.raises(InvalidMechanismError):
            Mechanism.from_weights(np.array([row]))


def test_wide_rows_do_not_overflow() -> None:
    # 16 weights of 2**60 would sum to 2**64 and vanish in 64 bits; so would other forged rows.
    for row in ([DENOMINATOR] * 17, [2**59] * 32 + [DENOMINATOR // 2] * 2):
        with pytest.raises(InvalidMechanismError):
            Mechanism.from_weights(np.array([row]))


def test_composition_follows_the_channels() -> None:
    first = Mechanism.from_channel([[0.5, 0.5], [0.25, 0.75]], useful=["a", "b"], released=["u", "v"])
    second = Mechanism.from_channel([[1, 0], [0.5, 0.5]], useful=["u", "v"], released=["p", "q"])
    composed = first.compose(second)
    assert composed.channel == pytest.approx(first.channel @ second.channel)
    assert composed.released == ("p", "q")
    assert composed.notion is None
    with pytest.raises(InvalidMechanismError, match="no row"):
        second.compose(second)


def test_merged_labels_are_readable_and_unique() -> None:
    joint = Joint.from_counts([[1, 2, 3, 4]], useful=["Sales", "{Sales, Tech-support}", "Tech-support", None])
    mechanism = Mechanism.from_blocks(joint, [0, 1, 0, 3])
    assert mechanism.released == ("{Sales, Tech-support}", "{Sales, Tech-support} (2)", "null")
    long = Joint.from_counts([list(range(1, 21))])
    assert Mechanism.from_blocks(long, [0] * 20).released == ("{0, 1, 2, 3, 4, 5, +14 more}",)


def test_a_string_null_and_a_null_stay_apart() -> None:
    joint = Joint.from_counts([[1, 2]], useful=["null", None])
    assert Mechanism.from_blocks(joint, [0, 1]).released == ("null", "null (2)")


def test_uniform_blocks_release_every_member_alike() -> None:
    joint = Joint.from_counts([[1, 2, 3, 4]])
    mechanism = Mechanism.from_blocks(joint, [0, 1, 0, 0], uniform=[0])
    assert mechanism.released == ("0", "2", "3", "1")
    high = mechanism.weights[[0, 2, 3]]
    assert (high == high[0]).all()
    assert high[0, :3].max() - high[0, :3].min() <= 1
    assert mechanism.weights[1].tolist() == [0, 0, 0, DENOMINATOR]


LABELS = [
    None,
    True,
    7,
    -1.5,
    float("inf"),
    "x",
    "7",
    dt.date(2024, 2, 29),
    dt.datetime(2024, 1, 1, 3),
    Decimal("1.50"),
]


def test_labels_of_every_type_survive_storage(tmp_path) -> None:
    names = [*LABELS, ("a", None, 3), dt.time(1, 2)]
    mechanism = Mechanism.from_channel(np.ones((len(names), 1)), useful=names, p_useful=np.full(len(names), 0.1))
    mechanism.to_json(tmp_path / "m.json")
    again = Mechanism.from_json(tmp_path / "m.json")
    assert again.useful == tuple(names)
    assert [type(label) for label in again.useful] == [type(label) for label in names]


def test_labels_that_cannot_be_stored_are_refused() -> None:
    with pytest.raises(InputError, match="cast its column"):
        labels.encode(b"bytes")
    with pytest.raises(InputError, match="unknown type"):
        labels.decode({"pickle": "x"})


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"denominator": 2**59},
        {"reads_sensitive": True},
        {"rows": [[[0, 5]], [[0, 2**60]]]},
        {"rows": [[[0, 2**60]], [[9, 2**60]]]},
        {"rows": [[[0, 2**60]]]},
        {"rows": [[[0, 2.0**60]], [[0, 2**60]]]},
        {"rows": [[[0, 2**80]], [[0, 2**60]]]},
        {"released": ["y", "y"]},
        {"released": [3]},
        {"useful": ["a", "a"]},
        {"p_useful": [0.5]},
        {"p_useful": [float("nan"), 1.0]},
        {"p_useful": [-3, 7]},
        {"released": "y"},
        {"useful": "ab"},
        {"useful": [{"decimal": "SECRET"}, "b"]},
        {"useful": [{"date": "SECRET"}, "b"]},
        {"useful_columns": "occupation"},
        {"useful_columns": [1, None]},
        {"bins": ["x"]},
        {"bins": {"occ": ["x", None]}},
        {"bins": {"occ": [3, 2]}},
        {"notion": {"epsilon": 1}},
        {"notion": {"name": "lip", "epsilon": -1}},
        {"notion": "lip"},
        {"method": [1]},
        {"reads_sensitive": None},
        {"rows": [[[False, 2**60]], [[0, 2**60]]]},
        {"rows": 7},
    ],
)
def test_a_damaged_file_is_refused(change: dict[str, object], tmp_path) -> None:
    stored = Mechanism.from_channel([[1], [1]], useful=["a", "b"], released=["y"]).to_dict()
    (tmp_path / "m.json").write_text(json.dumps(stored | change))
    with pytest.raises(InvalidMechanismError) as caught:
        Mechanism.from_json(tmp_path / "m.json")
    assert "SECRET" not in str(caught.value)


def test_files_that_are_no_mechanism_are_refused(tmp_path) -> None:
    with pytest.raises(InvalidMechanismError, match="cannot read"):
        Mechanism.from_json(tmp_path / "missing.json")
    (tmp_path / "x.json").write_bytes(b"\xff\xfe{")
    with pytest.raises(InvalidMechanismError, match="not a JSON file"):
        Mechanism.from_json(tmp_path / "x.json")
    (tmp_path / "y.json").write_text("[1, 2]")
    with pytest.raises(InvalidMechanismError, match="format"):
        Mechanism.from_json(tmp_path / "y.json")


def test_writing_leaves_no_half_file(tmp_path) -> None:
    mechanism = Mechanism.from_channel([[1]])
    with pytest.raises(InputError, match="no directory"):
        mechanism.to_json(tmp_path / "nowhere" / "m.json")
    with pytest.raises(InputError, match="directory"):
        mechanism.to_json(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_codebook_needs_the_prior() -> None:
    with pytest.raises(InvalidMechanismError, match="P\\(x\\)"):
        Mechanism.from_channel([[1]]).codebook()


def test_labels_that_read_the_same_are_not_confused_by_composition() -> None:
    first = Mechanism.from_channel([[1]], released=["null"])
    second = Mechanism.from_channel([[1, 0], [0, 1]], useful=[None, "null"])
    with pytest.raises(InvalidMechanismError, match="read the same"):
        first.compose(second)


def test_numpy_labels_can_be_stored(tmp_path) -> None:
    mechanism = Mechanism.from_channel([[1], [1]], useful=np.array([1, 2]))
    mechanism.to_json(tmp_path / "m.json")
    assert Mechanism.from_json(tmp_path / "m.json").useful == (1, 2)


def test_links_and_special_files_are_not_replaced(tmp_path) -> None:
    import os

    mechanism = Mechanism.from_channel([[1]])
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    with pytest.raises(InputError, match="symbolic link"):
        mechanism.to_json(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "old"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="ordinary file"):
        mechanism.to_json(tmp_path / "pipe")
