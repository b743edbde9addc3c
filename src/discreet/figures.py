"""Figures of frontiers, quantisations and attacks. Needs matplotlib, the extra ``plots``."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet._support.errors import InputError
from discreet._support.visible import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from discreet.frontiers.sweep import Frontier, FrontierRow
    from discreet.publishing.attack.record import Attack
    from discreet.quantising import Quantisation, QuantisationPath

__all__ = [
    "attack_figure",
    "blank_figure",
    "convergence_figure",
    "figure_bytes",
    "frontier_figure",
    "quantisation_figure",
]

#: Colours that people with colour blindness tell apart (Okabe and Ito), and markers for those who see none.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

#: Sensitive values of an attack that get panels, and where log-lifts of what is ruled out are drawn, nats.
MOST_VALUES, FARTHEST = 4, 4.0


def frontier_figure(frontier: Frontier) -> Figure:
    """Three panels: the share that is kept with its proven limit, leakage by falling and by rising beliefs."""
    figure = blank_figure(12, 4)
    utility, falling, rising = figure.subplots(1, 3)
    for k, ((method, lam), rows) in enumerate(frontier.curves().items()):
        style = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)], "markersize": 4}
        name = method if lam is None else f"{method}, lam {lam:g}"
        epsilon = [row.epsilon for row in rows]
        utility.plot(epsilon, [row.kept for row in rows], label=name, **style)
        falling.plot(epsilon, [_finite(-row.log_min_lift) for row in rows], **style)
        rising.plot(epsilon, [_finite(row.log_max_lift) for row in rows], **style)
    limits = _limits(frontier)
    if limits:
        reading = any(row.reads_sensitive for row in frontier.rows)
        name = "proven limit without S" if reading else "proven limit"
        utility.plot(*zip(*limits), color="0.4", linestyle="--", linewidth=1, label=name)
    knee = frontier.knee()
    utility.annotate(
        "knee", (knee.epsilon, knee.kept), xytext=(12, -24), textcoords="offset points", arrowprops={"arrowstyle": "->"}
    )
    name = knee.design.kept_name
    utility.set(title="Kept of X", ylabel="I(X;Y) / H(X)" if name == "NMI" else name, ylim=(0, 1.02))
    falling.set(title="Leakage, falling beliefs", ylabel="largest -log min-lift (nats)")
    rising.set(title="Leakage, rising beliefs", ylabel="largest log max-lift (nats)")
    for axes in (utility, falling, rising):
        axes.set(xlabel=f"{frontier.swept} (nats)", xlim=(0, None))
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    utility.legend(frameon=False, fontsize="small", loc="lower right")
    return figure


def quantisation_figure(paths: Sequence[QuantisationPath]) -> Figure:
    """Leakage against utility loss of several methods, points that none beats marked with a line."""
    figure = blank_figure(7, 4.5)
    axes = figure.subplots()
    resolution = paths[0].utility == "resolution"
    maximin = paths[0].objective == "maximin"
    for k, path in enumerate(paths):
        style: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]}

        def place(point: Quantisation) -> tuple[float, float]:
            return (
                point.loss if resolution else float(point.distortion or 0.0),
                point.maximin_bits if maximin else point.leakage_bits,
            )

        axes.plot(*zip(*map(place, path.points)), linestyle="", alpha=0.35, markersize=4, **style)
        axes.plot(*zip(*map(place, path.frontier())), markersize=5, label=path.method, **style)
    axes.set(
        xlabel="loss of resolution, 1 - U1 / H0(X)" if resolution else "largest distortion",
        ylabel="maximin information (bits)" if maximin else "uncertainty reduction L0 (bits)",
        title="What merging values costs, and what it still gives away",
    )
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure


def convergence_figure(path: QuantisationPath, weights: Sequence[float]) -> Figure:
    """The Lagrangian after each step, for several weights; a ring where the algorithm stops."""
    figure = blank_figure(7, 4.5)
    axes = figure.subplots()
    for k, weight in enumerate(weights):
        colour, values = COLOURS[k % len(COLOURS)], path.lagrangian(weight)
        axes.plot(values, color=colour, marker=MARKERS[k % len(MARKERS)], markersize=4, label=f"weight {weight:g}")
        stop = path.points.index(path.best(weight))
        axes.plot([stop], [values[stop]], marker="o", markersize=11, fillstyle="none", color=colour)
    axes.set(xlabel="step", ylabel="leakage - weight * utility", title=f"Convergence, {path.objective}")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return figure


def attack_figure(attack: Attack) -> Figure:
    """Log-lifts of every part of the records before and after, a row of panels for each sensitive value."""
    shown = sorted(range(len(attack.values)), key=lambda value: -_widest(attack, value))[:MOST_VALUES]
    figure = blank_figure(11, 1 + 3 * len(shown))
    grid = figure.subplots(len(shown), 2, squeeze=False, sharey="row")
    names = list(dict.fromkeys(cell.model for cell in (*attack.cells_before, *attack.cells_after)))
    for panels, value in zip(grid, shown):
        for axes, when, cells in zip(panels, ("before", "after"), (attack.cells_before, attack.cells_after)):
            for name in names:
                _parts(axes, [cell for cell in cells if (cell.model, cell.value) == (name, value)], name, names)
            if attack.promised is not None:
                low, high = attack.promised[:2]
                axes.axhspan(max(low, -FARTHEST), min(high, FARTHEST), color="0.5", alpha=0.15, label="promised")
            axes.axhline(0, color="0.4", linewidth=0.8)
            axes.set(title=f"{_plain(attack.values[value])}, {when}", xlabel="records, by belief", xlim=(0, 1))
            axes.grid(alpha=0.3)
            axes.spines[["top", "right"]].set_visible(False)
        panels[0].set(ylabel="log-lift (nats)")
    handles, labels = grid[0][1].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, fontsize="small", loc="outside right center")
    return figure


def _parts(axes: Any, cells: Sequence[Any], name: str, names: Sequence[str]) -> None:
    """Parts of one model, with limits; what is ruled out stands at the edge, models of the original are dashed."""
    if not cells:
        return
    height = [max(cell.log_lift, -FARTHEST) for cell in cells]
    below = [max(0.0, middle - max(cell.low, -FARTHEST)) for middle, cell in zip(height, cells)]
    above = [max(0.0, cell.high - middle) for middle, cell in zip(height, cells)]
    own = name.removeprefix("original's ")
    k = names.index(own)
    style: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]}
    style["linestyle"] = "-" if name == own else "--"
    axes.errorbar(
        [cell.share for cell in cells], height, (below, above), label=name, markersize=3, linewidth=0.8, **style
    )


def _widest(attack: Attack, value: int) -> float:
    """How far the log-lifts of a value go after the release."""
    return max((min(abs(cell.log_lift), FARTHEST) for cell in attack.cells_after if cell.value == value), default=0.0)


def _plain(text: str) -> str:
    """A label that is no formula."""
    return visible(text).replace("$", r"\$")


def figure_bytes(figure: Figure, kind: str) -> bytes:
    """The file of a figure: svg, png or pdf, the same bytes for the same figure."""
    import matplotlib

    stream = io.BytesIO()
    undated: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    with matplotlib.rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none"}):
        figure.savefig(stream, format=kind, dpi=150, metadata=undated)
    return stream.getvalue()


def blank_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("plots need matplotlib: pip install 'discreet[plots]'.") from None
    return Figure(figsize=(width, height), layout="constrained")


def _limits(frontier: Frontier) -> list[tuple[float, float]]:
    """The smallest proven limit at every epsilon, where one lam only was swept."""
    best: dict[float, float] = {}
    lams = {row.lam for row in frontier.rows}
    rows: list[FrontierRow] = [row for row in frontier.rows if row.bound is not None and len(lams) == 1]
    # A mechanism that reads S is not held by the limit of those that do not.
    plain = [row for row in rows if not row.reads_sensitive]
    rows = plain or rows
    for row in rows:
        best[row.epsilon] = min(best.get(row.epsilon, math.inf), row.bound or math.inf)
    return sorted(best.items())


def _finite(value: float) -> float:
    return value if math.isfinite(value) else math.nan
