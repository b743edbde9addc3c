"""Printed ranges of random draws: their ends are random themselves, so they are compared with those of other runs."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from discreet._support.numeric import FloatArray
from discreet.papers.base import Answer

__all__ = ["range_answer"]


def range_answer(said: Any, got: FloatArray, runs: dict[str, tuple[float, float]], exact: bool) -> Answer:
    """A printed interval against ours: each end must be one that such runs give, up to half of its last digit."""
    ends = ("min low", "min high") if got.mean() < 0 else ("max low", "max high")
    room = [0.5 * 10.0 ** -len(str(value).partition(".")[2]) for value in said]
    inside = [runs[e][0] - r <= v <= runs[e][1] + r for v, e, r in zip(said, ends, room)]
    shown = "; ".join(f"{runs[e][0]:.3g} to {runs[e][1]:.3g}" for e in ends)
    ours = [float(got.min()), float(got.max())]
    rounded = "".join(_rounded(v, r) for v, e, r in zip(said, ends, room) if not runs[e][0] <= v <= runs[e][1])
    return Answer(ours, f"ends of other runs of as many joints: {shown}{rounded}", all(inside) and exact)


def _rounded(said: float, room: float) -> str:
    """What a printed end stands for that lies outside of all runs as it is printed.

    >>> _rounded(-0.5, 0.05)
    '; -0.5 in print stands for anything from -0.55 to -0.45'
    """
    return f"; {said:g} in print stands for anything from {said - room:.3g} to {said + room:.3g}"
