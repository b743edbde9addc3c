"""The secret of an attack: values as they are, numbers and days in parts, null apart, rare values together."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import InputError
from discreet.publishing.attack.secret import secret_of


def test_few_values_are_kept_with_their_types() -> None:
    found = secret_of([("s", pa.chunked_array([[3, None, 1, 3]]))])
    assert [found.values[code] for code in found.codes] == [3, None, 1, 3]
    found = secret_of([("s", pa.chunked_array([["b", "a", None]])), ("t", pa.chunked_array([[True, True, None]]))])
    assert [found.values[code] for code in found.codes] == [("b", True), ("a", True), (None, None)]


@pytest.mark.parametrize("kind", ["number", "text", "day"])
def test_many_numbers_are_cut_into_fifths_and_nobodys_own_is_named(kind: str) -> None:
    order = np.random.default_rng(0).permutation(1000)
    start = dt.date(2020, 1, 1)
    made = {"number": lambda k: k + 0.5, "text": lambda k: f"{k}.5", "day": lambda k: start + dt.timedelta(days=k)}
    cells = [made[kind](int(k)) for k in order]
    found = secret_of([("s", pa.chunked_array([[*cells, None, None]]))])
    assert np.bincount(found.codes).tolist() == [200, 200, 200, 200, 200, 2]
    assert (found.codes[:-2] == order // 200).all()
    assert found.values[-1] is None
    assert found.values[0] == f"up to {made[kind](199)}"
    assert found.values[1] == f"{made[kind](200)} to {made[kind](399)}"
    assert found.values[4] == f"{made[kind](800)} and above"
    assert found.notes == ("s is cut into 5 parts of about equal size.",)


def test_rare_values_are_one_and_a_single_value_is_refused() -> None:
    names = [f"n{k}" for k in range(60) for _ in range(60 - k)]
    found = secret_of([("s", pa.chunked_array([names]))])
    assert (len(found.values), found.values[-1]) == (40, "other values")
    kept = {found.values[code] for code in found.codes} - {"other values"}
    assert kept == {f"n{k}" for k in range(39)}
    few = secret_of([("s", pa.chunked_array([[f"n{k}" for k in range(110)]]))])
    assert (len(few.values), few.notes) == (10, ("101 rarer values of S are taken as one, 'other values'.",))
    with pytest.raises(InputError, match="has one value only"):
        secret_of([("s", pa.chunked_array([["a", "a"]]))])
