"""Releases inside the process, by DuckDB: files to a file, or frames to a column in memory."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from discreet._support.errors import InputError, InternalError, UnusableColumnError
from discreet._support.numeric import BoolArray, IntArray
from discreet.drawing.keys import ReleaseKey
from discreet.drawing.lookup import known_answer_rows, symbol_rows
from discreet.drawing.statement import SHUFFLE, Joined, Statement, symbol_columns
from discreet.drawing.thresholds import DIGITS
from discreet.releasing.checks.order import BLOCK, ranks
from discreet.releasing.engines.parquet_join import join_parquet
from discreet.releasing.plan import Plan
from discreet.releasing.transaction import PARTS
from discreet.tables.dialect import DUCKDB, literal
from discreet.tables.files import is_parquet, readable
from discreet.tables.session import FILE, ROW, RowSource, connect

__all__ = ["DuckDBEngine", "copy_options", "fitting"]

#: Rows up to which the whole order of a table is looked at.
MOST_ROWS_IN_ORDER = 200_000

#: Stretches of rows looked at in longer tables.
STRETCHES = 64

#: An integer id whose range is at most this many times the number of rows is counted in a bitmap.
WIDEST_RANGE, MOST_BITS = 32, 1 << 32

#: Name of the table that statements read.
INPUT = "discreet_input"

#: Seconds between two looks at the progress of a query.
PAUSE = 0.2

Suppressed = Mapping[tuple[Any, ...], tuple[Any, ...]]


class DuckDBEngine:
    """What a release asks of a table that DuckDB reads."""

    name = "duckdb"
    has_stable_rows = True

    def __init__(self, source: RowSource) -> None:
        self.source = source
        self.kinds = source.kinds
        self._check_known_answers()

    def _check_known_answers(self) -> None:
        for prefix, record, u in known_answer_rows():
            text = f"substr({DUCKDB.sha256('$prefix || $record')}, 1, {DIGITS})"
            given = {"prefix": prefix, "record": record}
            if self.source.connection.execute(f"SELECT {text}", given).fetchall() != [(u,)]:
                raise InternalError("DuckDB does not reproduce the known answers of the draw.")

    def rows(self) -> int:
        """Number of rows."""
        return int(self.source.aggregate("count(*) AS n").column(0)[0].as_py())

    def repeated(self, column: str) -> tuple[int, int]:
        """Rows without an id, and rows whose id another row has too."""
        name, kind = DUCKDB.identifier(column), self.kinds[column]
        whole = kind not in ("VARCHAR", "UUID")
        ends = f", min({name}) AS low, max({name}) AS high" if whole else ""
        found = self.source.aggregate(f"count(*) AS n, count({name}) AS given{ends}").to_pylist()[0]
        given = int(found["given"])
        distinct = f"count(DISTINCT {name})"
        if whole and given:
            low, high = int(found["low"]), int(found["high"])
            if high - low < min(WIDEST_RANGE * given, MOST_BITS) and abs(low) < 2**62 and abs(high) < 2**62:
                distinct = f"bit_count(bitstring_agg(CAST({name} AS BIGINT), {low}, {high}))"
        different = int(self.source.aggregate(f"{distinct} AS d").column(0)[0].as_py() or 0)
        return int(found["n"]) - given, given - different

    def neighbours(
        self, columns: Sequence[str], edges: Mapping[str, Any], rows: int, read: Sequence[str]
    ) -> tuple[list[IntArray], BoolArray]:
        """Codes of columns in the order of rows, and which rows follow the one before; stretches of long tables."""
        shown = [
            f"{DUCKDB.symbol(column, self.kinds[column], edges.get(column))} AS c{k}"
            for k, column in enumerate(columns)
        ]
        step = 1 if rows <= MOST_ROWS_IN_ORDER else max(1, rows // (BLOCK * STRETCHES))
        chosen = self.source.relation.filter(f"({ROW} // {BLOCK}) % {step} = 0")
        found = chosen.project(", ".join([*shown, FILE, ROW])).order(f"{FILE}, {ROW}").to_arrow_table()
        place = np.asarray(found.column(ROW))
        files = np.asarray(found.column(FILE).combine_chunks().dictionary_encode().indices)
        follows = (np.diff(place) == 1) & (np.diff(files) == 0)
        return [ranks(found.column(k)) for k in range(len(columns))], follows

    def distinct(self, columns: Sequence[str]) -> dict[str, int]:
        """About how many values each column has."""
        if not columns:
            return {}
        asked = [f"approx_count_distinct({DUCKDB.identifier(column)}) AS d{k}" for k, column in enumerate(columns)]
        found = self.source.aggregate(", ".join(asked)).to_pylist()[0]
        return dict(zip(columns, map(int, found.values())))

    def write(
        self,
        plan: Plan,
        key: ReleaseKey,
        suppressed: Suppressed,
        target: Path,
        name: str,
        watch: Callable[[int, int], None] | None = None,
    ) -> int:
        """The release as a file; the format follows from ``name``. ``watch`` hears how many of 100 parts are done."""
        written = f"TO {literal(str(target))} ({copy_options(name)})"
        if self._keeps_order(plan, name):
            return self._write_parts(plan, key, suppressed, target, watch)
        statement = self._statement(plan, key, suppressed, plan.output).text()
        # Rows are sorted with labels as numbers (ENUM) and get their text afterwards, which is faster.
        with self._watched(watch):
            done = self.source.connection.execute(
                f"COPY (SELECT * REPLACE ({', '.join(_texts(plan))}) FROM ({statement})) {written}"
            ).fetchall()
        return int(done[0][0])

    def _keeps_order(self, plan: Plan, name: str) -> bool:
        """Whether the release is as files are: Parquet to Parquet, row by row, of files with the same columns."""
        files = self.source.files
        if plan.shuffle or not files or not is_parquet(files[0]) or not copy_options(name).startswith("FORMAT parquet"):
            return False
        import pyarrow.parquet as pq

        schemas = [pq.read_schema(file) for file in files]
        return all(schema.equals(schemas[0]) for schema in schemas)

    def _write_parts(
        self,
        plan: Plan,
        key: ReleaseKey,
        suppressed: Suppressed,
        target: Path,
        watch: Callable[[int, int], None] | None,
    ) -> int:
        """Every worker draws a stretch of rows with one thread, which keeps their order; the parts become one file.

        A join that several threads probe loses the order of rows, and sorting them again costs as much as the draw.
        """
        shares = stretches(self.source.files, os.cpu_count() or 1)
        limit = f"{self._memory() // max(1, len(shares))}B"
        folder = target.with_name(target.name + PARTS)
        folder.mkdir(mode=0o700)
        try:
            with contextlib.ExitStack() as stack:
                pool = stack.enter_context(ThreadPoolExecutor(max(1, len(shares))))
                workers = [stack.enter_context(contextlib.closing(connect(limit, str(folder), 1))) for _ in shares]
                stack.enter_context(self._watched(watch, workers[:1]))
                jobs = [
                    pool.submit(self._write_share, plan, key, suppressed, worker, share, folder / f"{number:06d}")
                    for number, (worker, share) in enumerate(zip(workers, shares))
                ]
                parts = [part for job in jobs for part in job.result()]
            return join_parquet(parts, target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _write_share(
        self,
        plan: Plan,
        key: ReleaseKey,
        suppressed: Suppressed,
        connection: Any,
        share: Sequence[Stretch],
        start: Path,
    ) -> list[Path]:
        """The stretches of one worker, each as a Parquet file."""
        # The small table is the one that is looked up, whatever the optimiser thinks of the sizes.
        connection.execute("SET disabled_optimizers = 'build_side_probe_side,join_order'")
        parts = []
        with readable(self.source.name):
            for number, stretch in enumerate(share):
                relation = self.source.of_file(stretch.file, connection)
                engine = DuckDBEngine(RowSource(connection, relation, self.source.name, [stretch.file]))
                engine._prepare(plan, key, suppressed)
                rows = f"(SELECT * FROM {INPUT} WHERE {ROW} >= {stretch.first} AND {ROW} < {stretch.last})"
                statement = engine._drawn(plan, plan.output, rows, ()).text()
                part = start.with_name(f"{start.name}-{number:06d}.parquet")
                shown = f"SELECT * REPLACE ({', '.join(_texts(plan))}) FROM ({statement})"
                connection.execute(f"COPY ({shown}) TO {literal(str(part))} (FORMAT parquet)")
                parts.append(part)
        return parts

    def _memory(self) -> int:
        """Bytes that the connection may use."""
        text = str(self.source.connection.execute("SELECT current_setting('memory_limit')").fetchall()[0][0])
        number, unit = text.split()
        return int(float(number) * 1024 ** ("KMGT".index(unit[0]) + 1 if unit[0] in "KMGT" else 0))

    @contextlib.contextmanager
    def _watched(
        self, watch: Callable[[int, int], None] | None, workers: Sequence[Any] | None = None
    ) -> Iterator[None]:
        """Ask DuckDB how far it is, from a second thread, while a query runs."""
        asked = getattr((workers or [self.source.connection])[0], "query_progress", None)
        if watch is None or asked is None:
            yield
            return
        over = threading.Event()

        def ask() -> None:
            while not over.wait(PAUSE):
                watch(max(0, round(asked())), 100)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def collect(self, plan: Plan, key: ReleaseKey, suppressed: Suppressed) -> Any:
        """Arrow table of the released columns, with the number of the row that each line belongs to."""
        drawn = [(what, name) for what, name in plan.output if isinstance(what, int)]
        statement = self._statement(plan, key, suppressed, ((ROW, ROW), *drawn)).text()
        return self.source.connection.sql(
            f"SELECT {ROW}, {', '.join(_texts(plan))} FROM ({statement})"
        ).to_arrow_table()

    def _statement(
        self, plan: Plan, key: ReleaseKey, suppressed: Suppressed, output: Sequence[tuple[str | int, str]]
    ) -> Statement:
        self._prepare(plan, key, suppressed)
        place = (ROW,) if len(self.source.files) <= 1 else (FILE, ROW)
        return self._drawn(plan, output, INPUT, (SHUFFLE, "discreet_id") if plan.shuffle else place)

    def _prepare(self, plan: Plan, key: ReleaseKey, suppressed: Suppressed) -> None:
        """Lookup tables and the input under the names that statements use."""
        self.source.relation.create_view(INPUT, replace=True)
        for joined in plan.draws:
            self._register(plan, joined, key, suppressed, self._keys(plan))

    def _keys(self, plan: Plan) -> dict[str, str]:
        return {
            column: DUCKDB.symbol(column, self.kinds[column], plan.mechanism.bins.get(column))
            for column in plan.looked_up
        }

    def _drawn(
        self, plan: Plan, output: Sequence[tuple[str | int, str]], rows: str, order: tuple[str, ...]
    ) -> Statement:
        if plan.record is not None:
            record = DUCKDB.as_text(DUCKDB.identifier(plan.record))
        else:
            record = f"{FILE} || ':' || {DUCKDB.as_text(ROW)}"
        return Statement(DUCKDB, rows, self._keys(plan), record, plan.draws, tuple(output), order)

    def _register(
        self, plan: Plan, joined: Joined, key: ReleaseKey, suppressed: Suppressed, keys: Mapping[str, str]
    ) -> None:
        import pyarrow as pa

        inputs = joined.draw.inputs
        shown = ", ".join(f"{keys[column]} AS i{k}" for k, column in enumerate(inputs))
        kinds = [field.type for field in self.source.relation.limit(0).project(shown).to_arrow_table().schema]
        rows = symbol_rows(plan.mechanism, joined, key, suppressed)
        values, known = fitting([row[: len(inputs)] for row in rows], kinds)
        if not known:
            raise UnusableColumnError(
                f"no value of the mechanism fits the type of {' + '.join(inputs)}: it was designed on another type. "
                "Convert the column, or design the mechanism on this table."
            )
        rest = [rows[k][len(inputs) :] for k in known]
        names = [f"i{k}" for k in range(len(inputs))]
        table = dict(zip(names, values))
        for k, name in enumerate(symbol_columns(joined)):
            kind = pa.int32() if name == "r" else pa.string()
            table[name] = pa.array([row[k] for row in rest], kind)
        self._store(joined, joined.symbols, pa.table(table))
        if joined.is_apart:
            assert joined.lookup is not None
            self._store(joined, joined.thresholds, joined.lookup.arrow)

    def _store(self, joined: Joined, name: str, table: Any) -> None:
        """A lookup table in memory, its labels as numbers of an ENUM."""
        kind = joined.inner("labels")
        labels = [column for column in table.column_names if column.startswith("y")]
        connection = self.source.connection
        connection.register("discreet_new", table)
        if labels:
            listed = " UNION ".join(f"SELECT {column} AS y FROM discreet_new" for column in labels)
            connection.execute(f"CREATE OR REPLACE TYPE {kind} AS ENUM ({listed})")
        typed = ", ".join(f"CAST({c} AS {kind}) AS {c}" if c in labels else c for c in table.column_names)
        connection.execute(f"CREATE OR REPLACE TEMPORARY TABLE {name} AS SELECT {typed} FROM discreet_new")
        connection.unregister("discreet_new")


class Stretch(NamedTuple):
    """Rows of one file, the last one left out."""

    file: str
    first: int
    last: int


def stretches(files: Sequence[str], workers: int) -> list[list[Stretch]]:
    """Rows of files shared out among workers, in their order and about equally; cut where groups of rows end."""
    import pyarrow.parquet as pq

    groups: list[Stretch] = []
    for file in files:
        metadata, first = pq.read_metadata(file), 0
        for number in range(metadata.num_row_groups):
            last = first + metadata.row_group(number).num_rows
            groups.append(Stretch(file, first, last))
            first = last
    total, done = sum(group.last - group.first for group in groups), 0
    shares: list[list[Stretch]] = [[] for _ in range(min(workers, max(1, len(groups))))]
    for group in groups:
        share = shares[min(len(shares) - 1, done * len(shares) // max(1, total))]
        if share and share[-1].file == group.file:
            share[-1] = share[-1]._replace(last=group.last)
        else:
            share.append(group)
        done += group.last - group.first
    return [share for share in shares if share]


def _texts(plan: Plan) -> list[str]:
    """The released columns as text."""
    return [f"{DUCKDB.as_text(c)} AS {c}" for c in map(DUCKDB.identifier, plan.released)]


def fitting(symbols: Sequence[tuple[Any, ...]], kinds: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """Columns of the symbols that have the given types, and which symbols those are; others cannot occur."""
    import pyarrow as pa

    def fits(value: Any, kind: Any) -> bool:
        try:
            return value is None or bool(pa.array([value], kind)[0].as_py() == value)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return False

    known = [k for k, symbol in enumerate(symbols) if all(fits(v, kind) for v, kind in zip(symbol, kinds))]
    return [pa.array([symbols[k][c] for k in known], kind) for c, kind in enumerate(kinds)], known


def copy_options(name: str) -> str:
    """Options of COPY for a file of this name."""
    lowered = name.lower()
    if lowered.endswith((".parquet", ".pq")):
        return "FORMAT parquet"
    for ending, compression in ((".gz", "gzip"), (".zst", "zstd"), ("", "none")):
        for kind, delimiter in ((".csv", ","), (".tsv", "\t")):
            if lowered.endswith(kind + ending):
                return (
                    f"FORMAT csv, HEADER, DELIMITER '{delimiter}', QUOTE '\"', ESCAPE '\"', COMPRESSION {compression}"
                )
    raise InputError(f"{name!r} should end in .parquet, .csv or .tsv (and .gz or .zst), which says its format.")
