"""Digests of tables: the sum modulo 2**256 of SHA-256 over rows, whatever their order."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.tables.dialect import DUCKDB, literal

__all__ = ["table_digest"]

#: Digits of a digest that are summed as one integer.
GROUP = 16


def table_digest(relation: Any, columns: Sequence[str], salt: str = "") -> str:
    """Digest of these columns of a DuckDB relation, as 64 hexadecimal digits.

    A row is the text of its cells in order, each as ``length:text`` with the length in bytes, a null as ``n:``; the
    salt goes before it. The sum does not depend on the order of rows, and counts a row as often as it occurs.
    """
    texts = [DUCKDB.as_text(DUCKDB.identifier(column)) for column in columns]
    cells = [f"coalesce(CAST(strlen({text}) AS VARCHAR), 'n'), ':', {text}" for text in texts]
    hashed = relation.project(f"sha256(concat({', '.join([literal(salt), *cells])})) AS h")
    starts = range(1, 65, GROUP)
    sums = ", ".join(f"sum(CAST('0x' || substr(h, {start}, {GROUP}) AS UBIGINT)) AS g{start}" for start in starts)
    found = hashed.aggregate(sums).fetchall()[0]
    total = sum(int(group or 0) << 4 * (65 - GROUP - start) for start, group in zip(starts, found))
    return f"{total % 2**256:064x}"
