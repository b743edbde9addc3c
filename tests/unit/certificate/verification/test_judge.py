"""Rows side by side: what is found where they stand, and how little is kept in memory for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet import LIP, Joint, Verdict, design, release, verify
from discreet.certificate.record import Certificate
from discreet.certificate.verification import judge, rows
from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.judge import Judge
from discreet.certificate.verification.link import side_by_side
from discreet.drawing.entries import entry_table
from discreet.drawing.thresholds import Thresholds, draw_value
from discreet.mechanism import Mechanism
from discreet.tables import open_table
from discreet.tables.rows import shared_out
from tests.releases import awkward_table, mechanisms, rename_of

KEY = dc.ReleaseKey.from_seed(1)


def released(folder: Path, **options: Any) -> tuple[Path, Path, Path]:
    """A table in several groups of rows, its release and the private certificate."""
    source, output, private = folder / "t.parquet", folder / "o.parquet", folder / "p.json"
    if not source.exists():
        pq.write_table(awkward_table(6_000), source, row_group_size=700)
    mechanism = options.pop("mechanism", None) or design(Joint.from_table(source, "ill", "job"), LIP(0.3)).mechanism
    chosen = {"id": "number", "keep": ["age", "weight"], "uncovered": "all", "seed": 1} | options
    with pytest.warns(dc.errors.DiscreetWarning) if chosen["keep"] else pytest.MonkeyPatch.context():
        release(source, mechanism, output=output, private_certificate=private, force=True, **chosen)
    return source, output, private


def resealed(private: Path, output: Path) -> Verdict:
    """The verdict on a changed release, whose digest whoever changed it put into the certificate."""
    from discreet.tables.digest import file_digest

    stated = Certificate.from_json(private)
    digests = stated["digests"] | {"output": file_digest(output)}
    for beside in output.parent.glob("o.parquet.*"):
        beside.unlink()
    return verify(stated.with_fields(digests=digests), output.parent / "t.parquet", output)


def cell(value: float) -> Any:
    def change(table: pa.Table) -> pa.Table:
        weight = table.column("weight").to_pylist()
        weight[4_321] = value
        return table.set_column(table.column_names.index("weight"), "weight", pa.array(weight))

    return change


CHANGES: dict[str, tuple[Any, str]] = {
    "a kept cell": (cell(0.5), "kept columns"),
    "two rows in each other's place": (
        lambda t: t.take([1, 0, *range(2, t.num_rows)]),
        "order",
    ),
    "a row left out": (lambda t: t.slice(1), "ids"),
    "a row twice": (lambda t: pa.concat_tables([t, t.slice(0, 1)]), "released rows"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_is_named(change: str, tmp_path: Path) -> None:
    _, output, private = released(tmp_path)
    changed, subject = CHANGES[change]
    pq.write_table(changed(pq.read_table(output)), output)
    assert subject in {finding.subject for finding in resealed(private, output).failures}


@pytest.mark.parametrize("value", [-0.0, float("nan")])
def test_cells_that_equal_and_read_otherwise_were_changed(value: float, tmp_path: Path) -> None:
    table = awkward_table(6_000)
    weight = np.asarray(table.column("weight")).copy()
    weight[4_321] = 0.0
    pq.write_table(table.set_column(7, "weight", pa.array(weight)), tmp_path / "t.parquet")
    _, output, private = released(tmp_path)
    assert verify(private, tmp_path / "t.parquet", output)
    pq.write_table(cell(value)(pq.read_table(output)), output)
    assert [f.subject for f in resealed(private, output).failures] == ["kept columns"]


@pytest.mark.parametrize("bits", [0xFFF8000000000000, 0x7FF8000000000001], ids=["minus NaN", "a payload"])
def test_not_every_nan_is_the_same(bits: int, tmp_path: Path) -> None:
    table = awkward_table(6_000)
    weight = table.column("weight").to_numpy().copy()
    weight[4_321] = np.nan
    pq.write_table(table.set_column(7, "weight", pa.array(weight)), tmp_path / "t.parquet")
    _, output, private = released(tmp_path)
    assert verify(private, tmp_path / "t.parquet", output)
    changed = pq.read_table(output)
    other = changed.column("weight").to_numpy().copy()
    other.view(np.uint64)[4_321] = bits
    pq.write_table(changed.set_column(changed.column_names.index("weight"), "weight", pa.array(other)), output)
    assert [f.subject for f in resealed(private, output).failures] == ["kept columns"]


@pytest.mark.parametrize("published", [True, False])
def test_records_that_share_an_id_are_found(published: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By whoever released the table without looking."""
    table = awkward_table(6_000)
    twice = pa.array(np.arange(6_000) // 2)
    pq.write_table(table.set_column(0, "number", twice), tmp_path / "t.parquet")
    with monkeypatch.context() as patched:
        patched.setattr("discreet.tables.session.DuckDBTable.repeated", lambda *_: (0, 0))
        source, output, private = released(tmp_path, publish_id=published)
    for key in (None, KEY):
        assert "ids" in {finding.subject for finding in verify(private, source, output, key=key).failures}


def test_rows_in_step_are_not_kept_in_memory(tmp_path: Path) -> None:
    source, output, private = released(tmp_path)
    content = Certificate.from_json(private).to_dict()
    evidence = Evidence(content, Mechanism.from_dict(content["mechanism"]), KEY)
    with (
        open_table(source, evidence.needed_columns(), places=True) as table,
        open_table(output, evidence.columns["published"], places=True, beside=table) as other,
    ):
        asked = Judge(evidence, table, other)
        asked._prepare(table.connection)
        part = shared_out(table.files, 2)[0][0]
        plan = side_by_side(evidence, table, other, part)
        text = table.connection.execute("EXPLAIN " + asked.question.judging(plan.rows)).fetchall()[0][1]
    assert "Positional Scan" in text or "POSITIONAL_SCAN" in text


@pytest.mark.parametrize("kind", mechanisms(awkward_table(6_000)))
def test_in_step_and_matched_agree(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one label changed that its value can get: frequencies hardly move, and the key finds the row."""
    mechanism = mechanisms(awkward_table(6_000))[kind]
    chosen = {"mechanism": mechanism, "rename": rename_of(mechanism), "keep": ["weight"]}
    source, output, private = released(tmp_path, **chosen)
    in_step = verify(private, source, output, key=KEY)
    assert in_step.level == "redrawn"
    monkeypatch.setattr(rows, "stands_side_by_side", lambda *_: False)
    assert verify(private, source, output, key=KEY).findings == in_step.findings


def test_a_label_that_another_key_draws_is_found(tmp_path: Path) -> None:
    source, output, private = released(tmp_path)
    table = pq.read_table(output)
    other = pq.read_table(released(tmp_path, seed=2)[1])
    different = np.nonzero(np.array(table.column("job").to_pylist()) != np.array(other.column("job").to_pylist()))[0]
    labels = table.column("job").to_pylist()
    labels[different[0]] = other.column("job")[int(different[0])].as_py()
    _, output, private = released(tmp_path)
    pq.write_table(table.set_column(table.column_names.index("job"), "job", pa.array(labels)), output)
    verdict = verify(private, source, output, key=KEY)
    assert "1 row is not what the key draws" in {f.text for f in verdict.failures if f.subject == "redraw"}


@pytest.mark.parametrize("in_step", [True, False])
def test_duckdb_is_not_believed_alone(in_step: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A label among the first rows that the key does not draw is found even where every query says that all is well."""
    source, output, private = released(tmp_path)
    table = pq.read_table(output)
    labels = table.column("job").to_pylist()
    labels[5] = next(label for label in labels if label != labels[5])
    pq.write_table(table.set_column(table.column_names.index("job"), "job", pa.array(labels)), output)
    monkeypatch.setattr(judge.Question, "_is_drawn", lambda *_: "true")
    monkeypatch.setattr(rows, "stands_side_by_side", lambda *_: in_step)
    assert "redraw" in {finding.subject for finding in verify(private, source, output, key=KEY).failures}


def test_thresholds_around_an_entry_are_those_of_the_draw() -> None:
    for mechanism in mechanisms(awkward_table(2_000)).values():
        for draw in mechanism.draws():
            if draw.bits is not None:
                continue
            entries = entry_table(draw).to_pylist()
            made = Thresholds.of(draw)
            for row, record in [(0, "1"), (len(draw.symbols) - 1, "x"), (0, "77")]:
                u = draw_value("0" * 32, row, record)
                inside = [e["y"] for e in entries if e["r"] == row and e["low"] <= u < e["high"]]
                assert inside == [made.label("0" * 32, row, record)]


def test_records_that_share_a_draw_are_counted_once(tmp_path: Path) -> None:
    """Two hundred records of each person: as many copies of a draw are no two hundred draws."""
    rng = np.random.default_rng(5)
    job, ill = rng.integers(0, 4, 400), rng.integers(0, 2, 400)
    table = pa.table(
        {"who": np.repeat(np.arange(400), 200), "job": np.repeat(job, 200).astype(str), "ill": np.repeat(ill, 200)}
    )
    mechanism = design(Joint.from_table(table, "ill", "job"), LIP(0.01), "grr").mechanism
    pq.write_table(table, tmp_path / "t.parquet")
    private = tmp_path / "p.json"
    release(
        tmp_path / "t.parquet",
        mechanism,
        person="who",
        shuffle=True,
        trust_design=True,
        notion=LIP(5.0),
        seed=1,
        output=tmp_path / "o.parquet",
        private_certificate=private,
    )
    verdict = verify(private, tmp_path / "t.parquet", tmp_path / "o.parquet", key=KEY)
    assert verdict.level == "redrawn", verdict


def test_published_persons_are_compared(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    table = pa.table(
        {"who": np.arange(3_000) // 2, "job": rng.integers(0, 4, 3_000).astype(str), "ill": rng.integers(0, 2, 3_000)}
    )
    pq.write_table(table, tmp_path / "t.parquet")
    mechanism = design(Joint.from_table(table, "ill", "job"), LIP(0.01), "grr").mechanism
    release(
        tmp_path / "t.parquet",
        mechanism,
        person="who",
        keep=["who"],
        shuffle=True,
        notion=LIP(5.0),
        seed=1,
        output=tmp_path / "o.parquet",
        private_certificate=tmp_path / "p.json",
    )
    made = pq.read_table(tmp_path / "o.parquet")
    assert verify(tmp_path / "p.json", tmp_path / "t.parquet", made, key=KEY).level == "redrawn"
    others = made.set_column(0, "who", made.column("who").take(pa.array(rng.permutation(3_000))))
    failed = verify(tmp_path / "p.json", tmp_path / "t.parquet", others, key=KEY).failures
    assert "kept columns" in {finding.subject for finding in failed}


def test_many_files_are_judged_by_few_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders whose names are numbers here and words there are one column of text, in every share of the files."""
    table = awkward_table(3_000)
    for k in range(60):
        folder = tmp_path / "t" / f"part={k % 7 or 'first'}"
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(table.slice(50 * k, 50), folder / f"{k:03d}.parquet")
    mechanism = design(Joint.from_table(tmp_path / "t", "ill", "job"), LIP(0.3)).mechanism
    output, private = tmp_path / "o.parquet", tmp_path / "p.json"
    asked: list[Any] = []
    real = judge.side_by_side
    monkeypatch.setattr(judge, "side_by_side", lambda *given: asked.append(given) or real(*given))
    for record in ("number", None):
        with pytest.warns(dc.errors.DiscreetWarning):
            release(
                tmp_path / "t",
                mechanism,
                id=record,
                keep=["part", "age"],
                uncovered="all",
                seed=1,
                output=output,
                private_certificate=private,
                force=True,
            )
        assert set(pq.read_table(output).column("part").to_pylist()) == {"first", *"123456"}
        asked.clear()
        assert verify(private, tmp_path / "t", output, key=KEY).level == "redrawn"
        assert 1 <= len(asked) <= 8
