"""Every engine and every kind of table gives the same bits, those of the reference in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.drawing.lookup import key_values
from discreet.drawing.thresholds import draws_of
from discreet.tables.dialect import DUCKDB, SPARK
from tests.conftest import quick_first
from tests.releases import awkward_table, by_id, mechanisms, rename_of

ROWS = 3_000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return awkward_table(ROWS)


@pytest.fixture(scope="module")
def kinds(table: pa.Table) -> dict[str, dc.Mechanism]:
    return mechanisms(table)


KINDS = [
    "optimal", "merging", "grr on 100 values", "oue", "conditional reporting", "two columns", "attributes", "binned",
]  # fmt: skip


def released(table: Any, mechanism: dc.Mechanism, **options: Any) -> Any:
    return dc.release(table, mechanism, seed=5, rename=rename_of(mechanism), as_values=False, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("column", ["number", "name", "uuid"])
def test_duckdb_draws_what_the_reference_draws(kind: str, column: str, table: pa.Table, kinds: dict) -> None:
    mechanism = kinds[kind]
    got = released(table, mechanism, id=column)
    for name, draw in zip([c for c in got.column_names if c != column], draws_of(mechanism)):
        subkey = dc.ReleaseKey.from_seed(5).subkey(draw.column, mechanism.fingerprint)
        rows = {key_values(s, draw.inputs, mechanism.bins): k for k, s in enumerate(draw.symbols)}
        values = [table.column(c).to_pylist() for c in draw.inputs]
        if mechanism.bins:
            values = [[sum(v >= edge for edge in (18, 40, 65)) for v in values[0]]]
        ids = [str(record) for record in table.column(column).to_pylist()]
        wanted = [draw.label(subkey, rows[key], record) for key, record in zip(zip(*values), ids)]
        assert got.column(name).to_pylist() == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_every_library_give_the_same(kind: str, table: pa.Table, kinds: dict, tmp_path: Path) -> None:
    mechanism = kinds[kind]
    wanted = released(table, mechanism, id="number", keep=["weight"], uncovered=["weight"])
    assert wanted.num_rows == ROWS
    frames = {
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table),
        "lazy": pl.from_arrow(table).lazy(),
        "duckdb": duckdb.from_arrow(table),
    }
    for name, frame in frames.items():
        got = released(frame, mechanism, id="number", keep=["weight"], uncovered=["weight"])
        assert type(got) is type(frame), name
        as_arrow = {
            "pandas": lambda f: pa.Table.from_pandas(f, preserve_index=False),
            "polars": lambda f: f.to_arrow(),
            "lazy": lambda f: f.collect().to_arrow(),
            "duckdb": lambda f: f.to_arrow_table(),
        }[name](got)
        assert as_arrow.to_pylist() == wanted.to_pylist(), name
    pq.write_table(table, tmp_path / "in.parquet")
    released(
        tmp_path / "in.parquet",
        mechanism,
        id="number",
        keep=["weight"],
        uncovered=["weight"],
        output=tmp_path / "out.parquet",
    )
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == wanted.to_pylist()


def test_a_csv_gives_the_same_as_its_text_columns(table: pa.Table, tmp_path: Path) -> None:
    """Text everywhere: the mechanism is designed on what the file holds."""
    text = table.select(["name", "job", "ill"]).cast(pa.schema([(c, pa.string()) for c in ("name", "job", "ill")]))
    pyarrow.csv.write_csv(text, tmp_path / "in.csv")
    mechanism = dc.design(dc.Joint.from_table(text, "ill", "job"), dc.LIP(0.3)).mechanism
    released(tmp_path / "in.csv", mechanism, id="name", output=tmp_path / "out.csv.gz")
    (tmp_path / "parts").mkdir()
    got = duckdb.read_csv(str(tmp_path / "out.csv.gz"), all_varchar=True).to_arrow_table()
    assert by_id(got, "name") == by_id(released(text, mechanism, id="name"), "name")


@pytest.mark.parametrize("partitions", quick_first([7, 1, 2], 1))
@pytest.mark.parametrize("column", ["number", "name", "uuid"])
def test_spark_gives_the_same(partitions: int, column: str, table: pa.Table, kinds: dict, spark: Any) -> None:
    frame = spark.createDataFrame(table.to_pandas()).repartition(partitions)
    for kind in ("optimal",) if column != "number" else KINDS:
        wanted = released(table, kinds[kind], id=column, keep=["weight"], uncovered=["weight"])
        got = released(frame, kinds[kind], id=column, keep=["weight"], uncovered=["weight"])
        assert by_id(got.toArrow(), column) == by_id(wanted, column), kind


@pytest.mark.parametrize("files", [1, 4])
def test_places_of_rows_serve_as_ids_on_both_engines(
    files: int, table: pa.Table, kinds: dict, spark: Any, tmp_path: Path
) -> None:
    source = tmp_path / "in put"
    source.mkdir()
    step = -(-ROWS // files)
    for k in range(files):
        pq.write_table(table.slice(k * step, step), source / f"part {k}.parquet")
    path = source if files > 1 else source / "part 0.parquet"
    released(path, kinds["optimal"], keep=["number"], uncovered=["number"], output=tmp_path / "duck.parquet")
    released(
        path, kinds["optimal"], keep=["number"], uncovered=["number"], output=tmp_path / "spark.parquet", engine="spark"
    )
    one, other = pq.read_table(tmp_path / "duck.parquet"), pq.read_table(tmp_path / "spark.parquet")
    assert by_id(one, "number") == by_id(other, "number")
    assert one.column("number").to_pylist() == table.column("number").to_pylist()


def test_spark_counts_like_duckdb(table: pa.Table, spark: Any) -> None:
    frame = spark.createDataFrame(table.to_pandas())
    for sensitive, useful, bins in (
        ("ill", ["job", "sex"], None),
        ("sex", "age", {"age": [18, 40.5]}),
        ("ill", "weight", {"weight": "quantiles:7"}),
        ("ill", "age", {"age": "quantiles:4"}),
        ("ill", "weight", {"weight": "quantiles:100"}),
        ("ill", "weight", {"weight": "quantiles:1500"}),
    ):
        one = dc.Joint.from_table(table, sensitive, useful, bins=bins)
        other = dc.Joint.from_table(frame, sensitive, useful, bins=bins)
        assert (one.useful, one.sensitive, one.bins) == (other.useful, other.sensitive, other.bins)
        assert (one.counts == other.counts).all()


def test_nan_is_a_null_everywhere(spark: Any) -> None:
    frame = pd.DataFrame({"s": [0, 1] * 50, "x": [1.5, float("nan"), 2.5, 1.5, 2.5] * 20})
    one = dc.Joint.from_table(frame, "s", "x")
    assert one.useful == (1.5, 2.5, None)
    assert dc.Joint.from_table(spark.createDataFrame(frame), "s", "x").useful == one.useful
    mechanism = dc.design(one, dc.LIP(0.2)).mechanism
    frame = frame.sample(frac=1, random_state=1, ignore_index=True)
    frame["id"] = range(100)
    options = {"seed": 1, "id": "id"}
    got = dc.release(spark.createDataFrame(frame), mechanism, **options).toArrow()
    assert by_id(got, "id") == by_id(dc.release(pa.Table.from_pandas(frame), mechanism, **options), "id")


def test_spark_keeps_the_key_out_of_its_plans(table: pa.Table, kinds: dict, spark: Any) -> None:
    mechanism = kinds["optimal"]
    got = released(spark.createDataFrame(table.to_pandas()), mechanism, id="number")
    subkey = dc.ReleaseKey.from_seed(5).subkey("job", mechanism.fingerprint)
    assert subkey not in got._jdf.queryExecution().toString()
    assert "BroadcastHashJoin" in got._jdf.queryExecution().toString()


def test_spark_without_broadcast_is_refused(table: pa.Table, kinds: dict, spark: Any, monkeypatch: Any) -> None:
    """A join that moves rows groups them by the true value; without the hint Spark would use one."""
    import discreet.releasing.engines.spark as engine

    monkeypatch.setattr(engine, "MOVING_JOINS", ("BroadcastHashJoin",))
    with pytest.raises(dc.errors.InputError, match="moves rows"):
        released(spark.createDataFrame(table.to_pandas()), kinds["optimal"], id="number")


def test_dialects_quote_what_they_are_given() -> None:
    assert DUCKDB.identifier('a"b') == '"a""b"'
    assert SPARK.identifier("a`b") == "`a``b`"


@pytest.mark.slow
@pytest.mark.parametrize("column", ["number", "name", "uuid"])
def test_a_million_rows_are_the_same_everywhere(column: str, spark: Any, tmp_path: Path) -> None:
    table = awkward_table(1_000_000, seed=12)
    mechanism = dc.design(dc.Joint.from_table(table, "ill", "job"), dc.LIP(0.2)).mechanism
    pq.write_table(table, tmp_path / "in.parquet")
    released(tmp_path / "in.parquet", mechanism, id=column, output=tmp_path / "out.parquet")
    wanted = pq.read_table(tmp_path / "out.parquet").sort_by(column)
    frames = {
        "arrow": released(table, mechanism, id=column),
        "pandas": pa.Table.from_pandas(released(table.to_pandas(), mechanism, id=column), preserve_index=False),
        "polars": released(pl.from_arrow(table), mechanism, id=column).to_arrow(),
    }
    for partitions in (1, 2, 7):
        frame = spark.read.parquet(str(tmp_path / "in.parquet")).repartition(partitions)
        frames[f"spark {partitions}"] = released(frame, mechanism, id=column).toArrow()
    for name, got in frames.items():
        ordered = got.select([column, "job"]).sort_by(column)
        for part in (column, "job"):
            same = ordered.column(part).cast(pa.large_string()).equals(wanted.column(part).cast(pa.large_string()))
            assert same, (name, part)


@pytest.mark.parametrize("column", ["ill", "job"])
def test_spark_refuses_rows_in_order(column: str, kinds: dict, spark: Any, tmp_path: Path) -> None:
    """Also where the rows that are looked at all share one value, and where folders part them."""
    large = awkward_table(30_000, seed=2).sort_by(column)
    frame = spark.createDataFrame(large.to_pandas()).coalesce(1)
    with pytest.raises(dc.errors.BrokenNotionError, match="order of the rows"):
        released(frame, kinds["optimal"], id="number", notion=dc.LIP(1.0))
    assert released(frame, kinds["optimal"], id="number", shuffle=True, notion=dc.LIP(1.0)).count() == 30_000
    spark.createDataFrame(large.to_pandas()).write.partitionBy(column).parquet(str(tmp_path / "in"))
    with pytest.raises(dc.errors.BrokenNotionError, match="order of the rows"):
        released(spark.read.parquet(str(tmp_path / "in")), kinds["optimal"], id="number", notion=dc.LIP(1.0))


@pytest.mark.parametrize("is_long", [False, True])
def test_spark_refuses_ids_and_rows_in_subtle_orders(is_long: bool, spark: Any, monkeypatch: Any) -> None:
    """Halves of another composition, by rows or by ids; of long frames stretches are looked at."""
    from discreet.tables import stretches

    if is_long:
        for name, value in {
            "MOST_ROWS": 5_000,
            "SHOWN": 8_000,
            "STRETCH": 128,
            "WINDOWS": 40,
            "ONE_ID_IN": 200,
        }.items():
            monkeypatch.setattr(stretches, name, value)
    rng, n = np.random.default_rng(1), 20_000
    s = (rng.random(n) < np.where(np.arange(n) < n // 2, 0.84, 0.16)).astype(np.int64)
    frame = pd.DataFrame({"id": [f"{k:06d}'" for k in rng.permutation(n)], "s": s, "x": rng.integers(0, 3, n)})
    mechanism = dc.design(dc.Joint.from_table(frame, "s", "x"), dc.LIP(0.5)).mechanism
    with pytest.raises(dc.errors.BrokenNotionError, match="order of the rows"):
        dc.release(spark.createDataFrame(frame), mechanism, seed=1, id="id")
    frame["id"] = [f"{k:06d}'" for k in range(n)]
    mixed = spark.createDataFrame(frame.sample(frac=1, random_state=2))
    for options in ({}, {"shuffle": True, "publish_id": True}):
        with pytest.raises(dc.errors.BrokenNotionError, match="published id 'id'"):
            dc.release(mixed, mechanism, seed=1, id="id", **options)
    assert dc.release(mixed, mechanism, seed=1, id="id", publish_id=False).columns == ["x"]
    assert dc.release(mixed, mechanism, seed=1, id="id", shuffle=True).columns == ["x"]


def test_a_spark_release_is_verified_with_its_frame_in_memory(
    table: pa.Table, kinds: dict, spark: Any, tmp_path: Path
) -> None:
    frame = spark.createDataFrame(table.to_pandas())
    released(frame, kinds["optimal"], id="number", output=tmp_path / "o.parquet")
    certificate = tmp_path / "o.parquet.certificate.json"
    assert dc.verify(certificate, table, tmp_path / "o.parquet", key=dc.ReleaseKey.from_seed(5))
