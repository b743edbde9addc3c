"""Cells of any column as numbers: places among its values in their order, and the values themselves where they count.

Numbers, dates and texts that are written like them have an order that means something. So have texts of very many
values, such as postcodes: neighbours in the alphabet share their first letters. All other texts are categories. Nothing
here looks at sensitive columns.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.tables.arrow import whole

__all__ = ["FOUND", "Cells", "cells_of", "is_dates", "is_number", "partly_read", "plain_numbers", "way_of", "ways_in"]

#: Texts with more values than this are told apart by their order, not only by being equal.
MOST_CATEGORIES = 64

#: Share of the values of a text column that are written as numbers, or as dates, from which all are read so.
MOSTLY = 0.9

#: What stands around numbers: spaces, signs of currencies, percent.
ORNAMENTS = "[\\s\u00a0\u202f'_$€£¥%]|EUR|USD|GBP|CHF"

#: Groups of digits and a decimal sign, either way round.
WITH_POINT, WITH_COMMA = r"^[+-]?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$", r"^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$"

#: Ways of writing numbers: their shape, the sign between groups of digits, and the decimal one.
NUMBERS = {"point": (WITH_POINT, ",", "."), "comma": (WITH_COMMA, ".", ",")}

#: Whole numbers in groups, which are whole numbers wherever both ways are in use.
GROUPED = ((r"^[+-]?\d{1,3}(,\d{3})+$", ",", "."), (r"^[+-]?\d{1,3}(\.\d{3})+$", ".", ","))

#: What stands between two ways that are both in use in one column.
OR = " or "

DAY_FIRST = r"^(?P<day>\d{1,2})[./-](?P<month>\d{1,2})[./-](?P<year>\d{4})(?:\D|$)"
YEAR_FIRST = r"^(?P<year>\d{4})[./-](?P<month>\d{1,2})[./-](?P<day>\d{1,2})(?:\D|$)"

PLACES = (("year", "month", "day"), ("year", "day", "month"))

#: Ways of writing dates: their shape, and which of its parts are year, month and day.
YEAR_WAYS, DAY_WAYS = ("year month day", "year day month"), ("day month year", "month day year")
DATES = {way: (YEAR_FIRST, *parts) for way, parts in zip(YEAR_WAYS, PLACES)}
DATES |= {way: (DAY_FIRST, *parts) for way, parts in zip(DAY_WAYS, PLACES)}

#: What texts in each way of writing numbers are called.
WORDS = {"point": "numbers such as 1,234.5", "comma": "numbers such as 1.234,5"}

#: More months than this are days.
MONTHS = 12

#: Texts are read in the way that most of them are written.
FOUND = "as most are written"


@dataclass(frozen=True, eq=False)
class Cells:
    """One column of a table.

    Attributes
    ----------
    name : str
        Of the column.
    codes : ndarray of int
        Of each cell, its place among the distinct values in their order; -1 for null.
    numbers : ndarray of float or None
        What each distinct value counts, where values have an order that means something; nan for the odd ones. None
        for a column of nulls alone.
    values : Arrow array
        The distinct values, in their order.
    is_text : bool
        Whether the column holds text.
    way : str or None
        How its texts are read as numbers or dates, None where they are not.
    """

    name: str
    codes: IntArray
    numbers: FloatArray | None
    values: Any
    is_text: bool
    way: str | None = None

    @property
    def kind(self) -> str:
        """What its cells are read as, in words: equal for two tables whose values can be compared."""
        import pyarrow as pa

        if self.is_text and self.way is None:
            return "text"
        if self.way is not None:
            read = sorted(WORDS.get(way, f"dates: {way}") for way in ways_in(self.way))
            return f"text read as {OR.join(read)}"
        return str(self.values.type) if pa.types.is_temporal(self.values.type) else "numbers"

    @property
    def n_values(self) -> int:
        """Distinct values."""
        return len(self.values)

    @property
    def is_ordered(self) -> bool:
        """Whether two different values may be near to each other."""
        return self.numbers is not None or self.n_values > MOST_CATEGORIES

    @cached_property
    def counts(self) -> IntArray:
        """How often each value occurs."""
        return np.bincount(self.codes[self.codes >= 0], minlength=self.n_values)

    @cached_property
    def ranks(self) -> FloatArray:
        """Of each distinct value the share of cells below it, and half of its own: from 0 to 1."""
        before = np.cumsum(self.counts) - self.counts
        result: FloatArray = (before + self.counts / 2) / max(1, int(self.counts.sum()))
        return result

    def taken(self, rows: slice | IntArray) -> Cells:
        """The column with the cells of these rows."""
        return replace(self, codes=self.codes[rows])

    def of_values(self, values: FloatArray, missing: float = np.nan) -> FloatArray:
        """Of each cell what its value is given."""
        result: FloatArray = np.append(values, missing)[self.codes]
        return result


def cells_of(name: str, column: Any, way: str | None = FOUND) -> Cells:
    """A column of an Arrow table; of a part of one, its texts are to be read in the way that the whole is.

    >>> import pyarrow as pa
    >>> cells_of("price", pa.chunked_array([["1,200", None, "€ 80", "95.50"]])).codes.tolist()
    [2, -1, 0, 1]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    plain = whole(column)
    if pa.types.is_dictionary(plain.type):
        plain = plain.dictionary_decode()
    is_text = not _counts(plain.type)
    if pa.types.is_floating(plain.type):  # nan is what the column lacks, as null is
        plain = pc.if_else(pc.is_nan(plain), None, plain)
    coded = (plain.cast(pa.string()) if is_text else plain).dictionary_encode()
    values = coded.dictionary
    if is_text:
        way = way_of(values) if way == FOUND else way
        numbers = None if way is None else _read(values, way)
    else:
        way, numbers = None, _amounts(values) if len(values) else None  # nulls alone have no order
    keys = np.asarray(pc.rank(values, tiebreaker="dense")) if len(values) else np.zeros(0)
    order = np.argsort(keys, kind="stable") if numbers is None else np.lexsort((keys, np.nan_to_num(numbers)))
    if numbers is not None:
        order = order[np.argsort(np.isnan(numbers[order]), kind="stable")]
    place = np.empty(len(values) + 1, dtype=np.int64)
    place[order], place[-1] = np.arange(len(values)), -1
    codes = place[np.asarray(coded.indices.fill_null(-1))]
    sorted_numbers = None if numbers is None else numbers[order]
    return Cells(name, codes, sorted_numbers, values.take(pa.array(order)), is_text, way)


