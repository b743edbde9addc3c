"""``make bench``: all benchmarks, or those named; see ``BENCHMARKS``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import os
from pathlib import Path

# One core: the limits are stated for it, and threads of a BLAS would blur the ratios.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from benchmarks import (
    audit,
    beliefs,
    confidence,
    curved,
    hard,
    labels,
    merging,
    optimal,
    publish,
    ranges,
    release,
    spark,
    sweep,
)
from benchmarks.common import show

BENCHMARKS = {
    "sweep": sweep,
    "merging": merging,
    "audit": audit,
    "labels": labels,
    "optimal": optimal,
    "curved": curved,
    "hard": hard,
    "beliefs": beliefs,
    "confidence": confidence,
    "ranges": ranges,
    "release": release,
    "spark": spark,
    "publish": publish,
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(BENCHMARKS)}; left out: all")
    options = parser.add_argument_group("optimal, curved and publish")
    parts = [*optimal.PARTS, *optimal.LARGE, *publish.PARTS]
    options.add_argument("--part", action="append", default=[], choices=parts, help="only this; may be repeated")
    options.add_argument("--large", action="store_true", help="also the parts that take an hour")
    options.add_argument("--joints", type=int, default=100, help="at most so many joints in each part")
    options.add_argument("--results", type=Path, default=optimal.RESULTS, help="folder of the CSV and the plot")
    chosen = parser.parse_args()
    unknown = set(chosen.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}. Known: {', '.join(BENCHMARKS)}.")
    return chosen


def main() -> None:
    chosen = arguments()
    size = {"large": chosen.large}
    whole = {"parts": [part for part in chosen.part if part in publish.PARTS], **size}
    parts = [part for part in chosen.part if part not in publish.PARTS]
    options = {"parts": parts, "most": chosen.joints, "results": chosen.results, **size}
    sized = {**dict.fromkeys(("beliefs", "confidence", "release", "spark"), size), "hard": {"results": chosen.results}}
    # Rows are shown as they come: the long parts can be stopped without losing what they found.
    show(
        row
        for name in chosen.names or BENCHMARKS
        for row in BENCHMARKS[name].rows(
            **{"optimal": options, "curved": {"most": chosen.joints}, "publish": whole, **sized}.get(name, {})
        )
    )


main()
