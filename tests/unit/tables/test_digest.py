"""Digests of files and rows against Python's own SHA-256, and why none of them is a sum."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from discreet.tables.digest import files_digest, part_digests, relation_digest
from discreet.tables.spark import SparkTable

ROWS = [("a", 1, None), ("é😀\n", -5, 2.5), ("", None, 1e10), ("a", 1, None), (None, 2, 0.1)]
NAMES = ["t", "n", "x"]


def table(rows: list[tuple[Any, ...]]) -> pa.Table:
    return pa.table({name: [row[k] for row in rows] for k, name in enumerate(NAMES)})


def by_hand(rows: list[tuple[Any, ...]]) -> str:
    """SHA-256 over the sorted (row digest, multiplicity), in groups by the first three digits."""
    texts = {1e10: "10000000000.0"}
    found: Counter[str] = Counter()
    for row in rows:
        cells = ["n:" if v is None else f"{len(str(texts.get(v, v)).encode())}:{texts.get(v, v)}" for v in row]
        found[hashlib.sha256("".join(cells).encode()).hexdigest()] += 1
    lines = ""
    for start, group in itertools.groupby(sorted(found.items()), key=lambda item: item[0][:3]):
        joined = ",".join(f"{h} {n}" for h, n in group)
        lines += f"{start} {hashlib.sha256(joined.encode()).hexdigest()}\n"
    return hashlib.sha256(lines.encode()).hexdigest()


def test_rows_are_digested_whatever_their_order() -> None:
    found = relation_digest(duckdb.from_arrow(table(ROWS)), NAMES)
    assert found == by_hand(ROWS)
    assert relation_digest(duckdb.from_arrow(table(ROWS[::-1])), NAMES) == found
    assert relation_digest(duckdb.from_arrow(table(ROWS[1:])), NAMES) != found
    assert relation_digest(duckdb.from_arrow(table([*ROWS[:4], ROWS[0]])), NAMES) != found  # the same set of rows
    assert relation_digest(duckdb.from_arrow(table(ROWS)), NAMES[::-1]) != found


def test_spark_digests_text_and_integers_alike(spark: Any) -> None:
    rows = [row[:2] for row in ROWS]
    frame = spark.createDataFrame(rows, "t string, n int")
    assert SparkTable(frame).content().digest == by_hand(rows)
    assert SparkTable(frame).content().of == "spark rows"


def test_files_are_digested_as_sha256sum_does(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).write_bytes(name.encode())
    one, two = (hashlib.sha256(name.encode()).hexdigest() for name in "ab")
    assert files_digest([str(tmp_path / "a")], str(tmp_path)) == one
    listed = hashlib.sha256(f"{one}  a\n{two}  b\n".encode()).hexdigest()
    assert files_digest([str(tmp_path / "b"), str(tmp_path / "a")], str(tmp_path)) == listed
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".hidden").touch()
    assert part_digests(tmp_path) == {"a": one, "b": two}


def test_a_sum_is_forged_where_a_hash_of_the_sorted_rows_is_not() -> None:
    """Wagner's idea on a toy modulus: with a few choices for each cell, other cells have the same sum at once."""
    modulus, rows = 2**16, 24

    def number(row: int, label: str) -> int:
        return int(hashlib.sha256(f"{row}{label}".encode()).hexdigest(), 16) % modulus

    honest = ["x"] * rows
    target = sum(number(k, label) for k, label in enumerate(honest)) % modulus
    half = rows // 2
    left = {
        sum(number(k, label) for k, label in enumerate(labels)) % modulus: labels
        for labels in itertools.product("xy", repeat=half)
    }
    forged = next(
        [*left[rest], *labels]
        for labels in itertools.product("yx", repeat=half)
        if (rest := (target - sum(number(k + half, label) for k, label in enumerate(labels))) % modulus) in left
        and [*left[rest], *labels] != honest
    )
    assert sum(number(k, label) for k, label in enumerate(forged)) % modulus == target  # the old kind of digest

    def digest(labels: list[str]) -> str:
        return relation_digest(duckdb.from_arrow(pa.table({"row": range(rows), "label": labels})), ["row", "label"])

    assert digest(forged) != digest(honest)
