"""Labels of symbols: typed values of a table, how they read and how they are stored.

A label is None (a null of the table), a bool, int, float, str, date, datetime or Decimal, or a tuple of
these where several columns form one symbol. Released symbols are always strings.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

from discreet._support.errors import InputError

__all__ = ["block_text", "decode", "encode", "plain", "sort_key", "text", "unique_texts"]

Label = Any

#: Members named in the label of a merged symbol; the codebook lists all of them.
NAMED_MEMBERS = 6


def plain(label: Label) -> Label:
    """numpy scalars as the Python values they stand for, and lists as tuples, so that labels survive JSON."""
    if isinstance(label, list | tuple):
        return tuple(plain(part) for part in label)
    return label.item() if hasattr(label, "item") and hasattr(label, "dtype") else label


def text(label: Label) -> str:
    """A label as people read it.

    >>> text(("Sales", None, 40))
    '(Sales, null, 40)'
    """
    if label is None:
        return "null"
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, tuple):
        return "(" + ", ".join(text(part) for part in label) + ")"
    if isinstance(label, dt.datetime):
        return label.isoformat(sep=" ")
    return str(label)


def block_text(members: Sequence[Label]) -> str:
    """The label of a merged symbol; one member keeps its own name.

    >>> block_text(["Sales", "Tech-support"])
    '{Sales, Tech-support}'
    """
    if len(members) == 1:
        return text(members[0])
    shown = [text(member) for member in members[:NAMED_MEMBERS]]
    if len(members) > NAMED_MEMBERS:
        shown.append(f"+{len(members) - NAMED_MEMBERS} more")
    return "{" + ", ".join(shown) + "}"


def unique_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """The same texts, later repetitions numbered: a string "null" and a null stay apart.

    >>> unique_texts(["null", "a", "null"])
    ('null', 'a', 'null (2)')
    """
    texts = list(texts)
    taken = set(texts)
    seen: set[str] = set()
    result = []
    for original in texts:
        name, copy = original, 1
        while name in seen or (copy > 1 and name in taken):
            copy += 1
            name = f"{original} ({copy})"
        seen.add(name)
        result.append(name)
    return tuple(result)


def sort_key(label: Label) -> tuple[Any, ...]:
    """Order of an alphabet: by value inside a type, nulls last."""
    if isinstance(label, tuple):
        return tuple(sort_key(part) for part in label)
    if label is None:
        return (2, "", 0)
    if isinstance(label, bool | int | float | Decimal):
        return (0, "", label)
    return (1, type(label).__name__, label)


def encode(label: Label) -> Any:
    """A label as JSON that `decode` turns back into the same value of the same type."""
    if label is None or isinstance(label, bool | int | str):
        return label
    if isinstance(label, float):
        return label if math.isfinite(label) else {"float": str(label)}
    if isinstance(label, tuple):
        return [encode(part) for part in label]
    for kind, name in ((Decimal, "decimal"), (dt.datetime, "datetime"), (dt.date, "date"), (dt.time, "time")):
        if isinstance(label, kind):
            return {name: str(label) if isinstance(label, Decimal) else label.isoformat()}
    raise InputError(f"a label of type {type(label).__name__} cannot be stored; cast its column to text.")


_DECODERS: dict[str, Callable[[str], Any]] = {
    "float": float,
    "decimal": Decimal,
    "datetime": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
}


def decode(stored: Any) -> Label:
    """The inverse of `encode`.

    >>> decode(encode((None, 7, "x", dt.date(2024, 2, 29))))
    (None, 7, 'x', datetime.date(2024, 2, 29))
    """
    if isinstance(stored, list):
        return tuple(decode(part) for part in stored)
    if isinstance(stored, dict):
        (kind, value), *rest = stored.items() or [("", "")]
        if rest or kind not in _DECODERS:
            raise InputError("a stored label is of an unknown type.")
        try:
            return _DECODERS[kind](value)
        except (TypeError, ValueError, ArithmeticError):
            raise InputError(f"a stored label is not the {kind} that it says.") from None
    return stored
