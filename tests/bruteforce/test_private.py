"""Perfect privacy equals the optimum over all vertices in fractions, on joints that floats find awkward."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from discreet import ALIP, LIP, SRLIP, Joint, MaxLift, Notion, PerfectPrivacy, design
from tests.bruteforce.private import best_share
from tests.conftest import quick_first

#: A bound that is this far above what is kept counts as met.
SAME = 1e-7

#: Nobody waits longer for a design without a time limit.
SECONDS = 20.0

NOTIONS = (PerfectPrivacy(), LIP(0), ALIP(eps_lower=0, eps_upper=1), MaxLift(0))


def proportional(rng: np.random.Generator, c: int, n: int) -> Any:
    """Columns that are small multiples of few others."""
    few = rng.integers(0, 7, (c, max(2, n // 2)))
    return few[:, rng.integers(0, few.shape[1], n)] * rng.integers(1, 6, n)


def repeated(rng: np.random.Generator, c: int, n: int) -> Any:
    """Columns that occur more than once."""
    few = rng.integers(0, 9, (c, max(2, n - 3)))
    return few[:, rng.integers(0, few.shape[1], n)]


def low_rank(rng: np.random.Generator, c: int, n: int) -> Any:
    """Few reasons behind all values."""
    return rng.integers(0, 4, (c, 2)) @ rng.integers(0, 5, (2, n))


def with_zeros(rng: np.random.Generator, c: int, n: int) -> Any:
    return rng.integers(1, 20, (c, n)) * (rng.random((c, n)) < 0.6)


def counted(rng: np.random.Generator, c: int, n: int) -> Any:
    return rng.integers(1, 50, (c, n))


def thousands(rng: np.random.Generator, c: int, n: int) -> Any:
    return rng.integers(0, 10_000, (c, n))


#: Sizes of alphabets of floats, sensitive and useful.
FLOATS = ((2, 6), (2, 9), (3, 9), (3, 12), (4, 12))

KINDS = (proportional, repeated, low_rank, with_zeros, counted, thousands)


def joint_of(kind: Any, seed: int) -> list[list[int]]:
    """Counts in which every value of S and of X occurs."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    while True:
        c, n = int(rng.integers(2, 6)), int(rng.integers(3, 13))
        counts = kind(rng, c, n)
        if counts.any(axis=0).all() and counts.any(axis=1).all():
            return [[int(cell) for cell in row] for row in counts]


@pytest.mark.parametrize(("kind", "seed"), quick_first([(kind, seed) for seed in range(50) for kind in KINDS], 36))
def test_perfect_privacy_is_the_optimum_in_fractions(kind: Any, seed: int) -> None:
    counts = joint_of(kind, seed)
    joint, notion = Joint.from_counts(counts), NOTIONS[seed % len(NOTIONS)]
    start = time.process_time()
    result = design(joint, notion)
    assert time.process_time() - start < SECONDS
    assert PerfectPrivacy().holds(joint, result.mechanism)
    best = best_share(counts)
    assert best - SAME <= result.bound <= best + SAME
    # Four columns of four digits have private integers of 50 bits, and then it says so.
    assert result.nmi == pytest.approx(best, abs=SAME) or (kind is thousands and "60 bits" in result.notes[0])


EXAMPLES = [
    ([[4, 2, 4, 12], [2, 2, 2, 6], [1, 4, 1, 3], [2, 1, 2, 6]], 0.637),
    ([[2, 2, 3, 0, 0], [8, 8, 12, 8, 4], [6, 6, 9, 8, 4]], 0.608),
]

#: One value of X that nearly all records have, and few digits in all others.
DOMINATED = [
    [[40_000, 5, 0, 2], [30_000, 2, 2, 4], [40_000, 2, 3, 4]],
    *(
        [[level * 10**digits, *map(int, row)] for level, row in zip((2, 1, 3), rest)]
        for digits in (3, 4, 5)
        for rest in (np.random.default_rng([digits, seed]).integers(1, 7, (3, 5)) for seed in range(6))
    ),
]


@pytest.mark.parametrize("counts", DOMINATED)
def test_a_value_that_nearly_all_records_have_hides_no_private_columns(counts: list[list[int]]) -> None:
    best = best_share(counts)
    result = design(Joint.from_counts(counts), PerfectPrivacy())
    assert result.nmi == pytest.approx(best, abs=SAME)
    assert best - SAME <= result.bound <= best + 1e-4


@pytest.mark.parametrize(("counts", "best"), EXAMPLES)
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_proportional_columns_do_not_empty_the_polytope(counts: Any, best: float, notion: Notion) -> None:
    result = design(Joint.from_counts(counts), notion)
    assert result.nmi == pytest.approx(best, abs=5e-4)
    assert result.status == "optimal"


def test_what_sixty_bits_cannot_hold_is_said() -> None:
    """Four floats of 53 bits over seven values: no private column but the constant one has short integers."""
    result = design(Joint.random(4, 7, seed=1), LIP(0))
    assert PerfectPrivacy().holds(result.joint, result.mechanism)
    assert result.bound > 0.4
    assert "60 bits" in result.notes[0]
    assert result.to_dict()["notes"] == list(result.notes)


