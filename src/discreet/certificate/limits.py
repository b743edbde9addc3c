"""Limits of beliefs as certificates with confidence state them, beside the counts that they follow from."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet.core.joint import Joint
from discreet.measures.limits import belief_limits

__all__ = ["with_limits"]


def with_limits(counts: dict[str, Any], notion: Mapping[str, Any]) -> dict[str, Any]:
    """Counts as a certificate has them, with the limits of P(s | x) where the notion promises with confidence.

    Limits invert to the counts, and are for the same eyes.
    """
    if notion.get("confidence") is None:
        return counts
    matrix = np.zeros((len(counts["sensitive"]), len(counts["useful"])), dtype=np.int64)
    for s, x, n in counts["cells"]:
        matrix[s, x] = n
    found = belief_limits(Joint.from_counts(matrix), float(notion["confidence"]))
    occurring = np.flatnonzero(matrix.sum(axis=0)).tolist()
    limits = [[s, x, int(found.low[s, x]), int(found.high[s, x])] for s in range(len(matrix)) for x in occurring]
    return {**counts, "limits": limits}
