r"""A proven lower limit of what mixtures cost under a notion, by boxes, chords and weak duality.

For any prices :math:`\pi`, every mixture of allowed posteriors that averages to :math:`P_X` costs at least

.. math:: \pi \cdot P_X + \min_{v \text{ allowed}} \bigl( h(v) - \pi \cdot v \bigr),

since its weights sum to one. The minimum is bounded from below over boxes that cover the simplex. A separable utility
has :math:`h(v) = \sum_x f(v(x))`; inside a box the chord of the concave f lies below it, so a linear programme remains,
and any multipliers :math:`y \ge 0` of its rows bound that one (weak duality):

.. math:: \min_{v \text{ in box}, \sum v = 1} \; (\text{chords} - \pi + R^T y) \cdot v

which is a sort. The proof of the limit is the prices, the boxes and a vector of multipliers for each: a reader checks
that the boxes cover the simplex and evaluates one sorted sum a box, without searching and without a solver.

Where symbols are in groups, the utility and the boxes are about the groups: an entry is the sum of its members' shares,
each at its own price, and costs as little as its cheapest member. The chain rule adds what each group costs inside,
:math:`H(X | Y) = H(G | Y) + \sum_g P(g) H(X | Y, G = g)`: posteriors given a group keep the rows about its members.

The boxes start as levels of the largest entry (some entry lies in [a, b], the others are at most b and 1 - a), and
are split where the prover finds that it helps. This file imports no solver: it says what a proof is and checks it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet._support.numeric import FloatArray, IntArray, product
from discreet.notions import Band
from discreet.proof.multipliers import Multipliers, Run, runs_of
from discreet.proof.polytope import Polytope
from discreet.utilities import SeparableUtility

__all__ = ["LEVELS", "ROUNDING", "Cover", "Evaluator", "Proof", "cheapest", "chords", "closed_form"]

#: Levels of the largest entry that the first boxes cover; the last box has all entries below the last level.
LEVELS = (1.0, 0.5)

#: Entries evaluated at once.
STRIPE = 200_000

#: Stands in for sums that are nothing.
TINY = 1e-300

#: Subtracted from every evaluated bound: sums of at most 1e5 terms of size one, each off by 2**-52.
ROUNDING = 1e-10


def chords(utility: SeparableUtility, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Slopes and summed constants of the chords of a utility's terms over boxes."""
    at_lower, at_upper = utility.terms(lower), utility.terms(upper)
    width = upper - lower
    slope = np.divide(at_upper - at_lower, width, out=np.zeros_like(width), where=width > 0)
    return slope, (at_lower - slope * lower).sum(axis=-1)


class Cover:
    """Boxes that cover all posteriors with entries in given ranges: levels of the largest entry, then splits.

    A split (box, symbol, point) leaves the box with entries up to the point and appends one with entries from it,
    so the sequence of splits is a proof that nothing was left out. Upper bounds are tightened by what the lower
    bounds of the other entries leave.
    """

    def __init__(self, smallest: FloatArray, largest: FloatArray) -> None:
        n = len(largest)
        lower, upper = [smallest[None]], [np.clip(largest, smallest, LEVELS[-1])[None]]
        for high, low in itertools.pairwise(LEVELS):
            leaders = np.flatnonzero(largest >= low)
            lower.append(np.where(np.arange(n) == leaders[:, None], np.maximum(low, smallest), smallest))
            upper.append(np.repeat(np.minimum(largest, high)[None], len(leaders), axis=0))
        self._lower, self._upper = np.vstack(lower), np.vstack(upper)
        self._size = len(self._lower)
        self.splits: list[tuple[int, int, float]] = []
        self._tighten(np.arange(self._size))

    def __len__(self) -> int:
        return self._size

    @property
    def lower(self) -> FloatArray:
        """Lower corners of the boxes."""
        return self._lower[: self._size]

    @property
    def upper(self) -> FloatArray:
        """Upper corners of the boxes."""
        return self._upper[: self._size]

    def split(self, boxes: IntArray, symbols: IntArray, points: FloatArray) -> IntArray:
        """Cut different boxes, each at a value of one entry; returns the numbers of the new boxes."""
        new = np.arange(self._size, self._size + len(boxes))
        while new.max(initial=-1) >= len(self._lower):
            self._lower = np.concatenate([self._lower, np.empty_like(self._lower)])
            self._upper = np.concatenate([self._upper, np.empty_like(self._upper)])
        self._lower[new], self._upper[new] = self._lower[boxes], self._upper[boxes]
        self._lower[new, symbols] = self._upper[boxes, symbols] = points
        self._size += len(boxes)
        self.splits.extend(zip(boxes.tolist(), symbols.tolist(), points.tolist()))
        self._tighten(new)
        return new

    def _tighten(self, boxes: IntArray) -> None:
        lower, upper = self._lower[boxes], self._upper[boxes]
        # A hair of room keeps rounding from cutting anything off.
        np.minimum(upper, 1.0 - lower.sum(axis=1, keepdims=True) + lower + ROUNDING, out=upper)
        self._upper[boxes] = np.maximum(upper, lower)


