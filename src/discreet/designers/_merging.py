"""Greedy merging of symbols, for one problem or for thousands of the same size in lockstep.

Lockstep means that every step below is one numpy operation over all problems that still need it: a sweep over
joints and budgets costs little more Python than a single design. What rounding could turn is decided exactly.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet import exact
from discreet._numeric import LEVEL_GUARD, BoolArray, FloatArray, IntArray
from discreet.errors import InputError
from discreet.joint import Joint
from discreet.notions import Notion

__all__ = ["MergingBatch"]

#: Candidate arrays wider than this are compacted when half of the candidates are used up.
COMPACT_ABOVE = 64


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
        self._bounds = notions[0].bounds
        if any([(b.kind, b.alpha) for b in n.bounds] != [(b.kind, b.alpha) for b in self._bounds] for n in notions):
            raise InputError("a sweep takes notions that bound the same measures, differing in their budgets only.")
        cells = np.stack([joint.probabilities for joint in joints])
        self.prior: FloatArray = cells.sum(axis=2)
        #: P(x | s): the lift of a block is the sum of these over its members, divided by its mass.
        self.given_value: FloatArray = cells / self.prior[:, :, None]
        self.mass: FloatArray = cells.sum(axis=1)
        self._budget = np.array([[bound.epsilon for bound in notion.bounds] for notion in notions]).T
        self._floats_suffice = np.array([joint.floats_suffice for joint in joints])
        count, n_useful = self.mass.shape
        self.block_of: IntArray = np.tile(np.arange(n_useful), (count, 1))
        self.present: BoolArray = self.mass > 0
        self.risk, self.high_risk = self._classify()

    def _classify(self) -> tuple[FloatArray, BoolArray]:
        """Risk of every symbol alone, and whether it is more than allowed."""
        mass = np.where(self.present, self.mass, 1.0)
        lifts = np.where(self.present[:, None, :], self.given_value / mass[:, None, :], 1.0)
        risk = np.zeros_like(self.mass)
        allowed = np.ones_like(self.present)
        unsure = np.repeat(~self._floats_suffice[:, None], self.mass.shape[1], axis=1)
        for bound, budget in zip(self._bounds, self._budget):
            value = bound.value(lifts, self.prior)
            excess = bound.level(value) - budget[:, None]
            risk += value
            allowed &= excess <= 0
            unsure |= np.abs(excess) <= LEVEL_GUARD
        for b in np.flatnonzero(unsure.any(axis=1)).tolist():
            columns = np.flatnonzero(unsure[b])
            allowed[b, columns] = exact.keeps(self.joints[b].masses, self.notions[b].bounds, columns.tolist())
        return risk, self.present & ~allowed

    def union_risk(
        self,
        who: IntArray | slice,
        value: FloatArray,
        mass: FloatArray,
        more: FloatArray,
        more_mass: FloatArray,
    ) -> FloatArray:
        """Risk of a block united with each of several candidates."""
        total = mass[:, None] + more_mass
        lifts = value[:, :, None] + more
        # Used-up and absent candidates have no mass; their quotient is never looked at.
        np.divide(lifts, np.where(total > 0, total, 1.0)[:, None, :], out=lifts)
        prior = self.prior[who]
        risk = self._bounds[0].value(lifts, prior)
        for bound in self._bounds[1:]:
            risk = risk + bound.value(lifts, prior)
        return risk

    def allowed(self, who: IntArray, seed: IntArray, value: FloatArray, mass: FloatArray) -> BoolArray:
        """Whether the block started by ``seed`` keeps the notion in each of the problems ``who``."""
        lifts = (value / mass[:, None])[:, :, None]
        verdict = np.ones(len(who), dtype=bool)
        unsure = ~self._floats_suffice[who]
        for bound, budget in zip(self._bounds, self._budget):
            excess = bound.level(bound.value(lifts, self.prior[who]))[:, 0] - budget[who]
            verdict &= excess <= 0
            unsure |= np.abs(excess) <= LEVEL_GUARD
        for k in np.flatnonzero(unsure).tolist():
            b = int(who[k])
            masses = self.joints[b].masses
            inside = self.block_of[b] == seed[k]
            two_columns = np.stack([masses[:, inside].sum(axis=1), masses[:, ~inside].sum(axis=1)], axis=1)
            verdict[k] = exact.keeps(two_columns, self.notions[b].bounds, [0])[0]
        return verdict

    def blocks(self, who: IntArray) -> tuple[FloatArray, FloatArray]:
        """Values and masses of the blocks so far, in the columns of their seeds."""
        n_useful = self.mass.shape[1]
        value = np.zeros_like(self.given_value[who])
        mass = np.zeros_like(self.mass[who])
        row = np.repeat(np.arange(len(who)), n_useful)
        seed = self.block_of[who].ravel()
        np.add.at(mass, (row, seed), self.mass[who].ravel())
        np.add.at(
            value.transpose(0, 2, 1),
            (row, seed),
            self.given_value[who].transpose(0, 2, 1).reshape(len(row), -1),
        )
        return value, mass

    def grow(self, who: IntArray, seed: IntArray, value: FloatArray, mass: FloatArray, pool: Pool) -> IntArray:
        """Merge the pool's candidate of least risk into each block until the block is allowed or the pool empty.

        Returns the positions in ``who`` whose blocks are still not allowed.
        """
        position = np.arange(len(who))
        while True:
            position = position[~self.allowed(who[position], seed[position], value[position], mass[position])]
            open_ones = position[pool.remaining[pool.row(who[position])].any(axis=1)]
            if not len(open_ones):
                return position
            b = who[open_ones]
            more, more_mass, remaining, symbol = pool.take(b)
            risk = self.union_risk(b, value[open_ones], mass[open_ones], more, more_mass)
            risk[~remaining] = np.inf
            best = risk.argmin(axis=1)
            stuck = ~np.isfinite(risk[np.arange(len(b)), best])
            best[stuck] = remaining[stuck].argmax(axis=1)  # all infinite: the first that is left
            line = np.arange(len(b))
            value[open_ones] += more[line, :, best]
            mass[open_ones] += more_mass[line, best]
            pool.remove(b, best)
            chosen = symbol[line, best]
            joined = self.block_of[b] == self.block_of[b, chosen][:, None]
            self.block_of[b] = np.where(joined, seed[open_ones][:, None], self.block_of[b])

    def absorb_low_risk(self, who: IntArray, seed: IntArray) -> None:
        """Grow these blocks by low-risk symbols until they are allowed; all of X merged always is."""
        if not len(who):
            return
        value, mass = self.blocks(who)
        line = np.arange(len(who))
        pool = Pool(self, who, self.given_value[who], self.mass[who], (self.present & ~self.high_risk)[who])
        self.grow(who, seed, value[line, :, seed], mass[line, seed], pool)

    def place_absent(self) -> None:
        """Symbols without mass join the largest merged block, or the commonest symbol where nothing is merged."""
        for b in np.flatnonzero(~self.present.all(axis=1)):
            sizes = np.bincount(self.block_of[b], self.mass[b], minlength=self.mass.shape[1])
            merged = np.bincount(self.block_of[b][self.high_risk[b]], minlength=len(sizes)) > 0
            candidates = np.where(merged, sizes, -1.0) if merged.any() else sizes
            self.block_of[b, ~self.present[b]] = int(candidates.argmax())


class Pool:
    """Candidates that blocks may still take in: symbols or whole blocks, by the problems' numbers."""

    def __init__(
        self, batch: MergingBatch, who: IntArray, value: FloatArray, mass: FloatArray, remaining: BoolArray
    ) -> None:
        self._row = np.full(len(batch.mass), -1)
        self._row[who] = np.arange(len(who))
        self.value = value
        self.mass = mass
        self.remaining = remaining.copy()
        self.symbol = np.tile(np.arange(mass.shape[1]), (len(who), 1))

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
        self.remaining[self.row(problems), column] = False

    def compact(self) -> None:
        """Drop used-up candidates once they are half of a wide pool; the order of the others stays."""
        width = self.mass.shape[1]
        most = int(self.remaining.sum(axis=1).max(initial=0))
        if width <= COMPACT_ABOVE or 2 * most > width:
            return
        keep = np.argsort(~self.remaining, axis=1, kind="stable")[:, :most]
        self.value = np.take_along_axis(self.value, keep[:, None, :], axis=2)
        self.mass = np.take_along_axis(self.mass, keep, axis=1)
        self.remaining = np.take_along_axis(self.remaining, keep, axis=1)
        self.symbol = np.take_along_axis(self.symbol, keep, axis=1)
