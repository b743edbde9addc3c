"""Spark DataFrames as tables that are asked, and errors of Spark in our words."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import functools
import operator
import os
import re
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from discreet._support.errors import DiscreetError, UnreadableTableError
from discreet.tables import stretches
from discreet.tables.dialect import SPARK
from discreet.tables.digest import Content, files_digest, row_groups, rows_digest
from discreet.tables.files import FileIdentity, check_identity, check_names, table_root
from discreet.tables.quiet import at_work
from discreet.tables.session import FILE, ROW

__all__ = ["SparkTable", "answering", "kind_of", "open_spark"]

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

    def __init__(
        self, frame: Any, *, has_stable_rows: bool = False, path: str | None = None, files: Sequence[str] = ()
    ) -> None:
        self.frame, self.name, self.has_stable_rows = frame, "the table", has_stable_rows
        self.path, self.files = path, tuple(os.path.abspath(file) for file in files)
        self.identity = tuple(FileIdentity.of(file) for file in self.files)
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

    def hashes_of(self, texts: Sequence[str | None]) -> None:
        return None  # a job of its own, for texts that Spark compares by their bytes anyway

    def in_order(self, expressions: Sequence[str], by: str | None, rows: int, read: Sequence[str]) -> list[Any]:
        shown = [f"{expression} AS c{k}" for k, expression in enumerate(expressions)]
        if by is None:
            shown += self._touched(read)
            # Parts begin at multiples of a power of two, and so do stretches.
            shown += ["monotonically_increasing_id() AS discreet_place"]
            part = f"pmod(xxhash64(discreet_place DIV {stretches.STRETCH}), {stretches.every(rows)}) = 0"
            found = self.query(f"SELECT * FROM (SELECT {', '.join(shown)} FROM {self.view}) WHERE {part}")
        else:
            chosen = SparkTable(self._within_windows(by)) if stretches.is_long(rows) else self
            shown.append(f"{SPARK.identifier(by)} AS discreet_place")
            found = chosen.query(f"SELECT {', '.join(shown)} FROM {chosen.view}")
        return list(found.toArrow().sort_by("discreet_place").columns)[: len(expressions)]

    def _touched(self, columns: Sequence[str]) -> list[str]:
        """Expressions that need all of the columns, and take little room where Spark can hash them."""
        apart = [column for column in columns if "map<" in self.kinds[column] or "variant" in self.kinds[column]]
        hashed = ", ".join(SPARK.identifier(column) for column in columns if column not in apart)
        return [*([f"xxhash64({hashed})"] if hashed else []), *map(SPARK.identifier, apart)]

    def _within_windows(self, by: str) -> Any:
        """The rows whose ids are within stretches of the order of ids, whose ends are a sample of them."""
        name = SPARK.identifier(by)
        some = f"SELECT {name} AS i FROM {self.view} WHERE pmod(xxhash64({name}), {stretches.ONE_ID_IN}) = 0"
        ends = self.query(some).toArrow().sort_by("i").column(0).to_pylist()
        column = self.frame[name]
        inside = [(column >= low) & (column < high) for low, high in stretches.windows(ends)]
        return self.frame.where(functools.reduce(operator.or_, inside)) if inside else self.frame

    def content(self, *, in_order: bool = False) -> Content:
        """The digest of its files, or of its rows where it is a DataFrame, which Spark sorts; it has no order."""
        if self.path is not None:
            return Content("files", files_digest(self.files, table_root(self.path)))
        found = self.query(row_groups(SPARK, list(self.kinds), self.view)).toArrow().to_pylist()
        return Content("spark rows", rows_digest([(row["g"], row["d"]) for row in found]))

    def check_unchanged(self) -> None:
        """Files are compared; of a DataFrame, Spark fixes the files when it plans, and fails where they are gone."""
        check_identity(self.identity, self.name)


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
