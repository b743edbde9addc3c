"""Ids: records that share one would share their draw."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from discreet._support.errors import InputError, UnusableColumnError
from discreet.releasing.plan import Plan
from discreet.tables.session import Table

__all__ = ["check_ids", "check_places"]


def check_places(table: Table, plan: Plan) -> None:
    """Records have an id, or a place that stays theirs."""
    if plan.record is None and not table.has_stable_rows:
        raise InputError(
            "the table has no stable order of rows, so records need an id: name a column of unique integers or text "
            "(id, --id)."
        )


def check_ids(table: Table, plan: Plan) -> None:
    """Every record has an id, and no other record has the same."""
    if plan.record is None:
        return
    column = plan.record
    nulls, repeated = table.repeated(column)
    if nulls:
        raise UnusableColumnError(
            f"the id column {column!r} is null in {nulls} rows; those would share one draw. Fill them, or use another "
            "column."
        )
    if repeated:
        raise UnusableColumnError(
            f"the id column {column!r} repeats: {repeated} rows have the id of another. Records that share an id "
            "would share their draw. Use a column that is unique."
        )
