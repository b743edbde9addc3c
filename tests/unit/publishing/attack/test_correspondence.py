"""Rows correspond, or they are refused: shuffled, sorted, periodic, noisy and generalised releases."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import InputError
from discreet.publishing.attack.columns import cell_pairs
from discreet.publishing.attack.correspondence import corresponds, stretches_apart


def tell(original: dict[str, object], released: dict[str, object], seed: int = 0) -> bool:
    tables = [{name: pa.chunked_array([column]) for name, column in table.items()} for table in (original, released)]
    pairs = cell_pairs(*tables)
    return corresponds(pairs.before, pairs.after, pairs.shared, seed)


def a_table(n: int, seed: int = 0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {"age": random.integers(18, 90, n), "job": random.choice(["clerk", "nurse", "pilot"], n)}


@pytest.mark.parametrize("n", [100, 3000, 120_000])
def test_the_same_rows_pass_and_shuffled_ones_do_not(n: int) -> None:
    table = a_table(n)
    assert tell(table, table)
    for seed in range(20 if n < 10_000 else 2):
        order = np.random.default_rng(seed).permutation(n)
        assert not tell(table, {name: column[order] for name, column in table.items()}, seed)


def test_noise_and_broad_classes_pass() -> None:
    table, random = a_table(2000), np.random.default_rng(1)
    noisy = table["age"] + random.normal(0, 15, 2000)
    assert tell(table, {"age": noisy})
    broad = np.array([f"{k // 20 * 20}-{k // 20 * 20 + 20}" for k in table["age"]])
    assert tell(table, {"age": broad})
    assert not tell(table, {"age": random.permutation(broad)})
    replaced = np.where(random.random(2000) < 0.7, random.permutation(table["job"]), table["job"])
    assert tell(table, {"job": replaced})


def test_tables_in_the_same_order_are_not_in_the_same_rows() -> None:
    """Both sorted by age, then shifted by some rows: neighbours agree as well as those at the same place."""
    table = a_table(4000)
    order = np.argsort(table["age"], kind="stable")
    table = {name: column[order] for name, column in table.items()}
    assert tell(table, table)
    assert not tell(table, {name: np.roll(column, 5) for name, column in table.items()})


@pytest.mark.parametrize("period", [2, 3, 5])
def test_a_period_does_not_hide_that_rows_correspond(period: int) -> None:
    table = {"x": np.array(list("abcde"[:period]) * 200)}
    assert tell(table, table)


def parts(original: dict[str, np.ndarray], released: dict[str, np.ndarray]) -> tuple[str, ...]:
    tables = [{name: pa.chunked_array([column]) for name, column in table.items()} for table in (original, released)]
    pairs = cell_pairs(*tables)
    return stretches_apart(pairs.before, pairs.after, pairs.shared)


def test_tables_that_are_shifted_from_some_row_on_are_refused() -> None:
    table = a_table(6000)
    assert parts(table, table) == ()
    for shift in (1, -2, 7):
        moved = {name: np.append(column[:4000], np.roll(column[4000:], shift)) for name, column in table.items()}
        with pytest.raises(InputError, match=r"shifted .* from about row (3,9|4,)"):
            parts(table, moved)


def test_stretches_in_another_order_are_noted() -> None:
    table, random = a_table(6000), np.random.default_rng(2)
    order = np.append(np.arange(3000), 3000 + random.permutation(3000))
    notes = parts(table, {name: column[order] for name, column in table.items()})
    assert len(notes) >= 8
    assert "agree with the original no better than by chance" in notes[0]
    moved = np.where(random.random(6000) < 0.7, random.permutation(6000), np.arange(6000))
    assert parts(table, {name: column[moved] for name, column in table.items()}) == ()
