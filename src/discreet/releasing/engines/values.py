"""Values that labels are published as: in the types of a table's columns, or as cells of a frame that holds them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.drawing.fitting import published_values
from discreet.drawing.lookup import key_values
from discreet.mechanism import Draw
from discreet.releasing.plan import Plan
from discreet.tables.arrow import column_of
from discreet.tables.dialect import DUCKDB, is_float
from discreet.tables.frames import Palette
from discreet.tables.session import ROW, DuckDBTable

__all__ = ["palettes_of", "value_columns"]


def value_columns(table: DuckDBTable, draw: Draw, bins: Mapping[str, Sequence[float]]) -> tuple[list[Any], list[str]]:
    """Arrow columns of the values of a draw, in the order of its labels, and the types that they are published in."""
    import pyarrow as pa

    outputs = draw.outputs
    looked_up = _kinds(table, [DUCKDB.value_or_null(column, table.kinds[column]) for column in outputs])
    kinds = [pa.string() if column in bins else kind for column, kind in zip(outputs, looked_up)]
    made = published_values(list((draw.values or {}).values()), kinds, outputs)
    return made, ["VARCHAR" if column in bins else table.kinds[column] for column in outputs]


def palettes_of(table: DuckDBTable, plan: Plan) -> dict[str, Palette]:
    """For each released column in values, where in the frame each of its values stands; of intervals, their texts."""
    found: list[Palette] = []
    for draw in plan.draws if plan.is_in_values else ():
        parts, rows = zip(*(draw.values or {}).values()), _first_rows(table, draw, plan.mechanism.bins)
        found += [
            Palette(column, rows, values, column in plan.mechanism.bins) for column, values in zip(draw.outputs, parts)
        ]
    return dict(zip(plan.released, found))


def _first_rows(table: DuckDBTable, draw: Draw, bins: Mapping[str, Sequence[float]]) -> list[int | None]:
    """The number of a row that holds each value, if one does: with null rather than NaN, where the table has both."""
    import pyarrow as pa

    symbols = [DUCKDB.symbol(column, table.kinds[column], bins.get(column)) for column in draw.outputs]
    keys = [key_values(value, draw.outputs, bins) for value in (draw.values or {}).values()]
    made = published_values(keys, _kinds(table, symbols), draw.outputs)
    floats = [DUCKDB.identifier(column) for column in draw.outputs if is_float(table.kinds[column])]
    plain = " AND ".join(f"coalesce(NOT isnan({name}), true)" for name in floats) or "true"
    named = ", ".join(f"{symbol} AS i{k}" for k, symbol in enumerate(symbols))
    first = f"coalesce(min({ROW}) FILTER (WHERE {plain}), min({ROW})) AS r"
    groups = table.relation.aggregate(f"{named}, {first}", ", ".join(symbols)).set_alias("found")
    columns = {f"v{k}": column for k, column in enumerate(made)}
    wanted = table.connection.from_arrow(pa.table(columns | {"n": column_of(np.arange(len(keys)))})).set_alias("wanted")
    same = " AND ".join(f"wanted.v{k} IS NOT DISTINCT FROM found.i{k}" for k in range(len(symbols)))
    return [row for _, row in sorted(wanted.join(groups, same, how="left").project("n, r").fetchall())]


def _kinds(table: DuckDBTable, expressions: Sequence[str]) -> list[Any]:
    """Arrow types of expressions over a table."""
    shown = ", ".join(f"{expression} AS i{k}" for k, expression in enumerate(expressions))
    return [field.type for field in table.relation.limit(0).project(shown).to_arrow_table().schema]
