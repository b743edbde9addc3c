"""Every kind of table gives the same joint, and it is the one that counting by hand gives."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Joint

ROWS = 500


@pytest.fixture(scope="module")
def columns() -> dict[str, list[Any]]:
    """Strings with quotes, commas, newlines and emoji, integers, nulls, and the empty string."""
    rng = np.random.default_rng(3)
    words = [
        "plain",
        "with, comma",
        'with "quotes"',
        "with\nnewline",
        "emoji 🙂",
        "",
        "007",
        "NA",
        "null",
        " padded ",
        None,
    ]
    return {
        "secret": [words[k] for k in rng.integers(0, len(words), ROWS)],
        "job": [words[k] for k in rng.integers(0, len(words), ROWS)],
        "size": [None if k == 9 else int(k) for k in rng.integers(0, 10, ROWS)],
        "other": [float(v) for v in rng.random(ROWS)],
    }


KINDS = ["arrow", "record batch", "pandas", "polars", "lazy", "relation", "parquet", "glob", "renamed parquet"]


def as_kind(kind: str, columns: dict[str, list[Any]], folder: Path) -> Any:
    table = pa.table(columns)
    if kind == "record batch":
        return table.to_batches()[0]
    if kind == "pandas":
        return pd.DataFrame(columns).astype({"size": "Int64"})
    if kind == "polars":
        return pl.DataFrame(columns)
    if kind == "lazy":
        return pl.LazyFrame(columns)
    if kind == "relation":
        return duckdb.connect().from_arrow(table)
    if kind == "parquet":
        pq.write_table(table, folder / "t.parquet")
        return str(folder / "t.parquet")
    if kind == "renamed parquet":
        pq.write_table(table, folder / "t[1].data")
        return folder / "t[1].data"
    if kind == "glob":
        pq.write_table(table.slice(0, 200), folder / "part-1.parquet")
        pq.write_table(table.slice(200), folder / "part-2.parquet")
        return folder / "part-*.parquet"
    return table


def by_hand(columns: dict[str, list[Any]], sensitive: str, useful: list[str]) -> Counter:
    names = [columns[name] for name in useful]
    keys = zip(*names) if len(names) > 1 else names[0]
    return Counter(zip(columns[sensitive], keys))


def pairs(joint: Joint) -> Counter:
    assert joint.counts is not None
    return Counter(
        {
            (s, x): int(joint.counts[i, j])
            for i, s in enumerate(joint.sensitive)
            for j, x in enumerate(joint.useful)
            if joint.counts[i, j]
        }
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("useful", [["job"], ["size"], ["job", "size"]], ids=str)
def test_counts_are_those_counted_by_hand(kind: str, useful: list[str], columns, tmp_path: Path) -> None:
    joint = Joint.from_table(as_kind(kind, columns, tmp_path), "secret", useful if len(useful) > 1 else useful[0])
    assert pairs(joint) == by_hand(columns, "secret", useful)
    assert joint.useful_columns == tuple(useful)
    assert joint.records == ROWS


def test_all_kinds_agree_on_the_order_of_labels(columns, tmp_path: Path) -> None:
    orders = set()
    for kind in KINDS:
        joint = Joint.from_table(as_kind(kind, columns, tmp_path), "secret", ["job", "size"])
        orders.add((joint.sensitive, joint.useful))
    assert len(orders) == 1


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv"])
def test_csv_is_read_as_text(suffix: str, columns, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    frame = pd.DataFrame(columns).astype({"size": "Int64"})
    frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",", quoting=2, na_rep="")
    joint = Joint.from_table(path, "secret", "size")
    # A quoted empty cell is the empty string, so nulls written by pandas come back as such.
    assert set(joint.useful) <= {*(str(k) for k in range(9)), "", None}
    assert "007" in joint.sensitive
    assert " padded " in joint.sensitive
    assert "with\nnewline" in joint.sensitive


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"], ids=["comma", "semicolon", "tab", "bar"])
def test_common_dialects_of_csv_are_understood(newline: str, separator: str, tmp_path: Path) -> None:
    lines = [["the secret", "a,b;c"], ["x y", "1"], ["z", "2"], ["x y", "1"]]
    text = newline.join(separator.join(f'"{cell}"' for cell in line) for line in lines) + newline
    (tmp_path / "t.csv").write_bytes(("\ufeff" + text).encode())
    joint = Joint.from_table(tmp_path / "t.csv", "the secret", "a,b;c")
    assert (joint.sensitive, joint.useful, joint.counts.tolist()) == (("x y", "z"), ("1", "2"), [[2, 0], [0, 1]])


def test_empty_cells_and_empty_strings_differ_in_csv(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('s,x\na,\nb,""\na,1\n')
    joint = Joint.from_table(tmp_path / "t.csv", "s", "x")
    assert joint.useful == ("", "1", None)


@pytest.mark.parametrize(
    "values",
    [
        [True, False, None],
        [dt.date(2024, 1, 1), dt.date(1999, 1, 1), None],
        [dt.datetime(2024, 1, 1, 5), dt.datetime(2024, 1, 1, 4), None],
        [1.5, -2.5, None],
        [2**62, -3, None],
    ],
    ids=["bool", "date", "datetime", "float", "big"],
)
def test_typed_values_are_labels(values: list[Any]) -> None:
    table = pa.table({"s": ["a", "b", "a"], "x": values})
    joint = Joint.from_table(table, "s", "x")
    assert joint.useful == (*sorted(v for v in values if v is not None), None)
    assert type(joint.useful[0]) is type(values[0])


def test_nan_counts_as_null() -> None:
    table = pa.table({"s": ["a", "b", "a", "a"], "x": pa.array([float("nan"), None, 1.0, -0.0])})
    joint = Joint.from_table(table, "s", "x")
    assert joint.useful == (0.0, 1.0, None)
    assert joint.counts.tolist() == [[1, 1, 1], [0, 0, 1]]


def test_categories_and_uuids_are_text() -> None:
    frame = pd.DataFrame({"s": pd.Categorical(["b", "a", "b"]), "x": [1, 2, 3]})
    assert Joint.from_table(frame, "x", "s").useful == ("a", "b")
    relation = duckdb.connect().sql("SELECT uuid() AS u, 'a' AS s FROM range(3)")
    assert all(isinstance(label, str) for label in Joint.from_table(relation, "s", "u").useful)


def test_the_callers_relation_stays_open() -> None:
    connection = duckdb.connect()
    relation = connection.sql("SELECT range AS x, range % 2 AS s FROM range(10)")
    Joint.from_table(relation, "s", "x")
    assert relation.aggregate("count(*)").fetchall() == [(10,)]
