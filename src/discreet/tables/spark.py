"""Spark DataFrames as tables that are asked, and errors of Spark in our words."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from discreet._support.errors import DiscreetError, UnreadableTableError
from discreet._support.numeric import BoolArray
from discreet.tables.dialect import SPARK
from discreet.tables.files import check_names
from discreet.tables.quiet import at_work
from discreet.tables.session import FILE, ROW

__all__ = ["SparkTable", "answering", "kind_of", "open_spark"]

#: Rows at the starts of a DataFrame's parts whose order is looked at.
ROWS_IN_ORDER = 50_000

#: The lower bits of a number that Spark gives to rows; they count the rows of a part.
IN_PART = (1 << 33) - 1

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


class SparkTable:
    """A DataFrame of Spark."""

    dialect = SPARK

    def __init__(self, frame: Any, *, has_stable_rows: bool = False) -> None:
        self.frame, self.name, self.has_stable_rows = frame, "the table", has_stable_rows
        self.session = frame.sparkSession
        self.view = f"discreet_{uuid.uuid4().hex}"
        self.kinds = {
            field.name: kind_of(field.dataType.simpleString())
            for field in frame.schema.fields
            if field.name not in (FILE, ROW)
        }

    def aggregate(self, select: str, by: str = "") -> Any:
        return self.query(f"SELECT {select} FROM {self.view}" + (f" GROUP BY {by}" if by else "")).toArrow()

    def query(self, statement: str) -> Any:
        """The DataFrame of a statement that calls the table by its ``view``."""
        self.frame.createOrReplaceTempView(self.view)
        try:
            return self.session.sql(statement)
        finally:
            self.session.catalog.dropTempView(self.view)

    def repeated(self, column: str) -> tuple[int, int]:
        name = SPARK.identifier(column)
        asked = f"count(*) AS n, count({name}) AS given, count(DISTINCT {name}) AS different"
        found = self.aggregate(asked).to_pylist()[0]
        return found["n"] - found["given"], found["given"] - found["different"]

    def neighbours(self, expressions: Sequence[str], rows: int, read: Sequence[str]) -> tuple[list[Any], BoolArray]:
        shown = [f"{expression} AS c{k}" for k, expression in enumerate(expressions)]
        shown += [f"{SPARK.identifier(column)} AS r{k}" for k, column in enumerate(read)]
        some = max(2, ROWS_IN_ORDER // max(1, self.frame.rdd.getNumPartitions()))
        numbered = f"SELECT {', '.join(shown)}, monotonically_increasing_id() AS discreet_m FROM {self.view}"
        found = self.query(f"SELECT * FROM ({numbered}) WHERE (discreet_m & {IN_PART}) < {some}").toArrow()
        follows: BoolArray = np.diff(np.asarray(found.column("discreet_m"))) == 1
        return [found.column(k) for k in range(len(expressions))], follows

    def distinct(self, columns: Sequence[str]) -> dict[str, int]:
        if not columns:
            return {}
        asked = [f"approx_count_distinct({SPARK.identifier(column)}) AS d{k}" for k, column in enumerate(columns)]
        return dict(zip(columns, self.aggregate(", ".join(asked)).to_pylist()[0].values()))

    def check_unchanged(self) -> None:
        """Nothing to compare: Spark fixes the files of a DataFrame when it plans, and fails where they are gone."""


@contextlib.contextmanager
def open_spark(frame: Any, columns: Sequence[str] | None = None) -> Iterator[SparkTable]:
    """A DataFrame with these columns (all where left out), open for questions."""
    check_names(columns or (), frame.columns, "the table")
    with answering(frame.sparkSession, "the table"):
        chosen = frame
        if columns is not None:
            chosen = frame.select(*[SPARK.identifier(column) for column in dict.fromkeys(columns)])
        yield SparkTable(chosen)


@contextlib.contextmanager
def answering(session: Any, name: str) -> Iterator[None]:
    """Spark's errors in our words, and nothing of them in its log: its own quote the plan and cells of the table."""
    try:
        with at_work(session):
            yield
    except DiscreetError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        found = re.search(r"\[([A-Z][A-Z_.0-9]+)\]", str(error))
        reason = found.group(1) if found else type(error).__name__
        raise UnreadableTableError(f"{name} cannot be computed by Spark ({reason}).") from None
