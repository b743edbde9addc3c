"""Promises with confidence written from their definition: every corner of the limits, in fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction


def below(n: int, k: int, p: Fraction) -> Fraction:
    """P(Bin(n, p) <= k)."""
    return sum((math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1)), Fraction(0))


def covered(n: int, k: int, low: Fraction, high: Fraction, alpha: Fraction) -> bool:
    """Whether the limits of k out of n are no narrower than the exact ones at alpha on either side."""
    return below(n, k, high) <= alpha and 1 - below(n, k - 1, low) <= alpha


def lifts(
    records: list[int], weights: list[list[int]], low: list[list[Fraction]], high: list[list[Fraction]]
) -> list[tuple[Fraction, Fraction]]:
    """Least and largest lift of each released symbol over all sensitive values and all corners of the limits.

    ``weights[x][y]`` is how often x is released as y. Lifts are quotients of linear functions of P(s | .), whose
    extremes are at corners.
    """
    total = sum(records)
    found = []
    for column in zip(*weights):
        mass = sum(n * w for n, w in zip(records, column))
        if not mass:
            found.append((Fraction(1), Fraction(1)))
            continue
        values = []
        for ends in zip(low, high):
            for belief in itertools.product(*zip(*ends)):
                share = sum(n * b for n, b in zip(records, belief))
                if share:
                    both = sum(n * w * b for n, w, b in zip(records, column, belief))
                    values.append(both * total / (share * mass))
        found.append((min(values), max(values)))
    return found


def rows(records, low, high, upper, lower):
    """Every row b . (v - t P) <= 0 that corners of the limits put on posteriors v, homogeneous; floats."""
    share = [n / sum(records) for n in records]
    found = []
    for ends in zip(low, high):
        for belief in itertools.product(*zip(*([float(b) for b in end] for end in ends))):
            mean = sum(p * b for p, b in zip(share, belief))
            if upper is not None:
                found.append([b - math.exp(upper) * mean for b in belief])
            if lower is not None:
                found.append([math.exp(-lower) * mean - b for b in belief])
    return found
