"""Whether DuckDB reproduces the known answers of the draw: nothing is drawn or judged before it does."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from discreet._support.errors import InternalError
from discreet.drawing.lookup import known_answer_rows
from discreet.drawing.thresholds import DIGITS
from discreet.tables.dialect import DUCKDB

__all__ = ["check_known_answers"]


def check_known_answers(connection: Any) -> None:
    """An error where a connection hashes otherwise than it must."""
    text = f"substr({DUCKDB.sha256('$prefix || $record')}, 1, {DIGITS})"
    for prefix, record, u in known_answer_rows():
        if connection.execute(f"SELECT {text}", {"prefix": prefix, "record": record}).fetchall() != [(u,)]:
            raise InternalError("DuckDB does not reproduce the known answers of the draw.")
