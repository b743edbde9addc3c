"""Partitions of symbols into blocks, in one canonical form: blocks in the order of their first members."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

from discreet._support.numeric import IntArray

__all__ = ["members", "named", "numbered"]


def _first(block_of: Any) -> tuple[IntArray, IntArray]:
    """The first member of each block, and the place of every symbol's block among those."""
    _, first, place = np.unique(np.asarray(block_of), return_index=True, return_inverse=True)
    return first, place.reshape(-1)


def named(block_of: Any) -> IntArray:
    """The block of every symbol, called by its first member.

    >>> named([7, 3, 7, 5]).tolist()
    [0, 1, 0, 3]
    """
    first, place = _first(block_of)
    result: IntArray = first[place]
    return result


def numbered(block_of: Any) -> IntArray:
    """The block of every symbol, counted from zero.

    >>> numbered([7, 3, 7, 5]).tolist()
    [0, 1, 0, 2]
    """
    first, place = _first(block_of)
    result: IntArray = np.argsort(np.argsort(first))[place]
    return result


def members(block_of: Any) -> list[list[int]]:
    """The symbols of every block, in their order.

    >>> members([7, 3, 7, 5])
    [[0, 2], [1], [3]]
    """
    number = numbered(block_of)
    order = np.argsort(number, kind="stable")
    cuts = np.flatnonzero(np.diff(number[order])) + 1
    return [part.tolist() for part in np.split(order, cuts)]
