"""The draw: which entry of a mechanism's row a record gets, as tables that any SQL engine can join.

The cumulated weights of a row are its thresholds. A record draws u, the first 60 bits (in values the first 120) of

    SHA-256(sub-key as 32 hexadecimal digits || row number as 6 hexadecimal digits || text of the record's id)

and gets the first entry whose threshold lies above u. Everything is compared as text of 15 (or 30) hexadecimal digits;
the last threshold, 2**60, has no such text and is written ``g``, which lies above all of them.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import bisect
import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet._support.numeric import DENOMINATOR
from discreet.mechanism import Draw, Mechanism
from discreet.tables.arrow import column_of, texts

__all__ = ["KNOWN_ANSWERS", "Thresholds", "digits_of", "draw_value", "draws_of", "row_digits", "threshold_text"]

DIGITS = 15
ROW_DIGITS = 6

#: Entries that one row of a lookup table holds before the first digits of u are looked up as well.
WIDE = 8

#: Cells that a lookup table may have for the sake of short rows.
MOST_CELLS = 6_000_000

#: (sub-key, row number, id, u): every engine must agree with these before it draws.
KNOWN_ANSWERS = (
    ("000102030405060708090a0b0c0d0e0f", 0, "1", "34b5d493a3e9e76"),
    ("00112233445566778899aabbccddeeff", 255, "café \U0001f600 'x', \"y\"\n", "25ede850aa17159"),
    ("ffffffffffffffffffffffffffffffff", 16_777_215, "9223372036854775807", "0c0b7194315e3fe"),
)


def row_digits(row: int) -> str:
    """The number of a row as the digest takes it.

    >>> row_digits(255)
    '0000ff'
    """
    return f"{row:0{ROW_DIGITS}x}"


def digits_of(denominator: int) -> int:
    """Hexadecimal digits of numbers below a denominator.

    >>> digits_of(2**60), digits_of(2**120)
    (15, 30)
    """
    return (denominator.bit_length() - 1) // 4


def threshold_text(cumulated: int, denominator: int = DENOMINATOR) -> str:
    """A cumulated weight as text that compares like the number.

    >>> threshold_text(2**59), threshold_text(2**60)
    ('800000000000000', 'g')
    """
    return "g" if cumulated >= denominator else f"{cumulated:0{digits_of(denominator)}x}"


def draw_value(subkey: str, row: int, record: str, digits: int = DIGITS) -> str:
    """u of a record, as 15 hexadecimal digits, or more of them."""
    return hashlib.sha256((subkey + row_digits(row) + record).encode()).hexdigest()[:digits]


@dataclass(frozen=True)
class Thresholds:
    """A draw as text: what is looked up, and the thresholds and labels of every row.

    Attributes
    ----------
    draw : Draw
        The draw in integers.
    texts : tuple of str
        Thresholds of all entries, row by row.
    bits : tuple of str, optional
        Thresholds of a one in the true bit and in any other, where the release is a string of bits.
    """

    draw: Draw
    texts: tuple[str, ...]
    bits: tuple[str, str] | None = None

    @classmethod
    def of(cls, draw: Draw) -> Thresholds:
        """The cumulated weights of every row."""
        if draw.bits is not None:
            true, other = draw.bits
            return cls(draw, (), (threshold_text(true), threshold_text(other)))
        texts: list[str] = []
        for first, last in itertools.pairwise(draw.starts.tolist()):
            sums = itertools.accumulate(draw.weights[first:last].tolist())
            texts.extend(threshold_text(total, draw.denominator) for total in sums)
        return cls(draw, tuple(texts))

    @property
    def digits(self) -> int:
        """Hexadecimal digits of u and of thresholds."""
        return digits_of(self.draw.denominator)

    @property
    def column(self) -> str:
        """Name under which the sub-key is derived."""
        return self.draw.column

    @property
    def inputs(self) -> tuple[str, ...]:
        """Columns whose values together choose the row."""
        return self.draw.inputs

    @property
    def symbols(self) -> tuple[tuple[Any, ...], ...]:
        """The values of each row."""
        return self.draw.symbols

    def label(self, subkey: str, row: int, record: str) -> str:
        """What one record is released as: the reference that engines are compared with."""
        if self.bits is not None:
            true, other = self.bits
            return "".join(
                "1" if draw_value(bit_subkey(subkey, k), row, record) < (true if k == row else other) else "0"
                for k in range(len(self.symbols))
            )
        first, last = int(self.draw.starts[row]), int(self.draw.starts[row + 1])
        u = draw_value(subkey, row, record, self.digits)
        return self.draw.labels[bisect.bisect_right(self.texts, u, first, last)]

    def lookup(self) -> Lookup:
        """The thresholds as a table with short rows: as many first digits of u are looked up as that takes.

        Where rows stay long all the same, every entry has a line of its own instead.
        """
        parts = _parts(self, digits := 0)
        while _width(parts) > WIDE and len(self.symbols) * 16 ** (digits + 1) * WIDE <= MOST_CELLS:
            parts = _parts(self, digits := digits + 1)
        if len(parts) * _width(parts) > MOST_CELLS:
            return _line_by_line(self, digits, parts)
        return _side_by_side(self, digits, parts)


@dataclass(frozen=True)
class Lookup:
    """Rows (row number, first digits of u, thresholds..., labels...) of one width.

    The last threshold of a row is never below u, so it is left out: a row of ``width`` labels has one threshold less.
    Shorter rows repeat their last label behind thresholds that end them. Where ``is_searched`` a row holds one entry:
    the thresholds around its u, and its label.
    """

    digits: int
    width: int
    rows: tuple[tuple[Any, ...], ...]
    is_searched: bool = False

    @property
    def names(self) -> list[str]:
        """Names of the columns that hold thresholds and labels."""
        if self.is_searched:
            return ["low", "high", "y0"]
        return [f"h{k}" for k in range(self.width - 1)] + [f"y{k}" for k in range(self.width)]

    @cached_property
    def arrow(self) -> Any:
        """The rows as an Arrow table; made once, since several connections may need it."""
        import pyarrow as pa

        number, digits, *columns = zip(*self.rows)
        table = {"r": column_of(np.array(number, dtype=np.int32)), "d": texts(digits)}
        return pa.table(table | {name: texts(column) for name, column in zip(self.names, columns)})


#: (row number, first digits of u, first entry, end of entries)
_Part = tuple[int, str, int, int]


def _parts(made: Thresholds, digits: int) -> list[_Part]:
    """Each row cut into parts by the first digits of u; a part holds the entries that its values of u can get."""
    draw, texts, parts = made.draw, made.texts, list[_Part]()
    for row in range(len(draw.symbols)):
        first, last = int(draw.starts[row]), int(draw.starts[row + 1])
        for code in range(16**digits):
            digits_of_u = f"{code:0{digits}x}" if digits else ""
            low = bisect.bisect_right(texts, digits_of_u.ljust(made.digits, "0"), first, last)
            high = bisect.bisect_right(texts, digits_of_u.ljust(made.digits, "f"), low, last)
            parts.append((row, digits_of_u, low, high + 1))
    return parts


def _width(parts: Sequence[_Part]) -> int:
    return max(high - low for *_, low, high in parts)


def _line_by_line(made: Thresholds, digits: int, parts: Sequence[_Part]) -> Lookup:
    """A line for every entry of every part; one of a part's lines holds u between its thresholds."""
    draw, starts = made.draw, set(made.draw.starts.tolist())
    below = ["0" * made.digits if k in starts else made.texts[k - 1] for k in range(len(made.texts))]
    rows = [
        (row, digits_of_u, below[k], made.texts[k], draw.labels[k])
        for row, digits_of_u, low, high in parts
        for k in range(low, high)
    ]
    return Lookup(digits, 1, tuple(rows), is_searched=True)


def _side_by_side(made: Thresholds, digits: int, parts: Sequence[_Part]) -> Lookup:
    """A row for every part, all of them as wide as the widest."""
    draw, texts, width, rows = made.draw, made.texts, _width(parts), []
    for row, digits_of_u, low, high in parts:
        missing = width - (high - low)
        thresholds = (*texts[low : high - 1], *["g"] * missing)
        rows.append((row, digits_of_u, *thresholds, *draw.labels[low:high], *[draw.labels[high - 1]] * missing))
    return Lookup(digits, width, tuple(rows))


def bit_subkey(subkey: str, bit: int) -> str:
    """Each bit draws with a sub-key of its own."""
    return hashlib.sha256(f"{subkey}bit{bit}".encode()).hexdigest()[: len(subkey)]


def draws_of(mechanism: Mechanism) -> tuple[Thresholds, ...]:
    """The thresholds of each column that the mechanism releases."""
    return tuple(Thresholds.of(draw) for draw in mechanism.draws())
