"""Designs for other tables on the command line."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import numpy as np
import pytest

from discreet.cli.app import run


@pytest.fixture(scope="module")
def months(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three samples of one population, the last one with a value that the others lack."""
    folder = tmp_path_factory.mktemp("months")
    joint = np.random.default_rng(0).dirichlet(np.full(12, 3.0))
    paths = []
    for number in range(3):
        cells = np.random.default_rng(number + 1).choice(12, 6000, p=joint)
        lines = [f"{k},s{cell // 4},x{cell % 4}" for k, cell in enumerate(cells.tolist())]
        lines += ["6000,s0,x9", "6001,s1,x9", "6002,s2,x9"] * (number == 2)
        path = folder / f"month{number}.csv"
        path.write_text("id,s,x\n" + "\n".join(lines) + "\n")
        paths.append(path)
    return paths


def design(months: list[Path], *options: object) -> int:
    base = ["design", str(months[0]), "--sensitive", "s", "--useful", "x", "--epsilon", "0.3", "--time-limit", "5"]
    return run([*base, *map(str, options)])


def figures(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return json.loads(capsys.readouterr().out)


def test_for_later(months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "m.json"
    assert design(months, "--for-later", "--chance", 99, "-o", target, "--format", "json") == 0
    room = figures(capsys)["room"]
    assert room["for_later"] == 0.99
    assert room["share_of_next_tables"] >= 0.99
    assert run(["release", str(months[1]), str(target), "-o", str(tmp_path / "r.csv"), "--id", "id"]) == 0
    capsys.readouterr()
    assert design(months, "--for-later") == 0
    assert "next tables that keep it" in capsys.readouterr().out


def test_the_optimum_of_one_month_fails_on_another(
    months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "m.json"
    assert design(months, "-o", target) == 0
    capsys.readouterr()
    assert run(["release", str(months[1]), str(target), "-o", str(tmp_path / "r.csv"), "--id", "id"]) == 1
    message = capsys.readouterr().err
    assert "released values (" in message
    assert "within sampling error of a population that keeps it (95 % confidence)" in message
    assert "--for-later" in message
    assert not (tmp_path / "r.csv").exists()


def test_also_other_months(months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "m.json"
    assert design(months, "--also", months[1], months[2], "-o", target) == 0
    for number, month in enumerate(months):
        assert run(["release", str(month), str(target), "-o", str(tmp_path / f"{number}.csv"), "--id", "id"]) == 0
    capsys.readouterr()
    assert design(months, "--also", months[1], "-o", months[1], "--force") == 2  # never over a table that is read


def test_margin_and_holdout(months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert design(months, "--margin", 0.1, "--format", "json") == 0
    assert figures(capsys)["log_max_lift"] <= 0.2 + 1e-9
    assert design(months, "--margin", 0.5) == 2
    capsys.readouterr()
    certificate = tmp_path / "c.json"
    assert design(months, "--holdout", 0.5, "--for-later", "--certificate", certificate, "--format", "json") == 0
    assert figures(capsys)["designed_on_records"] == 3000
    assert stat.S_IMODE(certificate.stat().st_mode) == 0o600
    assert json.loads(certificate.read_text())["designed_on"]["records"] == 3000
    assert run(["verify", str(certificate)]) == 0


def test_confidence(months: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target, private = tmp_path / "m.json", tmp_path / "p.json"
    sure = 99.24999999999999  # as of a second try at 95 %: 1 - 0.05 * 0.15 in floats
    assert design(months, "--confidence", sure, "-o", target, "--format", "json") == 0
    assert figures(capsys)["notion"] == {"name": "lip", "epsilon": 0.3, "confidence": sure / 100}
    released = tmp_path / "r.csv"
    options = ["-o", str(released), "--id", "id", "--private-certificate", str(private)]
    assert run(["release", str(months[0]), str(target), *options]) == 0
    public = json.loads((tmp_path / "r.csv.certificate.json").read_text())
    assert "counts" not in public
    assert "limits" not in json.dumps(public)
    assert "limits" in json.loads(private.read_text())["counts"]
    assert run(["verify", str(private), "--table", str(months[0]), "--released", str(released)]) == 0
    assert repr(sure / 100) != "0.9925"
    assert "hold for 12 cells at once with confidence 0.9925\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--confidence", 0.95], "percent from 1"),
        (["--confidence", 100], "percent from 1"),
        (["--chance", 90], "give --for-later"),
        (["--notion", "ldp", "--confidence", 95], "eps-lower"),
        (["--confidence", 95, "--holdout", 0.5], "leave holdout out"),
        (["--confidence", 95, "--for-later"], "leave out other tables"),
        (["--holdout", 1], "between 0 and 1"),
        (["--margin", -1], "at least 0"),
        (["--method", "grr", "--for-later"], "does not design for later"),
    ],
)
def test_what_does_not_go_together(
    options: list[object], sentence: str, months: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert design_without_limit(months, *options) == 2
    assert sentence in capsys.readouterr().err


def design_without_limit(months: list[Path], *options: object) -> int:
    base = ["design", str(months[0]), "--sensitive", "s", "--useful", "x", "--epsilon", "0.3"]
    return run([*base, *map(str, options)])
