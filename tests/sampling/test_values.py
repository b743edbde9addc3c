"""Releases in values: a million draws agree with R, and published columns have the distribution of their own."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from tests.sampling.test_draws import Z_LIMIT, largest_z

ROWS = 1_000_000


def values_table(rows: int, n: int, seed: int) -> pa.Table:
    """Values with a skewed distribution that tell about s, with null among them."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(n, 2.0))
    x = rng.choice(n, rows, p=share)
    s = (rng.random(rows) < np.linspace(0.2, 0.6, n)[rng.permutation(n)][x]).astype(np.int64)
    return pa.table({"s": s, "x": pa.array(x, pa.int32(), mask=x == 2)})


def counted(table: pa.Table, released: pa.Table, mechanism: dc.Mechanism) -> np.ndarray:
    """How often each value became which."""
    place = {value: k for k, value in enumerate(mechanism.useful)}
    column = {value: k for k, value in enumerate(mechanism.released_values)}
    pairs = pa.table({"a": table["x"], "b": released["x"]}).group_by(["a", "b"]).aggregate([([], "count_all")])
    counts = np.zeros((mechanism.n_useful, mechanism.n_released), dtype=np.int64)
    for row in pairs.to_pylist():
        counts[place[row["a"]], column[row["b"]]] = row["count_all"]
    return counts


def test_a_million_draws_agree_with_r_and_with_nothing_else() -> None:
    table = values_table(ROWS, 9, seed=3)
    joint = dc.Joint.from_table(table, "s", "x")
    asked = dc.design(joint, dc.LIP(0.25)).mechanism
    released = dc.release(table, asked, key=bytes(range(32)), as_values=True)
    mechanism = asked.in_values(joint)
    assert released.schema.field("x").type == pa.int32()
    counts, channel = counted(table, released, mechanism), mechanism.channel
    assert largest_z(counts, channel) < Z_LIMIT
    noticed = 0
    for row in np.flatnonzero((channel > 0).sum(axis=1) >= 2).tolist():
        rich, other = np.argsort(-channel[row])[:2]
        wrong = channel.copy()
        wrong[row, rich] -= 0.02  # 2 % of one row between two of its entries
        wrong[row, other] += 0.02
        noticed += 1
        assert largest_z(counts, wrong) > Z_LIMIT
    assert noticed > 2


@pytest.mark.parametrize("seed", range(20))
def test_a_published_column_has_the_distribution_of_its_own(seed: int) -> None:
    """20 columns: every share is within sampling error of the table's own, by the standard errors that are stated."""
    table = values_table(20_000, 4 + seed % 9, seed)
    joint = dc.Joint.from_table(table, "s", "x")
    asked = dc.design(joint, dc.LIP(0.1 + 0.02 * seed), "optimal").mechanism
    released = dc.release(table, asked, seed=seed, as_values=True)
    before, after = (
        {row["values"]: row["counts"] / table.num_rows for row in t["x"].value_counts().to_pylist()}
        for t in (table, released)
    )
    errors = dict(zip(asked.useful, dc.measures.share_errors(joint, asked).tolist()))
    for value, share in before.items():
        assert abs(after.get(value, 0.0) - share) <= Z_LIMIT * errors[value] + 1e-12
    if any(error > 0 for error in errors.values()):
        # As labels, or by a channel that keeps no distribution, shares would be off by far more somewhere.
        grr = dc.design(joint, dc.LIP(0.1 + 0.02 * seed), "grr").mechanism
        off = np.abs(joint.p_useful @ grr.channel - joint.p_useful)
        assert (off > Z_LIMIT * np.array([errors[v] for v in grr.useful])).any() or off.max() < 0.02
