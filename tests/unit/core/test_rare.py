"""When so few records stand behind useful values that a design on them is private."""

from __future__ import annotations

import pytest

from discreet import Joint
from discreet.core.rare import has_rare_values


@pytest.mark.parametrize(
    ("useful", "is_rare"),
    [
        ([4, 10_000], True),  # one value with fewer than 5
        ([5, 10_000], False),
        ([0, 10_000], False),  # a declared value that never occurs
        ([10, 990], False),  # exactly 1 % in values with fewer than 20
        ([10, 989], True),
        ([19, 19, 3_762], False),
        ([19, 19, 3_761], True),
        ([20, 20, 20], False),
        ([1] * 40, True),
    ],
)
def test_values_are_rare_below_five_records_or_with_more_than_one_percent_in_few(
    useful: list[int], is_rare: bool
) -> None:
    halves = [n // 2 for n in useful], [n - n // 2 for n in useful]
    assert has_rare_values(Joint.from_counts(halves)) is is_rare


def test_counts_of_any_size_are_compared_exactly() -> None:
    most = 990 * 10**40
    assert not has_rare_values(Joint.from_counts([[10, most]]))
    assert has_rare_values(Joint.from_counts([[4, most]]))


def test_of_probabilities_nobody_knows_the_records() -> None:
    assert not has_rare_values(Joint.from_array([[0.001, 0.499], [0.0, 0.5]]))
