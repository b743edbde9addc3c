"""Tables are read in the order of their rows, in one code where their values are of one kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from discreet.publishing.attack.columns import cell_pairs, together
from discreet.publishing.attack.reading import read_pair


def numbers(column: pa.ChunkedArray) -> list[int]:
    """Cells of a CSV are texts."""
    return [int(cell) for cell in column.to_pylist()]


def test_rows_are_read_in_their_order_and_columns_by_their_roles(tmp_path: Path) -> None:
    table = pd.DataFrame({"x": np.random.default_rng(0).permutation(5000), "s": 0, "other": 1, "id": range(5000)})
    for part in (0, 1):
        table.iloc[part * 2500 : (part + 1) * 2500].to_csv(tmp_path / f"o{part}.csv", index=False)
    released = table[["x", "id"]].assign(more=table["x"] * 2, s=0)
    pair = read_pair(tmp_path / "o*.csv", released, ["s"], ["x"], None)
    assert numbers(pair.original["x"]) == numbers(pair.released["x"]) == table["x"].tolist()
    assert (set(pair.original), set(pair.released), pair.rows) == ({"x", "s"}, {"x", "more", "s"}, 5000)
    assert pair.notes == ("The release itself holds the sensitive column 's'.",)
    everything = read_pair(tmp_path / "o*.csv", released, ["s"], None, None)
    assert set(everything.released) == {"x", "id", "more", "s"}
    linked = read_pair(tmp_path / "o*.csv", released.iloc[::-2], ["s"], None, "id")
    assert numbers(linked.original["x"]) == numbers(linked.released["x"]) == table["x"].tolist()[1::2]


@pytest.mark.parametrize(
    ("before", "after", "is_shared"),
    [
        ([1, 2, 3, 4], [2, 1, 4, 9], True),
        ([1, 2, 3, 4], [1.5, 2.0, 3.25, 4.0], True),
        ([1, 2, 3, 4], ["1", "2", "*", "4"], True),
        ([1, 2, 3, 4], ["1-2", "1-2", "3-4", "3-4"], False),
        (["1.25", "2.5", "3.5", "4.5"], ["1.5", "2.75", "3.75", "4.25"], True),
        (["a", "b", "c", None], ["a", "*", None, "b"], True),
        (["a", "b", "c", None], ["A", "B", "C", "D"], False),
        (["a", "b", "c", None], pa.nulls(4, pa.string()), False),
        ([True, False, True, None], [True, True, False, None], True),
    ],
)
def test_equal_values_have_equal_codes_where_most_are_known(before: object, after: object, is_shared: bool) -> None:
    pairs = cell_pairs({"x": pa.chunked_array([pa.array(before)])}, {"x": pa.chunked_array([pa.array(after)])})
    assert pairs.shared == (("x",) if is_shared else ())
    if is_shared:
        (first,), (second,) = pairs.before, pairs.after
        texts = [[str(v) for v in pa.array(column).cast(pa.string()).to_pylist()] for column in (before, after)]
        for k in range(4):
            for other in range(4):
                assert (first.codes[k] == second.codes[other]) == (texts[0][k] == texts[1][other])


def test_a_number_is_one_value_however_it_is_written() -> None:
    pairs = cell_pairs({"x": pa.chunked_array([["39", "40.50", "7"]])}, {"x": pa.chunked_array([[39.0, 40.5, 8.0]])})
    assert pairs.shared == ("x",)
    assert (pairs.before[0].codes.tolist(), pairs.after[0].codes.tolist()) == ([2, 3, 0], [2, 3, 1])
    ages = [str(age) for age in range(20, 90)]
    broad = [f"{int(age) // 10}0-{int(age) // 10 + 1}0" for age in ages]  # most distinct values are numbers
    assert cell_pairs({"x": pa.chunked_array([ages])}, {"x": pa.chunked_array([broad])}).shared == ()


def test_columns_of_other_types_go_together() -> None:
    days = pa.array([0, 1], pa.date32())
    assert together(days, days.cast(pa.timestamp("ns"))).type == pa.timestamp("us")
    assert together(pa.array([1]), pa.array([1.5])).to_pylist() == [1.0, 1.5]
    assert together(pa.array(["a"]).dictionary_encode(), pa.array(["a"], pa.large_string())).to_pylist() == ["a", "a"]


@pytest.mark.parametrize("cells", [[[1], [2], None], [{"a": 1}, {"a": 2}, None], [b"\xff", b"\x00", None]])
def test_lists_structures_and_bytes_are_texts(cells: list[object]) -> None:
    columns = {"x": pa.chunked_array([[1, 2, 2]]), "y": pa.chunked_array([cells])}
    pairs = cell_pairs(columns, columns)
    assert pairs.shared == ("x", "y")
    assert sorted(pairs.after[1].codes.tolist()) == [-1, 0, 1]
    assert pairs.notes[0] == "Taken as texts, their cells being lists, structures or bytes: y."
    assert len(pairs.unchecked) == isinstance(cells[0], bytes)
    assert cell_pairs({"y": pa.chunked_array([["[1]", "[2]"]])}, {"y": pa.chunked_array([[[1], [2]]])}).shared == ("y",)


def test_a_column_that_links_rows_is_named() -> None:
    original = {"key": pa.chunked_array([["p", "q", "r"]]), "x": pa.chunked_array([[1, 2, 2]])}
    (note,) = cell_pairs(original, original).notes
    assert note == "'key' differs in all rows of the release and is that of the original: it links rows to people."
    for other in (["p", "r", "q"], ["p", "q", "q"], ["p", "q", None]):
        assert cell_pairs(original, {**original, "key": pa.chunked_array([other])}).notes == ()


def test_texts_of_one_number_or_day_are_one_value_and_long_numbers_are_not() -> None:
    days = cell_pairs(
        {"x": pa.array(["2026-11-17", "2026-11-18", "2026-11-19"])},
        {"x": pa.array(["2026-11-17 08:00", "2026-11-18 21:30", "2026-11-19"])},
    )
    assert days.shared == ("x",)
    assert days.before[0].codes.tolist() == days.after[0].codes.tolist()
    long = pa.array(["1000000000000000000", "1000000000000000001", "7"])
    found = cell_pairs({"x": long}, {"x": long}).before[0]
    assert len(set(found.codes.tolist())) == 3
    same = cell_pairs({"x": pa.array(["39", "39.0", "7"])}, {"x": pa.array(["39.0", "39", "7"])})
    assert same.before[0].codes.tolist() == same.after[0].codes.tolist()
