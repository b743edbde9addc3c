"""Parquet files joined without reading a page read like the rows one after the other."""

from __future__ import annotations

import hashlib
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.releasing.engines.parquet_join import _footer, _Reader, _written, join_parquet
from discreet.tables.rows import shared_out
from tests.releases import awkward_table


def write(table: pa.Table, path: Path, options: str = "") -> None:
    with duckdb.connect() as connection:
        connection.register("t", table)
        connection.execute(f"COPY t TO '{path}' (FORMAT parquet{options})")


@pytest.mark.parametrize("sizes", [[500], [500, 700], [3, 1, 1000, 2], [300] * 20])
@pytest.mark.parametrize("options", ["", ", ROW_GROUP_SIZE 2048, COMPRESSION zstd", ", COMPRESSION uncompressed"])
def test_joined_files_read_like_their_rows(sizes: list[int], options: str, tmp_path: Path) -> None:
    whole = awkward_table(sum(sizes), seed=1)
    parts, start = [], 0
    for number, size in enumerate(sizes):
        parts.append(tmp_path / f"{number}.parquet")
        write(whole.slice(start, size), parts[-1], options)
        start += size
    joined = join_parquet(parts, tmp_path / "all.parquet")
    assert joined.rows == sum(sizes)
    assert joined.digest.result() == hashlib.sha256((tmp_path / "all.parquet").read_bytes()).hexdigest()
    assert [path.name for path in tmp_path.iterdir()] == ["all.parquet"]
    path = str(tmp_path / "all.parquet")
    assert pq.read_table(path).to_pylist() == whole.to_pylist()
    assert duckdb.read_parquet(path).to_arrow_table().to_pylist() == whole.to_pylist()
    assert pl.read_parquet(path).to_arrow().to_pylist() == whole.to_pylist()
    assert duckdb.read_parquet(path).filter("number = 0").to_arrow_table().num_rows == 1


def test_a_footer_survives_reading_and_writing(tmp_path: Path) -> None:
    """Also one of another writer, with statistics, page indexes and metadata of its own."""
    table = awkward_table(5_000).replace_schema_metadata({"key": "value"})
    pq.write_table(
        table, tmp_path / "a.parquet", write_page_index=True, row_group_size=700, store_decimal_as_integer=True
    )
    fields, _ = _footer(tmp_path / "a.parquet")
    again = _Reader(_written(12, fields)).fields()
    assert again == fields


@pytest.mark.parametrize("workers", [1, 2, 3, 16])
def test_shares_cover_every_row_once_and_in_order(workers: int, tmp_path: Path) -> None:
    files = []
    for number, rows in enumerate([5_000, 1, 2_500]):
        files.append(str(tmp_path / f"{number}.parquet"))
        pq.write_table(awkward_table(rows), files[-1], row_group_size=1_000)
    shares = shared_out(files, workers)
    assert 1 <= len(shares) <= workers
    sizes = dict(zip(files, [5_000, 1, 2_500]))
    flat = [part for share in shares for part in share]
    covered = [
        (file, row)
        for part in flat
        for file in part.files
        for row in (range(sizes[file]) if len(part.files) > 1 else range(part.first, part.last))
    ]
    assert covered == [(file, row) for file, rows in sizes.items() for row in range(rows)]
    assert [part.before for part in flat] == [sum(p.rows for p in flat[:k]) for k in range(len(flat))]
