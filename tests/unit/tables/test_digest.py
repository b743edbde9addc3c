"""Digests of tables against Python's own SHA-256."""

from __future__ import annotations

import hashlib

import duckdb
import pyarrow as pa

from discreet.tables.digest import table_digest


def test_digests_are_sums_of_row_digests() -> None:
    rows = [("a", 1, None), ("é😀\n", -5, 2.5), ("", None, 1e10), ("a", 1, None), (None, 2, 0.1)]
    table = pa.table({name: [row[k] for row in rows] for k, name in enumerate(("t", "n", "x"))})
    texts = {1e10: "10000000000.0"}
    total = 0
    for row in rows:
        cells = ["n:" if v is None else f"{len(str(texts.get(v, v)).encode())}:{texts.get(v, v)}" for v in row]
        total += int(hashlib.sha256(("salt" + "".join(cells)).encode()).hexdigest(), 16)
    relation = duckdb.from_arrow(table)
    assert table_digest(relation, ["t", "n", "x"], "salt") == f"{total % 2**256:064x}"
    shuffled = duckdb.from_arrow(table.take(pa.array([3, 1, 4, 0, 2])))
    assert table_digest(shuffled, ["t", "n", "x"], "salt") == table_digest(relation, ["t", "n", "x"], "salt")
    assert table_digest(relation, ["t", "n", "x"]) != table_digest(relation, ["n", "t", "x"])
