r"""Sets of posteriors with curved borders, and the cuts that enclose them.

A bound on a mean of a function of the lift allows :math:`\{v : \sum_s P(s) f((L v)_s) \le b\}`. For any lifts w > 0 the
lines below f that are closest at w (`discreet.notions.lines`) give a row that every allowed posterior satisfies, a
*cut*, written here on beliefs, because :math:`P(s) (L v)_s = \sum_x P(s \mid x) \, v(x)`:

.. math:: \sum_x v(x) \Bigl( \sum_s P(s) \, c_s(w) + \sum_s k_s(w) \, P(s \mid x) - 1 \Bigr) \le 0

So a polytope of cuts holds every allowed posterior, and what is proven of the polytope is proven of them; whoever knows
w makes the row anew. :math:`P_X`, whose lifts are all 1, is inside, and every allowed posterior is seen from there: on
the way from :math:`P_X` to a posterior no measure falls, so that pulling a posterior back far enough makes it allowed.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.notions import LARGEST_CURVED, Bound, Notion

__all__ = ["BISECTIONS", "Curved", "Cut", "bisected", "gathered_rows"]

#: Lifts below this are cut at it: a line at zero would have no slope, or all of it.
LEAST_LIFT = 1e-30

#: Relative rounding of a lift.
ROUNDING = 2.0**-49

#: Halvings of the way from P_X to a posterior.
BISECTIONS = 52

#: Shares of a way that a posterior is taken back by where rounding has put it outside; tried in turn.
HAIRS = (1e-15, 1e-14, 1e-12)

#: Posteriors that exceed a cut by less than this share of its limit are not cut off.
TOUCHING = 1e-12


class Cut(NamedTuple):
    """Where a row comes from: which joint, which of the curved bounds, and the lifts w of its lines."""

    view: int
    bound: int
    at: FloatArray


class View(NamedTuple):
    """A joint as cuts see it: P(s | x), P(s), and by what its posteriors are those of the first joint multiplied."""

    beliefs: FloatArray
    prior: FloatArray
    factor: FloatArray

    def largest(self, bound: Bound) -> FloatArray:
        """Lifts that no sensitive value exceeds under a bound: the largest of the table, or less."""
        in_table: FloatArray = self.beliefs.max(axis=1) / self.prior * (1 + ROUNDING)
        if bound.epsilon > LARGEST_CURVED:
            return in_table
        return np.minimum(in_table, bound.kind.largest_lifts(self.prior, bound.epsilon))

    def lifts(self, points: FloatArray) -> FloatArray:
        """Lifts of posteriors, shape (n_points, n_sensitive)."""
        return self.lifts_of(self.shadow(points))

    def shadow(self, points: FloatArray) -> FloatArray:
        """What lifts are quotients of, and is linear in posteriors: P(s, .) / P(s) of each value, and their mass."""
        seen = points * self.factor
        result: FloatArray = np.hstack([seen @ self.beliefs.T / self.prior, seen.sum(axis=1, keepdims=True)])
        return result

    @staticmethod
    def lifts_of(shadow: FloatArray) -> FloatArray:
        """Lifts of posteriors with this shadow."""
        result: FloatArray = shadow[:, :-1] / shadow[:, -1:]
        return result


@dataclass(frozen=True)
class Curved:
    """What the curved bounds of a notion allow, under one joint or several."""

    views: tuple[View, ...]
    bounds: tuple[Bound, ...]

    @classmethod
    def of(cls, joint: Joint, notion: Notion, also: Sequence[Joint] = ()) -> Curved | None:
        """Of a joint whose symbols all occur, and others over the same symbols; None where no bound is curved."""
        bounds = tuple(bound for bound in notion.bounds if bound.kind.has_lines)
        views = tuple(_view(other, joint) for other in (joint, *also))
        return cls(views, bounds) if bounds else None

    @cached_property
    def largest(self) -> tuple[tuple[FloatArray, ...], ...]:
        """Lifts that no sensitive value exceeds, by view and bound."""
        return tuple(tuple(view.largest(bound) for bound in self.bounds) for view in self.views)

    def shadows(self, points: FloatArray) -> FloatArray:
        """Those under every view, side by side: all that is asked of posteriors here, of n_sensitive numbers each."""
        return np.hstack([view.shadow(points) for view in self.views])

    def _by_view(self, shadows: FloatArray) -> Iterator[FloatArray]:
        """Lifts under each view, shape (n_points, n_sensitive)."""
        ends = np.cumsum([len(view.prior) + 1 for view in self.views])
        return (view.lifts_of(part) for view, part in zip(self.views, np.split(shadows, ends[:-1], axis=1)))

    def excess(self, points: FloatArray) -> FloatArray:
        """Nats by which each posterior exceeds the bound that it exceeds most; at most 0 where it is allowed."""
        return self.excess_of(self.shadows(points))

    def excess_of(self, shadows: FloatArray) -> FloatArray:
        """The same of posteriors with these shadows."""
        worst = np.full(len(shadows), -np.inf)
        for view, found in zip(self.views, self._by_view(shadows)):
            lifts = found.T
            for bound in self.bounds:
                np.maximum(worst, bound.level(bound.value(lifts, view.prior)) - bound.epsilon, out=worst)
        return worst

    def enclosed(self, shadows: FloatArray) -> FloatArray:
        """The closest lines at each posterior, by view and bound: at most 1 where no cut could leave it out."""
        found = []
        for view, tops, seen in zip(self.views, self.largest, self._by_view(shadows)):
            lifts = np.maximum(seen, LEAST_LIFT)
            for bound, largest in zip(self.bounds, tops):
                if bound.epsilon > LARGEST_CURVED:
                    found.append(np.zeros(len(shadows)))
                    continue
                lines = bound.kind.lines(lifts, largest, bound.epsilon)
                with np.errstate(invalid="ignore", over="ignore"):
                    found.append((lines.constant + lines.slope * lifts) @ view.prior)
        result: FloatArray = np.nan_to_num(np.stack(found, axis=1), nan=np.inf)
        return result

    def cuts(self, points: FloatArray, p_useful: FloatArray) -> list[Cut]:
        """A cut for each posterior that cuts can leave out, where the way to it from P_X meets the border."""
        outside = points[self.enclosed(self.shadows(points)).max(axis=1, initial=0.0) > 1 + TOUCHING]
        border = bisected(outside, p_useful, self.shadows, lambda some: self.enclosed(some).max(axis=1) <= 1)
        number = len(self.bounds)
        worst = self.enclosed(self.shadows(border)).argmax(axis=1).tolist() if len(border) else []
        return [
            Cut(k // number, k % number, np.maximum(self.views[k // number].lifts(point[None])[0], LEAST_LIFT))
            for k, point in zip(worst, border)
        ]

    def rows(self, cuts: Sequence[Cut]) -> tuple[FloatArray, FloatArray]:
        """The rows of cuts, and for each the size of the numbers that it was computed from, for its rounding."""
        rows, sizes = [np.empty((0, len(self.views[0].factor)))], [np.empty(0)]
        for cut in cuts:
            view, bound = self.views[cut.view], self.bounds[cut.bound]
            lines = bound.kind.lines(cut.at, self.largest[cut.view][cut.bound], bound.epsilon)
            entries = lines.slope @ view.beliefs + (lines.constant @ view.prior - 1)
            behind = (lines.roundings * np.abs(lines.slope)) @ view.beliefs
            behind = behind + (lines.roundings * np.abs(lines.constant)) @ view.prior + 1
            rows.append((entries * view.factor)[None])
            # A sum over the sensitive values rounds once for each of them.
            sizes.append(np.array([(1 + len(view.prior) / 8) * float((behind * view.factor).max())]))
        return np.vstack(rows), np.concatenate(sizes)

    def stated(self, cuts: Sequence[Cut]) -> dict[str, list[Any]]:
        """Cuts as plain data: their lifts, and the lifts that none exceeds, for which lines of a lower side hold."""
        lower = next((k for k, bound in enumerate(self.bounds) if bound.kind.is_inverse), 0)
        return {"cuts": [cut.at.tolist() for cut in cuts], "lifts": self.largest[0][lower].tolist()}

    def labels(self, cuts: Sequence[Cut]) -> tuple[tuple[str, int, None, None], ...]:
        """Names of the rows, by which a checker makes them anew; none under several joints."""
        if len(self.views) > 1:
            return ()
        sides = ["lower-cut" if bound.kind.is_inverse else "upper-cut" for bound in self.bounds]
        return tuple((sides[cut.bound], k, None, None) for k, cut in enumerate(cuts))


def gathered_rows(rows: FloatArray, cell_of: IntArray) -> FloatArray:
    """The least of the entries of each cell's members."""
    order = np.argsort(cell_of, kind="stable")
    starts = np.searchsorted(cell_of[order], np.arange(int(cell_of.max()) + 1))
    result: FloatArray = np.minimum.reduceat(rows[:, order], starts, axis=1)
    return result


