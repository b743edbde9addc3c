"""Columns of every type: published in the type that they had, or refused by name before any work is done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from tests.unit.publishing.made_up import people

NOTION = dc.LIP(1.0, confidence=0.9)
TABLE = people(1200, seed=9).select(["age", "job", "ill"])
N = TABLE.num_rows


def with_column(cells: pa.Array) -> pa.Table:
    return TABLE.append_column("more", cells)


def checked(table: object, sensitive: str = "ill", **options: object) -> dc.Publication:
    """A publication that is drawn again with the key, and attacked."""
    found = dc.publish(table, sensitive, notion=NOTION, seed=1, shuffle=False, **options)
    verdict = dc.verify(found.certificate, table, found.table, key=found.key)
    assert verdict.level == "redrawn", verdict.reasons
    assert dc.attack(table, found.table, sensitive, NOTION, models=["bayes"]).verdict != "broken"
    return found


@pytest.mark.parametrize(
    "cells",
    [
        TABLE["job"].cast(pa.string_view()),
        pa.array(np.asarray(TABLE["age"]).astype(np.float16)),
        TABLE["age"].cast(pa.decimal256(30, 2)),
        TABLE["job"].combine_chunks().dictionary_encode(),
        pa.array(np.full(N, np.nan)),
        pa.array([2.5, *[None] * (N - 2), 1.0]),
        *(pa.nulls(N, kind) for kind in (pa.int64(), pa.float64(), pa.string(), pa.timestamp("us"), pa.null())),
    ],
    ids=lambda cells: str(cells.type),
)
def test_a_column_comes_back_in_its_type(cells: pa.Array) -> None:
    table = with_column(cells)
    found = checked(table).table
    assert found.schema == table.drop_columns("ill").schema
    if cells.null_count in (0, N):
        assert found["more"].null_count == cells.null_count
    if cells.null_count < N:
        assert set(map(str, found["more"].to_pylist())) <= set(map(str, cells.to_pylist()))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_keep_half_floats_and_columns_of_nulls(library: str) -> None:
    columns = {"age": np.asarray(TABLE["age"]).astype(np.float16), "ill": TABLE["ill"].to_pylist(), "none": [None] * N}
    given = pd.DataFrame(columns) if library == "pandas" else pl.DataFrame(columns)
    found = checked(given).table
    assert list(found.dtypes) == [kind for name, kind in zip(given.columns, given.dtypes) if name != "ill"]


JOBS = sorted(set(TABLE["job"].to_pylist()))
CATEGORIES = [*JOBS, "spy"]


def job_type(frame: Any) -> Any:
    shown = frame.collect() if hasattr(frame, "collect") else frame
    return shown["job"].type if isinstance(shown, pa.Table) else shown["job"].dtype


@pytest.mark.parametrize(
    "make",
    [
        lambda: TABLE.to_pandas().assign(job=lambda t: pd.Categorical(t["job"], categories=CATEGORIES)),
        lambda: pl.from_arrow(TABLE).with_columns(pl.col("job").cast(pl.Enum(CATEGORIES))),
        lambda: pl.from_arrow(TABLE).with_columns(pl.col("job").cast(pl.Enum(CATEGORIES))).lazy(),
        lambda: TABLE.set_column(
            1, "job", pa.DictionaryArray.from_arrays([JOBS.index(job) for job in TABLE["job"].to_pylist()], CATEGORIES)
        ),
    ],
    ids=["pandas", "polars", "lazy", "arrow"],
)
def test_unused_categories_stay_in_the_type_and_are_named(make: Callable[[], object], tmp_path: Path) -> None:
    found = checked(make())
    assert any("the types of job list some" in note for note in found.notes)
    assert not any("spy" in note for note in found.notes)
    assert job_type(found.table) == job_type(make())
    written = dc.publish(make(), "ill", notion=NOTION, seed=1, output=tmp_path / "out.parquet")
    assert not written.notes  # files hold the values of rows alone
    assert b"spy" not in (tmp_path / "out.parquet").read_bytes()


def test_categories_that_all_occur_are_not_noted() -> None:
    table = TABLE.to_pandas().assign(job=lambda t: pd.Categorical(t["job"]))
    assert not checked(table).notes
    secret = TABLE.to_pandas().assign(ill=lambda t: pd.Categorical(t["ill"], categories=["yes", "no", "spy"]))
    assert not checked(secret).notes


def test_relations_keep_types_that_arrow_lacks() -> None:
    largest = 2**128 - 1
    relation = duckdb.from_arrow(TABLE).project(
        "age::HUGEINT AS age, job::ENUM('clerk', 'nurse', 'smith', 'cook', 'spy''s') AS job, "
        f"({largest}::UHUGEINT - age::UHUGEINT) AS large, "
        "CASE WHEN age > 50 THEN TIMETZ '10:00:00+02' ELSE TIMETZ '10:00:00+05' END AS hour, ill"
    )
    found = checked(relation)
    kinds = dict(zip(relation.columns, map(str, relation.types)))
    assert dict(zip(found.table.columns, map(str, found.table.types))) == {c: kinds[c] for c in found.roles.useful}
    assert {kinds[c] for c in found.roles.useful} > {"HUGEINT", "UHUGEINT", "TIME WITH TIME ZONE"}
    published, own = set(found.table.fetchall()), set(relation.project("age, job, large, hour").fetchall())
    assert published <= own
    assert len(published) > 100
    assert min(row[2] for row in published) > 2**127
    assert any("the types of job list some" in note for note in found.notes)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (TABLE["age"].cast(pa.decimal256(60, 2)), r"'more' holds decimal256\(60, 2\).*Cast it to"),
        (TABLE["job"].cast(pa.binary()), "'more' holds BLOB, which cannot be compared as single values. Drop it"),
        (TABLE["job"].cast(pa.binary()).cast(pa.binary_view()), "'more' holds BLOB"),
    ],
)
def test_what_cannot_be_held_is_refused_by_name(cells: pa.Array, words: str) -> None:
    with pytest.raises(dc.errors.UnusableColumnError, match=words):
        dc.publish(with_column(cells), "ill", notion=NOTION, seed=1)


def test_columns_that_are_left_out_may_hold_anything() -> None:
    views = with_column(TABLE["job"].cast(pa.binary()).cast(pa.binary_view()))
    assert checked(views, drop="more").table.column_names == ["age", "job"]


@pytest.mark.parametrize("kind", [pa.int64(), pa.string(), pa.null()], ids=str)
def test_a_secret_of_nothing_but_null_is_refused(kind: pa.DataType) -> None:
    for sensitive, options in (("more", {}), (["ill", "more"], {}), (["ill", "more"], {"each": True})):
        with pytest.raises(dc.errors.UnusableColumnError, match="'more' is null in every row"):
            dc.publish(with_column(pa.nulls(N, kind)), sensitive, notion=NOTION, seed=1, **options)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_are_verified_as_far_as_they_hold_types(tmp_path: Path, ending: str) -> None:
    table = with_column(pa.nulls(N)).append_column("half", pa.array(np.asarray(TABLE["age"]).astype(np.float16)))
    output = tmp_path / f"out.{ending}"
    found = dc.publish(table, "ill", notion=NOTION, seed=1, output=output)
    verdict = dc.verify(found.certificate, table, output, key=found.key)
    assert verdict.level == "redrawn", verdict.reasons
    types = next(finding for finding in verdict.findings if finding.subject == "types of released columns")
    assert types.passed is (True if ending == "parquet" else None)
    if ending == "parquet":
        pq.write_table(pq.read_table(output).cast(pa.schema([(name, "string") for name in found.roles.useful])), output)
        assert "types of released columns" in str(dc.verify(found.certificate, table, output).reasons)


@pytest.mark.parametrize(("odd", "said"), [([np.nan, None], "both null and NaN"), ([0.0, -0.0], "both 0 and -0")])
def test_numbers_that_models_cannot_tell_apart_are_refused(odd: list[float | None], said: str) -> None:
    column = pa.array([*odd, *[1.5] * (N - 2)])
    with pytest.raises(dc.errors.UnusableColumnError, match=f"'more' has {said}"):
        dc.publish(with_column(column), "ill", notion=NOTION, seed=1)


def test_the_order_of_categories_does_not_tell_how_rows_stood() -> None:
    """Categories in the order of first appearance would: the published ones stand in one of their own."""
    rng = np.random.default_rng(0)
    secret = np.sort(rng.choice(["n", "y"], 3000, p=[0.6, 0.4]))  # rows sorted by it
    town = np.array([f"t{k // 10}" for k in range(3000)])
    listed = list(dict.fromkeys(town.tolist()))
    frame = pd.DataFrame({"town": pd.Categorical(town, listed), "age": rng.integers(20, 60, 3000), "s": secret})
    found = dc.publish(frame, "s", notion=dc.LIP(2.0, confidence=0.9), seed=1).table
    assert found["town"].dtype == frame["town"].dtype
    assert list(found["town"].cat.categories) == sorted(listed)
    table = pa.table({"town": pa.array(town).dictionary_encode(), "age": frame["age"].to_numpy(), "s": secret})
    made = dc.publish(table, "s", notion=dc.LIP(2.0, confidence=0.9), seed=1).table
    assert made.schema == table.drop_columns("s").schema
    shown = made.column("town").combine_chunks().dictionary.to_pylist()
    assert shown == list(dict.fromkeys(made.column("town").to_pylist()))
    ordered = frame.assign(town=frame["town"].cat.as_ordered())
    kept = dc.publish(ordered, "s", notion=dc.LIP(2.0, confidence=0.9), seed=1).table
    assert list(kept["town"].cat.categories) == listed


@pytest.mark.parametrize(
    ("name", "is_left_out"),
    [("paid", False), ("covid", False), ("taxPaid", False), ("userID", True), ("patient", True)],
)
def test_names_that_end_like_id_are_not_ids(name: str, is_left_out: bool) -> None:
    rng = np.random.default_rng(0)
    codes = [f"P-{k:06d}" for k in rng.integers(0, 1000, 3000)] if is_left_out else rng.integers(0, 1000, 3000)
    table = pa.table({name: codes, "age": rng.integers(20, 60, 3000), "s": rng.choice(["n", "y"], 3000)})
    found = dc.publish(table, "s", notion=dc.LIP(1.0, confidence=0.9), seed=1)
    assert (name in found.table.column_names) != is_left_out
