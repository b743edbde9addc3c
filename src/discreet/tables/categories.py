"""Categories that the type of a column lists, and that no row has."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from discreet.tables.arrow import whole
from discreet.tables.frames import to_arrow

__all__ = ["with_unused_categories"]

#: How names of types that list their values begin: those of pandas, Polars and Arrow.
LISTING = ("category", "Enum", "Categorical", "dictionary")


def with_unused_categories(frame: Any, columns: Sequence[str]) -> tuple[str, ...]:
    """Columns of a collected frame whose types list values that no row has.

    >>> import pandas as pd
    >>> jobs = pd.Categorical(["cook", "smith"], categories=["cook", "smith", "spy"])
    >>> with_unused_categories(pd.DataFrame({"job": jobs, "age": [41, 52]}), ["job", "age"])
    ('job',)
    """
    listing = {name for name, kind in _kinds(frame) if str(kind).startswith(LISTING)}
    listed = [column for column in columns if column in listing]
    if not listed:
        return ()
    arrow = to_arrow(frame, listed)
    return tuple(column for column in listed if _has_unused(arrow.column(column)))


def _kinds(frame: Any) -> Iterable[tuple[str, Any]]:
    """Names and types of a frame's columns, in its own words."""
    if hasattr(frame, "collect_schema"):
        return list(frame.collect_schema().items())
    if hasattr(frame, "dtypes"):
        return list(frame.dtypes.items())
    return list(zip(frame.schema.names, frame.schema.types))


def _has_unused(column: Any) -> bool:
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return False
    plain = whole(column.unify_dictionaries())
    return len(plain.dictionary) > len(plain.indices.unique().drop_null())
