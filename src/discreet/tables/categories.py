"""Categories that the type of a column lists: those that no row has, and an order that tells nothing."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from discreet.tables.arrow import whole
from discreet.tables.frames import library, to_arrow

__all__ = ["listed_anew", "with_unused_categories"]

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


def listed_anew(frame: Any) -> Any:
    """A pandas or Arrow frame whose categories stand in an order that does not tell in which order rows once stood.

    Categories with an order of their own keep it.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"job": pd.Categorical(["smith", "cook"], categories=["smith", "cook"])})
    >>> list(listed_anew(frame)["job"].cat.categories)
    ['cook', 'smith']
    """
    if library(frame) == "pandas":
        for name, kind in frame.dtypes.items():
            if str(kind) == "category" and not kind.ordered:
                listed = sorted(kind.categories, key=lambda value: (type(value).__name__, str(value)))
                frame[name] = frame[name].cat.reorder_categories(listed)
    elif library(frame) == "pyarrow" and hasattr(frame, "set_column"):
        for place, field in enumerate(frame.schema):
            if str(field.type).startswith("dictionary") and not field.type.ordered:
                frame = frame.set_column(place, field, _coded_anew(frame.column(place), field.type))
    return frame


def _coded_anew(column: Any, kind: Any) -> Any:
    """A dictionary of the values that there are, as they come."""
    import pyarrow as pa

    plain = whole(column)
    coded = whole(plain.dictionary_decode() if pa.types.is_dictionary(plain.type) else plain).dictionary_encode()
    made = pa.DictionaryArray.from_arrays(coded.indices.cast(kind.index_type), coded.dictionary.cast(kind.value_type))
    return pa.chunked_array([made])


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
