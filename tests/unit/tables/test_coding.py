"""Labels that Arrow sorts are those that Python would sort, and few of them are ever made."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import warnings
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Joint
from discreet.core import labels
from discreet.core.alphabet import Tuples
from discreet.ranges import Range
from discreet.reporting.audit import audit
from discreet.tables import coding, wide

DAYS = st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31))
TIMES = st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31))
KINDS = {
    "text": (pa.string(), st.text()),
    "long text": (pa.large_string(), st.text(alphabet="aé\x00\u202e\uffff\U0001f600\U00010000 10", max_size=3)),
    "numbers as text": (pa.string(), st.integers(-200, 200).map(str)),
    "whole": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "small": (pa.int8(), st.integers(-128, 127)),
    "unsigned": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "floats": (pa.float64(), st.floats(allow_nan=False)),
    "short floats": (pa.float32(), st.floats(allow_nan=False, width=32)),
    "truth": (pa.bool_(), st.booleans()),
    "decimals": (pa.decimal128(8, 2), st.integers(-(10**8) + 1, 10**8 - 1).map(lambda n: Decimal(n).scaleb(-2))),
    "days": (pa.date32(), DAYS),
    "times": (pa.timestamp("us"), TIMES),
    "nothing": (pa.null(), st.none()),
}


def by_python(values: list[Any]) -> tuple[list[int], list[Any]]:
    """Codes and labels as the definition has them: each value once, in the order of their keys."""
    alphabet = sorted({_apart(value): value for value in values}.values(), key=labels.sort_key)
    place = {_apart(value): k for k, value in enumerate(alphabet)}
    return [place[_apart(value)] for value in values], alphabet


def _apart(value: Any) -> Any:
    return (type(value), value, math.copysign(1, value) if isinstance(value, float) else 0)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_columns_are_coded_as_python_would(kind: str, data: st.DataObject) -> None:
    of, values = KINDS[kind]
    cells = pa.chunked_array([pa.array(data.draw(st.lists(st.none() | values, min_size=1)), of)])
    found = cells.to_pylist()
    if kind.endswith("floats"):  # SQL leaves one zero
        cells = pa.chunked_array([pa.array([value or None if value == 0 else value for value in found], of)])
        found = cells.to_pylist()
    codes, alphabet = coding.column_codes(cells, "x", None)
    assert (codes.tolist(), list(alphabet)) == by_python(found)
    assert [alphabet[k] for k in range(len(alphabet))] == list(alphabet)
    assert coding.dictionary_of(cells).dictionary.null_count == (None in found)


@given(st.lists(st.tuples(st.sampled_from("abé"), st.none() | st.integers(0, 3), st.booleans()), min_size=1))
def test_tuples_are_coded_as_python_would(rows: list[tuple[Any, ...]]) -> None:
    kinds = (pa.string(), pa.int64(), pa.bool_())
    cells = pa.table({f"c{k}": pa.array(part, kind) for k, (part, kind) in enumerate(zip(zip(*rows), kinds))})
    codes, alphabet = coding.symbol_codes(coding.codes_of(cells, "xyz", {}))
    assert (codes.tolist(), list(alphabet)) == by_python(rows)
    *_, last = alphabet
    assert alphabet[-1] == last
    assert alphabet[-1:] == (last,)
    with pytest.raises(IndexError):
        alphabet[len(alphabet)]


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 4), min_size=1), st.sampled_from([1, 10**3, 10**15]))
def test_tuples_of_small_and_huge_alphabets_are_told_apart(rows: list[tuple[int, ...]], size: int) -> None:
    """By a table of all tuples, by sorting one number each, or line by line where no number holds them."""
    parts = [(np.array(part, dtype=np.int64), range(max(6, size))) for part in zip(*rows)]
    codes, alphabet = coding.symbol_codes(parts)
    distinct = sorted(set(rows))
    assert codes.tolist() == [distinct.index(row) for row in rows]
    assert alphabet.codes.T.tolist() == [list(row) for row in distinct]  # type: ignore[attr-defined]


def test_nan_and_times_that_arrow_sorts_otherwise_are_left_to_python() -> None:
    refused = [
        pa.array([math.nan, 1.0]),
        pa.array([1], pa.timestamp("ns")),
        pa.array([1], pa.timestamp("us", "UTC")),
        pa.array([b"a"]),
    ]
    assert not any(map(coding._is_sorted_by_arrow, refused))


def many(rows: int = 400_000, seed: int = 3) -> pa.Table:
    """About 200,000 useful tuples of text, number and null, and a sensitive column of 5 values and null."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 220_000, rows)
    with duckdb.connect() as connection:
        connection.register("t", pa.table({"x": x, "s": rng.integers(0, 6, rows)}))
        return connection.sql(
            "SELECT CASE WHEN x % 50 = 0 THEN NULL ELSE 'tówn ' || x % 50 END AS a, x // 50 % 40 AS b, "
            "x // 2000 AS c, 'v' || x AS one, nullif(s, 5) AS s FROM t"
        ).to_arrow_table()


def joint_of(table: pa.Table, useful: Any, sensitive: Any = "s") -> Joint:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Joint.from_table(table, sensitive, useful)


@pytest.mark.parametrize("useful", [["a", "b", "c"], ["one"], ["a", "one"]])
@pytest.mark.parametrize("sensitive", ["s", ["s", "b"]])
def test_lines_count_what_pairs_count(useful: list[str], sensitive: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if set(useful) & set(sensitive):
        return
    table = many(80_000)
    asked: list[int] = []
    counted = wide.count_lines
    monkeypatch.setattr("discreet.tables.counting.count_lines", lambda *given: asked.append(1) or counted(*given))
    monkeypatch.setattr(wide, "MOST_SENSITIVE", 1000)
    lines = joint_of(table, useful, sensitive)
    assert asked
    monkeypatch.setattr(wide, "MANY", 2.0)
    pairs = joint_of(table, useful, sensitive)
    assert len(asked) == 1
    assert lines.sensitive == pairs.sensitive
    assert lines.useful == pairs.useful
    assert np.array_equal(lines.whole, pairs.whole)
    assert Range.from_table(table, sensitive, useful).to_dict() == Range.of(pairs).to_dict()


def test_tables_of_many_sensitive_values_are_counted_in_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    table = many(60_000)
    wanted = joint_of(table, "one").whole
    monkeypatch.setattr(wide, "MOST_SENSITIVE", 3)
    assert np.array_equal(joint_of(table, "one").whole, wanted)


@pytest.mark.parametrize("useful", [["a", "b", "c"], ["one"]])
def test_an_audit_of_many_symbols_makes_few_labels(useful: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    made = itertools.count()
    for kind in (coding.Cells, Tuples):
        label = kind.label
        monkeypatch.setattr(kind, "label", lambda self, k, label=label: (next(made), label(self, k))[1])
        monkeypatch.setattr(kind, "listed", lambda self: pytest.fail("all labels were made"), raising=True)
    monkeypatch.setattr(
        "discreet.core.labels.encode", lambda label, encode=labels.encode: (next(made), encode(label))[1]
    )
    table = many()
    with monkeypatch.context() as patch:
        patch.setattr(coding.Cells, "listed", lambda self: self.values.to_pylist())  # of the sensitive values
        joint = joint_of(table, useful)
    found = audit(joint)
    assert len(found.per_symbol) == joint.n_useful > 150_000
    assert len(found.to_dict(20)["per_symbol"]) == 20
    assert found.to_dict(20)["per_symbol_left_out"] == joint.n_useful - 20
    assert next(made) < 1000
