"""The draw as tables that judge a release: which row each value has, and which u each label of a row stands for.

A release looks labels up by u. Here it is the other way round: a record's value and its label tell between which
thresholds its u must lie, so that one join finds what can never be released, and one comparison what was not drawn.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet._support.numeric import DENOMINATOR, IntArray
from discreet.drawing.fitting import fitting
from discreet.drawing.thresholds import DIGITS, Thresholds, digits_of, row_digits
from discreet.mechanism import Draw
from discreet.tables.arrow import column_of, texts

__all__ = ["entry_table", "label_table", "symbol_table"]


def symbol_table(rows: Mapping[tuple[Any, ...], int], inputs: Sequence[str], kinds: Sequence[Any]) -> Any:
    """Arrow table (i0, i1, ..., r, d): values that are looked up, the number of their row, and its digits.

    Parameters
    ----------
    rows : mapping
        Values as they are looked up, one for each of the ``inputs``, to the number of their row.
    kinds : sequence of pyarrow.DataType
        Types of the columns in which they are looked up; values that those cannot hold are left out.
    """
    import pyarrow as pa

    values, known = fitting(list(rows), kinds, inputs)
    numbers = np.fromiter(rows.values(), dtype=np.int64, count=len(rows))[known]
    columns = {f"i{k}": column for k, column in enumerate(values)}
    return pa.table(columns | {"r": column_of(numbers), "d": texts([row_digits(k) for k in numbers.tolist()])})


def label_table(draw: Draw) -> Any:
    """Arrow table (y) of the labels that a draw may release."""
    import pyarrow as pa

    return pa.table({"y": texts(sorted(set(draw.labels)))})


def entry_table(draw: Draw) -> Any:
    """Arrow table (r, y, e, low, high): of every entry its row, label, number, and the thresholds around its u."""
    import pyarrow as pa

    sizes = np.diff(draw.starts)
    low, high = _ends(draw, sizes) if draw.denominator == DENOMINATOR else _fine_ends(draw)
    return pa.table(
        {
            "r": column_of(np.repeat(np.arange(len(sizes)), sizes)),
            "y": texts(draw.labels),
            "e": column_of(np.arange(len(draw.labels))),
            "low": low,
            "high": high,
        }
    )


def _ends(draw: Draw, sizes: IntArray) -> tuple[Any, Any]:
    """Thresholds around every entry, of weights that 64 bits hold."""
    high = np.cumsum(draw.weights.astype(np.uint64), dtype=np.uint64)  # wraps, and the difference does not mind
    before = np.concatenate([[np.uint64(0)], high])[draw.starts[:-1]]
    high = (high - np.repeat(before, sizes)).astype(np.int64)
    return _texts(high - draw.weights), _texts(high)


def _fine_ends(draw: Draw) -> tuple[Any, Any]:
    """The same of weights over 2**120."""
    high = Thresholds.of(draw).texts
    low = [*high[-1:], *high[:-1]]
    for first in draw.starts[:-1].tolist():
        low[first] = "0" * digits_of(draw.denominator)
    return texts(low), texts(high)


def _texts(thresholds: IntArray) -> Any:
    """Cumulated weights as text that compares like the numbers; see `threshold_text`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    digits = np.frombuffer(thresholds.astype(">u8").tobytes().hex().encode(), dtype="S1").reshape(-1, 16)
    data = pa.py_buffer(np.ascontiguousarray(digits[:, 16 - DIGITS :]))
    ends = pa.py_buffer(np.arange(len(digits) + 1, dtype=np.int64) * DIGITS)
    written = pa.Array.from_buffers(pa.large_string(), len(digits), [None, ends, data]).cast(pa.string())
    is_last = column_of((thresholds >= DENOMINATOR).astype(np.uint8)).cast(pa.bool_())
    return pc.if_else(is_last, pa.scalar("g"), written)
