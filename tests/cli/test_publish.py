"""``discreet publish``: all files or none, each with its mode, text and JSON, and exit codes."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.cli.app import run
from discreet.cli.publish import TablePromise
from discreet.drawing.keys import ReleaseKey
from discreet.publishing.attack.verdict import Judgement

PROMISE = ["--sensitive", "ill", "--epsilon", "1", "--confidence", "90"]
FILES = ["-o", "out.csv", "--report", "r.html", "--private-certificate", "p.json", "--write-key", "k"]
WRITTEN = {"out.csv": 0o644, "out.csv.certificate.json": 0o644, "r.html": 0o600, "p.json": 0o600, "k": 0o600}

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def fresh_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fresh keys are the same in every run, and so is what an attack finds."""
    monkeypatch.setattr(ReleaseKey, "fresh", classmethod(lambda cls: cls(bytes(range(32)))))


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small table in which age and job tell about being ill, and one without rows."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    n = 2000
    table = pd.DataFrame({"age": rng.integers(20, 70, n), "job": rng.choice(["clerk", "nurse", "<i>pilot"], n)})
    ill = rng.random(n) < 0.1 + 0.5 * (table["age"] > 50) + 0.3 * (table["job"] == "<i>pilot")
    table.assign(ill=np.where(ill, "yes", "no")).to_csv("t.csv", index=False)
    table.assign(ill="no").head(0).to_csv("empty.csv", index=False)
    return tmp_path


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def invoke(*tokens: str) -> tuple[int, str, str]:
        code = run([str(token) for token in tokens])
        return code, *capsys.readouterr()

    return invoke


def files(place: Path) -> dict[str, int]:
    """What is there beside the tables that were given, hidden files too, with its mode."""
    given = ("t.csv", "empty.csv")
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in place.iterdir() if path.name not in given}


def test_all_files_are_written_and_verified(place: Path, call: Call) -> None:
    code, out, err = call("publish", "t.csv", *PROMISE, *FILES)
    assert (code, files(place)) == (0, WRITTEN), err
    said = " ".join(out.split())
    for text in (
        "2,000 rows of 2 columns published without ill:",
        "LIP: no sensitive value may become more than 2.719 times as likely",
        "all models",
        "original's",
        "The attack does not break LIP(1, confidence=0.9)",
        "Not protected: who is in the table.",
        "Table: out.csv Certificate: out.csv.certificate.json Private certificate: p.json Key: k",
        "Report for the owner: r.html",
    ):
        assert text in said, text
    published = pd.read_csv("out.csv")
    assert (len(published), list(published.columns)) == (2000, ["age", "job"])
    page = (place / "r.html").read_text(encoding="utf-8")
    assert "2,000 rows of 2 columns are published without" in page
    assert "<i>" not in page
    command = "discreet verify p.json --table t.csv --released out.csv --key-file k --require redrawn"
    assert command in page
    code, out, err = call(*command.split()[1:])
    assert code == 0, out + err


def test_json_has_what_the_page_shows(place: Path, call: Call) -> None:
    code, out, err = call("publish", "t.csv", *PROMISE, *FILES, "--format", "json")
    data = json.loads(out)
    assert (code, data["rows"], data["attack"]["verdict"]) == (0, 2000, "not broken"), err
    names = {name: data[name] for name in ("output", "certificate", "report", "private", "key")}
    assert list(names.values()) == ["out.csv", "out.csv.certificate.json", "r.html", "p.json", "k"]
    assert len(data["calibration"]["records"]) == data["classes"]
    code, out, _ = call("publish", "t.csv", *PROMISE, "-o", "other.csv", "--format", "json", "--seed", "1")
    assert code == 0
    assert not {"report", "private", "key"} & set(json.loads(out))


