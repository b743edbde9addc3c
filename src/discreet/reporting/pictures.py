"""Where lines and marks of the pictures of a published table lie; templates draw them as small SVGs.

What lies beyond an axis, infinite or far away, ends at its edge and is marked there, so that what matters stays large.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.reporting.attacked import series_of, sides_of
from discreet.reporting.formats import nats, percent

__all__ = ["Axis", "Bins", "Point", "Ranges", "Scatter", "Span", "bins_of", "ranges_of", "scatter_of"]

Facts = Mapping[str, Any]

#: Axes reach at most so many times as far as the promise, and as what is found in the release.
PROMISES, FOUND = 4.0, 1.25

#: Axes reach as far as this, nats, whatever is found.
LEAST_REACH = 0.1

#: Steps between ticks, times a power of ten, and how many ticks there may be.
STEPS, MOST_TICKS, FEW_TICKS = (1.0, 2.0, 2.5, 5.0), 8, 5

#: Pixels of the pictures of log-lifts: left, right, top, height of a row, height of the bins.
LEFT, RIGHT, TOP, ROW, HEIGHT = 240, 620, 12, 36, 280
BINS_LEFT = 74

#: Pixels by which marks of before and after stand apart.
APART = 4.0

#: Pixels of a scatter.
SCATTER = (76, 396, 14, 334)


@dataclass(frozen=True)
class Axis:
    """From values to pixels; what lies beyond its ends is drawn at them."""

    low: float
    high: float
    first: float
    last: float

    def at(self, value: float) -> float:
        """The pixel of a value."""
        inside = min(max(value, self.low), self.high)
        return self.first + (self.last - self.first) * (inside - self.low) / (self.high - self.low)

    def beyond(self, value: float) -> bool:
        """Whether a value lies outside."""
        return not self.low <= value <= self.high

    def ticks(self, most: int = MOST_TICKS) -> tuple[tuple[float, str], ...]:
        """Pixels and texts of round values."""
        least = (self.high - self.low) / most
        ten = 10.0 ** math.floor(math.log10(least))
        step = next(step * ten for step in (*STEPS, 10.0) if step * ten >= least)
        places = range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
        return tuple((self.at(k * step), f"{k * step:.6g}") for k in places)


@dataclass(frozen=True)
class Span:
    """A stretch of log-lifts with its limits, in pixels, and whether each end lies beyond the picture."""

    low: float
    first: float
    last: float
    high: float
    low_beyond: bool
    high_beyond: bool
    title: str


@dataclass(frozen=True)
class Ranges:
    """Rows of models with their spans before and after; ``band`` is what the promise allows."""

    rows: tuple[tuple[float, str, Span | None, Span], ...]
    ticks: tuple[tuple[float, str], ...]
    band: tuple[float, float] | None
    zero: float
    height: float
    left: int = LEFT
    right: int = RIGHT
    top: int = TOP


@dataclass(frozen=True)
class Point:
    """A mark with limits, in pixels; ``beyond`` is -1 or 1 where the mark lies below or above the picture."""

    x: float
    y: float
    low: float
    high: float
    beyond: int
    title: str


@dataclass(frozen=True)
class Bins:
    """Log-lifts of parts of the records, in growing order of belief, before and after."""

    model: str
    value: str
    before: tuple[Point, ...]
    after: tuple[Point, ...]
    ticks: tuple[tuple[float, str], ...]
    shares: tuple[tuple[float, str], ...]
    band: tuple[float, float] | None
    left: int = BINS_LEFT
    right: int = RIGHT
    top: int = TOP
    bottom: int = TOP + HEIGHT


@dataclass(frozen=True)
class Scatter:
    """Points against each other on two axes of one scale, with their titles."""

    points: tuple[tuple[float, float, str], ...]
    ticks: tuple[tuple[float, float, str], ...]
    left: int = SCATTER[0]
    right: int = SCATTER[1]
    top: int = SCATTER[2]
    bottom: int = SCATTER[3]


def ranges_of(attack: Facts) -> Ranges:
    """Smallest and largest log-lifts of every model, before and after, the strongest first."""
    pairs = sides_of(attack)
    allowed = _allowed(attack)
    lifts = [[_ends(side) for side in sides if side is not None] for _, *sides in pairs]
    found = [_ends(side)[1:3] for _, _, side in pairs]
    axis = Axis(*_reach(itertools.chain(*itertools.chain(*lifts)), itertools.chain(*found), allowed), LEFT, RIGHT)
    rows = tuple(
        (TOP + ROW * (k + 0.5), name, None if old is None else _span(axis, old, "before"), _span(axis, new, "after"))
        for k, (name, old, new) in enumerate(pairs)
    )
    return Ranges(rows, axis.ticks(), _band(axis, allowed), axis.at(0.0), TOP + ROW * len(rows))


def bins_of(attack: Facts) -> Bins | None:
    """Log-lifts of the parts of the strongest model, for the sensitive value that it tells most of."""
    model, value, before, after = series_of(attack)
    if not after:
        return None
    allowed = _allowed(attack)
    everything = [float(cell[name]) for cell in (*before, *after) for name in ("low", "log_lift", "high")]
    found = [float(cell["log_lift"]) for cell in after]
    axis = Axis(*_reach(everything, found, allowed), TOP + HEIGHT, TOP)
    along = Axis(0.0, 1.0, BINS_LEFT, RIGHT)
    shares = tuple((along.at(k / 4), f"{25 * k} %") for k in range(5))
    return Bins(
        model,
        value,
        _points(before, along, axis, -APART if before else 0.0, "before"),
        _points(after, along, axis, APART if before else 0.0, "after"),
        axis.ticks(),
        shares,
        _band(axis, allowed),
    )


def scatter_of(points: Sequence[tuple[float, float, str]]) -> Scatter:
    """Points whose both coordinates are shares or associations, from 0 on."""
    left, right, upper, lower = SCATTER
    most = max([0.02, *(max(x, y) for x, y, _ in points)]) * 1.04
    across, up = Axis(0.0, most, left, right), Axis(0.0, most, lower, upper)
    ticks = tuple((x, y, text) for (x, text), (y, _) in zip(across.ticks(FEW_TICKS), up.ticks(FEW_TICKS)))
    return Scatter(tuple((across.at(x), up.at(y), title) for x, y, title in points), ticks)


def _allowed(attack: Facts) -> tuple[float, float] | None:
    promised = attack["promised"]
    return None if promised is None else (float(promised["low"]), float(promised["high"]))


def _ends(side: Facts) -> tuple[float, float, float, float]:
    """Limits and log-lifts of a model, from the lowest to the highest."""
    ends = side["intervals"]
    low, high = ends["log_min_lift"][0], ends["log_max_lift"][1]
    return float(low), float(side["log_min_lift"]), float(side["log_max_lift"]), float(high)


def _reach(
    everything: Iterable[float], found: Iterable[float], allowed: tuple[float, float] | None
) -> tuple[float, float]:
    """Where an axis begins and ends: at the farthest, unless that makes the promise and the release too small."""
    values, released = list(everything), [value for value in found if math.isfinite(value)]
    ends = []
    for sign, budget in zip((-1, 1), (0.0, 0.0) if allowed is None else allowed):
        promised = abs(budget) if math.isfinite(budget) else 0.0
        other = max((abs(b) for b in allowed or () if math.isfinite(b)), default=0.0)
        farthest = max((sign * value for value in values), default=0.0)
        most = max(PROMISES * max(promised, other), FOUND * max((sign * value for value in released), default=0.0))
        ends.append(max(LEAST_REACH, 1.3 * promised, min(farthest, most or 1.0)))
    return -ends[0], ends[1]


def _band(axis: Axis, allowed: tuple[float, float] | None) -> tuple[float, float] | None:
    """Both edges of what is allowed, the smaller pixel first."""
    if allowed is None:
        return None
    first, last = sorted((axis.at(allowed[0]), axis.at(allowed[1])))
    return first, last


def _span(axis: Axis, side: Facts, when: str) -> Span:
    low, first, last, high = _ends(side)
    title = f"{when}: {nats(first)} to {nats(last)} nats; limits {nats(low)} and {nats(high)}"
    pixels = (axis.at(low), axis.at(first), axis.at(last), axis.at(high))
    return Span(*pixels, axis.beyond(low), axis.beyond(high), title)


def _points(cells: Sequence[Facts], along: Axis, axis: Axis, shift: float, when: str) -> tuple[Point, ...]:
    found = []
    for cell in cells:
        low, middle, high = (float(cell[name]) for name in ("low", "log_lift", "high"))
        beyond = 0 if not axis.beyond(middle) else 1 if middle > 0 else -1
        title = (
            f"{when}, {cell['n']:,} records around {percent(cell['share'])}: {nats(middle)} nats, "
            f"limits {nats(low)} and {nats(high)}"
        )
        x = along.at(float(cell["share"])) + shift
        found.append(Point(x, axis.at(middle), axis.at(low), axis.at(high), beyond, title))
    return tuple(found)
