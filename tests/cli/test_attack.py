"""``discreet attack``: verdicts as exit codes, text and JSON, files left behind."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from discreet.cli.app import run


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table, what it would be to publish it as it is, and a release that keeps nothing beside the ids."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    job = random.choice(["clerk", "nurse", "pilot"], 1500)
    table = pd.DataFrame({"id": range(1500), "job": job, "age": random.integers(20, 70, 1500)})
    table["ill"] = np.where(random.random(1500) < np.where(job == "pilot", 0.8, 0.1), "yes\x1b[2J", "no")
    table.to_csv("o.csv", index=False)
    table.drop(columns="ill").to_csv("r.csv", index=False)
    table.assign(job=random.permutation(job))[["id", "job"]].to_csv("safe.csv", index=False)
    return tmp_path


def test_a_broken_promise_is_exit_code_1(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokens = ["attack", "o.csv", "r.csv", "--sensitive", "ill", "--id", "id", "--epsilon", "0.5"]
    assert run([*tokens, "--models", "bayes", "--models", "counting", "--plot", "p.svg"]) == 1
    out, err = capsys.readouterr()
    assert "Verdict: LIP(0.5) is broken" in out
    for said in ("What a reader can learn about ill (1,500 rows", "original's counting", "nats", "AUC", "best of all"):
        assert said in out
    assert "\x1b[2J" not in out
    assert "plot written to p.svg" in err
    assert (place / "p.svg").read_text().startswith("<?xml")
    assert run([*tokens, "--plot", "p.svg"]) == 2  # it is there
    assert run([*tokens, "--plot", "r.csv", "--force"]) == 2


def test_what_is_not_broken_and_what_is_not_judged_is_exit_code_0(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    safe = ["attack", "o.csv", "safe.csv", "--sensitive", "ill", "--id", "id", "--models", "bayes"]
    assert run([*safe, "--notion", "alip", "--eps-lower", "0.5", "--eps-upper", "0.5"]) == 0
    assert "is not broken by what was tried. That is no proof" in " ".join(capsys.readouterr().out.split())
    assert run(["attack", "o.csv", "r.csv", "--sensitive", "ill", "--useful", "job", "--models", "bayes"]) == 0
    assert "Verdict: none, no promise was named." in capsys.readouterr().out
    assert run([*safe, "--epsilon", "0.5", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["verdict"], data["sensitive"], data["confidence"]) == ("not broken", ["ill"], 0.95)


def test_a_cell_is_one_line_under_a_heading_without_blanks_behind(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pd.read_csv("o.csv")
    table.assign(ill=table["age"] // 13).to_csv("o3.csv", index=False)
    for width, original, measure in (("110", "o.csv", "AUC"), ("80", "o.csv", "AUC"), ("80", "o3.csv", "accuracy")):
        monkeypatch.setattr("discreet.reporting.text.console.PLAIN_WIDTH", int(width))
        run(["attack", original, "r.csv", "--sensitive", "ill", "--id", "id", "--epsilon", "0.1"])
        lines = capsys.readouterr().out.splitlines()
        assert all(line == line.rstrip() and len(line) <= int(width) for line in lines)
        (heading,) = [line.split() for line in lines if line.startswith("model")]
        assert heading == ["model", "table", "log-lifts", "surely", measure, "off"]
        models = [line for line in lines if re.search(r" (original|release) ", line) and "[" in line]
        assert len(models) == 17
        number = r"(-?inf|-?\d+\.\d\d)"
        for line in models:
            assert re.search(rf"{number} to {number} +\[{number}, {number}\] +\d\.\d{{3}}", line)


def test_ranges_go_from_low_to_high(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where nothing is sure: then the smallest log-lift may be as high as 0, and the largest as low."""
    run(["attack", "o.csv", "safe.csv", "--sensitive", "ill", "--id", "id", "--epsilon", "0.1"])
    out = capsys.readouterr().out
    ranges = re.findall(r"(-?[\d.]+|-inf)(?: to |, )(-?[\d.]+|inf)", out)
    assert len(ranges) > 20
    assert all(float(low) <= float(high) for low, high in ranges)


def test_wrong_usage_is_exit_code_2(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for extra, said in (
        (["--models", "magic"], "magic"),
        (["--sure", "100"], "--sure takes percent"),
        (["--seed", "-1"], "--seed"),
        (["--plot", "p.txt"], "Use .svg"),
    ):
        assert run(["attack", "o.csv", "r.csv", "--sensitive", "ill", *extra]) == 2
        assert said in capsys.readouterr().err
    assert run(["attack", "o.csv", "safe.csv", "--sensitive", "ill", "--models", "bayes", "--useful", "job"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "Publish in order (shuffle=False, --keep-order), or link rows by an id (id=, --id)." in said


def test_presence_is_shown_where_it_could_be_tried(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(1)
    table = pd.read_csv("o.csv")
    table["size"] = random.permutation(1500)
    table.to_csv("o2.csv", index=False)
    stays = np.where(table["ill"] == "no", 0.1, 0.9)
    rows = np.where(random.random(1500) < stays, np.arange(1500), random.integers(0, 1500, 1500))
    table[["job", "age", "size"]].iloc[rows].to_csv("r2.csv", index=False)
    assert run(["attack", "o2.csv", "r2.csv", "--sensitive", "ill", "--models", "bayes"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Presence: how often tuples appear that occur once in the original" in out
    assert "the number of its appearances tells about the secret" in out


def test_persons_are_named_by_an_option(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tokens = ["attack", "o.csv", "safe.csv", "--sensitive", "ill", "--id", "id", "--models", "bayes", "--person"]
    assert run([*tokens, "id", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 1500
    assert run([*tokens, "who"]) == 2
    assert "who" in capsys.readouterr().err
