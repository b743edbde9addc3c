"""Tables that cannot be used: a clear error, and never a cell of the table in it."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Joint
from discreet._support.errors import (
    ColumnNotFoundError,
    DiscreetWarning,
    EmptyTableError,
    InputError,
    UnreadableTableError,
    UnusableColumnError,
)
from discreet.tables.session import open_table

SECRET = "Zacharias"


def test_a_missing_column_comes_with_a_suggestion() -> None:
    table = pa.table({"income": ["a", "b"], "job": ["x", "y"]})
    for kind in (table, table.to_pandas(), pl.from_arrow(table), pl.from_arrow(table).lazy()):
        with pytest.raises(ColumnNotFoundError, match="Did you mean 'income'") as caught:
            Joint.from_table(kind, "incme", "job")
        assert caught.value.available == ("income", "job")
    assert isinstance(caught.value, KeyError)


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(EmptyTableError, match="no rows"):
        Joint.from_table(pa.table({"s": pa.array([], pa.string()), "x": pa.array([], pa.string())}), "s", "x")


def test_the_same_column_twice_is_refused() -> None:
    table = pa.table({"s": ["a"], "x": ["b"]})
    with pytest.raises(InputError, match="publish the secret"):
        Joint.from_table(table, "s", ["x", "s"])
    with pytest.raises(InputError, match="twice"):
        Joint.from_table(table, "s", ["x", "x"])
    with pytest.raises(InputError, match="column name"):
        Joint.from_table(table, "s", [])


@pytest.mark.parametrize(
    "thing",
    [42, None, [1, 2], {"a": 1}, pd.Series([1]), pl.Series([1]), pa.array([1])],
    ids=lambda t: type(t).__module__ + type(t).__name__,
)
def test_what_is_no_table_is_refused(thing) -> None:
    with pytest.raises(UnreadableTableError, match="table must"):
        Joint.from_table(thing, "s", "x")


def test_nested_columns_are_refused() -> None:
    table = pa.table({"s": ["a", "b"], "x": [[1], [2]], "b": [b"1", b"2"]})
    for column in ("x", "b"):
        with pytest.raises(UnusableColumnError, match="cannot be symbols"):
            Joint.from_table(table, "s", column)


def test_mixed_pandas_columns_are_refused_without_quoting_a_cell() -> None:
    frame = pd.DataFrame({"s": ["a", "b"], "x": [SECRET, 3.5]}, dtype=object)
    with pytest.raises(UnreadableTableError, match="mixes types") as caught:
        Joint.from_table(frame, "s", "x")
    assert SECRET not in str(caught.value)


def files(folder: Path) -> dict[str, Path]:
    """Files that cannot be read, each with the secret inside where it can have one."""
    whole = folder / "whole.parquet"
    pq.write_table(pa.table({"s": ["a", "b"] * 500, "x": [SECRET, "y"] * 500}), whole)
    content = whole.read_bytes()
    cases = {
        "empty.csv": b"",
        "latin1.csv": f"s,x\n{SECRET},caf\u00e9\n".encode("latin-1"),
        "open_quote.csv": f's,x\n{SECRET},b\n"{SECRET},d\nq,r\n'.encode(),
        "ragged.csv": f"s,x\n{SECRET},b\n{SECRET},d,e,f\n".encode(),
        "late.csv": ("s,x\n" + "a,b\n" * 50_000 + f"{SECRET},d,e\n").encode(),
        "cut.csv.gz": gzip.compress(b"s,x\na,b\n" * 1000)[:30],
        "truncated.parquet": content[: len(content) // 2],
        "tail.parquet": content[:8] + content[-200:],
        "text.parquet": b"not parquet at all",
    }
    for name, data in cases.items():
        (folder / name).write_bytes(data)
    return {name: folder / name for name in cases}


@pytest.mark.parametrize(
    "name",
    [
        "empty.csv",
        "latin1.csv",
        "open_quote.csv",
        "ragged.csv",
        "late.csv",
        "cut.csv.gz",
        "truncated.parquet",
        "tail.parquet",
        "text.parquet",
    ],
)
def test_damaged_files_are_refused_without_quoting_a_cell(name: str, tmp_path: Path) -> None:
    path = files(tmp_path)[name]
    with pytest.raises(UnreadableTableError) as caught:
        Joint.from_table(path, "s", "x")
    assert SECRET not in str(caught.value)
    assert name in str(caught.value)
    about = {"latin1": "UTF-8", "open_quote": "line 3", "ragged": "line 3", "late": "line 50002", "empty": "is empty"}
    assert about.get(name.partition(".")[0], "") in str(caught.value)
    assert ("UTF-8" in str(caught.value)) == (name == "latin1.csv")


def test_missing_files_and_directories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableTableError, match="no file"):
        Joint.from_table(tmp_path / "none.csv", "s", "x")
    with pytest.raises(UnreadableTableError, match="no file"):
        Joint.from_table(tmp_path / "*.parquet", "s", "x")
    with pytest.raises(UnreadableTableError, match="is a directory"):
        Joint.from_table(tmp_path, "s", "x")


def test_identifiers_warn_and_huge_joints_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.tables import counting

    table = pa.table({"s": [str(k % 3) for k in range(100)], "x": list(range(100))})
    monkeypatch.setattr(counting, "MANY_VALUES", 50)
    with pytest.warns(DiscreetWarning, match="100 distinct values"):
        Joint.from_table(table, "s", "x")
    monkeypatch.setattr(counting, "MANY_VALUES", 1000)
    monkeypatch.setattr(counting, "MOST_CELLS", 200)
    with warnings.catch_warnings(), pytest.raises(UnusableColumnError, match="more than 200 pairs"):
        Joint.from_table(table, "s", "x")


def test_a_file_without_a_line_of_names_does_not_give_its_first_record_away(tmp_path: Path) -> None:
    (tmp_path / "nohead.csv").write_text(f"p,{SECRET},33\nq,other,44\n")
    with pytest.raises(ColumnNotFoundError, match="3 columns") as caught:
        Joint.from_table(tmp_path / "nohead.csv", "s", "x")
    assert SECRET not in str(caught.value)


def test_files_of_one_glob_must_have_the_same_columns(tmp_path: Path) -> None:
    (tmp_path / "g1.csv").write_text("s,x\na,p\nb,q\n")
    (tmp_path / "g2.csv").write_text("x,s\np,a\nq,b\n")
    with pytest.raises(UnreadableTableError, match="another order"):
        Joint.from_table(tmp_path / "g*.csv", "s", "x")


def test_no_row_is_taken_for_a_comment(tmp_path: Path) -> None:
    rows = ["#1,p", "#1,q", "a,p"] * 100
    (tmp_path / "hash.csv").write_text("s,x\n" + "\n".join(rows) + "\n")
    joint = Joint.from_table(tmp_path / "hash.csv", "s", "x")
    assert (joint.records, joint.sensitive) == (300, ("#1", "a"))


def test_names_that_differ_in_case_only_are_refused(tmp_path: Path) -> None:
    table = pa.table({"Age": ["1", "2"], "age": ["3", "4"], "age_1": ["5", "6"], "x": ["a", "b"]})
    pq.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("Age,age,age_1,x\n1,3,5,a\n2,4,6,b\n")
    for kind in (table, table.to_pandas(), pl.from_arrow(table), tmp_path / "t.parquet", tmp_path / "t.csv"):
        with pytest.raises(UnusableColumnError, match="columns 1 and 2"):
            Joint.from_table(kind, "age_1", "x")


def test_pandas_frames_that_no_table_holds_are_refused() -> None:
    for frame in (
        pd.DataFrame([[1, 2], [3, 4]]),
        pd.DataFrame([["a", "b"]], columns=["s", "s"]),
        pd.DataFrame({"s": ["a", "b"], "x": [2**70, -(2**70)]}, dtype=object),
        pd.DataFrame({"s": ["a", "b"], "x": ["\ud800", "y"]}, dtype=object),
    ):
        with pytest.raises((UnreadableTableError, UnusableColumnError, ColumnNotFoundError)):
            Joint.from_table(frame, "s", "x")


def test_lazy_frames_that_fail_do_not_quote_a_cell(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("s,x\n" + "a,1\n" * 200 + f"b,{SECRET}\n")
    with pytest.raises(UnreadableTableError, match="Polars") as caught:
        Joint.from_table(pl.scan_csv(tmp_path / "bad.csv", infer_schema_length=10), "s", "x")
    assert SECRET not in str(caught.value)
    with pytest.raises(UnreadableTableError):
        Joint.from_table(pl.scan_csv(tmp_path / "missing.csv"), "s", "x")


def test_dates_beyond_python_are_refused() -> None:
    import duckdb

    relation = duckdb.connect().sql("SELECT DATE '12024-01-01' AS x, 'a' AS s UNION ALL SELECT DATE '2024-01-01', 'b'")
    with pytest.raises(UnusableColumnError, match="9999"):
        Joint.from_table(relation, "s", "x")


def test_times_that_python_would_round_are_text() -> None:
    import duckdb

    relation = duckdb.connect().sql(
        "SELECT unnest(['2024-01-01 00:00:00.000000001'::TIMESTAMP_NS, '2024-01-01 00:00:00.000000002']) AS x, "
        "unnest(['a', 'b']) AS s, unnest([340282366920938463463374607431768211455::UHUGEINT, 1]) AS big"
    )
    assert len(Joint.from_table(relation, "s", "x").useful) == 2
    assert Joint.from_table(relation, "s", "big").useful == ("1", "340282366920938463463374607431768211455")


def test_wrong_arguments_are_named() -> None:
    table = pa.table({"s": ["a"], "x": ["b"]})
    with pytest.raises(InputError, match="sensitive must be a column name"):
        Joint.from_table(table, None, "x")
    with pytest.raises(InputError, match="bins must map"):
        Joint.from_table(table, "s", "x", bins=["x=1"])


def test_readers_can_be_used_with_quantiles() -> None:
    table = pa.table({"s": ["a", "b"] * 50, "x": list(range(100))})
    joint = Joint.from_table(table.to_reader(), "s", "x", bins={"x": "quantiles:4"})
    assert joint.n_useful == 4


@pytest.mark.parametrize("name", ["t.xlsx", "t.csv", "t.parquet"])
@pytest.mark.parametrize("start", [b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"])
def test_a_spreadsheet_is_told(name: str, start: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(start + b"\0" * 200)
    with pytest.raises(UnreadableTableError, match=r"spreadsheet .* as CSV in UTF-8"):
        Joint.from_table(tmp_path / name, "s", "x")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_told(encoding: str, tmp_path: Path) -> None:
    text = "s,x\na,b\n"
    (tmp_path / "t.csv").write_bytes(
        ("" if encoding == "utf-16" else "\ufeff").encode(encoding) + text.encode(encoding)
    )
    with pytest.raises(UnreadableTableError, match=r"UTF-16.* iconv -f utf-16"):
        Joint.from_table(tmp_path / "t.csv", "s", "x")


@pytest.mark.parametrize("path", ["s3://bucket/t.parquet", "https://example.org/t.csv", "hdfs://n/t", "gs://b/*.csv"])
def test_a_table_elsewhere_is_told(path: str) -> None:
    with pytest.raises(UnreadableTableError, match=r"not on this machine\. Copy it"):
        Joint.from_table(path, "s", "x")


def test_a_pipe_is_told(tmp_path: Path) -> None:
    """It is not opened, which would wait for whoever writes to it."""
    os.mkfifo(tmp_path / "pipe.csv")
    for path in (tmp_path / "pipe.csv", "/dev/null"):
        with pytest.raises(UnreadableTableError, match="store it in a file first"):
            Joint.from_table(path, "s", "x")
    with pytest.raises(UnreadableTableError, match="store it in a file first"):
        Joint.from_table("-", "s", "x")
    command = [sys.executable, "-m", "discreet", "audit", "/dev/stdin", "--sensitive", "s", "--useful", "x"]
    done = subprocess.run(command, input="s,x\na,b\n", capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "store it in a file first" in done.stderr


@pytest.mark.parametrize("places", [False, True])
def test_a_file_that_lacks_a_column_is_named(places: bool, tmp_path: Path) -> None:
    pq.write_table(pa.table({"s": [1], "x": ["a"]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"s": [1], "y": ["a"]}), tmp_path / "b.parquet")
    with (
        pytest.raises(UnreadableTableError, match=r"b\.parquet' has no column 'x', which .*a\.parquet' has"),
        open_table(tmp_path / "*.parquet", ["s", "x"], places=places) as table,
    ):
        table.aggregate("x, s", "x, s")


def test_a_damaged_file_is_still_called_damaged(tmp_path: Path) -> None:
    pq.write_table(pa.table({"s": [1], "x": ["a"]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and nothing more PAR1")
    with pytest.raises(UnreadableTableError, match="damaged"):
        Joint.from_table(tmp_path / "*.parquet", "s", "x")


def test_a_missing_column_lists_those_of_parquet_and_not_of_csv(tmp_path: Path) -> None:
    table = pa.table({f"c{k}": [k] for k in range(40)})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(ColumnNotFoundError, match=r"which has 40 columns: 'c0', 'c1', .*'c29' and 10 more\.") as found:
        Joint.from_table(tmp_path / "t.parquet", "s", "x")
    assert "c30" not in str(found.value)
    (tmp_path / "t.csv").write_text("secret cell,other cell\n1,2\n")
    with pytest.raises(ColumnNotFoundError) as found:
        Joint.from_table(tmp_path / "t.csv", "s", "x")
    assert "cell" not in str(found.value)


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_a_column_that_nothing_can_call_is_named_by_its_place(name: str) -> None:
    for table in (pa.table({"s": [1, 2], name: ["a", "b"]}), pd.DataFrame({"s": [1, 2], name: ["a", "b"]})):
        with pytest.raises(UnusableColumnError, match=r"column 2 is called .* Rename it"), open_table(table):
            pass
