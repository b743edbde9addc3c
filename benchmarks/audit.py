"""(c) Audit of a 20-million-row Parquet beside DuckDB's bare GROUP BY, and pyCANON's delta-disclosure beside ours."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb

from benchmarks.common import Row, interleaved, median_seconds
from discreet import Joint
from discreet.reporting.audit import audit_summary

CACHE = Path(__file__).parent / ".cache"
ALLOWED_RATIO, ALLOWED_EXTRA, ALLOWED_BYTES = 1.3, 0.1, 2 << 30


def parquet(rows: int, n_useful: int = 2000, n_sensitive: int = 10) -> Path:
    """A table of strings in which x gives s away a little; made once."""
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"audit_{rows}_{n_useful}_{n_sensitive}.parquet"
    if not path.exists():
        with duckdb.connect() as connection:
            connection.execute("SELECT setseed(0.5)")
            connection.execute(
                f"""COPY (SELECT id, 'value-' || x AS x, 's' || ((x * 7 + floor(r * r * {n_sensitive})::INT)
                    % {n_sensitive}) AS s FROM (SELECT range AS id, floor(random() * {n_useful})::INT AS x,
                    random() AS r FROM range({rows}))) TO '{path}.tmp' (FORMAT parquet)"""
            )
        os.replace(f"{path}.tmp", path)
    return path


def audit(path: Path) -> dict[str, object]:
    return audit_summary(Joint.from_table(path, "s", "x"))


def bare_group_by(path: Path) -> int:
    with duckdb.connect() as connection:
        return len(connection.sql(f"SELECT s, x, count(*) FROM read_parquet('{path}') GROUP BY s, x").fetchall())


def peak_memory(path: Path) -> int:
    """Largest resident size of a fresh process that audits the file."""
    code = (
        "import resource, sys; from benchmarks.audit import audit; audit(sys.argv[1]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    return int(done.stdout) * 1024


def rows() -> list[Row]:
    path = parquet(20_000_000)
    ours, bare = interleaved(lambda: audit(path), lambda: bare_group_by(path))
    memory = peak_memory(path)
    measures = audit(path)["measures"]
    quality = (
        f"I(S;X) {measures['mutual_information']:.4f} nats; peak {memory / 2**20:.0f} MB (limit 2,048); "
        f"limit {ALLOWED_RATIO} x GROUP BY + {ALLOWED_EXTRA} s = {ALLOWED_RATIO * bare + ALLOWED_EXTRA:.3g} s"
    )
    result = [Row("(c) audit of 20M rows, 2,000 x 10", ours, f"bare GROUP BY {bare:.3g} s", ours / bare, quality)]
    result += delta_disclosure()
    return result


def delta_disclosure() -> list[Row]:
    """Delta-disclosure is the largest |log lift| (base 2 in pyCANON): the same number from both."""
    try:
        import pandas as pd
        from pycanon import anonymity
    except ImportError:
        print("pyCANON is not installed: make bench installs it", file=sys.stderr)
        return []
    path = parquet(1_000_000, n_useful=50, n_sensitive=10)
    frame = pd.read_parquet(path, columns=["x", "s"])
    ours, summary = median_seconds(lambda: audit_summary(Joint.from_table(frame, "s", "x")))
    theirs, delta = median_seconds(lambda: anonymity.delta_disclosure(frame, ["x"], ["s"]), repeat=1)
    values = summary["measures"]
    mine = max(values["log_max_lift"], -values["log_min_lift"])
    quality = f"delta {delta:.6g} there, {mine:.6g} nats here, with all other measures"
    return [Row("(c) pyCANON delta-disclosure, 1M rows", theirs, f"our audit {ours:.3g} s", theirs / ours, quality)]
