"""Do released frequencies agree with the weights? Exact binomial tests that an honest release passes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet._support.numeric import DENOMINATOR
from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.verdict import Finding
from discreet.mechanism import Draw
from discreet.tables.dialect import DUCKDB

__all__ = ["FALSE_ALARM", "frequencies"]

#: Chance that the frequencies of an honest release are rejected, over all tests together.
FALSE_ALARM = 1e-6


def frequencies(evidence: Evidence, link: Any, number: int, column: str, draw: Draw) -> Finding:
    """Exact binomial tests of every count against its weight, and no count where the weight is zero."""
    names = [DUCKDB.identifier("k_" + c) for c in draw.inputs]
    by = ", ".join([*names, f"y{number}"])
    found = link.filter("there_ AND stands_ IS NOT NULL").aggregate(f"{by}, count(*) AS n", by).fetchall()
    rows = evidence.rows_of(draw)
    observed = (_label_counts if draw.bits is None else _bit_counts)(found, rows, draw)
    if observed is None:
        return Finding(f"frequencies of {column}", False, "a row holds what its value is never released as")
    worst = _smallest_chance(*observed)
    passed = worst >= FALSE_ALARM
    text = (
        f"agree with the weights (false alarms below {FALSE_ALARM:g})"
        if passed
        else (f"do not agree with the weights (chance below {max(worst, 1e-300):.1g})")
    )
    return Finding(f"frequencies of {column}", passed, text)


def _label_counts(found: list[Any], rows: Mapping[Any, int], draw: Draw) -> tuple[Any, Any, Any] | None:
    weights = _weights(draw)
    counts: Counter[tuple[int, str]] = Counter()
    totals: Counter[int] = Counter()
    for *values, y, n in found:
        row = rows[tuple(values)]
        if row < 0 or (row, y) not in weights:
            return None
        counts[row, y] += n
        totals[row] += n
    cells = [(counts[row, y], totals[row], w / DENOMINATOR) for (row, y), w in weights.items() if totals[row]]
    seen, trials, chances = (np.array(part) for part in zip(*cells))
    return seen, trials, chances


def _weights(draw: Draw) -> dict[tuple[int, str], int]:
    """Weight of every entry."""
    result = {}
    for row in range(len(draw.symbols)):
        for entry in range(int(draw.starts[row]), int(draw.starts[row + 1])):
            result[row, draw.labels[entry]] = int(draw.weights[entry])
    return result


def _bit_counts(found: list[Any], rows: Mapping[Any, int], draw: Draw) -> tuple[Any, Any, Any] | None:
    size = len(draw.symbols)
    ones = np.zeros((size, size), dtype=np.int64)
    totals = np.zeros(size, dtype=np.int64)
    for *values, y, n in found:
        row = rows[tuple(values)]
        if row < 0 or not isinstance(y, str) or len(y) != size:
            return None
        ones[row] += n * (np.frombuffer(y.encode(), dtype=np.uint8) == ord("1"))
        totals[row] += n
    true, other = draw.bits or (0, 0)
    chances = np.where(np.eye(size, dtype=bool), true, other) / DENOMINATOR
    return ones.ravel(), np.repeat(totals, size), chances.ravel()


def _smallest_chance(seen: Any, trials: Any, chances: Any) -> float:
    """The smallest two-sided chance of the counts, times the number of tests."""
    below, above = _at_most(seen, trials, chances), _at_least(seen, trials, chances)
    return float(min(1.0, 2 * np.minimum(below, above).min() * len(seen)))


# As incomplete beta functions, since scipy.stats takes longer to import than a table of a million rows to verify.
def _at_most(seen: Any, trials: Any, chances: Any) -> Any:
    """Chance that a binomial count is at most the one seen."""
    from scipy.special import betaincc

    others = trials - seen
    return np.where(others == 0, 1.0, betaincc(seen + 1.0, np.maximum(others, 1), chances))


def _at_least(seen: Any, trials: Any, chances: Any) -> Any:
    """Chance that a binomial count is at least the one seen."""
    from scipy.special import betainc

    return np.where(seen == 0, 1.0, betainc(np.maximum(seen, 1), trials - seen + 1.0, chances))
