"""Designs for values of any rarity equal the optimum over all vertices in fractions."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import ALIP, LDP, LIP, Joint, MaxLift, Notion, design
from tests.bruteforce.rare import best_share_under_lip

#: Rounding to 60 bits costs rare values more than a solver does: about P(x) over 2**-60.
SAME = 1e-6

COUNTS = [[3, 2 * 10**9], [1, 10**9]]
OTHERS = [[[3, 10**9], [1, 10**9]], [[4, 2 * 10**9], [1, 10**9]], [[2, 2 * 10**9], [1, 10**9]]]


@pytest.mark.parametrize("method", ["optimal", "auto"])
def test_a_value_seen_four_times_in_three_billion_is_designed_for(method: str) -> None:
    result = design(Joint.from_counts(COUNTS), LIP(0.1), method)
    assert result.nmi == pytest.approx(best_share_under_lip(COUNTS, "0.1"), abs=SAME)
    assert result.nmi >= design(Joint.from_counts(COUNTS), LIP(0.1), "grr").nmi - 1e-9


@pytest.mark.parametrize("other", OTHERS)
def test_rare_values_under_two_priors(other: list[list[int]]) -> None:
    result = design(Joint.from_counts(COUNTS), LIP(0.1), also=[Joint.from_counts(other)])
    assert result.nmi == pytest.approx(best_share_under_lip(COUNTS, "0.1", [other]), abs=SAME)


@pytest.mark.parametrize("digits", [9, 12, 15])
@pytest.mark.parametrize("seed", range(4))
def test_nothing_keeps_more_than_the_optimum_however_rare_values_are(digits: int, seed: int) -> None:
    rng = np.random.default_rng([digits, seed])
    counts = [[int(n) for n in row] for row in rng.integers(1, 9, (2 + seed % 2, 4))]
    for row in counts:
        row[seed % 3] *= 10**digits
        row[3] *= 10 ** (digits // 2)
    joint = Joint.from_counts(counts)
    result = design(joint, LIP(0.3))
    assert result.nmi == pytest.approx(best_share_under_lip(counts, "0.3"), abs=SAME)
    for method in ("grr", "tight-rr", "subset-response", "subset-merging", "max-truth"):
        assert result.nmi >= design(joint, LIP(0.3), method).nmi - 1e-9, method
    assert design(joint, LIP(0.3), "tight-rr").nmi >= design(joint, LIP(0.3), "grr").nmi - 1e-9


def test_the_best_method_is_not_below_a_simpler_one_where_values_are_rare() -> None:
    """2 million records, five of one value: the exact optimum, by vertices in fractions, keeps .366174."""
    joint = Joint.from_counts([[1, 0, 2, 10], [41, 10, 76, 75], [1_000_000, 3, 1_000_000, 1]])
    found = design(joint, LDP(0.01), "auto")
    assert found.nmi == pytest.approx(0.366174, abs=1e-6)


#: Values of X and of S that are rare beside several common ones, and beside one that nearly all records have.
AMONG_OTHERS = [
    ([[1000, 48, 1, 64], [1, 10**9, 3, 10**9], [2, 6, 32, 10]], "1"),
    ([[17, 530_000_000, 30, 28_000_000], [7, 45, 41, 17]], "0.3"),
    ([[26, 59, 41, 4], [28_000_000, 36_000_000_000, 44, 63]], "1"),
    ([[58, 51, 61_000_000, 1_600_000_000], [16, 5_400_000, 16, 41], [34, 24, 52, 36]], "1"),
    ([[19, 8, 21, 29], [57, 32, 7, 24], [42_000_000, 57, 51, 69]], "0.3"),
    ([[63, 35, 5, 40], [47, 6, 33, 25], [47_000_000_000, 49, 3, 13]], "1"),
]


@pytest.mark.parametrize(("counts", "epsilon"), AMONG_OTHERS)
def test_rare_values_beside_several_common_ones(counts: list[list[int]], epsilon: str) -> None:
    best = best_share_under_lip(counts, epsilon)
    result = design(Joint.from_counts(counts), LIP(float(epsilon)))
    assert result.nmi == pytest.approx(best, abs=2 * SAME)
    assert result.bound >= best - 1e-9


#: One value of nearly all records under budgets so small that integers hold little of the best mixture.
NARROW = [
    (LIP(1e-6), [[10**9, 0, 2, 3, 0, 3, 2, 2], [0, 1, 1, 3, 3, 1, 1, 1]]),
    (LIP(1e-6), [[10**9, 0, 1, 1, 1, 2], [2, 1, 2, 3, 3, 2], [0, 1, 3, 1, 1, 0]]),
    (ALIP(eps_lower=5e-7, eps_upper=1e-6), [[10**9, 3, 2, 2, 2, 2], [2, 2, 2, 3, 1, 3]]),
    (MaxLift(0.05), [[10**9, 3, 3, 0, 1, 0, 1, 0], [0, 2, 2, 3, 3, 1, 3, 2], [2, 0, 1, 2, 1, 2, 1, 1]]),
]


@pytest.mark.parametrize(("notion", "counts"), NARROW)
def test_the_optimum_keeps_no_less_than_what_tells_the_truth_most_often(
    notion: Notion, counts: list[list[int]]
) -> None:
    joint = Joint.from_counts(counts)
    truthful = design(joint, notion, "max-truth").nmi
    assert truthful > 0.01
    assert design(joint, notion).nmi >= truthful - 1e-9
