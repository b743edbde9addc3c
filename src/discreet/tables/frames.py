"""Frames in memory: what is read of them, and the released columns put back beside the kept ones."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import duckdb
import numpy as np

from discreet._support.errors import DiscreetError, UnreadableTableError, UnusableColumnError
from discreet.tables.arrow import whole
from discreet.tables.dialect import DUCKDB
from discreet.tables.files import check_names

__all__ = [
    "Output",
    "Palette",
    "collected",
    "columns_of",
    "has_stable_rows",
    "is_relation",
    "put_together",
    "stream",
    "to_arrow",
]

#: What is published, from left to right: a column of the frame or the number of a draw, and its name.
Output = Sequence[tuple[str | int, str]]

#: Types of DuckDB whose values are symbols as text, and of which Arrow holds some only.
WITHOUT_ARROW = ("HUGEINT", "UHUGEINT", "TIME WITH TIME ZONE")

#: Those of which Arrow holds other values: the largest as negative ones, times of day without their zones.
CHANGED_BY_ARROW = ("UHUGEINT", "TIME WITH TIME ZONE")

#: Digits of the longest decimals that DuckDB reads.
MOST_DIGITS = 38

NOT_A_TABLE = "a table must be a pandas, Polars or Spark frame, an Arrow table, a DuckDB relation or a path, got {}."


def library(table: Any) -> str:
    """Name of the library that a frame belongs to."""
    return type(table).__module__.partition(".")[0].lstrip("_")


def has_stable_rows(table: Any) -> bool:
    """Whether the place of a row can serve as its id: a plan, a relation or a stream has no rows yet."""
    return not (hasattr(table, "collect") or hasattr(table, "read_next_batch") or is_relation(table))


def is_relation(table: Any) -> bool:
    """Whether a table is a relation of DuckDB."""
    return isinstance(table, duckdb.DuckDBPyRelation)


def columns_of(table: Any) -> list[str]:
    """Names of a frame's columns."""
    if hasattr(table, "collect_schema"):
        return list(table.collect_schema().names())
    if library(table) != "pyarrow" and not hasattr(table, "columns"):
        raise UnreadableTableError(NOT_A_TABLE.format(type(table).__name__))
    return list(table.schema.names) if library(table) == "pyarrow" else list(table.columns)


def stream(relation: Any, columns: Sequence[str]) -> Any:
    """Columns of a relation as a stream of Arrow batches, which is read once; what Arrow has no type for is text."""
    chosen = _with_texts(relation, columns, WITHOUT_ARROW)
    return chosen.to_arrow_reader() if hasattr(chosen, "to_arrow_reader") else chosen.fetch_arrow_reader()


def _with_texts(relation: Any, columns: Sequence[str], kinds: Sequence[str]) -> Any:
    """Columns of a relation, those of some types as texts."""
    types = dict(zip(relation.columns, map(str, relation.types)))
    return relation.project(
        ", ".join(_cast(c, "VARCHAR") if types[c] in kinds else DUCKDB.identifier(c) for c in columns)
    )


def _cast(column: str, kind: str) -> str:
    name = DUCKDB.identifier(column)
    return f"CAST({name} AS {kind}) AS {name}"


def collected(table: Any, columns: Sequence[str] | None = None) -> Any:
    """The frame with these columns (all where left out), computed where it was only planned."""
    import pyarrow as pa

    if columns is None:
        columns = columns_of(table)
    if is_relation(table):
        return _with_texts(table, columns, CHANGED_BY_ARROW).to_arrow_table()
    if hasattr(table, "collect"):
        return table.select(list(columns)).collect()
    if isinstance(table, pa.RecordBatchReader):
        return table.read_all()
    return pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table


def to_arrow(table: Any, columns: Sequence[str]) -> Any:
    """Columns of a frame of any library as an Arrow table."""
    library = type(table).__module__.partition(".")[0]
    convert = {"pandas": _pandas_to_arrow, "polars": _polars_to_arrow, "pyarrow": _arrow}.get(library)
    if convert is None:
        raise UnreadableTableError(NOT_A_TABLE.format(type(table).__name__))
    return _readable(convert(table, columns))


