"""Parts of values that an order hides: of times from the weekday to the second, of numbers the last digits.

What happens on Sundays, or to people with an even number, no split of an order finds. Of numbers also how exact they
are; of codes, letters at each place; of texts that are read as numbers or dates, how they are written and what stands
behind them; of other texts their length, their pattern and common words; of numbers with more digits than a float has,
what is left of them. A part is a code or a small number of its own, where it varies in a column.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import zlib
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from discreet._support.numeric import FloatArray
from discreet.publishing.shapes import CLOCK, pattern_of, shape_of, tail_of
from discreet.twins.cells import Cells, is_dates, plain_numbers

__all__ = ["CODES", "FREE_TEXT", "MOST_WHOLE", "is_free_text", "part_of", "parts_of"]

#: Whole numbers of fewer values are told apart one by one.
MOST_WHOLE = 20

#: Texts of fewer values have codes.
MOST_TEXTS = 250

#: Words of texts that are looked for at most, and the share of cells that one must be in, and be missing in.
MOST_WORDS, LEAST_SHARE = 20, 0.005

#: Gaps between words of free text on average, and what models see of it.
MANY_GAPS = 3
FREE_TEXT = "models look at its length, its pattern and its commonest words, not at what it means"

#: What stands between words, and before the name of a part that says whether a word is there.
BETWEEN, WORD = r"[^\p{L}\p{N}]+", "word "

#: Decimals, and zeros at the end of whole numbers, that are told apart.
MOST_PLACES = 6

#: Zeros at the end that the last two digits do not tell.
MORE_ZEROS = 3

#: Larger numbers have no last digit in floating point.
LARGEST = 1e15

#: Decimals that are looked at: the last digit of numbers with more of them is noise.
MOST_DECIMALS = 4

#: Numbers that differ by less, relative to their size, are hardly told apart by models; digits that sums of exact
#: numbers are worked out with.
NEAR, EXACT_DIGITS = 2.0**-40, 80

#: Letters of codes that are all equally long, each by itself.
MOST_LETTERS = 8
LETTERS = tuple(f"letter {k + 1}" for k in range(MOST_LETTERS))

#: Last digits of numbers with so many decimals, and those before them.
DIGITS = tuple(f"{name} at {places}" for name in ("digit", "tens") for places in range(MOST_DECIMALS + 1))

#: Parts without an order.
CODES = ("weekday", "month", "minute", "second", "cents", "ending", "form", "tail", "pattern", *DIGITS, *LETTERS)

DAY, TIME = ("weekday", "month", "day"), ("hour", "minute", "second")

#: Parts of texts of many values, beside letters and words.
OF_TEXTS = ("ending", "length", "words", "pattern")


def parts_of(cells: Cells) -> tuple[str, ...]:
    """Names of the parts that tell something of their own in a column."""
    return tuple(name for name in _wanted(cells) if _varies(part_of(cells, name)))


def part_of(cells: Cells, name: str) -> FloatArray:
    """A part of each distinct value of this column or of the same column of another table; nan where it has none.

    >>> from discreet.twins.cells import cells_of
    >>> import pyarrow as pa
    >>> part_of(cells_of("day", pa.array(["2026-11-17", "2026-11-22"])), "weekday").tolist()
    [1.0, 6.0]
    """
    if name.startswith(WORD) and "pattern" in _possible(cells):
        return _has_word(cells, name.removeprefix(WORD))
    return _READ[name](cells) if name in _possible(cells) else np.full(cells.n_values, np.nan)


def is_free_text(cells: Cells) -> bool:
    """Whether a column holds sentences, most of them once."""
    is_text = cells.is_text and cells.way is None
    if not is_text or cells.n_values <= max(MOST_TEXTS, len(cells.codes) / 2):
        return False
    return float(_word_count(cells).mean()) >= MANY_GAPS


def _possible(cells: Cells) -> tuple[str, ...]:
    """Parts that values of a kind have."""
    import pyarrow as pa

    kind = cells.values.type
    if is_dates(cells.way):
        return (*DAY, *TIME, "form", "tail")
    if pa.types.is_timestamp(kind):
        return (*DAY, *TIME, "fraction", "rest")
    if pa.types.is_temporal(kind):
        return (*(DAY if pa.types.is_date(kind) else (*TIME, "fraction") if pa.types.is_time(kind) else ()), "rest")
    if cells.numbers is None:
        return (*OF_TEXTS, *LETTERS)
    return (*DIGITS, "cents", "precision", *(("form",) if cells.is_text else ()), "rest")


def _wanted(cells: Cells) -> tuple[str, ...]:
    """Those that an order or codes of single values would hide."""
    possible = _possible(cells)
    if "pattern" in possible:
        many = cells.n_values > MOST_TEXTS
        return (*OF_TEXTS, *LETTERS[: _common_length(cells)], *_words(cells)) if many else ()
    near = _has_near_numbers(cells)
    if cells.numbers is None or "cents" not in possible:
        return tuple(name for name in possible if near or name != "rest")
    form = (*(("form",) if "form" in possible else ()), *(("rest",) if near else ()))
    return form if cells.n_values <= MOST_WHOLE else (*_digits(cells), *form)


def _digits(cells: Cells) -> tuple[str, ...]:
    """Parts of numbers of many values: last digits, and how exact each is where these do not tell it."""
    assert cells.numbers is not None
    places = _decimals(cells.numbers)
    if places is None:
        return ("precision",)
    digits = (f"digit at {places}", f"tens at {places}", *(("cents",) if places == 2 else ()))
    is_rounded = places == 0 and np.nanmin(part_of(cells, "precision")) <= -MORE_ZEROS
    return (*digits, *(("precision",) if is_rounded else ()))


def _has_near_numbers(cells: Cells) -> bool:
    """Whether some different values are one as floats, or nearly."""
    if cells.numbers is None:
        return False
    known = cells.numbers[np.isfinite(cells.numbers)]
    return bool((np.diff(known) <= NEAR * np.abs(known[1:])).any())


def _common_length(cells: Cells) -> int:
    """Letters of every value, where all have equally many and not too many."""
    import pyarrow.compute as pc

    found = pc.min_max(pc.utf8_length(cells.values)).as_py()
    same = found["min"] == found["max"] and found["min"] <= MOST_LETTERS
    return int(found["min"]) if same else 0


def _decimals(numbers: FloatArray) -> int | None:
    """Decimals that numbers are written with; None where they are too many to have a last digit."""
    known = numbers[np.isfinite(numbers)]
    for places in range(MOST_DECIMALS + 1):
        scaled = known * 10**places
        if np.abs(scaled).max(initial=0.0) >= LARGEST:
            return 0 if places == 0 else None
        if (np.abs(scaled - np.rint(scaled)) < 1e-5).all():
            return places
    return None


def _varies(found: FloatArray) -> bool:
    known = found[np.isfinite(found)]
    return len(known) > 0 and bool(known.min() < known.max())


def _calendar(name: str) -> Callable[[Cells], FloatArray]:
    """A part of dates and times, whether stored as such or written."""

    def read(cells: Cells) -> FloatArray:
        import pyarrow as pa
        import pyarrow.compute as pc

        functions = {"weekday": pc.day_of_week, "month": pc.month, "day": pc.day, "hour": pc.hour}
        functions |= {"minute": pc.minute, "second": pc.second, "fraction": pc.subsecond}
        if is_dates(cells.way) and name in TIME:
            return _written_clock(cells, name)
        times = _dates(cells) if is_dates(cells.way) else cells.values
        found: Any = functions[name](times)
        return np.asarray(found.cast(pa.float64()).fill_null(np.nan), dtype=np.float64)

    return read


def _written_clock(cells: Cells, name: str) -> FloatArray:
    """Hour, minute or second behind a written date."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.struct_field(pc.extract_regex(cells.values, CLOCK), name)
    found = pc.replace_substring(pc.if_else(pc.equal(found, ""), None, found), ",", ".")
    return np.floor(np.asarray(found.cast(pa.float64()).fill_null(np.nan), dtype=np.float64))


