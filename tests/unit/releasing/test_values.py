"""Releases in values: types, nulls, columns, defaults, certificates and their verification."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from referencing import Registry, Resource

import discreet as dc
from discreet.certificate import checker
from discreet.drawing import thresholds
from discreet.errors import BrokenNotionError, InputError, UnusableColumnError
from discreet.releasing import Request, run
from tests.releases import awkward_table, mechanisms

ROWS = 2_000
KEY = bytes(range(32))

#: Five values of each type, the third a null; and one that may be confused with it.
VALUES: dict[str, pa.Array] = {
    "int64": pa.array([3, -1, None, 7, 2**62]),
    "uint8": pa.array([3, 1, None, 7, 255], pa.uint8()),
    "float": pa.array([0.1, 0.5, None, -2.25, 1e300]),
    "float32": pa.array([0.1, 0.5, None, -2.25, 1e30], pa.float32()),
    "text": pa.array(['it\'s, "x"', "null", None, "é 😀", "two\nlines"]),
    "large text": pa.array(["a", "b", None, "c", "d"], pa.large_string()),
    "date": pa.array([dt.date(2020, 1, 1), dt.date(1, 1, 1), None, dt.date(9999, 12, 31), dt.date(1970, 1, 1)]),
    "datetime": pa.array([dt.datetime(2020, 1, k, 1, 2, 3, k) if k != 3 else None for k in range(1, 6)]),
    "zoned": pa.array(
        [dt.datetime(2020, 1, k) if k != 3 else None for k in range(1, 6)], pa.timestamp("us", "Europe/Berlin")
    ),
    "time": pa.array([dt.time(k, 1) if k != 3 else None for k in range(1, 6)]),
    "decimal": pa.array([decimal.Decimal(k) / 4 if k != 3 else None for k in range(1, 6)], pa.decimal128(6, 2)),
    "dictionary": pa.array(["a", "b", None, "c", "d"]).dictionary_encode(),
}


def with_values(values: pa.Array, rows: int = ROWS, seed: int = 0) -> pa.Table:
    """A table in a random order whose column x has these values, each telling about s."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, len(values), rows)
    ill = (rng.random(rows) < 0.2 + 0.12 * x).astype(np.int64)
    return pa.table({"ill": ill, "id": rng.permutation(rows), "x": values.take(pa.array(x)), "w": rng.random(rows)})


def designed(table: Any, useful: Any = "x", epsilon: float = 0.2, **options: Any) -> dc.Mechanism:
    joint = dc.Joint.from_table(table, "ill", useful, **options)
    return dc.design(joint, dc.LIP(epsilon), "optimal").mechanism


def cells(column: Any) -> list[Any]:
    return (
        pa.chunked_array(column).cast(pa.string()).to_pylist()
        if pa.types.is_dictionary(column.type)
        else column.to_pylist()
    )


@pytest.mark.parametrize("kind", VALUES)
def test_arrow_polars_and_files_keep_type_and_nulls(kind: str, tmp_path: Path) -> None:
    table = with_values(VALUES[kind])
    mechanism = designed(table)
    assert mechanism.has_mixed_labels
    got = dc.release(table, mechanism, key=KEY, id="id")
    assert got.schema.field("x") == table.schema.field("x")
    assert set(cells(got["x"])) == set(cells(table["x"]))
    assert 0 < got["x"].null_count < table.num_rows
    wanted = dict(zip(got["id"].to_pylist(), cells(got["x"])))
    assert wanted != dict(zip(table["id"].to_pylist(), cells(table["x"])))

    if kind != "time":  # of which Polars has nanoseconds, another type with other labels
        frame = dc.release(pl.from_arrow(table), mechanism, key=KEY, id="id")
        assert frame.schema["x"] == pl.from_arrow(table).schema["x"]
        assert frame["x"].to_list() == pl.from_arrow(got)["x"].to_list()

    pq.write_table(table, tmp_path / "in.parquet")
    for ending in ("parquet", "csv"):
        output, private = tmp_path / f"out.{ending}", tmp_path / f"{ending}.json"
        dc.release(tmp_path / "in.parquet", mechanism, key=KEY, id="id", output=output, private_certificate=private)
        verdict = dc.verify(private, tmp_path / "in.parquet", output, key=KEY)
        assert verdict.level == "redrawn", verdict
        assert dc.verify(f"{output}.certificate.json", released=output).level == "consistent"
    released = pq.read_table(tmp_path / "out.parquet")
    kept = duckdb.connect().sql(f"SELECT x FROM '{tmp_path}/in.parquet' LIMIT 0").types
    assert duckdb.connect().sql(f"SELECT x FROM '{tmp_path}/out.parquet' LIMIT 0").types == kept
    again = released["x"].cast(table["x"].type) if kind != "dictionary" else released["x"]
    assert dict(zip(released["id"].to_pylist(), cells(again))) == wanted


