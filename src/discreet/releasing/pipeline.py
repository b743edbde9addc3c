"""Check, draw, write: a release from a table of any kind."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from discreet._support.errors import InputError
from discreet.drawing.keys import ReleaseKey
from discreet.mechanism import Mechanism
from discreet.notions import Notion
from discreet.releasing.checks.kept import audit_kept
from discreet.releasing.checks.promise import Checked, check_all
from discreet.releasing.engines.duckdb import DuckDBEngine, copy_options
from discreet.releasing.plan import Plan, make_plan
from discreet.releasing.transaction import appearing, check_output, spill_folder
from discreet.tables import frames
from discreet.tables.files import is_spark, table_files
from discreet.tables.session import open_rows

__all__ = ["Released", "release_table"]

Keep = Sequence[str] | Literal["all"]
Watch = Callable[[int, int], None] | None


@dataclass(frozen=True)
class Options:
    """What a caller may choose about a release; see `discreet.release`."""

    key: ReleaseKey
    id: str | None = None
    keep: Keep = ()
    rename: str | None = None
    notion: Notion | None = None
    publish_id: bool = True
    publish_sensitive: bool = False
    trust_design: bool = False
    shuffle: bool = False
    unseen: str = "stop"
    suppress_as: Any = None
    audit: bool = True

    def plan(self, mechanism: Mechanism, kinds: dict[str, str], table: str) -> Plan:
        """Columns and names for a table with these columns."""
        return make_plan(
            mechanism,
            kinds,
            notion=self.notion,
            record=self.id,
            publish_id=self.publish_id,
            keep=self.keep,
            rename=self.rename,
            publish_sensitive=self.publish_sensitive,
            trust_design=self.trust_design,
            shuffle=self.shuffle,
            table=table,
        )


@dataclass(frozen=True)
class Released:
    """A release and what was found on the way.

    Attributes
    ----------
    table : object
        The released frame, or the path of the released table.
    plan, checked : Plan, Checked
        Columns, and the counts that the promise was checked on.
    kept : list of dict
        What every kept column tells about S; none of it is covered by the promise.
    rows : int
        Rows that were released.
    """

    table: Any
    plan: Plan
    checked: Checked
    kept: list[dict[str, Any]]
    rows: int
    key: ReleaseKey
    engine: str
    seconds: float
    source: Any = None  # the table as it was read: a path, or the collected frame


def release_table(
    table: Any,
    mechanism: Mechanism,
    *,
    key: Any = None,
    seed: int | None = None,
    output: str | os.PathLike[str] | None = None,
    engine: str = "auto",
    force: bool = False,
    memory_limit: str | None = None,
    master: str | None = None,
    beside: Callable[[Released, Path], None] | None = None,
    watch: Watch = None,
    **options: Any,
) -> Released:
    """Release a table.

    ``beside`` is called with the temporary output before it appears under its name, and ``watch`` with (done, total)
    while a file is written.
    """
    if not isinstance(mechanism, Mechanism):
        raise InputError(f"release takes a Mechanism, got {type(mechanism).__name__}.")
    chosen = Options(key=ReleaseKey.of(key, seed), **_known_options(options))
    if engine not in ("auto", "duckdb", "spark"):
        raise InputError(f"engine must be 'auto', 'duckdb' or 'spark', got {engine!r}.")
    is_path = isinstance(table, str | os.PathLike)
    if is_spark(table) or engine == "spark":
        from discreet.releasing.engines.spark import release_with_spark

        if not is_path and not is_spark(table):
            raise InputError("Spark releases its own DataFrames, or files: give a path.")
        return release_with_spark(table, mechanism, chosen, output=output, force=force, master=master, beside=beside)
    if master is not None:
        raise InputError("master is an option of the engine spark.")
    if is_path and output is None:
        raise InputError("a path is released to a path: name the output.")
    start = time.perf_counter()
    if output is None:
        return _in_memory(table, mechanism, chosen, memory_limit, start)
    return _to_file(table, mechanism, chosen, Path(output), force, memory_limit, beside, watch, start)


def _known_options(options: dict[str, Any]) -> dict[str, Any]:
    known = set(Options.__dataclass_fields__) - {"key"}
    unknown = sorted(set(options) - known)
    if unknown:
        raise InputError(f"release has no option {unknown[0]!r}.")
    if options.get("unseen", "stop") not in ("stop", "suppress"):
        raise InputError(f"unseen must be 'stop' or 'suppress', got {options['unseen']!r}.")
    return options


def _in_memory(table: Any, mechanism: Mechanism, chosen: Options, memory_limit: str | None, start: float) -> Released:
    frame, kinds = _frame(table, mechanism, chosen)
    plan = chosen.plan(mechanism, kinds, "the table")
    with open_rows(frame, plan.read, memory_limit=memory_limit) as source:
        made = DuckDBEngine(source)
        made.has_stable_rows = frames.has_stable_rows(table)
        checked = check_all(made, frame, plan, unseen=chosen.unseen, suppress_as=chosen.suppress_as)
        kept = audit_kept(made, frame, plan, checked.suppressed) if chosen.audit else []
        drawn = made.collect(plan, chosen.key, checked.suppressed)
    published = frames.put_together(table, frame, drawn, plan.output)
    return Released(published, plan, checked, kept, drawn.num_rows, chosen.key, made.name, time.perf_counter() - start)


def _frame(table: Any, mechanism: Mechanism, chosen: Options) -> tuple[Any, dict[str, str]]:
    """The frame with the columns that a release may need, and their types as DuckDB sees them."""
    names = frames.columns_of(table)
    needed = [
        name
        for name in names
        if chosen.keep == "all"
        or name in chosen.keep
        or name == chosen.id
        or name in mechanism.useful_columns
        or name in mechanism.sensitive_columns
    ]
    frame = frames.collected(table, needed)
    with open_rows(frame, needed) as source:
        return frame, source.kinds


def _to_file(
    table: Any,
    mechanism: Mechanism,
    chosen: Options,
    output: Path,
    force: bool,
    memory_limit: str | None,
    beside: Callable[[Released, Path], None] | None,
    watch: Watch,
    start: float,
) -> Released:
    copy_options(output.name)
    is_path = isinstance(table, str | os.PathLike)
    files = tuple(table_files(os.fspath(table))) if is_path else ()
    check_output(output, os.fspath(table) if is_path else None, files, force=force, is_folder=False)
    stable = is_path or frames.has_stable_rows(table)
    frame = table if is_path else frames.collected(table, frames.columns_of(table))
    columns = None if is_path else frames.columns_of(frame)
    with (
        _writable(output),
        spill_folder(output) as spill,
        open_rows(frame, columns, memory_limit=memory_limit, spill=str(spill)) as source,
    ):
        made = DuckDBEngine(source)
        made.has_stable_rows = stable
        plan = chosen.plan(mechanism, source.kinds, source.name)
        checked = check_all(made, frame, plan, unseen=chosen.unseen, suppress_as=chosen.suppress_as)
        kept = audit_kept(made, frame, plan, checked.suppressed) if chosen.audit else []
        with appearing(output) as temporary:
            rows = made.write(plan, chosen.key, checked.suppressed, temporary, output.name, watch)
            seconds = time.perf_counter() - start
            done = Released(str(output), plan, checked, kept, rows, chosen.key, made.name, seconds, frame)
            if beside is not None:
                beside(done, temporary)
    return done


@contextlib.contextmanager
def _writable(output: Path) -> Iterator[None]:
    """Errors of a full or lost disk in our words."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {str(output)!r}: {error.strerror or type(error).__name__}.") from None
