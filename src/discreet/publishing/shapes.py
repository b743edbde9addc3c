"""How numbers and dates are written as texts: 39, 39.0, +39 and 039 are one number in four shapes.

Somebody who writes them differently for different people has told something, whatever the numbers are.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

from discreet.twins.cells import DATES

__all__ = ["shape_of"]

#: A number with groups of digits and decimals, by the decimal sign.
NUMBERS = {
    "point": re.compile(r"([+-]?)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?"),
    "comma": re.compile(r"([+-]?)(\d{1,3}(?:\.\d{3})+|\d+)(,\d+)?"),
}

DIGIT, DIGITS = re.compile(r"\d"), re.compile(r"\d+")


def shape_of(text: str, way: str) -> str:
    """A text that is read as a number or a date in this way, with its digits collapsed.

    Zeros that need not be there, groups, decimals, plus and blanks stay; of dates, how many digits there are.

    >>> [shape_of(text, "point") for text in ("39", "39.0", "+39", " 39", "039", "1,200", "-7.25", "-0", "n/a 12")]
    ['9', '9.0', '+9', ' 9', '09', '9,999', '9.9', '-9', 'n/a 9']
    """
    if way in DATES:
        return DIGIT.sub("9", text)
    found = NUMBERS[way].search(text)
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
