"""What tableaus of a dual simplex share: tolerances, what comes of a programme, and the ratio test."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray

__all__ = ["FEASIBILITY", "TOUCHING", "Entering", "Status", "ratio_test"]

#: Basic variables may violate their bounds by this much.
FEASIBILITY = 1e-10

#: Programmes that miss feasibility by less than this are solved all the same: their multipliers prove more than rays.
TOUCHING = 1e-7

#: Entries of the tableau smaller than this are no pivots.
PIVOT = 1e-9

#: Breakpoints sorted at first in the ratio test; only long steps need more.
NEAR = 48


class Status(IntEnum):
    """What came of a programme."""

    OPEN = 0
    SOLVED = 1
    EMPTY = 2
    LOST = 3


class Entering(NamedTuple):
    """Places of the entering variables, those whose bounds are passed over, and by how much no step suffices."""

    place: IntArray
    flips: BoolArray
    short: FloatArray  # 0 where a step does


def ratio_test(
    reduced: FloatArray, row: FloatArray, worst: FloatArray, at_high: BoolArray, room: FloatArray
) -> Entering:
    """Which nonbasic variable takes the place of one that violates its bound by ``worst``, for each programme.

    ``row`` writes the leaving variable in nonbasic ones, so that it must grow; ``room`` is the width of their bounds.
    The step goes on over bounds for as long as the dual objective grows.
    """
    able = np.where(at_high, row < -PIVOT, row > PIVOT)
    ratio = np.full(row.shape, np.inf)
    np.divide(reduced, row, out=ratio, where=able)
    np.maximum(ratio, 0.0, out=ratio)
    drop = np.where(able, np.abs(row) * room, 0.0)
    short = worst - drop.sum(axis=1)
    short[short < FEASIBILITY / 2] = 0.0
    every = np.arange(len(row))[:, None]
    order, passed = _nearest(ratio, drop, NEAR)
    if order.shape[1] < row.shape[1] and (passed[short == 0, -1] < worst[short == 0]).any():
        order, passed = _nearest(ratio, drop, row.shape[1])
    # The last breakpoint stands in where rounding leaves the sum a hair short.
    able_count = able[every, order].sum(axis=1)
    short[able_count == 0] = worst[able_count == 0]
    place = np.minimum((passed < worst[:, None]).sum(axis=1), np.maximum(able_count - 1, 0))
    flips = np.zeros(row.shape, dtype=bool)
    flips[every, order] = np.arange(order.shape[1]) < place[:, None]
    flips[short > 0] = False
    return Entering(order[every[:, 0], place], flips, short)


def _nearest(ratio: FloatArray, drop: FloatArray, count: int) -> tuple[IntArray, FloatArray]:
    """The ``count`` smallest ratios of each row in order, and how much they drop in sum up to each."""
    every = np.arange(len(ratio))[:, None]
    if count < ratio.shape[1]:
        some = np.argpartition(ratio, count - 1, axis=1)[:, :count]
        order = some[every, np.argsort(ratio[every, some], axis=1, kind="stable")]
    else:
        order = np.argsort(ratio, axis=1, kind="stable")
    return order, np.cumsum(drop[every, order], axis=1)
