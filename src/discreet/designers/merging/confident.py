"""Greedy merging under promises with confidence: blocks are judged by the worst that a sample leaves open."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.designers.merging.batch import MergingBatch
from discreet.notions import Notion
from discreet.notions.confident import Sample, worst_of_blocks
from discreet.notions.lift_kinds import LargestLift

__all__ = ["batch_of"]


def batch_of(joints: Sequence[Joint], notions: Sequence[Notion]) -> MergingBatch:
    """Problems of merging, all of them with confidence or none."""
    confident = {notion.confidence is not None for notion in notions}
    if len(confident) > 1:
        raise InputError("a sweep takes notions that are all with confidence, or all without.")
    return ConfidentBatch(joints, notions) if confident == {True} else MergingBatch(joints, notions)


class ConfidentBatch(MergingBatch):
    """The same problems where P(s | x) is known within limits: over a block both of its limits add up."""

    def __init__(self, joints: Sequence[Joint], notions: Sequence[Notion]) -> None:
        found = [notion.limits(joint) for joint, notion in zip(joints, notions, strict=True)]
        self._limits = [limits for limits in found if limits is not None]
        super().__init__(joints, notions)

    def additive(self, cells: FloatArray) -> FloatArray:
        """P(x) u(s, x), and below it P(x) l(s, x)."""
        share = cells.sum(axis=1, keepdims=True)
        low, high = (np.stack(ends) for ends in zip(*(limits.floats for limits in self._limits)))
        result: FloatArray = np.concatenate([share * high, share * low], axis=1)
        self._all = result.sum(axis=2, keepdims=True)
        return result

    def measured(self, who: IntArray | slice, value: FloatArray, mass: FloatArray) -> list[FloatArray]:
        high, low = np.split(value, 2, axis=1)
        all_high, all_low = np.split(self._all[who], 2, axis=1)
        least, largest = worst_of_blocks(high, low, mass[:, None, :], all_high, all_low)
        prior = self.prior[who]
        return [
            bound.value(largest if bound.kind == LargestLift() else least, prior) for bound in self.notions[0].bounds
        ]

    def keeps_alone(self, problem: int, symbols: IntArray) -> BoolArray:
        return np.array([self._keeps(problem, np.array([x])) for x in symbols.tolist()], dtype=bool)

    def keeps_block(self, problem: int, inside: BoolArray) -> bool:
        return self._keeps(problem, np.flatnonzero(inside))

    def _keeps(self, problem: int, members: IntArray) -> bool:
        sample = Sample.of_block(self.joints[problem], self._limits[problem], members)
        return bool(sample.allowed(self.notions[problem].bounds)[0])
