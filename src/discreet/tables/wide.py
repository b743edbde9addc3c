"""Tables of many useful and few sensitive values, counted a line for each useful value.

Such a line tells how often the value occurs with each sensitive one, so useful values are grouped once, and nothing has
to be found again among the pairs. It takes a second look at the sensitive columns, which is cheap in columns, and is
never worth it in CSV.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

from discreet.tables.files import is_parquet
from discreet.tables.session import OWN, DuckDBTable, Table

__all__ = ["MOST_SENSITIVE", "count_lines", "has_many_useful"]

#: Rows that are looked at to tell whether useful values are many, and the share of them that are then different.
SAMPLE, MANY = 50_000, 0.5

#: Sensitive values that a line may count: each of them is a column of the query.
MOST_SENSITIVE = 32


def has_many_useful(source: Table, useful: Sequence[str]) -> TypeGuard[DuckDBTable]:
    """Whether most of the first rows differ in these expressions, in a table that can be read twice at little cost."""
    if not isinstance(source, DuckDBTable) or not useful or (source.files and not is_parquet(source.files[0])):
        return False
    asked = f"count(*) AS n, count(DISTINCT hash({', '.join(useful)})) AS d"
    rows, different = source.relation.limit(SAMPLE).aggregate(asked).fetchall()[0]
    return bool(rows == SAMPLE and different >= MANY * SAMPLE)


def count_lines(source: DuckDBTable, sensitive: Sequence[str], useful: Sequence[str]) -> tuple[Any, Any] | None:
    """Sensitive values, and the useful ones with a column of counts for each of those; None where the first are many.

    Expressions come as SQL, values as Arrow tables with the columns c0, c1, ...
    """
    named = [f"{expression} AS c{k}" for k, expression in enumerate(sensitive)]
    values = source.aggregate(", ".join(named), ", ".join(sensitive))
    if values.num_rows > MOST_SENSITIVE:
        return None
    rows = source.relation.project(
        ", ".join(
            [
                *(f"{expression} AS {OWN}s{k}" for k, expression in enumerate(sensitive)),
                *(f"{expression} AS {OWN}x{k}" for k, expression in enumerate(useful)),
            ]
        )
    ).set_alias("t")
    same = " AND ".join(f"t.{OWN}s{k} IS NOT DISTINCT FROM v.c{k}" for k in range(len(sensitive)))
    joined = rows.join(_numbered(source, values), same)
    counts = [f"count(*) FILTER (WHERE {OWN}code = {code}) AS n{code}" for code in range(values.num_rows)]
    columns = [f"{OWN}x{k}" for k in range(len(useful))]
    shown = [f"{column} AS c{k}" for k, column in enumerate(columns)]
    return values, joined.aggregate(", ".join([*shown, *counts]), ", ".join(columns)).to_arrow_table()


def _numbered(source: DuckDBTable, values: Any) -> Any:
    import pyarrow as pa

    # An array of Python's or numpy's would load pandas first.
    codes = pa.py_buffer(np.arange(values.num_rows, dtype=np.int32))
    column = pa.Array.from_buffers(pa.int32(), values.num_rows, [None, codes])
    numbered = values.append_column(f"{OWN}code", column)
    return source.connection.from_arrow(numbered).set_alias("v")
