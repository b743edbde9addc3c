"""Agglomerative clustering: Algorithms 1 and 2 and problem (7) of [DF20]_, read so that its examples come out.

Readings: the resolution U1 counts members of X-blocks; merged pairs must differ in their ranges (Algorithm 1) or lie in
different components (Algorithm 2); a merge adds the union; ties go to the smallest index; distortions are those of the
new partition, which a merge can lower. The weight of the utility never steers the merges of Algorithms 1 and 2, only
the end, so one run gives the whole path.

Cost: sets of sensitive values are bit sets, and blocks wait in heaps by distinct set, so that Algorithm 1 takes
O(n log n) for each of at most |S| rounds. Algorithm 2 merges once for each component, of which there are at most |S|.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray
from discreet.core.range import Range
from discreet.measures.nonstochastic import components
from discreet.quantising.distortion import Distortion

__all__ = ["by_components", "by_uncertainty", "indistinguishable"]

#: Blocks of which all pairs are compared; more would take minutes for each merge.
MOST_COMPARED = 4_000

#: Distortions computed in floats that differ by less, relative to them, are compared exactly.
NEARLY = 1e-9


class Block:
    """Members, the set of their sensitive values as bits, and the smallest member, which is the block's index."""

    __slots__ = ("high", "index", "low", "members", "seen", "total")

    def __init__(self, member: int, seen: int, place: int, value: int) -> None:
        self.members, self.seen, self.index = [member], seen, member
        self.low = self.high = place  # places of the extreme members in the order of values
        self.total = value


def united(first: Block, second: Block) -> Block:
    """Both blocks as one; the larger takes the smaller in."""
    small, large = sorted((first, second), key=lambda block: len(block.members))
    large.members += small.members
    large.seen |= small.seen
    large.index = min(first.index, second.index)
    large.low, large.high = min(first.low, second.low), max(first.high, second.high)
    large.total += small.total
    return large


def by_uncertainty(whole: Range, distortion: Distortion | None) -> Iterator[IntArray]:
    """Algorithm 1: partitions after each round, from no merge to one block; the fewest sensitive values always grow."""
    blocks = _singles(whole, distortion)
    search = _Smallest(blocks) if distortion is None else _closest(blocks, distortion)
    alive = {id(block): block for block in blocks}
    yield _partition(alive.values(), whole.n_useful)
    while len(alive) > 1:
        fewest = min(block.seen.bit_count() for block in alive.values())
        if fewest == whole.n_sensitive:
            return  # nothing is given away any more
        waiting = sorted((b for b in alive.values() if b.seen.bit_count() == fewest), key=lambda b: b.index)
        merged = False
        for block in waiting:
            if id(block) not in alive or block.seen.bit_count() != fewest:
                continue  # it was taken in by another
            partner = search.partner(block)
            if partner is None:
                continue
            search.remove(block)
            search.remove(partner)
            del alive[id(block)], alive[id(partner)]
            union = united(block, partner)
            alive[id(union)] = union
            search.add(union)
            merged = True
        if not merged:
            return
        yield _partition(alive.values(), whole.n_useful)


def _singles(whole: Range, distortion: Distortion | None) -> list[Block]:
    line = distortion is not None and distortion.is_line
    values = distortion.on_line if distortion is not None and line else [0] * whole.n_useful
    place = np.empty(whole.n_useful, dtype=np.int64)
    place[sorted(range(whole.n_useful), key=values.__getitem__)] = np.arange(whole.n_useful)
    seen = [0] * whole.n_useful
    for x, s in zip(whole.useful_of.tolist(), whole.sensitive_of.tolist()):
        seen[x] |= 1 << s
    return [Block(x, seen[x], int(place[x]), values[x]) for x in range(whole.n_useful)]


def _partition(blocks: Iterable[Block], n_useful: int) -> IntArray:
    result = np.empty(n_useful, dtype=np.int64)
    for block in blocks:
        result[block.members] = block.index
    return result


