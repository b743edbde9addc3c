"""The posteriors that a notion allows, as homogeneous rows ``R v <= 0`` over the symbols that occur."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import BoolArray, FloatArray, IntArray, ObjectArray, product
from discreet.core.joint import Joint
from discreet.notions import Band, Notion, PosteriorRows, stacked
from discreet.proof.curved import BISECTIONS, Curved, Cut, bisected, gathered_rows

__all__ = ["Polytope"]

#: Relative rounding of a lift, of exp(epsilon) and of their difference: a handful of float operations.
ROUNDING = 2.0**-49

#: Comparisons of entries that the search for redundant rows may take.
MOST_COMPARED = 20_000_000


@dataclass(frozen=True)
class Polytope:
    r"""Allowed posteriors :math:`\{v \ge 0, \sum v = 1, R (v, t) \le 0\}`, some rows being equations.

    Every notion that is a polytope becomes homogeneous, because a posterior sums to one; rows of several
    priors can then be written side by side on the same column P(y | x).
    """

    rows: FloatArray  # (n_rows, n_useful + n_auxiliary), each scaled to a largest entry of one
    equal: BoolArray
    p_useful: FloatArray
    rounding: FloatArray  # how far off the entries of each row may be; large where a tiny budget cancels all digits
    scale: FloatArray | None = None  # what each row was divided by
    labels: tuple[tuple[Any, ...], ...] = ()  # names of the rows, where a checker can make them anew
    steps: FloatArray | None = None  # where entries of a posterior begin to count differently; see `PosteriorRows`
    curved: Curved | None = None  # what the last rows, one for each of the cuts, enclose
    cuts: tuple[Cut, ...] = ()
    groups: IntArray | None = None  # of each symbol, 0, 1, 2, ..., where costs and boxes are about groups of symbols
    bands: tuple[Band, ...] = ()  # rows that stand for those of all pairs of sensitive values
    has_names: bool = True  # whether a checker can make rows of such pairs anew

    @property
    def n_useful(self) -> int:
        """Number of symbols."""
        return len(self.p_useful)

    @property
    def n_own(self) -> int:
        """Number of the columns that are about the posterior: one for each symbol, or for each part of its entry."""
        return self.n_useful * (1 if self.steps is None else len(self.steps) + 1)

    @property
    def n_boxed(self) -> int:
        """Number of the entries that costs and boxes are about: symbols, or groups of them."""
        return self.n_useful if self.groups is None else int(self.groups.max()) + 1

    @property
    def own_rows(self) -> FloatArray:
        """The part of the rows on the posterior itself."""
        return self.rows[:, : self.n_own]

    @property
    def auxiliary(self) -> FloatArray:
        """The part of the rows on auxiliary variables."""
        return self.rows[:, self.n_own :]

    @property
    def is_lifted(self) -> bool:
        """Whether variables are needed besides the posterior."""
        return bool(self.rows.shape[1] > self.n_useful)

    @property
    def is_banded(self) -> bool:
        """Whether the auxiliary variables are those of bands alone, which a posterior determines."""
        return len(self.bands) > 0 and self.rows.shape[1] == self.n_useful + len(self.bands)

    def lifts(self, band: Band) -> tuple[FloatArray, FloatArray]:
        """L of the upper and of the lower rows of a band, a row for each sensitive value."""
        assert self.scale is not None  # rows of bands are scaled like all others
        above, below = self.own_rows[band.above], self.own_rows[band.below]
        return above * self.scale[band.above, None], -below * self.scale[band.below, None]

    @cached_property
    def narrowed(self) -> Polytope:
        r"""Posteriors of each band whose lifts lie between fixed multiples of their mean: no variable t is needed.

        With :math:`m(v)` the mean of the lifts of v, :math:`t = k \, m(v)` is as good a t as any, and k is such that
        P_X lies in the middle. All of them are allowed; others may be as well.
        """
        if not self.is_banded:
            return self
        plain = np.delete(np.arange(len(self.rows)), [k for band in self.bands for k in (*band.above, *band.below)])
        parts = [self.own_rows[plain]]
        for band in self.bands:
            above, below = self.lifts(band)
            mean = above.mean(axis=0)
            at_p = above @ self.p_useful / (mean @ self.p_useful)
            least = np.sqrt(at_p.max() * at_p.min() / band.factor) * mean
            parts += [above - band.factor * least, least - below]
        rows = np.vstack(parts)
        rows /= np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(float).tiny)
        equal = np.append(self.equal[plain], np.zeros(len(rows) - len(plain), dtype=bool))
        return Polytope(rows, equal, self.p_useful, np.full(len(rows), ROUNDING))

    def parts(self, values: FloatArray) -> FloatArray:
        """Entries of posteriors, or of corners of boxes, cut at the steps: what of each lies between two of them."""
        if self.steps is None:
            return values
        edges = [np.zeros(self.n_useful), *self.steps, np.ones(self.n_useful)]
        return np.concatenate([np.clip(values, a, b) - a for a, b in itertools.pairwise(edges)], axis=-1)

    def unfolded(self) -> Polytope:
        r"""The same posteriors as rows on whole entries and auxiliary variables, where entries count by parts.

        All parts of an entry but the first, which is what they leave of it, become auxiliary variables; rows bound
        every part but the last by its width times the sum of all entries.
        """
        if self.steps is None:
            return self
        first, *others = np.split(self.rows, len(self.steps) + 1, axis=1)
        n, widths = self.n_useful, np.diff(self.steps, axis=0, prepend=0.0)
        each, ones = np.eye(n), np.ones((1, n))
        rest = np.hstack([each] * len(others))
        own = [np.hstack([first, *(part - first for part in others)]), np.hstack([-each, rest])]
        own.append(np.hstack([each - widths[0][:, None] * ones, -rest]))
        for k, width in enumerate(widths[1:]):
            placed = [each if j == k else np.zeros((n, n)) for j in range(len(others))]
            own.append(np.hstack([-width[:, None] * ones, *placed]))
        rows = np.vstack(own)
        bounding = len(rows) - len(self.rows)
        return Polytope(
            rows,
            np.append(self.equal, np.zeros(bounding, dtype=bool)),
            self.p_useful,
            np.append(2 * self.rounding, np.full(bounding, ROUNDING)),
        )

    def repeated(self, costs: FloatArray) -> FloatArray:
        """Costs of symbols as costs of the parts of their entries."""
        return costs if self.steps is None else np.tile(costs, len(self.steps) + 1)

    def summed(self, points: FloatArray) -> FloatArray:
        """Posteriors over the groups of symbols, where there are groups."""
        if self.groups is None:
            return points
        order, starts = self._by_group
        result: FloatArray = np.add.reduceat(points[..., order], starts, axis=-1)
        return result

    def spread(self, costs: FloatArray) -> FloatArray:
        """Costs of groups as costs of their members."""
        return costs if self.groups is None else costs[..., self.groups]

    def of_cheapest(self, costs: FloatArray) -> FloatArray:
        """For each group the least cost of its members: what a group that may have any of them costs."""
        if self.groups is None:
            return costs
        order, starts = self._by_group
        result: FloatArray = np.minimum.reduceat(costs[..., order], starts, axis=-1)
        return result

    @cached_property
    def _by_group(self) -> tuple[IntArray, IntArray]:
        """Symbols in the order of their groups, and where each group begins."""
        groups = np.zeros(self.n_useful, dtype=np.int64) if self.groups is None else self.groups
        order = np.argsort(groups, kind="stable")
        return order, np.searchsorted(groups[order], np.arange(self.n_boxed))

    def within(self, symbols: IntArray) -> Polytope:
        """What the rows about some symbols alone ask of a posterior given these: rows are homogeneous."""
        others = np.delete(np.arange(self.n_useful), symbols)
        kept = np.flatnonzero((self.rows[:, others] == 0).all(axis=1))
        return Polytope(
            self.rows[np.ix_(kept, symbols)],
            self.equal[kept],
            self.p_useful[symbols] / self.p_useful[symbols].sum(),
            self.rounding[kept],
            None if self.scale is None else self.scale[kept],
            tuple(self.labels[k] for k in kept.tolist()) if self.labels else (),
        )

    def cut(self, cuts: Sequence[Cut]) -> Polytope:
        """The same with other cuts of its curved bounds in the place of those that it has."""
        if self.curved is None:
            return self
        straight = slice(0, len(self.rows) - len(self.cuts))
        own, size = self.curved.rows(cuts)
        scale = np.abs(own).max(axis=1, initial=0)
        named = self.labels[straight] if len(self.labels) == len(self.rows) else None
        labels = self.curved.labels(cuts)
        return replace(
            self,
            rows=np.vstack([self.rows[straight], _widened(own / scale[:, None], self.rows.shape[1])]),
            equal=np.append(self.equal[straight], np.zeros(len(cuts), dtype=bool)),
            rounding=np.append(self.rounding[straight], ROUNDING * size / scale),
            scale=None if self.scale is None else np.append(self.scale[straight], scale),
            labels=() if named is None or len(labels) < len(cuts) else (*named, *labels),
            cuts=tuple(cuts),
        )

    def cuts_are_valid(self, cell_of: IntArray | None = None) -> bool:
        """Whether the rows of cuts ask for no more than what the cuts give, made anew; of cells, for their members."""
        if self.curved is None or not self.cuts:
            return not self.cuts
        if self.scale is None or not all((cut.at > 0).all() and np.isfinite(cut.at).all() for cut in self.cuts):
            return False
        fresh, size = self.curved.rows(self.cuts)
        fresh = fresh if cell_of is None else gathered_rows(fresh, cell_of)
        made, last = self.rows[-len(self.cuts) :], slice(len(self.rows) - len(self.cuts), None)
        allowed = fresh / self.scale[last, None] + (ROUNDING * size / self.scale[last])[:, None]
        claimed = self.rounding[last] >= ROUNDING * size / self.scale[last]
        return bool((made <= _widened(allowed, made.shape[1])).all() and claimed.all() and not self.equal[last].any())

    def pulled(self, points: FloatArray, halvings: int = BISECTIONS) -> FloatArray:
        """Each posterior moved towards P_X, hardly further than it has to be to keep the rows and the curved bounds."""

        curved, count = self.curved, len(self.rows)

        def seen(some: FloatArray) -> FloatArray:
            sides = product(some, self.own_rows.T)
            return sides if curved is None else np.hstack([sides, curved.shadows(some)])

        def fits(shown: FloatArray) -> BoolArray:
            inside: BoolArray = self._beyond(shown[:, :count].copy()) <= 0
            return inside if curved is None else inside & (curved.excess_of(shown[:, count:]) <= 0)

        return bisected(points, self.p_useful, seen, fits, halvings)

    def exceeded(self, points: FloatArray) -> FloatArray:
        """By how much each posterior exceeds the bands, and the rows that have no auxiliary variables."""
        return self._beyond(product(self.parts(points), self.own_rows.T))

    def _beyond(self, sides: FloatArray) -> FloatArray:
        """The same of posteriors that make this of the rows."""
        apart = [self._apart(band, sides) for band in self.bands]
        sides[:, (self.auxiliary != 0).any(axis=1)] = 0.0
        result: FloatArray = np.where(self.equal, np.abs(sides), sides).max(axis=1, initial=0.0)
        for more in apart:
            np.maximum(result, more, out=result)
        return result

    def _apart(self, band: Band, sides: FloatArray) -> FloatArray:
        """By how much the largest lift exceeds the factor times the smallest, in units of that."""
        assert self.scale is not None
        largest = (sides[:, band.above] * self.scale[band.above]).max(axis=1)
        least = -(sides[:, band.below] * self.scale[band.below]).max(axis=1)
        result: FloatArray = largest / band.factor - least
        return result

    def touched(self, support: IntArray, shares: FloatArray, near: FloatArray) -> tuple[BoolArray, FloatArray]:
        """Which rows a posterior with these shares comes so near to, each its own, and the t of each band.

        Of a band they are those of the largest and of the smallest lifts, where these are as far apart as may be.
        """
        sides: FloatArray = self.rows[:, support] @ shares
        result: BoolArray = self.equal | (sides > -near)
        lowest = np.zeros(len(self.bands))
        for k, band in enumerate(self.bands):
            assert self.scale is not None
            above, below = sides[band.above] * self.scale[band.above], -sides[band.below] * self.scale[band.below]
            lowest[k] = below.min()
            is_wide = above.max() / band.factor > lowest[k] - near[band.below].max()
            result[band.above] = is_wide & (above > above.max() - near[band.above] * band.factor)
            result[band.below] = is_wide & (below < lowest[k] + near[band.below])
        return result, lowest

    def auxiliary_limit(self) -> FloatArray:
        """Upper bounds of the auxiliary variables: from a row in which they all count positively."""
        auxiliary = self.auxiliary
        limit = np.full(auxiliary.shape[1], np.inf)
        for row, own in zip(auxiliary, self.own_rows):
            if (row >= 0).all() and row.any():
                np.minimum(limit, np.divide((-own).max(), row, out=np.full(len(row), np.inf), where=row > 0), out=limit)
        return limit

    @classmethod
    def of(
        cls,
        joint: Joint,
        notion: Notion,
        also: Sequence[Joint] = (),
        outcomes: Sequence[ObjectArray] = (),
        curved: Curved | None = None,
    ) -> Polytope:
        """The polytope of a joint whose symbols all occur, and of other joints over the same symbols.

        Curved bounds, where they are given, have no rows as yet: `cut` makes them.

        Where releases came before, ``outcomes`` are the tables T_y(s, x) of what a reader of those has seen: the
        promise is then about each of them together with what is released now (`discreet.mechanism.Earlier`). One with
        confidence is kept by what is released now, and on the counts by all together.
        """
        if outcomes and notion.confidence is not None:
            return _both(cls.of(joint, notion), _after(joint, notion.on_counts(), outcomes))
        if outcomes:
            return _after(joint, notion, outcomes)
        blocks, equal, widths, size = list[FloatArray](), [], list[int](), []
        labels: tuple[tuple[Any, ...], ...] = ()
        steps, bands = None, list[Band]()
        for other in (joint, *also):
            described = notion.rows(other) if curved is None else _straight_rows(notion, curved, other)
            steps = described.steps
            if steps is not None and also:
                raise InputError(
                    "a promise with confidence is about one joint. Count all tables together, as one sample, or leave "
                    "confidence out."
                )
            labels = described.labels if not also else ()
            bands += [band.moved(sum(len(block) for block in blocks), sum(widths[::2])) for band in described.bands]
            for matrix, bound, is_equal in (
                (described.matrix, described.bound, False),
                (described.equal_matrix, described.equal_bound, True),
            ):
                homogeneous = matrix.copy()
                own = matrix.shape[1] - described.n_auxiliary
                # sum v = 1 turns the right-hand side into part of the row; the other prior's posterior is
                # proportional to v(x) P_other(x) / P(x).
                factor = np.tile(other.p_useful / joint.p_useful, own // joint.n_useful)
                homogeneous[:, :own] -= bound[:, None]
                homogeneous[:, :own] *= factor
                blocks.append(homogeneous)
                before = (np.abs(matrix[:, :own]) + np.abs(bound)[:, None]) * factor
                size.append(before.max(axis=1, initial=0))
                equal.append(np.full(len(matrix), is_equal))
                widths.append(described.n_auxiliary)
        rows = _side_by_side(blocks, widths, joint.n_useful * (1 if steps is None else len(steps) + 1))
        made = _scaled(rows, np.concatenate(equal), np.concatenate(size), joint.p_useful, labels, steps, bands)
        made = replace(made, has_names=not also)
        return made if curved is None else replace(made, curved=curved)


def _straight_rows(notion: Notion, curved: Curved, joint: Joint) -> PosteriorRows:
    """Rows of the bounds that are not cut by."""
    straight = [bound for bound in notion.bounds if bound not in curved.bounds and bound.kind.is_linear]
    nothing = PosteriorRows.at_most(np.empty((0, joint.n_useful)), np.empty(0))
    return stacked([bound.kind.rows(joint, bound.epsilon) for bound in straight]) if straight else nothing


def _widened(rows: FloatArray, width: int) -> FloatArray:
    """Rows with zeros for auxiliary variables, up to so many columns."""
    result: FloatArray = np.hstack([rows, np.zeros((len(rows), width - rows.shape[1]))])
    return result


def _scaled(
    rows: FloatArray,
    equal: BoolArray,
    size: FloatArray,
    p_useful: FloatArray,
    labels: tuple[tuple[Any, ...], ...],
    steps: FloatArray | None = None,
    bands: Sequence[Band] = (),
) -> Polytope:
    """Rows with a largest entry of one each, without those that ask for nothing or follow from others."""
    scale = np.abs(rows).max(axis=1, initial=0)
    needed = (scale > 0) & (equal | (rows > 0).any(axis=1))
    rows, are_equal = rows[needed] / scale[needed, None], equal[needed]
    kept = ~_dominated(rows, are_equal)
    rounding = ROUNDING * size[needed] / scale[needed]
    places = np.flatnonzero(needed)[kept]
    named = tuple(labels[k] for k in places.tolist()) if labels else ()
    made = Polytope(rows[kept], are_equal[kept], p_useful, rounding[kept], scale[needed][kept], named, steps)
    return _with_bands(made, [band.among(places) for band in bands]) if bands else made


def _with_bands(polytope: Polytope, bands: Sequence[Band]) -> Polytope:
    """The same with rows of bands, whose rounding is that of the factor times t as well."""
    banded = replace(polytope, bands=tuple(bands))
    assert banded.scale is not None  # it was made just now
    rounding, most = banded.rounding.copy(), banded.auxiliary_limit()
    for band in bands:
        rounding[band.above] += ROUNDING * band.factor * most[band.auxiliary] / banded.scale[band.above]
    return replace(banded, rounding=rounding)


def _after(joint: Joint, notion: Notion, outcomes: Sequence[ObjectArray]) -> Polytope:
    r"""Rows of the promise given every outcome y of earlier releases.

    The lift of (y, y') compares with P(s), whatever y told already:

    .. math:: \sum_x T_y(s, x) \, c(x) \le e^{\varepsilon} P(s) \sum_x T_y(x) \, c(x)

    which are the rows of a joint that has T_y and, as one symbol more that is never released with y, all other records.
    """
    prior = sum(table.sum(axis=1) for table in outcomes)
    blocks, size, equal, labels = list[FloatArray](), [], [], list[tuple[Any, ...]]()
    bands, widths = list[Band](), list[int]()
    for number, table in enumerate(outcomes):
        occurs = np.flatnonzero(table.sum(axis=0) > 0)
        rest = prior - table.sum(axis=1)
        with_rest = np.hstack([table[:, occurs], rest[:, None]]) if any(rest) else table[:, occurs]
        seen = Joint.counted(with_rest, useful=tuple(range(with_rest.shape[1])), sensitive=joint.sensitive)
        described = notion.rows(seen)
        if described.n_auxiliary > len(described.bands) or described.steps is not None:
            raise InputError(f"{notion} cannot be promised about several releases together. Use LIP, ALIP or LDP.")
        total = int(prior.sum())
        factor = np.array([int(n) / total for n in table.sum(axis=0)[occurs]]) / joint.p_useful[occurs]
        found = [band.moved(sum(len(block) for block in blocks), sum(widths[::2])) for band in described.bands]
        bands += [band._replace(number=number) for band in found]
        for matrix, bound, is_equal in (
            (described.matrix, described.bound, False),
            (described.equal_matrix, described.equal_bound, True),
        ):
            own = matrix[:, : len(occurs)]
            placed = np.zeros((len(matrix), joint.n_useful + described.n_auxiliary))
            placed[:, occurs] = (own - bound[:, None]) * factor
            placed[:, joint.n_useful :] = matrix[:, matrix.shape[1] - described.n_auxiliary :]
            blocks.append(placed)
            widths.append(described.n_auxiliary)
            size.append(((np.abs(own) + np.abs(bound)[:, None]) * factor).max(axis=1, initial=0))
            equal.append(np.full(len(matrix), is_equal))
        labels += [(*label[:3], number) for label in described.labels]
    rows = _side_by_side(blocks, widths, joint.n_useful)
    every = np.concatenate(equal), np.concatenate(size)
    return _scaled(rows, *every, joint.p_useful, () if bands else tuple(labels), bands=bands)


def _both(first: Polytope, second: Polytope) -> Polytope:
    """Posteriors that both allow; entries count by parts in the first, as a whole in the second, which has no more."""
    times = 1 if first.steps is None else len(first.steps) + 1
    whole = np.zeros((len(second.rows), first.rows.shape[1]))
    whole[:, : first.n_own] = np.tile(second.rows, times)
    return Polytope(
        np.vstack([first.rows, whole]),
        np.concatenate([first.equal, second.equal]),
        first.p_useful,
        np.concatenate([first.rounding, second.rounding]),
        steps=first.steps,
    )


def _side_by_side(blocks: list[FloatArray], widths: list[int], n_useful: int) -> FloatArray:
    """Rows under each other; every joint has auxiliary variables of its own."""
    total = sum(widths[::2])
    result, offset = [], 0
    for k, (block, width) in enumerate(zip(blocks, widths)):
        placed = np.zeros((len(block), n_useful + total))
        placed[:, :n_useful] = block[:, :n_useful]
        placed[:, n_useful + offset : n_useful + offset + width] = block[:, n_useful:]
        result.append(placed)
        if k % 2 == 1:
            offset += width
    return np.vstack(result)


def _dominated(rows: FloatArray, equal: BoolArray) -> BoolArray:
    """Rows that another one implies: R_i <= r R_j entry by entry for some r > 0, since all variables are at least 0."""
    count = len(rows)
    result = np.zeros(count, dtype=bool)
    if rows.size * count > MOST_COMPARED:
        return result
    for i in np.flatnonzero(~equal).tolist():
        others = np.flatnonzero(~result & ~equal & (np.arange(count) != i))
        by = rows[others]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = rows[i] / by
        least = np.where(by > 0, ratio, 0.0).max(axis=1, initial=0.0)
        most = np.where(by < 0, ratio, np.inf).min(axis=1, initial=np.inf)
        fits = ((by != 0) | (rows[i] <= 0)).all(axis=1) & (least <= most) & (most > 0)
        result[i] = bool(fits.any())
    return result
