"""Hypothesis strategies: joints with zeros, tiny cells and independence on purpose, and channels for them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from discreet import Joint, Mechanism

budgets = st.floats(0.01, 4.0)
lams = st.floats(0.05, 0.95)
orders = st.sampled_from([1.5, 2.0, 3.0, 10.0])


@st.composite
def joints(draw: st.DrawFn, *, zeros: bool = True, max_size: int = 5, min_useful: int = 1) -> Joint:
    """Counts, so that every statement is about an exact rational joint."""
    rows = draw(st.integers(2, max_size))
    columns = draw(st.integers(min_useful, max_size))
    cell = st.one_of(st.integers(1, 12), st.sampled_from([1, 1000, 10**9]))
    if zeros:
        cell = st.one_of(cell, st.just(0))
    cells = np.array([[draw(cell) for _ in range(columns)] for _ in range(rows)], dtype=object)
    for s in range(rows):
        if not cells[s].any():
            cells[s, s % columns] = 1
    return Joint.from_counts(cells)


@st.composite
def channels(draw: st.DrawFn, n_useful: int, *, max_released: int = 4) -> Mechanism:
    """A random channel; some entries are zero."""
    columns = draw(st.integers(1, max_released))
    weights = np.array([[draw(st.integers(0, 8)) for _ in range(columns)] for _ in range(n_useful)], dtype=float)
    weights[weights.sum(axis=1) == 0, 0] = 1
    return Mechanism.from_channel(weights / weights.sum(axis=1, keepdims=True))
