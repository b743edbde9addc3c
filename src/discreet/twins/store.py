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

__all__ = ["packed", "places_of", "state_of", "unpacked"]

#: Bytes that are unpacked at most: two for each of a billion records.
MOST_BYTES = 1 << 31


def state_of(records: Records, values: IntArray, *, by_row: bool = False) -> IntArray:
    """Of every different record, in the order of digests, the number that all its rows share.

    Where equal records may belong to different persons they have numbers of their own (``by_row``), in the order of
    digests and of rows.
    """
    found = np.zeros(len(records) if by_row else records.n_tuples, dtype=np.int64)
    found[places_of(records, by_row=by_row)] = values
    return found


def places_of(records: Records, *, by_row: bool = False) -> IntArray:
    """Of each row, where its number is stored."""
    return records.canonical if by_row else records.tuples


def packed(values: IntArray, kind: str) -> str:
    """Small numbers as text.

    >>> unpacked(packed(np.array([3, 1, 2]), "<u2"), "<u2").tolist()
    [3, 1, 2]
    """
    return base64.b64encode(zlib.compress(values.astype(kind).tobytes(), 9)).decode()


def unpacked(text: str, kind: str) -> IntArray:
    """What `packed` gave; a ValueError where it is damaged."""
    try:
        reader = zlib.decompressobj()
        content = reader.decompress(base64.b64decode(text, validate=True), MOST_BYTES)
    except (zlib.error, binascii.Error):
        raise ValueError("damaged numbers") from None
    numbers: Any = np.frombuffer(content, dtype=kind)
    result: IntArray = numbers.astype(np.int64)
    return result