class _Smallest:
    """Partners by size, then index, among blocks that see another set: a heap for each set, and one of their tops."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.of_set: dict[int, list[tuple[int, int, Block]]] = {}
        self.tops: list[tuple[int, int, int]] = []
        self.alive: set[int] = set()
        for block in blocks:
            self.alive.add(id(block))
            self.of_set.setdefault(block.seen, []).append((len(block.members), block.index, block))
        for seen, heap in self.of_set.items():
            heapq.heapify(heap)
            self.tops.append((heap[0][0], heap[0][1], seen))
        heapq.heapify(self.tops)

    def add(self, block: Block) -> None:
        self.alive.add(id(block))
        heap = self.of_set.setdefault(block.seen, [])
        heapq.heappush(heap, (len(block.members), block.index, block))
        self._show(block.seen)

    def remove(self, block: Block) -> None:
        self.alive.discard(id(block))
        self._show(block.seen)

    def _show(self, seen: int) -> None:
        """The best block of a set, put among the tops."""
        heap = self.of_set[seen]
        while heap and not self._fresh(heap[0]):
            heapq.heappop(heap)
        if heap:
            heapq.heappush(self.tops, (heap[0][0], heap[0][1], seen))

    def _fresh(self, entry: tuple[int, int, Block]) -> bool:
        size, index, block = entry
        return id(block) in self.alive and (len(block.members), block.index) == (size, index)

    def partner(self, block: Block) -> Block | None:
        passed: tuple[int, int, int] | None = None
        found: Block | None = None
        while self.tops and found is None:
            size, index, seen = self.tops[0]
            heap = self.of_set[seen]
            if not heap or heap[0][:2] != (size, index) or not self._fresh(heap[0]):
                heapq.heappop(self.tops)  # stale
            elif seen == block.seen:
                passed = heapq.heappop(self.tops)
            else:
                found = heap[0][2]
        if passed is not None:
            heapq.heappush(self.tops, passed)
        return found


class _OnLine:
    """Partners of least distortion on a line: look outwards from the block until nothing closer can come."""

    def __init__(self, blocks: Sequence[Block], distortion: Distortion) -> None:
        order = sorted(range(len(blocks)), key=lambda x: blocks[x].low)
        self.at = [blocks[x] for x in order]  # the block of every place
        self.value = [blocks[x].total for x in order]
        self.place = [block.low for block in blocks]  # of every member
        self.centred = distortion.codeword == "centroid"

    def add(self, block: Block) -> None:
        for member in block.members:
            self.at[self.place[member]] = block

    def remove(self, block: Block) -> None:
        """Nothing to do: the union takes over the places."""

    def cost(self, first: Block, second: Block) -> Fraction:
        """Exact, so that ties are ties."""
        low = self.value[min(first.low, second.low)]
        high = self.value[max(first.high, second.high)]
        if not self.centred:
            return Fraction(high - low, 2)
        size, total = len(first.members) + len(second.members), first.total + second.total
        return Fraction(max(size * high - total, total - size * low), size)

    def partner(self, block: Block) -> Block | None:
        at, value = self.at, self.value
        bottom, top = value[block.low], value[block.high]
        best: tuple[Fraction, int] | None = None
        found: Block | None = None
        seen: set[int] = set()
        left, right = block.high, block.high + 1  # places still to look at: down from left, up from right
        while left >= 0 or right < len(at):
            # What lies outside of the places looked at makes the union at least this wide.
            down = top - min(value[left], bottom) if left >= 0 else math.inf
            up = max(value[right], top) - bottom if right < len(at) else math.inf
            if best is not None and min(down, up) > 2 * best[0]:
                break
            if down <= up:
                other, left = at[left], left - 1
            else:
                other, right = at[right], right + 1
            if other is block or other.seen == block.seen or id(other) in seen:
                continue
            seen.add(id(other))
            candidate = (self.cost(block, other), other.index)
            if best is None or candidate < best:
                best, found = candidate, other
        return found


class _Anywhere:
    """Partners of least distortion for vectors and other distances: all blocks are compared."""

    def __init__(self, blocks: Sequence[Block], distortion: Distortion) -> None:
        if len(blocks) > MOST_COMPARED:
            raise InputError(
                f"{len(blocks)} values off a line are too many to compare in pairs; up to {MOST_COMPARED} are."
            )
        self.alive = {id(block): block for block in blocks}
        self.distortion = distortion

    def add(self, block: Block) -> None:
        self.alive[id(block)] = block

    def remove(self, block: Block) -> None:
        del self.alive[id(block)]

    def partner(self, block: Block) -> Block | None:
        others = [b for b in self.alive.values() if b is not block and b.seen != block.seen]
        return min(others, key=lambda b: (self.distortion.of([*block.members, *b.members]), b.index), default=None)


def _closest(blocks: Sequence[Block], distortion: Distortion) -> _OnLine | _Anywhere:
    return _OnLine(blocks, distortion) if distortion.is_line else _Anywhere(blocks, distortion)


def by_components(whole: Range, distortion: Distortion | None) -> Iterator[IntArray]:
    """Algorithm 2: partitions after each merge; each joins two components."""
    state = _Parts(whole, distortion)
    yield state.partition()
    while state.count > 1:
        state.merge(*(state.smallest_pair() if distortion is None else state.closest_pair()))
        yield state.partition()


def indistinguishable(whole: Range, distortion: Distortion | None, weight: float) -> Iterator[IntArray]:
    """Problem (7): as Algorithm 2, but each merge lowers the Lagrangian of L_0 most; goes on until one component."""
    state = _Parts(whole, distortion)
    yield state.partition()
    while state.count > 1:
        state.merge(*state.steepest_pair(weight))
        yield state.partition()


class _Parts:
    """Blocks and the components that they lie in."""

    def __init__(self, whole: Range, distortion: Distortion | None) -> None:
        self.n_useful, self.distortion = whole.n_useful, distortion
        parts = components(whole)
        self.count = parts.number
        self.blocks = _singles(whole, distortion)
        self.line = None if distortion is None or not distortion.is_line else _OnLine(self.blocks, distortion)
        self.part = parts.useful.copy()  # component of every useful value

    def partition(self) -> IntArray:
        return _partition(self.blocks, self.n_useful)

    def merge(self, first: Block, second: Block) -> None:
        old, new = self.part[second.members[0]], self.part[first.members[0]]
        self.part[self.part == old] = new
        self.blocks = [block for block in self.blocks if block is not first and block is not second]
        self.blocks.append(united(first, second))
        self.count -= 1

    def _arrays(self) -> tuple[IntArray, IntArray, IntArray]:
        """Component, size and index of every block."""
        part = self.part[[block.members[0] for block in self.blocks]]
        size = np.array([len(block.members) for block in self.blocks])
        return part, size, np.array([block.index for block in self.blocks])

    def smallest_pair(self) -> tuple[Block, Block]:
        """The smallest blocks of two components; ties go to the largest components, then to the smallest index."""
        part, size, index = self._arrays()
        order = np.lexsort((index, size, part))
        first = order[np.unique(part[order], return_index=True)[1]]  # the best block of every component
        extent = np.bincount(self.part, minlength=int(self.part.max()) + 1)[part[first]]
        best = first[np.lexsort((index[first], -extent, size[first]))[:2]]
        return self.blocks[best[0]], self.blocks[best[1]]

    def closest_pair(self) -> tuple[Block, Block]:
        """Blocks of two components whose union has the least distortion; ties by index."""
        assert self.distortion is not None
        if self.distortion.is_line:
            return self._closest_on_line()
        self._comparable()
        pairs = (
            (self.distortion.of([*a.members, *b.members]), min(a.index, b.index), max(a.index, b.index), a, b)
            for k, a in enumerate(self.blocks)
            for b in self.blocks[k + 1 :]
            if self.part[a.members[0]] != self.part[b.members[0]]
        )
        best = min(pairs, key=lambda pair: pair[:3])
        return best[3], best[4]

    def _closest_on_line(self) -> tuple[Block, Block]:
        """Single values need their neighbours only: between two of different components lies no closer pair."""
        part, size, index = self._arrays()
        low = np.array([block.low for block in self.blocks])
        alone = np.flatnonzero(size == 1)
        alone = alone[np.argsort(low[alone], kind="stable")]
        assert self.distortion is not None
        assert self.line is not None
        values, exact = np.asarray(self.distortion.on_line, dtype=np.float64), self.line
        candidates: list[tuple[Fraction, int, int, int, int]] = []

        def consider(a: IntArray, b: IntArray) -> None:
            fits = part[a] != part[b]
            if not fits.any():
                return
            a, b = a[fits], b[fits]
            cost = self._union_cost(a, b, values)
            near = np.flatnonzero(cost <= cost.min() * (1 + NEARLY))
            pairs = (
                (exact.cost(self.blocks[i], self.blocks[j]), *sorted((int(index[i]), int(index[j]))), i, j)
                for i, j in zip(a[near].tolist(), b[near].tolist())
            )
            candidates.append(min(pairs))

        # Equal values stand next to each other in any order, so every pair of a run is a neighbour of the next run.
        for step in range(1, 1 + self._longest_run(values[[self.blocks[k].index for k in alone]])):
            if len(alone) > step:
                consider(alone[:-step], alone[step:])
        everyone = np.arange(len(self.blocks))
        for k in np.flatnonzero(size > 1).tolist():
            others = everyone[everyone != k]
            consider(np.full(len(others), k), others)
        best = min(candidates)
        return self.blocks[best[3]], self.blocks[best[4]]

    @staticmethod
    def _longest_run(values: FloatArray) -> int:
        """How far apart in the order two neighbouring distinct values, or two equal ones, can stand."""
        if len(values) < 2:
            return 1
        _, counts = np.unique(values, return_counts=True)
        return int(min(len(values) - 1, 2 * counts.max() - 1))

    def _union_cost(self, a: IntArray, b: IntArray, values: FloatArray) -> FloatArray:
        order = np.sort(values, kind="stable")
        low = np.array([block.low for block in self.blocks])
        high = np.array([block.high for block in self.blocks])
        bottom, top = order[np.minimum(low[a], low[b])], order[np.maximum(high[a], high[b])]
        cost: FloatArray = (top - bottom) / 2
        if self.distortion is not None and self.distortion.codeword == "midpoint":
            return cost
        total = np.array([block.total for block in self.blocks], dtype=np.float64)
        size = np.array([len(block.members) for block in self.blocks])
        centre = (total[a] + total[b]) / (size[a] + size[b])
        cost[:] = np.maximum(top - centre, centre - bottom)
        return cost

    def _comparable(self) -> None:
        if len(self.blocks) > MOST_COMPARED:
            raise InputError(f"{len(self.blocks)} blocks are too many to compare in pairs; up to {MOST_COMPARED} are.")

    def steepest_pair(self, weight: float) -> tuple[Block, Block]:
        """The pair of least change of -log k - weight U; ties go to few sensitive values, then to small indices."""
        candidates = self._representatives() if self.distortion is None else self.blocks
        if self.distortion is not None:
            self._comparable()
        seen = sorted(block.seen.bit_count() for block in self.blocks)
        largest = max(len(block.members) for block in self.blocks)
        best: tuple[float, int, int, int, int] | None = None
        found: tuple[Block, Block] | None = None
        for k, a in enumerate(candidates):
            for b in candidates[k + 1 :]:
                if self.part[a.members[0]] == self.part[b.members[0]]:
                    continue
                few, many = sorted((a.seen.bit_count(), b.seen.bit_count()))
                left = _without(seen, few, many)
                after = min((a.seen | b.seen).bit_count(), left)
                if self.distortion is None:
                    loss = math.log2(max(largest, len(a.members) + len(b.members)))
                else:
                    loss = self._loss(a, b)
                change = -math.log2(after) + weight * loss
                key = (round(change, 12), few, many, min(a.index, b.index), max(a.index, b.index))
                if best is None or key < best:
                    best, found = key, (a, b)
        assert found is not None
        return found

    def _loss(self, a: Block, b: Block) -> float:
        assert self.distortion is not None
        others = max((self.distortion.of(c.members) for c in self.blocks if c is not a and c is not b), default=0.0)
        return max(others, self.distortion.of([*a.members, *b.members]))

    def _representatives(self) -> list[Block]:
        """For the resolution, blocks of one component, size and set are alike: the two of smallest index do."""
        chosen: dict[tuple[int, int, int], list[Block]] = {}
        for block in sorted(self.blocks, key=lambda block: block.index):
            alike = chosen.setdefault((int(self.part[block.members[0]]), len(block.members), block.seen), [])
            if len(alike) < 2:
                alike.append(block)
        return sorted((block for alike in chosen.values() for block in alike), key=lambda block: block.index)


def _without(ordered: list[int], first: int, second: int) -> float:
    """The least of an ordered list once two of its values are taken out."""
    taken = sorted((first, second))
    for value in ordered:
        if taken and value == taken[0]:
            taken.pop(0)
            continue
        return value
    return math.inf
