"""Numeric columns are cut by an explicit choice only."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from discreet import LIP, Joint, Mechanism, release
from discreet._support.errors import InputError, UnusableColumnError
from discreet.tables.binning import interval_text

AGES = [0, 17, 18, 18, 64, 65, 99, -1, None]


def table(ages=AGES) -> pa.Table:
    return pa.table({"s": [str(k % 2) for k in range(len(ages))], "age": ages})


def test_edges_cut_half_open_intervals_in_order() -> None:
    joint = Joint.from_table(table(), "s", "age", bins={"age": [0, 18, 65]})
    assert joint.useful == ("< 0", "[0, 18)", "[18, 65)", ">= 65", None)
    assert joint.counts.sum(axis=0).tolist() == [1, 2, 3, 2, 1]
    assert joint.bins == {"age": (0.0, 18.0, 65.0)}


def test_only_intervals_that_occur_are_symbols() -> None:
    joint = Joint.from_table(table([20, 30]), "s", "age", bins={"age": "0,18,65,70"})
    assert joint.useful == ("[18, 65)",)


def test_text_columns_are_cut_as_numbers_if_they_all_are() -> None:
    ages = ["20", "3", None, " 40"]
    joint = Joint.from_table(table(ages), "s", "age", bins={"age": [18.5]})
    assert joint.useful == ("< 18.5", ">= 18.5", None)
    with pytest.raises(UnusableColumnError, match="has 2 values that are not numbers") as caught:
        Joint.from_table(table(["20", "?", "secret"]), "s", "age", bins={"age": [18]})
    assert "secret" not in str(caught.value)


def test_quantiles_share_the_records_out() -> None:
    ages = list(np.random.default_rng(0).permutation(1000))
    joint = Joint.from_table(table([int(a) for a in ages]), "s", "age", bins={"age": "quantiles:10"})
    assert joint.n_useful == 10
    assert (np.abs(joint.counts.sum(axis=0) - 100) <= 1).all()
    assert len(joint.bins["age"]) == 9


def test_quantiles_of_repeated_values_merge() -> None:
    joint = Joint.from_table(table([1] * 50 + [2] * 50), "s", "age", bins={"age": "quantiles:10"})
    assert joint.useful == ("[1, 2)", ">= 2")


def test_nan_falls_in_no_interval() -> None:
    joint = Joint.from_table(table([float("nan"), 1.0, 2.0, None]), "s", "age", bins={"age": "quantiles:2"})
    assert joint.useful[-1] is None
    assert joint.counts.sum(axis=0)[-1] == 2


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("quantiles:1", "at least 2"),
        ("quantiles:x", "at least 2"),
        ("3,2", "increase"),
        ("1,1", "increase"),
        ("1,nan", "finite"),
        ("a,b", "numbers"),
        ("", "numbers"),
        ([], "at least one"),
        (5, "numbers"),
        ("quantiles:2001", "more than 2000 intervals"),
        ("quantiles:" + "9" * 5000, "more than 2000 intervals"),
        (list(range(2000)), "more than 2000 intervals"),
    ],
)
def test_a_wrong_rule_is_refused(rule, says: str) -> None:
    with pytest.raises(InputError, match=says):
        Joint.from_table(table(), "s", "age", bins={"age": rule})


@pytest.mark.parametrize("intervals", [200, 201, 202, 1500])
def test_many_intervals_are_cut_where_they_should(intervals: int) -> None:
    """Around the number of edges from which the interval is searched for, and far beyond."""
    values = np.random.default_rng(3).permutation(np.repeat(np.arange(2000) / 8, 2))
    ages = [*values.tolist(), None, float("nan"), float("inf"), -float("inf")]
    joint = Joint.from_table(table(ages), "s", "age", bins={"age": f"quantiles:{intervals}"})
    edges = np.array(joint.bins["age"])
    assert len(edges) == intervals - 1
    codes = np.searchsorted(
        edges, np.array([age for age in ages if age is not None and not math.isnan(age)]), side="right"
    )
    found = dict(zip(joint.useful, joint.counts.sum(axis=0).tolist()))
    assert found.pop(None) == 2
    assert found == {
        interval_text(code, joint.bins["age"]): n for code, n in zip(*map(list, np.unique(codes, return_counts=True)))
    }
    explicit = Joint.from_table(table(ages), "s", "age", bins={"age": edges.tolist()})
    assert (explicit.counts == joint.counts).all()


@pytest.mark.parametrize(("records", "intervals"), [(3000, 100), (3000, 1500), (10, 7), (3, 50), (1, 2)])
def test_quantiles_are_the_exact_records(records: int, intervals: int) -> None:
    """The k-th edge is the value of record ceil(k n / N), without a rounded product in between."""
    joint = Joint.from_table(table([*range(1, records + 1), None]), "s", "age", bins={"age": f"quantiles:{intervals}"})
    assert joint.bins["age"] == tuple(sorted({float(-(-k * records // intervals)) for k in range(1, intervals)}))


def test_many_intervals_can_be_released() -> None:
    ages = np.random.default_rng(5).random(3000).tolist()
    joint = Joint.from_table(table(ages), "s", "age", bins={"age": "quantiles:1500"})
    mechanism = Mechanism.from_channel(np.ones((1500, 1)), useful=joint.useful, useful_columns=["age"], bins=joint.bins)
    released = release(table(ages), mechanism, seed=1, trust_design=True, notion=LIP(1))
    assert set(released.column("age").to_pylist()) == set(mechanism.released)


def test_rules_for_other_columns_are_refused() -> None:
    with pytest.raises(InputError, match="neither"):
        Joint.from_table(table(), "s", "age", bins={"height": [1]})


def test_a_date_cannot_be_cut() -> None:
    import datetime as dt

    with pytest.raises(UnusableColumnError, match="cannot be cut"):
        Joint.from_table(table([dt.date(2024, 1, 1)] * 2), "s", "age", bins={"age": [1]})
