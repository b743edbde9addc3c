"""(b) Subset merging on large alphabets, and (d) all measures of a large joint."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from benchmarks.common import Row, median_seconds
from discreet import ALIP, Joint, design
from discreet.reporting.audit import scalar_measures


def rows() -> list[Row]:
    result = []
    for n_useful, n_sensitive, limit in ((200, 15, 0.020), (10_000, 10, 10.0)):
        joint = Joint.random(n_sensitive, n_useful, seed=2)
        seconds, done = median_seconds(lambda joint=joint: design(joint, ALIP.split(1.0, 0.5), "subset-merging"))
        result.append(
            Row(
                f"(b) subset merging {n_useful} x {n_sensitive}, eps 1",
                seconds,
                f"limit {limit:g} s",
                seconds / limit,
                f"NMI {done.nmi:.4f}, {done.mechanism.n_released} released, exact check passed",
            )
        )
    joint = Joint.random(50, 2000, seed=1)
    seconds, values = median_seconds(lambda: scalar_measures(joint), repeat=5)
    result.append(
        Row(
            "(d) all measures, 2,000 x 50",
            seconds,
            "limit 0.2 s",
            seconds / 0.2,
            f"I(S;X) {values['mutual_information']:.4f}",
        )
    )
    return result