def test_an_attack_that_cannot_decide_is_said_first(place: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    reason = "boosting, among 31 untouched records: yes has a log-lift of 1.90 nats, -0.30 to 2.20 (promised -1 to 1)."
    monkeypatch.setattr("discreet.publishing.attack.measuring.judged", lambda *_: Judgement("undecided", (reason,)))
    code, out, err = call("publish", "t.csv", *PROMISE, *FILES)
    assert (code, files(place)) == (0, WRITTEN), err
    said, page = " ".join(out.split()), (place / "r.html").read_text(encoding="utf-8")
    assert said.startswith("UNDECIDED: the attack could not decide whether LIP(1, confidence=0.9) is kept, with ")
    for text in (reason.rstrip("."), "More rows, a larger budget (epsilon, --epsilon) or a stronger model"):
        assert text in said
        assert text in err
        assert text in page
    assert "warning: the attack could not decide" in err
    data = json.loads(call("publish", "t.csv", *PROMISE, "-o", "j.csv", "--seed", "1", "--format", "json")[1])
    assert data["attack"]["verdict"] == "undecided"


def test_an_attack_that_cannot_decide_is_refused_where_that_is_required(
    place: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = ["--write-plan", "plan"]
    assert call("publish", "t.csv", *PROMISE, *FILES, *plan, "--require", "not-broken")[0] == 0
    kept = files(place)
    assert kept == {**WRITTEN, "plan": 0o600}
    monkeypatch.setattr("discreet.publishing.attack.measuring.judged", lambda *_: Judgement("undecided", ("Why.",)))
    code, out, err = call("publish", "t.csv", *PROMISE, "-o", "other.csv", "--require", "not-broken")
    assert (code, out, files(place)) == (1, "", kept)
    assert "could not decide whether LIP(1, confidence=0.9) is kept: Why. Nothing is published" in err
    later = ["--plan", "plan", "--key-file", "k", "-o", "later.csv"]
    assert (call("publish", "t.csv", *later, "--require", "not-broken")[0], files(place)) == (1, kept)
    assert call("publish", "t.csv", *PROMISE, "-o", "other.csv", "--require", "certain")[0] == 2
    code, out, err = call("publish", "t.csv", *later, "--quiet")
    assert (code, err) == (0, "")
    assert "Key (read): k\nPlan for later tables (read): plan\n" in out


def test_several_columns_after_one_option_are_explained(place: Path, call: Call) -> None:
    code, _, err = call("publish", "t.csv", "--sensitive", "ill", "job", "-o", "out.csv")
    assert (code, files(place)) == (2, {})
    assert "one table is published, and 't.csv', 'job' are named" in err
    assert "--sensitive A --sensitive B" in err


def test_notes_are_in_text_json_and_report(place: Path, call: Call) -> None:
    table = pd.read_csv("t.csv")
    table["ill"] = [f"v{k % 150}" if k % 3 else "no" for k in range(len(table))]
    table.to_csv("t.csv", index=False)
    code, out, err = call("publish", "t.csv", *PROMISE, *FILES)
    assert code == 0, err
    note = " of 101 sensitive values, "
    page = " ".join((place / "r.html").read_text(encoding="utf-8").split())
    for text in (note, "of records, are promised about together only"):
        assert text in " ".join(out.split())
        assert text in page
        assert text not in err
    code, out, err = call("publish", "t.csv", *PROMISE, "-o", "j.csv", "--seed", "1", "--format", "json")
    assert note in " ".join(json.loads(out)["notes"])
    assert note in err


@pytest.mark.parametrize("name", ["out.csv", "r.html", "p.json", "k"])
def test_existing_files_are_not_replaced(place: Path, call: Call, name: str) -> None:
    (place / name).write_text("mine")
    code, _, err = call("publish", "t.csv", *PROMISE, *FILES)
    assert (code, set(files(place))) == (2, {name})
    assert (place / name).read_text() == "mine"
    assert name in err


def test_force_replaces_all_but_a_key(place: Path, call: Call) -> None:
    for name in ("out.csv", "r.html", "p.json"):
        (place / name).write_text("mine")
    assert call("publish", "t.csv", *PROMISE, *FILES, "--force")[0] == 0
    assert files(place) == WRITTEN
    key = (place / "k").read_text()
    assert call("publish", "t.csv", *PROMISE, *FILES, "--force")[0] == 2
    assert (place / "k").read_text() == key


def test_nothing_is_left_behind_where_it_fails(place: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(summary: object) -> str:
        raise RuntimeError("no page")

    monkeypatch.setattr("discreet.reporting.published.published_html", fails)
    code, out, err = call("publish", "t.csv", *PROMISE, *FILES)
    assert (code, out, files(place)) == (70, "", {}), err


def test_a_report_never_takes_the_place_of_what_is_read_or_written(place: Path, call: Call) -> None:
    assert call("publish", "t.csv", *PROMISE, "-o", "first.csv", "--write-key", "k")[0] == 0
    there, key = files(place), (place / "k").read_text()
    for report in ("k", "out.csv", "out.csv.certificate.json", "out.csv.certificate.json.sig", "t.csv"):
        tokens = ["-o", "out.csv", "--key-file", "k", "--report", report, "--force"]
        assert call("publish", "t.csv", *PROMISE, *tokens)[0] == 2, report
    assert (files(place), (place / "k").read_text()) == (there, key)


def test_tables_and_columns_that_are_not_there(place: Path, call: Call) -> None:
    code, _, err = call("publish", "empty.csv", *PROMISE, *FILES)
    assert (code, files(place)) == (3, {}), err
    code, _, err = call("publish", "t.csv", "--sensitive", "wealth", "--epsilon", "1", *FILES)
    assert (code, files(place)) == (2, {})
    assert "wealth" in err
    code, _, err = call("publish", "t.csv", *PROMISE, "--useful", "size", *FILES)
    assert (code, files(place)) == (2, {})
    assert "size" in err


def test_useful_all_names_a_column_only_where_there_is_one(place: Path, call: Call) -> None:
    assert call("publish", "t.csv", *PROMISE, "--useful", "all", "-o", "every.csv", "--seed", "1")[0] == 0
    assert list(pd.read_csv("every.csv").columns) == ["age", "job"]
    pd.read_csv("t.csv").rename(columns={"age": "all"}).to_csv("t.csv", index=False)
    assert call("publish", "t.csv", *PROMISE, "--useful", "all", "-o", "one.csv", "--seed", "1")[0] == 0
    assert list(pd.read_csv("one.csv").columns) == ["all"]


def test_a_later_table_is_published_by_the_plan_of_the_first(place: Path, call: Call) -> None:
    assert call("publish", "t.csv", *PROMISE, *FILES, "--write-plan", "june.plan", "--margin", "0.2")[0] == 0
    assert stat.S_IMODE(os.stat("june.plan").st_mode) == 0o600
    later = ["publish", "t.csv", "--plan", "june.plan", "-o", "july.csv"]
    for more, said in (
        ([], "needs the key"),
        (["--key-file", "k", "--sensitive", "ill", "--epsilon", "1"], "leave out --sensitive, --epsilon, or publish"),
        (["--key-file", "k", "--write-plan", "again.plan"], "leave out --write-plan, or publish"),
        (["--key-file", "k", "--time-limit", "9", "--margin", "0"], "leave out --margin, --time-limit, or publish"),
    ):
        code, _, error = call(*later, *more)
        assert (code, said in error) == (2, True)
    code, _, error = call("publish", "t.csv", "-o", "july.csv")
    assert (code, "--sensitive names the column" in error) == (2, True)
    assert call(*later, "--key-file", "k", "--private-certificate", "july.json")[0] == 0
    code, out, _ = call("verify", "july.json", "--table", "t.csv", "--released", "july.csv", "--key-file", "k")
    assert code == 0
    assert "redrawn" in out.lower()


@pytest.mark.parametrize(
    ("options", "promise"),
    [
        ({}, dc.LIP(0.5, confidence=0.95)),
        ({"confidence": 0}, dc.LIP(0.5)),
        ({"epsilon": 0.3, "confidence": 0}, dc.LIP(0.3)),
        ({"notion": "max-lift"}, dc.MaxLift(0.5, confidence=0.95)),
        ({"notion": "max-lift", "eps_upper": 0.3, "confidence": 90}, dc.MaxLift(0.3, confidence=0.9)),
        ({"lam": 0.5, "epsilon": 1}, dc.ALIP(eps_lower=0.5, eps_upper=0.5, confidence=0.95)),
    ],
    ids=str,
)
def test_a_promise_that_is_not_named_is_the_usual_one(options: dict[str, Any], promise: dc.Notion) -> None:
    assert TablePromise(**options).build() == promise


def test_no_confidence_is_asked_for_by_0(place: Path, call: Call) -> None:
    more = ["--sensitive", "ill", "--epsilon", "1", "--confidence", "0", "-o", "out.csv", "--seed", "1"]
    code, out, err = call("publish", "t.csv", *more)
    assert code == 0, err
    assert "for the population" not in out
    assert "Coverage is none: the promise is about the counted table." in " ".join(out.split())


def test_wrong_usage_is_exit_code_2(place: Path, call: Call) -> None:
    for extra, said in (
        (["--seed", "1"], "--write-key stores a fresh key"),
        (["--weight", "age"], "--weight must read COLUMN=NUMBER"),
        (["--weight", "size=2"], "size"),
        (["--same", "jobs"], "Did you mean 'job'?"),
        (["--bins", "age=30"], "'age' is none of them"),
        (["--report", "out.csv"], "name of its own"),
        (["--notion", "l1"], "whole tables are published under lip, alip or max-lift, got --notion l1"),
        (["--report", "t.csv", "--force"], "t.csv"),
    ):
        tokens = [*PROMISE, *FILES, *extra] if "--report" not in extra else [*PROMISE, *FILES[:2], *extra]
        code, _, err = call("publish", "t.csv", *tokens)
        assert (code, files(place)) == (2, {}), extra
        assert said in err, err
