"""What merging keeps and leaks, over many joints at once, complete merging without any repair, and Algorithm 1 of ZDS23."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["algorithm1", "extremes", "high_risk", "judged", "limits", "merged_once", "risks"]


def extremes(cells: Any) -> tuple[Any, Any]:
    """Smallest and largest log of P(x | s) / P(x) for every symbol of every joint, shape (n_joints, n_useful)."""
    with np.errstate(divide="ignore"):
        logs = np.log(cells / cells.sum(axis=2, keepdims=True)) - np.log(cells.sum(axis=1))[:, None, :]
    return logs.min(axis=1), logs.max(axis=1)


def judged(cells: Any, blocks: Any) -> Any:
    """(NMI, falling, rising leakage) of joints whose symbols are merged into blocks; blocks are named by numbers."""
    n_blocks = int(blocks.max()) + 1
    member = blocks[:, :, None] == np.arange(n_blocks)
    united = np.einsum("jsx,jxb->jsb", cells, member.astype(float))
    mass = united.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(united / mass[:, None, :]) - np.log(cells.sum(axis=2))[:, :, None]
    absent = np.broadcast_to((mass == 0)[:, None, :], logs.shape)
    falling = -np.where(absent, np.inf, logs).min(axis=(1, 2))
    rising = np.where(absent, -np.inf, logs).max(axis=(1, 2))
    kept = _entropies(mass) / _entropies(cells.sum(axis=1))
    return np.stack([kept, np.maximum(falling, 0.0), np.maximum(rising, 0.0)], axis=-1)


def _entropies(rows: Any) -> Any:
    return -np.where(rows > 0, rows * np.log(np.where(rows > 0, rows, 1.0)), 0.0).sum(axis=1)


def high_risk(cells: Any, lower: float, upper: float, *, together: bool = False) -> Any:
    """Symbols whose log-lifts leave [-lower, upper]; ``together``: whose spread exceeds lower + upper, as LDP asks."""
    least, most = extremes(cells)
    return most - least > lower + upper if together else (most > upper) | (least < -lower)


def merged_once(cells: Any, risky: Any) -> Any:
    """Blocks of complete merging: all high-risk symbols in one, the others alone."""
    first = np.argmax(risky, axis=1)
    return np.where(risky, first[:, None], np.arange(cells.shape[2])[None, :])


def risks(kind: str, lifts: Any, prior: Any, alpha: float = 2.0) -> tuple[float, float]:
    """What a symbol of these lifts is judged by, falling beliefs first: extremes, or l1-, chi2- or alpha-means."""
    with np.errstate(divide="ignore"):
        both = (1 / lifts, lifts)
    if kind == "alip":
        first, second = (side.max() for side in both)
    elif kind == "alpha":
        first, second = (side.max() * (prior @ (side / side.max()) ** alpha) ** (1 / alpha) for side in both)
    else:
        first, second = (prior @ np.abs(side - 1) ** (1 if kind == "l1" else 2) for side in both)
    return float(first), float(second)


def limits(kind: str, lower: float, upper: float) -> tuple[float, float]:
    """What the risks of a kind may be at most (Section 6.2 of ZDS23)."""
    power = {"l1": 1, "chi2": 2}.get(kind)
    first, second = ((math.exp(e) if power is None else (math.exp(e) - 1) ** power) for e in (lower, upper))
    return first, second


def algorithm1(
    cells: Any, judge: Callable[[Any, Any], tuple[float, float]], most: Sequence[float]
) -> set[frozenset[int]]:
    """Algorithm 1 of ZDS23 in plain loops: blocks of symbols, each allowed.

    A block starts with the riskiest high-risk symbol left and takes in what makes its risk least until it is allowed.
    A last one that is not takes in the other blocks, then low-risk symbols, in the same way.
    """
    prior = cells.sum(axis=1)

    def judged_(block: frozenset[int]) -> tuple[float, float]:
        united = cells[:, sorted(block)].sum(axis=1)
        return judge(united / united.sum() / prior, prior)

    def allowed(block: frozenset[int]) -> bool:
        return all(risk <= limit for risk, limit in zip(judged_(block), most))

    def grown(block: frozenset[int], pool: set[frozenset[int]]) -> frozenset[int]:
        while not allowed(block) and pool:
            taken = min(pool, key=lambda other: sum(judged_(block | other)))
            pool.remove(taken)
            block |= taken
        return block

    single = {frozenset([x]) for x in range(cells.shape[1])}
    risky = {some for some in single if not allowed(some)}
    low, blocks, last = single - risky, set[frozenset[int]](), frozenset[int]()
    while risky:
        first = max(risky, key=lambda some: sum(judged_(some)))
        risky.remove(first)
        last = grown(first, risky)
        blocks.add(last)
    if last and not allowed(last):
        blocks.remove(last)
        blocks.add(grown(grown(last, blocks), low))
    return blocks | low
