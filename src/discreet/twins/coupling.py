r"""Classes of records coupled two by two, so that every record has twins in every other class.

Of two classes with :math:`n_a \le n_b` records let every record of the first stand on :math:`1 / n_a` of a line from 0
to 1, every record of the second on :math:`1 / n_b` of it. A record of one class appears as a record of the other by
drawing a point of its own stretch: whoever stands there is its twin. However the records are put in order, each one is
drawn as often as any other of its class, so that a published record tells the *class* of the record that it stands for
exactly as often as the classes' channel says, and no more. The order is therefore free, and near records are put
opposite each other: both classes are cut at random into blocks, and inside each block the records of the second are
assigned to those of the first by least total distance; then once more in other blocks.

Blocks are random on purpose. Were both classes sorted by the same columns, whole regions of one would stand opposite
regions of the other, and what the model got wrong about those would be read from the twins: on the built-in sample a
reader's log-lift reaches -1.1 nats under a promise of 0.5, against -0.5 with random blocks and twins as near.

Cost: O(n * b^2) for n records in blocks of b in the worst case, about O(n * b) in practice.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet._support import progress
from discreet._support.numeric import IntArray
from discreet.twins.distance import Distance

__all__ = ["BLOCKS", "Coupling", "assigned", "couple"]

#: Records that are assigned at once: by the share of a class that moves, since few records are worth less work.
BLOCKS = ((0.03, 128), (0.01, 64), (0.0, 32))

#: An odd number that takes an order into another one that has nothing to do with it.
MIXING = 2654435761

#: Parts of a stretch: where two records of the first class stand opposite one of the second.
PARTS = 1024


@dataclass(frozen=True, eq=False)
class Coupling:
    """Who stands opposite whom.

    Attributes
    ----------
    members : tuple of ndarray
        Rows of each class, in a random order: that on the line where it is the first of a pair.
    places : ndarray of int
        Of each row, its place among the members of its class.
    opposite : mapping of (first, second) to ndarray
        Of a pair of classes, the smaller one first: rows of the second in their order on the line.
    """

    members: tuple[IntArray, ...]
    places: IntArray
    opposite: Mapping[tuple[int, int], IntArray]

    def twins(self, rows: IntArray, own: int, other: int, points: IntArray) -> IntArray:
        """Of rows of one class the twins in another.

        ``points`` are from 0 to 2**40 - 1, where on its stretch each is drawn; off by less than the size of a class
        over 2**40.
        """
        first, second = self._pair(own, other)
        line = self.opposite[first, second]
        n_own, n_other = len(self.members[own]), len(self.members[other])
        if own == first:
            place, others = self.places[rows], line
        else:
            back = np.empty(len(self.places), dtype=np.int64)
            back[line] = np.arange(len(line))
            place, others = back[rows], self.members[first]
        drawn = (points.astype(np.uint64) * np.uint64(n_other)) >> np.uint64(40)
        found: IntArray = others[(place * n_other + drawn.astype(np.int64)) // n_own]
        return found

    def digest(self, names: IntArray) -> str:
        """SHA-256 of who stands opposite whom, by names of the rows."""
        found = hashlib.sha256()
        for rows in (*self.members, *(self.opposite[pair] for pair in sorted(self.opposite))):
            found.update(names[rows].astype("<i8").tobytes())
        return found.hexdigest()

    def _pair(self, own: int, other: int) -> tuple[int, int]:
        return _smaller_first(own, other, [len(rows) for rows in self.members])


def _smaller_first(own: int, other: int, sizes: list[int]) -> tuple[int, int]:
    first, second = sorted((own, other), key=lambda k: (sizes[k], k))
    return first, second


def couple(
    classes: IntArray, n_classes: int, moving: Mapping[tuple[int, int], float], distance: Distance, last: IntArray
) -> Coupling:
    """Couple the pairs of classes between which records move.

    Parameters
    ----------
    classes : ndarray of int
        Class of each record.
    n_classes : int
        How many there are.
    moving : mapping of (int, int) to float
        Pairs of classes between which records move, with the share of the first that does.
    distance : Distance
        Which records are near.
    last : ndarray of int
        A random order of all records, from the key, which blocks are cut from.
    """
    members = [_sorted(np.flatnonzero(classes == k), last) for k in range(n_classes)]
    sizes = [len(rows) for rows in members]
    places = np.empty(len(classes), dtype=np.int64)
    for rows in members:
        places[rows] = np.arange(len(rows))
    shares: dict[tuple[int, int], float] = {}
    for (own, other), share in moving.items():
        if own != other:
            pair = _smaller_first(own, other, sizes)
            shares[pair] = max(shares.get(pair, 0.0), share)
    opposite = {}
    with progress.stage("looking for twins") as stage:
        for number, (first, second) in enumerate(sorted(shares)):
            block = next(size for least, size in BLOCKS if shares[first, second] >= least)
            opposite[first, second] = assigned(members[first], members[second], distance, block)
            stage.update(number + 1, len(shares))
    return Coupling(tuple(members), places, opposite)


def _sorted(rows: IntArray, by: IntArray) -> IntArray:
    result: IntArray = rows[np.argsort(by[rows], kind="stable")]
    return result


def assigned(first: IntArray, second: IntArray, distance: Distance, block: int) -> IntArray:
    """The second records in an order that puts them opposite near ones of the first."""
    line = second.copy()
    places = np.arange(len(line))
    _settle(line, places, first, distance, block)
    mixed = (places * MIXING) % (1 << 32)
    _settle(line, places[np.argsort(mixed, kind="stable")], first, distance, block)
    return line


def _settle(line: IntArray, places: IntArray, first: IntArray, distance: Distance, block: int) -> None:
    """Exchange the records that stand on some places, block by block, for the least total distance."""
    from scipy.optimize import linear_sum_assignment

    n_first, n_second = len(first), len(line)
    for start in range(0, len(places), block):
        some = places[start : start + block]
        here = some * n_first // n_second
        until = np.minimum((here + 1) * n_second, (some + 1) * n_first) - some * n_first
        part = until * PARTS // n_first
        cost = distance.between(first[here], line[some]).astype(np.int64) * part[:, None]
        crossed = np.flatnonzero(part < PARTS)
        if len(crossed):
            rest = distance.between(first[np.minimum(here[crossed] + 1, n_first - 1)], line[some]).astype(np.int64)
            cost[crossed] += rest * (PARTS - part[crossed])[:, None]
        _, chosen = linear_sum_assignment(cost)
        line[some] = line[some[chosen]]
