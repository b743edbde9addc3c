"""(l) Whole commands on many labels: audits of a million symbols, and how releases, verification and merging grow."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np

from benchmarks.common import Row, Run, command

CACHE = Path(__file__).parent / ".cache"
ROWS, SYMBOLS, N_SENSITIVE = 5_000_000, 1_100_000, 10
MOST_SECONDS, MOST_BYTES = 5, 1 << 30
PER_VALUE, KNOWN = 40, 500


def growth(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Exponent of the power of n that the seconds grow by: the slope of their logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def written(name: str, select: str) -> Path:
    """A table, made once."""
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"labels_{name}"
    if not path.exists():
        options = "FORMAT csv, HEADER" if path.suffix == ".csv" else "FORMAT parquet"
        with duckdb.connect() as connection:
            connection.execute(f"COPY ({select}) TO '{path}.tmp' ({options})")
        os.replace(f"{path}.tmp", path)
    return path


def audits() -> Iterator[Row]:
    """Audits of about a million useful tuples, of as many texts, and of a CSV."""
    s = f"'s' || hash(i * 31 + 7) % {N_SENSITIVE} AS s"
    base = f"SELECT i, CAST(hash(i) % {SYMBOLS} AS BIGINT) AS r FROM range({ROWS}) t(i)"
    parts = (
        "'town ' || r * 7919 % 200 AS a, r // 200 % 110 AS b, ['é', 'x', '日本 ', 'z '][1 + r % 4] || r // 22000 AS c"
    )
    three, one = f"SELECT {parts}, {s} FROM ({base})", f"SELECT 'person number ' || r AS x, {s} FROM ({base})"
    tables = (
        ("3 columns, Parquet", written("three.parquet", three), "abc"),
        ("1 column of text, Parquet", written("one.parquet", one), "x"),
        ("3 columns, CSV", written("three.csv", three), "abc"),
    )
    for name, path, useful in tables:
        for shape in ("text", "json"):
            chosen = [word for column in useful for word in ("--useful", column)]
            run = command("audit", path, "--sensitive", "s", *chosen, "--format", shape)
            beside = f"limit {MOST_SECONDS} s, {run.processor:.3g} s of processors"
            quality = f"peak {run.memory >> 20:,} MB (limit {MOST_BYTES >> 20:,})"
            title = f"(l) audit of {SYMBOLS:,} x {N_SENSITIVE}: {name}, {shape}"
            yield Row(title, run.wall, beside, run.wall / MOST_SECONDS, quality)


def labelled(n: int) -> Path:
    """A table of n useful values."""
    return written(
        f"t{n}.parquet",
        f"SELECT 'v' || hash(i * 3 + 1) % {n} AS x, 's' || hash(i * 7) % 4 AS s, i AS id "
        f"FROM range({n * PER_VALUE}) t(i)",
    )


def half_unknown(n: int) -> Path:
    """A table of as many rows, half of them with one of n values that no design knows."""
    return written(
        f"u{n}.parquet",
        f"SELECT CASE WHEN hash(i * 11 + 5) % 2 = 0 THEN 'v' || hash(i * 3 + 1) % {KNOWN} "
        f"ELSE 'u' || hash(i * 5 + 2) % {n} END AS x, 's' || hash(i * 7) % 4 AS s, i AS id "
        f"FROM range({n * PER_VALUE}) t(i)",
    )


def grown(what: str, sizes: Sequence[int], runs: Sequence[Run], nothing: Run) -> Row:
    """The largest run, and by which power of n they grow beyond a command that does nothing."""
    own = [max(run.processor - nothing.processor, 1e-3) for run in runs]
    times = ", ".join(f"{seconds:.3g}" for seconds in own)
    quality = (
        f"grows as n^{growth(sizes, own):.2f}: {times} s of processors at {', '.join(map(str, sizes))}, "
        f"start left out; peak {runs[-1].memory >> 20:,} MB"
    )
    return Row(f"(l) {what}", runs[-1].wall, f"start {nothing.wall:.3g} s", None, quality)


def designs(folder: Path, nothing: Run) -> Iterator[Row]:
    sizes = (5_000, 10_000, 20_000)
    for method in ("subset-merging", "watchdog"):
        runs = [_designed(n, method, 0.3, folder / f"{method}{n}.json") for n in sizes]
        yield grown(f"design of {sizes[-1]:,} symbols by {method}", sizes, runs, nothing)


def _designed(n: int, method: str, epsilon: float, target: Path) -> Run:
    table = labelled(n)
    return command(
        "design", table, "--sensitive", "s", "--useful", "x", "--method", method, "--epsilon", epsilon, "-o", target
    )


def releases(folder: Path, nothing: Run) -> Iterator[Row]:
    """A release of n labels, and its verification by table, release and private certificate."""
    sizes = (2_000, 4_000, 8_000)
    released, verified, alone = [], [], []
    for n in sizes:
        design, output, private = folder / f"d{n}.json", folder / f"r{n}.parquet", folder / f"p{n}.json"
        _designed(n, "watchdog", 3.0, design)
        options = ("--id", "id", "--seed", 1, "--private-certificate", private)
        released.append(command("release", labelled(n), design, "-o", output, *options))
        verified.append(command("verify", private, "--table", labelled(n), "--released", output))
        alone.append(command("verify", private))
    yield grown(f"release of {sizes[-1]:,} labels", sizes, released, nothing)
    yield grown(f"verify by table and release, {sizes[-1]:,} labels", sizes, verified, nothing)
    yield grown(f"verify by the private certificate alone, {sizes[-1]:,} labels", sizes, alone, nothing)


def suppressing(folder: Path, nothing: Run) -> Iterator[Row]:
    sizes, design, runs = (5_000, 10_000, 20_000), folder / "known.json", []
    _designed(KNOWN, "watchdog", 3.0, design)
    for n in sizes:
        options = ("--id", "id", "--seed", 1, "--unseen", "suppress", "--suppress-as", "v1")
        runs.append(command("release", half_unknown(n), design, "-o", folder / f"u{n}.parquet", *options))
    yield grown(f"release that suppresses {sizes[-1]:,} unknown values", sizes, runs, nothing)


def rows() -> Iterator[Row]:
    yield from audits()
    nothing = min((command("--version") for _ in range(3)), key=lambda run: run.processor)
    with TemporaryDirectory() as name:
        for part in (designs, releases, suppressing):
            yield from part(Path(name), nothing)
