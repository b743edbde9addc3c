"""Greedy merging of symbols, for one problem or for thousands of the same size in lockstep.

Lockstep means that every step below is one numpy operation over all problems that still need it: a sweep over
joints and budgets costs little more Python than a single design. What rounding could turn is decided exactly.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import LEVEL_GUARD, BoolArray, FloatArray, IntArray
from discreet._support.patience import never
from discreet.core.joint import Joint
from discreet.notions import Notion, exact

__all__ = ["MergingBatch"]

#: Candidate arrays wider than this are compacted when half of the candidates are used up.
COMPACT_ABOVE = 64

#: Stands in for masses that vanish in floats; decisions about such joints are made in integers anyway.
TINY = 1e-300


class MergingBatch:
    """Problems (joint, notion) of one shape and one kind of notion, and the partitions they grow into.

    Attributes
    ----------
    block_of : ndarray of shape (n_problems, n_useful)
        Partition of each problem: every symbol carries the index of its block's first chosen member.
    high_risk : ndarray of shape (n_problems, n_useful)
        Symbols that are not allowed by themselves.
    """

    def __init__(self, joints: Sequence[Joint], notions: Sequence[Notion]) -> None:
        self.joints = joints
        self.notions = notions
        self.is_over: Callable[[], bool] = never
        self._bounds = notions[0].bounds
        if any([b.kind for b in n.bounds] != [b.kind for b in self._bounds] for n in notions):
            raise InputError("a sweep takes notions that bound the same measures, differing in their budgets only.")
        cells = np.stack([joint.probabilities for joint in joints])
        self.prior: FloatArray = cells.sum(axis=2)
        #: What adds up over the members of a block, for every sensitive value; see `measured`.
        self.given_value: FloatArray = self.additive(cells)
        self.present: BoolArray = np.stack([joint.occurs for joint in joints])
        # What occurs may be too rare for a float; it must not vanish from a division.
        self.mass: FloatArray = np.where(self.present, np.maximum(cells.sum(axis=1), TINY), 0.0)
        budget = np.array([[bound.epsilon for bound in notion.bounds] for notion in notions]).T
        #: Values of the measures below which a block is surely allowed, and above which it surely is not; what
        #: falls between is within rounding of its budget and goes to exact arithmetic.
        self._surely = np.stack([b.limit(e - LEVEL_GUARD) for b, e in zip(self._bounds, budget)])
        self._hardly = np.stack([b.limit(e + LEVEL_GUARD) for b, e in zip(self._bounds, budget)])
        self._floats_suffice = np.array([joint.floats_suffice for joint in joints])
        self._all_floats_suffice = bool(self._floats_suffice.all())
        count, n_useful = self.mass.shape
        self.block_of: IntArray = np.tile(np.arange(n_useful), (count, 1))
        self.risk, self.high_risk = self._classify()

    @property
    def work(self) -> int:
        """Lifts that merging looks at, at most: each step those of every candidate."""
        return int(self.given_value.size) * int(self.mass.shape[1])

    def additive(self, cells: FloatArray) -> FloatArray:
        """P(x | s): the lift of a block is the sum of these over its members, divided by its mass."""
        result: FloatArray = cells / np.maximum(self.prior, TINY)[:, :, None]
        return result

    def measured(self, who: IntArray | slice, value: FloatArray, mass: FloatArray) -> list[FloatArray]:
        """Each bounded measure of several blocks of each problem, from sums over their members, which it takes over."""
        value /= mass[:, None, :]
        prior = self.prior[who]
        return [bound.value(value, prior) for bound in self._bounds]

    def keeps_alone(self, problem: int, symbols: IntArray) -> BoolArray:
        """Whether each of these symbols of a problem is allowed by itself, decided exactly."""
        return exact.keeps(self.joints[problem].masses, self.notions[problem].bounds, symbols.tolist())

    def keeps_block(self, problem: int, inside: BoolArray) -> bool:
        """Whether these symbols of a problem are allowed as one, decided exactly."""
        masses = self.joints[problem].masses
        two_columns = np.stack([masses[:, inside].sum(axis=1), masses[:, ~inside].sum(axis=1)], axis=1)
        return bool(exact.keeps(two_columns, self.notions[problem].bounds, [0])[0])

    def _classify(self) -> tuple[FloatArray, BoolArray]:
        """Risk of every symbol alone, and whether it is more than allowed."""
        mass = np.where(self.present, self.mass, 1.0)
        found = self.measured(slice(None), np.where(self.present[:, None, :], self.given_value, 1.0), mass)
        values = [np.where(self.present, value, 1.0) for value in found]
        allowed, unsure = self._screen(slice(None), values)
        for b in np.flatnonzero((unsure & self.present).any(axis=1)).tolist():
            columns = np.flatnonzero(unsure[b] & self.present[b])
            allowed[b, columns] = self.keeps_alone(b, columns)
        return sum_of(values), self.present & ~allowed

    def united(self, who: IntArray, block: Block, more: FloatArray, more_mass: FloatArray) -> list[FloatArray]:
        """Each bounded measure of the blocks united with each of several candidates."""
        return self.measured(who, block.value[:, :, None] + more, block.mass[:, None] + more_mass)

    def not_allowed(self, who: IntArray, seed: IntArray, values: list[FloatArray]) -> BoolArray:
        """Whether the block started by ``seed`` breaks the notion, given its measures in each problem of ``who``."""
        allowed, unsure = self._screen(who, [value[:, None] for value in values])
        for k in np.flatnonzero(unsure).tolist():
            b = int(who[k])
            allowed[k] = self.keeps_block(b, self.block_of[b] == seed[k])
        return ~allowed[:, 0]

    def _screen(self, who: IntArray | slice, values: list[FloatArray]) -> tuple[BoolArray, BoolArray]:
        """Verdicts in floats on one or more blocks of each problem, and which of them rounding could turn."""
        # A lift of zero makes a measure infinite and breaks its bound, even where exp(epsilon) overflows.
        allowed = (values[0] <= self._surely[0, who, None]) & np.isfinite(values[0])
        broken = (values[0] > self._hardly[0, who, None]) | np.isinf(values[0])
        for value, surely, hardly in zip(values[1:], self._surely[1:], self._hardly[1:]):
            allowed &= (value <= surely[who, None]) & np.isfinite(value)
            broken |= (value > hardly[who, None]) | np.isinf(value)
        unsure = ~(allowed | broken)
        if not self._all_floats_suffice:
            unsure |= ~self._floats_suffice[who, None]
        return allowed, unsure

    def blocks(self, who: IntArray) -> Block:
        """Values and masses of the blocks so far, in the columns of their seeds."""
        n_useful = self.mass.shape[1]
        value = np.zeros_like(self.given_value[who])
        mass = np.zeros_like(self.mass[who])
        row = np.repeat(np.arange(len(who)), n_useful)
        seed = self.block_of[who].ravel()
        np.add.at(mass, (row, seed), self.mass[who].ravel())
        by_symbol = self.given_value[who].transpose(0, 2, 1).reshape(len(row), value.shape[1])
        np.add.at(value.transpose(0, 2, 1), (row, seed), by_symbol)
        return Block(value, mass)

    def breaking(self, who: IntArray, seed: IntArray) -> BoolArray:
        """Whether the block of each seed, as it stands, is not allowed."""
        block = self.blocks(who).of_seeds(seed)
        values = self.measured(who, block.value[:, :, None], block.mass[:, None])
        return self.not_allowed(who, seed, [value[:, 0] for value in values])

    def grow(self, who: IntArray, seed: IntArray, block: Block, pool: Pool) -> IntArray:
        """Merge the pool's next candidate into each block until the block is allowed or the pool empty.

        Next is the candidate of least risk, or the first in the pool's own order where it has one.

        The blocks are not allowed at the start. Returns the positions in ``who`` of those that still are not. When the
        time is over, blocks grow twofold at each step.
        """
        open_ones = np.arange(len(who))
        short = []
        while True:
            can_grow = pool.left[pool.row(who[open_ones])] > 0
            short.append(open_ones[~can_grow])
            open_ones = open_ones[can_grow]
            if not len(open_ones):
                return np.concatenate(short)
            b, seeds, line = who[open_ones], seed[open_ones], np.arange(len(open_ones))
            if self.is_over():
                open_ones = open_ones[self._take_many(b, seeds, block, open_ones, pool)]
                continue
            more, more_mass, remaining, symbol = pool.take(b)
            values = self.united(b, block.at(open_ones), more, more_mass)
            best = _least(sum_of(values) if pool.order is None else pool.order[pool.row(b)], remaining)
            block.value[open_ones] += more[line, :, best]
            block.mass[open_ones] += more_mass[line, best]
            pool.remove(b, best)
            self._join(b, symbol[line, best], seeds, whole_blocks=pool.whole_blocks)
            open_ones = open_ones[self.not_allowed(b, seeds, [value[line, best] for value in values])]

    def settle(self, problem: int, pool: Pool) -> int | None:
        """Blocks of what is left in a pool, in no time: neighbours in pairs, and pairs that are not allowed again.

        Returns the seed of the last block where even that is not allowed.
        """
        who, row = np.array([problem]), int(pool.row(np.array([problem]))[0])
        members = pool.symbol[row, pool.remaining[row]]
        pool.clear(who)
        group = np.arange(len(members)) // 2
        while len(members):
            starts = np.searchsorted(group, np.arange(int(group[-1]) + 1))
            seeds = members[starts]
            self.block_of[problem, members] = seeds[group]
            blocks = self.blocks(who)
            values = self.measured(who, blocks.value[:, :, seeds], blocks.mass[:, seeds])
            every = np.full(len(seeds), problem)
            broken = self.not_allowed(every, seeds, [value[0] for value in values])
            if len(seeds) == 1:
                return int(seeds[0]) if broken[0] else None
            members, group = members[broken[group]], np.cumsum(broken)[group[broken[group]]] - 1
            group //= 2
        return None

    def _take_many(self, who: IntArray, seed: IntArray, block: Block, places: IntArray, pool: Pool) -> BoolArray:
        """Let each block take as many candidates as it has taken, those of least risk; which are not allowed then."""
        more, more_mass, remaining, symbol = pool.take(who)
        values = self.united(who, block.at(places), more, more_mass)
        risk = np.where(remaining, sum_of(values) if pool.order is None else pool.order[pool.row(who)], np.inf)
        for k, b in enumerate(who.tolist()):
            members = int((self.block_of[b] == seed[k]).sum())
            columns = np.flatnonzero(remaining[k])
            taken = columns[np.argsort(risk[k, columns], kind="stable")[:members]]
            block.value[places[k]] += more[k][:, taken].sum(axis=1)
            block.mass[places[k]] += more_mass[k, taken].sum()
            for column in taken.tolist():
                pool.remove(who[[k]], np.array([column]))
                self._join(who[[k]], symbol[[k], column], seed[[k]], whole_blocks=pool.whole_blocks)
        now = block.at(places)
        found = self.measured(who, now.value[:, :, None].copy(), now.mass[:, None])
        return self.not_allowed(who, seed, [value[:, 0] for value in found])

    def _join(self, who: IntArray, symbol: IntArray, seed: IntArray, *, whole_blocks: bool) -> None:
        """A symbol, or the whole block that it is the seed of, becomes part of another block."""
        if whole_blocks:
            joined = self.block_of[who] == symbol[:, None]
            self.block_of[who] = np.where(joined, seed[:, None], self.block_of[who])
        else:
            self.block_of[who, symbol] = seed

    def absorb_low_risk(self, who: IntArray, seed: IntArray) -> None:
        """Grow these blocks, not allowed so far, by low-risk symbols; all of X merged is always allowed."""
        if not len(who):
            return
        low_risk = (self.present & ~self.high_risk)[who]
        pool = Pool(self, who, Block(self.given_value[who], self.mass[who]), low_risk)
        self.grow(who, seed, self.blocks(who).of_seeds(seed), pool)

    def place_absent(self) -> None:
        """Symbols without mass join the largest merged block, or the commonest symbol where nothing is merged."""
        for b in np.flatnonzero(~self.present.all(axis=1)):
            sizes = np.bincount(self.block_of[b], self.mass[b], minlength=self.mass.shape[1])
            merged = np.bincount(self.block_of[b][self.high_risk[b]], minlength=len(sizes)) > 0
            candidates = np.where(merged, sizes, -1.0) if merged.any() else sizes
            self.block_of[b, ~self.present[b]] = int(candidates.argmax())


class Block(NamedTuple):
    """Blocks of several problems: what adds up over their members, and their mass."""

    value: FloatArray
    mass: FloatArray

    def at(self, rows: IntArray) -> Block:
        """The blocks of these rows."""
        return Block(self.value[rows], self.mass[rows])

    def of_seeds(self, seed: IntArray) -> Block:
        """One block of each problem, out of arrays with a column for each seed."""
        line = np.arange(len(seed))
        return Block(self.value[line, :, seed], self.mass[line, seed])


def sum_of(values: list[FloatArray]) -> FloatArray:
    """The merge risk: the bounded measures added up."""
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def _least(risk: FloatArray, remaining: BoolArray) -> IntArray:
    """The first candidate of least risk in each row; the first that is left where all risks are infinite."""
    risk = np.where(remaining, risk, np.inf)
    best: IntArray = risk.argmin(axis=1)
    stuck = ~np.isfinite(risk[np.arange(len(risk)), best])
    if stuck.any():
        best[stuck] = remaining[stuck].argmax(axis=1)
    return best


class Pool:
    """Candidates that blocks may still take in: symbols or whole blocks, by the problems' numbers.

    ``order`` (the smallest is next) replaces the choice by risk; pools that have one are not compacted.
    """

    def __init__(
        self,
        batch: MergingBatch,
        who: IntArray,
        candidates: Block,
        remaining: BoolArray,
        *,
        whole_blocks: bool = False,
        order: FloatArray | None = None,
    ) -> None:
        self.whole_blocks = whole_blocks
        self.order = order
        self._row = np.full(len(batch.mass), -1)
        self._row[who] = np.arange(len(who))
        self.value, self.mass = candidates
        self.remaining = remaining.copy()
        self.left: IntArray = remaining.sum(axis=1)
        self.symbol = np.tile(np.arange(self.mass.shape[1]), (len(who), 1))

    def row(self, problems: IntArray) -> IntArray:
        """Rows of these problems in the arrays of the pool."""
        result: IntArray = self._row[problems]
        return result

    def take(self, problems: IntArray) -> tuple[FloatArray, FloatArray, BoolArray, IntArray]:
        """The arrays of these problems, without a copy where they are all."""
        rows: IntArray | slice = self.row(problems)
        if len(problems) == len(self.mass):
            rows = slice(None)
        return self.value[rows], self.mass[rows], self.remaining[rows], self.symbol[rows]

    def remove(self, problems: IntArray, column: IntArray) -> None:
        """One candidate of each problem is used up."""
        rows = self.row(problems)
        self.remaining[rows, column] = False
        self.left[rows] -= 1

    def clear(self, problems: IntArray) -> None:
        """All candidates of these problems are used up."""
        rows = self.row(problems)
        self.remaining[rows] = False
        self.left[rows] = 0

    def compact(self) -> None:
        """Drop used-up candidates once they are half of a wide pool; the order of the others stays."""
        width = self.mass.shape[1]
        most = int(self.left.max(initial=0))
        if width <= COMPACT_ABOVE or 2 * most > width:
            return
        keep = np.argsort(~self.remaining, axis=1, kind="stable")[:, :most]
        self.value = np.take_along_axis(self.value, keep[:, None, :], axis=2)
        self.mass = np.take_along_axis(self.mass, keep, axis=1)
        self.remaining = np.take_along_axis(self.remaining, keep, axis=1)
        self.symbol = np.take_along_axis(self.symbol, keep, axis=1)
