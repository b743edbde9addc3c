"""A table as it is published: its records, their cells, and what the key decides about each before anything is learned.

By a keyed hash of the useful cells, or of the person, a record belongs to a fold; one in twenty belongs to the pilot;
and where several secrets are promised one by one, it counts for one of them. S decides none of that.

Where few records are different, all that are like one would belong to the pilot together: a tenth of the table, or all
records of a class, of which then nothing is counted. There a hash of each record by itself decides what it counts for.
Equal records are numbered by S and places then, so that a table in another order has the same counts; which numbers
belong to the pilot is the key's choice, and any of them are as likely to as any others.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._support import progress
from discreet._support.errors import EmptyTableError, UnusableColumnError
from discreet._support.numeric import BoolArray, IntArray
from discreet.drawing.keys import ReleaseKey
from discreet.publishing.roles import Roles
from discreet.tables.arrow import column_of
from discreet.tables.session import DuckDBTable
from discreet.twins.cells import Cells, cells_of
from discreet.twins.records import Digests, Records, keyed, numbers_of, read_records, texts_of

__all__ = [
    "CHOICE_DIGITS",
    "PILOT_ONE_IN",
    "Subject",
    "are_few",
    "check_persons",
    "check_rows",
    "choices",
    "folds_key",
    "joined_choices",
    "read_subject",
    "subject_of",
]

#: One record in so many belongs to the pilot.
PILOT_ONE_IN = 20

#: Fewer records than this tell nothing that could be promised.
FEWEST_ROWS = 100

#: Fewer different rows are too few to be learned from, and so is a fold with fewer records.
FEWEST_TUPLES, FEWEST_OF_FOLD = 8, 20

#: Where two records are equal more often than once in so many pairs, equal ones are chosen one by one: there are then
#: about as many different ones or fewer, a handful for each of some two dozen classes.
EQUAL_ONE_IN = 100

#: Hexadecimal digits of a hash that decide one thing.
CHOICE_DIGITS = 10


@dataclass(frozen=True, eq=False)
class Subject:
    """The records of a table.

    Attributes
    ----------
    roles : Roles
        Of its columns.
    records : Records
        With useful, sensitive and the person's columns.
    cells : tuple of Cells
        Of the useful columns.
    folds : ndarray of int
        Fold of each record.
    pilot : ndarray of bool
        Records that are looked at first, and not counted.
    turns : ndarray of int
        The secret that each record counts for, -1 for none.
    persons : int or None
        Number of persons, where records have such.
    one_by_one : bool
        Whether equal records may differ in what is chosen for them, and are numbered by S.
    """

    roles: Roles
    records: Records
    cells: tuple[Cells, ...]
    folds: IntArray
    pilot: BoolArray
    turns: IntArray
    persons: int | None = None
    one_by_one: bool = False

    @property
    def table(self) -> Any:
        """The columns as an Arrow table."""
        return self.records.table

    @property
    def all_counted(self) -> Subject:
        """The same with every record counted: where no limits are to hold, none need be set aside."""
        return replace(self, turns=np.maximum(self.turns, 0))

    def __len__(self) -> int:
        return len(self.records)


def read_subject(table: DuckDBTable, roles: Roles, key: ReleaseKey, *, n_folds: int = 2, n_turns: int = 1) -> Subject:
    """Read an open table."""
    person = [] if roles.person is None else [roles.person]
    with progress.stage("reading the table"):
        whose = [*person, *roles.sensitive]
        # Equal records of different persons may be in different folds: whichever comes first must not decide.
        records = read_records(table, roles.useful, whose, by=whose if person else ())
        check_rows(len(records), table.name)
        whose, persons = texts_of(records.digests), None
        if roles.person is not None:
            whose = records.table.column(roles.person)
            check_persons(roles.person, whose.null_count)
            persons = len(whose.unique())
        chosen = keyed(table.connection, folds_key(key), whose)
        one_by_one = not person and are_few(int(records.numbers.sum()), len(records))
        if one_by_one:
            records = read_records(table, roles.useful, roles.sensitive, by=roles.sensitive)
            own = keyed(table.connection, folds_key(key), texts_of(records.digests), column_of(records.numbers))
            chosen = joined_choices(chosen, own)
    found = subject_of(records, roles, chosen, n_folds=n_folds, n_turns=n_turns, persons=persons)
    _check_different(found, n_folds)
    return replace(found, one_by_one=one_by_one or bool(person))


def are_few(numbers: int, rows: int) -> bool:
    """Whether few records are different, by the sum of the numbers that equal ones have, from 1 on.

    Of k equal records that is k (k + 1) / 2, so that twice the sum less the rows is how many pairs are equal.

    >>> are_few(1 + 2 + 3 + 4, 4), are_few(1000, 1000)
    (True, False)
    """
    return (2 * numbers - rows) * EQUAL_ONE_IN > rows * rows


def joined_choices(shared: Digests, own: Digests) -> Digests:
    """Digests that choose a record's fold as all equal ones choose theirs, and the rest as it does by itself.

    >>> bytes(joined_choices(np.array([b"a" * 64]), np.array([b"b" * 64]))[0][:12])
    b'aaaaaaaaaabb'
    """
    digits = np.concatenate([_letters(shared)[:, :CHOICE_DIGITS], _letters(own)[:, CHOICE_DIGITS:]], axis=1)
    result: Digests = np.ascontiguousarray(digits).view(own.dtype).reshape(-1)
    return result


def _letters(digests: Digests) -> NDArray[np.uint8]:
    return digests.view(np.uint8).reshape(len(digests), digests.dtype.itemsize)


def _check_different(subject: Subject, n_folds: int) -> None:
    """Refuse a table whose different rows are too few to learn about some from others."""
    smallest = int(np.bincount(subject.folds, minlength=n_folds).min())
    if subject.records.n_tuples < FEWEST_TUPLES or smallest < FEWEST_OF_FOLD:
        raise UnusableColumnError(
            f"the useful columns have only {subject.records.n_tuples} different rows, too few to learn about some of "
            "them from others. What they tell can be counted instead: publish them as one released column "
            "(discreet design --useful ..., then discreet release)."
        )


def subject_of(
    records: Records, roles: Roles, chosen: Digests, *, n_folds: int = 2, n_turns: int = 1, persons: int | None = None
) -> Subject:
    """Records with what their keyed digests choose."""
    for name in roles.useful:
        _check_alike(name, records.table.column(name))
    cells = tuple(cells_of(name, records.table.column(name)) for name in roles.useful)
    folds, pilot, turns = choices(chosen, n_folds, n_turns)
    return Subject(roles, records, cells, folds, pilot, turns, persons)


def _check_alike(name: str, column: Any) -> None:
    """Refuse numbers that look the same to every model and are published as different: they could tell anything."""
    import pyarrow as pa

    if not pa.types.is_floating(column.type):
        return
    numbers = np.asarray(column.cast(pa.float64()).drop_null())
    signs = np.signbit(numbers[numbers == 0])
    what = "both null and NaN" if column.null_count and np.isnan(numbers).any() else ""
    what = "both 0 and -0" if signs.any() and not signs.all() else what
    if what:
        raise UnusableColumnError(
            f"the column {name!r} has {what}, which no model tells apart and the published table would. Make them one"
            f"{' (adding 0.0 does)' if '-0' in what else ''}."
        )


def folds_key(key: ReleaseKey) -> str:
    """The secret under which digests of tuples or persons choose."""
    return key.derive("folds").hex()


def choices(chosen: Digests, n_folds: int, n_turns: int) -> tuple[IntArray, BoolArray, IntArray]:
    """Of each record its fold, whether it is in the pilot, and whose turn it is: -1 in the pilot."""
    folds, pilot, turns = (numbers_of(chosen, k * CHOICE_DIGITS, CHOICE_DIGITS) for k in range(3))
    in_pilot = pilot % PILOT_ONE_IN == 0
    return folds % n_folds, in_pilot, np.where(in_pilot, -1, turns % n_turns)


def check_rows(rows: int, name: str) -> None:
    """Refuse a table that is too small."""
    if not rows:
        raise EmptyTableError(f"{name} has no rows.")
    if rows < FEWEST_ROWS:
        raise EmptyTableError(f"{name} has {rows} rows, and {FEWEST_ROWS} are needed to learn from.")


def check_persons(column: str, nulls: int) -> None:
    """Refuse records of nobody."""
    if nulls:
        raise UnusableColumnError(
            f"the column {column!r} of persons is null in {nulls} rows. Fill them, or leave person out."
        )
