"""Couplings: every record of a class is drawn as often as any other, and near ones stand opposite."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from discreet.twins.cells import cells_of
from discreet.twins.coupling import couple
from discreet.twins.distance import Distance


def setting(sizes: list[int], seed: int = 0) -> tuple[np.ndarray, Distance, np.ndarray]:
    rng = np.random.default_rng(seed)
    classes = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    n = len(classes)
    columns = [
        cells_of("number", pa.array(rng.integers(0, 50, n))),
        cells_of("kind", pa.array(rng.choice(list("abc"), n))),
    ]
    return classes, Distance(columns), rng.permutation(n)


@pytest.mark.parametrize(("first", "second"), [(3, 3), (3, 5), (7, 4), (1, 6), (10, 9)])
def test_every_record_is_drawn_exactly_as_often_as_any_other_of_its_class(first: int, second: int) -> None:
    """Summed over all points of all stretches, in fractions: each twin has the same mass, in both directions."""
    classes, distance, last = setting([first, second])
    coupling = couple(classes, 2, {(0, 1): 0.5, (1, 0): 0.5}, distance, last)
    for own, other, n_other in ((0, 1, second), (1, 0, first)):
        rows = np.flatnonzero(classes == own)
        mass: dict[int, Fraction] = {}
        for part in range(n_other):  # points in the middle of every n_other-th of a stretch
            point = ((2 * part + 1) << 39) // n_other
            twins = coupling.twins(rows, own, other, np.full(len(rows), point))
            assert set(classes[twins]) == {other}
            for twin in twins.tolist():
                mass[twin] = mass.get(twin, Fraction(0)) + Fraction(1, n_other)
        assert set(mass) == set(np.flatnonzero(classes == other).tolist())
        assert set(mass.values()) == {Fraction(len(rows), n_other)}


def test_pairs_stand_opposite_each_other_both_ways() -> None:
    classes, distance, last = setting([40, 40])
    coupling = couple(classes, 2, {(0, 1): 0.5}, distance, last)
    rows = np.flatnonzero(classes == 0)
    twins = coupling.twins(rows, 0, 1, np.zeros(40, dtype=np.int64))
    assert len(set(twins.tolist())) == 40
    assert (coupling.twins(twins, 1, 0, np.zeros(40, dtype=np.int64)) == rows).all()


def test_twins_are_nearer_than_chance_and_no_exchange_of_two_is_better() -> None:
    classes, distance, last = setting([100, 100], seed=3)
    coupling = couple(classes, 2, {(0, 1): 0.5}, distance, last)
    rows = np.flatnonzero(classes == 0)
    twins = coupling.twins(rows, 0, 1, np.zeros(100, dtype=np.int64))
    between = distance.between(rows, twins).astype(int)
    own = np.diag(between)
    assert own.mean() < 0.5 * between.mean()
    swapped = between + between.T
    assert (own[:, None] + own <= swapped).all()


def test_the_order_of_rows_decides_nothing_but_their_names() -> None:
    classes, distance, last = setting([30, 50, 20])
    pairs = {(0, 1): 0.5, (1, 2): 0.001}
    found = couple(classes, 3, pairs, distance, last)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(classes))
    columns = [
        cells_of("number", pa.array(distance._codes[0][order])),
        cells_of("kind", pa.array(np.array(list("abc"))[distance._codes[1][order]])),
    ]
    moved = Distance([columns[0], columns[1]])
    again = couple(classes[order], 3, pairs, moved, last[order])
    for pair in found.opposite:
        assert (order[again.opposite[pair]] == found.opposite[pair]).all()


def test_weights_decide_which_column_twins_share() -> None:
    rng = np.random.default_rng(0)
    n = 400
    classes = np.repeat([0, 1], n // 2)
    columns = [cells_of(name, pa.array(rng.choice(list("abcdefgh"), n))) for name in ("one", "other")]
    shares = {}
    for name in ("one", "other"):
        distance = Distance(columns, {name: np.inf})
        coupling = couple(classes, 2, {(0, 1): 0.5}, distance, np.arange(n))
        rows = np.flatnonzero(classes == 0)
        twins = coupling.twins(rows, 0, 1, np.zeros(len(rows), dtype=np.int64))
        shares[name] = [float((column.codes[rows] == column.codes[twins]).mean()) for column in columns]
    assert shares["one"][0] > 0.8
    assert shares["other"][1] > 0.8
    assert shares["one"][0] > shares["other"][0] + 0.05


@pytest.mark.parametrize("weight", [-1, True, float("nan"), "much"])
def test_odd_weights_are_refused(weight: object) -> None:
    with pytest.raises(ValueError, match="weight of 'x'"):
        Distance([cells_of("x", pa.array([1, 2]))], {"x": weight})  # type: ignore[dict-item]
