"""Randomised response, unary encoding and conditional reporting from their definitions, with alpha by bisection."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.papers.oracles.distributions import level, through

__all__ = ["attribute_level", "bits", "largest", "reporting", "response", "robust_level"]


def response(n: int, alpha: float) -> Any:
    """GRR: the true symbol is exp(alpha) times as likely as any other."""
    weights = np.ones((n, n)) + np.diag(np.full(n, math.exp(alpha) - 1))
    return weights / weights.sum(axis=1, keepdims=True)


def reporting(cells: Any, alpha: float) -> Any:
    """CR, (46) of LTS20 with its indicator: P(y | s, x), S randomised, x kept where S survived."""
    c, a = cells.shape
    given = cells / cells.sum(axis=1, keepdims=True)
    channel = np.zeros((c, a, a))
    for s in range(c):
        others = sum((given[t] for t in range(c) if t != s), np.zeros(a))
        for x in range(a):
            channel[s, x] = others
            channel[s, x, x] += math.exp(alpha)
    return channel / (math.exp(alpha) + c - 1)


def bits(n: int, true: float, other: float) -> Any:
    """Unary encoding over all 2^n sets: the true bit is one with chance ``true``, every other with ``other``."""
    sets = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
    ones = sets.sum(axis=1)
    rest = ones[:, None] - sets  # ones among the other bits
    chance = np.where(sets == 1, true, 1 - true) * other**rest * (1 - other) ** (n - 1 - rest)
    return chance.T


def largest(cells: Any, protocol: Callable[[float], Any], epsilon: float, most: float = 60.0) -> float:
    """The largest alpha at which a protocol is epsilon-LIP, by bisection; inf where every alpha is."""
    if level(through(cells, protocol(most))) <= epsilon:
        return math.inf
    low, high = 0.0, most
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if level(through(cells, protocol(middle))) <= epsilon else (low, middle)
    return low


def robust_level(cells: Any, useful: list[tuple[Any, ...]], channel: Any) -> float:
    """SRLIP by its definition: the largest LIP level given any values of any subset of attributes."""
    return max(
        (level(_released(cells[:, rows], channel[rows])) for rows in _slices(useful, range(len(useful[0])))),
        default=0.0,
    )


def attribute_level(cells: Any, useful: list[tuple[Any, ...]], attribute: int, channel: Any) -> float:
    """The premise of Theorem 4: the largest level of one attribute's protocol given values of other attributes."""
    others = [j for j in range(len(useful[0])) if j != attribute]
    values = sorted({x[attribute] for x in useful})
    spread = np.array([channel[values.index(x[attribute])] for x in useful])
    return max(level(_released(cells[:, rows], spread[rows])) for rows in _slices(useful, others))


def _slices(useful: list[tuple[Any, ...]], attributes: Any) -> list[list[int]]:
    names = list(attributes)
    found = []
    for size in range(len(names) + 1):
        for chosen in itertools.combinations(names, size):
            groups: dict[tuple[Any, ...], list[int]] = {}
            for k, x in enumerate(useful):
                groups.setdefault(tuple(x[j] for j in chosen), []).append(k)
            found += list(groups.values())
    return found


def _released(cells: Any, channel: Any) -> Any:
    seen = cells[cells.sum(axis=1) > 0]
    return through(seen / seen.sum(), channel)
