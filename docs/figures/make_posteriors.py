"""Draw docs/figures/posteriors.svg: allowed posteriors on a triangle, and P(X) as a mixture of vertices.

Run it from anywhere: ``python docs/figures/make_posteriors.py``. Needs the extra "plots".
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

import discreet as dc

#: Records by sensitive value (rows) and useful value (columns); docs/theory.md uses the same numbers.
COUNTS = [[20, 10, 6], [6, 20, 9], [8, 6, 15]]
USEFUL = ("a", "b", "c")
EPSILON = 0.35

#: Where the corners of the triangle lie, one row for each useful value.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
GREY, BLUE, ORANGE = "#767676", "#3b6fb6", "#d1495b"


def clipped(polygon: np.ndarray, row: np.ndarray, bound: float) -> np.ndarray:
    """The part of a polygon of posteriors where ``row @ v <= bound`` (Sutherland and Hodgman)."""
    kept = []
    for first, second in zip(polygon, np.roll(polygon, -1, axis=0)):
        inside, other = bound - row @ first, bound - row @ second
        if inside >= 0:
            kept.append(first)
        if inside * other < 0:
            kept.append(first + (second - first) * inside / (inside - other))
    return np.array(kept)


def allowed(joint: dc.Joint, epsilon: float) -> np.ndarray:
    """Corners of the polytope of posteriors that LIP allows, in order around it."""
    polygon = np.eye(joint.n_useful)
    for lifts in dc.measures.lift(joint):
        polygon = clipped(polygon, lifts, np.exp(epsilon))
        polygon = clipped(polygon, -lifts, -np.exp(-epsilon))
    return polygon


def figure() -> Figure:
    """The picture."""
    joint = dc.Joint.from_counts(COUNTS, useful=USEFUL)
    vertices = allowed(joint, EPSILON) @ CORNERS
    design = dc.design(joint, dc.LIP(EPSILON))
    mass = joint.p_useful @ design.mechanism.channel
    posteriors = (joint.p_useful[:, None] * design.mechanism.channel / mass).T @ CORNERS
    prior = joint.p_useful @ CORNERS

    drawing = Figure(figsize=(6.4, 5.2))
    axes = drawing.add_axes((0.02, 0.02, 0.96, 0.96))
    axes.fill(*CORNERS.T, facecolor="none", edgecolor=GREY, linewidth=1.2)
    axes.fill(*vertices.T, facecolor="#dbe6f5", edgecolor=BLUE, linewidth=1.4)
    axes.plot(*vertices.T, "o", color=BLUE, markersize=4)
    for place, weight in zip(posteriors, mass):
        axes.plot(*np.array([prior, place]).T, color=ORANGE, linewidth=1.0, linestyle="--")
        axes.plot(*place, "o", color=ORANGE, markersize=5 + 22 * np.sqrt(weight), alpha=0.75, markeredgewidth=0)
        outward = place - CORNERS.mean(axis=0)
        x, y = place + 0.115 * outward / np.hypot(*outward)
        axes.text(x, y, f"q = {weight:.2f}", color=ORANGE, ha="center", va="center", fontsize=10)
    axes.plot(*prior, "k*", markersize=13)
    axes.annotate("P(X)", prior, xytext=(9, 7), textcoords="offset points", fontsize=11)
    for (x, y), name, (dx, dy) in zip(CORNERS, USEFUL, [(-0.03, -0.035), (0.03, -0.035), (0.0, 0.04)]):
        axes.text(x + dx, y + dy, f"certainly {name}", ha="center", va="center", fontsize=11, color=GREY)
    axes.text(0.84, 0.72, "no mechanism may\nlead to a belief out here", ha="center", color=GREY, fontsize=9)
    axes.set(xlim=(-0.14, 1.14), ylim=(-0.09, 0.95), aspect="equal")
    axes.set_axis_off()
    return drawing


def main() -> None:
    """Write the picture beside this script, the same bytes every time."""
    target = Path(__file__).with_name("posteriors.svg")
    with mpl.rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none", "font.family": "DejaVu Sans"}):
        FigureCanvasSVG(figure()).print_svg(target, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
