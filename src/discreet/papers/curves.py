"""Privacy-utility curves over many joints, and figures in one style: utility, falling and rising beliefs."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from discreet._support.numeric import FloatArray
from discreet.core.joint import Joint
from discreet.designers import design
from discreet.designers.merging import subset_merging, watchdog
from discreet.measures import kernels
from discreet.notions import Notion

__all__ = ["EPSILONS", "Curves", "budgets", "curves", "figure_of", "histogram_figure", "merged", "uniform"]

EPSILONS: FloatArray = np.arange(1, 33) / 4

#: Problems solved together.
CHUNK = 2_400

Family = Callable[[float], Notion]
Curves = dict[str, dict[str, FloatArray]]


def budgets(quick: bool) -> FloatArray:
    """Budgets of .25 to 8, or a few of them."""
    return np.array([0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0]) if quick else EPSILONS


def uniform(count: int, n_sensitive: int = 5, n_useful: int = 17) -> list[Joint]:
    """Joints of independent uniform numbers, normalised, seeds from 0 on."""
    return [Joint.random(n_sensitive, n_useful, seed=seed) for seed in range(count)]


def curves(
    joints: Sequence[Joint], families: Mapping[str, tuple[str, Family]], epsilons: Sequence[float] | FloatArray
) -> Curves:
    """Means over joints for each family (method, budget -> notion): NMI, leakages and seconds, by budget."""
    result: Curves = {}
    for name, (method, family) in families.items():
        notions = [family(float(epsilon)) for epsilon in epsilons]
        start = time.perf_counter()
        if method in ("watchdog", "subset-merging"):
            found = merged(joints, notions, method)
        else:
            found = np.array([[_designed(joint, notion, method) for notion in notions] for joint in joints])
        seconds = (time.perf_counter() - start) / (len(joints) * len(notions))
        mean = found.mean(axis=0)
        result[name] = {
            "epsilon": np.asarray(epsilons, dtype=float),
            "nmi": mean[:, 0],
            "min_lift_leakage": mean[:, 1],
            "max_lift_leakage": mean[:, 2],
            "seconds": np.full(len(notions), seconds),
        }
    return result


def _designed(joint: Joint, notion: Notion, method: str) -> tuple[float, float, float]:
    figures = design(joint, notion, method).to_dict()
    return figures["nmi"], -figures["log_min_lift"], figures["log_max_lift"]


def merged(joints: Sequence[Joint], notions: Sequence[Notion], method: str) -> FloatArray:
    """(NMI, min-lift leakage, max-lift leakage) of merging, shape (n_joints, n_notions, 3), solved in lockstep."""
    make = {"watchdog": watchdog.partitions, "subset-merging": subset_merging.partitions}[method]
    step = max(1, CHUNK // len(notions))
    parts = []
    for first in range(0, len(joints), step):
        some = joints[first : first + step]
        pairs = [(joint, notion) for joint in some for notion in notions]
        blocks = make([joint for joint, _ in pairs], [notion for _, notion in pairs])
        parts.append(_judged([joint for joint, _ in pairs], blocks).reshape(len(some), len(notions), 3))
    return np.concatenate(parts)


def _judged(joints: Sequence[Joint], blocks: Any) -> FloatArray:
    cells = np.stack([joint.probabilities for joint in joints])
    united = np.zeros_like(cells)
    line = np.repeat(np.arange(len(joints)), blocks.shape[1])
    np.add.at(united.transpose(0, 2, 1), (line, blocks.ravel()), cells.transpose(0, 2, 1).reshape(len(line), -1))
    mass, prior = united.sum(axis=1), cells.sum(axis=2)
    lifts = kernels.lift(united, prior, mass)
    seen = np.broadcast_to((mass > 0)[:, None, :], lifts.shape)
    with np.errstate(divide="ignore"):
        largest = np.log(np.where(seen, lifts, 0.0).max(axis=(1, 2)))
        smallest = -np.log(np.where(seen, lifts, np.inf).min(axis=(1, 2)))
    nmi = _entropy(mass) / _entropy(cells.sum(axis=1))
    return np.stack([nmi, np.maximum(smallest, 0.0), np.maximum(largest, 0.0)], axis=-1)


def _entropy(p: FloatArray) -> FloatArray:
    result: FloatArray = -np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0).sum(axis=1)
    return result


def table(found: Curves) -> list[dict[str, Any]]:
    """The curves as lines of a table."""
    return list(_lines(found))


def _lines(found: Curves) -> Iterator[dict[str, Any]]:
    for name, curve in found.items():
        for k, epsilon in enumerate(curve["epsilon"]):
            yield {
                "curve": name,
                "epsilon": float(epsilon),
                **{key: round(float(curve[key][k]), 6) for key in ("nmi", "min_lift_leakage", "max_lift_leakage")},
            }


def figure_of(found: Curves, title: str, *, seconds: Mapping[str, FloatArray] | None = None) -> Any:
    """Utility, min-lift leakage and max-lift leakage side by side, and the time of a design where that is given."""
    from discreet.figures import COLOURS, MARKERS, blank_figure

    figure = blank_figure(4 * (4 if seconds else 3), 3.6)
    panels = figure.subplots(1, 4 if seconds else 3)
    names = ("nmi", "min_lift_leakage", "max_lift_leakage")
    titles = ("Kept of X, I(X;Y) / H(X)", "Min-lift leakage (nats)", "Max-lift leakage (nats)")
    for k, (name, curve) in enumerate(found.items()):
        style = {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)], "markersize": 3}
        for axes, key in zip(panels, names):
            axes.plot(curve["epsilon"], np.where(np.isfinite(curve[key]), curve[key], np.nan), label=name, **style)
        if seconds is not None:
            panels[3].plot(curve["epsilon"], seconds[name], **style)
    for axes, text in zip(panels, titles):
        axes.set(title=text, xlabel="epsilon (nats)")
    if seconds is not None:
        panels[3].set(title="Seconds of a design", xlabel="epsilon (nats)", yscale="log")
    for axes in panels:
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False, fontsize="small")
    figure.suptitle(title)
    return figure


def histogram_figure(samples: Mapping[str, FloatArray], title: str, xlabel: str, *, cumulative: bool = False) -> Any:
    """Histograms of shares, or distribution functions, over each other."""
    from discreet.figures import COLOURS, blank_figure

    figure = blank_figure(7, 4)
    axes = figure.subplots()
    for k, (name, values) in enumerate(samples.items()):
        if cumulative:
            axes.step(np.sort(values), np.arange(1, len(values) + 1) / len(values), label=name, color=COLOURS[k])
        else:
            weights = np.full(len(values), 1 / len(values))
            axes.hist(values, bins=120, weights=weights, alpha=0.6, label=name, color=COLOURS[k])
    axes.set(title=title, xlabel=xlabel, ylabel="share" if not cumulative else "share at most")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
