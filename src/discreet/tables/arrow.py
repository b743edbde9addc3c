"""Arrow's columns from and to numbers and texts, without pyarrow's own conversions.

Those import pandas wherever it is installed, which takes half a second.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._support.numeric import IntArray

__all__ = ["column_of", "integers", "numbers", "texts", "whole"]


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


def column_of(values: NDArray[Any]) -> Any:
    """Numbers as an Arrow column."""
    import pyarrow as pa

    held = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(held.dtype), len(held), [None, pa.py_buffer(held)])


def texts(values: Sequence[str | None]) -> Any:
    """Texts, some of them null, as an Arrow column."""
    import pyarrow as pa

    held = [b"" if text is None else text.encode() for text in values]
    ends = np.cumsum([0, *map(len, held)], dtype=np.int64)
    given = np.packbits([text is not None for text in values], bitorder="little") if None in values else None
    buffers = [None if given is None else pa.py_buffer(given), pa.py_buffer(ends), pa.py_buffer(b"".join(held))]
    return pa.Array.from_buffers(pa.large_string(), len(held), buffers).cast(pa.string())