def _counts(kind: Any) -> bool:
    """Whether cells of a type are numbers or times."""
    import pyarrow as pa

    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_temporal)
    return any(test(kind) for test in tests)


def _amounts(values: Any) -> FloatArray:
    """Numbers as they are, times as what they are stored as."""
    import pyarrow as pa

    if pa.types.is_temporal(values.type):
        is_short = values.type.bit_width == 32
        values = values.cast(pa.int32() if is_short else pa.int64())
    result: FloatArray = np.asarray(values.cast(pa.float64(), safe=False), dtype=np.float64)
    return result


def way_of(texts: Any) -> str | None:
    """How most texts are written as numbers or dates, in one way or in two; None where they are neither.

    >>> import pyarrow as pa
    >>> way_of(pa.array(["1.200,50", "3"])), way_of(pa.array(["2.12.1999", "31.1.2001"])), way_of(pa.array(["a"]))
    ('comma', 'day month year', None)
    >>> way_of(pa.array(["$1,200.50", "1.200,50 €", "2,50"])), way_of(pa.array(["2.12.1999", "2001-01-31"]))
    ('comma or point', 'year month day or day month year')
    """
    if len(texts) == 0:
        return None
    numbers = _written_as_numbers(texts)
    for way, there in numbers.items():
        if there.mean() >= MOSTLY:
            return way
    if np.any(list(numbers.values()), axis=0).mean() >= MOSTLY:
        alone = {way: (there & ~other).sum() for (way, there), other in zip(numbers.items(), [*numbers.values()][::-1])}
        return OR.join(sorted(alone, key=lambda way: -alone[way]))
    dates = _written_as_dates(texts)
    if sum(there.sum() for there in dates.values()) < MOSTLY * len(texts):
        return None
    often = [way for way, there in dates.items() if there.mean() >= MOSTLY]
    return often[0] if often else OR.join(dates)


