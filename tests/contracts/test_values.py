"""In values, too, every engine gives the same bits, those of the reference in Python, in the types of the table."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.drawing.lookup import key_values
from discreet.drawing.thresholds import draws_of
from tests.conftest import quick_first
from tests.releases import awkward_table, by_id, mechanisms

ROWS = 2_000
SEED = 5
EDGES = (18, 40, 65)

KINDS = ["optimal", "grr on 100 values", "conditional reporting", "two columns", "attributes", "binned", "dates"]
QUICK = ("optimal", "two columns", "dates")


@pytest.fixture(scope="module")
def table() -> pa.Table:
    base = awkward_table(ROWS)
    days = [None if n % 7 == 2 else dt.date(2020, 1, 1 + n % 7) for n in base["age"].to_pylist()]
    return base.append_column("day", pa.array(days, pa.date32()))


@pytest.fixture(scope="module")
def kinds(table: pa.Table) -> dict[str, dc.Mechanism]:
    rng = np.random.default_rng(0)
    ill = (rng.random(ROWS) < 0.3).astype(np.int64)
    odd = table.set_column(table.schema.get_field_index("ill"), "ill", pa.array(ill))
    dates = dc.design(dc.Joint.from_table(odd, "ill", "day"), dc.LIP(0.01)).mechanism
    return mechanisms(table) | {"dates": dates}


def released(table: Any, mechanism: dc.Mechanism, **options: Any) -> Any:
    return dc.release(table, mechanism, seed=SEED, as_values=True, notion=dc.LIP(2.0), **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("column", ["number", "name"])
def test_duckdb_draws_the_values_that_the_reference_draws(kind: str, column: str, table: pa.Table, kinds: dict) -> None:
    asked = kinds[kind]
    got = released(table, asked, id=column)
    mechanism = asked.in_values(dc.Joint.from_table(table, "ill", list(asked.useful_columns), bins=asked.bins))
    ids = [str(record) for record in table[column].to_pylist()]
    for draw in draws_of(mechanism):
        subkey = dc.ReleaseKey.from_seed(SEED).subkey(draw.column, mechanism.fingerprint)
        rows = {key_values(s, draw.inputs, mechanism.bins): k for k, s in enumerate(draw.symbols)}
        values = [table[c].to_pylist() for c in draw.inputs]
        if mechanism.bins:
            values = [[sum(v >= edge for edge in EDGES) for v in values[0]]]
        labels = [draw.label(subkey, rows[key], record) for key, record in zip(zip(*values), ids)]
        for place, name in enumerate(draw.draw.outputs):
            assert got[name].to_pylist() == [draw.draw.values[label][place] for label in labels]


@pytest.mark.parametrize("kind", KINDS)
def test_files_have_the_values_that_frames_have(kind: str, table: pa.Table, kinds: dict, tmp_path: Path) -> None:
    wanted = by_id(released(table, kinds[kind], id="number", keep=["weight"], uncovered=["weight"]), "number")
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=300)
    options: dict[str, Any] = {"id": "number", "keep": ["weight"], "uncovered": ["weight"]}
    released(tmp_path / "in.parquet", kinds[kind], output=tmp_path / "out.parquet", **options)
    got = pq.read_table(tmp_path / "out.parquet")
    assert got["number"].to_pylist() == table["number"].to_pylist()  # in its order
    assert by_id(got, "number") == wanted


@pytest.mark.parametrize("kind", quick_first(sorted(KINDS, key=lambda kind: kind not in QUICK), len(QUICK)))
def test_spark_publishes_the_same_values(kind: str, table: pa.Table, kinds: dict, spark: Any, tmp_path: Path) -> None:
    pq.write_table(table, tmp_path / "in.parquet")
    frame = spark.read.parquet(str(tmp_path / "in.parquet")).repartition(3)
    options: dict[str, Any] = {"id": "number", "keep": ["weight"], "uncovered": ["weight"]}
    wanted = released(table, kinds[kind], **options)
    got = released(frame, kinds[kind], **options)
    assert by_id(got.toArrow(), "number") == by_id(wanted, "number")
    own = {field.name: field.dataType for field in frame.schema.fields}
    for field in got.schema.fields:
        if field.name in kinds[kind].useful_columns and field.name not in kinds[kind].bins:
            assert field.dataType == own[field.name]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_what_spark_wrote_in_values_is_verified(
    ending: str, table: pa.Table, kinds: dict, spark: Any, tmp_path: Path
) -> None:
    source = tmp_path / f"in.{ending}"
    if ending == "parquet":
        pq.write_table(table, source)
    else:
        pa.csv.write_csv(table.select(["number", "job", "sex", "ill"]), source)
    key = bytes(range(32))
    for kind in ("optimal", "two columns", "dates") if ending == "parquet" else ("optimal", "two columns"):
        mechanism = kinds[kind]
        if ending == "csv":  # where all values are text, and nothing is null
            joint = dc.Joint.from_table(source, "ill", list(mechanism.useful_columns))
            mechanism = dc.design(joint, dc.LIP(0.3)).mechanism
        private, output = tmp_path / "private.json", tmp_path / f"out.{ending}"
        options: dict[str, Any] = {"output": output, "engine": "spark", "private_certificate": private, "force": True}
        dc.release(source, mechanism, key=key, id="number", as_values=True, notion=dc.LIP(2.0), **options)
        verdict = dc.verify(private, source, output, key=key)
        assert verdict.level == "verified", verdict  # Spark chooses the order of files
        assert {"redraw", "types of released columns"} <= {f.subject for f in verdict.findings if f.passed}
        if ending == "parquet":
            dc.release(source, mechanism, key=key, shuffle=True, as_values=True, notion=dc.LIP(2.0), **options)
            verdict = dc.verify(private, source, output, key=key)
            assert "redraw" in {f.subject for f in verdict.findings if f.passed}, verdict
            assert not verdict.failures