@pytest.mark.parametrize("noise", [1e-3, 1e-6, 1e-9, 1e-12])
def test_nearly_independent_joints_end_in_time(noise: float) -> None:
    rng = np.random.default_rng(0)
    cells = np.outer(rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(7)))
    cells *= 1 + noise * rng.standard_normal(cells.shape)
    start = time.process_time()
    result = design(Joint.from_array(cells / cells.sum()), PerfectPrivacy())
    assert time.process_time() - start < SECONDS
    assert result.status == "optimal" or result.notes


def test_what_others_keep_the_optimum_keeps() -> None:
    """Merging and the response inside blocks start from symbols, the optimum from classes of them."""
    for seed in range(30):
        joint = Joint.from_counts(joint_of(KINDS[seed % len(KINDS)], seed))
        kept = design(joint, PerfectPrivacy()).nmi
        assert kept >= design(joint, PerfectPrivacy(), "subset-response").nmi - SAME
        assert kept >= design(joint, PerfectPrivacy(), "subset-merging").nmi - SAME


def test_side_channels_of_no_budget_are_closed_exactly() -> None:
    counts = np.random.default_rng(0).integers(1, 5, (2, 9))
    joint = Joint.from_counts(counts, useful=[(a, b) for a in range(3) for b in range(3)])
    result = design(joint, SRLIP(0))
    assert SRLIP(0).holds(joint, result.mechanism)
    assert result.status == "optimal"


@pytest.mark.parametrize(("c", "n", "seed"), quick_first([(c, n, k) for k in range(8) for c, n in FLOATS], 6))
def test_floats_are_rationals(c: int, n: int, seed: int) -> None:
    """Sixty bits hold the optimum of floats where values of X are many more than those of S."""
    joint = Joint.random(c, n, seed=seed)
    result = design(joint, PerfectPrivacy())
    assert PerfectPrivacy().holds(joint, result.mechanism)
    whole = [[int(cell) for cell in row] for row in joint.masses]
    assert result.nmi == pytest.approx(best_share(whole), abs=SAME)
    assert result.status == "optimal"


@pytest.mark.parametrize(("c", "n", "most"), [(20, 60, 100), (8, 90, 1000), (3, 150, 10)])
def test_columns_of_many_symbols_are_held_by_the_lattice_of_all(c: int, n: int, most: int) -> None:
    """Proportions of twenty counts take hundreds of bits, and sums of short private columns come as close as one likes.

    In real numbers nothing more is kept: then there is no note.
    """
    joint = Joint.from_counts(np.random.default_rng([c, n]).integers(0, most, (c, n)))
    result = design(joint, PerfectPrivacy())
    assert PerfectPrivacy().holds(joint, result.mechanism)
    assert result.nmi > 0.4
    assert not result.notes


@pytest.mark.parametrize("tiny", [1e-300, 5e-324, 1e-30])
def test_cells_of_hundreds_of_digits_are_no_trouble(tiny: float) -> None:
    """As integers of one scale they have a thousand bits, and products of two are no floats."""
    cells = np.array([[0.3, 0.2, tiny, 0.1], [0.1, 0.1, 0.1, 0.1]])
    joint = Joint.from_array(cells / cells.sum())
    result = design(joint, PerfectPrivacy())
    assert PerfectPrivacy().holds(joint, result.mechanism)
    assert result.nmi <= result.bound


def few_more_columns(seed: int) -> list[list[int]]:
    """One or two values of X more than of S, in counts of some digits: private columns of 30 to 55 bits."""
    rng = np.random.default_rng([7, seed])
    c, most = [(4, 300), (4, 1_000), (3, 10_000), (3, 10**9)][seed % 4]
    n = c + 2 if most == 10**9 else int(rng.integers(c + 1, c + 3))
    return [[int(k) for k in row] for row in rng.integers(1, most, (c, n))]


@pytest.mark.parametrize("seed", quick_first(range(80), 20))
def test_private_columns_that_are_far_apart_are_held(seed: int) -> None:
    """Weights move by leaps there; what sixty bits leave is no more than such a leap, of up to fifty bits."""
    counts = few_more_columns(seed)
    result = design(Joint.from_counts(counts), PerfectPrivacy())
    best = best_share(counts)
    assert best - 2e-4 <= result.nmi <= best + SAME
    assert result.nmi >= best - SAME or "60 bits" in result.notes[0]


def test_the_columns_of_four_by_five_counts_are_held() -> None:
    counts = [[141, 168, 23, 279, 135], [191, 175, 276, 247, 118], [17, 189, 240, 255, 171], [163, 173, 45, 16, 139]]
    result = design(Joint.from_counts(counts), PerfectPrivacy())
    assert result.nmi == pytest.approx(best_share(counts), abs=SAME)
    assert result.status == "optimal"


def test_long_counts_of_a_large_alphabet_are_no_trouble() -> None:
    """Short vectors are not found in the work that there is, and floats cannot hold the long ones."""
    joint = Joint.from_counts(np.random.default_rng(0).integers(1, 10**9 + 1, (20, 60)))
    result = design(joint, PerfectPrivacy())
    assert PerfectPrivacy().holds(joint, result.mechanism)
    assert result.nmi > 0.3