def _readable(arrow: Any) -> Any:
    """An Arrow table in types that DuckDB reads: half floats and decimals of 256 bits are read as their neighbours."""
    import pyarrow as pa

    for place, field in enumerate(arrow.schema):
        kind = field.type
        if not field.name or "\0" in field.name:
            raise UnusableColumnError(
                f"the table's column {place + 1} is called {field.name!r}, which DuckDB cannot call it. Rename it."
            )
        if pa.types.is_float16(kind):
            other = pa.float32()
        elif pa.types.is_decimal256(kind) and kind.precision <= MOST_DIGITS:
            other = pa.decimal128(kind.precision, kind.scale)
        elif pa.types.is_decimal256(kind):
            raise UnusableColumnError(
                f"the column {field.name!r} holds {kind}, and decimals are read up to {MOST_DIGITS} digits. Cast it to "
                "decimal128 or float64, or leave it out of the table."
            )
        else:
            continue
        arrow = arrow.set_column(place, field.with_type(other), arrow.column(place).cast(other))
    return arrow


def _pandas_to_arrow(frame: Any, columns: Sequence[str]) -> Any:
    import pyarrow as pa

    if not hasattr(frame, "columns"):
        raise UnreadableTableError(f"a table must have columns, got a pandas {type(frame).__name__}.")
    check_names(columns, list(frame.columns), "the table")
    try:
        return pa.Table.from_pandas(frame[list(dict.fromkeys(columns))], preserve_index=False)
    except (pa.ArrowException, OverflowError, UnicodeError, TypeError):
        # Arrow's own message quotes a cell.
        raise UnreadableTableError(
            f"one of the columns {', '.join(columns)} mixes types of values, or has some that no column type "
            "holds. Convert it to one type, such as str."
        ) from None


def _polars_to_arrow(frame: Any, columns: Sequence[str]) -> Any:
    if not hasattr(frame, "collect_schema"):
        raise UnreadableTableError(f"a table must have columns, got a Polars {type(frame).__name__}.")
    try:
        check_names(columns, frame.collect_schema().names(), "the table")
        chosen = frame.select(list(dict.fromkeys(columns)))
        return (chosen.collect() if hasattr(chosen, "collect") else chosen).to_arrow()
    except DiscreetError:
        raise
    except Exception as error:  # a lazy frame fails in the ways of its source, and its message may quote a cell
        raise UnreadableTableError(
            f"the frame cannot be computed: Polars raised {type(error).__name__}. Collect it to see why."
        ) from None


def _arrow(table: Any, columns: Sequence[str]) -> Any:
    import pyarrow as pa

    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if not hasattr(table, "schema"):
        raise UnreadableTableError(f"a table must have columns, got a pyarrow {type(table).__name__}.")
    check_names(columns, table.schema.names, "the table")
    # A reader can be read once only, and quantiles need a second look.
    return table.read_all() if isinstance(table, pa.RecordBatchReader) else table


class Palette(NamedTuple):
    """What numbers of a drawn column stand for: cells of a column of the frame itself, or texts.

    Cells that are taken from the frame keep its type, whatever that is: categories, nullable integers, objects. Those
    that the frame has not are made of values.
    """

    column: str
    rows: Sequence[int | None]  # None: a cell that the frame has not
    values: Sequence[Any]
    is_text: bool = False  # the column publishes other words than its own, those of intervals

    @property
    def known(self) -> list[int]:
        """Rows of the cells that are taken from the frame."""
        return [row for row in self.rows if row is not None]

    @property
    def missing(self) -> list[Any]:
        """Values, but for null, that the frame has no cell of."""
        return [v for row, v in zip(self.rows, self.values) if row is None and v is not None]

    @property
    def places(self) -> list[int | None]:
        """Where each number is among the known cells and the missing values behind them; None for a null."""
        known, missing = iter(range(len(self.known))), iter(range(len(self.known), len(self.rows)))
        return [
            next(known) if row is not None else None if v is None else next(missing)
            for row, v in zip(self.rows, self.values)
        ]


