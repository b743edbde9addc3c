r"""Records exchanged one for one: every record is published exactly once, in its own row or in a twin's.

Where rows keep their order, a reader can say whose row he sees. Were every row drawn for itself, as `draw` does, some
records would appear twice and others never, and one that appears once would mostly be in its own row: with a quarter of
the rows moving, in more than nine of ten. What its class tells would then be told nearly in full. Exchanged records
appear as often as they occur, whoever moved, and say nothing of the kind.

Of :math:`n_a` records of class a, :math:`n_a R(b \mid a)` appear as records of class b, rounded up or down by the key
so that this is their mean exactly, and so that every class is given away as often as it has records. Which ones those
are follows from each record's digest alone: some stay, the others are dealt out twice at random, once to the classes
that they appear as, once to those that appear as them; inside each pair near ones get each other.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np

from discreet._support import progress
from discreet._support.numeric import IntArray
from discreet.twins.coupling import BLOCKS, assigned
from discreet.twins.distance import Distance
from discreet.twins.records import Digests, numbers_of

__all__ = ["exchanged", "whole_flows"]

#: Hexadecimal digits of a digest by which records are dealt out the second time: those behind the point of a draw.
GIVEN_FROM, GIVEN_DIGITS = 40, 12

#: Bits of a number that decides whether an amount is rounded up or down.
BITS = 256

Pair = tuple[int, int]

Rows = Sequence[Sequence[tuple[int, int]]]


def exchanged(hashes: Digests, classes: IntArray, rows: Rows, denominator: int, distance: Distance) -> IntArray:
    """Of each record the one whose cells are published for it.

    Parameters
    ----------
    hashes : ndarray of bytes
        Keyed digests of the records.
    classes : ndarray of int
        Class of each record.
    rows : sequence of sequences of (int, int)
        Of each class those that its records appear as, with integer weights.
    denominator : int
        Their sum.
    distance : Distance
        Which records are near.
    """
    order = np.argsort(hashes, kind="stable")
    members = [order[classes[order] == k] for k in range(len(rows))]
    flows = whole_flows([len(own) for own in members], rows, denominator, _numbers(hashes[order]))
    staying = [flows.get((k, k), 0) for k in range(len(rows))]
    pairs = sorted(pair for pair, number in flows.items() if number and pair[0] != pair[1])
    takers = _dealt([own[kept:] for own, kept in zip(members, staying)], pairs, flows, side=0)
    again = numbers_of(hashes, GIVEN_FROM, GIVEN_DIGITS)
    given = [_given(own, kept, _needed(flows, k), again) for k, (own, kept) in enumerate(zip(members, staying))]
    givers = _dealt(given, pairs, flows, side=1)
    found = np.arange(len(classes))
    with progress.stage("looking for twins") as stage:
        for number, pair in enumerate(pairs):
            share = len(takers[pair]) / len(members[pair[0]])
            block = next(size for least, size in BLOCKS if share >= least)
            found[takers[pair]] = assigned(takers[pair], givers[pair], distance, block)
            stage.update(number + 1, len(pairs))
    return found


def whole_flows(sizes: Sequence[int], rows: Rows, denominator: int, numbers: Iterator[int]) -> dict[Pair, int]:
    r"""How many records of each class appear as those of each other, in whole numbers of mean :math:`n_a R(b \mid a)`.

    Those of a class sum to its size; those that appear as a class, to one of the two whole numbers next to the exact
    sum. Amounts that are not whole lie on cycles from class to class; along each, amounts are raised and lowered in
    turn until one of them is whole, in one direction or the other, with chances that keep all means. Source: [GKPS06]_.
    """
    flows = {(a, b): sizes[a] * weight for a, row in enumerate(rows) for b, weight in row}
    rest = len(rows)  # a class that makes sums over those that appear as a class whole
    for b in range(len(rows)):
        flows[rest, b] = -sum(flows.get((a, b), 0) for a in range(rest)) % denominator
    still = _Open(sorted(pair for pair, amount in flows.items() if amount % denominator))
    while still.pairs:
        raised, lowered = still.cycle()
        up, down = (
            min(
                *(denominator - flows[pair] % denominator for pair in first),
                *(flows[pair] % denominator for pair in second),
            )
            for first, second in ((raised, lowered), (lowered, raised))
        )
        step = up if next(numbers) * (up + down) < down << BITS else -down
        for pairs, change in ((raised, step), (lowered, -step)):
            for pair in pairs:
                flows[pair] += change
                if not flows[pair] % denominator:
                    still.close(pair)
    return {pair: amount // denominator for pair, amount in flows.items() if pair[0] != rest}


class _Open:
    """Pairs of classes whose amounts are not whole; no class is in one of them alone, since its sum is whole."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.pairs = dict.fromkeys(pairs)
        self._sides: tuple[dict[int, dict[Pair, None]], ...] = ({}, {})
        for pair in pairs:
            for side, of_class in enumerate(self._sides):
                of_class.setdefault(pair[side], {})[pair] = None

    def close(self, pair: Pair) -> None:
        """Leave out a pair that became whole."""
        del self.pairs[pair]
        for side, of_class in enumerate(self._sides):
            del of_class[pair[side]][pair]

    def cycle(self) -> tuple[list[Pair], list[Pair]]:
        """Every other pair of a cycle, and those between: neighbours share their second class, then their first."""
        path = [next(iter(self.pairs))]
        left_from = {(0, path[0][0]): 0}  # places on the path by the end that they were left from
        while True:
            last, side = path[-1], len(path) % 2
            end = (side, last[side])
            if end in left_from:
                found = path[left_from[end] :]
                return found[::2], found[1::2]
            left_from[end] = len(path)
            path.append(next(pair for pair in self._sides[side][last[side]] if pair != last))


def _numbers(hashes: Digests) -> Iterator[int]:
    """Random numbers that follow from all digests, whatever the order of the records."""
    seed, place = hashlib.sha256(hashes.tobytes()).digest(), 0
    while True:
        yield int.from_bytes(hashlib.sha256(seed + place.to_bytes(8, "big")).digest(), "big")
        place += 1


def _needed(flows: dict[Pair, int], k: int) -> int:
    """How many records of other classes appear as ones of this."""
    return sum(number for (a, b), number in flows.items() if b == k and a != k)


def _given(own: IntArray, kept: int, needed: int, again: IntArray) -> IntArray:
    """Records of a class that others appear as, in an order of its own: those that do not stay, each once.

    Where more are needed, as after another design than one for these sizes, any record of the class helps out.
    """
    leaving, every = (rows[np.argsort(again[rows], kind="stable")] for rows in (own[kept:], own))
    times = -(-max(0, needed - len(leaving)) // max(1, len(own)))
    found = np.concatenate([leaving, np.tile(every, times)])[:needed]
    mixed: IntArray = found[np.argsort(again[found], kind="stable")]
    return mixed


def _dealt(
    records: Sequence[IntArray], pairs: Sequence[Pair], flows: dict[Pair, int], side: int
) -> dict[Pair, IntArray]:
    """The records of each class cut into those of its pairs, on one side of them."""
    starts = [0] * len(records)
    found = {}
    for pair in pairs:
        k = pair[side]
        found[pair] = records[k][starts[k] : starts[k] + flows[pair]]
        starts[k] += flows[pair]
    return found
