"""Releases by Spark: a DataFrame to a DataFrame, or files to a folder of files, drawn by the same query."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
import re
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet._support.errors import InputError, InternalError, UnusableColumnError
from discreet._support.numeric import BoolArray, IntArray
from discreet.drawing.keys import ReleaseKey
from discreet.drawing.lookup import known_answer_rows, symbol_rows
from discreet.drawing.statement import SHUFFLE, Joined, Statement, symbol_columns
from discreet.drawing.thresholds import DIGITS
from discreet.mechanism import Mechanism
from discreet.releasing.checks.kept import audit_kept
from discreet.releasing.checks.order import ranks
from discreet.releasing.checks.promise import check_all
from discreet.releasing.pipeline import Options, Released
from discreet.releasing.plan import Plan
from discreet.releasing.transaction import appearing, check_output
from discreet.tables.dialect import SPARK
from discreet.tables.files import existing_files, is_parquet, is_spark, read_csv_header, table_root
from discreet.tables.session import FILE, ROW
from discreet.tables.spark import SparkSource, answering

__all__ = ["SparkEngine", "release_with_spark", "spark_session"]

#: Rows at the starts of a DataFrame's parts whose order is looked at.
ROWS_IN_ORDER = 50_000

#: Joins that move rows, which could then come out grouped by the true value.
MOVING_JOINS = ("SortMergeJoin", "ShuffledHashJoin", "CartesianProduct", "BroadcastNestedLoopJoin")

#: What stands before the path in the name that Spark gives a file.
SCHEME = "^[a-zA-Z0-9+.-]+:/+"

Suppressed = Mapping[tuple[Any, ...], tuple[Any, ...]]


class SparkEngine:
    """What a release asks of a table that Spark holds."""

    name = "spark"

    def __init__(self, frame: Any, has_stable_rows: bool) -> None:
        self.frame = frame
        self.session = frame.sparkSession
        self.source = SparkSource(frame, "the table")
        self.kinds = {name: kind for name, kind in self.source.kinds.items() if name not in (FILE, ROW)}
        self.has_stable_rows = has_stable_rows
        self._check_known_answers()

    def _check_known_answers(self) -> None:
        frame = self.session.createDataFrame(known_answer_rows(), "p string, id string, u string")
        right = f"substr({SPARK.sha256('p || id')}, 1, {DIGITS}) = u"
        if frame.where(right).count() != len(known_answer_rows()):
            raise InternalError("Spark does not reproduce the known answers of the draw.")

    def rows(self) -> int:
        """Number of rows."""
        return int(self.frame.count())

    def repeated(self, column: str) -> tuple[int, int]:
        """Rows without an id, and rows whose id another row has too."""
        name = SPARK.identifier(column)
        asked = f"count(*) AS n, count({name}) AS given, count(DISTINCT {name}) AS different"
        found = self.source.aggregate(asked).to_pylist()[0]
        return found["n"] - found["given"], found["given"] - found["different"]

    def neighbours(
        self, columns: Sequence[str], edges: Mapping[str, Any], rows: int, read: Sequence[str]
    ) -> tuple[list[IntArray], BoolArray]:
        """Codes of columns in the order of the first rows of every part; the order can depend on what is read."""
        shown = [
            f"{SPARK.symbol(column, self.kinds[column], edges.get(column))} AS c{k}" for k, column in enumerate(columns)
        ]
        shown += [f"{SPARK.identifier(column)} AS r{k}" for k, column in enumerate(read)]
        some = max(2, ROWS_IN_ORDER // max(1, self.frame.rdd.getNumPartitions()))
        # The lower 33 bits of the number count the rows of a part.
        numbered = f"SELECT {', '.join(shown)}, monotonically_increasing_id() AS discreet_m FROM {{table}}"
        found = self.source.query(f"SELECT * FROM ({numbered}) WHERE (discreet_m & 8589934591) < {some}").toArrow()
        follows = np.diff(np.asarray(found.column("discreet_m"))) == 1
        return [ranks(found.column(k)) for k in range(len(columns))], follows

    def distinct(self, columns: Sequence[str]) -> dict[str, int]:
        """About how many values each column has."""
        if not columns:
            return {}
        asked = [f"approx_count_distinct({SPARK.identifier(column)}) AS d{k}" for k, column in enumerate(columns)]
        return dict(zip(columns, self.source.aggregate(", ".join(asked)).to_pylist()[0].values()))

    def drawn(self, plan: Plan, key: ReleaseKey, suppressed: Suppressed) -> Any:
        """The release as a DataFrame, still to be computed."""
        keys = {
            column: SPARK.symbol(column, self.kinds[column], plan.mechanism.bins.get(column))
            for column in plan.looked_up
        }
        with self._views(plan, key, suppressed, keys) as hint:
            record = (
                SPARK.as_text(SPARK.identifier(plan.record))
                if plan.record is not None
                else f"{FILE} || ':' || {SPARK.as_text(ROW)}"
            )
            order = (SHUFFLE, "discreet_id") if plan.shuffle else ()
            statement = Statement(SPARK, "{table}", keys, record, plan.draws, plan.output, order, hint)
            made = self.source.query(statement.text())
        _check_joins(made)
        return made

    @contextlib.contextmanager
    def _views(self, plan: Plan, key: ReleaseKey, suppressed: Suppressed, keys: Mapping[str, str]) -> Iterator[str]:
        """Lookup tables as views, and the hint that keeps Spark from moving rows to join them."""
        made, aliases = [], []
        try:
            for joined in plan.draws:
                self._symbols(plan, joined, key, suppressed, keys).createOrReplaceTempView(joined.symbols)
                made.append(joined.symbols)
                aliases.append(joined.inner("w"))
                if joined.is_apart:
                    assert joined.lookup is not None
                    texts = ", ".join(f"{name} string" for name in joined.lookup.names)
                    apart = self.session.createDataFrame(list(joined.lookup.rows), f"r int, d string, {texts}")
                    apart.createOrReplaceTempView(joined.thresholds)
                    made.append(joined.thresholds)
                    aliases.append(joined.inner("v"))
            yield f"/*+ BROADCAST({', '.join(aliases)}) */ "
        finally:
            for view in made:
                self.session.catalog.dropTempView(view)

    def _symbols(
        self, plan: Plan, joined: Joined, key: ReleaseKey, suppressed: Suppressed, keys: Mapping[str, str]
    ) -> Any:
        from pyspark.sql.types import IntegerType, StringType, StructField, StructType

        inputs = joined.draw.inputs
        shown = ", ".join(f"{keys[column]} AS i{k}" for k, column in enumerate(inputs))
        asked = self.source.query(f"SELECT {shown} FROM {{table}}")
        rows = symbol_rows(plan.mechanism, joined, key, suppressed)
        known = _fitting([row[: len(inputs)] for row in rows], asked)
        if not known:
            raise UnusableColumnError(
                f"no value of the mechanism fits the type of {' + '.join(inputs)}: it was designed on another type. "
                "Convert the column, or design the mechanism on this table."
            )
        fields = [StructField(f"i{k}", field.dataType) for k, field in enumerate(asked.schema.fields)]
        fields += [StructField(name, IntegerType() if name == "r" else StringType()) for name in symbol_columns(joined)]
        return self.session.createDataFrame([rows[k] for k in known], StructType(fields))


def _fitting(symbols: Sequence[tuple[Any, ...]], asked: Any) -> list[int]:
    """Which symbols have the types of the columns; others cannot occur."""
    from pyspark.sql.pandas.types import to_arrow_type

    from discreet.releasing.engines.duckdb import fitting

    return fitting(symbols, [to_arrow_type(field.dataType) for field in asked.schema.fields])[1]


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


def release_with_spark(
    table: Any,
    mechanism: Mechanism,
    chosen: Options,
    *,
    output: str | os.PathLike[str] | None,
    force: bool,
    master: str | None,
    beside: Callable[[Released, Path], None] | None,
) -> Released:
    """A DataFrame released lazily, or files released to a folder."""
    start = time.perf_counter()
    if is_spark(table) and output is None:
        with answering("the table"):
            return _drawn(SparkEngine(table, False), table, mechanism, chosen, start)
    if output is None:
        raise InputError("a path is released to a path: name the output.")
    target = Path(output)
    files = () if is_spark(table) else tuple(existing_files(os.path.abspath(table)))
    check_output(target, None if is_spark(table) else os.fspath(table), files, force=force, is_folder=True)
    with _session_for(table, master) as session, answering("the table"), appearing(target) as temporary:
        frame, stable = (table, False) if is_spark(table) else read_files(session, os.path.abspath(table), files)
        done = _drawn(SparkEngine(frame, stable), frame, mechanism, chosen, start)
        _write(done.table, temporary, target.name)
        done = Released(
            str(target),
            done.plan,
            done.checked,
            done.kept,
            done.rows,
            done.key,
            done.engine,
            time.perf_counter() - start,
            table,
        )
        if beside is not None:
            beside(done, temporary)
    return done


def _drawn(engine: SparkEngine, table: Any, mechanism: Mechanism, chosen: Options, start: float) -> Released:
    plan = chosen.plan(mechanism, engine.kinds, "the table")
    checked = check_all(engine, table, plan, unseen=chosen.unseen, suppress_as=chosen.suppress_as)
    kept = audit_kept(engine, table, plan, checked.suppressed) if chosen.audit else []
    frame = engine.drawn(plan, chosen.key, checked.suppressed)
    rows = int(checked.joint.records or 0)
    return Released(frame, plan, checked, kept, rows, chosen.key, engine.name, time.perf_counter() - start)


@contextlib.contextmanager
def _session_for(table: Any, master: str | None) -> Iterator[Any]:
    """The session of a DataFrame, one that runs already, or one of our own that ends with the release."""
    if is_spark(table):
        yield table.sparkSession
        return
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise InputError("the engine spark needs pyspark: pip install 'discreet[spark]'.") from None
    running = SparkSession.getActiveSession()
    if running is not None and master is None:
        yield running
        return
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
        session = builder.getOrCreate()
    except Exception as error:  # Java missing or of a wrong version ends in many ways
        raise InputError(f"Spark cannot start ({type(error).__name__}); it needs Java 17 or newer.") from None
    session.sparkContext.setLogLevel("ERROR")
    return session


def read_files(session: Any, path: str, files: Sequence[str]) -> tuple[Any, bool]:
    """Files as a DataFrame with the place of every row, and whether Spark knows that place."""
    root = table_root(path)
    if not is_parquet(files[0]):
        separator, names = read_csv_header(files[0], f"table {Path(path).name!r}")
        reader = session.read.option("header", True).option("multiLine", True).option("sep", separator)
        schema = ", ".join(f"{SPARK.identifier(name)} string" for name in names)
        return reader.option("quote", '"').option("escape", '"').schema(schema).csv(list(files)), False
    frame = session.read.option("basePath", root).parquet(*files)
    # The scheme is written with one slash or three; the rest keeps the escapes of a URI.
    places = [(_path_of(uri), os.path.relpath(urllib.parse.unquote(_path_of(uri)), root)) for uri in frame.inputFiles()]
    listed = session.createDataFrame(places, f"discreet_uri string, {FILE} string")
    path_of = f"regexp_replace(_metadata.file_path, '{SCHEME}', '/')"
    placed = frame.selectExpr("*", f"{path_of} AS discreet_uri", f"_metadata.row_index AS {ROW}")
    return placed.join(listed.hint("broadcast"), "discreet_uri", "left").drop("discreet_uri"), True


def _path_of(uri: str) -> str:
    return re.sub(SCHEME, "/", uri)


def _write(frame: Any, target: Path, name: str) -> None:
    writer = frame.write.mode("error")
    if name.lower().endswith(".csv"):
        writer = writer.option("header", True).option("quote", '"').option("escape", '"')
        writer = writer.option("ignoreLeadingWhiteSpace", False).option("ignoreTrailingWhiteSpace", False)
        writer.option("emptyValue", '""').option("nullValue", "").csv(str(target))
    else:
        writer.parquet(str(target))
