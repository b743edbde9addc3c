"""Which columns of a table are secret, which are published and which are left out; ids are found by themselves."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support import validate
from discreet._support.errors import EmptyTableError, InputError, UnusableColumnError
from discreet.tables.dialect import is_float, is_label_type, is_null_type, is_number
from discreet.tables.session import DuckDBTable, Table
from discreet.twins.cells import cells_of

__all__ = ["ALL_NULL", "ID_NAMES", "MOSTLY_UNIQUE", "MOST_LOOKED_AT", "Roles", "may_be_id", "roles_of", "tells_who"]

#: A text column with a larger share of different cells tells who its people are.
MOSTLY_UNIQUE = 0.9

#: Nor need they all be different where the name says id: persons may have this many rows each, as a share.
SOME_ROWS_EACH = 0.05

#: Codes are ids where there are more of them than this share of the rows: persons with two or three rows each.
MANY_CODES = 1 / 3

#: What a code looks like: one word with so many digits. Postcodes and the codes of illnesses or trades have fewer.
CODE, DIGITS_OF_CODE = re.compile(r"[\w./:#-]+"), 5

#: Share of the values that look like codes where a column is one of codes.
NEARLY_ALL = 0.95

#: Texts of which so large a share is different may tell who people are, and are named.
MANY_DIFFERENT = 0.1

#: Whole numbers that are all different are ids where they stand this close together, or where the name says so.
CLOSE_TOGETHER = 20

#: Values of a column that are looked at more closely.
MOST_LOOKED_AT = 20_000

#: Fewer rows than this prove no id.
FEWEST_ROWS = 50

ALL_NULL = (
    "the sensitive column {!r} is null in every row, so there is nothing to protect. Choose another column, or drop it."
)

#: Names that say whose a row is: by a word of their own, or by "Id" at the end of one.
ID_WORDS = (
    "id|ids|uuid|guid|key|nr|no|ssn|iban|e-?mail|phone|number|ref|patient|person|customer|client|user|member|employee|"
    "student|account|passport"
)
ID_NAMES = re.compile(rf"(?i:(^|[_\W])({ID_WORDS})($|[_\W]))|(?<=[a-z])I[dD]$")


@dataclass(frozen=True)
class Roles:
    """Columns of a table by what becomes of them.

    Attributes
    ----------
    sensitive, useful : tuple of str
        Never published; published together under one promise.
    dropped : tuple of str
        Left out because the caller said so.
    ids : tuple of str
        Left out because they tell who a person is; ``repeating`` are those that several rows share.
    person : str or None
        Column that the records of a person share; left out too.
    telling : tuple of str
        Published texts of so many different values that they may tell who people are.
    """

    sensitive: tuple[str, ...]
    useful: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    person: str | None = None
    telling: tuple[str, ...] = ()
    repeating: tuple[str, ...] = ()


def roles_of(
    table: Table,
    sensitive: str | Sequence[str],
    useful: str | Sequence[str] = "all",
    drop: str | Sequence[str] = (),
    person: str | None = None,
    *,
    is_id: Callable[[Table, str], bool] | None = None,
) -> Roles:
    """The roles of all columns of an open table; ``is_id`` says which tell who a person is, by its values left out.

    The text "all" means every column, also where one is called so.
    """
    available = list(table.kinds)
    secret = validate.as_columns(sensitive, "sensitive")
    dropped = validate.as_columns(drop, "drop") if drop else ()
    named = [] if person is None else [person]
    validate.columns_exist([*secret, *dropped, *named], available, table.name)
    _apart(secret, dropped, "sensitive", "drop")
    if person in secret:
        raise InputError(f"the column {person!r} cannot be both sensitive and the person's own.")
    taken = {*secret, *dropped, *named}
    if isinstance(useful, str) and useful == "all":  # a column of that name alone is ["all"]
        rest = [column for column in available if column not in taken]
        ids = tuple(column for column in rest if (is_id or _is_id)(table, column))
        chosen = tuple(column for column in rest if column not in ids)
    else:
        chosen, ids = validate.as_columns(useful, "useful"), ()
        validate.columns_exist(chosen, available, table.name)
        _apart(secret, chosen, "sensitive", "useful")
        _apart(dropped, chosen, "drop", "useful")
        dropped = tuple(column for column in available if column not in {*secret, *chosen, *named})
    if not chosen:
        raise InputError("no column is left to publish. Name useful columns, or drop fewer.")
    _check_types(table, chosen, secret)
    telling = tuple(column for column in chosen if table.kinds[column] == "VARCHAR" and _is_telling(table, column))
    repeating = _repeating(table, ids) if person is None else ()
    return Roles(secret, chosen, dropped, ids, person, telling, repeating)


def _repeating(table: Table, ids: Sequence[str]) -> tuple[str, ...]:
    """Which ids are shared by several rows: of one person, it may be."""
    names = [table.dialect.identifier(column) for column in ids]
    if not names:
        return ()
    asked = [f"count({name}) AS given{k}, count(DISTINCT {name}) AS different{k}" for k, name in enumerate(names)]
    counted = table.aggregate(", ".join(asked))
    found = [int(counted.column(k)[0].as_py()) for k in range(2 * len(names))]
    return tuple(column for k, column in enumerate(ids) if found[2 * k + 1] < found[2 * k])


def _check_types(table: Table, useful: Sequence[str], sensitive: Sequence[str]) -> None:
    """Refuse lists, structures, durations and binary cells; nothing but null can be published, and is no secret."""
    kinds = {column: table.kinds[column] for column in (*useful, *sensitive)}
    for column in sensitive:
        if is_null_type(kinds[column]):
            raise UnusableColumnError(ALL_NULL.format(column))
    unusable = [column for column, kind in kinds.items() if not (is_label_type(kind) or is_null_type(kind))]
    if unusable:
        listed = ", ".join(f"{column!r} holds {kinds[column]}" for column in unusable)
        it = "it" if len(unusable) == 1 else "them"
        raise UnusableColumnError(
            f"the column {listed}, which cannot be compared as single values. Drop {it} (drop, --drop), or make text "
            f"or numbers of {it} first."
        )


def _is_telling(table: Table, column: str) -> bool:
    """Whether a text has very many different values, which are no numbers or dates."""
    if not isinstance(table, DuckDBTable):
        return False
    name = table.dialect.identifier(column)
    counted = table.aggregate(f"count({name}) AS given, count(DISTINCT {name}) AS different")
    given, different = (int(counted.column(k)[0].as_py()) for k in range(2))
    if different <= max(FEWEST_ROWS, MANY_DIFFERENT * given):
        return False
    return cells_of(column, table.aggregate(f"{name} AS v", name).column(0).slice(0, MOST_LOOKED_AT)).numbers is None


def _apart(some: Sequence[str], others: Sequence[str], first: str, second: str) -> None:
    both = [column for column in some if column in others]
    if both:
        raise InputError(f"the column {both[0]!r} cannot be both {first} and {second}.")


def _is_id(table: Table, column: str) -> bool:
    kind, name = table.kinds[column], table.dialect.identifier(column)
    if not may_be_id(kind):
        return False
    counted = table.aggregate(f"count(*) AS n, count({name}) AS given, count(DISTINCT {name}) AS different")
    rows, given, different = (int(counted.column(k)[0].as_py()) for k in range(3))
    if not rows:
        raise EmptyTableError(f"{table.name} has no rows.")
    return tells_who(column, kind, given, different, lambda: table.aggregate(f"{name} AS v", name).column(0))


def may_be_id(kind: str) -> bool:
    """Whether columns of a type are looked at."""
    return not is_float(kind) and (is_number(kind) or kind in ("VARCHAR", "UUID"))


def tells_who(column: str, kind: str, given: int, different: int, values: Callable[[], Any]) -> bool:
    """Whether a column tells who a person is: texts that are nearly all different, codes, or numbers that count people.

    Of ``given`` cells so many are ``different``; ``values`` are some of those.
    """
    if given < FEWEST_ROWS:
        return False
    says_id = kind == "UUID" or ID_NAMES.search(column)
    if says_id and different > max(FEWEST_ROWS, SOME_ROWS_EACH * given):
        return True  # of persons with several rows
    if different <= MOSTLY_UNIQUE * given:
        return kind == "VARCHAR" and different > MANY_CODES * given and _are_codes(column, values())
    numbers = cells_of(column, values().slice(0, MOST_LOOKED_AT)).numbers
    if numbers is None:
        return True
    known = numbers[~np.isnan(numbers)]
    if different < given or not (known == np.floor(known)).all():  # amounts
        return False
    spread = float(known.max() - known.min()) * different / max(1, len(known))
    return bool(ID_NAMES.search(column)) or spread < CLOSE_TOGETHER * given


def _are_codes(column: str, values: Any) -> bool:
    """Whether texts look like the numbers that people have: neither words nor amounts nor dates."""
    some = values.drop_null().slice(0, MOST_LOOKED_AT)
    if cells_of(column, some).numbers is not None:
        return False
    texts = some.to_pylist()
    return sum(map(_is_code, texts)) > NEARLY_ALL * len(texts)


def _is_code(text: str) -> bool:
    return CODE.fullmatch(text) is not None and sum(map(str.isdigit, text)) >= DIGITS_OF_CODE
