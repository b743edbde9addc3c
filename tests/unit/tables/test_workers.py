"""Workers that are stopped stop at once, and say that they were stopped."""

from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa
import pytest

from discreet.tables import open_table
from discreet.tables.files import readable
from discreet.tables.session import DuckDBTable
from discreet.tables.workers import workers_beside

ENDLESS = "SELECT count(*) FROM range(1000000000000) a, range(1000000) b"


def test_an_interruption_ends_the_queries_of_all_workers() -> None:
    jobs: list[Any] = []

    def interrupted(table: DuckDBTable) -> None:
        with workers_beside(table, 2) as (pool, connections):
            jobs.extend(pool.submit(connection.execute, ENDLESS) for connection in connections)
            raise KeyboardInterrupt

    with open_table(pa.table({"x": [1]}), places=True) as table, pytest.raises(KeyboardInterrupt):
        interrupted(table)
    assert all(job.cancelled() or isinstance(job.exception(), duckdb.InterruptException) for job in jobs)


@pytest.mark.parametrize("error", [RuntimeError("Query interrupted"), duckdb.InterruptException("Interrupted!")])
def test_a_query_that_was_stopped_is_no_damaged_table(error: Exception) -> None:
    with pytest.raises(KeyboardInterrupt), readable("the table"):
        raise error


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="odd"), readable("the table"):
        raise RuntimeError("odd")
