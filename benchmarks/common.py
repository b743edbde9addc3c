"""Timing and printing that all benchmarks share."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One line of the printed table."""

    what: str
    seconds: float
    beside: str
    ratio: float | None
    quality: str


def median_seconds(work: Callable[[], Any], repeat: int = 3) -> tuple[float, Any]:
    """Median wall time of several runs, and the last result."""
    times, result = [], None
    for _ in range(repeat):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


def interleaved(first: Callable[[], Any], second: Callable[[], Any], repeat: int = 5) -> tuple[float, float]:
    """Median wall times of two pieces of work that take turns, so that a noisy spell hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeat):
        for slot, work in zip(times, (first, second)):
            start = time.perf_counter()
            work()
            slot.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def show(rows: Iterable[Row]) -> None:
    """A Markdown table."""
    print("| benchmark | seconds | beside | ratio | quality |")
    print("|---|---|---|---|---|")
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
        print(f"| {row.what} | {row.seconds:.3g} | {row.beside} | {ratio} | {row.quality} |", flush=True)