@pytest.mark.parametrize(
    "column",
    [
        lambda k: pd.Categorical.from_codes(np.where(k == 2, -1, k), list("abcde"), ordered=True),
        lambda k: pd.array([None if x == 2 else int(x) for x in k], dtype="Int64"),
        lambda k: pd.array([None if x == 2 else f"v{x}" for x in k], dtype="string"),
        lambda k: pd.Series([None if x == 2 else f"v{x}" for x in k], dtype=object),
        lambda k: np.where(k == 2, np.nan, k / 10).astype("float32"),
        lambda k: k.astype("int8"),
        lambda k: pd.to_datetime([None if x == 2 else f"2020-01-0{x + 1} 01:02:03.000000001" for x in k]),
    ],
    ids=["categories", "Int64", "string", "object", "float32", "int8", "datetime"],
)
def test_pandas_keeps_type_and_nulls(column: Any) -> None:
    rng = np.random.default_rng(1)
    k = rng.integers(0, 5, ROWS)
    table = pd.DataFrame({"ill": (rng.random(ROWS) < 0.2 + 0.12 * k).astype(int), "x": column(k)})
    got = dc.release(table, designed(table), key=KEY, shuffle=True)
    assert got["x"].dtype == table["x"].dtype
    assert set(got["x"].dropna()) == set(table["x"].dropna())
    assert got["x"].isna().any() == table["x"].isna().any()
    assert type(got.index) is pd.RangeIndex


def test_polars_keeps_enumerations_and_reads_nan_as_null() -> None:
    rng = np.random.default_rng(1)
    k = rng.integers(0, 5, ROWS)
    ill = (rng.random(ROWS) < 0.2 + 0.12 * k).astype(int)
    names = pl.Series([f"v{x}" for x in k], dtype=pl.Enum([f"v{x}" for x in range(6)]))
    mixed = pl.Series([float("nan") if x == 2 else None if x == 3 else x / 3 for x in k.tolist()])
    for column in (names, mixed):
        table = pl.DataFrame({"ill": ill, "x": column, "id": rng.permutation(ROWS)})
        got = dc.release(table.lazy(), designed(table), key=KEY, id="id").collect()
        assert got.schema["x"] == table.schema["x"]
    assert not got["x"].is_nan().any()
    assert got["x"].null_count() > 0


def test_relations_come_back_as_relations_of_the_same_types() -> None:
    connection = duckdb.connect()
    connection.register("arrow", with_values(VALUES["int64"]))
    table = connection.sql("SELECT ill, id, CAST(x % 100 AS DECIMAL(9,2)) AS x FROM arrow")
    got = dc.release(table, designed(table), key=KEY, id="id")
    assert dict(zip(got.columns, map(str, got.types)))["x"] == "DECIMAL(9,2)"


