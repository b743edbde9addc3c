"""Promises about averages: what they measure on the counts at hand, beside their budgets; lifts say little of them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from discreet.certificate.verification.verdict import Finding
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.mechanism import Mechanism
from discreet.notions.base import from_dict

__all__ = ["averages"]

#: Nats are shown in as many digits as the log-lifts of a certificate, rounded up.
STEP = decimal.Decimal("0.000001")


def averages(notion: Mapping[str, Any], counts: Mapping[str, Any], mechanism: Mechanism) -> Iterator[Finding]:
    """What each bound on an average needs of its budget; nothing where the promise is on lifts alone."""
    promise = from_dict(dict(notion))
    if all(bound.kind.is_on_lifts for bound in promise.bounds):
        return
    found = promise.on_averages(_joint(counts), mechanism)
    told = ", ".join(f"{one['measure']} at {_nats(one)} of {one['epsilon']:g} nats" for one in found)
    yield Finding("averages", all(one["level"] <= one["epsilon"] for one in found), told)


def _nats(one: Mapping[str, Any]) -> str:
    up = decimal.Decimal(repr(one["level"])).quantize(STEP, decimal.ROUND_CEILING)
    budget = decimal.Decimal(repr(one["epsilon"]))
    return f"{min(up, budget) if one['level'] <= one['epsilon'] else up:f}"


def _joint(counts: Mapping[str, Any]) -> Joint:
    """The counted joint of a certificate."""
    sensitive, useful = ([labels.decode(label) for label in counts[side]] for side in ("sensitive", "useful"))
    matrix = np.zeros((len(sensitive), len(useful)), dtype=np.int64)
    for s, x, n in counts["cells"]:
        matrix[s, x] = n
    return Joint.from_counts(matrix, sensitive=sensitive, useful=useful)
