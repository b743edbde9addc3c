"""Privacy-utility curves over many joints, and figures in one style: utility, falling and rising beliefs."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from discreet._support.numeric import FloatArray
from discreet.core.joint import Joint
from discreet.notions import Notion
from discreet.papers.oracles import distributions, merging
from discreet.papers.tested import Tested
from discreet.papers.writing import MEASURED

__all__ = [
    "EPSILONS",
    "Curves",
    "budgets",
    "curves",
    "drawn_from",
    "figure_of",
    "histogram_figure",
    "histogram_rows",
    "measured",
    "merged",
    "shares_figure",
    "shares_rows",
    "uniform",
]

EPSILONS: FloatArray = np.arange(1, 33) / 4

#: Problems solved together.
CHUNK = 2_400

Family = Callable[[float], Notion]
Curves = dict[str, dict[str, FloatArray]]


def budgets(quick: bool) -> FloatArray:
    """Budgets of .25 to 8, or a few of them."""
    return np.array([0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0]) if quick else EPSILONS


def uniform(tested: Tested, count: int, n_sensitive: int = 5, n_useful: int = 17) -> list[Joint]:
    """Joints of independent uniform numbers, normalised, seeds from 0 on."""
    return [tested.joint(n_sensitive, n_useful, seed=seed) for seed in range(count)]


def curves(
    tested: Tested,
    joints: Sequence[Joint],
    families: Mapping[str, tuple[str, Family]],
    epsilons: Sequence[float] | FloatArray,
    *,
    timed: bool = False,
) -> Curves:
    """Means over joints for each family (method, budget -> notion): NMI and leakages by budget, by their definitions.

    Of more than one joint the standard error of the mean NMI as well; ``timed``: and the seconds that a design takes,
    which are those of the processor, not of the clock.
    """
    result: Curves = {}
    for name, (method, family) in families.items():
        notions = [family(float(epsilon)) for epsilon in epsilons]
        if method in ("watchdog", "subset-merging") and not timed:
            found = merged(tested, joints, notions, method)
        else:
            found = np.array([[measured(tested, joint, n, method) for n in notions] for joint in joints])
        mean = found.mean(axis=0)
        result[name] = {
            "epsilon": np.asarray(epsilons, dtype=float),
            "nmi": mean[:, 0],
            "min_lift_leakage": mean[:, 1],
            "max_lift_leakage": mean[:, 2],
        }
        if len(joints) > 1:
            result[name]["nmi_error"] = found[:, :, 0].std(axis=0, ddof=1) / np.sqrt(len(joints))
        if timed:
            result[name][MEASURED] = mean[:, 3]
    return result


def measured(tested: Tested, joint: Joint, notion: Notion, method: str) -> tuple[float, float, float, float]:
    """(NMI, min-lift leakage, max-lift leakage) of what a method makes, and the processor's seconds that it takes."""
    start = time.process_time()
    channel = tested.designed(joint, notion, method)
    seconds = time.process_time() - start
    lifts = distributions.lifts(distributions.through(joint.probabilities, channel))
    with np.errstate(divide="ignore"):
        falling, rising = -np.log(lifts.min()), np.log(lifts.max())
    return distributions.nmi(joint.probabilities, channel), max(float(falling), 0.0), max(float(rising), 0.0), seconds


def drawn_from(count: int, said: int | None, found: Curves | None = None) -> str:
    """How many joints a figure rests on beside how many the paper says, and how sure that makes the means."""
    paper = "the paper does not say of how many" if said is None else f"the paper has {said:,}"
    words = f"{count:,} joint{'s' if count > 1 else ''}, {'as many as the paper' if count == said else paper}"
    errors = [curve["nmi_error"].max() for curve in (found or {}).values() if "nmi_error" in curve]
    return words + (f"; standard error of a mean NMI {max(errors):.4f} at most" if errors else "")