class Evaluator:
    """Weak-duality bounds over boxes, for the rows of one polytope."""

    def __init__(self, polytope: Polytope) -> None:
        self.polytope = polytope
        self._auxiliary = polytope.auxiliary
        self._limit = polytope.auxiliary_limit()
        self._inequality = ~polytope.equal
        self._rounding = polytope.rounding

    def offset(self, multipliers: FloatArray) -> FloatArray:
        """What the auxiliary variables, and the rounding of the rows, can take off bounds with these multipliers."""
        taken = np.minimum(multipliers @ self._auxiliary, 0.0) @ self._limit
        result: FloatArray = taken - np.abs(multipliers) @ self._rounding
        return result

    def usable(self, multipliers: FloatArray) -> FloatArray:
        """Multipliers of inequalities made non-negative, as weak duality needs them, and those of bands balanced."""
        found = np.where(self._inequality, np.maximum(multipliers, 0.0), multipliers)
        for band in self.polytope.bands:
            self._balance(found, band)
        return found

    def _balance(self, multipliers: FloatArray, band: Band) -> None:
        """Let the multipliers of a band leave its variable t alone; the bounds that they prove only rise.

        Less of the lower rows takes less off costs, where they have too much; where too little, t is at most the lift
        of that value whose largest is the least.
        """
        scale = self.polytope.scale
        assert scale is not None  # rows of bands are scaled like all others
        given = band.factor * (multipliers[:, band.above] / scale[band.above]).sum(axis=1)
        taken = (multipliers[:, band.below] / scale[band.below]).sum(axis=1)
        multipliers[:, band.below] *= np.minimum(1.0, given / np.maximum(taken, TINY))[:, None]
        lowest = band.below[int(self.polytope.lifts(band)[1].max(axis=1).argmin())]
        multipliers[:, lowest] += np.maximum(given - taken, 0.0) * scale[lowest]

    def extremes(self, sign: float, multipliers: FloatArray) -> FloatArray:
        """Smallest (sign 1) or largest (sign -1) value of every entry of an allowed posterior, to the safe side."""
        n = self.polytope.n_boxed
        step = max(1, STRIPE // n)
        values = np.full(n, min(sign, 0.0))  # what entries between 0 and 1 have without any multipliers
        proven = np.flatnonzero(multipliers.any(axis=1))
        for start in range(0, len(proven), step):
            some = proven[start : start + step]
            cost = sign * (some[:, None] == np.arange(n))
            unit = np.ones(cost.shape)
            values[some] = self.least(0 * unit, unit, self.usable(multipliers[some]), self.polytope.spread(cost))
        return np.clip(sign * (values - ROUNDING), 0.0, 1.0)

    def least(self, lower: FloatArray, upper: FloatArray, multipliers: FloatArray, cost: FloatArray) -> FloatArray:
        """Lower limits of cost . v over the allowed posteriors in each box."""
        return self.least_beside(lower, upper, self.added(multipliers), cost) + self.offset(multipliers)

    def added(self, multipliers: FloatArray) -> FloatArray:
        """What multipliers add to the costs of entries."""
        return product(multipliers, self.polytope.own_rows)

    def least_beside(self, lower: FloatArray, upper: FloatArray, added: FloatArray, cost: FloatArray) -> FloatArray:
        """The same without what auxiliary variables and the rounding of the rows can take off."""
        polytope = self.polytope
        total = polytope.of_cheapest(polytope.repeated(cost) + added)
        return cheapest(polytope.parts(lower), polytope.parts(upper), total)


def cheapest(lower: FloatArray, upper: FloatArray, cost: FloatArray) -> FloatArray:
    """min cost . v over lower <= v <= upper, sum v = 1, for each row: fill the cheapest entries first.

    inf where a row allows no distribution.
    """
    order = np.argsort(cost, axis=1)
    every = np.arange(len(cost))[:, None]
    room = (upper - lower)[every, order]
    spare = 1.0 - lower.sum(axis=1)
    before = np.cumsum(room, axis=1)
    rounding = 1e-15 * lower.shape[1]
    empty = (spare < -rounding) | (before[:, -1] < spare - rounding)
    before -= room
    np.subtract(spare[:, None], before, out=before)
    np.clip(before, 0.0, room, out=before)
    value = np.einsum("ij,ij->i", cost[every, order], before)
    value += np.einsum("ij,ij->i", cost, lower)
    value[empty] = np.inf
    result: FloatArray = value
    return result


@dataclass(frozen=True)
class Proof:
    """Why no mechanism under the notion has a smaller average cost, checkable without a solver.

    Attributes
    ----------
    polytope : Polytope
        The rows and :math:`P_X`.
    utility : SeparableUtility
        Whose cost it is.
    limit : float
        The claimed limit, in the unit of the utility.
    smallest, largest : ndarray
        Bounds of the entries of allowed posteriors.
    smallest_multipliers, largest_multipliers : ndarray
        For each of these bounds, the multipliers that prove it.
    prices : ndarray or None
        Prices; None for the closed form, in which a unit of every entry x costs at least the rate at largest(x).
    splits, multipliers : tuple and Multipliers
        The cover of the simplex, and multipliers for each of its boxes.
    is_on_classes : bool
        Whether the symbols are classes of those that tell the same about S, whose limit is one for symbols too.
    cell_of : ndarray of int or None
        Where the proof is about cells of symbols (or classes): the cell of each. A row of a cell is the least of its
        members' rows, so every allowed posterior is one of the polytope's, and costs no less.
    inside : tuple of Proof or None
        Where the polytope has groups of symbols: for each group a proof of what its members cost, given the group. The
        limit is that of the groups and of these; None is a limit of zero.
    """

    polytope: Polytope
    utility: SeparableUtility
    limit: float
    smallest: FloatArray
    smallest_multipliers: FloatArray
    largest: FloatArray
    largest_multipliers: FloatArray
    prices: FloatArray | None = None
    splits: tuple[tuple[int, int, float], ...] = ()
    multipliers: Multipliers | None = None
    is_on_classes: bool = False
    cell_of: IntArray | None = None
    inside: tuple[Proof | None, ...] = ()

    @property
    def size(self) -> int:
        """Numbers that the proof consists of."""
        arrays = (self.largest, self.largest_multipliers, self.smallest_multipliers, self.multipliers, self.prices)
        own = sum(array.size for array in arrays if array is not None) + 3 * len(self.splits)
        return own + sum(proof.size for proof in self.inside if proof is not None)

    def with_inside(self, inside: Sequence[Proof | None]) -> Proof:
        """The proof of a limit for groups as one for symbols, by what is proven inside of each group."""
        limits = [0.0 if proof is None else proof.limit for proof in inside]
        return replace(self, limit=self.limit + self._of_groups(limits), inside=tuple(inside))

    def _of_groups(self, limits: Sequence[float]) -> float:
        """The average of limits inside of groups, where nothing costs less than zero."""
        masses = self.polytope.summed(self.polytope.p_useful)
        return sum(float(mass) * max(limit, 0.0) for mass, limit in zip(masses, limits, strict=True))

    def to_dict(self) -> dict[str, Any] | None:
        """The proof as plain data, in rows that a checker makes anew from counts; None where it cannot follow.

        ``cells`` gathers symbols, ``rows`` names the rows, ``largest`` and ``smallest`` hold the multipliers that
        bound each entry, ``splits`` make the boxes, and ``multipliers`` belong to those; each vector as its entries
        that are not zero. Where rows are ``cuts``, these are the lifts that they are made at, and ``lifts`` those that
        no value exceeds. ``groups`` are those of symbols, and ``inside`` the proofs for each of them.
        """
        if not self.utility.is_checkable or not self.polytope.labels or self.polytope.scale is None:
            return None
        scale = self.polytope.scale

        def sparse(runs: Iterable[Run]) -> list[list[list[Any]]]:
            return [[list(pair) for pair in zip(row.tolist(), (value / scale[row]).tolist())] for row, value in runs]

        cuts = {} if self.polytope.curved is None else self.polytope.curved.stated(self.polytope.cuts)
        return {
            "on": "beliefs" if self.is_on_classes else "symbols",
            "cells": None if self.cell_of is None else self.cell_of.tolist(),
            "rows": [list(label) for label in self.polytope.labels],
            "largest": sparse(runs_of(self.largest_multipliers)),
            "smallest": sparse(runs_of(self.smallest_multipliers)),
            "prices": None if self.prices is None else self.prices.tolist(),
            "splits": [list(split) for split in self.splits],
            "multipliers": None if self.multipliers is None else sparse(self.multipliers),
            **cuts,
            **self._stated_groups(),
        }

    def _stated_groups(self) -> dict[str, Any]:
        if self.polytope.groups is None:
            return {}
        inside = [None if proof is None else proof.to_dict() for proof in self.inside]
        return {"groups": self.polytope.groups.tolist(), "inside": inside}

    def check(self) -> float:
        """The limit evaluated anew from this proof alone; at least ``limit`` where the proof is sound.

        A number and no verdict: the least that any mechanism under the notion loses, in the unit of the utility (nats
        of H(X | Y) for information). As a share, like ``Design.bound``: ``1 - check() / H(X)``.
        """
        if not self.inside:
            return self._check_own()
        if self.polytope.groups is None or len(self.inside) != self.polytope.n_boxed:
            return -np.inf
        if not all(proof is None or self._is_about(group, proof) for group, proof in enumerate(self.inside)):
            return -np.inf
        limits = [0.0 if proof is None else proof.check() for proof in self.inside]
        return self._check_own() + self._of_groups(limits)

    def _is_about(self, group: int, proof: Proof) -> bool:
        """Whether a proof is about the members of a group, and rows that posteriors given the group keep."""
        expected = self.polytope.within(np.flatnonzero(self.polytope.groups == group))
        compared = ("rows", "equal", "p_useful", "rounding")
        return all(np.array_equal(getattr(proof.polytope, name), getattr(expected, name)) for name in compared)

    def _check_own(self) -> float:
        """The same for the symbols, or for the groups alone."""
        evaluator = Evaluator(self.polytope)
        if not self.polytope.cuts_are_valid(self.cell_of):
            return -np.inf
        is_larger = evaluator.extremes(-1.0, self.largest_multipliers) > self.largest
        is_smaller = evaluator.extremes(1.0, self.smallest_multipliers) < self.smallest
        if is_larger.any() or is_smaller.any():
            return -np.inf
        if self.prices is None or self.multipliers is None:
            return closed_form(self.utility, self.polytope.summed(self.polytope.p_useful), self.largest)
        cover = Cover(self.smallest, self.largest)
        for box, symbol, point in self.splits:
            if not cover.lower[box, symbol] <= point <= cover.upper[box, symbol]:
                return -np.inf
            cover.split(np.array([box]), np.array([symbol]), np.array([point]))
        if len(self.multipliers) != len(cover):
            return -np.inf
        step = max(1, STRIPE // self.multipliers.n_rows)
        worst = [
            self._worst(evaluator, cover, self.multipliers, self.prices, slice(first, first + step))
            for first in range(0, len(cover), step)
        ]
        return float(self.prices @ self.polytope.p_useful) + min(worst)

    def _worst(
        self, evaluator: Evaluator, cover: Cover, multipliers: Multipliers, prices: FloatArray, some: slice
    ) -> float:
        """The lowest of the limits of h(v) - prices . v over some boxes; inf where those hold no posterior."""
        lower, upper = cover.lower[some], cover.upper[some]
        slope, constant = chords(self.utility, lower, upper)
        usable = evaluator.usable(multipliers.dense(some.start, some.stop))
        return (
            float((evaluator.least(lower, upper, usable, self.polytope.spread(slope) - prices) + constant).min())
            - ROUNDING
        )


def closed_form(utility: SeparableUtility, p_useful: FloatArray, largest: FloatArray) -> float:
    """The average cost is at least sum P(x) f(largest(x)) / largest(x): chords from 0 over the whole simplex.

    It is also at least what X itself costs, f(1).
    """
    released = float(utility.terms(np.ones(1))[0])
    return max(released, float((p_useful * utility.rates(np.minimum(largest, 1.0))).sum()) - ROUNDING)