@contextlib.contextmanager
def _fitting(column: str) -> Iterator[None]:
    """Errors of libraries that cannot put a value into a column, without quoting it."""
    try:
        yield
    except Exception:
        raise UnusableColumnError(
            f"a value that would be published does not occur in {column!r}, and its type cannot hold it. Release the "
            "symbols of the mechanism as labels (as_values=False), or release to a file."
        ) from None


def put_together(
    original: Any, frame: Any, drawn: Any, output: Output, place: str, palettes: Mapping[str, Palette]
) -> Any:
    """The published columns in the library of the original: kept ones untouched, drawn ones as text or in its values.

    ``frame`` is the collected original and ``drawn`` an Arrow table with the number of each row in the column
    ``place``; of a column that has a palette it holds numbers. The index of a pandas frame is not a chosen column, so
    it is not published.
    """
    rows = np.asarray(drawn.column(place))
    in_order = bool((rows == np.arange(len(rows))).all())
    kind = library(original)
    if kind == "pandas":
        return _pandas(frame, rows, in_order, drawn, output, palettes)
    if kind == "polars":
        return _polars(original, frame, rows, in_order, drawn, output, palettes)
    import pyarrow as pa

    kept = frame.select(list(dict.fromkeys(what for what, _ in output if not isinstance(what, int))))
    base = kept if in_order else _arrow_rows(kept, rows)
    names = [name for _, name in output]
    columns, fields = [], []
    for what, name in output:
        cells = drawn.column(name) if isinstance(what, int) else base.column(what)
        field = pa.field(name, pa.string()) if isinstance(what, int) else base.schema.field(what)
        palette = palettes.get(name) if isinstance(what, int) else None
        if palette is not None:
            field = field if palette.is_text else frame.schema.field(palette.column).with_name(name)
            cells = _arrow_cells(_arrow_palette(frame, palette), cells, field.type)
            field = field.with_nullable(field.nullable or cells.null_count > 0)
        columns.append(cells)
        fields.append(field)
    released = pa.Table.from_arrays(columns, schema=pa.schema(fields)) if names else base
    if is_relation(original):
        return _relation(original, released, {name: what for what, name in output if not isinstance(what, int)})
    return released.to_batches()[0] if isinstance(original, pa.RecordBatch) and released.num_rows else released


def _relation(original: Any, released: Any, kept: Mapping[str, str]) -> Any:
    """An Arrow table as a relation beside the original; kept columns in their own types, which Arrow may not have."""
    made = original.query("discreet_released_from", "SELECT * FROM released")
    before, now = (dict(zip(one.columns, map(str, one.types))) for one in (original, made))
    wanted = {name: before[kept[name]] if name in kept else kind for name, kind in now.items()}
    if wanted == now:
        return made
    return made.project(", ".join(_cast(c, k) if now[c] != k else DUCKDB.identifier(c) for c, k in wanted.items()))


def _arrow_rows(frame: Any, rows: Any) -> Any:
    """Rows of an Arrow table; of views, whose cells Arrow cannot take, by way of what they are views of."""
    import pyarrow as pa

    lasting, places = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}, pa.array(rows)
    columns = [
        column.cast(lasting[str(column.type)]).take(places).cast(column.type)
        if str(column.type) in lasting
        else column.take(places)
        for column in frame.columns
    ]
    return pa.Table.from_arrays(columns, schema=frame.schema)


def _arrow_cells(palette: Any, numbers: Any, kind: Any) -> Any:
    """The cells that numbers stand for; a dictionary is made anew, since the old one tells of cells that it was for."""
    import pyarrow as pa

    if not pa.types.is_dictionary(kind):
        return palette.take(numbers).cast(kind)
    plain = palette.dictionary_decode() if pa.types.is_dictionary(palette.type) else palette
    coded = whole(plain.take(numbers)).dictionary_encode()
    made = pa.DictionaryArray.from_arrays(
        coded.indices.cast(kind.index_type), coded.dictionary.cast(kind.value_type), ordered=kind.ordered
    )
    return pa.chunked_array([made])


