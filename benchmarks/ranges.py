"""(k) Agglomerative clustering on large ranges: seconds and how they grow with the alphabet."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.common import Row
from discreet import quantise
from discreet.ranges import Range

SIZES = (1_000, 10_000, 100_000)
N_SENSITIVE = 40
RUNS = {
    "Algorithm 1, resolution": ("uncertainty-reduction", "resolution"),
    "Algorithm 1, distortion": ("uncertainty-reduction", "distortion"),
    "Algorithm 2, resolution": ("maximin", "resolution"),
    "Algorithm 2, distortion": ("maximin", "distortion"),
}


def sparse_range(n: int, values_each: bool) -> Range:
    """1 to 3 sensitive values each, or one each, so that there are 40 components to join."""
    rng = np.random.default_rng(n)
    each = np.ones(n, dtype=np.int64) if values_each else rng.integers(1, 4, n)
    return Range(rng.integers(0, N_SENSITIVE, each.sum()), np.repeat(np.arange(n), each))


def rows() -> Iterator[Row]:
    for name, (objective, utility) in RUNS.items():
        first = None
        for n in SIZES:
            whole = sparse_range(n, objective == "maximin")
            values = np.random.default_rng(1).random(n) * 1000
            start = time.perf_counter()
            path = quantise(whole, objective, utility, values if utility == "distortion" else None)
            seconds = time.perf_counter() - start
            first = first or seconds
            growth = "" if n == SIZES[0] else f", exponent {math.log(seconds / first) / math.log(n / SIZES[0]):.2f}"
            last = path.points[-1]
            quality = f"{len(path.points)} points, the last with k {last.k}, {last.components} components{growth}"
            yield Row(f"(k) {name}, {n} symbols, |S| = {N_SENSITIVE}", seconds, "", None, quality)
