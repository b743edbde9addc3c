"""Forty people, each with a value of their own: nothing that others may read tells the channel, and so S."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet as dc
from discreet.cli.app import run
from discreet.drawing.keys import ReleaseKey
from tests.releases import awkward_table

WHY = "so the mechanism itself tells about them: keep {} private"
DESIGN = ["--sensitive", "ill", "--useful", "city", "--useful", "job", "--epsilon", "0.5"]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]):
    def invoke(*tokens: object) -> tuple[int, str, str]:
        code = run([str(token) for token in tokens])
        return code, *capsys.readouterr()

    return invoke


@pytest.fixture(autouse=True)
def umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def forty(tmp_path: Path) -> Path:
    """One file: 40 unique tuples of city and job, half of the people ill."""
    rng = np.random.default_rng(3)
    ill = rng.permutation(["yes", "no"] * 20).tolist()
    place = rng.permutation(40)
    table = pa.table(
        {
            "person": [f"p{k}" for k in range(40)],
            "city": [f"city{k // 5}" for k in place],
            "job": [f"job{k % 5}" for k in place],
            "ill": ill,
        }
    )
    pa.csv.write_csv(table, tmp_path / "in.csv")
    return tmp_path


@pytest.fixture
def released(forty: Path, call) -> Path:
    """All that the commands write about them, beside the table."""
    made = call("design", forty / "in.csv", *DESIGN, "-o", forty / "m.json", "--private-design", forty / "all.json")
    assert made[0] == 0, made[2]
    assert WHY.format(forty / "m.json") in made[2]
    assert f"private design written to {forty / 'all.json'}" in made[2]
    keys = ["--write-key", forty / "key", "--private-certificate", forty / "private.json"]
    options = ["--as", "both", "--id", "person", "--proof", forty / "all.json", *keys]
    done = call("release", forty / "in.csv", forty / "m.json", "-o", forty / "out.csv", *options)
    assert done[0] == 0, done[2]
    assert "out.csv.codebook.private.json (private" in " ".join(done[1].split())
    assert WHY.format(f"{forty / 'm.json'} and the codebook") in done[2]
    sql = call(
        "export", forty / "m.json", "--sql", "duckdb", "--id", "person", "--as", "both", "-o", forty / "draw.sql"
    )
    assert sql[:2] == (0, "")
    assert WHY.format(forty / "draw.sql") in sql[2]
    assert call("certify", forty / "in.csv", forty / "m.json", "-o", forty / "certified.json")[0] == 0
    (forty / "in.csv").unlink()  # the secret itself
    return forty


def public_files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.stat().st_mode & 0o044}


def test_who_may_read_what(released: Path) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in released.iterdir()}
    public = {"out.csv", "out.csv.certificate.json", "certified.json"}
    private = {"m.json", "all.json", "key", "private.json", "out.csv.codebook.private.json", "draw.sql"}
    assert modes == dict.fromkeys(public, 0o644) | dict.fromkeys(private, 0o600)


def test_nothing_public_holds_weights_thresholds_shares_or_company(released: Path) -> None:
    mechanism = dc.Mechanism.from_json(released / "m.json")
    weights = {str(w) for w in mechanism.weights.ravel().tolist() if 0 < w < 2**60}
    thresholds = {f"{int(t):015x}" for t in np.cumsum(mechanism.weights, axis=1).ravel() if 0 < t < 2**60}
    assert min(len(weights), len(thresholds)) > 20
    assert all(weight in (released / "m.json").read_text() for weight in weights)
    assert any(threshold in (released / "draw.sql").read_text() for threshold in thresholds)
    for name, text in public_files(released).items():
        assert not any(known in text for known in weights | thresholds), name
        assert "%" not in text, name
        assert not re.search(r"city\d|job\d", text), name  # whoever shares a label with whom is known by these names
        assert "p_useful" not in text, name
        assert mechanism.fingerprint not in text, name
        book = (released / "out.csv.codebook.private.json").read_bytes()
        assert hashlib.sha256(book).hexdigest() not in text, name


def test_the_company_that_values_keep_would_have_told_s(released: Path) -> None:
    """Why labels are numbers: values with a released one in common differ in S, which splits the people in two."""
    content = json.loads((released / "private.json").read_text())
    joint_ill = {tuple(content["counts"]["useful"][x]): s for s, x, _ in content["counts"]["cells"]}
    mechanism = dc.Mechanism.from_json(released / "m.json")
    pairs = [np.flatnonzero(column) for column in mechanism.weights.T]
    apart = [
        joint_ill[mechanism.useful[a]] != joint_ill[mechanism.useful[b]]
        for a, b in filter(lambda p: len(p) == 2, pairs)
    ]
    assert len(apart) > 20
    assert all(apart)


def test_the_public_certificate_names_mechanism_and_codebook_by_keyed_digests(released: Path) -> None:
    public = json.loads((released / "out.csv.certificate.json").read_text())
    private = json.loads((released / "private.json").read_text())
    assert (public["mechanism"], public["private_mechanism"]) == (None, True)
    assert private["mechanism"] == dc.Mechanism.from_json(released / "m.json").public_dict()
    key = ReleaseKey.from_file(released / "key")
    for name in ("mechanism", "codebook"):
        stated = private["digests"][name].encode()
        assert public["digests"][name] == hmac.new(key.derive(f"{name}-digest"), stated, "sha256").hexdigest()
    again = dc.Certificate(public).public.to_dict()
    assert again == public
    assert dc.Certificate(private).public.to_dict() == public
    certified = json.loads((released / "certified.json").read_text())
    assert (certified["mechanism"], certified["digests"]["mechanism"]) == (None, None)  # no key, no digest
    assert dc.verify(released / "private.json")


def test_a_private_design_serves_as_mechanism_and_proof(forty: Path, call) -> None:
    assert call("design", forty / "in.csv", *DESIGN, "--private-design", forty / "all.json")[0] == 0
    mechanism = dc.Mechanism.from_json(forty / "all.json")
    assert mechanism.p_useful is not None
    assert mechanism.codebook()
    options = ["--as", "both", "--proof", forty / "all.json", "--seed", "1", "--format", "json"]
    code, out, err = call("release", forty / "in.csv", forty / "all.json", "-o", forty / "out.csv", *options)
    assert code == 0, err
    summary = json.loads(out)
    assert summary["bound"] is not None
    assert summary["private_mechanism"] is True
    assert Path(summary["codebook"]).name == "out.csv.codebook.private.json"
    code, _, err = call("design", forty / "in.csv", *DESIGN, "-o", forty / "x", "--private-design", forty / "x")
    assert code == 2
    assert "different names" in err


def test_common_values_are_released_as_ever(tmp_path: Path, call) -> None:
    table = awkward_table(3_000)
    pa.csv.write_csv(table.select(["number", "job", "ill"]), tmp_path / "in.csv")
    options = ["--sensitive", "ill", "--useful", "job", "--epsilon", "0.2"]
    code, _, err = call("design", tmp_path / "in.csv", *options, "-o", tmp_path / "m.json")
    assert (code, "private" in err) == (0, False)
    stored = json.loads((tmp_path / "m.json").read_text())
    assert not {"p_useful", "p_joint"} & set(stored)
    given = ["-o", tmp_path / "out.csv", "--id", "number", "--seed", "1", "--as-labels"]
    code, _, err = call("release", tmp_path / "in.csv", tmp_path / "m.json", *given)
    assert (code, "private" in err) == (0, False)
    public = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert (public["mechanism"], public["private_mechanism"]) == (stored, False)
    book = json.loads((tmp_path / "out.csv.codebook.json").read_text())["codebook"]
    joint = dc.Joint.from_table(tmp_path / "in.csv", "ill", "job")
    expected = dc.Mechanism.from_json(tmp_path / "m.json").codebook(joint)
    for name, meaning in expected.items():
        listed = {entry["useful"]: entry["probability"] for entry in book[name]}
        assert listed == {x: round(p, 3) for x, p in meaning.items() if p >= 0.0005}
    assert not (tmp_path / "out.csv.codebook.private.json").exists()
    code, out, err = call("export", tmp_path / "m.json", "--sql", "duckdb")
    assert (code, "private" in err) == (0, False)
    sql = ["export", tmp_path / "m.json", "--sql", "duckdb", "-o", tmp_path / "draw.sql"]
    assert call(*sql)[0] == 0
    assert (tmp_path / "draw.sql").read_text() == out
    assert stat.S_IMODE((tmp_path / "draw.sql").stat().st_mode) == 0o644
    assert call(*sql)[0] == 2  # it exists already
    assert call(*sql, "--force")[0] == 0
    assert call("export", tmp_path / "m.json", "--sql", "duckdb", "-o", tmp_path / "m.json", "--force")[0] == 2


def test_printed_sql_of_a_private_mechanism_says_that_it_is(forty: Path, call) -> None:
    assert call("design", forty / "in.csv", *DESIGN, "-o", forty / "m.json")[0] == 0
    code, out, err = call("export", forty / "m.json", "--sql", "postgres", "--as", "both")
    assert code == 0
    assert "INSERT INTO" in out
    assert WHY.format("this SQL") in err


def test_a_partition_of_few_records_is_private(forty: Path, call) -> None:
    options = ["--sensitive", "ill", "--useful", "city", "--useful", "job", "--k", "2", "--mechanism", forty / "m.json"]
    code, _, err = call("quantise", forty / "in.csv", *options)
    assert code == 0, err
    assert WHY.format(forty / "m.json") in err
    assert stat.S_IMODE((forty / "m.json").stat().st_mode) == 0o600


def test_a_report_says_that_a_public_certificate_leaves_the_mechanism_out(forty: Path, call) -> None:
    assert call("design", forty / "in.csv", *DESIGN, "-o", forty / "m.json")[0] == 0
    assert call("certify", forty / "in.csv", forty / "m.json", "-o", forty / "c.json")[0] == 0
    base = [
        "report",
        forty / "in.csv",
        *DESIGN[:-2],
        "--mechanism",
        forty / "m.json",
        "--certificate",
        forty / "c.json",
    ]
    assert call(*base, "-o", forty / "r.md", "--format", "md")[0] == 0
    text = (forty / "r.md").read_text()
    assert "not told: the public certificate of a private mechanism leaves it out" in text
    assert "does not tell its mechanism" in text
