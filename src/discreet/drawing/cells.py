"""Released cells in values, and the labels of the mechanism that they are."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.drawing.fitting import fitting
from discreet.mechanism import Draw
from discreet.tables.arrow import texts
from discreet.tables.dialect import DUCKDB
from discreet.tables.session import DuckDBTable

__all__ = ["cell_symbol", "value_table"]


def cell_symbol(released: DuckDBTable, column: str, name: str | None = None) -> str:
    """A released cell as it is compared: NaN is null, and zero has no sign. ``name`` where it goes by another."""
    return DUCKDB.value_or_null(name or column, released.kinds[column])


def value_table(released: DuckDBTable, draw: Draw, columns: Sequence[str], stated: dict[str, str]) -> Any:
    """Arrow table (y, v0, v1, ...): every label that can be published, and its values as the release spells them.

    Parameters
    ----------
    columns : sequence of str
        Names of the released columns.
    stated : dict
        Their types in the table, by which numbers and dates were written where the format has text alone.
    """
    import pyarrow as pa

    shown = ", ".join(f"{cell_symbol(released, column)} AS v{k}" for k, column in enumerate(columns))
    kinds = [field.type for field in released.relation.limit(0).project(shown).to_arrow_table().schema]
    parts = [list(part) for part in zip(*(draw.values or {}).values())]
    for k, column in enumerate(columns):
        if released.kinds[column] == "VARCHAR" and stated[column] != "VARCHAR":
            parts[k] = _as_texts(released, parts[k], stated[column])
    made, known = fitting(list(zip(*parts)), kinds, columns)
    labels = list(draw.values or {})
    return pa.table({"y": texts([labels[k] for k in known])} | {f"v{k}": column for k, column in enumerate(made)})


def _as_texts(released: DuckDBTable, values: Sequence[Any], kind: str) -> list[str | None]:
    """Values of a type as a file of text has them."""
    import pyarrow as pa

    given = released.connection.from_arrow(pa.table({"v": pa.array(values), "n": pa.array(range(len(values)))}))
    typed = DUCKDB.as_text(f"CAST(v AS {kind})")
    return [text for _, text in sorted(given.project(f"n, {typed} AS v").fetchall())]
