"""Parquet files of one table: what a later file holds fits into the types of the first, which the table is read by.

An engine casts cells of later files to the types of the first one. A cast that changes cells would change what is
counted, drawn and published, and nobody would see it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from discreet._support.errors import UnreadableTableError

__all__ = ["check_types"]


def check_types(files: Sequence[str], name: str) -> None:
    """An error where a column of some file would not survive the type that the first file has for it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if len(files) < 2:
        return
    try:
        with ThreadPoolExecutor() as pool:
            schemas = list(pool.map(pq.read_schema, files))
    except (pa.ArrowException, OSError):
        return  # reading them tells what is wrong
    first = {field.name.casefold(): field for field in schemas[0]}
    for file, schema in zip(files[1:], schemas[1:]):
        if schema.equals(schemas[0]):
            continue
        for field in schema:
            own = first.get(field.name.casefold())
            if own is not None and not _fits(field.type, own.type):
                raise UnreadableTableError(
                    f"the files of {name} differ in column {own.name!r}: {own.type} in {Path(files[0]).name!r}, "
                    f"{field.type} in {Path(file).name!r}, whose values would change. Write all files with one type."
                )


def _fits(kind: Any, into: Any) -> bool:
    """Whether every value of a type is one of another, and is read as it."""
    import pyarrow as pa

    kind, into = _plain(kind), _plain(into)
    if kind.equals(into) or pa.types.is_null(kind):
        return True
    if pa.types.is_integer(kind) and pa.types.is_integer(into):
        wider = into.bit_width > kind.bit_width
        same_sign = pa.types.is_signed_integer(kind) == pa.types.is_signed_integer(into)
        return bool(wider and (same_sign or pa.types.is_signed_integer(into)))
    if pa.types.is_floating(kind) and pa.types.is_floating(into):
        return bool(into.bit_width > kind.bit_width)
    if pa.types.is_decimal(kind) and pa.types.is_decimal(into):
        before = into.precision - into.scale >= kind.precision - kind.scale
        return bool(before and into.scale >= kind.scale)
    return False


def _plain(kind: Any) -> Any:
    """A type without how it is laid out in memory."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string(kind):
        return pa.string()
    return pa.binary() if pa.types.is_large_binary(kind) else kind
