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

__all__ = ["packed", "state_of", "unpacked"]

#: Bytes that are unpacked at most: two for each of a billion records.
MOST_BYTES = 1 << 31


def state_of(records: Records, values: IntArray) -> IntArray:
    """Of every different record, in the order of digests, the number that all its rows share."""
    found = np.zeros(records.n_tuples, dtype=np.int64)
    found[records.tuples] = values
    return found


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
