"""Who draws: DuckDB, Spark, or, through exported SQL, an engine of the user's own."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from discreet._support.errors import InputError
from discreet.releasing.request import Request
from discreet.tables.session import is_spark

if TYPE_CHECKING:
    from discreet.releasing.engines.base import Engine

__all__ = ["ENGINES", "engine_for"]

#: Engine to its class, which is imported when it is asked for.
ENGINES = {
    "duckdb": ("discreet.releasing.engines.duckdb", "DuckDBEngine"),
    "spark": ("discreet.releasing.engines.spark", "SparkEngine"),
}


def engine_for(request: Request) -> type[Engine]:
    """The engine that was asked for, or the one that holds the table."""
    if request.engine not in ("auto", *ENGINES):
        known = ", ".join(repr(name) for name in ("auto", *ENGINES))
        raise InputError(f"engine must be one of {known}, got {request.engine!r}.")
    by_table = "spark" if is_spark(request.table) else "duckdb"
    name = by_table if request.engine == "auto" or by_table == "spark" else request.engine
    if request.master is not None and name != "spark":
        raise InputError("master is an option of the engine spark.")
    module, kind = ENGINES[name]
    found: type[Engine] = getattr(import_module(module), kind)
    return found
