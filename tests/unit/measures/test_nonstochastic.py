"""Ranges: the paper's figure, brute force on small ones, side information, odd input."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest

from discreet import Joint, Mechanism, measures, ranges
from discreet._support.errors import InputError, InvalidJointError
from discreet.ranges import Range

#: Fig. 1 of DF20: sensitive values of x1 ... x7.
FIGURE_1 = [(0, 1), (1,), (2,), (2,), (3,), (4,), (5,)]


def figure_1() -> Range:
    pairs = [(s, x) for x, values in enumerate(FIGURE_1) for s in values]
    return Range(*zip(*pairs), sensitive=[f"s{k}" for k in range(1, 7)], useful=[f"x{k}" for k in range(1, 8)])


def random_range(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    matrix = rng.random((int(rng.integers(1, 7)), int(rng.integers(1, 7)))) < rng.uniform(0.15, 0.8)
    matrix[rng.integers(0, len(matrix)), ~matrix.any(axis=0)] = True
    return matrix


def test_figure_1_of_the_paper() -> None:
    whole = figure_1()
    assert ranges.uncertainty_reduction(whole) == pytest.approx(math.log2(6))
    assert ranges.non_stochastic_information(whole) == pytest.approx(math.log2(3))
    assert ranges.maximin_information(whole) == pytest.approx(math.log2(5))
    assert ranges.hartley_entropy(whole) == pytest.approx(math.log2(7))
    assert ranges.smallest_uncertainty(whole) == 0
    assert ranges.overlap_partition(whole) == (("s1", "s2"), ("s3",), ("s4",), ("s5",), ("s6",))
    assert ranges.components(whole).useful.tolist() == [0, 0, 1, 1, 2, 3, 4]


def brute_components(matrix: np.ndarray) -> int:
    """By repeated flooding from every useful value."""
    left, count = set(range(matrix.shape[1])), 0
    while left:
        reached = {left.pop()}
        while True:
            rows = matrix[:, sorted(reached)].any(axis=1)
            more = set(np.flatnonzero(matrix[rows].any(axis=0)).tolist())
            if more <= reached:
                break
            reached |= more
        left -= reached
        count += 1
    return count


@pytest.mark.parametrize("seed", range(60))
def test_small_ranges_by_brute_force(seed: int) -> None:
    matrix = random_range(seed)
    sizes = matrix.sum(axis=0)
    total = int(matrix.any(axis=1).sum())
    assert ranges.distinct_sensitive(matrix) == sizes.min()
    assert ranges.uncertainty_reduction(matrix) == pytest.approx(math.log2(total / sizes.min()))
    assert ranges.non_stochastic_information(matrix) == pytest.approx(math.log2(total / sizes.max()))
    assert ranges.components(matrix).number == brute_components(matrix)
    assert ranges.maximin_information(matrix) <= ranges.uncertainty_reduction(matrix) + 1e-12


@pytest.mark.parametrize("seed", range(30))
def test_common_information_is_below_both(seed: int) -> None:
    """K <= I_* and K <= I(S; X), in bits; merging lowers L_0 and I_*."""
    joint = Joint.from_counts(random_range(seed) * np.random.default_rng(seed).integers(1, 9, random_range(seed).shape))
    common = ranges.common_information(joint)
    assert common <= ranges.maximin_information(joint) + 1e-12
    joint_of_seen = joint.given(joint.occurs)
    assert common <= measures.mutual_information(joint_of_seen) / math.log(2) + 1e-9
    halves = np.arange(joint_of_seen.n_useful) // 2
    merged = Range.of(joint_of_seen).merged(halves)
    assert ranges.uncertainty_reduction(merged) <= ranges.uncertainty_reduction(joint) + 1e-12
    assert ranges.maximin_information(merged) <= ranges.maximin_information(joint) + 1e-12
    released = joint_of_seen.through(Mechanism.from_blocks(joint_of_seen, halves))
    assert ranges.uncertainty_reduction(released) == ranges.uncertainty_reduction(merged)


@pytest.mark.parametrize("seed", range(50))
def test_common_information_of_one_component_is_nothing(seed: int) -> None:
    """Rounded masses sum to a hair more than one, whose entropy would be below zero."""
    joint = Joint.random(3, 7, seed=seed)
    common = ranges.common_information(joint)
    assert (common, math.copysign(1.0, common)) == (0.0, 1.0)


@pytest.mark.parametrize("seed", range(20))
def test_side_information_by_its_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    triples = [(int(s), int(y), int(a)) for s, y, a in rng.integers(0, 4, (12, 3))]
    useful = sorted({(y, a) for _, y, a in triples})
    whole = Range([s for s, _, _ in triples], [useful.index((y, a)) for _, y, a in triples], useful=useful)
    expected = max(
        math.log2(len({s for s, _, b in triples if b == a}) / len({s for s, z, b in triples if (z, b) == (y, a)}))
        for y, a in useful
    )
    assert ranges.uncertainty_reduction(whole, given=[a for _, a in useful]) == pytest.approx(expected)


def test_records_and_distinct_values_are_different_promises() -> None:
    joint = Joint.from_counts([[50, 3], [0, 4]])
    assert ranges.k_anonymity(joint) == 7
    assert ranges.distinct_sensitive(joint) == 1
    with pytest.raises(InputError, match="counts records"):
        ranges.k_anonymity(np.ones((2, 2), dtype=bool))


def test_ranges_come_from_tables_without_anything_dense() -> None:
    """A million pairs; as a dense matrix these would be 4e10 cells."""
    n = 200_000
    table = pa.table(
        {"s": np.tile(np.arange(n), 5), "x": np.repeat(np.arange(5), n) * n + np.tile(np.arange(n), 5) % 7}
    )
    whole = Range.from_table(table, sensitive="s", useful="x")
    assert (whole.n_sensitive, whole.n_useful, len(whole.useful_of)) == (n, 35, 5 * n)
    assert ranges.k_anonymity(whole) == n // 7
    assert ranges.components(whole).number == 7


def test_labels_survive_merging() -> None:
    merged = figure_1().merged([0, 0, 1, 1, 2, 2, 2])
    assert merged.useful == ("{x1, x2}", "{x3, x4}", "{x5, x6, x7}")
    assert merged.sizes.tolist() == [2, 1, 3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Range([], []), "at least one pair"),
        (lambda: Range([0], [-1]), "negative"),
        (lambda: Range([0, 5], [0, 1], sensitive=["a", "b"]), "beyond its labels"),
        (lambda: Range([0], [0], records=[0]), "positive integer"),
        (lambda: Range.of([[1, 0], [0, 1]]), "matrix of booleans"),
        (lambda: Range.of(np.zeros((2, 2), dtype=bool)), "at least one pair"),
        (lambda: Range.of(np.array([[True, False]])), "range is empty"),
        (lambda: Range.of("x"), "matrix of booleans"),
        (lambda: figure_1().merged([0, 1]), "each of 7"),
        (lambda: ranges.hartley_entropy(figure_1(), of="both"), "'useful' or 'sensitive'"),
        (lambda: ranges.uncertainty_reduction(figure_1(), given=[1]), "each of 7"),
        (lambda: ranges.common_information(figure_1()), "takes a Joint"),
    ],
)
def test_odd_input_is_named(call, message: str) -> None:
    with pytest.raises((InputError, InvalidJointError), match=message):
        call()


def test_repeated_pairs_and_unseen_values_are_left_out() -> None:
    whole = Range([0, 0, 3], [1, 1, 4], records=[2, 3, 1])
    assert (whole.n_sensitive, whole.n_useful) == (2, 2)
    assert whole.sensitive == (0, 3)
    assert whole.records.tolist() == [5, 1]
    assert list(itertools.chain(whole.useful)) == [1, 4]
