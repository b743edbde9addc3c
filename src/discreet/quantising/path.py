"""The front door `quantise`: merge useful values so that the range of a release gives less away."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import DENOMINATOR, IntArray
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.core.range import Range
from discreet.measures.nonstochastic import components, distinct_sensitive
from discreet.mechanism import ChannelMechanism, Mechanism, provenance
from discreet.quantising.agglomerative import by_components, by_uncertainty, indistinguishable
from discreet.quantising.baselines import binning, funnel, suppression
from discreet.quantising.distortion import Distortion
from discreet.quantising.exact import counting_bound, deal, fewest_components, fill, smallest_blocks, solve
from discreet.quantising.intervals import interval_bound, intervals

__all__ = ["METHODS", "OBJECTIVES", "Quantisation", "QuantisationPath", "quantise"]

OBJECTIVES = ("uncertainty-reduction", "maximin", "indistinguishable")
UTILITIES = ("resolution", "distortion")
#: Ranges up to this many useful values are solved where filling does not meet the bound.
SOLVED_UP_TO = 16

METHODS = ("agglomerative", "exact", "suppression", "binning", "funnel")


@dataclass(frozen=True, eq=False)
class Quantisation:
    """One partition of the useful values: what is left of S, and what it costs.

    Attributes
    ----------
    block_of : ndarray
        Number of the block of every useful value.
    bound : float or None
        Proven limit at this cost, where one is known: of ``k`` for the resolution, of ``distortion`` for it, of the
        number of components for the maximin information.
    status : str
        ``"optimal"`` where the limit is met, ``"gap"`` where it is not, ``"heuristic"`` without a limit.
    """

    whole: Range = field(repr=False)
    block_of: IntArray = field(repr=False)
    source: Any = field(default=None, repr=False)
    metric: Distortion | None = field(default=None, repr=False)
    bound: float | None = None
    status: str = "heuristic"

    @cached_property
    def merged(self) -> Range:
        """The range of the release."""
        return self.whole.merged(self.block_of)

    @cached_property
    def _members(self) -> list[list[int]]:
        order = np.argsort(self.block_of, kind="stable")
        cuts = np.flatnonzero(np.diff(self.block_of[order])) + 1
        return sorted((part.tolist() for part in np.split(order, cuts)), key=min)

    @cached_property
    def blocks(self) -> tuple[tuple[Any, ...], ...]:
        """Labels of the members of every block."""
        return tuple(tuple(self.whole.useful[x] for x in members) for members in self._members)

    @cached_property
    def k(self) -> int:
        """Fewest distinct sensitive values of a block."""
        return distinct_sensitive(self.merged)

    @cached_property
    def components(self) -> int:
        """Connected components of the release."""
        return components(self.merged).number

    @property
    def largest_block(self) -> int:
        """Members of the largest block."""
        return max(len(members) for members in self._members)

    @cached_property
    def distortion(self) -> float | None:
        """Largest distance of a value to its block's codeword; None without values."""
        return None if self.metric is None else max(self.metric.of(members) for members in self._members)

    @property
    def leakage_bits(self) -> float:
        """L_0 of the release."""
        return math.log2(self.whole.n_sensitive / self.k)

    @property
    def maximin_bits(self) -> float:
        """I_* of the release."""
        return math.log2(self.components)

    @property
    def resolution_bits(self) -> float:
        """U1, the information about X that the coarsest block leaves: log2(n / largest block)."""
        return math.log2(self.whole.n_useful / self.largest_block)

    @property
    def loss(self) -> float:
        """1 - U1 / H_0(X), in [0, 1]; 0 for a single value."""
        whole = math.log2(self.whole.n_useful)
        return 1 - self.resolution_bits / whole if whole > 0 else 0.0

    @property
    def mechanism(self) -> Mechanism:
        """The quantisation as a deterministic mechanism, with readable labels."""
        names = labels.unique_texts(_block_label([self.whole.useful[x] for x in block]) for block in self._members)
        column = np.empty(self.whole.n_useful, dtype=np.int64)
        for k, block in enumerate(self._members):
            column[block] = k
        useful, rows = list(self.whole.useful), np.arange(self.whole.n_useful)
        about: dict[str, Any] = {}
        if isinstance(self.source, Joint):
            about = provenance(self.source)
            place = {label: k for k, label in enumerate(self.source.useful)}
            # Declared values that never occur go with the first block.
            absent = [label for label in self.source.useful if label not in set(useful)]
            useful, column = [*useful, *absent], np.concatenate([column, np.zeros(len(absent), dtype=np.int64)])
            order = np.argsort([place[label] for label in useful])
            useful, column, rows = [useful[k] for k in order], column[order], np.arange(len(useful))
        weights = np.full(len(useful), DENOMINATOR)
        return ChannelMechanism((rows, column, weights), useful, names, method="quantise", **about)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {
            "k": self.k,
            "components": self.components,
            "leakage_bits": self.leakage_bits,
            "maximin_bits": self.maximin_bits,
            "largest_block": self.largest_block,
            "resolution_bits": self.resolution_bits,
            "loss": self.loss,
            "distortion": self.distortion,
            "blocks": len(self._members),
            "bound": self.bound,
            "status": self.status,
        }

    def __repr__(self) -> str:
        far = "" if self.distortion is None else f", distortion {self.distortion:.4g}"
        return (
            f"Quantisation({self.whole.n_useful} -> {len(self._members)} values, k {self.k}, "
            f"largest block {self.largest_block}{far}, {self.status})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


def _block_label(members: Sequence[Any]) -> str:
    """``130-160`` for several numbers, the value itself for one, a set of names otherwise."""
    numbers = [_number(x) for x in members]
    if len(members) > 1 and None not in numbers:
        order = sorted(range(len(members)), key=lambda k: numbers[k] or 0.0)
        return f"{labels.text(members[order[0]])}-{labels.text(members[order[-1]])}"
    return labels.block_text(members)


def _number(label: Any) -> float | None:
    """A number, or a text that reads as one; None for anything else."""
    if isinstance(label, bool) or not isinstance(label, int | float | str):
        return None
    try:
        value = float(label)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class QuantisationPath:
    """Partitions from no merge to the coarsest, all from one run; weights choose among them."""

    points: tuple[Quantisation, ...]
    objective: str
    utility: str
    method: str

    def _leakage(self, point: Quantisation) -> float:
        return point.maximin_bits if self.objective == "maximin" else -math.log2(point.k)

    def _utility(self, point: Quantisation) -> float:
        return point.resolution_bits if self.utility == "resolution" else -float(point.distortion or 0.0)

    def lagrangian(self, weight: float) -> list[float]:
        """Leakage less weight times utility at every point: L_0 up to a constant, or I_*."""
        return [self._leakage(point) - weight * self._utility(point) for point in self.points]

    def changes(self, weight: float) -> list[float]:
        """Delta L of every step."""
        values = self.lagrangian(weight)
        return [after - before for before, after in itertools.pairwise(values)]

    def best(self, weight: float) -> Quantisation:
        """Where the paper's algorithm stops at this weight: before the first step that does not lower the Lagrangian.

        Exact methods have no steps: of their points, the one of least Lagrangian.
        """
        if not weight >= 0 or not math.isfinite(weight):
            raise InputError(f"weight must be a finite number of at least 0, got {weight}.")
        if self.method != "agglomerative":
            values = self.lagrangian(weight)
            return self.points[values.index(min(values))]
        for point, change in zip(self.points, self.changes(weight)):
            if change >= 0:
                return point
        return self.points[-1]

    def frontier(self) -> tuple[Quantisation, ...]:
        """Points that no other beats in both leakage and utility, finest first."""
        ordered = sorted(self.points, key=lambda p: (-self._utility(p), self._leakage(p)))
        kept: list[Quantisation] = []
        for point in ordered:
            if not kept or self._leakage(point) < self._leakage(kept[-1]):
                kept.append(point)
        return tuple(kept)

    def to_dict(self) -> dict[str, Any]:
        """All points as plain data."""
        chosen = {id(point) for point in self.frontier()}
        return {
            "objective": self.objective,
            "utility": self.utility,
            "method": self.method,
            "points": [point.to_dict() | {"pareto": id(point) in chosen} for point in self.points],
        }

    def __repr__(self) -> str:
        return f"QuantisationPath({self.method}, {self.objective}, {self.utility}: {len(self.points)} points)"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


def quantise(
    source: Any,
    objective: str = "uncertainty-reduction",
    utility: str = "resolution",
    values: Any = None,
    method: str = "agglomerative",
    *,
    codeword: str = "centroid",
    norm: float = 2.0,
    distance: Callable[[Any, Any], float] | None = None,
    weight: float = 1.0,
    seed: int = 0,
) -> QuantisationPath:
    """Merge useful values so that what can occur together tells less about S.

    Parameters
    ----------
    source : Range, Joint or array_like of bool
        Pairs (s, x) that occur.
    objective : str
        ``"uncertainty-reduction"`` (L_0: leave many sensitive values), ``"maximin"`` (I_*: tell nothing without
        error), or ``"indistinguishable"`` (L_0 with I_* = 0, problem (7) of [DF20]_).
    utility : str
        ``"resolution"`` (the largest block) or ``"distortion"`` (the largest distance to a codeword).
    values : array_like, optional
        Numbers or vectors of the useful values, for the distortion; left out, the labels themselves where they are
        numbers. A mark such as ``?`` is an error: give it a number on purpose.
    method : str
        ``"agglomerative"`` (the paper's algorithms), ``"exact"`` (optima with bounds), or one of the baselines
        ``"suppression"``, ``"binning"`` and ``"funnel"``.
    codeword, norm, distance
        Of the distortion: ``"centroid"``, ``"midpoint"`` or ``"member"`` codewords, the p of the norm, or a distance
        of your own.
    weight : float
        Weight of the utility where it steers merges: problem (7) and the funnel.
    seed : int
        Of the swaps of the exact search.

    Returns
    -------
    QuantisationPath

    Examples
    --------
    >>> path = quantise(np.eye(4, dtype=bool))
    >>> [(point.k, point.largest_block) for point in path.points]
    [(1, 1), (2, 2), (4, 4)]
    >>> path.best(weight=0.5).k
    4
    """
    for name, value, known in (
        ("objective", objective, OBJECTIVES),
        ("utility", utility, UTILITIES),
        ("method", method, METHODS),
    ):
        if value not in known:
            raise InputError(f"{name} must be one of {', '.join(known)}, got {value!r}.")
    whole = Range.of(source)
    metric = _metric(whole, source, utility, values, codeword, norm, distance)
    made = _Maker(whole, source, metric, objective, utility, weight, seed)
    points = tuple(getattr(made, method)())
    return QuantisationPath(points, objective, utility, method)


def _metric(
    whole: Range,
    source: Any,
    utility: str,
    values: Any,
    codeword: str,
    norm: float,
    distance: Callable[[Any, Any], float] | None,
) -> Distortion | None:
    if values is None and utility == "resolution":
        return None
    given = list(whole.useful) if values is None else list(values)
    if values is not None and isinstance(source, Joint) and len(given) == source.n_useful != whole.n_useful:
        given = [v for v, here in zip(given, source.occurs) if here]
    if len(given) != whole.n_useful:
        raise InputError(f"values must have one entry for each of {whole.n_useful} useful values, got {len(given)}.")
    return Distortion(given, codeword, norm, distance)


class _Maker:
    """The methods, each an iterator over quantisations."""

    def __init__(
        self,
        whole: Range,
        source: Any,
        metric: Distortion | None,
        objective: str,
        utility: str,
        weight: float,
        seed: int,
    ) -> None:
        self.whole, self.source, self.metric = whole, source, metric
        self.objective, self.weight, self.seed = objective, weight, seed
        self.steering = metric if utility == "distortion" else None

    def _point(self, block_of: IntArray, bound: float | None = None, status: str = "heuristic") -> Quantisation:
        return Quantisation(self.whole, block_of, self.source, self.metric, bound, status)

    def agglomerative(self) -> Iterator[Quantisation]:
        if self.objective == "uncertainty-reduction":
            steps = by_uncertainty(self.whole, self.steering)
        elif self.objective == "maximin":
            steps = by_components(self.whole, self.steering)
        else:
            steps = indistinguishable(self.whole, self.steering, self.weight)
        return map(self._point, steps)

    def exact(self) -> Iterator[Quantisation]:
        if self.objective == "indistinguishable":
            raise InputError("problem (7) has no exact method. Use method='agglomerative'.")
        if self.objective == "maximin":
            if self.steering is not None:
                raise InputError("the exact maximin information serves the resolution. Use method='agglomerative'.")
            return self._exact_maximin()
        return self._exact_resolution() if self.steering is None else self._exact_intervals(self.steering)

    def _exact_maximin(self) -> Iterator[Quantisation]:
        count = components(self.whole).number
        for removed in range(count):
            point = self._point(fewest_components(self.whole, removed))
            met = point.components == count - removed
            met &= point.largest_block == smallest_blocks(self.whole.n_useful, removed)
            yield self._point(point.block_of, count - removed, "optimal" if met else "gap")

    def _exact_resolution(self) -> Iterator[Quantisation]:
        done = 0
        for largest in range(1, self.whole.n_useful + 1):
            bound = counting_bound(self.whole, largest)
            for target in range(bound, done, -1):  # what smaller blocks leave already needs no larger ones
                block_of, is_proven = self._leaving(largest, target)
                if block_of is not None:
                    point = self._point(block_of, float(bound))
                    done = point.k
                    yield self._point(block_of, float(bound), "optimal" if done >= bound else "gap")
                    break
                bound -= is_proven and target == bound

    def _leaving(self, largest: int, target: int) -> tuple[IntArray | None, bool]:
        """A partition that leaves so many values, or None and whether there is provably none."""
        if (self.whole.sizes == 1).all():
            return deal(self.whole, largest), False
        block_of, k = fill(self.whole, largest, target, self.seed)
        if k >= target:
            return block_of, False
        if self.whole.n_useful > SOLVED_UP_TO:
            return None, False
        found = solve(self.whole, largest, target)
        return (None, found is None) if found is None or isinstance(found, bool) else (found, False)

    def _exact_intervals(self, metric: Distortion) -> Iterator[Quantisation]:
        for k in range(1, self.whole.n_sensitive + 1):
            point = self._point(intervals(self.whole, metric, k))
            bound = interval_bound(self.whole, metric, k)
            met = point.distortion is not None and point.distortion <= bound * (1 + 1e-12)
            yield self._point(point.block_of, bound, "optimal" if met else "gap")

    def suppression(self) -> Iterator[Quantisation]:
        self._only_uncertainty("suppression")
        return (self._point(suppression(self.whole, k)) for k in range(1, self.whole.n_sensitive + 1))

    def binning(self) -> Iterator[Quantisation]:
        self._only_uncertainty("binning")
        metric = self.metric if self.metric is not None else Distortion(self.whole.useful)
        return (self._point(binning(self.whole, metric, k)) for k in range(1, self.whole.n_sensitive + 1))

    def _only_uncertainty(self, method: str) -> None:
        if self.objective != "uncertainty-reduction":
            raise InputError(f"{method} serves the objective uncertainty-reduction.")

    def funnel(self) -> Iterator[Quantisation]:
        if not isinstance(self.source, Joint):
            raise InputError("the privacy funnel needs probabilities: give a Joint.")
        return map(self._point, funnel(self.source.given(self.source.occurs), self.weight))
