"""Files of one table whose types differ: read where nothing changes, refused where a cast would change cells."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import Joint
from discreet._support.errors import UnreadableTableError
from discreet.cli.app import run

LOSSY = {
    "int then float": (pa.array([5, 5]), pa.array([0.0, 0.25])),
    "narrow then wide": (pa.array([5, 6], pa.int8()), pa.array([1000, 2000])),
    "float32 then float64": (pa.array([0.5, 1.5], pa.float32()), pa.array([0.1, 0.2])),
    "microseconds then nanoseconds": (pa.array([1, 2], pa.timestamp("us")), pa.array([1, 2], pa.timestamp("ns"))),
    "fewer digits first": (pa.array([Decimal("1.25")] * 2), pa.array([Decimal("0.1234"), Decimal("0.5678")])),
    "nulls then text": (pa.nulls(2), pa.array(["a", "b"])),
}

HARMLESS = {
    "wide then narrow": (pa.array([5, 2**40]), pa.array([1, 2], pa.int8())),
    "unsigned into wider": (pa.array([5, 2**40]), pa.array([1, 2**32 - 1], pa.uint32())),
    "float64 then float32": (pa.array([0.1, 0.2]), pa.array([0.5, 1.5], pa.float32())),
    "text and its dictionary": (pa.array(["a", "b"]), pa.array(["a", "c"]).dictionary_encode()),
    "text then nulls": (pa.array(["a", "b"]), pa.nulls(2)),
}


def two_files(folder: Path, first: pa.Array, second: pa.Array) -> Path:
    for name, cells in (("a", first), ("b", second)):
        pq.write_table(pa.table({"s": [0, 1], "u": cells}), folder / f"{name}.parquet")
    return folder


@pytest.mark.parametrize("what", LOSSY)
def test_files_whose_cells_a_cast_would_change_are_refused(what: str, tmp_path: Path) -> None:
    table = two_files(tmp_path, *LOSSY[what])
    with pytest.raises(UnreadableTableError, match=r"differ in column 'u'.*Write all files with one type"):
        Joint.from_table(table, "s", "u")


@pytest.mark.parametrize("what", HARMLESS)
def test_files_of_types_that_fit_are_read_as_they_are(what: str, tmp_path: Path) -> None:
    first, second = HARMLESS[what]
    joint = Joint.from_table(two_files(tmp_path, first, second), "s", "u")
    assert set(joint.useful) == {*first.to_pylist(), *second.to_pylist()}


def test_an_audit_does_not_hold_where_a_cast_hides_the_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = np.arange(1000) % 2
    pq.write_table(pa.table({"s": secret, "u": np.full(1000, 5)}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"s": secret, "u": secret * 0.25}), tmp_path / "b.parquet")
    assert run(["audit", str(tmp_path), "--sensitive", "s", "--useful", "u", "--epsilon", "0.1"]) == 3
    assert "differ in column 'u'" in capsys.readouterr().err
