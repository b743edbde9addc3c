"""Ledgers on the command line: what was published, what follows, and what is refused in words that help."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from discreet.cli.app import run

PROMISE = ("--epsilon", "0.5")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Job and school tell about being rich."""
    rng = np.random.default_rng(0)
    job, school = rng.integers(0, 4, 3000), rng.integers(0, 3, 3000)
    rich = rng.random(3000) < 0.15 + 0.12 * job + 0.12 * school
    lines = [f"{k},j{a},c{b},{c}" for k, (a, b, c) in enumerate(zip(job, school, np.where(rich, "yes", "no")))]
    path = tmp_path_factory.mktemp("table") / "people.csv"
    path.write_text("id,job,school,rich\n" + "\n".join(lines) + "\n")
    return str(path)


@pytest.fixture
def place(table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder with a ledger of one release."""
    monkeypatch.chdir(tmp_path)
    assert design(table, "job", "--epsilon", "0.25", "-o", "job.json") == 0
    assert release(table, "job.json", "first.csv", *PROMISE) == 0
    assert "Ledger: a.jsonl (new)" in capsys.readouterr().out
    return tmp_path


def design(table: str, useful: str, *options: str) -> int:
    return run(["design", table, "--sensitive", "rich", "--useful", useful, "--time-limit", "5", *options])


def release(table: str, mechanism: str, output: str, *options: str) -> int:
    ledger = () if "--ledger" in options else ("--ledger", "a.jsonl")
    return run(["release", table, mechanism, "-o", output, "--id", "id", *ledger, *options])


def test_a_second_release_is_counted_and_its_place_is_said(
    place: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert design(table, "school", *PROMISE, "--ledger", "a.jsonl", "-o", "school.json", "--proof", "proof") == 0
    capsys.readouterr()
    options = ("--proof", "proof", "--private-certificate", "private.json", "--format", "json")
    assert release(table, "school.json", "second.csv", *options) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ledger"] == {"path": "a.jsonl", "number": 2, "is_new": False}
    assert found["bound"] is not None
    assert run(["ledger", "a.jsonl", "--table", table, "--certificate", "private.json"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Together the releases keep LIP(0.5)" in shown
    assert "The certificate states release 2, and what was published before it, as the ledger has them." in shown
    lines = Path("a.jsonl").read_text().splitlines()
    forged = json.loads(lines[1]) | {"mechanism": json.loads(lines[0])["mechanism"]}
    Path("a.jsonl").write_text(lines[0] + "\n" + json.dumps(forged) + "\n")
    assert run(["ledger", "a.jsonl", "--table", table, "--certificate", "private.json"]) == 1
    assert "differ about release 2: mechanism" in " ".join(capsys.readouterr().out.split())


def test_what_is_to_spare_is_no_budget_of_the_next(place: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", "a.jsonl", "--table", table]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "nats to spare. The next is not free to use that alone: design it with --ledger." in shown
    assert run(["ledger", "a.jsonl", "--table", table, "--epsilon", "0.1"]) == 1
    assert "Together the releases break LIP(0.1) by" in capsys.readouterr().out


def test_an_empty_ledger_is_an_error(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty"
    path.touch(0o600)
    for options in ([], ["--table", table]):
        assert run(["ledger", str(path), *options]) == 2
        assert "is empty, which none ever is" in " ".join(capsys.readouterr().err.split())


def test_a_looser_promise_is_asked_for_and_the_strictest_is_judged(
    place: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert design(table, "school", "--epsilon", "0.5", "-o", "school.json") == 0
    assert release(table, "school.json", "second.csv", "--epsilon", "9") == 1
    assert "which does not imply LIP(0.5) of release 1" in " ".join(capsys.readouterr().err.split())
    assert release(table, "school.json", "second.csv", "--epsilon", "9", "--looser") == 0
    assert "no longer LIP(0.5) of release 1" in " ".join(capsys.readouterr().err.split())
    assert run(["ledger", "a.jsonl", "--table", table]) == 1
    assert "Together the releases break LIP(0.5) by" in " ".join(capsys.readouterr().out.split())
    assert run(["ledger", "a.jsonl", "--table", table, "--format", "json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert shown["kept"] is False
    assert [one["promise"] for one in shown["promises"]] == ["LIP(0.5)"]


def test_a_ledger_that_is_begun_is_said_loudly(place: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert release(table, "job.json", "typo.csv", "--ledger", "typo.jsonl", *PROMISE) == 0
    told = capsys.readouterr()
    assert "'typo.jsonl' begins a new ledger: nothing that was published before is known to it" in told.err
    assert "Ledger: typo.jsonl (new)" in told.out


def test_whole_tables_are_entered_in_the_same_words(
    place: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["publish", table, "--sensitive", "rich", "--drop", "id", "--epsilon", "2", "--confidence", "none"]
    for name, told in (("one", "Ledger: p.jsonl (new)"), ("two", "Ledger: p.jsonl, release 2")):
        assert run([*asked, "--seed", "1", "--ledger", "p.jsonl", "-o", f"{name}.csv"]) == 0
        shown = capsys.readouterr()
        assert told in shown.out
        assert ("'p.jsonl' begins a new ledger" in shown.err) == (name == "one")


def test_repetitions_and_ids_are_shown(place: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--ledger", "b.jsonl", *PROMISE, "--as-labels")
    assert release(table, "job.json", "june.csv", *options, "--write-key", "key") == 0
    private = ("--private-certificate", "private.json")
    assert release(table, "job.json", "july.csv", *options, "--key-file", "key", *private) == 0
    capsys.readouterr()
    assert run(["ledger", "b.jsonl", "--table", table, "--format", "json", "--certificate", "private.json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [(one["id"], one["repeats"]) for one in shown["releases"]] == [("id", None), ("id", 1)]
    assert shown["kept"] is True
    assert shown["certificate_of"] == 2
    assert run(["ledger", "b.jsonl"]) == 0
    assert "repeats release 1" in " ".join(capsys.readouterr().out.split())
    lines = Path(table).read_text().splitlines()
    Path("other.csv").write_text("\n".join(lines[:-1]) + "\n")
    assert run(["ledger", "b.jsonl", "--table", "other.csv", "--certificate", "private.json"]) == 1
    assert "is of release 2, which was of another table" in " ".join(capsys.readouterr().out.split())


def test_confidence_is_kept_alone_and_on_counts_with_what_came_before(
    place: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = (*PROMISE, "--confidence", "90", "-o", "m.json")
    for before in (("--ledger", "a.jsonl"), ("--after", "job.json")):
        assert design(table, "school", *asked, *before, "--force") == 0
        assert "together with 1 before" in capsys.readouterr().out
    os.unlink("m.json")
    assert design(table, "school", *asked, "--ledger", "a.jsonl", "--certificate", "c.json") == 2
    assert "without confidence" in capsys.readouterr().err
    assert not {"m.json", "c.json"} & set(os.listdir())
    assert run(["ledger", "a.jsonl", "--table", table, *PROMISE, "--confidence", "90"]) == 2
    assert "leave out --confidence" in capsys.readouterr().err


REFUSED = [
    (("--ledger", "none.jsonl"), "there is no ledger 'none.jsonl'"),
    (("--ledger", "job.json"), "'job.json' is not a ledger"),
    (("--ledger", "a.jsonl", "--holdout", "0.5"), "leave holdout out"),
    (("--after", "job.json", "--holdout", "0.5"), "leave holdout out"),
    (("--ledger", "a.jsonl", "--for-later"), "not for all releases together"),
]


@pytest.mark.parametrize(("options", "why"), REFUSED)
def test_designs_that_cannot_follow_are_refused(
    place: Path, table: str, options: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert design(table, "school", *PROMISE, *options, "-o", "m.json") == 2
    assert why in capsys.readouterr().err
    assert not Path("m.json").exists()


def test_a_ledger_about_another_secret_is_refused(place: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["design", table, "--sensitive", "school", "--useful", "job", *PROMISE, "--ledger", "a.jsonl"]
    assert run(asked) == 2
    assert "the ledger is about rich, the design about school" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "why"),
    [(".", "'.' names no file"), ("no/l.jsonl", "there is no directory 'no'"), ("out.csv", "are one file, 'out.csv'")],
)
def test_where_a_ledger_cannot_be_written(
    place: Path, table: str, path: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(os.listdir())
    assert release(table, "job.json", "out.csv", "--ledger", path, *PROMISE) == 2
    assert why in capsys.readouterr().err
    assert sorted(os.listdir()) == before


def test_a_column_that_is_released_as_it_is_needs_no_proof(
    place: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert design(table, "job", "--notion", "max-lift", "--epsilon", "5", "-o", "m.json", "--proof", "proof") == 0
    assert "no proof is written to proof" in capsys.readouterr().err
    assert Path("m.json").exists()
    assert not Path("proof").exists()
    assert design(table, "job", *PROMISE, "--method", "watchdog", "--proof", "proof") == 2


def test_people_who_were_numbered_anew_are_not_drawn_under_the_same_key(
    place: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert design(table, "job", "--epsilon", "0.2", "-o", "again.json") == 0
    options = ("--ledger", "b.jsonl", "--epsilon", "0.22", "--as-labels")
    assert release(table, "again.json", "june.csv", *options, "--write-key", "key") == 0
    assert release(table, "again.json", "july.csv", *options, "--key-file", "key") == 0
    head, *lines = Path(table).read_text().splitlines()
    rows = [line.split(",", 1)[1] for line in lines]
    order = np.random.default_rng(1).permutation(len(rows)).tolist()
    Path("sorted.csv").write_text("\n".join([head, *(f"{k},{rows[j]}" for k, j in enumerate(order))]) + "\n")
    capsys.readouterr()
    assert release("sorted.csv", "again.json", "august.csv", *options, "--key-file", "key") == 1
    shown = " ".join(capsys.readouterr().err.split())
    assert "this release has mechanism and key of release 2 in the ledger, and is not the same draw" in shown
    assert "ids may have been given anew" in shown
    assert "a new key (--write-key FILE in the place of --key-file)" in shown


def test_what_reads_the_secret_may_come_first(place: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = ["design", table, "--sensitive", "rich", "--useful", "job", "--epsilon", "0.2"]
    assert run([*made, "--method", "conditional-reporting", "-o", "cr.json"]) == 0
    assert design(table, "school", *PROMISE, "--after", "cr.json", "-o", "m.json") == 0
    assert release(table, "cr.json", "cr.csv", "--ledger", "c.jsonl", *PROMISE) == 0
    assert design(table, "school", *PROMISE, "--ledger", "c.jsonl", "-o", "m.json", "--force") == 0
    assert release(table, "m.json", "m.csv", "--ledger", "c.jsonl") == 0
    capsys.readouterr()
    published = ("--ledger", "d.jsonl", *PROMISE, "--keep", "rich", "--publish-sensitive")
    assert release(table, "job.json", "x.csv", *published) == 2
    assert "nothing can be promised about it for all releases" in " ".join(capsys.readouterr().err.split())
    assert not {"x.csv", "d.jsonl"} & set(os.listdir())
