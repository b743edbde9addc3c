"""How far extremes of random joints scatter from one run to the next."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

from discreet.papers.oracles.merging import extremes

__all__ = ["uniform_joints", "within_runs"]


def uniform_joints(count: int, n_sensitive: int, n_useful: int, seed: int) -> Any:
    """Joints of independent uniform numbers, normalised."""
    cells = np.random.default_rng(seed).random((count, n_sensitive, n_useful))
    return cells / cells.sum(axis=(1, 2), keepdims=True)


def within_runs(runs: int, count: int, n_sensitive: int, n_useful: int) -> dict[str, tuple[float, float]]:
    """Smallest and largest value, over runs of so many joints, of each end of the two log-lifts."""
    ends: dict[str, list[float]] = {"min low": [], "min high": [], "max low": [], "max high": []}
    for run in range(runs):
        least, most = extremes(uniform_joints(count, n_sensitive, n_useful, 10_000 + run))
        for name, value in zip(ends, (least.min(), least.max(), most.min(), most.max())):
            ends[name].append(float(value))
    return {name: (min(values), max(values)) for name, values in ends.items()}
