"""Records of a table by what they say: their useful cells together, and which of several equal records each is.

The order of the rows decides nothing: records with equal useful cells are numbered, and whichever of them has a number
gets its draw, so that the same table in another order is published as the same rows.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._support.numeric import IntArray
from discreet.drawing.known import check_known_answers
from discreet.tables.arrow import column_of, integers, whole
from discreet.tables.dialect import DUCKDB, Dialect
from discreet.tables.digest import row_digest
from discreet.tables.session import FILE, OWN, ROW, DuckDBTable

__all__ = ["Digests", "Records", "digits_of", "hash_expression", "keyed", "numbers_of", "read_records", "texts_of"]

#: Hexadecimal digits of a digest.
DIGITS = 64

Digests = NDArray[np.bytes_]

DIGEST, NUMBER = f"{OWN}digest", f"{OWN}number"


@dataclass(frozen=True, eq=False)
class Records:
    """Rows of a table in their order.

    Attributes
    ----------
    table : Arrow table
        The columns that were asked for.
    digests : ndarray of bytes
        Of each row the digest of its useful cells.
    numbers : ndarray of int
        Which of the rows with this digest it is, from 1 on.
    tuples : ndarray of int
        Of each row the place of its digest among all different ones, sorted.
    n_tuples : int
        How many there are.
    """

    table: Any
    digests: Digests
    numbers: IntArray
    tuples: IntArray
    n_tuples: int

    @classmethod
    def of(cls, table: Any, digests: Digests, numbers: IntArray) -> Records:
        """Out of what an engine read."""
        different, tuples = np.unique(digests, return_inverse=True)
        return cls(table, digests, numbers, tuples.reshape(-1).astype(np.int64), len(different))

    def __len__(self) -> int:
        return len(self.digests)

    @cached_property
    def canonical(self) -> IntArray:
        """A name for each row that does not depend on the order of rows: its place by digest and number."""
        names = np.empty(len(self), dtype=np.int64)
        names[np.lexsort(np.array([self.numbers, self.tuples]))] = np.arange(len(self))
        return names

    @cached_property
    def content(self) -> str:
        """A digest of all records, whatever their order."""
        return hashlib.sha256(np.sort(self.digests).tobytes()).hexdigest()

    def hashes(self, connection: Any, key: str) -> Digests:
        """The keyed digest of each row, which its draw follows from."""
        return keyed(connection, key, texts_of(self.digests), column_of(self.numbers))


def read_records(
    table: DuckDBTable, useful: Sequence[str], others: Sequence[str] = (), by: Sequence[str] = ()
) -> Records:
    """All rows of an open table, in its order, with their useful columns and others; equal ones are numbered ``by``."""
    check_known_answers(table.connection)
    names = list(dict.fromkeys([*useful, *others]))
    shown = ", ".join(DUCKDB.identifier(name) for name in names)
    placed = f"{shown}, {FILE}, {ROW}, {row_digest(DUCKDB, useful)} AS {DIGEST}"
    order = ", ".join([*map(DUCKDB.identifier, by), FILE, ROW])
    numbered = f"row_number() OVER (PARTITION BY {DIGEST} ORDER BY {order}) AS {NUMBER}"
    rows = table.relation.project(placed).project(f"*, {numbered}").order(f"{FILE}, {ROW}")
    found = rows.project(f"{shown}, {DIGEST}, {NUMBER}").to_arrow_table()
    return Records.of(found.select(names), digits_of(found.column(DIGEST)), integers(found.column(NUMBER)))


def hash_expression(dialect: Dialect, key: str, *texts: str) -> str:
    """SQL of the keyed digest of texts; the key is an expression too, so that no query holds it."""
    joined = " || ':' || ".join(texts)
    return dialect.sha256(f"{key} || {joined}")


def keyed(connection: Any, key: str, *columns: Any) -> Digests:
    """Keyed digests of rows of Arrow columns, as texts one after the other."""
    import pyarrow as pa

    name, given = f"{OWN}keyed", f"{OWN}secret"
    connection.execute(f"SET VARIABLE {given} = $key", {"key": key})
    connection.register(name, pa.table({f"c{k}": column for k, column in enumerate(columns)}))
    try:
        texts = [DUCKDB.as_text(f"c{k}") for k in range(len(columns))]
        asked = f"SELECT {hash_expression(DUCKDB, f'getvariable({given!r})', *texts)} AS h FROM {name}"
        return digits_of(connection.sql(asked).to_arrow_table().column(0))
    finally:
        connection.unregister(name)
        connection.execute(f"RESET VARIABLE {given}")


def digits_of(column: Any) -> Digests:
    """An Arrow column of digests as bytes."""
    import pyarrow as pa

    fixed = whole(column).cast(pa.binary()).cast(pa.binary(DIGITS))
    buffer = fixed.buffers()[1]
    start = fixed.offset * DIGITS
    if not len(fixed):
        return np.zeros(0, f"S{DIGITS}")
    return np.frombuffer(buffer, dtype=f"S{DIGITS}", count=len(fixed), offset=start)


def texts_of(digests: Digests) -> Any:
    """Digests as an Arrow column of texts."""
    import pyarrow as pa

    held = np.ascontiguousarray(digests)
    width = held.dtype.itemsize
    fixed = pa.Array.from_buffers(pa.binary(width), len(held), [None, pa.py_buffer(held)])
    return fixed.cast(pa.binary()).cast(pa.string())


def numbers_of(digests: Digests, start: int, digits: int) -> IntArray:
    """Numbers that some hexadecimal digits of digests are.

    >>> numbers_of(np.array([b"00ff"]), 2, 2).tolist()
    [255]
    """
    letters = digests.view(np.uint8).reshape(len(digests), digests.dtype.itemsize)[:, start : start + digits]
    values = np.where(letters >= ord("a"), letters - (ord("a") - 10), letters - ord("0")).astype(np.int64)
    result: IntArray = values @ (1 << 4 * np.arange(digits - 1, -1, -1))
    return result
