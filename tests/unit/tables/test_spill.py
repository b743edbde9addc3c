"""What does not fit into memory goes to a private folder, which does not outlive its reader for long."""

from __future__ import annotations

import ast
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.tables import spill
from discreet.tables.session import open_table

SOURCE = Path(dc.__file__).parent

#: Opens a table, tells the folder that it spills to, and waits to be killed.
READER = """
import sys, time
from discreet.tables.session import open_table
with open_table(sys.argv[1]) as table:
    print(table.limits.spill, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of temporary files that nobody else uses."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


@pytest.fixture
def gone() -> int:
    """The number of a process that is no more."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_a_folder_is_private_and_goes_with_its_reader(place: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "t.parquet")
    with open_table(tmp_path / "t.parquet") as table:
        folder = Path(str(table.limits.spill))
        assert folder.parent == place
        assert folder.name.startswith(f"discreet-spill-{os.getpid()}-")
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        used = table.connection.execute("SELECT current_setting('temp_directory')").fetchall()
        assert used == [(str(folder),)]
    assert list(place.iterdir()) == []


def test_a_killed_reader_leaves_nothing_for_long(place: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "t.parquet")
    command = [sys.executable, "-c", READER, str(tmp_path / "t.parquet")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        left = Path(reader.stdout.readline().strip())
        (left / "cells").write_text("secret")
        with spill.private_folder():
            assert left.exists()  # its reader lives
        reader.send_signal(signal.SIGKILL)
    with spill.private_folder() as own:
        assert [path.name for path in place.iterdir()] == [Path(own).name]


def test_only_what_is_ours_and_left_is_removed(place: Path, tmp_path: Path, gone: int) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    (place / f"discreet-spill-{gone}-link").symlink_to(tmp_path / "precious")
    (place / f"discreet-spill-{gone}-file").write_text("")
    for name in (f"discreet-spill-{os.getpid()}-mine", f"discreet-spill-{gone}-left", "discreet-spill-x", "other"):
        (place / name).mkdir()
    with spill.private_folder() as own:
        left = {path.name for path in place.iterdir()} - {Path(own).name}
    assert left == {
        f"discreet-spill-{gone}-link", f"discreet-spill-{gone}-file", f"discreet-spill-{os.getpid()}-mine",
        "discreet-spill-x", "other",
    }  # fmt: skip
    assert (tmp_path / "precious" / "file").exists()


def test_a_folder_that_is_held_stays_whatever_its_number(place: Path, gone: int) -> None:
    """Two containers may share a folder, and see each other's processes as gone."""
    held = place / f"discreet-spill-{gone}-held"
    held.mkdir()
    with spill._held(str(held)), spill.private_folder():
        assert held.exists()
    with spill.private_folder():
        assert not held.exists()


def test_every_connection_has_a_folder_of_ours() -> None:
    """All connections are made by `session.connect`, but for the sample's, which cannot spill."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called.startswith("duckdb.") and called.split(".")[1].islower():
                found[path.relative_to(SOURCE).as_posix(), called] = ast.unparse(node)
    assert set(found) == {("tables/session.py", "duckdb.connect"), ("samples/__init__.py", "duckdb.connect")}
    assert "'temp_directory': ''" in found["samples/__init__.py", "duckdb.connect"]


def test_a_relation_is_asked_in_a_connection_of_ours(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the caller's own, sensitive values would spill to a folder that others may read."""
    monkeypatch.chdir(tmp_path)
    caller = duckdb.connect(config={"memory_limit": "100MB", "threads": 1})
    relation = caller.sql("SELECT md5(range::VARCHAR) AS s, range % 3 AS x FROM range(2000000)")
    with open_table(relation, ["s", "x"]) as table:
        assert table.connection is not caller
        assert table.limits.spill is not None
        assert table.aggregate("count(DISTINCT s) AS n").to_pylist() == [{"n": 2_000_000}]
    assert not (tmp_path / ".tmp").exists()
    assert list(place.iterdir()) == []


def test_a_relation_is_compared_by_its_bytes() -> None:
    caller = duckdb.connect()
    caller.execute("CREATE TABLE t (x VARCHAR COLLATE NOCASE, s INTEGER)")
    caller.execute("INSERT INTO t VALUES ('abc', 1), ('ABC', 0), ('x', 1)")
    assert dc.Joint.from_table(caller.table("t"), "s", "x").useful == ("ABC", "abc", "x")
