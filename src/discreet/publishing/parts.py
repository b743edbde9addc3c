"""Parts of values that an order hides: the weekday, month, day and hour of times, the last digits of numbers.

What happens on Sundays, or to people with an even number, no split of an order finds. A part is a code or a small
number of its own, where it varies in a column.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from discreet._support.numeric import FloatArray
from discreet.twins.cells import DATES, Cells

__all__ = ["CODES", "MOST_WHOLE", "part_of", "parts_of"]

#: Whole numbers of fewer values are told apart one by one.
MOST_WHOLE = 20

#: Texts of fewer values have codes.
MOST_TEXTS = 250

#: Larger numbers have no last digit in floating point.
LARGEST = 1e15

#: Parts without an order.
CODES = ("weekday", "month", "digit", "cents", "ending")


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
    if cells.way in DATES or pa.types.is_date(kind):
        return ("weekday", "month", "day")
    if pa.types.is_timestamp(kind):
        return ("weekday", "month", "day", "hour")
    if pa.types.is_time(kind):
        return ("hour",)
    if pa.types.is_temporal(kind):
        return ()
    return ("ending",) if cells.numbers is None else ("digit", "cents")


def _wanted(cells: Cells) -> tuple[str, ...]:
    """Those that an order or codes of single values would hide."""
    possible = _possible(cells)
    if "ending" in possible:
        return possible if cells.n_values > MOST_TEXTS else ()
    if cells.numbers is None or "digit" not in possible:
        return possible
    if cells.n_values <= MOST_WHOLE:
        return ()
    return ("digit",) if _are_multiples(cells.numbers, 1) else ("cents",) if _are_multiples(cells.numbers, 100) else ()


def _are_multiples(numbers: FloatArray, parts: int) -> bool:
    """Whether numbers are whole, counted in hundredths or the like."""
    known = numbers[np.isfinite(numbers)] * parts
    return bool(np.abs(known).max(initial=0.0) < LARGEST and (np.abs(known - np.rint(known)) < 1e-5).all())


def _varies(found: FloatArray) -> bool:
    known = found[np.isfinite(found)]
    return len(known) > 0 and bool(known.min() < known.max())


def _calendar(name: str) -> Callable[[Cells], FloatArray]:
    """A part of dates and times, whether stored as such or written."""

    def read(cells: Cells) -> FloatArray:
        import pyarrow as pa
        import pyarrow.compute as pc

        functions = {"weekday": pc.day_of_week, "month": pc.month, "day": pc.day, "hour": pc.hour}
        times = _dates(cells) if cells.way in DATES else cells.values
        found: Any = functions[name](times)
        return np.asarray(found.cast(pa.float64()).fill_null(np.nan), dtype=np.float64)

    return read


def _dates(cells: Cells) -> Any:
    """Written dates, which count 31 days a month and twelve such months a year; the 31st of shorter months is later."""
    import pyarrow as pa

    assert cells.numbers is not None
    known = np.isfinite(cells.numbers)
    days = np.where(known, cells.numbers, 0).astype(np.int64) - 32
    month, day = np.divmod(days, 31)
    found = (month - 1970 * 12).astype("datetime64[M]").astype("datetime64[D]") + day
    return pa.array(found.astype("datetime64[D]"), pa.date32(), mask=~known)


def _last(parts: int, modulus: int) -> Callable[[Cells], FloatArray]:
    def read(cells: Cells) -> FloatArray:
        assert cells.numbers is not None
        result: FloatArray = np.mod(np.rint(np.abs(cells.numbers) * parts), modulus)
        return result

    return read


def _ending(cells: Cells) -> FloatArray:
    """The last letter of texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    last = pc.utf8_slice_codeunits(cells.values.cast(pa.string()), -1, None)
    codes = [ord(letter) % MOST_TEXTS if letter else 0 for letter in last.to_pylist()]
    return np.array(codes, dtype=np.float64)


_READ: dict[str, Callable[[Cells], FloatArray]] = {
    **{name: _calendar(name) for name in ("weekday", "month", "day", "hour")},
    "digit": _last(1, 10),
    "cents": _last(100, 100),
    "ending": _ending,
}