def merged(tested: Tested, joints: Sequence[Joint], notions: Sequence[Notion], method: str) -> FloatArray:
    """The same of merging, shape (n_joints, n_notions, 3), solved in lockstep."""
    make = {"watchdog": tested.watchdog, "subset-merging": tested.subset_merging}[method]
    step = max(1, CHUNK // len(notions))
    parts = []
    for first in range(0, len(joints), step):
        some = joints[first : first + step]
        pairs = [(joint, notion) for joint in some for notion in notions]
        blocks = make([joint for joint, _ in pairs], [notion for _, notion in pairs])
        cells = np.stack([joint.probabilities for joint, _ in pairs])
        parts.append(merging.judged(cells, blocks).reshape(len(some), len(notions), 3))
    return np.concatenate(parts)


def table(found: Curves) -> list[dict[str, Any]]:
    """The curves as lines of a table."""
    return list(_lines(found))


def _lines(found: Curves) -> Iterator[dict[str, Any]]:
    for name, curve in found.items():
        for k in range(len(curve["epsilon"])):
            yield {"curve": name, **{key: float(values[k]) for key, values in curve.items()}}


def figure_of(found: Curves, title: str) -> Any:
    """Utility, min-lift leakage and max-lift leakage side by side, and the time of a design where that was taken."""
    from discreet.figures import COLOURS, MARKERS, blank_figure

    timed = any(MEASURED in curve for curve in found.values())
    figure = blank_figure(4 * (4 if timed else 3), 3.6)
    panels = figure.subplots(1, 4 if timed else 3)
    names = ("nmi", "min_lift_leakage", "max_lift_leakage")
    titles = ("Kept of X, I(X;Y) / H(X)", "Min-lift leakage (nats)", "Max-lift leakage (nats)")
    for k, (name, curve) in enumerate(found.items()):
        style = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)], "markersize": 3}
        for axes, key in zip(panels, names):
            axes.plot(curve["epsilon"], np.where(np.isfinite(curve[key]), curve[key], np.nan), label=name, **style)
        if timed:
            panels[3].plot(curve["epsilon"], curve[MEASURED], **style)
    for axes, text in zip(panels, titles):
        axes.set(title=text, xlabel="epsilon (nats)")
    if timed:
        panels[3].set(title="Seconds of a design", xlabel="epsilon (nats)", yscale="log")
    for axes in panels:
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False, fontsize="small")
    figure.suptitle(title)
    return figure


def histogram_rows(samples: Mapping[str, FloatArray]) -> list[dict[str, Any]]:
    """Shares of the values in bins of one width for all, 120 from the least to the largest: heights can be compared."""
    rows = []
    every = np.histogram_bin_edges(np.concatenate([*samples.values()]), bins=120)
    for name, values in samples.items():
        there = np.searchsorted(every, [values.min(), values.max()], side="right")
        edges = every[max(0, there[0] - 1) : there[1] + 1]
        shares = np.histogram(values, bins=edges)[0] / len(values)
        rows += [
            {"measure": name, "from": float(a), "to": float(b), "share": float(share)}
            for a, b, share in zip(edges[:-1], edges[1:], shares)
        ]
    return rows


def histogram_figure(rows: Sequence[Mapping[str, Any]], title: str, xlabel: str) -> Any:
    """Histograms over each other, from the lines of their table."""
    from discreet.figures import COLOURS, blank_figure

    figure = blank_figure(7, 4)
    axes = figure.subplots()
    for k, name in enumerate(dict.fromkeys(row["measure"] for row in rows)):
        some = [row for row in rows if row["measure"] == name]
        axes.stairs(
            [row["share"] for row in some], [some[0]["from"], *(row["to"] for row in some)],
            fill=True, alpha=0.6, label=name, color=COLOURS[k],
        )  # fmt: skip
    axes.set(title=title, xlabel=xlabel, ylabel="share")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


#: Points of a drawn distribution function.
QUANTILES: FloatArray = np.linspace(0, 1, 101)


def shares_rows(panels: Mapping[str, Mapping[str, FloatArray]]) -> list[dict[str, Any]]:
    """Quantiles of every quantity and curve."""
    return [
        {"quantity": quantity, "curve": name, "share": float(q), "at most": float(value)}
        for quantity, samples in panels.items()
        for name, values in samples.items()
        for q, value in zip(QUANTILES, np.quantile(values, QUANTILES))
    ]


def shares_figure(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Distribution functions, a panel for each quantity, from the lines of their table."""
    from discreet.figures import COLOURS, blank_figure

    quantities = list(dict.fromkeys(row["quantity"] for row in rows))
    figure = blank_figure(4 * len(quantities), 3.6)
    for axes, quantity in zip(figure.subplots(1, len(quantities)), quantities):
        inside = [row for row in rows if row["quantity"] == quantity]
        for k, name in enumerate(dict.fromkeys(row["curve"] for row in inside)):
            some = [row for row in inside if row["curve"] == name]
            axes.step([row["at most"] for row in some], [row["share"] for row in some], label=name, color=COLOURS[k])
        axes.set(title=quantity, ylabel="share of the joints at most")
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    return figure
