"""Values as codes: integers from 0 on that keep their order and leave none out."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from discreet._support.numeric import IntArray

__all__ = ["dense_codes", "joined_codes"]

#: A range of integers of at most so many times their number is counted instead of sorted.
WIDEST_RANGE = 4


def dense_codes(codes: IntArray) -> IntArray:
    """Non-negative integers by their rank among those that occur.

    >>> dense_codes(np.array([7, 0, 7, 3]))
    array([2, 0, 2, 1])
    """
    if not len(codes):
        return codes.astype(np.int64)
    if int(codes.max()) < WIDEST_RANGE * len(codes):
        rank = np.cumsum(np.bincount(codes) > 0) - 1
        counted: IntArray = rank[codes]
        return counted
    return np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)


def joined_codes(lines: IntArray) -> IntArray:
    """One code for each distinct line of several codes, in lexicographic order.

    >>> joined_codes(np.array([[1, 5], [0, 9], [1, 4]]))
    array([2, 0, 1])
    """
    number = np.zeros(len(lines), dtype=np.int64)
    for column in lines.T:
        number = dense_codes(number * (int(column.max(initial=0)) + 1) + column)
    return number