def _view(other: Joint, joint: Joint) -> View:
    occurs = other.p_sensitive > 0  # a value that this joint does not have is not told anything about
    cells, prior = other.probabilities[occurs], other.p_sensitive[occurs]
    share = other.p_useful
    beliefs = np.divide(cells, share, out=np.repeat(prior[:, None], len(share), axis=1), where=share > 0)
    return View(beliefs, prior, share / joint.p_useful)


def bisected(
    points: FloatArray,
    p_useful: FloatArray,
    seen: Callable[[FloatArray], FloatArray],
    fits: Callable[[FloatArray], BoolArray],
    halvings: int = BISECTIONS,
) -> FloatArray:
    """Each posterior, or the last that fits on the way to it from P_X; short of it by no more than halvings leave.

    What is ``seen`` of posteriors is linear in them and decides whether one ``fits``: it is computed once, and changes
    along a way as that goes.
    """
    result, shown = points.copy(), seen(points)
    outside = np.flatnonzero(~fits(shown))
    start = seen(p_useful[None])
    ways = shown[outside] - start
    low, high = np.zeros(len(outside)), np.ones(len(outside))
    for _ in range(halvings if len(outside) else 0):
        middle = (low + high) / 2
        inside = fits(start + middle[:, None] * ways)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    result[outside] = p_useful + low[:, None] * (points[outside] - p_useful)
    for hair in HAIRS:  # what is seen of the result itself is rounded otherwise
        beyond = outside[~fits(seen(result[outside]))]
        result[beyond] = p_useful + (1 - hair) * (result[beyond] - p_useful)
    return result