def _arrow_palette(frame: Any, palette: Palette) -> Any:
    import pyarrow as pa

    if palette.is_text:
        return pa.array(palette.values, pa.string())
    own = whole(frame.column(palette.column))
    if own.type == pa.string_view():  # whose cells Arrow cannot take
        own = own.cast(pa.large_string())
    if not palette.missing:
        return own.take(pa.array(palette.rows, pa.int64()))
    with _fitting(palette.column):
        cells = [*own.take(pa.array(palette.known, pa.int64())).to_pylist(), *palette.missing]
        return pa.array(cells, own.type).take(pa.array(palette.places, pa.int64()))


def _pandas(frame: Any, rows: Any, in_order: bool, drawn: Any, output: Output, palettes: Mapping[str, Palette]) -> Any:
    import pandas as pd

    base = (frame if in_order else frame.iloc[rows]).reset_index(drop=True)

    def released(name: str) -> Any:
        cells, palette = drawn.column(name).to_pandas(), palettes.get(name)
        if palette is None:
            return cells
        if palette.is_text:
            return _arrow_palette(frame, palette).take(drawn.column(name)).to_pandas()
        own = frame[palette.column].iloc[palette.known]
        if palette.missing:
            with _fitting(palette.column):
                more = pd.Series(palette.missing, dtype=own.dtype)
                if more.isna().any():
                    raise ValueError("a category that the column has not")
                own = pd.concat([own, more])
        if isinstance(own.dtype, pd.CategoricalDtype):
            own = _recoded(own, frame[palette.column])
        places = [-1 if place is None else place for place in palette.places]  # no row has this place, so it is null
        return own.reset_index(drop=True).reindex(places).take(cells).reset_index(drop=True)

    return pd.DataFrame({name: released(name) if isinstance(what, int) else base[what] for what, name in output})


def _recoded(own: Any, column: Any) -> Any:
    """Categories without those of cells that are not published, and in an order that tells nothing of the table."""
    hidden = set(column.dropna().unique()) - set(own.dropna().unique())
    shown = [category for category in own.cat.categories if category not in hidden]
    return own.cat.set_categories(shown if own.cat.ordered else sorted(shown, key=str))


def _polars_palette(frame: Any, palette: Palette) -> Any:
    import polars as pl

    own = frame[palette.column].gather(palette.known)
    if isinstance(own.dtype, pl.Enum):  # categories are part of the type, but not those of cells that are not published
        hidden = set(frame[palette.column].unique().to_list()) - set(own.to_list())
        own = own.cast(pl.Enum([category for category in own.dtype.categories if category not in hidden]))
    if palette.missing:
        with _fitting(palette.column):
            own = pl.concat([own, pl.Series(own.name, palette.missing, dtype=own.dtype)])
    return own.gather(pl.Series(palette.places, dtype=pl.UInt32))


def _polars(
    original: Any,
    frame: Any,
    rows: Any,
    in_order: bool,
    drawn: Any,
    output: Output,
    palettes: Mapping[str, Palette],
) -> Any:
    import polars as pl

    base = frame if in_order else frame[rows]

    def published(name: str) -> Any:
        palette = palettes.get(name)
        if palette is None:
            return pl.Series(name, pl.from_arrow(drawn.column(name)), dtype=pl.String)
        own = pl.Series(palette.values, dtype=pl.String) if palette.is_text else _polars_palette(frame, palette)
        return own.gather(pl.Series(pl.from_arrow(drawn.column(name)))).alias(name)

    columns = [published(name) if isinstance(what, int) else base[what] for what, name in output]
    released = pl.DataFrame(columns)
    return released.lazy() if hasattr(original, "collect") else released
