"""Combinations are the same whether texts are grouped as they are or by the numbers that stand for them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet import Joint
from discreet._support.errors import InternalError
from discreet.tables import open_table
from discreet.tables.combinations import Combinations, about_distinct, count_distinct, list_combinations
from discreet.tables.session import DuckDBTable
from tests.releases import awkward_table

TABLE = awkward_table(4_000)


def counted(known: bool) -> tuple[Combinations, Counter[Any]]:
    joint = Joint.from_table(TABLE, "sex", "job")
    given = {"sex": joint.sensitive, "job": joint.useful} if known else None
    with open_table(TABLE) as source:
        found = list_combinations(source, ["sex"], ["job"], ["age"], bins={}, known=given)
    pairs: Counter[Any] = Counter()
    for s, x, n in zip(found.row.tolist(), found.column.tolist(), found.records.tolist()):
        pairs[found.sensitive[s], found.useful[x]] += n
    return found, pairs


def test_texts_are_counted_alike_by_their_numbers() -> None:
    (plain, pairs), (short, same) = counted(known=False), counted(known=True)
    assert pairs == same == Counter(zip(TABLE.column("sex").to_pylist(), TABLE.column("job").to_pylist()))
    assert sorted(plain.records.tolist()) == sorted(short.records.tolist())


def test_texts_that_share_a_number_are_counted_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DuckDBTable, "hashes_of", lambda self, texts: np.zeros(len(texts), dtype=np.int64))
    assert counted(known=True)[1] == counted(known=False)[1]


def test_a_text_that_was_not_known_is_no_other() -> None:
    with open_table(TABLE) as source, pytest.raises(InternalError, match="did not hold"):
        list_combinations(source, ["sex"], ["job"], [], bins={}, known={"sex": ["f", "x"], "job": [None, "null"]})


def test_sketches_are_near_and_nulls_do_not_vanish() -> None:
    rows = 50_000
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.integers(0, 200, rows), "b": [None if k % 3 else str(k % 1000) for k in range(rows)]})
    with open_table(table) as source:
        alone, both = about_distinct(source, [['"a"'], ['"a"', '"b"']])
        exact = count_distinct(source, ['"a"', '"b"'])
    assert exact == [200, len(set(table.column("b").drop_null().to_pylist()))]
    assert abs(alone - 200) < 30
    assert abs(both - len(set(zip(*table.to_pydict().values())))) < 0.15 * both
