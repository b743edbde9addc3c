"""(a) The sweep behind Fig. 6 of ZDS23: 1,000 joints 17 x 5, 32 budgets, 3 splits, subset merging, one core."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time

import numpy as np

from benchmarks.common import Row
from discreet import ALIP, Joint, design, measures
from discreet.designers.merging import subset_merging

EPSILONS = np.arange(1, 33) / 4
LAMS = (0.35, 0.5, 0.65)
TARGET = 40.0
#: Problems solved together: large enough to drown Python's overhead, small enough for the cache.
CHUNK = 25


def rows() -> list[Row]:
    joints = [Joint.random(5, 17, seed=seed) for seed in range(1000)]
    notions = [ALIP.split(epsilon, lam) for lam in LAMS for epsilon in EPSILONS]
    start = time.perf_counter()
    kept, worst = [], -np.inf
    for first in range(0, len(joints), CHUNK):
        some = joints[first : first + CHUNK]
        problems = [(joint, notion) for joint in some for notion in notions]
        blocks = subset_merging.partitions([j for j, _ in problems], [n for _, n in problems])
        nmi, excess = judge(problems, blocks)
        kept.append(nmi.reshape(len(some), len(notions)))
        worst = max(worst, excess)
    seconds = time.perf_counter() - start
    mean = np.concatenate(kept).mean(axis=0).reshape(len(LAMS), len(EPSILONS))
    at = {epsilon: mean[1, list(EPSILONS).index(epsilon)] for epsilon in (1.0, 2.0)}

    single = time.perf_counter()
    for joint in joints[:50]:
        for notion in notions[::8]:
            design(joint, notion, "subset-merging")
    one_by_one = (time.perf_counter() - single) / (50 * len(notions[::8])) * len(joints) * len(notions)
    quality = (
        f"96,000 designs; mean NMI {at[1.0]:.3f} / {at[2.0]:.3f} at eps 1 / 2, lam .5; "
        f"largest excess over a budget {worst:.1e} nats"
    )
    return [
        Row("(a) sweep of ZDS23 Fig. 6", seconds, f"limit {TARGET:.0f} s", seconds / TARGET, quality),
        Row("(a) the same by `design`, one by one", one_by_one, "the sweep", one_by_one / seconds, "from 600 designs"),
    ]


def judge(problems: list[tuple[Joint, ALIP]], blocks: np.ndarray) -> tuple[np.ndarray, float]:
    """NMI of every partition, and by how much the worst log-lift of all exceeds its budget."""
    cells = np.stack([joint.probabilities for joint, _ in problems])
    merged = np.zeros_like(cells)
    line = np.repeat(np.arange(len(problems)), blocks.shape[1])
    np.add.at(merged.transpose(0, 2, 1), (line, blocks.ravel()), cells.transpose(0, 2, 1).reshape(len(line), -1))
    mass = merged.sum(axis=1)
    entropy = lambda p: -np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(axis=1)  # noqa: E731
    nmi = entropy(mass) / entropy(cells.sum(axis=1))
    lifts = measures.kernels.lift(merged, cells.sum(axis=2), mass)
    upper = np.array([notion.eps_upper for _, notion in problems])
    lower = np.array([notion.eps_lower for _, notion in problems])
    excess = max((np.log(lifts.max(axis=(1, 2))) - upper).max(), (-np.log(lifts.min(axis=(1, 2))) - lower).max())
    return nmi, float(excess)
