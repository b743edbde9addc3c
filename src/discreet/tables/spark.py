"""Spark DataFrames as sources, and errors of Spark in our words."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Iterator
from typing import Any

from discreet._support.errors import DiscreetError, UnreadableTableError
from discreet.tables.dialect import SPARK

__all__ = ["SparkSource", "answering", "kind_of"]

_KINDS = {
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp_ntz": "TIMESTAMP",
}


def kind_of(name: str) -> str:
    """A type of Spark in DuckDB's words; what has none keeps a name that no check takes for a type of labels.

    >>> kind_of("bigint"), kind_of("decimal(5,2)"), kind_of("timestamp")
    ('BIGINT', 'DECIMAL(5,2)', 'Spark timestamp')
    """
    if name.startswith("decimal"):
        return name.upper()
    return _KINDS.get(name, f"Spark {name}")


class SparkSource:
    """A DataFrame of Spark."""

    dialect = SPARK

    def __init__(self, frame: Any, name: str) -> None:
        self.frame, self.name = frame, name
        self.kinds = {field.name: kind_of(field.dataType.simpleString()) for field in frame.schema.fields}

    def aggregate(self, select: str, by: str = "") -> Any:
        return self.query(f"SELECT {select} FROM {{table}}" + (f" GROUP BY {by}" if by else "")).toArrow()

    def query(self, statement: str) -> Any:
        """The DataFrame of a statement over ``{table}``."""
        view = f"discreet_{uuid.uuid4().hex}"
        self.frame.createOrReplaceTempView(view)
        try:
            return self.frame.sparkSession.sql(statement.replace("{table}", view))
        finally:
            self.frame.sparkSession.catalog.dropTempView(view)


@contextlib.contextmanager
def answering(name: str) -> Iterator[None]:
    """Spark's errors in our words: its own quote the plan and cells of the table."""
    try:
        yield
    except DiscreetError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        found = re.search(r"\[([A-Z][A-Z_.0-9]+)\]", str(error))
        reason = found.group(1) if found else type(error).__name__
        raise UnreadableTableError(f"{name} cannot be computed by Spark ({reason}).") from None
