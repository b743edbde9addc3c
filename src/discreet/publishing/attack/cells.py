"""Several tables of one code in a row, and whole tuples as single numbers."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet._support.numeric import IntArray
from discreet.twins.cells import Cells

__all__ = ["below", "code_keys", "tuple_keys"]

Keys = NDArray[np.uint64]

#: Odd numbers that spread the bits of a code (Steele, Lea and Flood's SplitMix).
SPREAD, FIRST, SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def below(first: Cells, second: Cells) -> Cells:
    """One column of two tables that share its codes."""
    codes = np.concatenate([first.codes, second.codes])
    return replace(first, codes=codes)


def tuple_keys(columns: Sequence[Cells], seed: int = 0) -> IntArray:
    """A number for the tuple of each record: equal for equal tuples, and for others with a chance of 2**-64."""
    keys: Keys = np.full(len(columns[0].codes), np.uint64(seed & 0xFFFFFFFF))
    for cells in columns:
        keys = _mixed((keys ^ cells.codes.astype(np.uint64)) + SPREAD)
    result: IntArray = keys.view(np.int64)
    return result


def code_keys(codes: IntArray, seed: int = 0) -> IntArray:
    """A number for each code, which looks like chance: equal for equal codes alone."""
    result: IntArray = _mixed((codes.astype(np.uint64) ^ np.uint64(seed & 0xFFFFFFFF)) + SPREAD).view(np.int64)
    return result


def _mixed(keys: Keys) -> Keys:
    keys = (keys ^ (keys >> np.uint64(30))) * FIRST
    keys = (keys ^ (keys >> np.uint64(27))) * SECOND
    return keys ^ (keys >> np.uint64(31))
