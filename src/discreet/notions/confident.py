r"""Promises with confidence: what is allowed for every P(s | x) within limits, decided exactly.

Given X, a released symbol with posterior v = P(x | y) has the lift :math:`\sum_x v(x) b(x) / \sum_x P(x) b(x)` of s,
where b = P(s | .) is known within limits l and u only. The largest lift puts b at u where :math:`v(x) / P(x)` is large
and at l where it is small, the least one the other way round, so a sort and sums find both. Whether the largest is at
most t is

.. math:: \sum_x u(x) \, (v(x) - t P(x))^+ - l(x) \, (t P(x) - v(x))^+ \le 0,

which falls as t grows: rational numbers around exp(epsilon) decide it. Floats settle what is clear.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet._support.errors import UnsupportedNotionError
from discreet._support.numeric import DENOMINATOR, LEVEL_GUARD, BoolArray, FloatArray, IntArray, log
from discreet.core.joint import Joint
from discreet.measures.limits import BeliefLimits
from discreet.mechanism import ChannelMechanism, Mechanism
from discreet.mechanism.entries import Spread
from discreet.mechanism.weights import shares
from discreet.notions.bound import Bound, factor
from discreet.notions.exact import decided_around_exp
from discreet.notions.lift_kinds import LargestLift
from discreet.notions.rows import PosteriorRows

__all__ = ["Sample", "confident_rows", "worst_of_blocks"]

#: Entries of arrays that are looked at in one vectorised step.
STRIPE = 2_000_000


class Sample:
    """Records of a table as a sample, and what a mechanism releases of them.

    Parameters
    ----------
    joint : Joint
        With counts.
    limits : BeliefLimits
        Within which P(s | x) may be anything.
    spread : Spread
        Which useful values are behind each released symbol, and with which weights.
    """

    def __init__(self, joint: Joint, limits: BeliefLimits, spread: Spread) -> None:
        self.joint, self.limits, self.spread = joint, limits, spread
        self.records: IntArray = joint.whole.sum(axis=0)

    @classmethod
    def of(cls, joint: Joint, limits: BeliefLimits, mechanism: Mechanism | None) -> Sample:
        """What a mechanism releases; without one X is released as it is."""
        return cls(joint, limits, _spread(joint, mechanism))

    @classmethod
    def of_block(cls, joint: Joint, limits: BeliefLimits, members: IntArray) -> Sample:
        """One released symbol, which is released for these useful values and no others."""
        return cls(joint, limits, Spread(members, np.full(len(members), DENOMINATOR), np.zeros(1, dtype=np.int64)))

    @property
    def n_released(self) -> int:
        """Number of released symbols."""
        return len(self.spread.starts)

    def allowed(self, bounds: Sequence[Bound]) -> BoolArray:
        """Which released symbols keep all bounds, decided exactly; one without mass is never seen and passes."""
        verdict = np.ones(self.n_released, dtype=bool)
        for bound, levels in zip(bounds, self.levels(bounds)):
            excess = levels - bound.epsilon
            verdict &= excess <= LEVEL_GUARD
            for y in np.flatnonzero(verdict & (excess >= -LEVEL_GUARD)).tolist():
                verdict[y] = self._keeps(bound, y)
        return verdict

    def levels(self, bounds: Sequence[Bound]) -> FloatArray:
        """Nats that each bound needs at each released symbol in the worst case, shape (n_bounds, n_released)."""
        least, largest = self.extremes
        found = [
            log(largest.max(axis=0)) if bound.kind == LargestLift() else -log(least.min(axis=0)) for bound in bounds
        ]
        return np.stack(found)

    @cached_property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Least and largest lift of every sensitive value at every released symbol; 1 where it has no mass."""
        least = np.ones((self.joint.n_sensitive, self.n_released))
        largest = least.copy()
        sizes = np.diff(self.spread.starts, append=len(self.spread.source))
        order = np.argsort(sizes, kind="stable")
        first = 0
        while first < len(order):
            # Symbols of about the same size are looked at together, as a matrix that is filled up with nothing.
            width = max(int(sizes[order[first]]), 1) * 2
            until = int(np.searchsorted(sizes[order], width, side="right"))
            until = min(until, first + max(1, STRIPE // (width * self.joint.n_sensitive)))
            some = order[first:until]
            if sizes[some].any():
                least[:, some], largest[:, some] = self._extremes_of(some, int(sizes[some].max()))
            first = until
        return least, largest

    def _extremes_of(self, released: IntArray, width: int) -> tuple[FloatArray, FloatArray]:
        starts = self.spread.starts[released]
        ends = np.append(self.spread.starts, len(self.spread.source))[released + 1]
        place = starts[:, None] + np.arange(width)
        there = place < ends[:, None]
        place = np.minimum(place, len(self.spread.source) - 1)
        chance = np.where(there, self._chances[place], 0.0)
        order = np.argsort(-chance, axis=1, kind="stable")
        chance = np.take_along_axis(chance, order, axis=1)
        source = np.take_along_axis(self.spread.source[place], order, axis=1)
        share = np.where(np.take_along_axis(there, order, axis=1), self.joint.p_useful[source], 0.0)
        posterior = chance * share
        mass = posterior.sum(axis=1, keepdims=True)
        posterior = np.divide(posterior, mass, out=np.zeros_like(posterior), where=mass > 0)
        low, high = self.limits.floats
        every = (low @ self.joint.p_useful)[:, None, None], (high @ self.joint.p_useful)[:, None, None]
        bottom, top = low[:, source], high[:, source]
        outside = np.clip(1.0 - share.sum(axis=1), 0.0, None) > 0  # whether some x are not behind the symbol
        largest = _ratio(posterior, share, top, bottom, every[0], outside)
        least = _ratio(posterior, share, bottom, top, every[1], outside)
        seen = mass[:, 0] > 0
        return (
            np.where(seen, np.nanmin(np.where(there, least, np.nan), axis=2, initial=np.inf), 1.0),
            np.where(seen, np.nanmax(np.where(there, largest, np.nan), axis=2, initial=0.0), 1.0),
        )

    @cached_property
    def _chances(self) -> FloatArray:
        return shares(self.spread.weight)

    def _keeps(self, bound: Bound, y: int) -> bool:
        """One bound at one released symbol, in rational numbers."""
        part = slice(self.spread.starts[y], [*self.spread.starts, len(self.spread.source)][y + 1])
        behind = self.spread.source[part].tolist()
        weights = [int(w) for w in self.spread.weight[part]]
        records, low, high = self.records, self.limits.low, self.limits.high
        total = int(records.sum())
        mass = sum(int(records[x]) * w for x, w in zip(behind, weights))
        rising = bound.kind == LargestLift()
        for s in range(self.joint.n_sensitive):
            towards, away = (high[s], low[s]) if rising else (low[s], high[s])
            rest = sum(int(n) * int(b) for n, b in zip(records.tolist(), away.tolist()))
            rest -= sum(int(records[x]) * int(away[x]) for x in behind)
            cells = [(int(records[x]), w * total, int(towards[x]), int(away[x])) for x, w in zip(behind, weights)]
            if not _is_kept(cells, mass, rest, Fraction(bound.epsilon), rising=rising):
                return False
        return True


def _is_kept(
    cells: Sequence[tuple[int, int, int, int]], mass: int, rest: int, epsilon: Fraction, *, rising: bool
) -> bool:
    """Whether the largest lift is at most exp(epsilon), or the least one at least exp(-epsilon).

    ``cells`` are records, weight times all records, and limits of b where it counts for and against the lift; ``rest``
    is the sum of records times b over all values that are not behind the symbol.
    """

    def excess(t: Fraction) -> Fraction:
        """Sign of the lift's excess over t, the worst one or the best: it falls as t grows."""
        limit = t * mass
        inside = sum(
            (n * (towards if weight > limit else away) * (weight - limit) for n, weight, towards, away in cells),
            Fraction(0),
        )
        return inside - limit * rest

    if epsilon == 0:
        return excess(Fraction(1)) <= 0 if rising else excess(Fraction(1)) >= 0

    def attempt(low: Fraction, high: Fraction) -> bool | None:
        if rising:
            return True if excess(low) <= 0 else False if excess(high) > 0 else None
        return True if excess(1 / low) >= 0 else False if excess(1 / high) < 0 else None

    return decided_around_exp(epsilon, attempt)


def confident_rows(joint: Joint, bounds: Sequence[Bound], limits: BeliefLimits) -> PosteriorRows:
    r"""The posteriors that keep bounds on lifts for every P(s | x) within its limits, as rows on parts of v.

    With t = exp(epsilon), the part of v(x) below t P(x) counts l(x) against the largest lift and the part above it
    u(x); against the least lift the part below P(x) / t counts u(x) and the part above it l(x):

    .. math:: \sum_x l v^- + u v^+ \le t \sum_x l P, \qquad \sum_x u v^- + l v^+ \ge t^{-1} \sum_x u P.

    Both prefer to fill lower parts first, so one division into parts serves them and all s.
    """
    low, high = limits.floats
    share = joint.p_useful
    factors = {b: factor(b.epsilon) if b.kind == LargestLift() else math.exp(-b.epsilon) for b in bounds}
    ends = sorted(set(factors.values()))
    steps = np.stack([np.minimum(end * share, 1.0) for end in ends])
    blocks, ends_of_rows, labels = [], [], []
    for bound, end in factors.items():
        rising = bound.kind == LargestLift()
        below, above = (low, high) if rising else (-high, -low)
        place = ends.index(end)
        blocks.append(np.hstack([below if k <= place else above for k in range(len(ends) + 1)]))
        ends_of_rows.append(end * (below @ share))
        labels += [("upper" if rising else "lower", s, s, None) for s in range(joint.n_sensitive)]
    rows = PosteriorRows.at_most(np.vstack(blocks), np.concatenate(ends_of_rows), labels=tuple(labels))
    return replace(rows, steps=steps)


def _spread(joint: Joint, mechanism: Mechanism | None) -> Spread:
    if mechanism is None:
        every = np.arange(joint.n_useful)
        return Spread(every, np.full(joint.n_useful, DENOMINATOR), every)
    if not isinstance(mechanism, ChannelMechanism):
        raise UnsupportedNotionError(
            "a promise with confidence is about mechanisms that list what each useful value is released as: not about "
            "those that read S, release bits or draw attributes apart. Use the method 'optimal', or leave confidence "
            "out."
        )
    spread = mechanism.spread_over(joint.useful, joint.occurs)
    behind = spread.weight > 0  # values that the table lacks leave entries without weight, which stand for nothing
    before = np.concatenate([[0], np.cumsum(behind)])
    return Spread(spread.source[behind], spread.weight[behind], before[spread.starts])


def _ratio(
    posterior: FloatArray,
    share: FloatArray,
    first: FloatArray,
    after: FloatArray,
    every: FloatArray,
    outside: BoolArray,
) -> FloatArray:
    """Lifts where b is ``first`` up to each entry and ``after`` behind it, also for all x that are not listed."""
    summed = np.cumsum(posterior * first, axis=2) + _behind(posterior * after)
    listed = (share * after).sum(axis=2, keepdims=True)
    rest = np.where(outside[:, None], np.maximum(every - listed, 0.0), 0.0)
    among = np.cumsum(share * first, axis=2) + _behind(share * after) + rest
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((among > 0) | (summed > 0), summed / among, np.nan)


def _behind(values: FloatArray) -> FloatArray:
    """Sums of all that comes after each entry."""
    sums = np.cumsum(values[:, :, ::-1], axis=2)[:, :, ::-1]
    return np.concatenate([sums[:, :, 1:], np.zeros_like(sums[:, :, :1])], axis=2)


def worst_of_blocks(
    high: FloatArray, low: FloatArray, mass: FloatArray, all_high: FloatArray, all_low: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Least and largest lift of merged blocks, from sums of P(x) u(x) and P(x) l(x) over their members and over all.

    All arrays but ``mass`` end in the axes (sensitive, blocks).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = high / mass / (high + np.maximum(all_low - low, 0.0))
        least = low / mass / (low + np.maximum(all_high - high, 0.0))
    return np.nan_to_num(least, nan=0.0), np.nan_to_num(largest, nan=np.inf)
