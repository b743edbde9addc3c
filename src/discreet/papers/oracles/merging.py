"""What merging keeps and leaks, over many joints at once, and complete merging without any repair."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["extremes", "high_risk", "judged", "merged_once"]


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
