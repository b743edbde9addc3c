"""Releases by Spark: a DataFrame to a DataFrame, or files to a folder of files, drawn by the same query."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakSet

from discreet._support import progress
from discreet._support.errors import InputError, InternalError
from discreet.drawing.fitting import fitting, published_values
from discreet.drawing.lookup import known_answer_rows, symbol_rows, value_rows
from discreet.drawing.statement import PLACE, SHUFFLE, Joined, Statement, symbol_columns
from discreet.drawing.thresholds import DIGITS
from discreet.releasing.engines.base import Drawing, Drawn
from discreet.releasing.request import Request
from discreet.tables.dialect import SPARK
from discreet.tables.files import existing_files, is_parquet, read_csv_header, table_root
from discreet.tables.parquet_types import check_types
from discreet.tables.session import FILE, ROW, Limits, Table, is_spark
from discreet.tables.spark import SparkTable, answering
from discreet.tables.spark_files import asked_by_duckdb

__all__ = ["SparkEngine", "check_known_answers", "check_names_for_files", "spark_session"]

#: Joins that move rows, which could then come out grouped by the true value.
MOVING_JOINS = ("SortMergeJoin", "ShuffledHashJoin", "CartesianProduct", "BroadcastNestedLoopJoin")

#: Setting of how many files Spark looks up without a job.
LOOKED_UP_HERE = "spark.sql.sources.parallelPartitionDiscovery.threshold"


#: Sessions that gave the known answers of the draw.
_ASKED: WeakSet[Any] = WeakSet()


class SparkEngine:
    """Draws with one query in Spark; without a target it stays a plan that Spark computes when it is asked."""

    name: ClassVar[str] = "spark"
    writes_folder: ClassVar[bool] = True

    def __init__(self, drawn: SparkTable, asked: Table | None = None) -> None:
        self.drawn, self.table = drawn, drawn if asked is None else asked
        check_known_answers(drawn.session)

    @classmethod
    @contextlib.contextmanager
    def opened(cls, request: Request, spill: Path | None) -> Iterator[SparkEngine]:
        """A DataFrame in its own session, files in one that runs already or in one of our own."""
        ids = tuple(column for column in (request.id, request.person) if column is not None)
        limits = Limits(request.memory_limit, None if spill is None else str(spill))
        if is_spark(request.table):
            drawn = SparkTable(request.table, ids=ids)
            with answering(drawn.session, "the table"), asked_by_duckdb(drawn, limits, _read(request)) as asked:
                yield cls(drawn, asked)
            return
        if not request.is_path:
            raise InputError("Spark releases its own DataFrames, or files: give a path.")
        path = os.path.abspath(request.table)
        files = existing_files(path)
        with _session_for(request.master) as session, answering(session, "the table"):
            table = SparkTable(read_files(session, path, files), path=path, files=files, ids=ids)
            with asked_by_duckdb(table, limits, _read(request)) as asked:
                yield cls(table, asked)

    def draw(self, drawing: Drawing, target: Path | None) -> Drawn:
        plan = drawing.plan
        drawing = replace(drawing, tables=tuple(joined.spelled(self.drawn.kinds) for joined in drawing.tables))
        keys = {
            column: SPARK.symbol(column, self.drawn.kinds[column], plan.mechanism.bins.get(column))
            for column in plan.looked_up
        }
        rows = [symbol_rows(plan.mechanism, each, drawing.keys, drawing.suppressed) for each in drawing.tables]
        with self._views(drawing, keys, rows) as hint:
            # Spark takes longer to look values up that may be null.
            has_null = any(
                None in row[: len(each.draw.inputs)] for each, its in zip(drawing.tables, rows) for row in its
            )
            equal = "IS NOT DISTINCT FROM" if has_null else "="
            order = (SHUFFLE, PLACE) if plan.shuffle else ()
            record, place = (SPARK.record(column, FILE, ROW) for column in (plan.record, plan.id))
            source = self.drawn.view
            statement = Statement(
                SPARK, source, keys, record, drawing.tables, plan.output, order, hint, place, equal=equal
            )
            made = self.drawn.query(statement.text(), places=plan.id is None)
        _check_joins(made)
        if target is None:
            return Drawn(made, None)
        check_names_for_files(made.columns)
        with progress.stage("drawing"):
            _write(made, target)
        return Drawn(None, None)

    @contextlib.contextmanager
    def _views(self, drawing: Drawing, keys: Mapping[str, str], rows: Sequence[list[tuple[Any, ...]]]) -> Iterator[str]:
        """Lookup tables as views, and the hint that keeps Spark from moving rows to join them."""
        made, aliases, plan = list[str](), list[str](), drawing.plan
        try:
            for joined, symbols in zip(drawing.tables, rows):
                self._symbols(joined, keys, symbols).createOrReplaceTempView(joined.symbols)
                made.append(joined.symbols)
                aliases.append(joined.inner("w"))
                if joined.is_apart:
                    assert joined.lookup is not None
                    texts = ", ".join(f"{name} string" for name in joined.lookup.names)
                    apart = self.drawn.session.createDataFrame(list(joined.lookup.rows), f"r int, d string, {texts}")
                    apart.createOrReplaceTempView(joined.thresholds)
                    made.append(joined.thresholds)
                    aliases.append(joined.inner("v"))
                if joined.is_in_values:
                    self._values(joined, plan.mechanism.bins).createOrReplaceTempView(joined.values)
                    made.append(joined.values)
                    aliases.append(joined.inner("z"))
            yield f"/*+ BROADCAST({', '.join(aliases)}) */ "
        finally:
            for view in made:
                self.drawn.session.catalog.dropTempView(view)

    def _symbols(self, joined: Joined, keys: Mapping[str, str], rows: list[tuple[Any, ...]]) -> Any:
        from pyspark.sql.pandas.types import to_arrow_type
        from pyspark.sql.types import IntegerType, StringType, StructField, StructType

        inputs = joined.draw.inputs
        shown = ", ".join(f"{keys[column]} AS i{k}" for k, column in enumerate(inputs))
        asked = self.drawn.query(f"SELECT {shown} FROM {self.drawn.view}").schema.fields
        kinds = [to_arrow_type(field.dataType) for field in asked]
        _, known = fitting([row[: len(inputs)] for row in rows], kinds, inputs)
        fields = [StructField(f"i{k}", field.dataType) for k, field in enumerate(asked)]
        fields += [StructField(name, IntegerType() if name == "r" else StringType()) for name in symbol_columns(joined)]
        return self.drawn.session.createDataFrame([rows[k] for k in known], StructType(fields))

    def _values(self, joined: Joined, bins: Mapping[str, Sequence[float]]) -> Any:
        """What each label is published as, in the types of the table's own columns."""
        from pyspark.sql.pandas.types import to_arrow_type
        from pyspark.sql.types import StringType, StructField, StructType

        draw, text = joined.draw.draw, StringType()
        own = {field.name: field.dataType for field in self.drawn.frame.schema.fields}
        kinds = [text if column in bins else own[column] for column in draw.outputs]
        rows = value_rows(draw)
        published_values([row[1:] for row in rows], [to_arrow_type(kind) for kind in kinds], draw.outputs)
        fields = [StructField("y", text), *(StructField(f"v{k}", kind) for k, kind in enumerate(kinds))]
        return self.drawn.session.createDataFrame(rows, StructType(fields))


