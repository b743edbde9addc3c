"""Releases inside the process, by DuckDB: files to a file, or frames to frames."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from discreet._support import progress
from discreet._support.errors import InputError
from discreet.drawing.fitting import fitting
from discreet.drawing.known import check_known_answers
from discreet.drawing.lookup import symbol_rows, value_rows
from discreet.drawing.statement import PLACE, SHUFFLE, Joined, Statement, symbol_columns
from discreet.releasing.engines.base import Drawing, Drawn
from discreet.releasing.engines.parquet_join import JoinedFile, join_parquet
from discreet.releasing.engines.values import palettes_of, value_columns
from discreet.releasing.request import Request
from discreet.releasing.transaction import PARTS
from discreet.tables import frames
from discreet.tables.arrow import column_of, texts
from discreet.tables.dialect import DUCKDB, literal
from discreet.tables.files import is_parquet, readable
from discreet.tables.following import following
from discreet.tables.rows import RowRange, shared_out
from discreet.tables.session import FILE, OWN, ROW, DuckDBTable, Limits, open_table
from discreet.tables.workers import keeps_order, workers_beside

__all__ = ["DuckDBEngine", "copy_options"]

#: Name of the table that statements read.
INPUT = f"{OWN}input"


class DuckDBEngine:
    """Draws with one query in DuckDB.

    Parameters
    ----------
    table : DuckDBTable
        The open table, with the place of every row.
    given, frame : object
        Where the table is a frame: as it was given, and computed.
    """

    name: ClassVar[str] = "duckdb"
    writes_folder: ClassVar[bool] = False

    def __init__(self, table: DuckDBTable, given: Any = None, frame: Any = None) -> None:
        self.table = table
        self._given, self._frame = given, frame
        check_known_answers(table.connection)

    @classmethod
    @contextlib.contextmanager
    def opened(cls, request: Request, spill: Path | None) -> Iterator[DuckDBEngine]:
        """A path as it is; of a frame that stays in memory, the columns that a release may need."""
        limits = Limits(request.memory_limit, None if spill is None else str(spill))
        if request.output is not None:
            copy_options(request.output.name)
        if request.is_path:
            with open_table(request.table, places=True, limits=limits) as table:
                yield cls(table)
            return
        frame = frames.collected(request.table, _needed(request) if request.output is None else None)
        with open_table(frame, _needed(request, frame), places=True, limits=limits) as table:
            table.has_stable_rows = frames.has_stable_rows(request.table)
            yield cls(table, request.table, frame)

    def draw(self, drawing: Drawing, target: Path | None) -> Drawn:
        if target is None:
            return self._in_memory(drawing)
        if self._keeps_order(drawing, target.name):
            return Drawn(None, *_Parts(self.table, drawing, target).write())
        # Rows are sorted with labels as numbers (ENUM) and get their text afterwards, which is faster.
        query = _Query(self.table, drawing).with_lookups()
        shown = query.shown(query.ordered(drawing.plan.output))
        with progress.stage("drawing") as stage, following([self.table.connection], stage):
            done = self.table.connection.execute(
                f"COPY ({shown}) TO {literal(str(target))} ({copy_options(target.name)})"
            ).fetchall()
        return Drawn(None, int(done[0][0]))

    def _in_memory(self, drawing: Drawing) -> Drawn:
        """The kept columns as they were, and the released ones beside them, in the library of the table."""
        plan = drawing.plan
        drawn = [(what, name) for what, name in plan.output if isinstance(what, int)]
        query = _Query(self.table, drawing, by_number=True).with_lookups()
        statement = query.ordered(((ROW, ROW), *drawn))
        arrow = self.table.connection.sql(query.shown(statement)).to_arrow_table()
        palettes = palettes_of(self.table, plan)
        made = frames.put_together(self._given, self._frame, arrow, plan.output, ROW, palettes)
        return Drawn(made, arrow.num_rows)

    def _keeps_order(self, drawing: Drawing, name: str) -> bool:
        """Whether the release is as files are: Parquet to Parquet, row by row, of files with the same columns."""
        files, plan = self.table.files, drawing.plan
        if any(joined.lookup is not None and joined.lookup.is_searched for joined in drawing.tables):
            return False  # a join that looks through several lines for a row hands rows on as it finds them
        if plan.shuffle or not files or not is_parquet(files[0]) or not copy_options(name).startswith("FORMAT parquet"):
            return False
        import pyarrow.parquet as pq

        schemas = [pq.read_schema(file) for file in files]
        return all(schema.equals(schemas[0]) for schema in schemas) and keeps_order(self.table.connection)


def _needed(request: Request, frame: Any = None) -> list[str]:
    """Columns of a frame that a release may need; all of them where it is written to a file, whose digest is taken."""
    names = frames.columns_of(request.table if frame is None else frame)
    mechanism = request.mechanism
    if request.keep == "all" or request.output is not None:
        return names
    wanted = {*request.keep, request.id, request.person, *mechanism.useful_columns, *mechanism.sensitive_columns}
    return [name for name in names if name in wanted]


class _Query:
    """The query of a draw over one table; its lookup tables are stored once in a connection.

    ``by_number`` where values are published as their numbers, which a frame of some library puts words to.
    """

    def __init__(self, table: DuckDBTable, drawing: Drawing, *, by_number: bool = False) -> None:
        if not by_number:
            drawing = replace(drawing, tables=tuple(joined.spelled(table.kinds) for joined in drawing.tables))
        self.table, self.drawing, self._by_number = table, drawing, by_number
        bins = drawing.plan.mechanism.bins
        self._keys = {
            column: DUCKDB.symbol(column, table.kinds[column], bins.get(column)) for column in drawing.plan.looked_up
        }
        table.relation.create_view(INPUT, replace=True)

    def shown(self, statement: Statement) -> str:
        """The query with released labels as text."""
        columns = [(joined, k) for joined in self.drawing.tables for k in range(joined.draw.draw.n_columns)]
        texts = [joined.is_spelled or joined.draw.draw.values is None for joined, _ in columns]
        names = [DUCKDB.identifier(c) for c, is_text in zip(self.drawing.plan.released, texts, strict=True) if is_text]
        parts = ", ".join(f"{DUCKDB.as_text(c)} AS {c}" for c in names)
        return f"SELECT * REPLACE ({parts}) FROM ({statement.text()})" if parts else statement.text()

    def with_lookups(self) -> _Query:
        """Store the lookup tables in the table's connection."""
        for joined in self.drawing.tables:
            self._register(joined)
        return self

    def ordered(self, output: Sequence[tuple[str | int, str]]) -> Statement:
        """All rows, in the order of the table or in a keyed random one."""
        place = (ROW,) if len(self.table.files) <= 1 else (FILE, ROW)
        shuffled = (SHUFFLE, PLACE)
        return self._statement(output, INPUT, shuffled if self.drawing.plan.shuffle else place)

    def of_rows(self, part: RowRange) -> Statement:
        """Some rows, as they come."""
        rows = f"(SELECT * FROM {INPUT} WHERE {part.condition(ROW)})"
        return self._statement(self.drawing.plan.output, rows, ())

    def _statement(self, output: Sequence[tuple[str | int, str]], rows: str, order: tuple[str, ...]) -> Statement:
        plan = self.drawing.plan
        record, place = (DUCKDB.record(column, FILE, ROW) for column in (plan.record, plan.id))
        return Statement(DUCKDB, rows, self._keys, record, self.drawing.tables, tuple(output), order, place=place)

    def _register(self, joined: Joined) -> None:
        import pyarrow as pa

        inputs, plan = joined.draw.inputs, self.drawing.plan
        shown = ", ".join(f"{self._keys[column]} AS i{k}" for k, column in enumerate(inputs))
        kinds = [field.type for field in self.table.relation.limit(0).project(shown).to_arrow_table().schema]
        rows = symbol_rows(plan.mechanism, joined, self.drawing.keys, self.drawing.suppressed)
        values, known = fitting([row[: len(inputs)] for row in rows], kinds, inputs)
        rest = [rows[k][len(inputs) :] for k in known]
        table = dict(zip([f"i{k}" for k in range(len(inputs))], values))
        for k, name in enumerate(symbol_columns(joined)):
            cells = [row[k] for row in rest]
            table[name] = column_of(np.array(cells, dtype=np.int32)) if name == "r" else texts(cells)
        self._store(joined, joined.symbols, pa.table(table))
        if joined.is_apart:
            assert joined.lookup is not None
            self._store(joined, joined.thresholds, joined.lookup.arrow)
        if joined.is_in_values:
            self._store_values(joined)

    def _store_values(self, joined: Joined) -> None:
        """What each label is published as, in the types of the table's own columns."""
        import pyarrow as pa

        draw, connection = joined.draw.draw, self.table.connection
        labels, *parts = zip(*value_rows(draw))
        if self._by_number:
            made = [column_of(np.arange(len(labels)))] * len(parts)
            kinds = ["BIGINT"] * len(parts)
        else:
            made, kinds = value_columns(self.table, draw, self.drawing.plan.mechanism.bins)
        typed = ", ".join(f"CAST(v{k} AS {kind}) AS v{k}" for k, kind in enumerate(kinds))
        connection.register("discreet_new", pa.table({"y": texts(labels)} | {f"v{k}": c for k, c in enumerate(made)}))
        connection.execute(
            f"CREATE OR REPLACE TEMPORARY TABLE {joined.values} AS "
            f"SELECT TRY_CAST(y AS {joined.inner('labels')}) AS y, {typed} FROM discreet_new"
        )
        connection.unregister("discreet_new")

    def _store(self, joined: Joined, name: str, table: Any) -> None:
        """A lookup table in memory, its labels as numbers of an ENUM."""
        kind = joined.inner("labels")
        labels = [column for column in table.column_names if column.startswith("y")]
        connection = self.table.connection
        connection.register("discreet_new", table)
        if labels:
            listed = " UNION ".join(f"SELECT {column} AS y FROM discreet_new" for column in labels)
            connection.execute(f"CREATE OR REPLACE TYPE {kind} AS ENUM ({listed})")
        typed = ", ".join(f"CAST({c} AS {kind}) AS {c}" if c in labels else c for c in table.column_names)
        connection.execute(f"CREATE OR REPLACE TEMPORARY TABLE {name} AS SELECT {typed} FROM discreet_new")
        connection.unregister("discreet_new")


