"""``--utility`` and ``--invariant``: what is kept is named, measured and refused where it cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from discreet.cli.app import run
from discreet.cli.options import UtilityName
from discreet.utilities import UTILITIES

COLUMNS = ["--sensitive", "s", "--useful", "x", "--epsilon", "0.3"]


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "table.csv"
    path.write_text("s,x,t\n" + "".join(f"{k % 2},{(k * k + k % 2) % 5},v{k % 3}\n" for k in range(600)))
    return str(path)


def answer(capsys: pytest.CaptureFixture[str], *tokens: str) -> dict[str, object]:
    assert run([*tokens, "--format", "json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_every_utility_is_offered() -> None:
    assert get_args(UtilityName) == tuple(UTILITIES)


def test_a_design_says_what_it_keeps_by_name_and_unit(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    plain = answer(capsys, "design", table, *COLUMNS)
    assert (plain["utility"], plain["kept"]) == ("information", plain["nmi"])
    kept = answer(capsys, "design", table, *COLUMNS, "--utility", "accuracy")
    assert (kept["utility"], kept["status"], kept["evidence"]) == ("accuracy", "optimal", "checkable")
    assert kept["measured"]["unit"] == "share of records"  # type: ignore[index]
    told = answer(capsys, "design", table, *COLUMNS, "--utility", "accuracy", "--invariant")
    assert told["utility"] == "invariant accuracy"
    assert told["measured"]["value"] <= kept["measured"]["value"] + 1e-9  # type: ignore[index]
    assert run(["design", table, *COLUMNS, "--utility", "distance"]) == 0
    shown = capsys.readouterr().out
    for words in ("mean distance of the best guess", "kept of X, distance", "I(X;Y)/H(X)", "distance (optimal)"):
        assert words in shown


def test_comparisons_and_frontiers_take_them_too(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "compare", table, *COLUMNS, "--utility", "distance", "--invariant")
    assert {made["utility"] for made in found["designs"]} == {"invariant distance"}  # type: ignore[attr-defined]
    assert run(["compare", table, *COLUMNS, "--utility", "accuracy"]) == 0
    shown = capsys.readouterr().out
    assert "accuracy" in shown
    assert "NMI" in shown
    swept = ["frontier", table, "--sensitive", "s", "--useful", "x", "--epsilon", "0.2:0.8:3", "--utility", "accuracy"]
    assert run(swept) == 0
    assert "(accuracy, 0 to 1)" in capsys.readouterr().out
    kept, plain = answer(capsys, *swept), answer(capsys, *swept[:-2])
    assert [row["kept"] for row in kept["rows"]] != [row["kept"] for row in plain["rows"]]  # type: ignore[attr-defined]


def test_what_does_not_go_together_is_refused(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("design", "compare", "frontier"):
        assert run([command, table, *COLUMNS, "--invariant"]) == 2
        assert "--utility accuracy or distance" in capsys.readouterr().err
        texts = [command, table, "--sensitive", "s", "--useful", "t", "--epsilon", "0.3", "--utility", "distance"]
        assert run(texts) == 2
        assert "needs values that are numbers" in capsys.readouterr().err


def test_a_proof_that_no_checker_follows_is_not_written(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proof = tmp_path / "proof.json"
    assert run(["design", table, *COLUMNS, "--utility", "accuracy", "--proof", str(proof)]) == 2
    assert "leave out --proof" in capsys.readouterr().err
    assert not proof.exists()
    private = tmp_path / "private.json"
    assert run(["design", table, *COLUMNS, "--utility", "accuracy", "--private-design", str(private)]) == 0
    assert json.loads(private.read_text())["proof"] is None
