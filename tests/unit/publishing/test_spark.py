"""Whole tables by Spark: rows of the original, in classes that were counted over all records, under a key."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet import LIP
from discreet._support.errors import InputError
from discreet.publishing import spark as by_spark
from discreet.publishing.pilot import rule_from
from discreet.publishing.publication import Publication
from discreet.publishing.spark_tasks import Columns
from discreet.twins.secret import RARER, SecretRule
from tests.unit.publishing.made_up import few_different

ROWS = 8000
NOTION = LIP(0.4, confidence=0.9)

#: Names that Spark would take for something else, and their types.
SCHEMA = "`Größe.cm` double, job string, born date, `a``b` decimal(6,2), small tinyint, town string, rent string"


def people(n: int = ROWS, seed: int = 0) -> pa.Table:
    """Numbers, texts, dates, money as text, and nulls in most columns; S is an illness."""
    rng = np.random.default_rng(seed)
    size, job = np.round(rng.normal(170, 10, n), 1), rng.integers(0, 5, n)
    town, rent = rng.integers(0, 300, n), rng.integers(200, 3000, n)
    ill = rng.random(n) < 0.1 + 0.5 * (size > 175) + 0.25 * (job == 2) + 0.1 * (town < 60)
    kind = np.where(ill, np.where(rng.random(n) < 0.4, "heart", "back"), "none")
    return pa.table(
        {
            "Größe.cm": pa.array(size, mask=rng.random(n) < 0.03),
            "job": pa.array([f"j{k}" for k in job], mask=rng.random(n) < 0.05),
            "born": pa.array(np.datetime64("1950-01-01") + rng.integers(0, 20000, n)),
            "a`b": pa.array((rng.integers(0, 900, n) / 4).tolist()).cast(pa.decimal128(6, 2)),
            "small": pa.array(rng.integers(-3, 4, n), pa.int8()),
            "town": pa.array([f"{k:05d}" for k in town]),
            "rent": pa.array([f"{r // 1000}.{r % 1000:03d},50 €" if r > 999 else f"{r},50 €" for r in rent]),
            "ill": kind,
        }
    )


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return people()


@pytest.fixture(scope="module")
def frame(spark: Any, table: pa.Table) -> Any:
    made = spark.createDataFrame(table.to_pylist(), f"{SCHEMA}, ill string").repartition(2).persist()
    yield made
    made.unpersist()


@pytest.fixture(scope="module")
def as_if_large() -> Iterator[None]:
    """A small table as a large one: a sample of it, and three partitions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_spark, "SAMPLE", ROWS // 2)
        patch.setattr(by_spark, "PARTITION", ROWS // 3 + 1)
        yield


@dataclass(frozen=True)
class Made:
    """A publication with its files."""

    publication: Publication
    source: Path
    target: Path
    private: Path


@pytest.fixture(scope="module")
def made(frame: Any, table: pa.Table, as_if_large: None, tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("spark")
    source, target, private = (folder / name for name in ("table.parquet", "out.parquet", "private.json"))
    pq.write_table(table, source)
    return Made(published(frame, output=target, private_certificate=private), source, target, private)


def rows_of(frame: Any) -> Counter[Any]:
    arrow = frame if isinstance(frame, pa.Table) else frame.toArrow()
    return Counter(zip(*(column.to_pylist() for column in arrow.columns)))


def published(frame: Any, **options: Any) -> Publication:
    return dc.publish(frame, "ill", notion=NOTION, **{"seed": 3, **options})


def test_published_rows_are_rows_of_the_original(frame: Any, made: Made) -> None:
    useful = frame.drop("ill")
    shown = frame.sparkSession.read.parquet(str(made.target))
    assert [(one.name, one.dataType) for one in shown.schema] == [(one.name, one.dataType) for one in useful.schema]
    before, after = rows_of(useful), rows_of(shown)
    assert set(after) <= set(before)
    assert after.total() == made.publication.rows == ROWS
    assert before != after
    assert made.publication.attack.verdict == "not broken"
    assert 0.3 < made.publication.unchanged < 0.99


def test_the_certificate_says_how_it_was_made(made: Made) -> None:
    publication = made.publication
    stated = publication.certificate["publication"]
    assert stated["engine"] == "spark"
    assert stated["classes"]["partitions"] == 3
    assert stated["classes"]["coupling"] == "within partitions"
    assert stated["classes"]["sample"] == publication.attack.rows
    assert abs(publication.attack.rows - ROWS / 2) < 300
    assert abs(publication.joint.records - 0.95 * ROWS) < 150  # all records but the pilot's
    assert dc.verify(made.private).level == "verified"


def test_beside_the_table_all_is_checked_that_can_be(made: Made) -> None:
    verdict = dc.verify(made.private, table=made.source, released=made.target, key=made.publication.key)
    assert not verdict.failures
    assert verdict.level == "verified"
    told = {finding.subject: finding for finding in verdict.findings}
    assert told["redraw"].passed is None
    assert told["redraw"].text == "not re-drawn: published by Spark"
    assert told["counts"].passed is None
    assert told["released rows that are rows of the table"].passed
    assert told["types of released columns"].passed


def test_another_engine_without_classes_is_not_believed(made: Made) -> None:
    content = json.loads(made.publication.certificate.text())
    content["publication"] = {**content["publication"], "engine": "duckdb"}
    assert dc.verify(dc.Certificate(content), table=made.source).level == "failed"
    content["publication"] = {**content["publication"], "engine": "spark"}
    content["private_publication"] = {**content["private_publication"], "classes": ""}
    assert dc.verify(dc.Certificate(content), table=made.source).level == "failed"


def test_the_same_key_publishes_the_same_rows(frame: Any, made: Made) -> None:
    again = published(frame.repartition(3, "town"))
    assert again.table.schema == frame.drop("ill").schema
    shown = again.table.toArrow()
    again.table.unpersist()
    assert rows_of(shown) == rows_of(frame.sparkSession.read.parquet(str(made.target)))
    assert again.columns == made.publication.columns


@pytest.mark.long
def test_persons_and_several_secrets(spark: Any, table: pa.Table, as_if_large: None) -> None:
    rng = np.random.default_rng(5)
    more = table.append_column("person", pa.array(rng.integers(0, ROWS // 2, ROWS)))
    more = more.append_column("poor", pa.array(rng.random(ROWS) < 0.3))
    frame = spark.createDataFrame(more.drop_columns(["a`b"]))
    publication = dc.publish(frame, ["ill", "poor"], person="person", each=True, notion=NOTION, seed=2)
    assert publication.table.columns == [name for name in frame.columns if name not in ("ill", "poor", "person")]
    assert len(publication.attacks) == 2
    assert publication.coverage.startswith("approximate")
    assert set(rows_of(publication.table)) <= set(rows_of(frame.drop("ill", "poor", "person")))
    publication.table.unpersist()


def test_partitions_hold_classes_in_equal_proportions(spark: Any) -> None:
    rng = np.random.default_rng(1)
    classes = rng.choice(4, 3000, p=[0.5, 0.3, 0.15, 0.05])
    rows = [(int(k), f"{i:064x}", f"{i}", 1) for i, k in zip(rng.permutation(3000).tolist(), classes)]
    dealt = by_spark.dealt_out(spark.createDataFrame(rows, "class int, draw string, digest string, number int"), 7)
    counts = Counter((row["class"], row["part"]) for row in dealt.collect())
    for k in range(4):
        own = [counts[k, part] for part in range(7)]
        assert sum(own) == (classes == k).sum()
        assert max(own) - min(own) <= 1


def test_what_spark_cannot_do_is_refused(frame: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="keeps no order"):
        published(frame, shuffle=False)
    with pytest.raises(InputError, match="counted beliefs"), pytest.warns(dc.errors.DiscreetWarning):
        published(frame, beliefs="counted")
    with pytest.raises(InputError, match="memory"):
        published(frame, memory_limit="1GB")
    with pytest.raises(InputError, match="Parquet"):
        published(frame, output=tmp_path / "out.csv")
    with pytest.raises(InputError, match="name the output"):
        published(frame, write_key=tmp_path / "key")


def test_the_input_is_never_replaced(frame: Any, tmp_path: Path) -> None:
    source = tmp_path / "table.parquet"
    frame.write.parquet(str(source))
    read = frame.sparkSession.read.parquet(str(source))
    with pytest.raises(InputError, match="holds the input"):
        published(read, output=source, force=True)


def test_labels_that_a_sample_lacks_are_gathered_with_the_rarest() -> None:
    labels = ["a"] * 600 + ["b"] * 380 + ["c"] * 20
    sample = pa.table({"s": labels})
    pilot = np.arange(1000) % 2 == 0
    options: dict[str, Any] = {"each": False, "bins": None, "least_share": 0.006}
    assert rule_from(sample, ["s"], pilot, **options).gathered == ()
    rule = rule_from(sample, ["s"], pilot, **options, elsewhere=lambda rule, known: [True])
    assert rule.gathered == ("c",)
    assert rule.kept == ("a", "b")
    assert SecretRule.from_dict(rule.to_dict()) == rule
    read = rule.read(pa.table({"s": ["a", "new", "c", None]}), np.zeros(4, dtype=np.int64))
    assert [read.labels[k] for k in read.codes] == ["a", RARER, RARER, RARER]


def test_parts_of_a_column_are_read_as_the_whole() -> None:
    columns = Columns(("rent",), (), ("comma",))
    cells = columns.cells(pa.table({"u0": ["1.234", "5,5", "odd"]}))[0]
    assert cells.numbers is not None
    assert cells.numbers[cells.codes].tolist()[:2] == [1234, 5.5]
    assert columns.cells(pa.table({"u0": ["odd", "even"]}))[0].numbers is not None
    assert Columns(("x",), (), (None,)).cells(pa.table({"u0": ["1", "2"]}))[0].numbers is None


def test_few_different_records_are_set_aside_one_by_one(spark: Any, tmp_path: Path) -> None:
    """Also those that are equal: every class is counted, and one record in twenty is not, give or take 100 of 6,000."""
    table = few_different()
    frame = spark.createDataFrame(table.to_pylist(), "schooling string, sex string, income string")
    found = dc.publish(frame, "income", notion=NOTION, seed=1, output=tmp_path / "out")
    counts = np.asarray(found.joint.counts).sum(axis=0)
    assert (counts > 0).all()
    assert abs(counts.sum() - 0.95 * table.num_rows) < 100
