"""(p) Optima under alpha, chi-square and l1 lift, whose posteriors have curved borders, beside subset merging."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.common import Row
from discreet import AlphaLift, Chi2Lift, Joint, L1Lift, Notion, certify, design
from discreet.certificate import checker

JOINTS, CERTIFIED, LARGER, SECONDS = 100, 10, 5, 30.0
CONVEX = [AlphaLift(alpha, eps_upper=epsilon) for alpha in (2, 10) for epsilon in (0.1, 0.5)]
OTHERS: list[Notion] = [
    AlphaLift(2, eps_lower=0.1, eps_upper=0.1),
    Chi2Lift(eps_upper=0.2),
    L1Lift(eps_upper=0.1),
    Chi2Lift(eps_lower=0.3),  # not convex, like the last
    L1Lift(eps_lower=0.3),
]


class Found(NamedTuple):
    """Of one joint."""

    seconds: float
    nmi: float
    gap: float
    merged: float
    is_checked: bool | None


def found(joint: Joint, notion: Notion, is_certified: bool, time_limit: float | None = None) -> Found:
    """The optimum, timed from joint to mechanism, and what the standalone checker says of its proof."""
    start = time.perf_counter()
    made = design(joint, notion, time_limit=time_limit)
    seconds = time.perf_counter() - start
    merged = design(joint, notion, "subset-merging").nmi
    checked = None
    if is_certified:
        verdicts = checker.check(checker.read(certify(made).text()))
        checked = all(passed is not False for _, passed, _ in verdicts) and ("bound", True) in [v[:2] for v in verdicts]
    return Found(seconds, made.nmi, (made.bound or 1.0) - made.nmi, merged, checked)


def summed(what: str, answers: list[Found], limit: str) -> Row:
    """Means, and the worst gap and time."""
    seconds, nmi, gap, merged = np.array([answer[:4] for answer in answers]).T
    checked = [answer.is_checked for answer in answers if answer.is_checked is not None]
    quality = f"mean NMI {nmi.mean():.4f}, merging {merged.mean():.4f}; gap {gap.mean():.1e}, at most {gap.max():.1e}; "
    quality += f"{sum(checked)} of {len(checked)} proofs pass the checker; at most {seconds.max():.2f} s"
    return Row(f"{what}, {len(answers)} joints, mean", float(seconds.mean()), limit, None, quality)


def rows(most: int = JOINTS) -> Iterator[Row]:
    """Joints of 5 useful and 3 sensitive values, then of 17 and 5."""
    for notion in [*CONVEX, *OTHERS]:
        joints = range(min(JOINTS, most) if notion in CONVEX else min(JOINTS, most) // 5)
        small = [found(Joint.random(3, 5, seed=seed), notion, seed < CERTIFIED) for seed in joints]
        yield summed(f"(p) 5 x 3, {notion}", small, "")
    for notion in (*CONVEX, Chi2Lift(eps_upper=0.1)):
        large = [found(Joint.random(5, 17, seed=k), notion, k == 0, SECONDS) for k in range(min(LARGER, most))]
        yield summed(f"(p) 17 x 5, {notion}", large, f"limit {SECONDS:g} s")
