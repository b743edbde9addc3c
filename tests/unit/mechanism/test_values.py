"""Mechanisms in the column's own values: R in integers over 2**120, and all that a mechanism can do with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import LIP, SRLIP, Joint, Mechanism, design, measures
from discreet.errors import InputError, InvalidMechanismError
from discreet.mechanism import values

ONE, FINE = 2**60, 2**120


def read_as(masses: Sequence[int], rows: Sequence[Sequence[int]], value_of: Sequence[int]) -> list[list[int]]:
    """q(x' | y) by y: floors of exact shares, the largest takes the rest; written without the package."""
    n = max(value_of) + 1
    result = []
    for y in range(len(rows[0])):
        cells = [sum(m * row[y] for m, row, x in zip(masses, rows, value_of) if x == value) for value in range(n)]
        if not any(cells):
            totals = [sum(m for m, x in zip(masses, value_of) if x == value) for value in range(n)]
            result.append([ONE if x == totals.index(max(totals)) else 0 for x in range(n)])
            continue
        floors = [int(Fraction(cell * ONE, sum(cells))) for cell in cells]
        floors[floors.index(max(floors))] += ONE - sum(floors)
        result.append(floors)
    return result


def by_hand(masses: Sequence[int], rows: Sequence[Sequence[int]], value_of: Sequence[int]) -> list[list[int]]:
    """R(x' | row) over 2**120."""
    reading = read_as(masses, rows, value_of)
    return [
        [sum(w * q[x] for w, q in zip(row, reading)) for x in range(max(value_of) + 1)]
        for row in rows
    ]  # fmt: skip


def dense(mechanism: Mechanism) -> list[list[int]]:
    """Weights with a column for every useful value."""
    weights = mechanism.weights.reshape(-1, mechanism.n_released)
    result = [[0] * mechanism.n_useful for _ in weights]
    for j, value in enumerate(mechanism.released_values):
        for i, row in enumerate(weights.tolist()):
            result[i][mechanism.useful.index(value)] = row[j]
    return result


def random_weights(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Sparse rows of weights whose last digits are no accident."""
    channel = rng.dirichlet(np.full(columns, 0.4), rows)
    weights = np.floor(channel * ONE).astype(np.int64)
    weights[np.arange(rows), channel.argmax(axis=1)] += ONE - weights.sum(axis=1)
    return weights


def random_case(seed: int) -> tuple[Joint, Mechanism]:
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 8, 2).tolist()
    counts = rng.integers(0, 50, (2, n)) + (np.arange(n) == 0)
    joint = Joint.from_counts(counts, useful=[f"v{k}" for k in range(n)])
    return joint, Mechanism.from_weights(random_weights(rng, n, m), useful=joint.useful)


def test_an_example_that_is_exact_in_halves() -> None:
    """P = 1/2, 1/4, 1/4; what y stands for is 3/4, 1/8, 1/8 or the like, and R has sixteenths."""
    joint = Joint.from_counts([[2, 1, 1]], useful=["a", None, 7])
    mechanism = Mechanism.from_channel([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]], useful=["a", None, 7])
    made = mechanism.in_values(joint)
    sixteenth = FINE // 16
    assert dense(made) == [[k * sixteenth for k in row] for row in ([10, 3, 3], [6, 5, 5], [6, 5, 5])]
    assert (made.denominator, made.released_values) == (FINE, ("a", None, 7))
    assert made.released == ("a", "null", "7")
    assert measures.unchanged(joint, made) == (2 * 10 + 5 + 5) / 64 == measures.unchanged(joint, mechanism)


@pytest.mark.parametrize("seed", range(60))
def test_weights_are_sums_of_products_to_the_last_digit(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    joint, mechanism = random_case(seed)
    masses, rows = joint.counts.sum(axis=0).tolist(), mechanism.weights.tolist()
    wanted = by_hand(masses, rows, range(joint.n_useful))
    assert dense(mechanism.in_values(joint)) == wanted
    for name, value in (("MOST_DENSE", 0), ("PRODUCTS_AT_ONCE", 3), ("LIMBS", {15: 1 << 23}), ("MOST_DENSE", 10**6)):
        monkeypatch.setattr(values, name, value)  # one by one, by matrices and by digits of other sizes
        assert dense(mechanism.in_values(joint)) == wanted


@pytest.mark.parametrize("seed", range(20))
def test_those_that_read_s_take_what_symbols_stand_for_over_all_of_it(seed: int) -> None:
    joint, _ = random_case(seed)
    rng, n = np.random.default_rng(seed), joint.n_useful
    weights = random_weights(rng, 2 * n, 4)
    made = Mechanism.kinds["reads-sensitive"].from_cells(joint, weights.reshape(2, n, 4), "abcd")
    used = weights[:, weights.any(axis=0)].tolist()
    wanted = by_hand(joint.counts.ravel().tolist(), used, list(range(n)) * 2)
    composed = made.in_values(joint)
    assert dense(composed) == wanted
    assert Mechanism.from_dict(composed.to_dict()) == composed
    assert measures.unchanged(joint, composed) == pytest.approx(measures.unchanged(joint, made), abs=1e-12)


def test_the_distribution_is_kept_up_to_the_rounding_of_q() -> None:
    for seed in range(40):
        joint, mechanism = random_case(seed)
        masses = joint.counts.sum(axis=0).tolist()
        published = [
            sum(m * row[x] for m, row in zip(masses, dense(mechanism.in_values(joint)))) for x in range(joint.n_useful)
        ]
        for mass, found in zip(masses, published):
            assert abs(Fraction(found, FINE) - mass) < Fraction(sum(masses) * 10, ONE)


def test_values_without_mass_are_never_published_and_symbols_without_it_are_the_commonest_value() -> None:
    joint = Joint.from_counts([[5, 0, 9]], useful=["a", "b", "c"])
    mechanism = Mechanism.from_channel([[1, 0, 0], [0, 1, 0], [0.5, 0, 0.5]], useful=["a", "b", "c"])
    made = mechanism.in_values(joint)
    assert made.released_values == ("a", "c")
    assert made.channel[1].tolist() == [0.0, 1.0]  # of another table, on which b occurs


def test_values_are_matched_by_label_and_p_of_the_design_serves_where_no_joint_is_given(tmp_path: Path) -> None:
    joint = Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", None, 3])
    turned = Joint.from_counts([[5, 15, 30], [25, 15, 10]], useful=[3, None, "a"])
    mechanism = design(joint, LIP(0.3)).mechanism
    assert mechanism.in_values(joint) == mechanism.in_values(turned)
    assert mechanism.in_values().channel == pytest.approx(mechanism.in_values(joint).channel, abs=1e-14)  # P in floats
    mechanism.to_json(tmp_path / "m.json")
    public = Mechanism.from_json(tmp_path / "m.json")
    with pytest.raises(InvalidMechanismError, match=r"in_values\(joint\)"):
        public.in_values()
    assert public.in_values(joint).fingerprint == mechanism.in_values(joint).fingerprint
    made = mechanism.in_values()
    assert made.in_values() is made
    assert (made.notion, made.method) == (mechanism.notion, mechanism.method)


@pytest.mark.parametrize("private", [None, True])
def test_they_are_stored_and_read_again(private: bool | None, tmp_path: Path) -> None:
    joint, mechanism = random_case(5)
    made = mechanism.in_values(joint)
    made.to_json(tmp_path / "m.json", private=private)
    again = Mechanism.from_json(tmp_path / "m.json")
    assert (again.fingerprint, again.denominator) == (made.fingerprint, FINE)
    assert again.released_values == made.released_values
    stored = json.loads((tmp_path / "m.json").read_text())
    assert (stored["denominator"], "released_values" in mechanism.to_dict()) == (FINE, False)
    first = stored["rows"][0]
    for change in (
        {"denominator": 2**61},
        {"denominator": ONE},
        {"denominator": float(FINE)},
        {"released_values": [0] * len(made.released)},
        {"released_values": [*range(len(made.released) - 1), 99]},
        {"released_values": "all"},
        {"released_values": [*stored["released_values"][:-1], True]},
        {"rows": [[[first[0][0], first[0][1] + 1], *first[1:]], *stored["rows"][1:]]},
    ):
        with pytest.raises(InvalidMechanismError):
            Mechanism.from_dict({**stored, **change})


def test_what_a_mechanism_can_do_it_can_do_in_values() -> None:
    joint = Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=[10, None, 30])
    made = Mechanism.from_channel(
        [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0, 0.8]], useful=joint.useful, released=["u", "v", "w"]
    ).in_values(joint)
    assert made.channel.sum(axis=1) == pytest.approx(1, abs=1e-15)
    cells = joint.p_useful[:, None] * made.channel
    assert made.codebook(joint)["null"][None] == pytest.approx(cells[1, 1] / cells[:, 1].sum())
    assert joint.through(made).p_useful == pytest.approx(joint.p_useful)
    assert measures.nmi(joint, made) > 0
    published = 1000 * joint.p_useful @ made.channel
    estimate = made.estimate(dict(zip(made.released_values, published.tolist())))
    assert estimate.probabilities == pytest.approx(joint.p_useful)
    with pytest.raises(InputError, match="not released"):
        made.estimate({"something else": 5})
    back = made.compose(Mechanism.from_channel([[1, 0], [1, 0], [0, 1]], useful=["10", "null", "30"]))
    assert (back.denominator, back.released_values) == (ONE, None)
    assert back.channel[:, 0] == pytest.approx(made.channel[:, :2].sum(axis=1), abs=1e-15)
    rng = np.random.default_rng(0)
    drawn = made.sample(np.repeat(np.arange(3), 20_000), rng).reshape(3, -1)
    assert [(row == 0).mean() for row in drawn] == pytest.approx(made.channel[:, 0], abs=0.02)
    assert "own values" in made.describe()
    assert "in values" in repr(made)
    assert made.unnamed() is made


def test_an_estimate_says_where_values_do_not_tell_enough() -> None:
    joint = Joint.from_counts([[1, 1, 1]], useful=["a", "b", "c"])
    merged = Mechanism.from_blocks(joint, [0, 0, 1]).in_values()
    with pytest.raises(InvalidMechanismError, match="full rank"):
        merged.estimate({"a": 1, "b": 1, "c": 1})


def test_distances_and_errors_are_those_of_the_published_values() -> None:
    """What resampling the symbols gives, the mechanism in values gives as it is."""
    for seed in range(10):
        base, mechanism = random_case(seed)
        numbers = [10.0 * k for k in range(base.n_useful)]
        joint = Joint.from_counts(base.counts, useful=numbers)
        mechanism = Mechanism.from_weights(mechanism.weights, useful=numbers)
        made = mechanism.in_values(joint)
        assert measures.unchanged(joint, made) == pytest.approx(measures.unchanged(joint, mechanism))
        assert measures.distortion(joint, made) == pytest.approx(measures.distortion(joint, mechanism))
        errors = [measures.share_errors(joint, each) for each in (made, mechanism)]
        assert errors[0] == pytest.approx(errors[1], abs=1e-9)


def test_attributes_are_read_each_by_itself() -> None:
    useful = [(a, b) for a in "ab" for b in (1, 2, None)]
    joint = Joint.from_counts([[9, 3, 4, 8, 2, 6], [4, 7, 5, 3, 8, 6]], useful=useful)
    mechanism = design(joint, SRLIP(0.8), "independent-attributes").mechanism
    made = mechanism.in_values(joint)
    assert SRLIP(0.8).holds(joint, made)
    assert [part.released_values for part in made.parts] == [("a", "b"), (1, 2, None)]
    assert set(made.released_values) <= set(useful)
    after = joint.through(made)
    for place, values_of in ((0, "ab"), (1, (1, 2, None))):
        for value in values_of:
            share = sum(p for p, x in zip(joint.p_useful, useful) if x[place] == value)
            found = sum(p for p, x in zip(after.p_useful, made.released_values) if x[place] == value)
            assert found == pytest.approx(share, abs=1e-12)
    assert Mechanism.from_dict(made.to_dict()) == made
    assert 0 < measures.unchanged(joint, made) <= 1


def test_what_stands_for_no_single_value_or_for_too_many_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    joint = Joint.from_counts([[30, 15, 5], [10, 15, 25]])
    with pytest.raises(InputError, match="--as-labels"):
        design(joint, LIP(0.3), "oue").mechanism.in_values(joint)
    many = Joint.from_counts(np.ones((1, 18_000), dtype=np.int64))
    with pytest.raises(InputError, match=r"324,000,000 weights.*--as-labels"):
        Mechanism.from_blocks(many, np.zeros(18_000, dtype=np.int64)).in_values()
    monkeypatch.setattr(values, "MOST_PRODUCTS", 5)
    with pytest.raises(InputError, match="products"):
        Mechanism.from_blocks(joint, [0, 0, 0]).in_values()


def made_by(method: str | None, channel: Any, released: Sequence[str]) -> Mechanism:
    return Mechanism.from_channel(channel, useful=["a", None], released=released, method=method)


def test_labels_are_mixed_where_a_design_draws_symbols_that_are_no_values() -> None:
    halves = [[0.5, 0.5], [0, 1]]
    assert made_by("optimal", halves, ["a 90 %, null 10 %", "null"]).has_mixed_labels
    assert not made_by(None, halves, ["low", "high"]).has_mixed_labels  # somebody chose these
    assert not made_by("grr", halves, ["a", "null"]).has_mixed_labels
    assert not made_by("watchdog", [[1, 0], [0, 1]], ["{a, b}", "{c, d}"]).has_mixed_labels
    assert (
        not made_by("optimal", halves, ["x", "y"])
        .in_values(Joint.from_counts([[1, 1]], useful=["a", None]))
        .has_mixed_labels
    )
