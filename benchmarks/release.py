"""(i) Whole commands on many rows beside a plain copy by the same engine, and randomised response of others."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np

from benchmarks.audit import CACHE
from benchmarks.common import Row, Run, command, process, taking_turns
from discreet import LIP, Joint, Mechanism, design, release

SYMBOLS = 1000
PEER_VALUES = 100_000
KEPT = ("street", "age", "income", "height", "visits")

#: What a whole command may cost, in plain copies of the table: wall and processor time; and its memory in bytes.
LIMITS = {
    "release, all columns kept": (3.0, 4.0, None),
    "the same, as labels": (3.0, 4.0, None),
    "release, the released column alone": (1.5, None, None),
    "verify with table and release": (3.0, None, 1 << 30),
    "verify with the key": (5.0, None, 1 << 30),
}
MOST_BYTES_LARGE = 3 << 29  # 1.5 GB

COPY = "import duckdb, sys; duckdb.connect().execute(f\"COPY (FROM read_parquet('{sys.argv[1]}')) TO '{sys.argv[2]}'\")"


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


def works(path: Path, mechanism: Path, folder: Path) -> dict[str, Callable[[], Run]]:
    """The copy, and the commands that people run, each writing its own files; verification reads what was released."""
    output, private, key = (folder / f"released.{kind}" for kind in ("parquet", "json", "key"))
    kept = ("--keep", "all", "--uncovered", *KEPT, "--publish-sensitive")
    both = ("--table", path, "--released", output)

    def release(name: str, *options: object) -> Run:
        (folder / f"{name}.key").unlink(missing_ok=True)
        files = {"-o": "parquet", "--private-certificate": "json", "--write-key": "key"}
        written = [word for option, kind in files.items() for word in (option, folder / f"{name}.{kind}")]
        return command("release", path, mechanism, "--id", "id", *written, *options, "--force")

    return {
        "copy": lambda: process("-c", COPY, path, folder / "copy.parquet"),
        "release, all columns kept": lambda: release("released", *kept),
        "the same, as labels": lambda: release("labels", *kept, "--as-labels"),
        "release, the released column alone": lambda: release("alone", "--drop-id"),
        "verify with table and release": lambda: command("verify", private, *both),
        "verify with the key": lambda: command("verify", private, *both, "--key-file", key),
    }


def whole_commands(count: int, repeat: int = 5) -> Iterator[Row]:
    """Every command beside DuckDB's plain copy of the table, all of them processes from start to end."""
    path = table(count)
    stored = CACHE / "mechanism.json"
    few, *_ = made = mechanisms(path)
    made[few].to_json(stored)
    with TemporaryDirectory(dir=CACHE) as name:
        found = taking_turns(works(path, stored, Path(name)), repeat)
    copy, size = found.pop("copy"), f"{count // 1_000_000}M rows, {few}"
    for what, run in found.items():
        wall, processor, memory = LIMITS[what] if repeat > 1 else (None, None, MOST_BYTES_LARGE)
        beside = f"plain copy {copy.wall:.3g} s, {copy.processor:.3g} s of processors, {copy.memory >> 20:,} MB"
        quality = (
            f"{run.processor / copy.processor:.3g} x processors{_limit(processor)}, "
            f"peak {run.memory >> 20:,} MB{_limit(memory and memory >> 20)}; wall{_limit(wall)}"
        )
        yield Row(f"(i) {what}, {size}", run.wall, beside, run.wall / copy.wall, quality)


def _limit(number: float | None) -> str:
    return "" if number is None else f" (limit {number:,.4g})"


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
    yield from whole_commands(20_000_000)
    if large:
        yield from whole_commands(100_000_000, repeat=1)
