"""(i) Releases of many rows beside a plain copy by the same engine, and randomised response beside that of others."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from benchmarks.audit import CACHE
from benchmarks.common import Row, interleaved
from discreet import LIP, Joint, Mechanism, design, release
from discreet.releasing import Request, run

ALLOWED_RATIO, ALLOWED_BYTES = 2.5, 4 << 30
SYMBOLS = 1000
PEER_VALUES = 100_000
KEPT = ["street", "age", "income", "height", "visits"]


def table(rows: int) -> Path:
    """Three columns of text, five of numbers; made once, in no order."""
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"release_streets_{rows}.parquet"
    if not path.exists():
        with duckdb.connect() as connection:
            connection.execute("SELECT setseed(0.25)")
            connection.execute(
                f"""COPY (SELECT id, 'occupation ' || x AS job, 'street ' || floor(random() * 1e6)::INT AS street,
                    'group ' || ((x + floor(r * r * 10)::INT) % 10) AS ill, floor(random() * 100)::INT AS age,
                    random() * 1e5 AS income, random() * 2.2 AS height, floor(random() * 1e6)::BIGINT AS visits
                    FROM (SELECT range AS id, floor(random() * {SYMBOLS})::INT AS x, random() AS r FROM range({rows})))
                    TO '{path}.tmp' (FORMAT parquet)"""
            )
        os.replace(f"{path}.tmp", path)
    return path


def mechanisms(path: Path) -> dict[str, Mechanism]:
    """One with at most six entries for each of 1,000 symbols, and one with all of them."""
    joint = Joint.from_table(path, "ill", "job")
    few = design(joint, LIP(0.8), "subset-response", time_limit=60.0).mechanism
    many = design(joint, LIP(0.8), "grr").mechanism
    assert np.bincount(few.entries[0]).max() <= 6
    assert np.bincount(many.entries[0]).min() == SYMBOLS
    return {f"at most {np.bincount(few.entries[0]).max()} entries": few, f"GRR, {SYMBOLS} entries": many}


def released(path: Path, mechanism: Mechanism, **options: Any) -> float:
    options = {"keep": "all", "uncovered": KEPT, "publish_sensitive": True, "id": "id", "force": True} | options
    output = CACHE / ("released_by_spark" if "engine" in options else "released.parquet")
    return run(Request.of(path, mechanism, seed=1, output=output, **options)).seconds


def copied(path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT * FROM read_parquet('{path}')) TO '{CACHE / 'copy.parquet'}'")


def peak_memory(path: Path, stored: Path, memory_limit: str | None) -> tuple[float, int]:
    """Seconds and largest resident size of a fresh process that releases the file."""
    code = (
        "import resource, sys; from benchmarks.release import *; "
        "s = released(Path(sys.argv[1]), Mechanism.from_json(sys.argv[2]), memory_limit=sys.argv[3] or None); "
        "print(s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    command = [sys.executable, "-c", code, str(path), str(stored), memory_limit or ""]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, kilobytes = done.stdout.split()[-2:]
    return float(seconds), int(kilobytes) * 1024


def duckdb_rows(count: int) -> Iterator[Row]:
    path = table(count)
    size = f"{count // 1_000_000}M rows"
    few, *_ = made = mechanisms(path)
    for name, mechanism in made.items():
        ours, copy = interleaved(lambda m=mechanism: released(path, m), lambda: copied(path))
        limit = f"limit {ALLOWED_RATIO}" if name == few else "no limit set"
        yield Row(f"(i) DuckDB, {size}, {name}", ours, f"plain copy {copy:.3g} s", ours / copy, limit)
    stored = CACHE / "mechanism.json"
    made[few].to_json(stored)
    for limit in (None, "1GB"):
        seconds, memory = peak_memory(path, stored, limit)
        quality = f"peak {memory / 2**30:.2f} GB (limit {ALLOWED_BYTES >> 30})"
        yield Row(
            f"(i) DuckDB, {size}, memory {limit or 'not limited'}",
            seconds,
            f"copy {copy:.3g} s",
            seconds / copy,
            quality,
        )
    start = time.perf_counter()
    release(
        path,
        made[few],
        seed=1,
        id="id",
        keep="all",
        uncovered=KEPT,
        publish_sensitive=True,
        force=True,
        output=CACHE / "released.parquet",
    )
    whole = time.perf_counter() - start
    yield Row(f"(i) DuckDB, {size}, from Python", whole, f"copy {copy:.3g} s", whole / copy, "two digests")


def very_large() -> Iterator[Row]:
    path = table(100_000_000)
    stored = CACHE / "mechanism.json"
    next(iter(mechanisms(path).values())).to_json(stored)
    seconds, memory = peak_memory(path, stored, "3GB")
    start = time.perf_counter()
    copied(path)
    copy = time.perf_counter() - start
    quality = f"peak {memory / 2**30:.2f} GB, memory limit 3GB"
    yield Row("(i) DuckDB, 100M rows", seconds, f"plain copy {copy:.3g} s", seconds / copy, quality)


def peers() -> Iterator[Row]:
    """Randomised response of 16 values at the same keep probability; rows a second."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    values = rng.integers(0, 16, PEER_VALUES)
    source = pa.table({"x": values, "s": rng.integers(0, 2, PEER_VALUES)})
    mechanism = design(Joint.from_table(source, "s", "x"), LIP(0.02), "grr").mechanism
    keep = float(mechanism.channel[0, 0])
    start = time.perf_counter()
    release(source, mechanism, seed=1)
    ours = time.perf_counter() - start
    timings = {"discreet": ours}
    import opendp.prelude as dp

    dp.enable_features("contrib")
    measurement = dp.m.make_randomized_response(list(range(16)), keep)
    start = time.perf_counter()
    for value in values.tolist():
        measurement(value)
    timings["OpenDP"] = time.perf_counter() - start
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    epsilon = float(np.log(keep * 15 / (1 - keep)))
    GRR_Client(int(values[0]), 16, epsilon)  # compiled at the first call
    start = time.perf_counter()
    for value in values.tolist():
        GRR_Client(value, 16, epsilon)
    timings["multi-freq-ldpy"] = time.perf_counter() - start
    for name, seconds in timings.items():
        rate = f"{PEER_VALUES / seconds:,.0f} rows/s, keep {keep:.3f}"
        yield Row(
            f"(i) randomised response of 1e5 values, {name}", seconds, f"discreet {ours:.3g} s", seconds / ours, rate
        )


def rows(large: bool = False) -> Iterator[Row]:
    yield from peers()
    yield from duckdb_rows(20_000_000)
    if large:
        yield from very_large()
