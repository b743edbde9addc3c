"""Sessions: whoever asks, by whichever door, sees the same table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet import LIP, Joint, design
from discreet._support.errors import UnreadableTableError, UnusableColumnError
from discreet.tables.session import Limits, open_table
from tests.releases import awkward_table


def test_a_column_of_files_and_of_folders_is_refused_by_every_door(tmp_path: Path) -> None:
    """A folder's name must not take the place of what the files say about S."""
    table = awkward_table(400)
    mechanism = design(Joint.from_table(table, "ill", "job"), LIP(0.5)).mechanism
    for name in ("ill=0", "ill=1"):
        (tmp_path / "table" / name).mkdir(parents=True)
        pq.write_table(table, tmp_path / "table" / name / "a.parquet")
    with pytest.raises(UnusableColumnError, match="two columns of one name"):
        Joint.from_table(tmp_path / "table", "ill", "job")
    with pytest.raises(UnusableColumnError, match="two columns of one name"):
        dc.release(tmp_path / "table", mechanism, id="number", output=tmp_path / "out.parquet")
    for places in (False, True):
        with pytest.raises(UnusableColumnError), open_table(tmp_path / "table", places=places):
            pass


def test_columns_in_names_of_folders_are_those_below_the_table(tmp_path: Path) -> None:
    folder = tmp_path / "month=3" / "people"
    for city in ("a", "b"):
        (folder / f"city={city}").mkdir(parents=True)
        pq.write_table(pa.table({"ill": [0, 1], "job": ["x", "y"]}), folder / f"city={city}" / "p.parquet")
    assert Joint.from_table(folder, "ill", "city").useful == ("a", "b")
    assert Joint.from_table(tmp_path, "ill", "city").useful == ("a", "b")
    assert Joint.from_table(folder / "city=a" / "p.parquet", "ill", "job").records == 2


def test_a_table_that_changes_is_told(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "t.parquet")
    with open_table(tmp_path / "t.parquet") as table:
        table.check_unchanged()
        pq.write_table(pa.table({"x": [1, 2, 3]}), tmp_path / "t.parquet")
        with pytest.raises(UnreadableTableError, match="changed while it was read"):
            table.check_unchanged()


def test_a_wrong_limit_is_told(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "t.parquet")
    with (
        pytest.raises(dc.errors.InputError, match="memory_limit"),
        open_table(tmp_path / "t.parquet", limits=Limits("much")),
    ):
        pass


def test_a_limit_that_is_too_small_is_called_that(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n" * 1000)
    with (
        pytest.raises(dc.errors.UnreadableTableError, match=r"needs more memory than DuckDB may take\. Raise"),
        open_table(path, places=True, limits=Limits("1kb")) as table,
    ):
        table.aggregate("count(*) AS n, count(DISTINCT a) AS m")
