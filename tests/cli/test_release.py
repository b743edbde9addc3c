"""``discreet release``, ``certify``, ``verify`` and ``export``: results, exit codes, and keys that stay secret."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.cli.app import run
from discreet.cli.design import _in_values as stored_in_values
from tests.releases import awkward_table
from tests.signing import new_key, public_of


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]):
    def invoke(*tokens: object) -> tuple[int, str, str]:
        code = run([str(token) for token in tokens])
        return code, *capsys.readouterr()

    return invoke


@pytest.fixture
def folder(tmp_path: Path, call) -> Path:
    pq.write_table(awkward_table(3_000), tmp_path / "in.parquet")
    options = ["--sensitive", "ill", "--useful", "job", "--epsilon", "0.2"]
    names = ["-o", tmp_path / "m.json", "--proof", tmp_path / "proof.json"]
    assert call("design", tmp_path / "in.parquet", *options, *names)[0] == 0
    assert stat.S_IMODE((tmp_path / "proof.json").stat().st_mode) == 0o600
    return tmp_path


def test_release_verify_and_tamper(folder: Path, call) -> None:
    out = folder / "out.parquet"
    code, text, err = call(
        "release", folder / "in.parquet", folder / "m.json", "-o", out, "--id", "uuid", "--keep", "sex", "age",
        "--uncovered", "sex", "age",
        "--write-key", folder / "key", "--private-certificate", folder / "private.json",
        "--proof", folder / "proof.json",
    )  # fmt: skip
    assert code == 0, err
    assert "It covers job; it does NOT cover sex and age." in " ".join(text.split())
    assert "the promise covers" not in err
    assert "not covered by the promise" in text
    assert pq.read_table(out).column_names == ["uuid", "job", "sex", "age"]
    assert call("verify", folder / "private.json")[0] == 0
    public = f"{out}.certificate.json"
    assert call("verify", public)[0] == 1
    tables = ["--table", folder / "in.parquet", "--released", out]
    assert call("verify", public, *tables)[0] == 0
    code, text, _ = call("verify", public, *tables, "--key-file", folder / "key", "--format", "json")
    assert code == 0
    assert json.loads(text)["verified"] is True
    data = json.loads(Path(public).read_text())
    data["nmi"] = "0.999999"
    (folder / "changed.json").write_text(json.dumps(data))
    code, text, _ = call("verify", folder / "changed.json", *tables)
    assert code == 1
    assert "Failed: at least one check failed (certificate digest" in text


def test_sign_and_ask_for_the_signer(folder: Path, call) -> None:
    key, other = new_key(folder / "signing"), new_key(folder / "other")
    out, public = folder / "out.parquet", folder / "out.parquet.certificate.json"
    private = ["--private-certificate", folder / "private.json"]
    assert call("release", folder / "in.parquet", folder / "m.json", "-o", out, *private)[0] == 0
    tables = ["--table", folder / "in.parquet", "--released", out]
    code, text, _ = call("verify", public, *tables, "--signer", public_of(key))
    assert code == 1
    assert "Failed: at least one check failed (signature: there is none" in text
    code, text, err = call("sign", public, "--signing-key", key, "--format", "json")
    assert code == 0, err
    said = json.loads(text)
    assert said["signature"] == f"{public}.sig"
    assert said["key"].startswith("SHA256:")
    code, text, _ = call("verify", public, *tables, "--signer", public_of(key).read_text())
    assert code == 0
    assert f"signature: by the key {said['key']}" in " ".join(text.split())
    assert call("verify", public, *tables, "--signer", public_of(other))[0] == 1
    assert call("verify", folder / "private.json", "--released", out, "--signer", public_of(key))[0] == 0
    assert call("sign", folder / "private.json", "--signing-key", key, "-o", folder / "named")[0] == 0
    assert (folder / "named").read_text() == Path(f"{public}.sig").read_text()
    assert call("verify", public, *tables, "--signer", public_of(key), "--signature", folder / "named")[0] == 0


def test_a_signature_that_cannot_be_made_or_checked_is_wrong_usage(folder: Path, call) -> None:
    key = new_key(folder / "signing")
    assert call("certify", folder / "in.parquet", folder / "m.json", "-o", folder / "c.json")[0] == 0
    sign = ["sign", folder / "c.json", "--signing-key", key]
    assert call(*sign)[0] == 0
    code, _, err = call(*sign)
    assert (code, "exists already" in err) == (2, True)
    assert call(*sign, "--force")[0] == 0
    for target in (key, folder / "c.json"):
        before = target.read_bytes()
        assert call(*sign, "--force", "-o", target)[0] == 2
        assert target.read_bytes() == before
    for wrong in (["sign", folder / "m.json", "--signing-key", key], ["sign", folder / "c.json", "--signing-key", "x"]):
        assert call(*wrong, "-o", folder / "new.sig")[0] == 2
    key.chmod(0o644)
    code, _, err = call(*sign, "--force")
    assert (code, "chmod 600" in err) == (2, True)
    for wrong in (["--signature", folder / "c.json.sig"], ["--signer", folder / "nowhere"]):
        assert call("verify", folder / "c.json", *wrong)[0] == 2
    assert not (folder / "new.sig").exists()


def test_a_release_is_signed_with_its_files(folder: Path, call) -> None:
    key, out = new_key(folder / "signing"), folder / "out.parquet"
    base = ["release", folder / "in.parquet", folder / "m.json", "-o", out, "--seed", "1"]
    code, text, err = call(*base, "--sign", key)
    assert code == 0, err
    assert "signed by the key SHA256:" in " ".join(text.split())
    public = Path(f"{out}.certificate.json")
    signature = Path(f"{public}.sig").read_text()
    assert signature == dc.Certificate.from_json(public).sign(key)
    tables = ["--table", folder / "in.parquet", "--released", out]
    assert call("verify", public, *tables, "--signer", public_of(key))[0] == 0
    assert call(*base, "--force")[0] == 0  # the same certificate, this time unsigned
    assert not Path(f"{public}.sig").exists()
    assert call("verify", public, *tables, "--signer", public_of(key))[0] == 1


def test_a_key_that_cannot_sign_stops_a_release_before_any_work(folder: Path, call) -> None:
    key = new_key(folder / "signing")
    before = sorted(os.listdir(folder))
    base = ["release", folder / "in.parquet", folder / "m.json"]
    key.chmod(0o640)
    code, _, err = call(*base, "-o", folder / "out.parquet", "--sign", key)
    assert (code, "others may read the signing key" in err) == (2, True)
    assert call(*base, "-o", folder / "out.parquet", "--sign", folder / "nowhere")[0] == 2
    for name in ("key.csv", "key.csv.certificate.json.sig"):  # a key is never replaced
        new_key(folder / name)
        code, _, err = call(*base, "-o", folder / "key.csv", "--force", "--sign", folder / name)
        assert (code, "two of the files named are the same" in err) == (2, True)
        assert "PRIVATE KEY" in (folder / name).read_text()
        for path in (folder / name, public_of(folder / name)):
            path.unlink()
    key.chmod(0o600)
    with pytest.raises(dc.errors.InputError, match="written to a file and certified"):
        dc.release(awkward_table(50), dc.Mechanism.from_json(folder / "m.json"), sign=key)
    assert sorted(os.listdir(folder)) == before


def test_a_key_file_repeats_a_release(folder: Path, call) -> None:
    base = ["release", folder / "in.parquet", folder / "m.json"]
    assert call(*base, "-o", folder / "a.parquet", "--write-key", folder / "key")[0] == 0
    assert call(*base, "-o", folder / "b.parquet", "--key-file", folder / "key")[0] == 0
    code, _, err = call(*base, "-o", folder / "c.parquet")
    assert code == 0
    assert "the key was forgotten" in err
    a, b, c = (pq.read_table(folder / f"{name}.parquet") for name in "abc")
    assert a.equals(b)
    assert not a.equals(c)


def test_what_is_covered_is_said(folder: Path, call) -> None:
    base = ["release", folder / "in.parquet", folder / "m.json", "--id", "uuid", "--keep", "sex", "--epsilon", "1"]
    code, text, err = call(*base, "-o", folder / "a.parquet")
    assert code == 0, err
    assert "under LIP(1). It covers job and sex." in " ".join(text.split())
    assert "With sex beside it, checked in integers too: log-lifts between -" in " ".join(text.split())
    code, text, _ = call(*base, "-o", folder / "b.parquet", "--format", "json")
    assert json.loads(text)["covered"]["columns"] == ["sex"]
    assert json.loads(text)["not_covered"] == []
    code, text, _ = call(*base[:5], "-o", folder / "c.parquet")
    assert "Released 3,000 rows of job to" in text


def test_a_seed_is_marked(folder: Path, call) -> None:
    code, text, _ = call(
        "release", folder / "in.parquet", folder / "m.json", "-o", folder / "a.csv", "--seed", "1", "--format", "json"
    )
    assert code == 0
    assert json.loads(text)["key"]["draw"] == "reproducible, not private"


def test_failures_keep_their_promises(folder: Path, call) -> None:
    base = ["release", folder / "in.parquet", folder / "m.json"]
    before = sorted(os.listdir(folder))
    for tokens, code, says in (
        (["-o", folder / "in.parquet"], 2, "the input itself"),
        (["-o", folder / "x.xls"], 2, "should end in"),
        (["-o", folder / "x.parquet", "--key-file", folder / "none"], 2, "key file"),
        (["-o", folder / "x.parquet", "--id", "weight", "--write-key", folder / "key"], 3, "integers or text"),
        (["-o", folder / "x.parquet", "--keep", "ill"], 2, "--publish-sensitive"),
        (["-o", folder / "x.parquet", "--epsilon", "0.01"], 1, "nothing was released"),
        (["-o", folder / "x.parquet", "--keep", "sex", "age"], 1, "--uncovered sex age"),
        (["-o", folder / "x.parquet", "--keep", "sex", "age", "--uncovered", "age"], 1, "with 'sex' beside it breaks"),
        (["-o", folder / "x.parquet", "--keep", "sex", "--uncovered", "age"], 2, "not kept"),
        (["-o", folder / "x.parquet", "--seed", "1", "--write-key", folder / "key"], 2, "fresh key"),
        (["-o", folder / "x.parquet", "--proof", folder / "m.json"], 2, "not a proof"),
        (["-o", folder / "x.parquet", "--memory-limit", "nonsense"], 2, "memory"),
    ):
        got, out, err = call(*base, *tokens)
        assert (got, out) == (code, ""), err
        assert says in err
        assert "Traceback" not in err
        assert sorted(os.listdir(folder)) == before


def test_certify(folder: Path, call) -> None:
    base = ["certify", folder / "in.parquet", folder / "m.json"]
    code, text, err = call(
        *base, "-o", folder / "c.json", "--private-certificate", folder / "p.json", "--proof", folder / "proof.json"
    )
    assert code == 0, err
    assert "Certified: LIP(0.2) holds" in text
    assert dc.verify(folder / "p.json")
    assert call("verify", folder / "c.json")[0] == 1
    assert call(*base, "--epsilon", "0.01")[0] == 1
    assert call(*base, "-o", folder / "c.json")[0] == 2


def test_export(folder: Path, call) -> None:
    dc.ReleaseKey.from_seed(1).write(folder / "key")
    tokens = ["export", folder / "m.json", "--sql", "duckdb", "--table", "people", "--id", "uuid"]
    code, text, _ = call(*tokens)
    assert code == 0
    assert "CREATE TEMPORARY TABLE discreet_symbols0" in text
    code, text, _ = call(*tokens, "--key-file", folder / "key", "--subkeys", folder / "sub.csv", "--format", "json")
    assert code == 0
    assert stat.S_IMODE((folder / "sub.csv").stat().st_mode) == 0o600
    subkey = (folder / "sub.csv").read_text().split(",")[-1].strip()
    assert len(subkey) == 32
    assert subkey not in text
    assert call(*tokens, "--key-file", folder / "key")[0] == 2
    assert call("export", folder / "m.json", "--sql", "oracle")[0] == 2


def test_spark_on_the_command_line(folder: Path, call, spark) -> None:
    base = ["release", folder / "in.parquet", folder / "m.json", "--seed", "3", "--id", "number"]
    code, _, err = call(*base, "-o", folder / "s.parquet", "--engine", "spark")
    assert code == 0, err
    assert call(*base, "-o", folder / "d.parquet")[0] == 0
    spark_rows = pq.read_table(folder / "s.parquet").sort_by("number")
    assert spark_rows.to_pylist() == pq.read_table(folder / "d.parquet").sort_by("number").to_pylist()
    tables = ["--table", folder / "in.parquet", "--released", folder / "s.parquet"]
    assert call("verify", f"{folder / 's.parquet'}.certificate.json", *tables)[0] == 0


def test_the_key_is_in_no_argument_log_or_traceback(folder: Path) -> None:
    """Even with --debug and an error in the middle of the work."""
    key = dc.ReleaseKey.fresh()
    key.write(folder / "key")
    secret = (folder / "key").read_text().strip()
    subkey = key.subkey("job", dc.Mechanism.from_json(folder / "m.json").fingerprint)
    (folder / "damaged.parquet").write_bytes((folder / "in.parquet").read_bytes()[:-1000])
    for source in ("damaged.parquet", "in.parquet"):
        command = [
            sys.executable, "-m", "discreet", "--debug", "release", folder / source, folder / "m.json",
            "-o", folder / f"from-{source}", "--key-file", folder / "key",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert secret not in done.stdout + done.stderr + " ".join(map(str, command))
        assert subkey not in done.stdout + done.stderr


def test_a_level_can_be_required(folder: Path, call) -> None:
    out, key = folder / "out.parquet", folder / "key"
    assert (
        call("release", folder / "in.parquet", folder / "m.json", "-o", out, "--id", "uuid", "--write-key", key)[0] == 0
    )
    public, tables = f"{out}.certificate.json", ["--table", folder / "in.parquet", "--released", out]
    assert call("verify", public, "--released", out)[0] == 1
    code, text, _ = call("verify", public, "--released", out, "--require", "consistent", "--format", "json")
    found = json.loads(text)
    assert (code, found["level"], found["required"], found["passed"]) == (0, "consistent", "consistent", True)
    assert call("verify", public, *tables, "--require", "redrawn")[0] == 1
    assert call("verify", public, *tables, "--key-file", key, "--require", "redrawn")[0] == 0


def test_public_counts_let_anyone_verify(folder: Path, call) -> None:
    out = folder / "out.parquet"
    release = ["release", folder / "in.parquet", folder / "m.json", "-o", out, "--id", "uuid"]
    assert call(*release, "--public-counts")[0] == 0
    code, text, _ = call("verify", f"{out}.certificate.json", "--format", "json")
    assert (code, json.loads(text)["level"]) == (0, "verified")
    few = dc.Joint.from_counts([[3, 20], [20, 20]])
    made = dc.certify(dc.Mechanism.from_blocks(few, [0, 0]), few, dc.LIP(1.0))
    with pytest.raises(dc.errors.InputError, match="1 pairs of sensitive and useful values have fewer than 5 records"):
        made.with_public_counts()


def test_records_of_a_person_on_the_command_line(folder: Path, call) -> None:
    table = awkward_table(3_000)
    who = pa.array([f"p{k % 1_500}" for k in range(3_000)])  # everybody comes twice
    pq.write_table(table.append_column("who", who), folder / "in.parquet")
    flat = dc.Mechanism.from_channel(
        [[0.5, 0.5]] * 8, useful=dc.Mechanism.from_json(folder / "m.json").useful, released=["0", "1"],
        useful_columns=["job"], sensitive_columns=["ill"], notion=dc.LIP(0.5).to_dict(),
    )  # fmt: skip
    flat.to_json(folder / "flat.json")
    release = ["release", folder / "in.parquet", folder / "flat.json", "-o", folder / "out.parquet"]
    code, _, err = call(*release, "--id", "who")
    assert code == 3
    assert "--person who" in err
    code, _, err = call(*release, "--person", "who")
    assert code == 2
    assert "--shuffle" in err
    assert not (folder / "out.parquet").exists()
    code, text, err = call(*release, "--person", "who", "--shuffle", "--keep", "age", "--uncovered", "all")
    assert code == 0, err
    assert "1,500 persons with up to 2 records each" in " ".join(text.split())


def test_values_are_the_default_and_labels_can_be_asked_for(folder: Path, call) -> None:
    table = pq.read_table(folder / "in.parquet")
    given = [folder / "in.parquet", folder / "m.json", "--id", "number", "--key-file", folder / "key"]
    dc.ReleaseKey.from_seed(1).write(folder / "key")
    code, text, err = call("release", *given, "-o", folder / "values.parquet")
    assert code == 0, err
    said = " ".join(text.split())
    assert "job has its own values, whose distribution is kept on average." in said
    assert "% of records are expected to keep theirs." in said
    assert "design --as-values" in err  # under a key that serves several tables
    values = pq.read_table(folder / "values.parquet")
    assert set(values["job"].to_pylist()) == set(table["job"].to_pylist())
    code, text, err = call("release", *given, "--as-values", "-o", folder / "again.parquet", "--format", "json")
    assert code == 0, err
    assert pq.read_table(folder / "again.parquet").equals(values)
    summary = json.loads(text)
    same = sum(a == b for a, b in zip(values["job"].to_pylist(), table["job"].to_pylist())) / table.num_rows
    assert abs(summary["in_values"]["unchanged"] - same) < 0.05
    code, text, err = call("release", *given, "--as-labels", "-o", folder / "labels.parquet", "--format", "json")
    assert (code, json.loads(text)["in_values"], "design --as-values" in err) == (0, None, False)
    assert any("%" in label for label in pq.read_table(folder / "labels.parquet")["job"].to_pylist())
    book = json.loads((folder / "values.parquet.codebook.json").read_text())["codebook"]
    assert "it's" in book
    assert None in {entry["useful"] for entry in book["null (2)"]} | {entry["useful"] for entry in book["null"]}


def test_a_mechanism_in_values_is_stored_released_and_exported(folder: Path, call) -> None:
    source, stored = folder / "in.parquet", folder / "values.json"
    options = ["--sensitive", "ill", "--useful", "job", "--epsilon", "0.2", "--as-values"]
    assert call("design", source, *options)[0] == 2  # nowhere to write it to
    code, _, err = call("design", source, *options, "-o", stored)
    assert code == 0, err
    mechanism = dc.Mechanism.from_json(stored)
    assert mechanism.is_in_values
    dc.ReleaseKey.from_seed(2).write(folder / "key")
    key = ["--key-file", folder / "key"]
    code, _, err = call("release", source, stored, "-o", folder / "out.parquet", "--id", "name", *key)
    assert (code, "--as-values" in err) == (0, False)
    assert call("release", source, stored, "-o", folder / "no.parquet", "--as-labels")[0] == 2
    assert "draws labels" in call("export", folder / "m.json", "--sql", "duckdb")[2]
    code, text, err = call(
        "export", stored, "--sql", "duckdb", "--table", "people", "--id", "name", "--format", "json",
        *key, "--subkeys", folder / "keys.csv",
    )  # fmt: skip
    assert (code, "draws labels" in err) == (0, False)
    connection = duckdb.connect()
    connection.register("people", pq.read_table(source))
    connection.execute("CREATE TABLE discreet_key (draw INTEGER, subkey VARCHAR)")
    connection.execute(f"INSERT INTO discreet_key SELECT * FROM read_csv('{folder}/keys.csv', all_varchar=true)")
    *tables, query = json.loads(text)["statements"]
    for statement in tables:
        connection.execute(statement)
    got = connection.sql(query).to_arrow_table().sort_by("name").to_pylist()
    assert got == pq.read_table(folder / "out.parquet").sort_by("name").to_pylist()
    assert {row["job"] for row in got} == set(pq.read_table(source)["job"].to_pylist())


def test_promises_that_do_not_survive_values_are_not_stored_in_values() -> None:
    joint = dc.Joint.from_counts([[120, 40, 240], [40, 120, 240], [240, 240, 2720]])
    mechanism = dc.Mechanism.from_channel([[0.75, 0.25, 0], [0.25, 0.75, 0], [0, 0, 1]])
    made = SimpleNamespace(mechanism=mechanism, joint=joint, notion=dc.L1Lift(eps_lower=0.31))
    assert made.notion.holds(joint, mechanism)
    with pytest.raises(dc.errors.BrokenNotionError, match="Leave out --as-values"):
        stored_in_values(made)