def _read(request: Request) -> tuple[str, ...] | None:
    """The columns that a release reads; None where those are all that the table has."""
    if request.keep == "all":
        return None
    named = (request.id, request.person, *request.keep)
    mechanism = request.mechanism
    return (*mechanism.sensitive_columns, *mechanism.useful_columns, *(name for name in named if name is not None))


def check_known_answers(session: Any) -> None:
    """A session hashes as it must; each is asked once."""
    if session in _ASKED:
        return
    frame = session.createDataFrame(known_answer_rows(), "p string, id string, u string")
    right = f"substr({SPARK.sha256('p || id')}, 1, {DIGITS}) = u"
    if len(frame.where(right).collect()) != len(known_answer_rows()):
        raise InternalError("Spark does not reproduce the known answers of the draw.")
    _ASKED.add(session)


def check_names_for_files(columns: Sequence[str]) -> None:
    """Spark hands the names of a file's columns to Hadoop, which puts settings in the place of some of them."""
    for column in columns:
        if "${" in column:
            raise InputError(f"Spark's files cannot have a column named {column!r}: it may become another. Rename it.")


def _check_joins(frame: Any) -> None:
    """Stop where Spark would move rows to join them, whatever its settings say."""
    inner = getattr(frame, "_jdf", None)
    if inner is None:
        return
    planned = inner.queryExecution().executedPlan().toString()
    if any(join in planned for join in MOVING_JOINS):
        raise InputError(
            "Spark plans a join that moves rows, whose order could then tell the true values. Allow broadcast joins in "
            "its settings."
        )


