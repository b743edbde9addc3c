"""Ids: records that share one would share their draw, which they must where they are one person's."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from discreet._support import progress
from discreet._support.errors import InputError, UnusableColumnError
from discreet.releasing.plan import Plan
from discreet.tables.session import Table

__all__ = ["check_ids", "check_places"]


def check_places(table: Table, plan: Plan) -> None:
    """Records have an id, or a place that stays theirs."""
    by_place = plan.record is None or (plan.shuffle and plan.id is None)
    if by_place and not table.has_stable_rows:
        raise InputError(
            "the table has no stable order of rows, so records need an id: name a column of unique integers or text "
            "(id, --id)."
        )


def check_ids(table: Table, plan: Plan) -> None:
    """Every record has an id, and no other record has the same, unless it is that of its person."""
    for column in (plan.id, plan.person):
        if column is None:
            continue
        with progress.stage("checking ids"):
            nulls, repeated = table.repeated(column)
        if nulls:
            raise UnusableColumnError(
                f"the id column {column!r} is null in {nulls} rows; those would share one draw. Fill them, or use "
                "another column."
            )
        if repeated and column == plan.id:
            raise UnusableColumnError(
                f"the id column {column!r} repeats: {repeated} rows have the id of another. If these are several "
                f"records of one person, say so (person={column!r}, --person {column}): then the promise is checked "
                "for all of them together, and equal values of a person get one draw. Otherwise use a column that is "
                "unique: records of different people that share an id would share their draw."
            )
