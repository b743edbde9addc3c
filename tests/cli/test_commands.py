"""Commands: what they print, how they exit, what they leave behind."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import ALIP, LIP, Joint, Mechanism, design, measures, methods, ranges, samples
from discreet.cli.app import run
from discreet.testing import every_notion
from tests.conftest import missing

ADULT = ["sample:adult", "--sensitive", "relationship", "--useful", "occupation"]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]):
    """Run a command line; returns exit code, stdout and stderr."""

    def _call(*tokens: str) -> tuple[int, str, str]:
        code = run([str(token) for token in tokens])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return _call


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("income,job,one,age\nhigh,a,z,20\nlow,b,z,30\nhigh,a,z,40\nlow,a,z,50\nhigh,b,z,x\n")
    return path


def test_audit_says_what_a_person_needs(call) -> None:
    code, out, err = call("audit", *ADULT)
    assert (code, err) == (0, "")
    assert "What occupation tells about relationship" in out
    assert "Priv-house-serv" in out.split("Worst symbols first")[1].splitlines()[2]
    assert "rules Husband out" in " ".join(out.split())
    assert "Zero cells: Armed-Forces never occurs with Unmarried, Wife (9 records)." in out
    assert "nats" in out


def test_audit_as_json(call) -> None:
    code, out, _ = call("audit", *ADULT, "--format", "json", "--notion", "lip", "--epsilon", "0.5")
    data = json.loads(out)
    assert code == 1
    assert (data["sensitive"], data["useful"], data["rows"]) == (["relationship"], ["occupation"], 32561)
    assert data["joint"]["n_useful"] == len(data["per_symbol"]) == 15
    assert data["measures"]["log_min_lift"] == "-inf"
    assert data["verdict"]["holds"] is False
    assert data["verdict"]["slack"] == "-inf"
    assert sum(not entry["allowed"] for entry in data["per_symbol"]) == data["verdict"]["violating_symbols"]
    joint = Joint.from_table(samples.adult(), "relationship", "occupation")
    assert data["measures"]["mutual_information"] == measures.mutual_information(joint)


def test_a_verdict_gates_a_pipeline(call) -> None:
    assert call("audit", *ADULT, "--notion", "max-lift", "--epsilon", "2")[0] == 0
    assert call("audit", *ADULT, "--notion", "max-lift", "--epsilon", "1.9")[0] == 1


def test_design_writes_a_mechanism_that_drives_a_release(call, tmp_path: Path) -> None:
    target = tmp_path / "mechanism.json"
    code, out, err = call(
        "design",
        *ADULT,
        "--epsilon",
        "1",
        "--lam",
        "0.5",
        "--notion",
        "alip",
        "--method",
        "subset-merging",
        "-o",
        target,
    )
    assert code == 0
    assert "0.7215" in out
    assert str(target) in err
    mechanism = Mechanism.from_json(target)
    assert mechanism.useful_columns == ("occupation",)
    assert mechanism.notion == {"name": "alip", "eps_lower": 0.5, "eps_upper": 0.5}
    joint = Joint.from_table(samples.adult(), "relationship", "occupation")
    assert LIP(0.5).holds(joint, mechanism)
    same = design(joint, ALIP.split(1, 0.5), "subset-merging").mechanism
    assert (mechanism.public_dict(), mechanism.p_useful) == (same.public_dict(), None)


def test_design_as_json_has_the_promised_keys(call) -> None:
    code, out, _ = call(
        "design", *ADULT, "--notion", "ldp", "--epsilon", "1", "--method", "watchdog", "--format", "json"
    )
    data = json.loads(out)
    assert code == 0
    assert {
        "method", "notion", "nmi", "mutual_information", "bound", "log_max_lift", "log_min_lift", "released", "seconds",
    } <= set(data)  # fmt: skip
    assert data["log_max_lift"] - data["log_min_lift"] <= 1 + 1e-12


@pytest.mark.parametrize("name", ["lip", "alip", "ldp", "max-lift", "perfect", "l1", "chi2", "alpha-lift"])
def test_every_notion_is_an_option(name: str, call) -> None:
    options = {
        "lip": ["--epsilon", "1"],
        "ldp": ["--epsilon", "1"],
        "max-lift": ["--eps-upper", "1"],
        "perfect": [],
        "alpha-lift": ["--epsilon", "2", "--lam", "0.5", "--alpha", "2"],
    }.get(name, ["--eps-lower", "1", "--eps-upper", "1"])
    code, out, _ = call("design", *ADULT, "--notion", name, *options, "--format", "json")
    assert code == 0
    assert json.loads(out)["notion"]["name"] == name
    assert name in {notion.name for notion in every_notion(1.0)}


def test_bins_cut_numbers_on_the_command_line(call, csv: Path) -> None:
    rows = "income,age\n" + "".join(f"{'high' if k % 3 else 'low'},{k}\n" for k in range(90))
    csv.write_text(rows)
    code, out, _ = call(
        "audit", csv, "--sensitive", "income", "--useful", "age", "--bins", "age=0,18,65", "--format", "json"
    )
    assert code == 0
    assert {entry["symbol"] for entry in json.loads(out)["per_symbol"]} == {"[0, 18)", "[18, 65)", ">= 65"}
    assert json.loads(out)["joint"]["bins"] == {"age": [0, 18, 65]}


BAD = [
    (["audit", "{csv}", "--sensitive", "incme", "--useful", "job"], 2, "Did you mean 'income'?"),
    (["audit", "{csv}", "--sensitive", "income", "--useful", "income"], 2, "both sensitive and useful"),
    (["audit", "{csv}", "--sensitive", "income", "--useful", "one"], 3, "only one value"),
    (["audit", "{csv}", "--sensitive", "one", "--useful", "job"], 3, "only one value"),
    (["audit", "{csv}", "--sensitive", "income"], 2, "--useful"),
    (["audit", "{csv}.none", "--sensitive", "income", "--useful", "job"], 3, "no file"),
    (["audit", "{dir}/nothing", "--sensitive", "income", "--useful", "job"], 3, "is a directory without"),
    (["audit", "{dir}/empty.csv", "--sensitive", "income", "--useful", "job"], 3, "empty"),
    (["audit", "{dir}/header.csv", "--sensitive", "income", "--useful", "job"], 3, "no rows"),
    (["audit", "{dir}/latin.csv", "--sensitive", "income", "--useful", "job"], 3, "not text in UTF-8"),
    (["audit", "{dir}/cut.parquet", "--sensitive", "income", "--useful", "job"], 3, "Parquet"),
    (["audit", "sample:none", "--sensitive", "income", "--useful", "job"], 2, "no sample"),
    (["audit", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "-1"], 2, "at least 0"),
    (["audit", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "inf"], 2, "finite"),
    (["audit", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "nan"], 2, "finite"),
    (["audit", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "x"], 2, "epsilon"),
    (["audit", "{csv}", "--sensitive", "income", "--useful", "job", "--lam", "0.5"], 2, "needs --epsilon"),
    (["audit", "{csv}", "--sensitive", "income", "--useful", "job", "--notion", "lip", "--epsilon", "1", "--alpha", "2"], 2, "no option --alpha"),
    (["audit", "{csv}", "--sensitive", "income", "--useful", "job", "--notion", "alip", "--epsilon", "1", "--lam", ".5", "--eps-lower", "1"], 2, "either"),
    (["audit", "{csv}", "--sensitive", "income", "--useful", "job", "--notion", "other", "--epsilon", "1"], 2, "other"),
    (["audit", "{csv}", "--sensitive", "income", "--useful", "age", "--bins", "age=10,20"], 3, "not numbers"),
    (["audit", "{csv}", "--sensitive", "income", "--useful", "job", "--bins", "age"], 2, "COLUMN="),
    (["audit", "{csv}", "--sensitive", "income", "--useful", "job", "--format", "xml"], 2, "xml"),
    (["design", "{csv}", "--sensitive", "income", "--useful", "job"], 2, "needs a privacy notion"),
    (["design", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "1", "--method", "magic"], 2, "magic"),
    (["design", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "1", "--randomisation", "uniform"], 2, "no option of the method auto"),
    (["design", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "1", "--method", "watchdog", "--time-limit", "5"], 2, "no option of the method watchdog"),
    (["design", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "1", "--time-limit", "-5"], 2, "positive"),
    (["design", "{csv}", "--sensitive", "income", "--useful", "job", "--notion", "chi2", "--eps-upper", "1", "--method", "max-truth"], 2, "does not serve"),
    (["design", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "1", "-o", "{dir}"], 2, "directory"),
    (["design", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "1", "-o", "{dir}/no/m.json"], 2, "no directory"),
    (["design", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "1", "-o", "{dir}/latin.csv"], 2, "--force"),
    (["design", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "1", "-o", "{csv}", "--force"], 2, "input itself"),
    (["frontier", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "2:1:5"], 2, "FIRST:LAST:COUNT"),
    (["frontier", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "-1"], 2, "at least 0"),
    (["frontier", "{csv}", "--sensitive", "income", "--useful", "job", "--method", "magic"], 2, "no method 'magic'"),
    (["frontier", "{csv}", "--sensitive", "income", "--useful", "job", "--notion", "alip"], 2, "needs --lam"),
    (["frontier", "{csv}", "--sensitive", "income", "--useful", "job", "--notion", "chi2"], 2, "for equal parts"),
    (["frontier", "{csv}", "--sensitive", "income", "--useful", "job", "--notion", "perfect"], 2, "has no budget to sweep"),
    (["reproduce", "zds23-fig99", "-o", "{dir}/brandnew"], 2, "zds23-fig99"),
    (["frontier", "{csv}", "--sensitive", "income", "--useful", "job", "-o", "{dir}/f.xls"], 2, ".svg"),
    (["frontier", "{csv}", "--sensitive", "income", "--useful", "job", "-o", "{dir}/latin.csv"], 2, "--force"),
    (["frontier", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "0.01", "--keep", "1"], 2, "Sweep larger budgets"),
    (["compare", "{csv}", "--sensitive", "income", "--useful", "job"], 2, "needs a privacy notion"),
    (["compare", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "1", "--time-limit", "-1"], 2, "positive"),
    (["design", "{csv}", "--sensitive", "income", "--useful", "job", "--epsilon", "1", "--seed", "-1"], 2, "seed must be"),
    (["frontier", "{csv}", "--sensitive", "income", "--useful", "job", "--seed", "-1"], 2, "--seed"),
    (["frontier", "{csv}", "--sensitive", "income", "--useful", "job", "--keep", "2"], 2, "--keep must be"),
    (["nonsense"], 2, "nonsense"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tokens", "code", "says"), BAD, ids=lambda v: " ".join(v)[-60:] if isinstance(v, list) else None
)
def test_bad_input_gets_a_message_and_a_code(tokens, code: int, says: str, call, csv: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("income,job\n")
    (tmp_path / "latin.csv").write_bytes("income,job\ncafé,x\nthé,y\n".encode("latin-1"))
    pq.write_table(pa.table({"income": ["a", "b"], "job": ["x", "y"]}), tmp_path / "whole.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "whole.parquet").read_bytes()[:100])
    (tmp_path / "nothing").mkdir()
    before = {path: path.is_dir() or path.read_bytes() for path in tmp_path.iterdir()}
    got, out, err = call(*[token.format(csv=csv, dir=tmp_path) for token in tokens])
    assert got == code, err
    assert says in err
    assert out == ""
    assert "Traceback" not in err
    assert err.startswith("discreet: error: ")
    assert {path: path.is_dir() or path.read_bytes() for path in tmp_path.iterdir()} == before


def test_force_replaces_a_mechanism(call, tmp_path: Path) -> None:
    target = tmp_path / "m.json"
    target.write_text("old")
    assert call("design", *ADULT, "--epsilon", "1", "-o", target)[0] == 2
    assert target.read_text() == "old"
    assert call("design", *ADULT, "--epsilon", "1", "-o", target, "--force")[0] == 0
    assert Mechanism.from_json(target).n_useful == 15


def test_debug_shows_the_traceback(call, csv: Path) -> None:
    _, _, err = call("audit", csv, "--sensitive", "no", "--useful", "job", "--debug")
    assert "Traceback" in err


def test_a_bug_is_reported_as_one(call, csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("cell value")

    monkeypatch.setattr("discreet.reporting.audit.audit", broken)
    code, _, err = call("audit", csv, "--sensitive", "income", "--useful", "job")
    assert code == 70
    assert "bug in discreet" in err
    assert "cell value" not in err


def test_a_failed_design_writes_nothing(call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.designers.front import METHODS, Method

    leak = lambda joint, notion: Mechanism.from_blocks(joint, range(joint.n_useful))  # noqa: E731
    monkeypatch.setitem(METHODS, "watchdog", Method(leak, lambda notion: True))
    code, out, err = call("design", *ADULT, "--epsilon", "0.1", "--method", "watchdog", "-o", tmp_path / "m.json")
    assert (code, out) == (1, "")
    assert "breaks" in err
    assert list(tmp_path.iterdir()) == []


def test_frontier_answers_the_question_that_users_ask(call, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("f.svg", "f.csv", "f.json")]
    outputs = [token for path in files for token in ("-o", path)]
    sweep = ["frontier", *ADULT, "--lam", "0.5", "--epsilon", "1:2:3", "--method", "optimal", "--keep", "0.9"]
    code, out, err = call(*sweep, *outputs)
    assert code == 0
    assert "Smallest budget that keeps 90 %: epsilon 1.38" in out
    assert all(path.exists() and str(path) in err for path in files)
    data = json.loads(call(*sweep, "--format", "json")[1])
    assert [row["nmi"] for row in data["rows"]] == [row["nmi"] for row in json.loads(files[2].read_text())["rows"]]
    assert data["smallest"]["nmi"] >= 0.9
    assert data["smallest"]["epsilon"] == pytest.approx(1.387, abs=2e-3)


@pytest.mark.long
def test_frontier_compares_all_methods(call, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("f.svg", "f.csv", "f.json")]
    outputs = [token for path in files for token in ("-o", path)]
    sweep = ["frontier", *ADULT, "--lam", "0.5", "--epsilon", "1:2:3", "--method", "all", "--keep", "0.9"]
    code, out, err = call(*sweep, *outputs)
    assert code == 0
    assert "Smallest budget that keeps 90 %: epsilon 0.2217 with optimal-with-sensitive, which reads S" in out
    assert all(path.exists() and str(path) in err for path in files)
    code, out, _ = call(*sweep, "--format", "json", "--workers", "2")
    data = json.loads(out)
    assert code == 0
    stored = json.loads(files[2].read_text())["rows"]
    assert [row["nmi"] for row in data["rows"]] == [row["nmi"] for row in stored]
    assert {"watchdog", "grr", "oue", "conditional-reporting", "optimal"} <= {row["method"] for row in data["rows"]}
    assert data["smallest"]["nmi"] >= 0.9


def test_srlip_on_the_command_line(call) -> None:
    columns = ["--sensitive", "income", "--useful", "relationship", "--useful", "sex", "--notion", "srlip"]
    code, out, _ = call("audit", "sample:adult", *columns, "--epsilon", "0.5")
    assert code == 1
    assert "Verdict: broken." in out
    assert "who know some of the useful columns" in out.replace("\n", " ")
    code, out, _ = call(
        "frontier", *ADULT, "--notion", "srlip", "--epsilon", "0.5,1", "--method", "all", "--format", "json"
    )
    assert code == 0
    assert {row["method"] for row in json.loads(out)["rows"]} == {"max-truth", "optimal"}
    assert call("frontier", *ADULT, "--notion", "srlip", "--epsilon", "0.5")[0] == 0


def test_compare_shows_all_methods_best_first(call) -> None:
    code, out, _ = call("compare", *ADULT, "--notion", "lip", "--epsilon", "0.5", "--format", "json")
    data = json.loads(out)
    assert code == 0
    kept = [design["nmi"] for design in data["designs"]]
    assert kept == sorted(kept, reverse=True)
    assert {design["method"] for design in data["designs"]} == set(methods(LIP(0.5))) - {"auto"}
    reading = {design["method"] for design in data["designs"] if design["reads_sensitive"]}
    assert reading == {"optimal-with-sensitive", "conditional-reporting"}
    assert all(design["log_max_lift"] <= 0.5 + 1e-12 for design in data["designs"])
    code, out, _ = call("compare", *ADULT, "--notion", "lip", "--epsilon", "0.5", "--utility", "accuracy")
    assert code == 0
    assert "…" not in out
    assert {line.split()[0] for line in out.splitlines() if line} >= set(methods(LIP(0.5))) - {"auto"}
    code, out, _ = call("compare", *ADULT, "--notion", "srlip", "--epsilon", "0.5")
    assert code == 0
    assert "independent-attributes left out: " in out


@pytest.mark.parametrize("method", ["oue", "conditional-reporting", "tight-rr"])
def test_protocols_are_designed_on_the_command_line(method: str, call, tmp_path: Path) -> None:
    code, out, _ = call("design", *ADULT, "--epsilon", "0.5", "--method", method, "-o", tmp_path / "m.json")
    assert code == 0
    assert ("reads" in out) == (method == "conditional-reporting")
    assert Mechanism.from_json(tmp_path / "m.json").method == method


def test_quantise_leaves_k_values_in_every_block(call, tmp_path: Path) -> None:
    rows = "".join(f"{(7 * k) % 11},{(5 * k) % 17 if k else '?'}\n" for k in range(60))
    table = tmp_path / "t.csv"
    table.write_text("age,chol\n" + rows)
    base = ["quantise", table, "--sensitive", "age", "--useful", "chol"]
    files = [tmp_path / name for name in ("q.svg", "q.csv", "q.json")]
    outputs = [token for path in files for token in ("-o", path)]
    code, out, err = call(*base, "--k", "4", "--weight", "0.3", "--mechanism", tmp_path / "m.json",
                          "--convergence", tmp_path / "c.svg", *outputs)  # fmt: skip
    assert code == 0
    assert "Chosen: k " in out
    assert all(path.exists() and str(path) in err for path in files)
    mechanism = Mechanism.from_json(tmp_path / "m.json")
    joint = Joint.from_table(table, "age", "chol")
    assert ranges.distinct_sensitive(joint.through(mechanism)) >= 4
    code, out, _ = call(*base, "--utility", "distortion", "--missing", "?=-9", "--k", "4", "--format", "json")
    data = json.loads(out)
    assert code == 0
    assert data["chosen"]["k"] >= 4
    assert any(point["pareto"] for point in data["paths"][0]["points"])
    for more, says in (
        (["--utility", "distortion"], "--missing ?=-9"),
        (["--utility", "distortion", "--missing", "?"], "MARK=NUMBER"),
        (["--k", "99"], "leaves 99"),
        (["--mechanism", tmp_path / "x.json"], "give --k"),
        (["-o", tmp_path / "x.xls"], ".svg"),
        (["-o", files[0]], "--force"),
    ):
        code, out, err = call(*base, *more)
        assert (code, out) == (2, ""), more
        assert says in err


def test_demo_tells_the_whole_story(call, tmp_path: Path) -> None:
    code, out, _ = call("demo", "-o", tmp_path / "out")
    assert code == 0
    assert "Redrawn: nothing failed" in out
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "audit.json",
        "certificate.private.json",
        "mechanism.json",
        "people-report.html",
        "people.key",
        "people.parquet",
        "people.parquet.certificate.json",
        "people.private.json",
        "release.key",
        "released.parquet",
        "released.parquet.certificate.json",
        "released.parquet.codebook.json",
        "report.html",
        "tradeoff.csv",
        "tradeoff.svg",
        "verdict.json",
    }
    assert pq.read_table(tmp_path / "out" / "released.parquet").num_rows == 32_561
    assert "income" not in pq.read_schema(tmp_path / "out" / "people.parquet").names
    joint = Joint.from_table(samples.adult(), "relationship", "occupation")
    mechanism = Mechanism.from_json(tmp_path / "out" / "mechanism.json")
    released = joint.through(mechanism)
    assert math.log(measures.max_lift(released).max()) <= 0.5
    assert math.log(measures.min_lift(released).min()) >= -0.5
    assert call("demo", "-o", tmp_path / "out")[0] == 0  # again, over what the first one left


def test_the_console_script_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "discreet", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip()
    closed = subprocess.run(
        f'"{sys.executable}" -m discreet audit sample:adult --sensitive relationship --useful occupation | head -1',
        shell=True, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "What occupation tells" in closed.stdout
    assert closed.stderr == ""


def test_labels_are_printed_as_they_are(call, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("s,x\na,:warning:\nb,back\\\na,[bold]b[/]\nb,größe 🙂\n")
    _, out, _ = call("audit", tmp_path / "t.csv", "--sensitive", "s", "--useful", "x")
    for label in (":warning:", "back\\ ", "[bold]b[/]", "größe 🙂"):
        assert label in out
    assert call("audit", tmp_path / "t.csv", "--sensitive", "s", "--useful", "x", "--epsilon", "1000")[0] == 1


def test_a_full_disk_is_an_error_of_the_disk() -> None:
    if not Path("/dev/full").exists():
        missing("this system has no /dev/full")
    command = [sys.executable, "-m", "discreet", "audit", *ADULT]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "cannot write the result" in done.stderr
    assert "bug" not in done.stderr


def test_terminals_without_a_letter_get_the_rest(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("s,x\na,größe\nb,b\n")
    command = [sys.executable, "-m", "discreet", "audit", str(tmp_path / "t.csv"), "--sensitive", "s", "--useful", "x"]
    done = subprocess.run(command, env={"PYTHONIOENCODING": "ascii"}, capture_output=True, text=True, check=True)
    assert "gr\\xf6\\xdfe" in done.stdout


@pytest.mark.parametrize(
    "tokens",
    [
        ["design", *ADULT, "--epsilon", "0.5", "-o", "x.json", "--proof", "x.json"],
        ["certify", "sample:adult", "m.json", "-o", "x.json", "--private-certificate", "x.json"],
        ["certify", "sample:adult", "m.json", "-o", "m.json", "--force"],
        ["frontier", *ADULT, "--epsilon", "1", "-o", "x.csv", "-o", "x.csv"],
    ],
)
def test_no_file_takes_the_place_of_another(tokens, call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    joint = Joint.from_table(samples.adult(), "relationship", "occupation")
    design(joint, LIP(0.5), "watchdog").mechanism.to_json("m.json")
    before = Path("m.json").read_bytes()
    assert call(*tokens)[0] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["m.json"]
    assert Path("m.json").read_bytes() == before


def test_a_design_without_a_proof_writes_nothing(call, tmp_path: Path) -> None:
    tokens = ["design", *ADULT, "--epsilon", "0.5", "--method", "watchdog"]
    code, _, error = call(*tokens, "-o", str(tmp_path / "m.json"), "--proof", str(tmp_path / "p.json"))
    assert code == 2
    assert "leave out --proof" in error
    assert list(tmp_path.iterdir()) == []


def test_an_id_is_shuffled_away_unless_it_is_asked_for(call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    table = pa.table({"id": rng.permutation(600), "s": rng.integers(0, 2, 600), "x": rng.integers(0, 3, 600)})
    pq.write_table(table, "in.parquet")
    design(Joint.from_table(table, "s", "x"), LIP(0.5), "watchdog").mechanism.to_json("m.json")
    with_id = ("release", "in.parquet", "m.json", "--id", "id", "-o")
    for k, (options, names) in enumerate(
        (
            ([], ["id", "x"]),
            (["--drop-id"], ["x"]),
            (["--shuffle"], ["x"]),
            (["--shuffle", "--publish-id"], ["id", "x"]),
        )
    ):
        assert call(*with_id, f"{k}.parquet", *options)[0] == 0
        assert pq.read_schema(f"{k}.parquet").names == names
    code, _, error = call(*with_id, "o.parquet", "--drop-id", "--publish-id")
    assert code == 2
    assert "contradict" in error
    pq.write_table(table.sort_by("s"), "sorted.parquet")
    code, _, error = call("release", "sorted.parquet", "m.json", "-o", "o.parquet")
    assert code == 1
    assert "--shuffle" in error


@pytest.mark.parametrize("output", ["", ".", "nowhere/o.parquet"])
def test_an_output_without_a_name_is_refused(
    output: str, call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    joint = Joint.from_table(samples.adult(), "relationship", "occupation")
    design(joint, LIP(0.5), "watchdog").mechanism.to_json("m.json")
    assert call("release", "sample:adult", "m.json", "--shuffle", "-o", output)[0] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["m.json"]


def test_audit_lists_as_many_symbols_as_are_asked_for(call) -> None:
    out = json.loads(call("audit", *ADULT, "--symbols", "4", "--format", "json")[1])
    every = json.loads(call("audit", *ADULT, "--symbols", "all", "--format", "json")[1])
    assert out["per_symbol"] == every["per_symbol"][:4]
    assert (out["per_symbol_left_out"], len(every["per_symbol"])) == (11, 15)
    assert "per_symbol_left_out" not in every
    assert "and 8 more symbols; --symbols all lists them." in call("audit", *ADULT, "--symbols", "4")[1]
    assert call("audit", *ADULT, "--symbols", "0")[0] == 2


def test_a_reproduction_without_its_data_says_so(call, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    target = tmp_path / "brandnew"
    code, out, _ = call("reproduce", "df20-heart-data", "--data", tmp_path / "data", "-o", target)
    assert code == 0
    assert "name the folder that has it with --data" in " ".join(out.split())
    assert (target / "verdicts.csv").exists()


def test_a_reproduction_says_how_far_it_is_where_no_terminal_shows_it(call) -> None:
    code, out, err = call("reproduce", "df20-example2", "df20-example3", "--quick", "--workers", "1")
    assert code == 0
    assert [line.partition(" entries")[0] for line in err.splitlines()] == ["1 of 2", "2 of 2"]
    assert err.splitlines()[1].endswith("s: df20-example3")
    assert "Where we do not agree" not in out  # all agree
    assert call("reproduce", "df20-example2", "--quick", "--workers", "1", "--quiet")[2] == ""


def test_a_reproduction_of_everything_says_first_that_it_is_long(call, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet import papers

    monkeypatch.setattr(papers, "reproduce", lambda *args, **options: [])
    code, _, err = call("reproduce")
    assert code == 0
    assert f"computing all {len(papers.ENTRIES)} entries anew, which takes twenty minutes or more on two cores." in err
    assert "discreet reproduce --list shows the names." in err


def test_names_of_a_reproduction_are_listed(call) -> None:
    code, out, err = call("reproduce", "df20", "--list", "--format", "json")
    listed = json.loads(out)["entries"]
    assert (code, err) == (0, "")
    assert listed["df20-example2"] == "Example 2: Algorithm 1"
    assert all(name.startswith("df20-") for name in listed)
    assert "zds23-fig4 " in call("reproduce", "--list")[1]


AVERAGES = {"l1": [], "chi2": [], "alpha-lift": ["--alpha", "2"]}


@pytest.mark.parametrize("notion", AVERAGES)
def test_promises_about_averages_are_shown_beside_their_bounds(call, tmp_path: Path, notion: str) -> None:
    """Log-lifts of a design that keeps such a promise may be beyond its budgets, so they are not all that is shown."""
    promise = ["--notion", notion, *AVERAGES[notion], "--eps-lower", "0.2", "--eps-upper", "0.2"]
    asked = ["design", *ADULT, *promise, "--method", "subset-merging", "-o", tmp_path / "m.json"]
    figures = json.loads(call(*asked, "--format", "json")[1])
    measured = figures["on_averages"]
    assert max(abs(figures["log_min_lift"]), figures["log_max_lift"]) > 0.2
    assert [average["epsilon"] for average in measured] == [0.2, 0.2]
    assert all(0 < average["level"] <= 0.2 and 0 < average["value"] <= average["limit"] for average in measured)
    assert min(0.2 - average["level"] for average in measured) == pytest.approx(figures["slack"], abs=1e-9)
    assert call(*asked, "--force")[1].count(" of 0.2 nats") == 2
    private = tmp_path / "private.json"
    sink = ["-o", tmp_path / "r.csv", "--private-certificate", private, "--shuffle"]
    released = call("release", "sample:adult", tmp_path / "m.json", *sink, "--format", "json")
    assert json.loads(released[1])["on_averages"] == measured
    shown = " ".join(call("release", "sample:adult", tmp_path / "m.json", *sink, "--force")[1].split())
    assert "Promised and kept:" in shown
    assert shown.count("of 0.2 nats") == 2
    public = tmp_path / "r.csv.certificate.json"
    counted = " ".join(call("verify", public, "--table", "sample:adult")[1].split())
    verified = " ".join(call("verify", private)[1].split())
    assert (verified.count("of 0.2 nats"), counted.count("of 0.2 nats")) == (2, 2)
    for average in measured:
        told = re.findall(r"at (0\.\d+) of 0\.2 nats", verified)
        assert any(float(nats) == pytest.approx(average["level"], abs=2e-6) for nats in told)


def test_promises_on_lifts_show_no_averages(call) -> None:
    assert "on_averages" not in json.loads(call("design", *ADULT, "--epsilon", "0.5", "--format", "json")[1])


def test_all_options_that_a_notion_lacks_are_named_at_once(call) -> None:
    code, _, err = call("design", *ADULT, "--notion", "alpha-lift", "--epsilon", "1")
    assert (code, "the notion alpha-lift needs --alpha and --lam." in err) == (2, True)
    assert "needs --lam." in call("design", *ADULT, "--notion", "alpha-lift", "--epsilon", "1", "--alpha", "2")[2]


def test_a_ledger_is_named_by_its_place(call) -> None:
    code, _, err = call("ledger")
    assert code == 2
    assert "--ledger" not in err


def test_perfect_privacy_prints_no_rounding_errors(call) -> None:
    shown = call("design", *ADULT, "--notion", "perfect")[1]
    assert re.search(r"log max-lift +0 +nats", shown)
    assert re.search(r"log min-lift +0 +nats", shown)
    assert " 0.0 %" not in shown
    assert " 0.00 %" not in shown
