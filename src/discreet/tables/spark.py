"""Spark DataFrames as tables that are asked, and errors of Spark in our words."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
import re
import urllib.parse
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from discreet._support.errors import DiscreetError, UnreadableTableError
from discreet.tables import stretches
from discreet.tables.dialect import SPARK
from discreet.tables.digest import Content, FilesDigest, row_groups, rows_digest
from discreet.tables.files import FileIdentity, check_identity, check_names, is_parquet, table_root
from discreet.tables.quiet import at_work
from discreet.tables.session import FILE, OWN, ROW
from discreet.tables.spark_counts import COUNTED, Span, different, inside, sketches, tallied

__all__ = ["SparkTable", "answering", "kind_of", "open_spark", "path_of"]

#: What stands before the path in the name that Spark gives a file, and the slashes of it that it leaves out at times.
SCHEME, SLASHES = "^[a-zA-Z0-9+.-]+:/+", ("", "//")

#: Steps of a plan that leave rows where they are, whichever columns are read.
STILL = ("AdaptiveSparkPlan", "Project", "Filter", "ColumnarToRow", "FileScan", "Scan ExistingRDD", "LocalTableScan")

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


def path_of(uri: str) -> str:
    """The path in the name that Spark gives a file, with the escapes of a URI.

    >>> path_of("file:///data/a%20b.parquet"), path_of("file:/data/a.parquet")
    ('/data/a%20b.parquet', '/data/a.parquet')
    """
    return re.sub(SCHEME, "/", uri)


class SparkTable:
    """A DataFrame of Spark."""

    dialect = SPARK

    def __init__(
        self, frame: Any, *, path: str | None = None, files: Sequence[str] = (), ids: Sequence[str] = ()
    ) -> None:
        self.frame, self.name = frame, "the table"
        self._ids, self._spans, self._ends = tuple(ids), dict[str, Span](), dict[str, list[Any]]()
        self.path, self.files = path, tuple(os.path.abspath(file) for file in files)
        # Spark knows the place of a row in Parquet files alone.
        self.has_stable_rows = bool(self.files) and is_parquet(self.files[0])
        self.identity = tuple(FileIdentity.of(file) for file in self.files)
        self._digest = None if path is None else FilesDigest(self.files, table_root(path))
        self.session = frame.sparkSession
        self.view = f"discreet_{uuid.uuid4().hex}"
        self.kinds = {
            field.name: kind_of(field.dataType.simpleString())
            for field in frame.schema.fields
            if field.name not in (FILE, ROW)
        }

    def aggregate(self, select: str, by: str = "") -> Any:
        sketched = sketches(select) if not by else None
        if sketched is not None:
            shown = [f"{expression} AS d{k}" for k, expression in enumerate(sketched)]
            chosen = self.query(f"SELECT {', '.join(shown) or '1'} FROM {self.view}")
            return tallied(chosen, {f"d{k}": f"approx_count_distinct(d{k})" for k in range(len(shown))})
        if not by:
            return self._grouped(select, by)
        # Pairs are counted first, and what is told of ids without moving them is told by the same job.
        ids = [column for column in self._ids if column in self.kinds and column not in self._spans]
        if not ids or not select.endswith(COUNTED):
            return self._grouped(select, by)
        asked = [f"{what} AS {name}" for k, column in enumerate(ids) for name, what in self._span(column, k).items()]
        found = self._grouped(", ".join([select, *asked]), by)
        width = found.num_columns - len(asked)
        for k, column in enumerate(ids):
            self._spans[column] = Span.over(found, k)
        return found.select(list(range(width)))

    def _grouped(self, select: str, by: str) -> Any:
        return self.query(f"SELECT {select} FROM {self.view}" + (f" GROUP BY {by}" if by else "")).toArrow()

    def _span(self, column: str, number: int) -> dict[str, str]:
        """What an id is asked for, by name: rows, those that have one, and the ends of integers."""
        name = SPARK.identifier(column)
        ends = name if self.kinds[column] != "VARCHAR" else "CAST(NULL AS BIGINT)"
        asked = {"n": "count(1)", "given": f"count({name})", "low": f"min({ends})", "high": f"max({ends})"}
        return {f"{OWN}{what}{number}": expression for what, expression in asked.items()}

    def query(self, statement: str, *, places: bool = False) -> Any:
        """The DataFrame of a statement that calls the table by its ``view``; its rows have places where they can."""
        frame = self._placed() if places and self.has_stable_rows else self.frame
        frame.createOrReplaceTempView(self.view)
        try:
            return self.session.sql(statement)
        finally:
            self.session.catalog.dropTempView(self.view)

    def _placed(self) -> Any:
        """The rows with their places: a join with the names of files, which only they pay for who need it."""
        assert self.path is not None
        root = table_root(self.path)
        named = [(uri, os.path.relpath(urllib.parse.unquote(path_of(uri)), root)) for uri in self.frame.inputFiles()]
        # Spark writes the scheme with one slash here and with three there.
        spelled = {f"file:{slashes}{path_of(uri)}": name for slashes in SLASHES for uri, name in named}
        listed = self.session.createDataFrame(
            list((spelled | dict(named)).items()), f"discreet_uri string, {FILE} string"
        )
        placed = self.frame.selectExpr("*", "_metadata.file_path AS discreet_uri", f"_metadata.row_index AS {ROW}")
        return placed.join(listed.hint("broadcast"), "discreet_uri", "left").drop("discreet_uri")

    def repeated(self, column: str) -> tuple[int, int]:
        name = SPARK.identifier(column)
        if column not in self._spans:
            self._spans[column] = Span.over(tallied(self.frame.select(name), self._span(column, 0)), 0)
        span = self._spans[column]
        chosen = self.query(f"SELECT {name} AS i FROM {self.view} WHERE {name} IS NOT NULL")
        return span.rows - span.given, span.given - different(chosen, span)

    def hashes_of(self, texts: Sequence[str | None]) -> None:
        return None  # a job of its own, for texts that Spark compares by their bytes anyway

    def in_order(self, expressions: Sequence[str], by: str | None, rows: int, read: Sequence[str]) -> list[Any]:
        shown = [f"{expression} AS c{k}" for k, expression in enumerate(expressions)]
        if by is None:
            return self._by_place(shown, rows, read)
        chosen = SparkTable(self._within_windows(by)) if stretches.is_long(rows) else self
        shown.append(f"{SPARK.identifier(by)} AS discreet_place")
        found = chosen.query(f"SELECT {', '.join(shown)} FROM {chosen.view}")
        return list(found.toArrow().sort_by("discreet_place").columns)[: len(expressions)]

    def _by_place(self, shown: list[str], rows: int, read: Sequence[str]) -> list[Any]:
        """Stretches of the rows and, by the same job, some ids for the windows of their order."""
        import pyarrow.compute as pc

        ids = [column for column in self._ids if column in self.kinds] if stretches.is_long(rows) else []
        names = [f"{OWN}id{k}" for k in range(len(ids))]
        asked = [*shown, *(f"{SPARK.identifier(column)} AS {name}" for column, name in zip(ids, names))]
        asked += [] if _keeps_order(self.frame) else self._touched(read)
        inner = f"SELECT {', '.join(asked)}, monotonically_increasing_id() AS discreet_place FROM {self.view}"
        # Parts begin at multiples of a power of two, and so do stretches.
        part = f"pmod(xxhash64(discreet_place DIV {stretches.STRETCH}), {stretches.every(rows)}) = 0 AS discreet_shown"
        some = [f"pmod(xxhash64({name}), {stretches.ONE_ID_IN}) = 0 AS {name}_some" for name in names]
        outer = f"SELECT *, {', '.join([part, *some])} FROM ({inner})"
        either = " OR ".join(["discreet_shown", *(f"{name}_some" for name in names)])
        found = self.query(f"SELECT * FROM ({outer}) WHERE {either}").toArrow()
        for column, name in zip(ids, names):
            sample = found.filter(pc.field(f"{name}_some"))
            self._ends[column] = sample.select([name]).sort_by(name).column(0).to_pylist()
        return list(found.filter(pc.field("discreet_shown")).sort_by("discreet_place").columns)[: len(shown)]

    def _touched(self, columns: Sequence[str]) -> list[str]:
        """Expressions that need all of the columns, and take little room where Spark can hash them."""
        apart = [column for column in columns if "map<" in self.kinds[column] or "variant" in self.kinds[column]]
        hashed = ", ".join(SPARK.identifier(column) for column in columns if column not in apart)
        return [*([f"xxhash64({hashed})"] if hashed else []), *map(SPARK.identifier, apart)]

    def _within_windows(self, by: str) -> Any:
        """The rows whose ids are within stretches of the order of ids, whose ends are a sample of them."""
        name = SPARK.identifier(by)
        if by not in self._ends:
            some = f"SELECT {name} AS i FROM {self.view} WHERE pmod(xxhash64({name}), {stretches.ONE_ID_IN}) = 0"
            self._ends[by] = self.query(some).toArrow().sort_by("i").column(0).to_pylist()
        ends = [end for window in stretches.windows(self._ends[by]) for end in window]
        return self.frame.where(inside(self.frame[name], ends, 0, len(ends))) if ends else self.frame

    def smallest(self, expressions: Sequence[str], by: str, most: int) -> Any:
        shown = ", ".join(f"{expression} AS c{k}" for k, expression in enumerate([*expressions, by]))
        return self.query(f"SELECT {shown} FROM {self.view} ORDER BY c{len(expressions)} LIMIT {most}").toArrow()

    def start_digest(self) -> None:
        """Begin to digest the files; of a DataFrame Spark is asked later."""
        if self._digest is not None:
            self._digest.start()

    def content(self, *, in_order: bool = False) -> Content:
        """The digest of its files, or of its rows where it is a DataFrame, which Spark sorts; it has no order."""
        if self._digest is not None:
            return Content("files", self._digest.result())
        found = self.query(row_groups(SPARK, list(self.kinds), self.view)).toArrow().to_pylist()
        return Content("spark rows", rows_digest([(row["g"], row["d"]) for row in found]))

    def check_unchanged(self) -> None:
        """Files are compared; of a DataFrame, Spark fixes the files when it plans, and fails where they are gone."""
        check_identity(self.identity, self.name)


def _keeps_order(frame: Any) -> bool:
    """Whether rows come in the same order whichever columns are read: out of files or memory, moved by nothing."""
    inner = getattr(frame, "_jdf", None)
    if inner is None:
        return False
    planned = inner.queryExecution().executedPlan().toString().splitlines()
    return all(re.sub(r"^[\s:+*()\d-]*", "", line).startswith(STILL) for line in planned if line.strip())


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
