r"""Merging opposites: blocks of symbols for alphabets of any size, in O(n log n).

Where R v <= 0 says which posteriors v are allowed, a block with masses P(x) is allowed if the sum of its vectors
:math:`P(x) R_x` is at most 0 in every row, and P_X itself leaves the room R P_X. Symbols that are not allowed by
themselves look for one whose deviation from that room is nearly the opposite of their own, so that two of them are
allowed together; many find each other at once, in a tree of points. Whoever finds none is united with the one that lies
furthest on the other side of the row that is broken most, and looks again. Our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray, product
from discreet._support.patience import never

__all__ = ["opposite_blocks", "seconds_to_look"]

#: How far inside of every row blocks are, relative to their mass: far above the rounding of sums.
INSIDE = 1e-13

#: Symbols up to which each looks for its opposite whatever the time; beyond, seconds that it takes for each of them.
LOOKED_FOR_UP_TO, SECONDS_OF_A_LOOK = 200_000, 1.8e-5

#: Neighbours that are looked at, how often those that are left look again, and the share of finds that is worth it.
NEIGHBOURS, LOOKS, WORTH_IT = 6, 4, 0.05

#: In more directions than this a tree would compare all points with all others; a product of matrices does so faster,
#: and at once where there are no more entries than this.
TREE_DIRECTIONS, MOST_COMPARED = 20, 100_000_000

#: Fewer blocks are compared with each other sooner than a tree of them is made.
TREE_FROM = 300

#: Products that finding the directions takes at most; with more, nobody looks for a neighbour.
MOST_TURNED = 1_000_000_000

#: Directions in which deviations are smaller than this, relative to the largest, are none.
FLAT = 1e-9

#: Rounds in which the closest pairs are chosen out of those that were found.
CHOICES = 8


def seconds_to_look(n_symbols: int) -> float:
    """Seconds that should be left for so many symbols to look for their opposites; 0 where they do so anyway."""
    return SECONDS_OF_A_LOOK * n_symbols if n_symbols > LOOKED_FOR_UP_TO else 0.0


def opposite_blocks(
    rows: FloatArray, mass: FloatArray, seconds: float = 0.0, is_over: Callable[[], bool] = never
) -> IntArray:
    """The block of every symbol, called by one of its members; every block is allowed.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_symbols)
        R, where a posterior v is allowed if R v <= 0.
    mass : ndarray of shape (n_symbols,)
        What there is of each symbol; all of it together must be allowed.
    seconds : float
        How long it may take. Where that is too short, symbols are only paired across the rows that they break.
    is_over : callable
        Whether so much time has passed that blocks are paired as they come.

    Examples
    --------
    >>> opposite_blocks(np.array([[1.0, -1.5, -0.5], [-1.0, 0.5, -0.5]]), np.full(3, 1 / 3)).tolist()
    [0, 0, 2]
    """
    blocks = _Blocks(rows, mass)
    active = np.flatnonzero(blocks.broken(np.arange(len(mass))))
    looks = seconds_to_look(len(active)) <= seconds
    while len(active) > 1:
        if is_over():
            active = blocks.unite_halves(active)
            continue
        active = blocks.look(active) if looks and blocks.finds(len(active)) else active
        active = blocks.unite_opposite(active)
    for root in active.tolist():
        blocks.absorb(root)
    return blocks.roots()


class _Blocks:
    """Blocks so far, each at the place of one of its members: their vectors, deviations and masses."""

    def __init__(self, rows: FloatArray, mass: FloatArray) -> None:
        self.mass = mass.copy()
        self.vector = rows * mass
        self.deviation = _deviations(rows, mass) if rows.size * len(rows) <= MOST_TURNED else np.empty((0, len(mass)))
        self.parent = np.arange(len(mass))

    def broken(self, blocks: IntArray) -> BoolArray:
        """Which of these blocks are not allowed."""
        return np.asarray((self.vector[:, blocks] > -INSIDE * self.mass[blocks]).any(axis=0))

    def unite(self, kept: IntArray, joined: IntArray) -> None:
        """Blocks with others, pair by pair."""
        self.vector[:, kept] += self.vector[:, joined]
        self.deviation[:, kept] += self.deviation[:, joined]
        self.mass[kept] += self.mass[joined]
        self.parent[joined] = kept

    def finds(self, number: int) -> bool:
        """Whether the neighbours of the opposites of so many blocks are found in next to no time."""
        directions = len(self.deviation)
        return directions > 0 and (directions <= TREE_DIRECTIONS or number**2 * directions <= MOST_COMPARED)

    def look(self, active: IntArray) -> IntArray:
        """Unite those that are allowed together with a neighbour of their opposite; returns those that found none."""
        first = len(active)
        for _ in range(LOOKS):
            if len(active) < 2:
                break
            kept, joined = self._chosen(active, *self._found(active))
            self.unite(active[kept], active[joined])
            alone = np.ones(len(active), dtype=bool)
            alone[kept] = alone[joined] = False
            active = active[alone]
            if len(kept) < WORTH_IT * first:
                break
        return active

    def _found(self, active: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Pairs of places among the active ones that are allowed together, and how far from opposite they are."""
        points = self.deviation[:, active].T
        number = min(NEIGHBOURS, len(active))
        if points.shape[1] > TREE_DIRECTIONS or len(points) <= TREE_FROM:
            distance, near = _nearest(points, -points, number)
        else:
            from scipy.spatial import cKDTree

            tree = cKDTree(points, balanced_tree=False, compact_nodes=False)
            distance, near = (found.reshape(len(active), -1) for found in tree.query(-points, k=number))
        one, other, apart = np.repeat(np.arange(len(active)), number), near.ravel(), distance.ravel()
        a, b = active[one], active[other]
        together = self.vector[:, a] + self.vector[:, b] <= -INSIDE * (self.mass[a] + self.mass[b])
        fits = together.all(axis=0) & (one != other)
        return one[fits], other[fits], apart[fits]

    @staticmethod
    def _chosen(active: IntArray, one: IntArray, other: IntArray, apart: FloatArray) -> tuple[IntArray, IntArray]:
        """Pairs without a common member, closest first: in each round those that are closest for both."""
        kept, joined = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        n = len(active)
        for _ in range(CHOICES):
            if not len(one):
                break
            best = np.full(n, np.inf)
            np.minimum.at(best, one, apart)
            np.minimum.at(best, other, apart)
            closest = (apart <= best[one]) & (apart <= best[other])
            low, high = np.minimum(one, other)[closest], np.maximum(one, other)[closest]
            low, high = np.divmod(np.unique(low * n + high), n)
            for side in (0, 1):  # at ties, each once
                once = np.unique((low, high)[side], return_index=True)[1]
                low, high = low[once], high[once]
            apart_from_others = ~np.isin(low, high)
            low, high = low[apart_from_others], high[apart_from_others]
            kept.append(low)
            joined.append(high)
            taken = np.zeros(n, dtype=bool)
            taken[low] = taken[high] = True
            free = ~(taken[one] | taken[other])
            one, other, apart = one[free], other[free], apart[free]
        return np.concatenate(kept), np.concatenate(joined)

    def unite_opposite(self, active: IntArray) -> IntArray:
        """Those that break the worst row with those of other rows that break it least; returns all still broken."""
        if len(active) < 2:
            return active
        value = self.vector[:, active] / self.mass[active]
        worst = value.argmax(axis=0)
        row = int(np.bincount(worst, np.maximum(self.vector[:, active], 0.0).max(axis=0)).argmax())
        order = np.argsort(value[row], kind="stable")
        others = order[worst[order] != row]
        breaking = order[worst[order] == row][::-1]
        number = min(len(breaking), len(others))
        if not number:  # all of them break the same row: one half goes with the other
            number = len(order) // 2
            others, breaking = order[:number], order[::-1][:number]
        self.unite(active[others[:number]], active[breaking[:number]])
        left = np.ones(len(active), dtype=bool)
        left[breaking[:number]] = False
        active = active[left]
        return active[self.broken(active)]

    def unite_halves(self, active: IntArray) -> IntArray:
        """Each block with the one that comes half of all later; returns all still broken."""
        number = len(active) // 2
        self.unite(active[:number], active[-number:])
        left = active[: len(active) - number]
        return left[self.broken(left)]

    def absorb(self, root: int) -> None:
        """Take in blocks that leave most room in the row that is broken most, until none is."""
        while self.broken(np.array([root]))[0]:
            row = int(self.vector[:, root].argmax())
            others = np.flatnonzero(self.parent == np.arange(len(self.parent)))
            others = others[others != root]
            if not len(others):
                return  # all of it together, which is for the caller to judge
            order = others[np.argsort(self.vector[row, others] / self.mass[others], kind="stable")]
            enough = np.cumsum(self.vector[row, order]) + self.vector[row, root] <= -INSIDE * self.mass.max()
            taken = order[: int(np.argmax(enough)) + 1 if enough.any() else len(order)]
            for joined in taken.tolist():
                self.unite(np.array([root]), np.array([joined]))

    def roots(self) -> IntArray:
        """The block of every symbol."""
        found = self.parent
        while (found[found] != found).any():
            found = found[found]
        return found


def _deviations(rows: FloatArray, mass: FloatArray) -> FloatArray:
    """How symbols differ from all of them together, in those directions in which they do, times their mass."""
    deviation = rows - (rows @ mass / mass.sum())[:, None]
    size, axes = np.linalg.eigh((deviation * mass) @ deviation.T)
    result: FloatArray = (axes[:, size > FLAT * max(float(size.max(initial=0.0)), 0.0)].T @ deviation) * mass
    return result


def _nearest(points: FloatArray, queries: FloatArray, number: int) -> tuple[FloatArray, IntArray]:
    """Distances to the nearest points of each query, and which these are, the nearest first."""
    squares = (queries**2).sum(axis=1)[:, None] + (points**2).sum(axis=1) - 2 * product(queries, points.T)
    near = np.argpartition(squares, number - 1, axis=1)[:, :number]
    distance = np.sqrt(np.maximum(np.take_along_axis(squares, near, axis=1), 0.0))
    order = np.argsort(distance, axis=1, kind="stable")
    return np.take_along_axis(distance, order, axis=1), np.take_along_axis(near, order, axis=1)
