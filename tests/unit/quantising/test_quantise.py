"""Quantisations: against all set partitions, the line, joint quantisation, baselines, odd input."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

import numpy as np
import pytest

from discreet import LIP, Joint, Mechanism, quantise, ranges
from discreet._support.errors import InputError, InvalidJointError
from discreet.quantising.distortion import Distortion
from discreet.quantising.exact import counting_bound, smallest_blocks
from discreet.ranges import Range


def partitions(n: int) -> Iterator[list[int]]:
    """All set partitions, as block numbers in order of first appearance."""

    def extend(prefix: list[int]) -> Iterator[list[int]]:
        if len(prefix) == n:
            yield prefix
            return
        for block in range(max(prefix, default=-1) + 2):
            yield from extend([*prefix, block])

    yield from extend([])


def small_range(seed: int) -> Range:
    rng = np.random.default_rng(seed)
    n, c = int(rng.integers(2, 9)), int(rng.integers(2, 6))
    matrix = rng.random((c, n)) < rng.uniform(0.15, 0.6)
    matrix[rng.integers(0, c, n), np.arange(n)] = True
    return Range(*np.nonzero(matrix))


def seen_by_block(whole: Range, block_of: list[int]) -> list[int]:
    """The sensitive values of every block, as the bits of an integer."""
    seen = [0] * (max(block_of) + 1)
    for s, x in zip(whole.sensitive_of.tolist(), whole.useful_of.tolist()):
        seen[block_of[x]] |= 1 << s
    return seen


def parts_of(seen: list[int]) -> int:
    """How many parts are left when blocks that share a sensitive value belong together."""
    parts: list[int] = []
    for values in seen:
        together = values
        for part in [part for part in parts if part & values]:
            parts.remove(part)
            together |= part
        parts.append(together)
    return len(parts)


def largest(block_of: list[int]) -> int:
    return max(block_of.count(b) for b in block_of)


@pytest.mark.parametrize("chunk", range(10))
def test_exact_methods_are_exact_on_all_set_partitions(chunk: int) -> None:
    """200 random ranges with up to 8 useful values: optima are optima, bounds are bounds, greedy is never better."""
    for seed in range(chunk, 200, 10):
        whole = small_range(seed)
        values = np.random.default_rng([seed, 1]).permutation(whole.n_useful * 2)[: whole.n_useful].astype(float)
        width_of = functools.cache(Distortion(values, "midpoint").of)
        assert parts_of(seen_by_block(whole, list(range(whole.n_useful)))) == ranges.components(whole).number
        best_k: dict[int, int] = {}
        least_block: dict[int, int] = {}
        least_width: dict[int, float] = {}
        for block_of in partitions(whole.n_useful):
            seen = seen_by_block(whole, block_of)
            k, m, parts = min(values.bit_count() for values in seen), largest(block_of), parts_of(seen)
            width = max(width_of(tuple(x for x, b in enumerate(block_of) if b == c)) for c in set(block_of))
            best_k[m] = max(best_k.get(m, 0), k)
            least_block[parts] = min(least_block.get(parts, m), m)
            for j in range(1, k + 1):
                least_width[j] = min(least_width.get(j, math.inf), width)
        exact = quantise(whole, method="exact")
        for m in range(1, whole.n_useful + 1):
            true = max(best_k.get(j, 0) for j in range(1, m + 1))
            found = max((p.k for p in exact.points if p.largest_block <= m), default=0)
            assert found == true, (seed, m)
            assert counting_bound(whole, m) >= true
        assert {point.status for point in exact.points} == {"optimal"}
        for point in quantise(whole, "maximin", method="exact").points:
            assert point.status == "optimal"
            assert point.largest_block == min(m for parts, m in least_block.items() if parts <= point.components)
        for k, point in enumerate(quantise(whole, utility="distortion", values=values, method="exact",
                                           codeword="midpoint").points, 1):  # fmt: skip
            assert point.bound <= least_width[k] <= point.distortion + 1e-12
            assert point.k >= k
            assert (point.status == "optimal") == (point.distortion <= point.bound + 1e-12)
        for point in quantise(whole).points:
            assert point.k <= max(best_k.get(j, 0) for j in range(1, point.largest_block + 1))


def components_of_sizes(*sizes: int) -> np.ndarray:
    """A range whose components have so many useful values each, and one sensitive value."""
    return np.repeat(np.eye(len(sizes), dtype=bool), sizes, axis=1)


#: Ranges of single values, of components that are all used up at once, of one large component among single ones.
STRUCTURED = {f"{n} single values": np.eye(n, dtype=bool) for n in range(2, 10)}
STRUCTURED |= {
    sizes: components_of_sizes(*map(int, sizes))
    for sizes in ("22", "2222", "33", "41111", "211111", "3211", "221111", "8")
}
STRUCTURED |= {
    "a chain": np.eye(6, dtype=bool) | np.eye(6, k=1, dtype=bool),
    "two chains": np.kron(np.eye(2, dtype=bool), np.eye(3, dtype=bool) | np.eye(3, k=1, dtype=bool)),
    "several sensitive values each": np.repeat(np.eye(6, dtype=bool), 2, axis=0),
}


@pytest.mark.parametrize("matrix", STRUCTURED.values(), ids=STRUCTURED.keys())
def test_every_number_of_components_has_its_least_block(matrix: np.ndarray) -> None:
    """Beside all set partitions."""
    whole = Range.of(matrix)
    least_block: dict[int, int] = {}
    for block_of in partitions(whole.n_useful):
        parts, m = parts_of(seen_by_block(whole, block_of)), largest(block_of)
        least_block[parts] = min(least_block.get(parts, m), m)
    points = quantise(matrix, "maximin", method="exact").points
    assert [point.components for point in points] == list(range(ranges.components(whole).number, 0, -1))
    assert [point.status for point in points] == ["optimal"] * len(points)
    for point in points:
        assert point.largest_block == min(m for parts, m in least_block.items() if parts <= point.components)


def greedy_by_the_book(whole: Range, weight: float, cost) -> list[int]:
    """Algorithm 1 with loops over everything, straight from the corrected text."""
    blocks = [[x] for x in range(whole.n_useful)]

    def seen(block: list[int]) -> frozenset[int]:
        return frozenset(s for s, x in zip(whole.sensitive_of.tolist(), whole.useful_of.tolist()) if x in block)

    def lagrangian(parts: list[list[int]]) -> float:
        return -math.log2(min(len(seen(b)) for b in parts)) + weight * cost(parts)

    while len(blocks) > 1:
        fewest = min(len(seen(b)) for b in blocks)
        waiting = sorted((b for b in blocks if len(seen(b)) == fewest), key=min)
        after = list(blocks)
        for block in waiting:
            if block not in after:
                continue
            others = [b for b in after if b is not block and seen(b) != seen(block)]
            if not others:
                continue
            partner = min(others, key=lambda b: (cost.union(block, b), min(b)))
            after = [b for b in after if b is not block and b is not partner] + [block + partner]
        if lagrangian(after) - lagrangian(blocks) >= 0:
            break
        blocks = after
    result = [0] * whole.n_useful
    for block in blocks:
        for x in block:
            result[x] = min(block)
    return result


class Resolution:
    def __call__(self, parts: list[list[int]]) -> float:
        return math.log2(max(len(b) for b in parts))

    def union(self, a: list[int], b: list[int]) -> float:
        return len(a) + len(b)


class Far(Resolution):
    def __init__(self, metric: Distortion) -> None:
        self.metric = metric

    def __call__(self, parts: list[list[int]]) -> float:
        return max(self.metric.of(b) for b in parts)

    def union(self, a: list[int], b: list[int]) -> float:
        return self.metric.of(a + b)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("codeword", [None, "centroid", "midpoint", "member"])
def test_greedy_is_the_papers_greedy(seed: int, codeword: str | None) -> None:
    rng = np.random.default_rng([seed, 7])
    n = 14
    matrix = rng.random((5, n)) < 0.3
    matrix[rng.integers(0, 5, n), np.arange(n)] = True
    whole = Range(*np.nonzero(matrix))
    values = rng.permutation(100)[:n].astype(float)
    for weight in (0.05, 0.3, 1.0):
        if codeword is None:
            found = quantise(whole).best(weight)
            expected = greedy_by_the_book(whole, weight, Resolution())
        else:
            found = quantise(whole, utility="distortion", values=values, codeword=codeword).best(weight)
            expected = greedy_by_the_book(whole, weight, Far(Distortion(values, codeword)))
        assert found.block_of.tolist() == expected


@pytest.mark.parametrize("seed", range(20))
def test_pairs_are_dealt_out_optimally(seed: int) -> None:
    """Joint quantisation Y = (S, X): the counting bound is always met."""
    whole = small_range(seed).with_sensitive()
    assert (whole.sizes == 1).all()
    exact = quantise(whole, method="exact")
    assert {point.status for point in exact.points} == {"optimal"}
    for point in exact.points:
        assert point.k == counting_bound(whole, point.largest_block)


def test_quantisations_are_mechanisms() -> None:
    joint = Joint.from_counts([[5, 0, 1, 0], [0, 4, 0, 2]], useful=[130, 145, 160, 200])
    point = quantise(joint, method="exact").points[-1]
    mechanism = point.mechanism
    assert mechanism.is_deterministic
    assert mechanism.useful == joint.useful
    assert set(mechanism.released) == {"130-145", "160-200"} or all("-" in label for label in mechanism.released)
    released = joint.through(mechanism)
    assert ranges.uncertainty_reduction(released) == point.leakage_bits == 0
    assert LIP(5).holds(joint, mechanism)
    assert Mechanism.from_dict(mechanism.to_dict()) == mechanism


def test_labels_of_blocks_are_readable() -> None:
    for useful, expected in (
        ([130, 145, 160, 9], "9-160"),
        (["130", "145", "160", "9"], "9-160"),
        (["130", "?", "x", "9"], "{130, ?, x, 9}"),
    ):
        point = quantise(Range([0, 1, 2, 3], [0, 1, 2, 3], useful=useful)).points[-1]
        assert point.mechanism.released == (expected,)


def test_baselines_reach_k_at_a_cost() -> None:
    rng = np.random.default_rng(3)
    matrix = rng.random((8, 40)) < 0.2
    matrix[rng.integers(0, 8, 40), np.arange(40)] = True
    joint = Joint.from_counts(matrix.astype(int))
    exact = quantise(joint, method="exact")
    for method in ("suppression", "binning"):
        for k, point in enumerate(quantise(joint, method=method).points, 1):
            assert point.k >= k
            assert point.largest_block >= min(p.largest_block for p in exact.points if p.k >= k)
    merged = quantise(joint, method="funnel", weight=0.5).points
    assert [len(np.unique(p.block_of)) for p in merged] == list(range(40, 0, -1))


def test_vectors_and_other_distances() -> None:
    whole = Range(np.arange(6), np.arange(6))
    points = np.random.default_rng(0).random((6, 2))
    for path in (
        quantise(whole, utility="distortion", values=points, norm=1),
        quantise(whole, utility="distortion", values=points, norm=math.inf, codeword="midpoint"),
        quantise(whole, utility="distortion", values=points, distance=lambda a, b: abs(a[0] - b[0])),
        quantise(whole, "maximin", "distortion", values=points),
    ):
        assert path.points[0].distortion == 0
        assert path.points[-1].distortion > 0


@pytest.mark.parametrize("seed", range(30))
def test_components_fall_one_by_one(seed: int) -> None:
    whole = small_range(seed)
    count = ranges.components(whole).number
    values = np.arange(whole.n_useful) % 3.0  # equal values too
    for path in (
        quantise(whole, "maximin"),
        quantise(whole, "maximin", "distortion", values=values),
        quantise(whole, "indistinguishable", weight=0.3),
        quantise(whole, "indistinguishable", "distortion", values=values, weight=0.3),
    ):
        assert [point.components for point in path.points] == list(range(count, 0, -1))
    assert smallest_blocks(7, 0) == 1


def test_one_symbol_is_a_range() -> None:
    path = quantise(np.ones((3, 1), dtype=bool))
    assert len(path.points) == 1
    assert path.points[0].loss == 0
    assert path.best(1.0).k == 3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: quantise(np.eye(3, dtype=bool), "privacy"), "objective must be one of"),
        (lambda: quantise(np.eye(3, dtype=bool), utility="fun"), "utility must be one of"),
        (lambda: quantise(np.eye(3, dtype=bool), method="magic"), "method must be one of"),
        (lambda: quantise(np.zeros((2, 2), dtype=bool)), "at least one pair"),
        (lambda: quantise(np.array([[True, False]])), "range is empty"),
        (lambda: quantise(Range([0, 1], [0, 1], useful=["?", "130"]), utility="distortion"), "a mark such as"),
        (lambda: quantise(np.eye(2, dtype=bool), utility="distortion", values=[1, math.nan]), "finite numbers"),
        (lambda: quantise(np.eye(2, dtype=bool), utility="distortion", values=[1]), "one entry for each"),
        (lambda: quantise(np.eye(2, dtype=bool), utility="distortion", codeword="mode"), "codeword must be"),
        (lambda: quantise(np.eye(2, dtype=bool), utility="distortion", norm=0.5), "norm must be"),
        (lambda: quantise(np.eye(2, dtype=bool), "indistinguishable", method="exact"), "no exact method"),
        (lambda: quantise(np.eye(2, dtype=bool), "maximin", method="binning"), "serves the objective"),
        (lambda: quantise(np.eye(2, dtype=bool), method="funnel"), "give a Joint"),
        (lambda: quantise(np.eye(2, dtype=bool)).best(-1), "weight must be"),
        (lambda: quantise(Range([0, 1], [0, 1], useful=["a", "a"])), "distinct"),
    ],
)
def test_odd_input_is_named(call, message: str) -> None:
    with pytest.raises((InputError, InvalidJointError), match=message):
        call()


def test_a_k_that_cannot_be_met_is_an_error() -> None:
    from discreet.quantising.baselines import suppression
    from discreet.quantising.intervals import intervals

    whole = small_range(1)
    for call in (lambda: suppression(whole, 99), lambda: intervals(whole, Distortion(np.arange(whole.n_useful)), 99)):
        with pytest.raises(InputError, match="99 sensitive values"):
            call()
