"""A table as it is published: its records, their cells, and what the key decides about each before anything is learned.

By a keyed hash of the useful cells, or of the person, a record belongs to a fold; one in twenty belongs to the pilot;
and where several secrets are promised one by one, it counts for one of them. S decides none of that.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support import progress
from discreet._support.errors import EmptyTableError, UnusableColumnError
from discreet._support.numeric import BoolArray, IntArray
from discreet.drawing.keys import ReleaseKey
from discreet.publishing.roles import Roles
from discreet.tables.session import DuckDBTable
from discreet.twins.cells import Cells, cells_of
from discreet.twins.records import Records, keyed, numbers_of, read_records, texts_of

__all__ = ["PILOT_ONE_IN", "Subject", "read_subject"]

#: One record in so many belongs to the pilot.
PILOT_ONE_IN = 20

#: Fewer records than this tell nothing that could be promised.
FEWEST_ROWS = 100

#: Hexadecimal digits of a hash that decide one thing.
DIGITS = 10


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
    """

    roles: Roles
    records: Records
    cells: tuple[Cells, ...]
    folds: IntArray
    pilot: BoolArray
    turns: IntArray
    persons: int | None = None

    @property
    def table(self) -> Any:
        """The columns as an Arrow table."""
        return self.records.table

    def __len__(self) -> int:
        return len(self.records)


def read_subject(table: DuckDBTable, roles: Roles, key: ReleaseKey, *, n_folds: int = 2, n_turns: int = 1) -> Subject:
    """Read an open table."""
    person = [] if roles.person is None else [roles.person]
    with progress.stage("reading the table"):
        records = read_records(table, roles.useful, [*roles.sensitive, *person])
        if not len(records):
            raise EmptyTableError(f"{table.name} has no rows.")
        if len(records) < FEWEST_ROWS:
            raise EmptyTableError(f"{table.name} has {len(records)} rows, and {FEWEST_ROWS} are needed to learn from.")
        cells = tuple(cells_of(name, records.table.column(name)) for name in roles.useful)
        whose, persons = texts_of(records.digests), None
        if roles.person is not None:
            whose = records.table.column(roles.person)
            if whose.null_count:
                raise UnusableColumnError(
                    f"the column {roles.person!r} of persons is null in {whose.null_count} rows. Fill them, or leave "
                    "person out."
                )
            persons = len(whose.unique())
        chosen = keyed(table.connection, key.derive("folds").hex(), whose)
    folds, pilot, turns = (numbers_of(chosen, k * DIGITS, DIGITS) for k in range(3))
    in_pilot = pilot % PILOT_ONE_IN == 0
    own_turn = np.where(in_pilot, -1, turns % n_turns)
    return Subject(roles, records, cells, folds % n_folds, in_pilot, own_turn, persons)
