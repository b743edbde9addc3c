"""(s) Releases by Spark beside its own copy of the same columns in the same warm session, and what they spend it on."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial, wraps
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.audit import CACHE
from benchmarks.common import Row, interleaved
from benchmarks.release import KEPT, mechanisms, table
from discreet import Mechanism
from discreet.releasing import Request, run
from discreet.releasing.engines.spark import SparkEngine, spark_session
from discreet.tables.spark import SparkTable
from discreet.tables.spark_files import FilesOfSpark

ALLOWED_RATIO = 2.5

#: Runs of both sides that are not counted: Java compiles what runs often, on the same processors, for about a minute.
WARM_UPS = 3

#: What the time of a release goes to. The rest is Python: decisions, the certificate, files.
QUESTIONS = {"aggregate": "counts", "repeated": "ids", "in_order": "orders", "content": "digest of the input"}


@contextlib.contextmanager
def spent() -> Iterator[Counter[str]]:
    """Seconds by what they go to; a question that asks another one is counted once."""
    found: Counter[str] = Counter()
    running: list[str] = []

    def timed(work: Any, what: str) -> Any:
        @wraps(work)
        def wrapped(*given: Any, **named: Any) -> Any:
            running.append(what)
            start = time.perf_counter()
            try:
                return work(*given, **named)
            finally:
                running.pop()
                found[what] += 0 if running else time.perf_counter() - start

        return wrapped

    with contextlib.ExitStack() as stack:
        for kind in (SparkTable, FilesOfSpark):
            for name, what in QUESTIONS.items():
                stack.enter_context(mock.patch.object(kind, name, timed(getattr(kind, name), what)))
        stack.enter_context(mock.patch.object(SparkEngine, "draw", timed(SparkEngine.draw, "draw")))
        yield found


def shuffles(session: Any) -> int:
    """Shuffles that queries of a session have run so far."""
    store = session._jsparkSession.sharedState().statusStore()
    plans = (store.executionsList().apply(k).physicalPlanDescription() for k in range(store.executionsList().size()))
    return sum(str(plan).partition("== Initial Plan ==")[0].count("ShuffleQueryStage (") for plan in plans)


def released(source: Any, mechanism: Mechanism) -> None:
    """All columns kept, with the certificate."""
    options = {"keep": "all", "uncovered": KEPT, "publish_sensitive": True, "id": "id", "seed": 1, "force": True}
    run(Request.of(source, mechanism, output=CACHE / "released_by_spark", engine="spark", **options))


def copied(session: Any, path: Path) -> None:
    session.read.parquet(str(path)).write.mode("overwrite").parquet(str(CACHE / "spark_copy"))


def moved(session: Any, work: Any) -> int:
    before = shuffles(session)
    work()
    return shuffles(session) - before


def releases(session: Any, path: Path, mechanism: Mechanism, repeat: int, warm_ups: int) -> Iterator[Row]:
    """Of files, of the DataFrame that Spark reads out of them, and of one that is more than files."""
    read = session.read.parquet(str(path))
    size = f"(s) Spark, {read.count() // 1_000_000}M rows"
    sources = {"files": path, "a DataFrame of files": read, "another DataFrame": read.where("id >= 0")}
    for k, (name, source) in enumerate(sources.items()):
        work = partial(released, source, mechanism)
        number = moved(session, work)
        for _ in range(warm_ups):
            work()
            copied(session, path)
        with spent() as found:
            ours, copy = interleaved(work, lambda: copied(session, path), repeat)
        limit = f"limit {ALLOWED_RATIO}" if k < 2 else "no limit set"
        yield Row(f"{size}, {name}", ours, f"Spark's own copy {copy:.3g} s", ours / copy, f"{limit}; shuffles {number}")
        shares = {what: seconds / repeat for what, seconds in found.items()}
        for what, seconds in [*shares.items(), ("the rest", ours - sum(shares.values()))]:
            yield Row(f"{size}, {name}: {what}", seconds, f"release {ours:.3g} s", seconds / copy, "part of it")


def command(path: Path, mechanism: Mechanism) -> Row:
    """The whole command, Java's start included."""
    stored, target = CACHE / "mechanism.json", CACHE / "released_by_command"
    mechanism.to_json(stored)
    options = ["--engine", "spark", "--id", "id", "--keep", "all", "--publish-sensitive", "--force", "--seed", "1"]
    options += [part for column in KEPT for part in ("--uncovered", column)]
    start = time.perf_counter()
    asked = [sys.executable, "-m", "discreet", "release", str(path), str(stored), "--output", str(target), *options]
    subprocess.run(asked, check=True, capture_output=True)
    return Row("(s) the whole command", time.perf_counter() - start, "Java's start included", None, "one run")


def rows(large: bool = False) -> Iterator[Row]:
    start = time.perf_counter()
    session = spark_session("local[2,4]")
    yield Row("(s) Spark's start", time.perf_counter() - start, "", None, "not part of what follows")
    try:
        for count, repeat, warm_ups in ((5_000_000, 5, WARM_UPS), (50_000_000, 3, 0))[: 2 if large else 1]:
            path = table(count)
            mechanism = next(iter(mechanisms(path).values()))
            copied(session, path)  # the first job of a session pays for starting
            yield from releases(session, path, mechanism, repeat, warm_ups)
    finally:
        session.stop()
    yield command(table(5_000_000), next(iter(mechanisms(table(5_000_000)).values())))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    yield Row("(s) largest size of Python's process", 0.0, "", None, f"{peak:.2f} GB")
    for name in ("spark_copy", "released_by_spark", "released_by_command"):
        shutil.rmtree(CACHE / name, ignore_errors=True)
