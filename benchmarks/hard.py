"""(q) LDP, SRLIP and many sensitive values: the proven gap against time, and what a limit of a second takes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import csv
import math
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.common import Row
from discreet import LDP, SRLIP, Joint, design
from discreet.designers import Design
from discreet.notions import Notion

RESULTS = Path(__file__).parent / "results"
#: Seconds that a design may take.
LIMITS = (5.0, 15.0, 30.0, 60.0)


class Case(NamedTuple):
    """A joint, always the same, and what is promised on it."""

    name: str
    joint: Joint
    notion: Notion
    method: str = "optimal"


def uniform(n_useful: int, n_sensitive: int, sizes: Sequence[int] = (), seed: int = 0) -> Joint:
    """Cells drawn uniformly, then normalised; the useful values are tuples where sizes of attributes are given."""
    cells = np.random.default_rng(seed).random((n_sensitive, n_useful))
    useful = [*np.ndindex(*sizes)] if sizes else [*range(n_useful)]
    return Joint.from_array(cells / cells.sum(), useful=useful)


def cases() -> list[Case]:
    """Those that are followed up to a minute."""
    found = [Case(f"LDP({eps:g}), 40 x 26", uniform(40, 26), LDP(eps)) for eps in (0.25, 0.5, 1.0, 2.0)]
    found += [Case(f"LDP({eps:g}), 26 x 40", uniform(26, 40), LDP(eps)) for eps in (0.5, 1.0)]
    attributes = uniform(60, 3, (3, 4, 5))
    return found + [Case(f"SRLIP({eps:g}), (3, 4, 5) x 3", attributes, SRLIP(eps)) for eps in (0.25, 0.5, 1.0)]


def quick() -> list[Case]:
    """Those that have one second."""
    return [
        Case("LDP(1), 1500 x 20", uniform(1500, 20), LDP(1.0)),
        Case("LDP(0.5), 40 x 26", uniform(40, 26), LDP(0.5)),
        Case("LDP(1), 100 x 60", uniform(100, 60), LDP(1.0)),
        Case("SRLIP(0.5), (3, 4, 5) x 3", uniform(60, 3, (3, 4, 5)), SRLIP(0.5)),
        Case("LDP(1), 3000 x 5, auto", uniform(3000, 5), LDP(1.0), "auto"),
    ]


def limited(case: Case, limit: float) -> tuple[Row, Design]:
    """A line for a design under a time limit."""
    start = time.perf_counter()
    done = design(case.joint, case.notion, case.method, time_limit=limit)
    seconds = time.perf_counter() - start
    bound = math.nan if done.bound is None else done.bound
    gap = bound - done.kept
    quality = f"NMI {done.nmi:.4f}, bound {bound:.4f}, gap {gap:.4f}, {gap / bound:.1%} of the bound"
    return Row(f"(q) {case.name}", seconds, f"limit {limit:g} s", seconds / limit, quality), done


def rows(results: Path = RESULTS) -> Iterator[Row]:
    """All cases at all limits; leaves the curves of the longest as a CSV, and a plot."""
    for case in quick():
        yield limited(case, 1.0)[0]
    curves: dict[str, list[tuple[float, float]]] = {}
    for case in cases():
        for limit in LIMITS:
            row, done = limited(case, limit)
            yield row
        moments = [(m.seconds, m.limit - m.value) for m in done.history if m.limit is not None]
        curves[case.name] = [*moments, (done.seconds, (done.bound or math.nan) - done.kept)]
    results.mkdir(parents=True, exist_ok=True)
    with (results / "hard_gaps.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "seconds", "gap"])
        writer.writerows([name, *point] for name, points in curves.items() for point in points)
    plot(curves, results / "hard_gaps.svg")


def plot(curves: dict[str, list[tuple[float, float]]], path: Path) -> None:
    """The gap against time, where matplotlib is installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("matplotlib is not installed: no plot was drawn", file=sys.stderr)
        return
    axes = Figure(figsize=(7, 4.5), layout="constrained").subplots()
    for name, points in curves.items():
        axes.step(*zip(*points), where="post", label=name)
    axes.set(xlabel="seconds", ylabel="proven gap, share of H(X)", ylim=(0, None), title="Hard designs, one minute")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    axes.figure.savefig(path, metadata={"Date": None})