def _written_as_numbers(texts: Any) -> dict[str, BoolArray]:
    """Which texts are numbers, in each way of writing them."""
    import pyarrow.compute as pc

    bare = pc.replace_substring_regex(texts, ORNAMENTS, "")
    return {way: _flags(pc.match_substring_regex(bare, shape)) for way, (shape, _, _) in NUMBERS.items()}


def _written_as_dates(texts: Any) -> dict[str, BoolArray]:
    """Which texts are dates, year first and day first; a month beyond the twelfth is a day in its place."""
    import pyarrow.compute as pc

    found = {}
    for shape, usual, unusual in ((YEAR_FIRST, *YEAR_WAYS), (DAY_FIRST, *DAY_WAYS)):
        parts = pc.extract_regex(texts, shape)
        there = _flags(parts.is_valid())
        largest = np.nanmax(_parts(parts, ["month"])[0]) if there.any() else 0
        found[unusual if largest > MONTHS else usual] = there
    return found


def partly_read(cells: Cells) -> float:
    """Share of the cells of a text that look like numbers or dates where, as others do not, all are taken as texts."""
    if not cells.is_text or cells.way is not None or not len(cells.values):
        return 0.0
    read = [*_written_as_numbers(cells.values).values(), *_written_as_dates(cells.values).values()]
    return float(cells.counts[np.any(read, axis=0)].sum()) / len(cells.codes)


def _flags(found: Any) -> BoolArray:
    return np.asarray(found.fill_null(False), dtype=bool)


def ways_in(way: str) -> tuple[str, ...]:
    """The single ways of a column that is written in one or two."""
    return tuple(way.split(OR))


def is_dates(way: str | None) -> bool:
    """Whether texts are read as dates."""
    return way is not None and ways_in(way)[0] in DATES


def is_number(text: str, way: str) -> bool:
    """Whether a text is a number in a single way of writing them."""
    return re.match(NUMBERS[way][0], re.sub(ORNAMENTS, "", text)) is not None


def _read(texts: Any, way: str) -> FloatArray:
    """Numbers or dates that texts are written as, nan for the odd ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_dates(way):
        return np.asarray(plain_numbers(texts, way).cast(pa.float64()).fill_null(np.nan))
    found = np.full(len(texts), np.nan)
    for shape, *parts in (DATES[one] for one in ways_in(way)):
        year, month, day = _parts(pc.extract_regex(texts, shape), parts)
        found = np.where(np.isnan(found), year * 372 + month * 31 + day, found)
    return found


def plain_numbers(texts: Any, way: str) -> Any:
    """Numbers with nothing but digits, a sign and a decimal point, as texts; null for the odd ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ways = ways_in(way)
    bare = pc.replace_substring_regex(texts, ORNAMENTS, "")
    found = pa.nulls(len(texts), bare.type)
    for shape, groups, decimal in [*(GROUPED if len(ways) > 1 else ()), *(NUMBERS[one] for one in ways)]:
        joined = pc.replace_substring(pc.replace_substring(bare, groups, ""), decimal, ".")
        found = pc.coalesce(found, pc.if_else(pc.match_substring_regex(bare, shape), joined, None))
    return found


def _parts(found: Any, names: Sequence[str]) -> list[FloatArray]:
    import pyarrow as pa
    import pyarrow.compute as pc

    return [np.asarray(pc.struct_field(found, name).cast(pa.float64()).fill_null(np.nan)) for name in names]
