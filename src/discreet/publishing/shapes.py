"""How numbers and dates are written as texts: 39, 39.0, +39 and 039 are one number in four shapes.

Somebody who writes them differently for different people has told something, whatever the numbers are.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

from discreet.twins.cells import is_dates, is_number, ways_in

__all__ = ["CLOCK", "pattern_of", "shape_of", "tail_of"]

#: A number with groups of digits and decimals, by the decimal sign.
NUMBERS = {
    "point": re.compile(r"([+-]?)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?"),
    "comma": re.compile(r"([+-]?)(\d{1,3}(?:\.\d{3})+|\d+)(,\d+)?"),
}

DIGIT, DIGITS = re.compile(r"\d"), re.compile(r"\d+")

#: The time of day that may stand behind a date.
CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d+)?))?"

#: A date, with the time of day or without.
MOMENT = re.compile(rf"(?:\d{{4}}[./-]\d{{1,2}}[./-]\d{{1,2}}|\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{4}})(?:[T ]+{CLOCK})?")

#: Letters of a word.
WORD = re.compile(r"[^\W\d_]+")


def shape_of(text: str, way: str) -> str:
    """A text that is read as a number or a date in this way, with its digits collapsed; odd ones as they are.

    Zeros that need not be there, groups, decimals, plus and blanks stay; of dates, how many digits there are.

    >>> [shape_of(text, "point") for text in ("39", "39.0", "+39", " 39", "039", "1,200", "-7.25", "-0", "V22")]
    ['9', '9.0', '+9', ' 9', '09', '9,999', '9.9', '-9', 'V22']
    """
    if is_dates(way):
        return DIGIT.sub("9", text) if MOMENT.match(text) else text
    read = next((one for one in ways_in(way) if is_number(text, one)), None)
    found = None if read is None else NUMBERS[read].search(text)
    if found is None:
        return text
    sign, units, decimals = found.group(1), found.group(2), found.group(3) or ""
    leading = len(units) - len(units.lstrip("0") or "0")
    groups = DIGITS.sub("", units)[:1]
    ending = decimals.rstrip("0")
    shown = decimals[:1] + "9" * (len(ending) > 1) + "0" * (len(decimals) - max(1, len(ending))) if decimals else ""
    is_zero = not (units + decimals).strip("0.,")
    whole_part = "0" * leading + (f"9{groups}999" if groups else "9")
    around = (DIGITS.sub("9", part) for part in (text[: found.start()], text[found.end() :]))
    kept = sign if sign == "+" or is_zero else ""
    return (kept + whole_part + shown).join(around)


def tail_of(text: str) -> str:
    """What stands behind a date and its time of day; the whole text where it begins with none.

    >>> [tail_of(text) for text in ("2024-03-05 room 2", "5.3.2024 10:15:00+01:00", "2024-03-05", "unknown")]
    [' room 2', '+01:00', '', 'unknown']
    """
    found = MOMENT.match(text)
    return text if found is None else text[found.end() :]


def pattern_of(text: str) -> str:
    """A text with its words and numbers collapsed: where capitals, digits and all other signs stand.

    >>> [pattern_of(text) for text in ("Main Street 12-B", "main street 9", "ab-c", "")]
    ['A A 9-A', 'a a 9', 'a-a', '']
    """
    words = WORD.sub(lambda word: "A" if word.group()[0].isupper() else "a", text)
    return DIGITS.sub("9", words)
