"""Threads with a connection each, for work that DuckDB does in order where one thread does it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import duckdb

from discreet.tables.session import DuckDBTable, Limits, connect

__all__ = ["Workers", "keeps_order", "workers_beside"]

#: What would change the order of rows, or the files that are written, from one worker to the next. The small table is
#: the one that is looked up, whatever the optimiser thinks of the sizes; and a column may hold nulls, whatever the
#: statistics of some of the files say.
LEFT_ALONE = "build_side_probe_side,join_order,statistics_propagation"


#: Seconds between two interruptions.
PAUSE = 0.05


class Workers(NamedTuple):
    """A pool of threads, and a connection for each of them."""

    pool: ThreadPoolExecutor
    connections: list[Any]


def keeps_order(connection: Any) -> bool:
    """Make a connection of one thread keep the order of rows, and say whether it does.

    Its joins would hold chunks of a few rows back, and let later rows pass.
    """
    try:
        connection.execute("SET enable_caching_operators = false")
    except duckdb.Error:  # a version that cannot be told
        return False
    return True


@contextlib.contextmanager
def _interrupting(connections: Sequence[Any]) -> Iterator[None]:
    """Interrupt queries again and again: one that has not begun yet would not hear of it."""
    over = threading.Event()

    def interrupt() -> None:
        while not over.wait(PAUSE):
            for connection in connections:
                connection.interrupt()

    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def workers_beside(table: DuckDBTable, number: int) -> Iterator[Workers]:
    """So many workers, which share the memory and the private folder of a table's own connection.

    Each of them keeps the order of rows, where `keeps_order` says so. When the block fails, or is interrupted, so are
    their queries.
    """
    limits = Limits(f"{table.memory() // max(1, number)}B", table.limits.spill, 1)
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(contextlib.closing(connect(limits))) for _ in range(number)]
        for connection in connections:
            connection.execute(f"SET disabled_optimizers = '{LEFT_ALONE}'")
            keeps_order(connection)
        pool = stack.enter_context(ThreadPoolExecutor(max(1, number)))
        try:
            yield Workers(pool, connections)
        except BaseException:
            with _interrupting(connections):
                pool.shutdown(wait=True, cancel_futures=True)
            raise
