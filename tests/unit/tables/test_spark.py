"""Tables of Spark: ids that repeat are found on every way, orders are those of Spark, and little is moved."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import LIP, Joint, Mechanism, design
from discreet._support.errors import UnreadableTableError, UnusableColumnError
from discreet.releasing import Request, run
from discreet.releasing.engines.spark import read_files
from discreet.tables import spark_counts, spark_files
from discreet.tables.session import Limits
from discreet.tables.spark import SparkTable
from discreet.tables.spark_files import FilesOfSpark, asked_by_duckdb

ROWS = 6000

#: Ids with as many nulls and repetitions as said.
IDS: dict[str, tuple[list[Any], int, int]] = {
    "unique": ([5, 3, 8, 1], 0, 0),
    "within a part": ([4, 4, 1, 2], 0, 1),
    "across parts": ([4, 1, 2, 4], 0, 1),
    "nulls": ([4, None, None, 2], 2, 0),
    "nulls and repeated": ([4, None, 4, 4], 1, 2),
    "negative": ([-7, 3, -7, -1], 0, 1),
    "huge": ([2**63 - 1, -(2**63), 2**63 - 1, 0], 0, 1),
    "huge and unique": ([2**63 - 1, -(2**63), 2**63 - 2, 0], 0, 0),
    "text": (["a", "A", "a", "a "], 0, 1),
    "unique text": (["a", "A", "", "a "], 0, 0),
    "text and null": (["a", None, "a", "b"], 1, 1),
}

#: How ids are compared: here, by gaps of close integers, by Spark alone.
WAYS = {"here": (10, 1 << 27), "gaps": (0, 1 << 27), "moved": (0, 0)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", IDS)
def test_repeated_ids_are_found(case: str, way: str, spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    values, nulls, repeated = IDS[case]
    monkeypatch.setattr(spark_counts, "MOST_GATHERED", WAYS[way][0])
    monkeypatch.setattr(spark_counts, "WIDEST", WAYS[way][1])
    kind = "string" if any(isinstance(value, str) for value in values) else "bigint"
    frame = spark.createDataFrame([(value, "x") for value in values], f"id {kind}, x string").coalesce(2)
    assert SparkTable(frame).repeated("id") == (nulls, repeated)
    counted = SparkTable(frame, ids=["id"])
    assert counted.aggregate("x AS c0, count(*) AS n", "x").to_pylist() == [{"c0": "x", "n": len(values)}]
    assert counted.repeated("id") == (nulls, repeated)


def test_gaps_tell_many_ids_apart(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_counts, "MOST_GATHERED", 0)
    ids = np.random.default_rng(0).permutation(20_000) * 3 - 30_000
    for values, repeated in ((ids, 0), (np.append(ids, ids[7]), 1)):
        frame = spark.createDataFrame(pa.table({"id": values})).repartition(3)
        before = _last_query(spark)
        assert SparkTable(frame).repeated("id") == (0, repeated)
        # Those of the DataFrame itself, each time that it is computed.
        assert _shuffles(spark, before) == 2


def test_sketches_and_counts_are_those_of_an_aggregate(spark: Any) -> None:
    frame = spark.range(1000).selectExpr("id", "id % 7 AS x", "CASE WHEN id > 500 THEN id END AS y")
    table = SparkTable(frame)
    asked = "count(*) AS n, approx_count_distinct(x) AS d0, approx_count_distinct(hash(x, y)) AS d1"
    assert table.aggregate(asked).to_pylist() == table._grouped(asked, "").to_pylist()
    empty = SparkTable(frame.where("id < 0"))
    assert empty.aggregate(asked).to_pylist() == [{"n": 0, "d0": 0, "d1": 0}]


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    rng = np.random.default_rng(0)
    useful = rng.integers(0, 5, ROWS)
    sensitive = (useful + rng.integers(0, 4, ROWS)) % 4
    columns = {"id": rng.permutation(ROWS), "job": useful.astype(str), "ill": sensitive.astype(str)}
    return pa.table(columns | {"age": rng.integers(0, 20, ROWS), "weight": rng.random(ROWS)})


@pytest.fixture(scope="module")
def mechanism(rows: pa.Table) -> Mechanism:
    return design(Joint.from_table(rows, "ill", "job"), LIP(0.5)).mechanism


def _stored(rows: pa.Table, folder: Path, sizes: Sequence[int], **options: Any) -> Path:
    """Files of some sizes in hive folders, with names that a URI escapes."""
    starts = np.cumsum([0, *sizes]).tolist()
    for k, (start, size) in enumerate(zip(starts, sizes)):
        inside = folder / f"year={2000 + k % 3}"
        inside.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows.slice(start, size), inside / f"part {k},%20.parquet", **options)
    return folder


def _opened(spark: Any, path: Path) -> SparkTable:
    files = sorted(str(file) for file in path.rglob("*.parquet"))
    return SparkTable(read_files(spark, str(path), files), path=str(path), files=files)


def test_the_order_of_files_is_the_one_in_which_spark_reads_them(rows: pa.Table, spark: Any, tmp_path: Path) -> None:
    path = _stored(rows, tmp_path / "in", [500, 2500, 100, 1900, 1000], row_group_size=200)
    names = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")
    before = [spark.conf.get(name) for name in names]
    try:
        for name, value in zip(names, ("16k", "1k")):
            spark.conf.set(name, value)
        table = _opened(spark, path)
        with asked_by_duckdb(table, Limits()) as asked:
            assert asked is not None
            assert len(asked.pieces) > len(table.files)
            here = asked.in_order(["id"], None, ROWS, ["id"])[0].to_pylist()
        there = table.in_order(["id"], None, ROWS, ["id"])[0].to_pylist()
    finally:
        for name, value in zip(names, before):
            spark.conf.set(name, value)
    assert here == there
    assert here != rows.column("id").to_pylist()


@pytest.mark.parametrize(
    "odd",
    [
        pa.table({"id": [1], "x": pa.array([1], pa.uint32())}),
        pa.table({"id": [1], "x": pa.array([1], pa.date32())}),
        pa.table({"id": [1], "x": pa.array([1], pa.timestamp("us", "UTC"))}),
    ],
)
def test_what_may_read_otherwise_is_asked_by_spark(odd: pa.Table, spark: Any, tmp_path: Path) -> None:
    pq.write_table(odd, tmp_path / "in.parquet")
    with asked_by_duckdb(_opened(spark, tmp_path), Limits()) as asked:
        assert asked is None


def test_files_that_differ_are_asked_by_spark(spark: Any, tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1], "x": ["a"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"id": [2]}), tmp_path / "2.parquet")
    with asked_by_duckdb(_opened(spark, tmp_path), Limits()) as asked:
        assert asked is None


def test_a_dataframe_is_asked_by_duckdb_where_it_is_a_table_of_files_alone(
    rows: pa.Table, spark: Any, tmp_path: Path
) -> None:
    read = spark.read.parquet(str(_stored(rows, tmp_path / "in", [3000, 3000])))
    expected = {True: [read], False: [read.where("id > 7"), read.select("id"), spark.createDataFrame(rows)]}
    for is_plain, frames in expected.items():
        for frame in frames:
            with asked_by_duckdb(SparkTable(frame), Limits()) as asked:
                assert isinstance(asked, FilesOfSpark) is is_plain


def test_a_cluster_is_asked_by_spark(rows: pa.Table, spark: Any, tmp_path: Path, monkeypatch: Any) -> None:
    table = _opened(spark, _stored(rows, tmp_path / "in", [ROWS]))
    monkeypatch.setattr(spark_files, "_is_here", lambda session: False)
    with asked_by_duckdb(table, Limits()) as asked:
        assert asked is None


def test_files_that_were_exchanged_are_found(rows: pa.Table, spark: Any, tmp_path: Path) -> None:
    table = _opened(spark, _stored(rows, tmp_path / "in", [ROWS]))
    with asked_by_duckdb(table, Limits()) as asked:
        assert asked is not None
        other = tmp_path / "other.parquet"
        pq.write_table(rows.slice(0, 7), other)
        os.replace(other, table.files[0])
        with pytest.raises(UnreadableTableError, match="was changed"):
            asked.check_unchanged()


def _last_query(spark: Any) -> int:
    """The number of the last query of this session."""
    store = spark._jsparkSession.sharedState().statusStore().executionsList()
    return max((int(store.apply(k).executionId()) for k in range(store.size())), default=-1)


def _shuffles(spark: Any, after: int) -> int:
    """Shuffles of the queries that came after one; Spark forgets the first ones of a long session."""
    store = spark._jsparkSession.sharedState().statusStore().executionsList()
    return sum(
        str(execution.physicalPlanDescription()).partition("== Initial Plan ==")[0].count("ShuffleQueryStage (")
        for execution in (store.apply(k) for k in range(store.size()))
        if int(execution.executionId()) > after
    )


def _released(table: Any, mechanism: Mechanism, output: Path, **options: Any) -> pa.Table:
    chosen = {"id": "id", "keep": "all", "uncovered": ["age", "weight"], "publish_sensitive": True, "seed": 1} | options
    run(Request.of(table, mechanism, output=output, engine="spark", **chosen))
    return pq.read_table(output)


def test_a_release_of_files_moves_no_rows(rows: pa.Table, mechanism: Mechanism, spark: Any, tmp_path: Path) -> None:
    pq.write_table(rows, tmp_path / "in.parquet")
    before = _last_query(spark)
    by_path = _released(tmp_path / "in.parquet", mechanism, tmp_path / "one")
    read = spark.read.parquet(str(tmp_path / "in.parquet"))
    by_frame = _released(read, mechanism, tmp_path / "two")
    assert _shuffles(spark, before) == 0
    assert by_path.num_rows == ROWS
    assert by_path.equals(by_frame)


def test_a_release_of_another_dataframe_moves_counts_alone(
    rows: pa.Table, mechanism: Mechanism, spark: Any, tmp_path: Path
) -> None:
    frame = spark.createDataFrame(rows)
    before = _last_query(spark)
    _released(frame, mechanism, tmp_path / "out", keep=(), uncovered=(), publish_sensitive=False)
    assert _shuffles(spark, before) == 1


@pytest.mark.parametrize("place", ["within a file", "across files"])
def test_repeated_ids_in_files_are_refused(
    place: str, rows: pa.Table, mechanism: Mechanism, spark: Any, tmp_path: Path
) -> None:
    ids = rows.column("id").to_numpy().copy()
    ids[1 if place == "within a file" else -1] = ids[0]
    odd = rows.set_column(0, "id", pa.array(ids))
    for size in ([3000, 3000], [ROWS]):
        folder = _stored(odd, tmp_path / f"in{len(size)}", size)
        with pytest.raises(UnusableColumnError, match="1 rows have the id of another"):
            _released(folder, mechanism, tmp_path / "out")
    with pytest.raises(UnusableColumnError, match="1 rows have the id of another"):
        _released(spark.createDataFrame(odd), mechanism, tmp_path / "out")


@pytest.mark.long
def test_two_thousand_files_are_released_like_one(
    rows: pa.Table, mechanism: Mechanism, spark: Any, tmp_path: Path
) -> None:
    pq.write_table(rows, tmp_path / "in.parquet")
    many = _stored(rows, tmp_path / "many", [ROWS // 2000] * 2000)
    one = _released(tmp_path / "in.parquet", mechanism, tmp_path / "one")
    other = _released(many, mechanism, tmp_path / "other", uncovered=["age", "weight", "year"])
    pairs = [dict(zip(*(table.column(name).to_pylist() for name in ("id", "ill")))) for table in (one, other)]
    assert pairs[0] == pairs[1]
    assert other.num_rows == ROWS
