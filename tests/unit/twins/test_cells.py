"""Cells of every type as places among values, with what the values count."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from discreet.twins.cells import MOST_CATEGORIES, cells_of


@pytest.mark.parametrize(
    ("values", "codes", "numbers"),
    [
        ([3, 1, None, 3], [1, 0, -1, 1], [1, 3]),
        ([0.5, math.nan, -1.0, None], [1, -1, 0, -1], [-1, 0.5]),
        ([Decimal("1.50"), Decimal("0.25")], [1, 0], [0.25, 1.5]),
        ([dt.date(2020, 1, 2), None, dt.date(2020, 1, 1)], [1, -1, 0], [18262, 18263]),
        (["10", "9", None, "100"], [1, 0, -1, 2], [9, 10, 100]),
        (["1.200,50 €", "3 €", "12 €"], [2, 0, 1], [3, 12, 1200.5]),
        (["$1,200.50", "$3", "$12"], [2, 0, 1], [3, 12, 1200.5]),
        (["01234", "99999", "00001"], [1, 2, 0], [1, 1234, 99999]),
        (["31.12.2020", "01.02.2019"], [1, 0], [2019 * 372 + 63, 2020 * 372 + 403]),
        (["12/31/2020", "02/01/2019"], [1, 0], [2019 * 372 + 63, 2020 * 372 + 403]),
        (["2020-12-31", "2019-02-01"], [1, 0], [2019 * 372 + 63, 2020 * 372 + 403]),
        (["b", "a", None, "ä"], [1, 0, -1, 2], None),
        ([True, False, None], [1, 0, -1], None),
    ],
)
def test_values_have_places_in_their_order(values: list, codes: list, numbers: list | None) -> None:
    found = cells_of("x", pa.chunked_array([pa.array(values)]))
    assert found.codes.tolist() == codes
    assert (None if found.numbers is None else found.numbers.tolist()) == numbers
    shown = [None if code < 0 else found.values[code].as_py() for code in codes]
    assert [str(v) for v in shown if v is not None] == [
        str(v).lower() if isinstance(v, bool) else str(v) for v in values if v is not None and str(v) != "nan"
    ]


def test_dictionaries_are_read_as_what_they_stand_for() -> None:
    plain = pa.array(["u", "v", None, "u"])
    assert cells_of("x", plain.dictionary_encode()).codes.tolist() == cells_of("x", plain).codes.tolist()


def test_odd_texts_among_numbers_come_last_and_count_nothing() -> None:
    values = [str(k) for k in range(20)] + ["n/a"]
    found = cells_of("x", pa.array(values))
    assert found.numbers is not None
    assert np.isnan(found.numbers[-1])
    assert found.codes.tolist() == list(range(21))


def test_texts_of_many_values_have_an_order_and_few_have_none() -> None:
    names = [f"{a}{b}" for a in "abcdefghi" for b in "qrstuvwxyz"]
    assert len(names) > MOST_CATEGORIES
    assert cells_of("x", pa.array(names)).is_ordered
    assert not cells_of("x", pa.array(names[:MOST_CATEGORIES])).is_ordered


def test_ranks_are_shares_below() -> None:
    found = cells_of("x", pa.array([1, 1, 2, 5]))
    assert found.ranks.tolist() == [0.25, 0.625, 0.875]
    assert found.of_values(found.ranks)[0] == 0.25
