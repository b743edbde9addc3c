"""Numbers out of Arrow's columns, without pyarrow's own conversion, which imports pandas wherever it is installed."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

from discreet._support.numeric import IntArray

__all__ = ["integers"]


def integers(cells: Any) -> IntArray:
    """A column of integers without null, in one chunk or several; unsigned ones of 64 bits wrap."""
    parts = cells.chunks if hasattr(cells, "chunks") else [cells]
    found = [np.from_dlpack(part).astype(np.int64) for part in parts if len(part)]
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
