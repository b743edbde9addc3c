"""Codes keep the order of values, and join as lines sort."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from discreet._support.codes import dense_codes, joined_codes
from discreet._support.numeric import IntArray

NUMBERS = st.one_of(st.integers(0, 3), st.integers(0, 2**40))


@given(arrays.arrays(np.int64, st.integers(0, 30), elements=NUMBERS))
def test_dense_codes_are_ranks(codes: IntArray) -> None:
    assert dense_codes(codes).tolist() == [sorted(set(codes.tolist())).index(code) for code in codes.tolist()]


@given(arrays.arrays(np.int64, st.tuples(st.integers(0, 20), st.integers(1, 3)), elements=st.integers(0, 2**20)))
def test_joined_codes_are_ranks_of_lines(lines: IntArray) -> None:
    rows = [tuple(line) for line in lines.tolist()]
    assert joined_codes(lines).tolist() == [sorted(set(rows)).index(row) for row in rows]