def _dates(cells: Cells) -> Any:
    """Written dates, which count 31 days a month and twelve such months a year; the 31st of shorter months is later."""
    import pyarrow as pa

    assert cells.numbers is not None
    known = np.isfinite(cells.numbers)
    days = np.where(known, cells.numbers, 0).astype(np.int64) - 32
    month, day = np.divmod(days, 31)
    found = (month - 1970 * 12).astype("datetime64[M]").astype("datetime64[D]") + day
    return pa.array(found.astype("datetime64[D]"), pa.date32(), mask=~known)


def _digit(place: int, places: int) -> Callable[[Cells], FloatArray]:
    """The last digit of numbers with so many decimals, or one before it; of whole numbers exactly, however long."""

    def read(cells: Cells) -> FloatArray:
        import pyarrow as pa

        if pa.types.is_integer(cells.values.type) and places == 0:
            whole = np.asarray(cells.values)
            last = whole // np.array(10**place, dtype=whole.dtype) % np.array(10, dtype=whole.dtype)
            return np.asarray(last, dtype=np.float64)
        assert cells.numbers is not None
        scaled = np.rint(np.abs(cells.numbers) * 10**places)
        result: FloatArray = np.mod(np.floor(scaled / 10**place), 10)
        return result

    return read


def _precision(cells: Cells) -> FloatArray:
    """Decimals that each number needs; of whole numbers zeros at the end, below 0."""
    assert cells.numbers is not None
    size = np.abs(cells.numbers)
    found = np.where(np.isfinite(size), float(MOST_PLACES + 1), np.nan)
    with np.errstate(invalid="ignore", over="ignore"):
        for places in range(MOST_PLACES, -1, -1):
            scaled = size * 10.0**places
            found[np.abs(scaled - np.rint(scaled)) <= np.maximum(1e-6, scaled * NEAR)] = places
        for zeros in range(1, MOST_PLACES + 1):
            found[(found <= 0) & (size > 0) & (np.mod(size, 10.0**zeros) == 0)] = -zeros
    return found


