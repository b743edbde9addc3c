"""Numbers out of Arrow's columns, without pyarrow's own conversion, which imports pandas wherever it is installed."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

from discreet._support.numeric import IntArray

__all__ = ["integers", "numbers", "whole"]


def whole(cells: Any) -> Any:
    """A column in one piece."""
    combined = cells.combine_chunks() if hasattr(cells, "combine_chunks") else cells
    # Some versions keep a chunked array of one chunk.
    return combined.chunk(0) if hasattr(combined, "chunks") else combined


def numbers(cells: Any) -> Any:
    """A column of numbers without null, of the type that it has."""
    return np.from_dlpack(whole(cells))


def integers(cells: Any) -> IntArray:
    """A column of integers without null, of 64 bits; unsigned ones wrap."""
    found: IntArray = numbers(cells).astype(np.int64)
    return found
