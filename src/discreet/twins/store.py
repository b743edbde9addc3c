"""What is stored of a published table so that its draw can be redone: one small number for every different record."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any

import numpy as np

from discreet._support.numeric import IntArray
from discreet.twins.records import Records

__all__ = ["overlap_of", "packed", "places_of", "state_of", "unpacked"]


def state_of(records: Records, values: IntArray, *, by_row: bool = False) -> IntArray:
    """Of every different record, in the order of digests, the number that all its rows share.

    Where equal records may belong to different persons, or are chosen one by one, they have numbers of their own
    (``by_row``), in the order of digests and of rows.
    """
    found = np.zeros(len(records) if by_row else records.n_tuples, dtype=np.int64)
    found[places_of(records, by_row=by_row)] = values
    return found


def places_of(records: Records, *, by_row: bool = False) -> IntArray:
    """Of each row, where its number is stored."""
    return records.canonical if by_row else records.tuples


def overlap_of(before: IntArray, after: IntArray) -> str:
    """Share of rows whose tuple appears after as often as before, counted with multiplicity; six decimals.

    >>> overlap_of(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2]))
    '0.750000'
    """
    width = int(max(before.max(initial=0), after.max(initial=0))) + 1
    both = np.minimum(np.bincount(before, minlength=width), np.bincount(after, minlength=width))
    return f"{both.sum() / max(1, len(before)):.6f}"


def packed(values: IntArray, kind: str) -> str:
    """Small numbers as text.

    >>> unpacked(packed(np.array([3, 1, 2]), "<u2"), "<u2", 3).tolist()
    [3, 1, 2]
    """
    return base64.b64encode(zlib.compress(values.astype(kind).tobytes(), 9)).decode()


def unpacked(text: str, kind: str, most: int) -> IntArray:
    """What `packed` gave, at most so many numbers; a ValueError where it is damaged."""
    try:
        reader = zlib.decompressobj()
        content = reader.decompress(base64.b64decode(text, validate=True), most * np.dtype(kind).itemsize + 1)
    except (zlib.error, binascii.Error):
        raise ValueError("damaged numbers") from None
    if len(content) % np.dtype(kind).itemsize or len(content) > most * np.dtype(kind).itemsize:
        raise ValueError("more numbers than there are records")
    numbers: Any = np.frombuffer(content, dtype=kind)
    result: IntArray = numbers.astype(np.int64)
    return result
