"""Numbers out of a DataFrame of Spark for which no row is moved: what tasks tally, and whether ids repeat."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet.tables.session import OWN

__all__ = ["COUNTED", "Span", "different", "inside", "sketches", "tallied"]

#: How a question for groups ends that asks for the rows of each and for nothing else.
COUNTED = "count(*) AS n"

#: Ids that are compared here, one by one; of more of them, those within so wide a range of integers.
MOST_GATHERED, WIDEST = 4_000_000, 1 << 27

SKETCH = "approx_count_distinct("


class Span(NamedTuple):
    """What is known of an id without comparing: rows, those that have one, and the ends of integers."""

    rows: int
    given: int
    low: int | None
    high: int | None

    @classmethod
    def over(cls, found: Any, number: int) -> Span:
        """Out of the groups of a table, or of all of it; the columns have this number behind their names."""
        import pyarrow.compute as pc

        rows, given = (pc.sum(found.column(f"{OWN}{what}{number}")).as_py() or 0 for what in ("n", "given"))
        low = pc.min(found.column(f"{OWN}low{number}")).as_py()
        return cls(rows, given, low, pc.max(found.column(f"{OWN}high{number}")).as_py())

    @property
    def width(self) -> int | None:
        """Integers between the ends, both of them included; None where ids are text."""
        return None if self.low is None or self.high is None else self.high - self.low + 1


def sketches(select: str) -> list[str] | None:
    """The expressions of a question for the number of rows and about how many values each of them takes, else None.

    >>> sketches("count(*) AS n, approx_count_distinct(`a`) AS d0")
    ['`a`']
    >>> sketches("count(*) AS n, count(DISTINCT `a`) AS d0") is None
    True
    """
    head, *parts = re.split(rf", (?={re.escape(SKETCH)})", select)
    ends = [f") AS d{k}" for k in range(len(parts))]
    if head != COUNTED or not all(part.endswith(end) for part, end in zip(parts, ends)):
        return None
    return [part[len(SKETCH) : -len(end)] for part, end in zip(parts, ends)]


def tallied(frame: Any, asked: Mapping[str, str]) -> Any:
    """The number of rows and further aggregates as an Arrow table of one row, n first.

    Tasks tally for themselves and tell the driver, once for each part: Spark's own plan of an aggregate would gather
    in a shuffle. Where it throws the tally out of the plan, as it does for no rows, it is asked for the plan.
    """
    import pyarrow as pa
    from pyspark.sql import Observation, functions

    columns = {"n": "count(1)", **asked}
    expressions = [functions.expr(expression).alias(name) for name, expression in columns.items()]
    seen = Observation()
    frame.observe(seen, *expressions).write.format("noop").mode("overwrite").save()
    found = seen.get
    if set(found) != set(columns):
        return frame.agg(*expressions).toArrow()
    return pa.table({name: [found[name]] for name in columns})


def inside(column: Any, ends: Sequence[Any], low: int, high: int) -> Any:
    """Whether an id has passed an odd number of the ends of windows: found by halves, as `stretches.inside` does."""
    from pyspark.sql import functions

    if low == high:
        return functions.lit(bool(low % 2))
    middle = (low + high) // 2
    before, behind = inside(column, ends, low, middle), inside(column, ends, middle + 1, high)
    return functions.when(column < ends[middle], before).otherwise(behind)


def different(ids: Any, span: Span) -> int:
    """How many different values the only column of a DataFrame has, which has no nulls; exactly.

    Few of them come here, integers as they are and text by its hash; many integers that lie close come as gaps between
    sorted ones. Only what is left is compared by Spark, which moves every id for it.
    """
    if span.given <= MOST_GATHERED:
        found = _gathered(ids, span)
    else:
        found = _in_gaps(ids, span) if span.width is not None and span.width <= WIDEST else None
    return found if found is not None else int(tallied(ids.distinct(), {}).column(0)[0].as_py())


def _gathered(ids: Any, span: Span) -> int | None:
    """Different ids among few; None where hashes meet, which do not tell whether texts do."""
    told = ids if span.width is not None else ids.selectExpr("xxhash64(i) AS i")
    found = len(np.unique(np.asarray(told.toArrow().column(0))))
    return None if span.width is None and found < span.given else found


def _in_gaps(ids: Any, span: Span) -> int | None:
    """Different integers out of the sorted gaps of every part; None where Python cannot be run beside Spark's tasks."""
    from pyspark.errors import PySparkException

    assert span.low is not None
    assert span.width is not None
    try:
        parts = ids.selectExpr("CAST(i AS BIGINT) AS i").mapInArrow(_gaps(), "first bigint, width int, gaps binary")
        found = parts.toArrow().to_pylist()
    except PySparkException:
        return None
    seen = np.zeros(span.width, dtype=bool)
    for part in found:
        places = _values(part) - span.low
        if places[0] < 0 or places[-1] >= span.width:
            return None  # a DataFrame that is another one whenever it is computed
        seen[places] = True
    return int(seen.sum())


def _gaps() -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function for the tasks of Spark. It is sent by value: this library need not be where they run."""

    def gaps(batches: Iterator[Any]) -> Iterator[Any]:
        import zlib

        import numpy as np
        import pyarrow as pa

        parts = [np.asarray(batch.column(0)) for batch in batches if batch.num_rows]
        if not parts:
            return
        values = np.unique(np.concatenate(parts))
        apart = np.diff(values)
        width = next(size for size in (1, 2, 4, 8) if not len(apart) or int(apart.max()) < 1 << 8 * size)
        packed = zlib.compress(apart.astype(f"u{width}").tobytes(), 1)
        columns = [pa.array([int(values[0])]), pa.array([width], pa.int32()), pa.array([packed], pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, ["first", "width", "gaps"])

    return gaps


def _values(part: Mapping[str, Any]) -> Any:
    """The integers that a part has, sorted."""
    import zlib

    apart = np.frombuffer(zlib.decompress(part["gaps"]), dtype=f"u{part['width']}")
    return np.concatenate([[part["first"]], part["first"] + np.cumsum(apart, dtype=np.int64)])
