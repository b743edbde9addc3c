"""Releases that are killed, run out of disk, read damaged files or lose tasks: no partial output, nothing changed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet import LIP, Joint, design
from discreet._support.errors import DiscreetError, UnreadableTableError
from tests.conftest import missing
from tests.releases import awkward_table, by_id

RUN = """
import sys
import discreet as dc
print("ready", flush=True)
sys.stdin.readline()
dc.release(sys.argv[1], dc.Mechanism.from_json(sys.argv[2]), seed=1, id="number", keep="all",
           uncovered=["name", "uuid", "sex", "age", "weight"], output=sys.argv[3])
"""

#: All but the id, the useful and the sensitive column.
KEPT = ["name", "uuid", "sex", "age", "weight"]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("faults")
    table = awkward_table(60_000, seed=1)
    pq.write_table(table, folder / "in.parquet")
    design(Joint.from_table(table, "ill", "job"), LIP(0.2)).mechanism.to_json(folder / "m.json")
    return folder


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_killed_release_leaves_no_output_and_the_next_one_cleans_up(prepared: Path, tmp_path: Path) -> None:
    """kill -9 at ten moments spread over the run."""
    before = digest(prepared / "in.parquet")
    mechanism = dc.Mechanism.from_json(prepared / "m.json")
    start = time.perf_counter()
    dc.release(
        prepared / "in.parquet",
        mechanism,
        seed=1,
        id="number",
        keep="all",
        uncovered=KEPT,
        output=tmp_path / "whole.parquet",
    )
    usual = time.perf_counter() - start
    rng = np.random.default_rng(11)
    target = tmp_path / "out.parquet"
    interrupted = 0
    for moment in rng.uniform(0.02, 1.1, 10) * usual:
        command = [sys.executable, "-c", RUN, prepared / "in.parquet", prepared / "m.json", target]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        process.stdin.write("go\n")
        process.stdin.flush()
        time.sleep(moment)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdin.close()
        process.stdout.close()
        assert digest(prepared / "in.parquet") == before
        if target.exists():  # it was faster than the signal
            assert digest(target) == digest(tmp_path / "whole.parquet")
            target.unlink()
        else:
            interrupted += 1
    assert interrupted >= 3
    dc.release(prepared / "in.parquet", mechanism, seed=1, id="number", keep="all", uncovered=KEPT, output=target)
    assert digest(target) == digest(tmp_path / "whole.parquet")
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        missing("a small file system cannot be mounted without the rights of an administrator")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_full_disk_is_told_and_leaves_nothing(prepared: Path, small_disk: Path) -> None:
    mechanism = dc.Mechanism.from_json(prepared / "m.json")
    with pytest.raises(DiscreetError) as error:
        dc.release(
            prepared / "in.parquet", mechanism, id="number", keep="all", uncovered=KEPT, output=small_disk / "o.parquet"
        )
    assert "space" in str(error.value) or "write" in str(error.value)
    assert os.listdir(small_disk) == []


def test_a_read_only_folder_is_told(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An administrator may write everywhere, so the answer of the system is given for it."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    mechanism = dc.Mechanism.from_json(prepared / "m.json")
    with pytest.raises(DiscreetError, match="read-only"):
        dc.release(prepared / "in.parquet", mechanism, output=tmp_path / "o.parquet")


@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_a_truncated_file_leaves_nothing(share: float, prepared: Path, tmp_path: Path) -> None:
    whole = (prepared / "in.parquet").read_bytes()
    (tmp_path / "in.parquet").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(UnreadableTableError, match="damaged"):
        dc.release(tmp_path / "in.parquet", dc.Mechanism.from_json(prepared / "m.json"), output=tmp_path / "o.parquet")
    assert os.listdir(tmp_path) == ["in.parquet"]


def test_a_file_with_damaged_pages_leaves_nothing(prepared: Path, tmp_path: Path) -> None:
    whole = bytearray((prepared / "in.parquet").read_bytes())
    damaged = slice(100, len(whole) * 9 // 10)  # all pages, those of columns that a release reads too
    whole[damaged] = bytes(len(whole[damaged]))
    (tmp_path / "in.parquet").write_bytes(bytes(whole))
    with pytest.raises(DiscreetError) as error:
        dc.release(tmp_path / "in.parquet", dc.Mechanism.from_json(prepared / "m.json"), output=tmp_path / "o.parquet")
    assert "person" not in str(error.value)  # no cell of the table
    assert os.listdir(tmp_path) == ["in.parquet"]


def test_a_spark_task_that_fails_twice_changes_nothing(prepared: Path, spark: Any, tmp_path: Path) -> None:
    mechanism = dc.Mechanism.from_json(prepared / "m.json")
    table = pq.read_table(prepared / "in.parquet").slice(0, 5_000)

    def failing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is not None and context.partitionId() == 1 and context.attemptNumber() < 2:
            raise RuntimeError("lost")
        yield from batches

    plain = spark.createDataFrame(table.to_pandas()).repartition(4)
    frame = plain.mapInArrow(failing, plain.schema)
    with contextlib.redirect_stderr(None):
        dc.release(frame, mechanism, seed=1, id="number", output=tmp_path / "out.parquet", notion=LIP(0.4))
    wanted = dc.release(table, mechanism, seed=1, id="number", notion=LIP(0.4))
    assert by_id(pq.read_table(tmp_path / "out.parquet"), "number") == by_id(wanted, "number")
    assert sorted(os.listdir(tmp_path)) == ["out.parquet", "out.parquet.certificate.json", "out.parquet.codebook.json"]


def test_a_spark_job_that_fails_leaves_nothing(prepared: Path, spark: Any, tmp_path: Path) -> None:
    mechanism = dc.Mechanism.from_json(prepared / "m.json")
    frame = spark.createDataFrame(pq.read_table(prepared / "in.parquet").slice(0, 5_000).to_pandas())
    broken = frame.withColumn("age", frame["age"] / (frame["age"] - frame["age"]))
    with pytest.raises(UnreadableTableError) as error:
        dc.release(
            broken,
            mechanism,
            seed=1,
            id="number",
            keep=["age"],
            uncovered=["age"],
            output=tmp_path / "out",
            notion=LIP(0.4),
        )
    assert "person" not in str(error.value)
    assert os.listdir(tmp_path) == []


def test_what_killed_runs_left_is_removed(prepared: Path, tmp_path: Path) -> None:
    """Also the folder of parts and the spilled memory; what belongs to a living process stays."""
    process = subprocess.Popen(["sleep", "60"])
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    )
    gone = int(dead.stdout)
    names = [f".discreet-tmp-0123abcd-{gone}-o.parquet", f".discreet-tmp-0123abcd-{gone}-o.parquet-parts"]
    names.append(f".discreet-tmp-spill-0123abcd-{gone}-o.parquet")
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "secret").write_text("x")
    living = tmp_path / f".discreet-tmp-0123abcd-{process.pid}-o.parquet"
    living.write_text("at work")
    try:
        dc.release(
            prepared / "in.parquet", dc.Mechanism.from_json(prepared / "m.json"), seed=1, output=tmp_path / "o.parquet"
        )
    finally:
        process.kill()
        process.wait()
    assert living.exists()
    assert not any((tmp_path / name).exists() for name in names)
