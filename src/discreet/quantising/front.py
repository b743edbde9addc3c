"""The front door `quantise`: merge useful values so that the range of a release gives less away."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from discreet._support import progress
from discreet._support.errors import InputError
from discreet._support.numeric import IntArray
from discreet.core.joint import Joint
from discreet.core.range import Range
from discreet.measures.nonstochastic import components
from discreet.quantising.agglomerative import by_components, by_uncertainty, indistinguishable
from discreet.quantising.baselines import binning, funnel, suppression
from discreet.quantising.distortion import Distortion
from discreet.quantising.exact import Solution, counting_bound, deal, fewest_components, fill, smallest_blocks, solve
from discreet.quantising.intervals import interval_bound, intervals
from discreet.quantising.path import QuantisationPath
from discreet.quantising.quantisation import Quantisation

__all__ = ["METHODS", "OBJECTIVES", "UTILITIES", "quantise"]

OBJECTIVES = ("uncertainty-reduction", "maximin", "indistinguishable")
UTILITIES = ("resolution", "distortion")
#: Ranges up to this many useful values are solved where filling does not meet the bound.
SOLVED_UP_TO = 16

METHODS = ("agglomerative", "exact", "suppression", "binning", "funnel")


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
    >>> import numpy as np
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
    points: list[Quantisation] = []
    with progress.stage(f"quantising: {method}") as stage:
        for point in getattr(made, method)():
            points.append(point)
            if stage.is_heard:
                stage.update(detail=_words(point))
    return QuantisationPath(tuple(points), objective, utility, method)


def _words(point: Quantisation) -> str:
    """How far a path is, in figures."""
    bound = "" if point.bound is None else f", bound {point.bound:g}"
    return f"blocks of up to {point.largest_block} leave {point.k} sensitive values{bound}"


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

    def _leaving(self, largest: int, target: int) -> Solution:
        """A partition that leaves so many values, or none, and whether there is provably none."""
        if (self.whole.sizes == 1).all():
            return Solution(deal(self.whole, largest), False)
        block_of, k = fill(self.whole, largest, target, self.seed)
        if k >= target:
            return Solution(block_of, False)
        if self.whole.n_useful > SOLVED_UP_TO:
            return Solution(None, False)
        return solve(self.whole, largest, target)

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