class _Parts:
    """A release in the order of its input, drawn by several workers.

    Every worker draws a stretch of rows with one thread, which keeps their order; the parts become one file. A join
    that several threads probe loses the order of rows, and sorting them again costs as much as the draw.
    """

    def __init__(self, table: DuckDBTable, drawing: Drawing, target: Path) -> None:
        self.table, self.drawing, self.target = table, drawing, target
        self.folder = target.with_name(target.name + PARTS)

    def write(self) -> JoinedFile:
        """Draw all stretches, and join them."""
        shares = shared_out(self.table.files, os.cpu_count() or 1)
        self.folder.mkdir(mode=0o700)
        try:
            with contextlib.ExitStack() as stack:
                stage = stack.enter_context(progress.stage("drawing"))
                pool, connections = stack.enter_context(workers_beside(self.table, len(shares)))
                stack.enter_context(following(connections, stage))
                jobs = [
                    pool.submit(self._share, connection, share, number)
                    for number, (connection, share) in enumerate(zip(connections, shares))
                ]
                parts = [part for job in jobs for part in job.result()]
            return join_parquet(parts, self.target)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _share(self, connection: Any, share: Sequence[RowRange], worker: int) -> list[Path]:
        """The rows of one worker, as a few Parquet files."""
        parts = []
        with readable(self.table.name):
            for number, rows in enumerate(share):
                query = _Query(self.table.of_files(rows.files, connection), self.drawing)
                shown = (query if number else query.with_lookups()).shown(query.of_rows(rows))
                part = self.folder / f"{worker:06d}-{number:06d}.parquet"
                connection.execute(f"COPY ({shown}) TO {literal(str(part))} (FORMAT parquet)")
                parts.append(part)
        return parts


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
