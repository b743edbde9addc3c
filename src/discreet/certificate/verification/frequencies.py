"""Do released frequencies agree with the weights? Exact binomial tests that an honest release passes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

from discreet._support.numeric import DENOMINATOR, IntArray
from discreet.certificate.verification.verdict import Finding
from discreet.mechanism import Draw

__all__ = ["FALSE_ALARM", "frequencies"]

#: Chance that the frequencies of an honest release are rejected, over all tests together.
FALSE_ALARM = 1e-6


def frequencies(column: str, draw: Draw, entries: IntArray, ones: IntArray) -> Finding:
    """Exact binomial tests of every count against its weight, and no count where the weight is zero.

    ``entries`` and ``ones`` are what `Tally` counts of a draw.
    """
    if entries[-1]:
        return Finding(f"frequencies of {column}", False, "a row holds what its value is never released as")
    counts = entries[:-1]
    worst = _smallest_chance(*(_label_tests(draw, counts) if draw.bits is None else _bit_tests(draw, counts, ones)))
    passed = worst >= FALSE_ALARM
    text = (
        f"agree with the weights (false alarms below {FALSE_ALARM:g})"
        if passed
        else (f"do not agree with the weights (chance below {max(worst, 1e-300):.1g})")
    )
    return Finding(f"frequencies of {column}", passed, text)


def _label_tests(draw: Draw, counts: IntArray) -> tuple[Any, Any, Any]:
    """Of every entry how often it was seen, in how many records, and its chance."""
    sizes = np.diff(draw.starts)
    totals = np.repeat(np.add.reduceat(counts, draw.starts[:-1]), sizes)
    used = totals > 0
    return counts[used], totals[used], draw.shares[used]


def _bit_tests(draw: Draw, counts: IntArray, ones: IntArray) -> tuple[Any, Any, Any]:
    """Of every bit of every row how often it was one, in how many records, and its chance."""
    size = len(draw.symbols)
    true, other = draw.bits or (0, 0)
    chances = np.where(np.eye(size, dtype=bool), true, other) / DENOMINATOR
    return ones.ravel(), np.repeat(counts, size), chances.ravel()


def _smallest_chance(seen: Any, trials: Any, chances: Any) -> float:
    """The smallest two-sided chance of the counts, times the number of tests."""
    below, above = _at_most(seen, trials, chances), _at_least(seen, trials, chances)
    return float(min(1.0, 2 * np.minimum(below, above).min(initial=1.0) * len(seen)))


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