@contextlib.contextmanager
def _session_for(master: str | None) -> Iterator[Any]:
    """A session that runs already, or one of our own that ends with the release."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError("the engine spark needs pyspark: pip install 'discreet[spark]'.") from None
    running = SparkSession.getActiveSession()
    if running is not None and master is None:
        yield running
        return
    with progress.stage("starting Spark"):
        session = spark_session(master or "local[*,4]")
    try:
        yield session
    finally:
        session.stop()


def spark_session(master: str) -> Any:
    """A session that listens on this machine alone, and tries failed tasks again."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("discreet")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
    }
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        with _without_stderr():
            session = builder.getOrCreate()
    except Exception as error:  # Java missing or of a wrong version ends in many ways
        raise InputError(f"Spark cannot start ({type(error).__name__}); it needs Java 17 or newer.") from None
    session.sparkContext.setLogLevel("OFF")  # its errors quote cells; they are raised in our words anyway
    return session


@contextlib.contextmanager
def _without_stderr() -> Iterator[None]:
    """Java begins with remarks on itself, and whatever it writes to stderr later may quote cells."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def read_files(session: Any, path: str, files: Sequence[str]) -> Any:
    """Files as a DataFrame."""
    if not is_parquet(files[0]):
        separator, names = read_csv_header(files[0], f"table {Path(path).name!r}")
        reader = session.read.option("header", True).option("multiLine", True).option("sep", separator)
        schema = ", ".join(f"{SPARK.identifier(name)} string" for name in names)
        return reader.option("quote", '"').option("escape", '"').schema(schema).csv(list(files))
    check_types(files, f"table {Path(path).name!r}")
    with _listed_here(session, len(files)):
        frame = session.read.option("basePath", table_root(path)).parquet(*files)
    check_names_for_files(frame.columns)
    return frame


@contextlib.contextmanager
def _listed_here(session: Any, number: int) -> Iterator[None]:
    """A session that looks files up by itself: with more than a few, Spark would run a task for each of them."""
    before = session.conf.get(LOOKED_UP_HERE, "32")
    if number <= int(before):
        yield
        return
    session.conf.set(LOOKED_UP_HERE, str(number))
    try:
        yield
    finally:
        session.conf.set(LOOKED_UP_HERE, before)


def _write(frame: Any, target: Path) -> None:
    writer = frame.write.mode("error")
    if target.name.lower().endswith(".csv"):
        writer = writer.option("header", True).option("quote", '"').option("escape", '"')
        writer = writer.option("ignoreLeadingWhiteSpace", False).option("ignoreTrailingWhiteSpace", False)
        writer.option("emptyValue", '""').option("nullValue", "").csv(str(target))
    else:
        writer.parquet(str(target))
