"""Whether learned beliefs are right on average: what a class was told, and what its records show."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

from discreet._support.numeric import FloatArray, IntArray
from discreet.core.joint import Joint

__all__ = ["calibration_of"]


def calibration_of(joint: Joint, beliefs: FloatArray, classes: IntArray) -> dict[str, Any]:
    """Mean belief and counted share of every label in every class, and how far they are apart on average.

    Being wrong costs utility, not truth: the promise is about the counts.
    """
    counts = np.asarray(joint.counts, dtype=np.float64)
    records = counts.sum(axis=0)
    sizes = np.maximum(np.bincount(classes, minlength=joint.n_useful), 1)
    told = np.stack([np.bincount(classes, own, minlength=joint.n_useful) / sizes for own in beliefs.T])
    shown = counts / np.maximum(records, 1)
    told = told[: len(shown)]
    off = float((np.abs(told - shown) * records).sum() / max(1.0, records.sum()) / len(shown))
    return {
        "classes": list(joint.useful),
        "labels": list(joint.sensitive),
        "records": [int(n) for n in records],
        "believed": [[round(float(p), 6) for p in row] for row in told],
        "counted": [[round(float(p), 6) for p in row] for row in shown],
        "mean_error": off,
    }