def _cents(cells: Cells) -> FloatArray:
    assert cells.numbers is not None
    result: FloatArray = np.mod(np.rint(np.abs(cells.numbers) * 100), 100)
    return result


def _rest(cells: Cells) -> FloatArray:
    """What a number exceeds the next float of 32 bits by, however many digits it has."""
    import pyarrow as pa

    values = cells.values
    if cells.way is not None:
        values = plain_numbers(values, cells.way)
    elif pa.types.is_temporal(values.type):
        values = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    with localcontext(prec=EXACT_DIGITS):
        found = [_beyond_float(value) for value in values.to_pylist()]
    return np.array(found, dtype=np.float64)


def _beyond_float(value: Any) -> float:
    exact = Decimal("nan") if value is None else Decimal(value)
    if not exact.is_finite():
        return np.nan
    with np.errstate(over="ignore"):
        near = float(np.float32(float(exact)))
    return float(exact - Decimal(near)) if np.isfinite(near) else 0.0


def _form(cells: Cells) -> FloatArray:
    """How texts that are read as numbers or dates are written."""
    way = str(cells.way)
    return _coded(cells, lambda text: shape_of(text, way))


def _tail(cells: Cells) -> FloatArray:
    """What stands behind dates."""
    return _coded(cells, tail_of)


def _pattern(cells: Cells) -> FloatArray:
    return _coded(cells, pattern_of)


def _coded(cells: Cells, told: Callable[[str], str]) -> FloatArray:
    """What is told of texts; a code that other tables share."""
    codes = [zlib.crc32(told(text).encode()) % MOST_TEXTS for text in cells.values.to_pylist()]
    return np.array(codes, dtype=np.float64)


def _length(cells: Cells) -> FloatArray:
    import pyarrow.compute as pc

    return np.asarray(pc.utf8_length(cells.values), dtype=np.float64)


def _word_count(cells: Cells) -> FloatArray:
    import pyarrow.compute as pc

    return np.asarray(pc.count_substring_regex(cells.values, BETWEEN), dtype=np.float64)


def _words(cells: Cells) -> tuple[str, ...]:
    """Parts of the words that divide the cells of a column best: those nearest to being in half of them."""
    import pyarrow.compute as pc

    listed = pc.split_pattern_regex(pc.utf8_lower(cells.values), BETWEEN)
    words = pc.list_flatten(listed).dictionary_encode()
    place, codes = (np.asarray(found, dtype=np.int64) for found in (pc.list_parent_indices(listed), words.indices))
    once = np.unique(place * max(1, len(words.dictionary)) + codes, return_index=True)[1]
    counts = np.bincount(codes[once], cells.counts[place[once]], len(words.dictionary))
    shares = counts / max(1, int(cells.counts.sum()))
    # A word that is a whole value is told apart as such: by its place, and by its code where it is common.
    whole = np.asarray(pc.is_in(words.dictionary, value_set=pc.utf8_lower(cells.values)), dtype=bool)
    fit = np.flatnonzero((shares >= LEAST_SHARE) & (shares <= 1 - LEAST_SHARE) & ~whole)
    best = fit[np.argsort(np.abs(shares[fit] - 0.5), kind="stable")][:MOST_WORDS]
    return tuple(f"{WORD}{text}" for text in words.dictionary.take(best).to_pylist() if text)


def _has_word(cells: Cells, word: str) -> FloatArray:
    import pyarrow.compute as pc

    apart = r"(?:^|$|[^\p{L}\p{N}])"
    found = pc.match_substring_regex(pc.utf8_lower(cells.values), f"{apart}{word}{apart}")
    return np.asarray(found, dtype=np.float64)


def _letter(place: int) -> Callable[[Cells], FloatArray]:
    def read(cells: Cells) -> FloatArray:
        import pyarrow.compute as pc

        letters = pc.utf8_slice_codeunits(cells.values, place, place + 1).to_pylist()
        return np.array([ord(letter) % MOST_TEXTS if letter else 0 for letter in letters], dtype=np.float64)

    return read


def _ending(cells: Cells) -> FloatArray:
    """The last letter of texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    last = pc.utf8_slice_codeunits(cells.values.cast(pa.string()), -1, None)
    codes = [ord(letter) % MOST_TEXTS if letter else 0 for letter in last.to_pylist()]
    return np.array(codes, dtype=np.float64)


_READ: dict[str, Callable[[Cells], FloatArray]] = {
    **{name: _calendar(name) for name in (*DAY, *TIME, "fraction")},
    **{name: _letter(place) for place, name in enumerate(LETTERS)},
    **{f"digit at {places}": _digit(0, places) for places in range(MOST_DECIMALS + 1)},
    **{f"tens at {places}": _digit(1, places) for places in range(MOST_DECIMALS + 1)},
    "cents": _cents,
    "ending": _ending,
    "form": _form,
    "length": _length,
    "pattern": _pattern,
    "precision": _precision,
    "tail": _tail,
    "words": _word_count,
    "rest": _rest,
}
