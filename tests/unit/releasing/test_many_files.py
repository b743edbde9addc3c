"""Releases of several files, and of groups of rows of any size: whole, readable by all, and in their order."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet import LIP, Joint, design
from discreet._support.errors import InternalError
from discreet.releasing.engines.parquet_join import join_parquet
from tests.releases import awkward_table

TABLE = awkward_table(9_000).select(["number", "job", "ill", "age"])

#: Where a table of 9,000 rows is cut into files.
CUTS = {
    "three alike": [3_000, 6_000],
    "one row first": [1],
    "ten rows first": [10],
    "an empty one among them": [3_000, 3_000, 6_000],
    "many": list(range(100, 9_000, 100)),
}


def with_nulls(table: pa.Table, where: int) -> pa.Table:
    """No null in the first rows, nothing else in the last."""
    city = pa.array(["x" if row < where else None for row in range(table.num_rows)], pa.string())
    return table.append_column("city", city)


def released(source: Path, folder: Path, **options: Any) -> pa.Table:
    mechanism = design(Joint.from_table(source, "ill", "job"), LIP(0.3)).mechanism
    output, private = folder / "o.parquet", folder / "p.json"
    with pytest.warns(dc.errors.DiscreetWarning):
        dc.release(
            source,
            mechanism,
            keep=["age", "city"],
            uncovered="all",
            seed=1,
            output=output,
            private_certificate=private,
            **options,
        )
    verdict = dc.verify(private, source, output, key=dc.ReleaseKey.from_seed(1))
    assert verdict.level == "redrawn", verdict
    made = pq.read_table(output)
    asked = duckdb.sql(f"SELECT * FROM read_parquet('{output}')")
    assert asked.fetchall() == list(zip(*made.to_pydict().values()))
    assert pl.read_parquet(output).height == made.num_rows
    return made


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("record", ["number", None])
def test_files_become_one_in_their_order(cut: str, record: str | None, tmp_path: Path) -> None:
    table = with_nulls(TABLE, 3_000)
    (tmp_path / "in").mkdir()
    ends = [0, *CUTS[cut], table.num_rows]
    for number, (first, last) in enumerate(itertools.pairwise(ends)):
        pq.write_table(table.slice(first, last - first), tmp_path / "in" / f"{number:04d}.parquet")
    made = released(tmp_path / "in", tmp_path, id=record)
    assert made.select(["age", "city"]).equals(table.select(["age", "city"]))


@pytest.mark.parametrize("size", [2_058, 2_100, 10])
def test_small_groups_of_rows_keep_their_order(size: int, tmp_path: Path) -> None:
    """DuckDB's joins hold back what a group of rows leaves beyond whole vectors, unless they are told not to."""
    table = with_nulls(TABLE, 9_000)
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=size)
    made = released(tmp_path / "in.parquet", tmp_path, id="number")
    assert made.column("number").equals(table.column("number"))


def test_a_duckdb_that_cannot_be_told_sorts_instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.releasing.engines.duckdb.keeps_order", lambda connection: False)
    test_small_groups_of_rows_keep_their_order(2_058, tmp_path)


def test_parts_of_other_columns_are_not_joined(tmp_path: Path) -> None:
    parts = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for part, nullable in zip(parts, (True, False)):
        schema = pa.schema([pa.field("x", pa.int64(), nullable=nullable)])
        pq.write_table(pa.table({"x": [1, 2]}, schema=schema), part)
    with pytest.raises(InternalError, match="different columns"):
        join_parquet(parts, tmp_path / "out.parquet")
