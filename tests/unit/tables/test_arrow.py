"""Integers of Arrow's columns, chunk by chunk."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from discreet.tables.arrow import integers


@pytest.mark.parametrize("kind", [pa.int32(), pa.int64(), pa.uint8()])
def test_chunks_slices_and_none_at_all(kind: pa.DataType) -> None:
    whole = pa.array(range(20), kind)
    for cells in (whole, whole[3:11], pa.chunked_array([whole[:5], whole[5:5], whole[7:]]), whole[:0]):
        found = integers(cells)
        assert found.dtype == np.int64
        assert found.tolist() == cells.to_pylist()
    assert integers(pa.chunked_array([], type=kind)).tolist() == []
