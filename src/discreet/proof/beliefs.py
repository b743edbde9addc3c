r"""Beliefs P(s | y) that a notion allows, and posteriors over pairs (s, x) priced over all of them.

A mechanism that reads S mixes posteriors u(s, x). A notion on lifts bounds only their marginal, the belief
:math:`b(s) = \sum_x u(s, x)`, and the cost of P(x | y) is concave in u, so at a vertex every s puts its whole belief on
one x: a vertex is a vertex of the allowed beliefs and a function from s to x. What it costs under a separable utility,
a sum of f over the entries, depends only on which s share an x, so the best function is a set partition of S whose
blocks choose their x by price:

.. math:: \min_b \min_{\text{partitions}} \sum_B \Bigl( f(b(B)) - \max_x \sum_{s \in B} b(s) \pi(s, x) \Bigr)

which a dynamic programme over subsets solves exactly, in O(3^c) for every vertex b, whatever the number of x. Our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from discreet._support.errors import UnsupportedNotionError
from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.notions import LARGEST_EXPONENT, LIFTS, LiftRatio, Notion, factor
from discreet.proof.boxes import ROUNDING
from discreet.utilities import SeparableUtility

__all__ = [
    "MOST_EXACT",
    "BeliefProof",
    "Priced",
    "allowed_beliefs",
    "cheapest_beliefs",
    "has_known_beliefs",
    "price_exactly",
]

#: Sensitive values up to which pricing is exact: 3**9 steps over 2,304 vertices.
MOST_EXACT = 9

#: Vertices of beliefs that differ by less are one.
SAME = 1e-12


@dataclass(frozen=True)
class Limits:
    """Bounds of the lifts, or of their ratio, which is None where it is the lifts that are bounded."""

    low: float
    high: float
    ratio: float | None


def has_known_beliefs(notion: Notion) -> bool:
    """Whether a notion bounds all lifts, or all their ratios, but not both: the vertices are known for these."""
    kinds = {bound.kind for bound in notion.bounds}
    return not notion.is_conditional and notion.confidence is None and (kinds <= set(LIFTS) or kinds == {LiftRatio()})


def limits_of(notion: Notion) -> Limits:
    """The bounds that a notion puts on lifts; those it does not have are open."""
    if not has_known_beliefs(notion):
        raise UnsupportedNotionError(
            f"mechanisms that read S are searched for under a range of lifts (LIP, ALIP, max-lift) or of their ratios "
            f"(LDP), not under {notion}. Use 'optimal', which reads x alone."
        )
    low, high, ratio = 0.0, factor(LARGEST_EXPONENT), None
    for bound in notion.bounds:
        lowest, highest = bound.kind.lift_range(bound.epsilon)
        low, high = max(low, lowest), min(high, highest)
        if bound.kind.compares_pairs:
            ratio = min(factor(bound.epsilon), math.inf if ratio is None else ratio)
    return Limits(low, high, ratio)


def allowed_beliefs(notion: Notion, prior: FloatArray) -> FloatArray:
    """All vertices of the allowed beliefs, one a row."""
    limits, c = limits_of(notion), len(prior)
    raised = np.array(list(itertools.product((False, True), repeat=c)))
    if limits.ratio is not None:
        lifts = np.where(raised, limits.ratio, 1.0)
        return _distinct(prior * lifts / (lifts @ prior)[:, None])
    high = np.minimum(limits.high * prior, 1.0)
    found = []
    for free in range(c):
        belief = np.where(raised, high, limits.low * prior)
        belief[:, free] = 0.0
        belief[:, free] = 1.0 - belief.sum(axis=1)
        inside = (belief[:, free] >= limits.low * prior[free] - SAME) & (belief[:, free] <= high[free] + SAME)
        found.append(belief[inside])
    return _distinct(np.clip(np.vstack(found), 0.0, 1.0))


def _distinct(beliefs: FloatArray) -> FloatArray:
    _, first = np.unique(np.round(beliefs / SAME), axis=0, return_index=True)
    return beliefs[np.sort(first)]


@dataclass(frozen=True)
class Priced:
    """For every belief: the least reduced cost of a function from s to x, and that function."""

    reduced: FloatArray
    beliefs: FloatArray
    choice: IntArray  # x of each s, shape (beliefs, n_sensitive)

    def points(self, n_useful: int) -> FloatArray:
        """Posteriors over pairs, shape (beliefs, n_sensitive, n_useful)."""
        result = np.zeros((*self.beliefs.shape, n_useful))
        np.put_along_axis(result, self.choice[:, :, None], self.beliefs[:, :, None], axis=2)
        return result


def price_exactly(beliefs: FloatArray, prices: FloatArray, occurs: BoolArray, utility: SeparableUtility) -> Priced:
    """The cheapest function from s to x for each belief; pairs that never occur are out of reach."""
    cost, where = _blocks(beliefs, prices, occurs, utility)
    count, c = beliefs.shape
    full = (1 << c) - 1
    best = np.full((full + 1, count), np.inf)
    best[0] = 0.0
    cut = np.zeros((full + 1, count), dtype=np.int64)
    for subset in range(1, full + 1):
        lowest = subset & -subset
        block = subset
        while block:  # blocks that hold the lowest member, so that every partition is seen once
            if block & lowest:
                value = cost[block] + best[subset ^ block]
                better = value < best[subset]
                best[subset] = np.where(better, value, best[subset])
                cut[subset] = np.where(better, block, cut[subset])
            block = (block - 1) & subset
    return Priced(best[full], beliefs, _functions(cut, where, count, c))


def _blocks(
    beliefs: FloatArray, prices: FloatArray, occurs: BoolArray, utility: SeparableUtility
) -> tuple[FloatArray, IntArray]:
    """Reduced cost of every block of sensitive values under every belief, and the x that it goes to."""
    count, c = beliefs.shape
    usable = np.where(occurs, prices, -np.inf)
    cost = np.full((1 << c, count), np.inf)
    where = np.zeros((1 << c, count), dtype=np.int64)
    for block in range(1, 1 << c):
        members = [s for s in range(c) if block >> s & 1]
        share = beliefs[:, members]
        gain = np.zeros((count, prices.shape[1]))
        for k, s in enumerate(members):
            # A value without belief does not care where it goes, but must go where it occurs.
            gain += np.where(np.isfinite(usable[s]), share[:, k, None] * np.nan_to_num(usable[s], neginf=0.0), -np.inf)
        where[block] = gain.argmax(axis=1)
        cost[block] = utility.terms(share.sum(axis=1)) - gain.max(axis=1)
    return cost, where


def _functions(cut: IntArray, where: IntArray, count: int, c: int) -> IntArray:
    choice = np.zeros((count, c), dtype=np.int64)
    left = np.full(count, (1 << c) - 1)
    every = np.arange(count)
    while left.any():
        block = cut[left, every]
        x = where[block, every]
        for s in range(c):
            inside = (block >> s & 1).astype(bool)
            choice[inside, s] = x[inside]
        left ^= block
    return choice


def cheapest_beliefs(notion: Notion, prior: FloatArray, cost: FloatArray) -> FloatArray:
    """The allowed belief of least cost . b for each row of ``cost``: raise the cheapest values as far as allowed."""
    limits = limits_of(notion)
    order = np.argsort(cost, axis=1, kind="stable")
    if limits.ratio is not None:
        rank = np.argsort(order, axis=1)
        best, result = np.full(len(cost), np.inf), np.tile(prior, (len(cost), 1))
        for size in range(cost.shape[1] + 1):
            belief = prior * np.where(rank < size, limits.ratio, 1.0)
            belief = belief / belief.sum(axis=1, keepdims=True)
            value = (belief * cost).sum(axis=1)
            result[value < best], best = belief[value < best], np.minimum(best, value)
        return result
    low, high = limits.low * prior, np.minimum(limits.high * prior, 1.0)
    room = (high - low)[order]
    before = np.cumsum(room, axis=1) - room
    added = np.clip(1.0 - low.sum() - before, 0.0, room)
    result = np.tile(low, (len(cost), 1))
    np.put_along_axis(result, order, low[order] + added, axis=1)
    return result


@dataclass(frozen=True)
class BeliefProof:
    """Why no mechanism that reads S has a smaller average cost: prices, and all vertices priced anew by `check`.

    ``is_on_classes`` says that ``cells`` and ``prices`` are of pairs of s and a class of symbols, whose limit is one
    for symbols too: a class is a function of x, and a concave f with f(0) = 0 is subadditive.
    """

    notion: Notion
    utility: SeparableUtility
    cells: FloatArray
    prices: FloatArray
    limit: float
    is_on_classes: bool = False

    def check(self) -> float:
        """The limit evaluated anew; at least ``limit`` where the proof is sound.

        A number and no verdict: the least that any mechanism under the notion loses, in the unit of the utility (nats
        of H(X | Y) for information). As a share, like ``Design.bound``: ``1 - check() / H(X)``.
        """
        beliefs = allowed_beliefs(self.notion, self.cells.sum(axis=1))
        priced = price_exactly(beliefs, self.prices, self.cells > 0, self.utility)
        return float((self.prices * self.cells).sum() + priced.reduced.min()) - ROUNDING
