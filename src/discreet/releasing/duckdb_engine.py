"""Releases inside the process, by DuckDB: files to a file, or frames to a column in memory."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet._numeric import BoolArray, IntArray
from discreet.errors import InputError, InternalError, UnusableColumnError
from discreet.releasing.draws import DIGITS
from discreet.releasing.keys import ReleaseKey
from discreet.releasing.lookup import known_answer_rows, symbol_rows
from discreet.releasing.order import BLOCK
from discreet.releasing.plan import Plan
from discreet.releasing.statement import SHUFFLE, Joined, Statement, symbol_columns, threshold_columns
from discreet.tables import _sql
from discreet.tables.rows import FILE, ROW, RowSource

__all__ = ["DuckDBEngine", "copy_options", "fitting"]

#: Rows up to which the whole order of a table is looked at.
MOST_ROWS_IN_ORDER = 200_000

#: Stretches of rows looked at in longer tables.
STRETCHES = 64

#: An integer id whose range is at most this many times the number of rows is counted in a bitmap.
WIDEST_RANGE, MOST_BITS = 32, 1 << 32

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
            text = f"substr({_sql.DUCKDB.sha256('$prefix || $record')}, 1, {DIGITS})"
            given = {"prefix": prefix, "record": record}
            if self.source.connection.execute(f"SELECT {text}", given).fetchall() != [(u,)]:
                raise InternalError("DuckDB does not reproduce the known answers of the draw.")

    def rows(self) -> int:
        """Number of rows."""
        return int(self.source.aggregate("count(*) AS n").column(0)[0].as_py())

    def repeated(self, column: str) -> tuple[int, int]:
        """Rows without an id, and rows whose id another row has too."""
        name, kind = _sql.DUCKDB.identifier(column), self.kinds[column]
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
            f"{_sql.DUCKDB.symbol(column, self.kinds[column], edges.get(column))} AS c{k}"
            for k, column in enumerate(columns)
        ]
        step = 1 if rows <= MOST_ROWS_IN_ORDER else max(1, rows // (BLOCK * STRETCHES))
        chosen = self.source.relation.filter(f"({ROW} // {BLOCK}) % {step} = 0")
        found = chosen.project(", ".join([*shown, FILE, ROW])).order(f"{FILE}, {ROW}").to_arrow_table()
        place = np.asarray(found.column(ROW))
        files = np.asarray(found.column(FILE).combine_chunks().dictionary_encode().indices)
        follows = (np.diff(place) == 1) & (np.diff(files) == 0)
        codes = [found.column(k).combine_chunks().dictionary_encode("encode").indices for k in range(len(columns))]
        return [np.asarray(code) for code in codes], follows

    def distinct(self, columns: Sequence[str]) -> dict[str, int]:
        """About how many values each column has."""
        if not columns:
            return {}
        asked = [f"approx_count_distinct({_sql.DUCKDB.identifier(column)}) AS d{k}" for k, column in enumerate(columns)]
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
        statement = self._statement(plan, key, suppressed, plan.output).text()
        with self._watched(watch):
            written = self.source.connection.execute(
                f"COPY ({statement}) TO {_sql.literal(str(target))} ({copy_options(name)})"
            ).fetchall()
        return int(written[0][0])

    @contextlib.contextmanager
    def _watched(self, watch: Callable[[int, int], None] | None) -> Iterator[None]:
        """Ask DuckDB how far it is, from a second thread, while a query runs."""
        asked = getattr(self.source.connection, "query_progress", None)
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
        return self.source.connection.sql(statement).to_arrow_table()

    def _statement(
        self, plan: Plan, key: ReleaseKey, suppressed: Suppressed, output: Sequence[tuple[str | int, str]]
    ) -> Statement:
        keys = {
            column: _sql.DUCKDB.symbol(column, self.kinds[column], plan.mechanism.bins.get(column))
            for column in plan.looked_up
        }
        for joined in plan.draws:
            self._register(plan, joined, key, suppressed, keys)
        view = "discreet_input"
        self.source.relation.create_view(view, replace=True)
        if plan.record is not None:
            record = _sql.DUCKDB.as_text(_sql.DUCKDB.identifier(plan.record))
        else:
            record = f"{FILE} || ':' || {_sql.DUCKDB.as_text(ROW)}"
        place = (ROW,) if len(self.source.files) <= 1 else (FILE, ROW)
        order = (SHUFFLE, "discreet_id") if plan.shuffle else place
        return Statement(_sql.DUCKDB, view, keys, record, plan.draws, tuple(output), order)

    def _register(
        self, plan: Plan, joined: Joined, key: ReleaseKey, suppressed: Suppressed, keys: Mapping[str, str]
    ) -> None:
        import pyarrow as pa

        inputs = joined.draw.inputs
        shown = ", ".join(f"{keys[column]} AS i{k}" for k, column in enumerate(inputs))
        kinds = [field.type for field in self.source.relation.limit(0).project(shown).to_arrow_table().schema]
        rows = symbol_rows(plan, joined, key, suppressed)
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
        self.source.connection.register(joined.symbols, pa.table(table))
        if joined.is_apart:
            assert joined.lookup is not None
            columns = list(zip(*joined.lookup.rows))
            apart = {"r": pa.array(columns[0], pa.int32()), "d": pa.array(columns[1], pa.string())}
            for name, column in zip(threshold_columns(joined.lookup), columns[2:]):
                apart[name] = pa.array(column, pa.string())
            self.source.connection.register(joined.thresholds, pa.table(apart))


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
