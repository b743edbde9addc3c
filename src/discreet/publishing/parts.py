"""Parts of values that an order hides: of times the weekday, month, day, hour and minute, of numbers the last digits.

What happens on Sundays, or to people with an even number, no split of an order finds. Of codes, letters at each place;
of texts that are read as numbers or dates, how they are written; of numbers with more digits than a float has, what is
left of them. A part is a code or a small number of its own, where it varies in a column.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import zlib
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from discreet._support.numeric import FloatArray
from discreet.publishing.shapes import shape_of
from discreet.twins.cells import DATES, Cells, plain_numbers

__all__ = ["CODES", "MOST_WHOLE", "part_of", "parts_of"]

#: Whole numbers of fewer values are told apart one by one.
MOST_WHOLE = 20

#: Texts of fewer values have codes.
MOST_TEXTS = 250

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
CODES = ("weekday", "month", "minute", "cents", "ending", "form", *DIGITS, *LETTERS)


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
    return _READ[name](cells) if name in _possible(cells) else np.full(cells.n_values, np.nan)


def _possible(cells: Cells) -> tuple[str, ...]:
    """Parts that values of a kind have."""
    import pyarrow as pa

    kind = cells.values.type
    day, clock, form = ("weekday", "month", "day"), ("hour", "minute"), ("form",) if cells.is_text else ()
    if cells.way in DATES or pa.types.is_timestamp(kind):
        return (*day, *clock, *form, *(() if cells.is_text else ("rest",)))
    if pa.types.is_temporal(kind):
        return (*(day if pa.types.is_date(kind) else clock if pa.types.is_time(kind) else ()), "rest")
    return ("ending", *LETTERS) if cells.numbers is None else (*DIGITS, "cents", *form, "rest")


def _wanted(cells: Cells) -> tuple[str, ...]:
    """Those that an order or codes of single values would hide."""
    possible = _possible(cells)
    if "ending" in possible:
        many = cells.n_values > MOST_TEXTS
        return ("ending", *(LETTERS[: _common_length(cells)])) if many else ()
    near = _has_near_numbers(cells)
    if cells.numbers is None or "cents" not in possible:
        return tuple(name for name in possible if near or name != "rest")
    form = (*(("form",) if "form" in possible else ()), *(("rest",) if near else ()))
    if cells.n_values <= MOST_WHOLE:
        return form
    places = _decimals(cells.numbers)
    if places is None:
        return form
    return (f"digit at {places}", f"tens at {places}", *(("cents",) if places == 2 else ()), *form)


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

        functions = {"weekday": pc.day_of_week, "month": pc.month, "day": pc.day, "hour": pc.hour, "minute": pc.minute}
        if cells.way in DATES and name in ("hour", "minute"):
            clock = pc.struct_field(pc.extract_regex(cells.values, CLOCK), name)
            return np.asarray(clock.cast(pa.float64()).fill_null(np.nan), dtype=np.float64)
        times = _dates(cells) if cells.way in DATES else cells.values
        found: Any = functions[name](times)
        return np.asarray(found.cast(pa.float64()).fill_null(np.nan), dtype=np.float64)

    return read


#: The time of day that may stand behind a date.
CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})"


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
    """How texts are written; a code that other tables share."""
    way = str(cells.way)
    shapes = [shape_of(text, way) for text in cells.values.to_pylist()]
    return np.array([zlib.crc32(shape.encode()) % MOST_TEXTS for shape in shapes], dtype=np.float64)


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
    **{name: _calendar(name) for name in ("weekday", "month", "day", "hour", "minute")},
    **{name: _letter(place) for place, name in enumerate(LETTERS)},
    **{f"digit at {places}": _digit(0, places) for places in range(MOST_DECIMALS + 1)},
    **{f"tens at {places}": _digit(1, places) for places in range(MOST_DECIMALS + 1)},
    "cents": _cents,
    "ending": _ending,
    "form": _form,
    "rest": _rest,
}
