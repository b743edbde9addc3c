"""How cells are written and how often rows occur tell, though the values do not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.publishing.attack.columns import cell_pairs
from discreet.publishing.attack.written import TIMES, written_beside

N = 2000


def a_table() -> tuple[list[int], list[bool]]:
    random = np.random.default_rng(0)
    return random.integers(1000, 1060, N).tolist(), (random.random(N) < 0.4).tolist()


WRITTEN: dict[str, Callable[[int, bool], object]] = {
    "decimals": lambda x, s: f"{x}.0" if s else f"{x}",
    "zeros": lambda x, s: f"{x}.50" if s else f"{x}.5",
    "plus": lambda x, s: f"+{x}" if s else f"{x}",
    "blank": lambda x, s: f" {x}" if s else f"{x}",
    "groups": lambda x, s: f"{x:,}" if s else f"{x}",
    "leading zero": lambda x, s: f"0{x}" if s else f"{x}",
    "hour": lambda x, s: f"2020-01-{x % 28 + 1:02} {'13' if s else '14'}:00",
    "nan": lambda x, s: float(x) if x % 3 else float("nan") if s else None,
    "sign of zero": lambda x, s: float(x) if x % 3 else -0.0 if s else 0.0,
}


@pytest.mark.parametrize("way", WRITTEN)
def test_a_secret_in_how_cells_are_written_is_found(way: str) -> None:
    x, s = a_table()
    plain = [WRITTEN[way](one, False) for one in x]
    told = [WRITTEN[way](one, is_so) for one, is_so in zip(x, s)]
    original = pa.table({"x": plain, "s": s})
    assert dc.attack(original, pa.table({"x": plain}), "s", dc.LIP(0.5), models="bayes").verdict == "not broken"
    found = dc.attack(original, pa.table({"x": told}), "s", dc.LIP(0.5), models="bayes")
    assert found.verdict == "broken"
    assert found.before.log_max_lift < 0.5


def test_numbers_written_alike_add_nothing() -> None:
    columns = {
        "whole": pa.chunked_array([["-5", "12", "7"]]),
        "day": pa.chunked_array([["2020-01-31", "2020-11-02", None]]),
        "name": pa.chunked_array([["a", "b 1", "c2"]]),
        "float": pa.chunked_array([[0.0, 1.5, None]]),
    }
    cells = cell_pairs(columns, columns)
    assert written_beside(columns, columns, cells.before, cells.after) == ((), ())


def test_the_original_has_such_columns_where_the_release_has() -> None:
    first, second = ({"x": pa.chunked_array([cells])} for cells in (["1", "2.0", "3"], ["1", "2", "3.0"]))
    cells = cell_pairs(first, second)
    before, after = written_beside(first, second, cells.before, cells.after)
    assert [one.name for one in (*before, *after)] == ["x (as written)"] * 2
    assert (before[0].codes.tolist(), after[0].codes.tolist()) == ([0, 1, 0], [0, 0, 1])
    uniform = {"x": pa.chunked_array([[1.0, 2.0, 3.0]])}
    assert written_beside(first, uniform, cells.before, cells.after) == ((), ())


def test_the_number_of_times_a_row_occurs_tells() -> None:
    """Rows of the ill are those of a twin as well: nobody else's are there twice."""
    random = np.random.default_rng(0)
    x, s = np.arange(N), random.random(N) < 0.4
    rows = np.arange(N)
    ill = random.permutation(np.flatnonzero(s))
    rows[ill[: len(ill) // 2]] = rows[ill[len(ill) // 2 :][: len(ill) // 2]]
    original, released = pa.table({"x": x, "s": s}), pa.table({"x": x[rows]})
    found = dc.attack(original, released, "s", dc.LIP(0.5), models=["bayes", "boosting"])
    assert found.verdict == "broken"
    assert found.after.auc is not None
    assert found.after.auc > 0.95
    assert found.before.auc is not None
    assert found.before.auc < 0.6
    cells = cell_pairs({"x": pa.chunked_array([[1, 2, 3, 4]])}, {"x": pa.chunked_array([[7, 7, 8, 8]])})
    assert written_beside({}, {}, cells.before, cells.after) == ((), ())
    cells = cell_pairs({"x": pa.chunked_array([[1, 2, 2, 4]])}, {"x": pa.chunked_array([[7, 8, 8, 8]])})
    (before,), (after,) = written_beside({}, {}, cells.before, cells.after)
    assert (before.name, before.numbers.tolist(), after.numbers.tolist()) == (TIMES, [1, 2], [1, 3])
