"""Where the lines and marks of the trade-off chart lie; a template draws them as a small SVG."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass

from discreet.reporting.formats import percent
from discreet.reporting.model import Tradeoff
from discreet.reporting.shown import curves_of

__all__ = ["Chart", "Mark", "chart_of"]

LEFT, RIGHT, TOP, BOTTOM = 74, 620, 18, 300

#: Steps between the lines of the grid, on either axis.
STEPS = 4

#: Pixels that the name of the release needs beside the axis.
NAME_WIDTH = 90


@dataclass(frozen=True)
class Mark:
    """A point of a curve, with what its tooltip says."""

    x: float
    y: float
    title: str


@dataclass(frozen=True)
class Chart:
    """The drawing in pixels: lines of the grid and ticks with their texts, curves, and the release itself."""

    grid: tuple[tuple[float, str], ...]
    ticks: tuple[tuple[float, str], ...]
    curves: tuple[tuple[Mark, ...], ...]
    here: Mark
    name_left: bool
    left: int = LEFT
    right: int = RIGHT
    top: int = TOP
    bottom: int = BOTTOM


def chart_of(swept: Tradeoff) -> Chart:
    """The curves of the share kept against the budget, the chosen method first, and a ring for the release."""
    assert swept.epsilon is not None  # there are rows
    assert swept.nmi is not None
    most = max(*(row.epsilon for row in swept.rows), swept.epsilon) or 1.0

    def x(epsilon: float) -> float:
        return LEFT + (RIGHT - LEFT) * epsilon / most

    def y(nmi: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * nmi

    curves = tuple(
        tuple(
            Mark(x(row.epsilon), y(row.nmi), f"{method}, budget {row.epsilon:.4g} nats: keeps {percent(row.nmi)}")
            for row in rows
        )
        for method, rows in curves_of(swept.rows).items()
    )
    steps = [k / STEPS for k in range(STEPS + 1)]
    return Chart(
        grid=tuple((y(part), f"{100 * part:g} %") for part in steps),
        ticks=tuple((x(most * part), f"{most * part:.3g}") for part in steps),
        curves=curves,
        here=Mark(x(swept.epsilon), y(swept.nmi), percent(swept.nmi)),
        # Curves rise to the right, so the space above and left of a point is free, unless the axis is there.
        name_left=x(swept.epsilon) > LEFT + NAME_WIDTH,
    )
