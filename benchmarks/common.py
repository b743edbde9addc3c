"""Timing and printing that all benchmarks share."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One line of the printed table."""

    what: str
    seconds: float
    beside: str
    ratio: float | None
    quality: str


class Run(NamedTuple):
    """What a process took: wall and processor seconds, and its largest resident size in bytes."""

    wall: float
    processor: float
    memory: int


#: Runs a command and prints what it took. A process counts the size of the one that started it as its own, so that
#: this small one stands in between.
LAUNCH = """
import resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run([sys.executable, *sys.argv[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(done.returncode, time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
"""


def process(*words: object) -> Run:
    """A process of its own, from start to end, which must end well; what it prints is thrown away."""
    asked = [sys.executable, "-c", LAUNCH, *map(str, words)]
    done = subprocess.run(asked, check=True, capture_output=True, text=True, env=_as_installed())
    code, wall, processor, memory = done.stdout.split()
    if code != "0":
        raise RuntimeError(f"{' '.join(map(str, words[:3]))} ended with {code}")
    return Run(float(wall), float(processor), int(memory))


def _as_installed() -> dict[str, str]:
    """The environment, in which Python keeps what it compiles, as every installation does."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def command(*words: object) -> Run:
    """A whole command of discreet."""
    return process("-m", "discreet", *words)


def taking_turns(works: Mapping[str, Callable[[], Run]], repeat: int = 5) -> dict[str, Run]:
    """Medians of several processes that take turns, so that a noisy spell hits all; of memory the largest."""
    runs: dict[str, list[Run]] = {name: [] for name in works}
    for _ in range(repeat):
        for name, work in works.items():
            runs[name].append(work())
    return {
        name: Run(*(statistics.median(part) for part in list(zip(*found))[:2]), max(run.memory for run in found))
        for name, found in runs.items()
    }


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
