"""What a command says on its way: to a terminal, to a log, or to nobody."""

from __future__ import annotations

import json
import os
import pty
import re
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.cli.app import run
from discreet.cli.overview import COMMANDS

SECRET = "Kowalski"
COLUMNS = ["--sensitive", "s", "--useful", "x"]
LONG = [*COLUMNS, "--epsilon", "0.3", "--method", "optimal", "--time-limit", "2", "--format", "json"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Too many values for a proof in two seconds."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 90, 20_000)
    s = (x + rng.integers(0, 40, len(x))) // 13
    path = tmp_path / "people.csv"
    path.write_text("s,x\n" + "".join(f"{SECRET}{a},{SECRET}-{b}\n" for a, b in zip(s, x)))
    return path


def on_terminal(*tokens: object) -> tuple[int, str, str]:
    """Exit code, stdout through a pipe, and all that a terminal at stderr was sent."""
    ours, theirs = pty.openpty()
    shown: list[bytes] = []

    def read() -> None:
        try:
            while part := os.read(ours, 65536):
                shown.append(part)
        except OSError:  # how Linux tells that the other side is closed
            pass

    environment = os.environ | {"TERM": "xterm", "COLUMNS": "160"}
    command = [sys.executable, "-m", "discreet", *map(str, tokens)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(theirs)
    reader = threading.Thread(target=read)
    reader.start()
    out = process.communicate()[0].decode()
    reader.join()
    os.close(ours)
    return process.returncode, out, b"".join(shown).decode()


def lines_of(log: Path) -> list[str]:
    """A log without its times and processes."""
    found = log.read_text().splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \d+ discreet \S+: ", line) for line in found)
    return [line.split(" discreet ", 1)[1] for line in found]


def test_a_long_design_shows_its_stages_its_best_and_its_bound(table: Path) -> None:
    code, out, shown = on_terminal("design", table, *LONG)
    assert code == 0
    assert json.loads(out)["status"]  # nothing but the result
    assert "designing: optimal, LIP(0.3)" in shown
    assert "proving" in shown
    assert re.search(r"keeps 0\.\d{4}, at most \d\.\d{4}", shown)
    assert "0:00:01" in shown
    assert SECRET not in shown


def test_shares_are_shown_where_they_are_known(table: Path) -> None:
    methods = [token for name in ("watchdog", "subset-merging", "optimal") for token in ("--method", name)]
    options = [*COLUMNS, "--epsilon", "0.5,1", *methods, "--time-limit", "0.7"]
    code, _, shown = on_terminal("frontier", table, *options)
    assert code == 0
    assert "sweeping budgets" in shown
    assert "67 %" in shown
    assert re.search(r"subset-merging keeps 0\.\d{4} at 1", shown)


def test_without_a_terminal_nothing_is_said(table: Path) -> None:
    command = [sys.executable, "-m", "discreet", "design", table, *LONG]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert json.loads(done.stdout)


def test_quiet_leaves_errors_alone(table: Path, tmp_path: Path) -> None:
    code, out, shown = on_terminal("design", table, *LONG, "--quiet", "-o", tmp_path / "mechanism.json")
    assert (code, shown) == (0, "")  # neither a stage, nor where the mechanism went
    assert json.loads(out)
    code, out, shown = on_terminal("--quiet", "audit", tmp_path / "missing.csv", *COLUMNS)
    assert (code, out) == (3, "")
    assert shown.strip().startswith("discreet: error: ")


def test_a_log_has_the_stages_and_their_seconds(table: Path, tmp_path: Path) -> None:
    log = tmp_path / "work.log"
    old = os.umask(0)
    try:
        assert (
            run(["design", str(table), *COLUMNS, "--epsilon", "0.3", "--method", "subset-merging", "--log", str(log)])
            == 0
        )
    finally:
        os.umask(old)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    lines = lines_of(log)
    assert lines[0] == "design: begins"
    assert "design: counting: begins" in lines
    for stage in ("reading the table", "counting", r"designing: subset-merging, LIP\(0\.3\)", "merging"):
        assert any(re.fullmatch(rf"design: {stage}: took \d+\.\d{{3}} s", line) for line in lines), stage
    assert re.fullmatch(r"design: ends with exit code 0 after \d+\.\d{3} s", lines[-1])
    assert SECRET not in log.read_text()
    log.chmod(0o644)
    assert run([f"--log={log}", "audit", str(table), *COLUMNS]) == 0
    assert lines_of(log)[: len(lines)] == lines
    assert "audit: begins" in lines_of(log)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_log_names_the_stage_that_failed_and_no_cell(tmp_path: Path) -> None:
    table, log = tmp_path / "damaged.csv", tmp_path / "work.log"
    table.write_bytes(f"s,x\n{SECRET},1\n".encode() * 30_000 + b"\xff\xfe,2\n")
    assert run(["audit", str(table), *COLUMNS, "--log", str(log)]) == 3
    assert any(re.fullmatch(r"audit: reading the table: failed with \w+Error after .*", line) for line in lines_of(log))
    assert "ends with exit code 3" in lines_of(log)[-1]
    assert run([SECRET, "--log", str(log)]) == 2  # whatever stands where a command should
    assert SECRET not in log.read_text()


@pytest.mark.parametrize("command", [path.split(":")[1] for path in COMMANDS])
def test_every_page_of_help_tells_of_them(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert all(option in shown for option in ("--quiet", "--log FILE", "--debug"))


def test_a_log_that_cannot_be_written_is_wrong_usage(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = table.read_bytes()
    (tmp_path / "link.log").symlink_to(tmp_path / "elsewhere.log")
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    for log, said in (
        (tmp_path, "it is a directory"),
        (tmp_path / "no" / "work.log", "there is no directory"),
        (tmp_path / "link.log", "symbolic link"),
        (table, "the command itself reads or writes"),
        (other, "is no log of discreet"),
        (Path("/dev/full"), "not an ordinary file"),
    ):
        assert run(["audit", str(table), *COLUMNS, "--log", str(log)]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert said in err
    for tokens in (["audit", str(table), *COLUMNS, "--log"], ["audit", str(table), "--log", *COLUMNS]):
        assert run(tokens) == 2
        assert "--log needs the name of a file" in capsys.readouterr().err
    assert table.read_bytes() == before
    assert not (tmp_path / "elsewhere.log").exists()


def test_a_log_that_fails_on_the_way_is_told_at_the_end(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    assert run(["audit", str(table), *COLUMNS, "--log", str(tmp_path / "work.log")]) == 2
    out, err = capsys.readouterr()
    assert "What x tells about s" in out
    assert "the command is done, but its log" in err


def test_a_log_leaves_out_what_is_deep_inside(table: Path, tmp_path: Path) -> None:
    """Each design of a sweep has its steps, those of the curve of a report do not."""
    log = tmp_path / "work.log"
    options = ["--epsilon", "0.5,1", "--method", "subset-merging", "--quiet", "--log", str(log)]
    assert run(["frontier", str(table), *COLUMNS, *options]) == 0
    stages = [line.split(": ")[1] for line in lines_of(log) if " took " in line]
    assert stages == ["counting", "reading the table", *["merging", "designing"] * 2, "sweeping budgets"]
    assert run(["report", str(table), *COLUMNS, "--epsilon", "1", "--method", "subset-merging", "-o",
                str(tmp_path / "report.md"), "--format", "md", "--log", str(log)]) == 0  # fmt: skip
    inside = [line for line in lines_of(log) if line.startswith("report: ") and " took " in line]
    assert sum("merging" in line for line in inside if "designing" not in line) == 1  # those of the curve are deeper


@pytest.mark.parametrize("beside", ["o.parquet", "o.parquet.certificate.json", "o.parquet.codebook.json", "o.key"])
def test_a_log_is_no_file_of_a_release(beside: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["release", "t.csv", "m.json", "-o", str(tmp_path / "o.parquet"), f"--write-key={tmp_path / 'o.key'}"]
    assert run([*words, "--log", str(tmp_path / beside)]) == 2
    assert "the command itself reads or writes" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_an_interruption_is_said_and_logged(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.reporting.audit.audit", interrupted)
    log = tmp_path / "work.log"
    assert run(["audit", str(table), *COLUMNS, "--log", str(log)]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert "ends with exit code 130" in log.read_text()


def test_a_process_that_is_told_to_end_puts_its_files_in_order_first(table: Path, tmp_path: Path) -> None:
    """As a scheduler ends it: in the middle of a long search."""
    words = [sys.executable, "-m", "discreet", "design", str(table), *LONG, "--log", str(tmp_path / "work.log")]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "work.log").exists() or "designing" not in (tmp_path / "work.log").read_text():
        time.sleep(0.05)
        assert process.poll() is None
    process.terminate()
    assert process.stderr is not None
    assert "interrupted" in process.stderr.read()
    assert process.wait() == 143
    assert "ends with exit code 143" in (tmp_path / "work.log").read_text()
