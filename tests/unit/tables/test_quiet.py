"""Spark works for us without a word of a cell, and takes names and texts as they are."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.tables.quiet import SUBSTITUTE, at_work
from tests.conftest import JAVA_OPTIONS

#: In a session of the caller's, then in one of ours: a task fails on a cell. The marks on stderr tell what came when.
SCRIPT = """
import os, sys
os.environ["PYSPARK_SUBMIT_ARGS"] = '--driver-java-options "{options}" pyspark-shell'
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
from pyspark.sql import SparkSession
import discreet as dc
from discreet.releasing.engines.spark import spark_session

def level(session):
    return session._jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel().toString()

def failing(session):
    cells = [("secretcell", "x", k) for k in range(40)]
    return session.createDataFrame(cells, ["a", "s", "k"]).selectExpr("CAST(a AS INT) AS a", "s", "k")

def asked(session):
    mechanism = dc.Mechanism.from_channel([[1], [1]], useful=[1, 2], useful_columns=["a"], sensitive_columns=["s"])
    for work in (lambda: dc.Joint.from_table(failing(session), "s", "a"),
                 lambda: dc.release(failing(session), mechanism, seed=1, id="k", notion=dc.LIP(1))):
        try:
            work()
        except dc.errors.UnreadableTableError as error:
            assert "secretcell" not in str(error)
        else:
            raise AssertionError("nothing failed")

session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
session.sparkContext.setLogLevel("WARN")
asked(session)
assert level(session) == "WARN", level(session)
sys.stderr.write("THE CALLER ASKS\\n")
sys.stderr.flush()
try:
    failing(session).collect()
except Exception:
    pass
session.stop()
sys.stderr.write("OUR OWN SESSION\\n")
sys.stderr.flush()
session = spark_session("local[1]")
assert level(session) == "OFF"
asked(session)
session.stop()
"""


def test_no_cell_reaches_the_log_of_spark(spark: Any, tmp_path: Path) -> None:
    """``spark`` is asked for because it knows whether this machine has Spark."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("{options}", JAVA_OPTIONS))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    ours, _, rest = done.stderr.partition("THE CALLER ASKS")
    callers, _, own = rest.partition("OUR OWN SESSION")
    assert "secretcell" in callers  # Spark does print cells, and the caller's level came back
    assert "secretcell" not in ours + done.stdout + own


def test_settings_come_back_when_the_last_is_done(spark: Any) -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with at_work(spark):
            inside.set()
            leave.wait()

    spark.sparkContext.setLogLevel("WARN")
    root = spark._jvm.org.apache.logging.log4j.LogManager.getRootLogger()
    thread = threading.Thread(target=other)
    try:
        with at_work(spark):
            thread.start()
            inside.wait()
            assert spark.conf.get(SUBSTITUTE) == "false"
        assert root.getLevel().toString() == "OFF"  # the other one is still at work
        leave.set()
        thread.join()
        assert root.getLevel().toString() == "WARN"
        assert spark.conf.get(SUBSTITUTE) == "true"
    finally:
        leave.set()
        spark.sparkContext.setLogLevel("OFF")


@pytest.mark.parametrize("name", ["{table}", "${spark.app.name}", "${env:HOME}", "a`b", "bell\x07", "a.b"])
def test_names_are_taken_as_they_are(name: str, spark: Any, tmp_path: Path) -> None:
    labels = ["${spark.app.name}", "{table}", "c"]
    mixed = random.Random(7).sample(range(300), 300)  # an order may tell values, and is refused
    rows = [(k, labels[(m * 7) % 3], "ny"[(m * 5) % 11 % 2], m % 4) for k, m in enumerate(mixed)]
    columns = ["id", name, "s", f"kept {name}"]
    table = pa.Table.from_pylist([dict(zip(columns, row)) for row in rows])
    joint = dc.Joint.from_table(table, "s", name)
    mechanism = dc.design(joint, dc.LIP(0.3)).mechanism
    frame = spark.createDataFrame(rows, columns)
    assert dc.Joint.from_table(frame, "s", name).to_dict() == joint.to_dict()
    given = {"id": "id", "keep": [f"kept {name}"], "uncovered": [f"kept {name}"], "seed": 4}
    wanted = dc.release(table, mechanism, **given).sort_by("id").to_pylist()
    assert dc.release(frame, mechanism, **given).toArrow().sort_by("id").to_pylist() == wanted
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (tmp_path / "t.parquet", frame):
        out = tmp_path / f"out of {type(source).__name__}"
        if name.startswith("$"):  # Hadoop would read and write other columns instead
            with pytest.raises(dc.errors.InputError, match="Rename it"):
                dc.release(source, mechanism, output=out, engine="spark", **given)
            assert not out.exists()
        else:
            dc.release(source, mechanism, output=out, engine="spark", **given)
            assert pq.read_table(out).sort_by("id").to_pylist() == wanted