def test_several_columns_come_back_as_those_columns_in_their_places(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    base = with_values(VALUES["text"])
    age, level = rng.integers(0, 90, ROWS), rng.integers(0, 3, ROWS)
    table = pa.table(
        {"x": base["x"], "id": base["id"], "age": age, "ill": base["ill"], "level": pa.array(level, pa.int8())}
    )
    mechanism = designed(table, ["level", "x", "age"], bins={"age": [30, 60]})
    got = dc.release(table, mechanism, key=KEY, id="id", as_values=True)
    assert got.column_names == ["x", "id", "age", "level"]
    assert [got.schema.field(name).type for name in ("x", "age", "level")] == [pa.string(), pa.string(), pa.int8()]
    assert set(got["age"].to_pylist()) == {"< 30", "[30, 60)", ">= 60"}  # a binned column's own words
    together = set(zip(got["level"].to_pylist(), got["x"].to_pylist(), got["age"].to_pylist()))
    assert together <= set(mechanism.useful)
    pq.write_table(table, tmp_path / "in.parquet")
    for ending in ("parquet", "csv"):
        output, private = tmp_path / f"out.{ending}", tmp_path / f"{ending}.json"
        options: dict[str, Any] = {"key": KEY, "id": "id", "output": output, "private_certificate": private}
        dc.release(tmp_path / "in.parquet", mechanism, **options)
        assert dc.verify(private, tmp_path / "in.parquet", output, key=KEY).level == "redrawn"
    stated = json.loads(private.read_text())
    assert stated["columns"]["released"] == ["level", "x", "age"]
    assert stated["value_types"] == {"level": "TINYINT", "x": "VARCHAR", "age": "VARCHAR"}
    with pytest.raises(InputError, match="--as-labels"):
        dc.release(table, mechanism, key=KEY, as_values=True, rename="both")
    assert dc.release(table, mechanism, key=KEY, rename="both").column_names == ["both"]  # a name asks for labels


def test_values_are_the_default_where_labels_would_be_mixtures() -> None:
    table = awkward_table(ROWS)
    for name, mechanism in mechanisms(table).items():
        if name == "two columns":
            assert dc.release(table, mechanism, seed=1).column_names == ["job", "sex"]
            continue
        got = dc.release(table, mechanism, seed=1)
        assert mechanism.has_mixed_labels == (name in ("optimal", "binned"))
        in_values = mechanism.has_mixed_labels or mechanism.own_places is not None
        if name == "optimal":
            assert set(got["job"].to_pylist()) == set(table["job"].to_pylist())
        labels = dc.release(table, mechanism, seed=1, as_values=False)
        assert got.equals(labels) != in_values
    with pytest.raises(InputError, match="--as-labels"):
        dc.release(table, mechanisms(table)["oue"], seed=1, as_values=True)
    with pytest.raises(InputError, match="in values already"):
        dc.release(table, mechanisms(table)["optimal"].in_values(), seed=1, as_values=False)
    with pytest.raises(InputError, match="as_values must be"):
        dc.release(table, mechanisms(table)["optimal"], seed=1, as_values="yes")  # type: ignore[arg-type]


def test_attributes_and_mechanisms_that_read_s_are_released_in_values(tmp_path: Path) -> None:
    table = awkward_table(ROWS)
    pq.write_table(table, tmp_path / "in.parquet")
    joint = dc.Joint.from_table(table, "ill", "job")
    made = mechanisms(table)
    reads = dc.design(joint, dc.LIP(0.3), "optimal-with-sensitive").mechanism
    assert reads.has_mixed_labels
    for mechanism in (made["attributes"], made["conditional reporting"], reads, made["grr on 100 values"]):
        output, private = tmp_path / "out.parquet", tmp_path / "private.json"
        options: dict[str, Any] = {"key": KEY, "id": "number", "output": output, "private_certificate": private}
        dc.release(tmp_path / "in.parquet", mechanism, as_values=True, force=True, **options)
        verdict = dc.verify(private, tmp_path / "in.parquet", output, key=KEY)
        assert verdict.level == "redrawn", verdict
        released = pq.read_table(output)
        for column in mechanism.useful_columns:
            assert released.schema.field(column).type == table.schema.field(column).type
            assert set(released[column].to_pylist()) <= set(table[column].to_pylist())


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release in values, with a kept column."""
    folder = tmp_path_factory.mktemp("done")
    table = with_values(VALUES["int64"], seed=5)
    pq.write_table(table, folder / "in.parquet")
    options: dict[str, Any] = {"id": "id", "keep": ["w"], "uncovered": ["w"], "key": KEY}
    options |= {"output": folder / "out.parquet", "private_certificate": folder / "private.json"}
    dc.release(folder / "in.parquet", designed(table), **options)
    return folder


def test_every_level_is_reached(done: Path) -> None:
    public, released = done / "out.parquet.certificate.json", done / "out.parquet"
    assert dc.verify(public).level == "consistent"
    assert dc.verify(public, released=released).level == "consistent"
    assert dc.verify(done / "private.json").level == "verified"
    with_tables = dc.verify(public, done / "in.parquet", released)
    assert with_tables.level == "verified"
    subjects = {finding.subject for finding in with_tables.findings if finding.passed}
    assert {"types of released columns", "values of x", "frequencies of x"} <= subjects
    assert dc.verify(done / "private.json", done / "in.parquet", released, key=KEY).level == "redrawn"
    untold = next(f for f in dc.verify(public).findings if f.subject == "taken as stated")
    assert "the types of released values" in untold.text
    certificate = dc.Certificate.from_json(public)
    assert certificate["value_types"] == {"x": "BIGINT"}
    assert certificate.mechanism.denominator == 2**120


@pytest.mark.parametrize(
    ("change", "subject"),
    [
        (lambda x: [7 if x[0] != 7 else 3, *x[1:]], "redraw"),
        (lambda x: [None if x[0] is not None else 3, *x[1:]], "redraw"),
        (lambda x: [x[1], x[0], *x[2:]] if x[0] != x[1] else [x[0], x[2], x[1], *x[3:]], None),
        (lambda x: [12345, *x[1:]], "values of x"),
    ],
    ids=["another value", "null", "two exchanged", "a value that no row has"],
)
def test_a_changed_cell_fails_with_the_key(change: Any, subject: str | None, done: Path) -> None:
    released = pq.read_table(done / "out.parquet")
    x = pa.array(change(released["x"].to_pylist()), pa.int64())
    changed = released.set_column(released.schema.get_field_index("x"), "x", x)
    verdict = dc.verify(done / "private.json", done / "in.parquet", changed, key=KEY)
    if x.equals(released["x"].combine_chunks()):
        pytest.skip("the first rows are alike")
    assert verdict.level == "failed"
    assert subject is None or subject in {finding.subject for finding in verdict.failures}


def test_another_type_or_statement_fails(done: Path, tmp_path: Path) -> None:
    released = pq.read_table(done / "out.parquet")
    place = released.schema.get_field_index("x")
    other = released.set_column(place, "x", released["x"].cast(pa.string()))
    verdict = dc.verify(done / "private.json", done / "in.parquet", other, key=KEY)
    assert [finding.subject for finding in verdict.failures] == ["types of released columns"]
    content = dc.Certificate.from_json(done / "private.json").to_dict()
    mechanism = content["mechanism"]
    rows = mechanism["rows"]
    moved = [[[rows[0][0][0], rows[0][0][1] - 1], [rows[0][1][0], rows[0][1][1] + 1], *rows[0][2:]], *rows[1:]]
    short = [[[rows[0][0][0], rows[0][0][1] - 1], *rows[0][1:]], *rows[1:]]
    turned = mechanism["released_values"][::-1]
    for change in (
        {"value_types": {"x": "INTEGER"}},
        {"value_types": {"y": "BIGINT"}},
        {"value_types": {"x": "BIGINT); DROP TABLE x --"}},
        {"value_types": None},
        {"mechanism": {**mechanism, "rows": short}},
        {"mechanism": {**mechanism, "rows": moved}},
        {"mechanism": {**mechanism, "released_values": turned}},
        {"mechanism": {**mechanism, "released_values": turned[1:]}},
        {"mechanism": {**mechanism, "released_values": [turned[0]] * len(turned)}},
        {"mechanism": {**mechanism, "denominator": 2**60}},
        {"mechanism": {**mechanism, "denominator": 2**119}},
        {"mechanism": {name: value for name, value in mechanism.items() if name != "released_values"}},
    ):
        forged = dc.Certificate({**content, **change}).with_fields()  # sealed anew
        verdict = dc.verify(forged, done / "in.parquet", done / "out.parquet", key=KEY)
        assert verdict.level == "failed", change
        if change.get("mechanism", {}).get("rows") != moved:  # a step of 2**-120, which nobody sees in the rows
            digest = {**content["digests"], "mechanism": checker.digest(change.get("mechanism", mechanism))}
            forged = dc.Certificate({**content, **change, "digests": digest}).with_fields()
            verdict = dc.verify(forged, done / "in.parquet", released)  # a frame, beside which nothing lies
            assert verdict.level == "failed", change
    left_out = {name: value for name, value in content.items() if name != "value_types"}
    assert dc.verify(dc.Certificate(left_out).with_fields()).level == "failed"


def test_values_that_break_a_promise_which_symbols_keep_are_refused(tmp_path: Path) -> None:
    counts = [[120, 40, 240], [40, 120, 240], [240, 240, 2720]]
    rows = [(s, x) for s, row in enumerate(counts) for x, n in enumerate(row) for _ in range(n)]
    order = np.random.default_rng(0).permutation(len(rows))
    s, x = np.array(rows)[order].T
    table = pa.table({"s": s, "x": x})
    mechanism = dc.Mechanism.from_channel(
        [[0.75, 0.25, 0], [0.25, 0.75, 0], [0, 0, 1]],
        useful=[0, 1, 2], useful_columns=["x"], sensitive_columns=["s"], notion=dc.L1Lift(eps_lower=0.31).to_dict(),
    )  # fmt: skip
    assert dc.release(table, mechanism, seed=1).num_rows == len(rows)
    with pytest.raises(BrokenNotionError, match="--as-labels"):
        dc.release(table, mechanism, seed=1, as_values=True)


def test_unknown_values_are_published_as_what_they_are_treated_as(tmp_path: Path) -> None:
    table = with_values(VALUES["text"])
    mechanism = designed(table)
    odd = table.set_column(
        2, "x", pa.array(["new" if k % 97 == 0 else x for k, x in enumerate(table["x"].to_pylist())])
    )
    pq.write_table(odd, tmp_path / "in.parquet")
    options: dict[str, Any] = {"unseen": "suppress", "notion": dc.LIP(1.0), "key": KEY, "id": "id"}
    got = dc.release(odd, mechanism, **options)
    assert set(got["x"].to_pylist()) == set(VALUES["text"].to_pylist())
    private = tmp_path / "private.json"
    dc.release(tmp_path / "in.parquet", mechanism, output=tmp_path / "o.csv", private_certificate=private, **options)
    assert dc.verify(private, tmp_path / "in.parquet", tmp_path / "o.csv", key=KEY).level == "redrawn"
    without = odd.filter(pa.compute.is_valid(odd["x"]))
    assert dc.release(without, mechanism, **options)["x"].null_count > 0


def test_a_stored_mechanism_publishes_values_that_another_table_has_not() -> None:
    """Its frame has no cell of them, so they are made in the type of the column, or refused."""
    options: dict[str, Any] = {"key": KEY, "id": "id", "notion": dc.LIP(2.0)}
    for kind in ("int64", "float32", "text", "large text", "date", "decimal", "dictionary"):
        table = with_values(VALUES[kind])
        made = designed(table).in_values(dc.Joint.from_table(table, "ill", "x"))
        lost = next(x for x in made.useful if x is not None and (made.channel[:, made.useful.index(x)] > 0).sum() > 1)
        other = pa.table({**{c: table[c] for c in ("ill", "id")}, "x": table["x"]})
        part = other.filter(pa.array([x != lost for x in cells(other["x"])]))
        got = dc.release(part, made, **options)
        assert got.schema.field("x").type == part.schema.field("x").type
        assert lost in cells(got["x"])
        frame = dc.release(pl.from_arrow(part), made, **options)
        assert frame.schema["x"] == pl.from_arrow(part).schema["x"]
        assert frame["x"].to_list() == pl.from_arrow(got)["x"].to_list()
    made = designed(with_values(VALUES["int64"])).in_values()
    part = with_values(VALUES["int64"]).to_pandas(integer_object_nulls=True)
    part = part[part["x"].map(lambda x: x != 2**62)]
    got = dc.release(part.assign(x=part["x"].astype("Int64")), made, **options)
    assert (str(got["x"].dtype), 2**62 in set(got["x"].dropna())) == ("Int64", True)
    with pytest.raises(UnusableColumnError, match="do not fit the type"):
        dc.release(part.assign(x=part["x"].astype("Int8")), made, **options)
    texts = with_values(VALUES["large text"]).to_pandas()
    stored = designed(pa.Table.from_pandas(texts)).in_values()
    texts["x"] = pd.Categorical(texts["x"].replace("a", "b"), categories=["b", "c", "d"])
    with pytest.raises(UnusableColumnError, match="cannot hold it"):
        dc.release(texts, stored, **options)


def test_persons_orders_and_kept_columns_are_checked_in_values(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    base = with_values(VALUES["text"], rows=1_200)
    table = base.append_column("person", pa.array(rng.integers(0, 1_000, 1_200)))
    pq.write_table(table, tmp_path / "in.parquet")
    options: dict[str, Any] = {"person": "person", "shuffle": True, "notion": dc.MaxLift(3.0), "key": KEY}
    private = tmp_path / "private.json"
    dc.release(
        tmp_path / "in.parquet", designed(table), output=tmp_path / "o.parquet", private_certificate=private, **options
    )
    stated = json.loads(private.read_text())
    assert stated["persons"]["how"] == "exactly"
    assert dc.verify(private, tmp_path / "in.parquet", tmp_path / "o.parquet", key=KEY).level == "redrawn"
    with pytest.raises(BrokenNotionError, match="order of the rows"):
        dc.release(base.sort_by("x"), designed(base), key=KEY)
    level = pa.array(rng.integers(0, 2, 1_200))
    wide = base.append_column("level", level)
    done = run(Request.of(wide, designed(wide), key=KEY, keep=["level"], notion=dc.LIP(0.8)))
    assert done.beside.covered == ("level",)


@pytest.mark.parametrize("cells", [5_000, 13_000], ids=["without first digits", "with the first digit"])
def test_rows_of_many_entries_are_drawn_line_by_line_alike(
    cells: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = awkward_table(ROWS)
    pq.write_table(table, tmp_path / "in.parquet")
    own = mechanisms(table)["grr on 100 values"]
    mechanism = own.promising(own.notion)  # nobody says that its labels are values, so each is read as one
    options: dict[str, Any] = {"id": "number", "key": KEY, "as_values": True}
    wanted = dc.release(table, mechanism, **options)
    monkeypatch.setattr(thresholds, "MOST_CELLS", cells)
    made = mechanism.in_values(dc.Joint.from_table(table, "ill", "age"))
    assert thresholds.draws_of(made)[0].lookup().is_searched
    assert dc.release(table, mechanism, **options).equals(wanted)
    dc.release(tmp_path / "in.parquet", mechanism, output=tmp_path / "out.parquet", **options)
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == wanted.to_pylist()  # in the same order


def test_a_proof_of_the_bound_stays_a_proof(tmp_path: Path) -> None:
    table = with_values(VALUES["int64"])
    pq.write_table(table, tmp_path / "in.parquet")
    made = dc.design(dc.Joint.from_table(table, "ill", "x"), dc.LIP(0.2))
    private = tmp_path / "private.json"
    options: dict[str, Any] = {"output": tmp_path / "o.parquet", "private_certificate": private, "proof": made.proof}
    dc.release(tmp_path / "in.parquet", made.mechanism, seed=1, **options)
    stated = json.loads(private.read_text())
    assert stated["bound_evidence"] == "proof"
    assert float(stated["nmi"]) < float(stated["bound"]) == pytest.approx(made.bound, abs=2e-6)
    assert dc.verify(private).level == "verified"


def few_and_many(rows: int = 4_000) -> pa.Table:
    """A value with some ten records of each sensitive value, all others common: rare, and none that is hardly there."""
    rng = np.random.default_rng(4)
    x = np.where(np.arange(rows) < 90, 5 + np.arange(rows) % 6, rng.integers(0, 5, rows))
    ill = (rng.random(rows) < 0.5).astype(np.int64)
    order = rng.permutation(rows)
    return pa.table({"ill": ill[order], "x": x[order], "id": rng.permutation(rows)})


def test_a_mechanism_in_values_of_a_table_with_rare_values_is_private_unless_counts_are_public(tmp_path: Path) -> None:
    table = few_and_many()
    joint = dc.Joint.from_table(table, "ill", "x")
    common = dc.Joint.from_counts(joint.counts * 10, useful=joint.useful)
    options: dict[str, Any] = {"useful_columns": ["x"], "sensitive_columns": ["ill"], "notion": dc.LIP(2.0).to_dict()}
    channel = 0.7 * np.eye(joint.n_useful) + 0.3 / joint.n_useful
    mechanism = dc.Mechanism.from_channel(channel, useful=joint.useful, **options)
    assert mechanism.in_values(joint).is_private
    assert not mechanism.in_values(common).is_private
    pq.write_table(table, tmp_path / "in.parquet")
    given: dict[str, Any] = {"as_values": True, "id": "id", "seed": 1}
    dc.release(tmp_path / "in.parquet", mechanism, output=tmp_path / "a.parquet", **given)
    assert dc.Certificate.from_json(tmp_path / "a.parquet.certificate.json")["mechanism"] is None
    dc.release(tmp_path / "in.parquet", mechanism, output=tmp_path / "b.parquet", public_counts=True, **given)
    verdict = dc.verify(tmp_path / "b.parquet.certificate.json", released=tmp_path / "b.parquet")
    assert verdict.level == "verified", verdict


def test_a_table_without_s_is_released_in_values_on_trust(tmp_path: Path) -> None:
    table = with_values(VALUES["int64"])
    mechanism = designed(table)
    pq.write_table(table.drop_columns(["ill"]), tmp_path / "in.parquet")
    output = tmp_path / "out.parquet"
    dc.release(tmp_path / "in.parquet", mechanism, key=KEY, id="id", trust_design=True, output=output)
    assert pq.read_schema(output).field("x").type == pa.int64()
    assert dc.verify(f"{output}.certificate.json", released=output).level == "consistent"


def test_the_standalone_checker_and_the_schemas_know_values(done: Path) -> None:
    alone = Path(dc.__file__).parent / "certificate" / "checker.py"
    ran = subprocess.run([sys.executable, "-I", alone, done / "private.json"], capture_output=True, check=False)
    assert (ran.returncode, b"sums to 2**120" in ran.stdout) == (0, True)
    package = Path(dc.__file__).parent
    schemas = [json.loads((package / n / f"{n}.schema.json").read_text()) for n in ("mechanism", "certificate")]
    registry = Registry().with_resources([(s["$id"], Resource.from_contents(s)) for s in schemas])
    content = json.loads((done / "private.json").read_text())
    validator = jsonschema.Draft202012Validator(schemas[1], registry=registry)
    validator.validate(content)
    for change in ({"value_types": {"x": "no type"}}, {"mechanism": {**content["mechanism"], "denominator": 2**61}}):
        assert not validator.is_valid({**content, **change})


def test_columns_that_need_no_mixing_and_channels_of_values_keep_type_and_nulls() -> None:
    table = with_values(VALUES["int64"])
    joint = dc.Joint.from_table(table, "ill", "x")
    whole = dc.design(joint, dc.LIP(9), "auto")
    assert whole.nmi == pytest.approx(1)
    got = dc.release(table, whole.mechanism, key=KEY, id="id")
    assert got["x"].equals(table["x"])
    for made in (dc.design(joint, dc.LIP(0.2), "grr"), dc.design(joint, dc.LIP(0.2), utility="accuracy")):
        drawn = dc.release(table, made.mechanism, key=KEY, id="id")
        assert drawn["x"].type == table["x"].type
        assert drawn["x"].null_count > 0
        stays = np.mean([a == b for a, b in zip(drawn["x"].to_pylist(), table["x"].to_pylist())])
        assert stays == pytest.approx(made.unchanged, abs=0.05)  # 2,000 records and more


def test_dictionaries_and_categories_tell_nothing_of_the_true_column() -> None:
    rng = np.random.default_rng(3)
    true = rng.permutation([f"job {k}" for k in range(30)] * 60)
    names = [*true, "Mayor of Springfield"]
    ill = (rng.random(len(names)) < 0.5).astype(np.int64)
    table = pa.table({"ill": ill, "x": pa.array(names).dictionary_encode(), "id": rng.permutation(len(names))})
    mechanism = dc.design(dc.Joint.from_table(table.slice(0, len(true)), "ill", "x"), dc.LIP(0.3), "grr").mechanism
    options: dict[str, Any] = {"key": KEY, "id": "id", "unseen": "suppress", "suppress_as": "job 3"}
    arrow = dc.release(table, mechanism, **options)
    first = list(dict.fromkeys(arrow["x"].combine_chunks().to_pylist()))
    assert arrow["x"].combine_chunks().dictionary.to_pylist() == first  # the order of what is published
    assert first != list(dict.fromkeys(true))
    frame = table.to_pandas()
    frame["x"] = pd.Categorical(names, categories=list(dict.fromkeys(names)))
    got = dc.release(frame, mechanism, **options)
    assert list(got["x"].cat.categories) == sorted(set(true))
    listed = pl.from_arrow(table).with_columns(pl.Series("x", names, dtype=pl.Enum(list(dict.fromkeys(names)))))
    assert "Mayor of Springfield" not in dc.release(listed, mechanism, **options).schema["x"].categories
