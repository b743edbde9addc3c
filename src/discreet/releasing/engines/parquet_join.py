"""Parquet files of one writer joined into one, without reading a page.

A Parquet file is its magic number, groups of rows, and a footer that says where they lie. Files of the same columns
are joined by copying the groups one after the other and moving the offsets in the footer. The footer is a structure of
Thrift's compact protocol, read here without a schema: fields keep their numbers, and those that are offsets are known
by number (parquet.thrift of the Parquet format).
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple

from discreet._support.beside import begun
from discreet._support.errors import InternalError
from discreet.tables.digest import growing_digest

__all__ = ["JoinedFile", "join_parquet"]

MAGIC = b"PAR1"

# Types of the compact protocol.
STOP, TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(13)

# Numbers of fields in parquet.thrift.
SCHEMA, NUM_ROWS, ROW_GROUPS = 2, 3, 4  # of FileMetaData
COLUMNS, GROUP_OFFSET, ORDINAL = 1, 5, 7  # of RowGroup
CHUNK_OFFSET, META_DATA, OFFSET_INDEX, COLUMN_INDEX = 2, 3, 4, 6  # of ColumnChunk
PAGE_OFFSETS = (9, 10, 11, 14)  # of ColumnMetaData: data, index and dictionary pages, Bloom filter

Fields = dict[int, tuple[int, Any]]


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def varint(self) -> int:
        result = shift = 0
        while True:
            byte = self.byte()
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result
            shift += 7

    def value(self, kind: int) -> Any:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind == BYTE:
            return self.byte()
        if kind in (I16, I32, I64):
            number = self.varint()
            return (number >> 1) ^ -(number & 1)
        if kind == DOUBLE:
            self.place += 8
            return self.data[self.place - 8 : self.place]
        if kind == BINARY:
            size = self.varint()
            self.place += size
            return self.data[self.place - size : self.place]
        if kind in (LIST, SET):
            head = self.byte()
            size = head >> 4 if head >> 4 < 15 else self.varint()
            inner = head & 15
            return inner, [self.byte() if inner in (TRUE, FALSE) else self.value(inner) for _ in range(size)]
        if kind == STRUCT:
            return self.fields()
        raise InternalError("a Parquet footer holds a type that it should not.")

    def fields(self) -> Fields:
        found: Fields = {}
        number = 0
        while head := self.byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self.value(I16)
            found[number] = (kind, self.value(kind))
        return found


def _varint(number: int) -> bytes:
    result = bytearray()
    while number >= 0x80:
        result.append(number & 0x7F | 0x80)
        number >>= 7
    result.append(number)
    return bytes(result)


def _written(kind: int, value: Any) -> bytes:
    if kind in (TRUE, FALSE):
        return b""  # a field's own type says it
    if kind == BYTE:
        return bytes([value])
    if kind in (I16, I32, I64):
        return _varint((value << 1) ^ (value >> 63) if value < 0 else value << 1)
    if kind == DOUBLE:
        return bytes(value)
    if kind == BINARY:
        return _varint(len(value)) + bytes(value)
    if kind in (LIST, SET):
        inner, items = value
        head = bytes([len(items) << 4 | inner]) if len(items) < 15 else bytes([0xF0 | inner]) + _varint(len(items))
        return head + b"".join(bytes([i]) if inner in (TRUE, FALSE) else _written(inner, i) for i in items)
    parts, last = [], 0
    for number, (inner, item) in value.items():
        step = number - last
        parts.append(bytes([step << 4 | inner]) if 0 < step < 16 else bytes([inner]) + _written(I16, number))
        parts.append(_written(inner, item))
        last = number
    return b"".join(parts) + bytes([STOP])


def _footer(path: Path) -> tuple[Fields, int]:
    """The footer of a file, and where its groups of rows end."""
    content, end = _stored_footer(path)
    return _Reader(content).fields(), end


def _stored_footer(path: Path) -> tuple[bytes, int]:
    with open(path, "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(size - 8)
        length, magic = struct.unpack("<I4s", stream.read(8))
        if magic != MAGIC:
            raise InternalError("a part of a release is not a Parquet file.")
        stream.seek(size - 8 - length)
        return stream.read(length), size - 8 - length


def _moved(group: Fields, by: int, ordinal: int) -> Fields:
    """A group of rows that lies further behind in its file."""

    def move(fields: Fields, numbers: Sequence[int]) -> Fields:
        return {n: (kind, value + by if n in numbers and value else value) for n, (kind, value) in fields.items()}

    result = move(group, (GROUP_OFFSET,))
    if ORDINAL in result:
        result[ORDINAL] = (I16, ordinal)
    inner, columns = result[COLUMNS][1]
    chunks = []
    for column in columns:
        chunk = move(column, (CHUNK_OFFSET, OFFSET_INDEX, COLUMN_INDEX))
        chunk[META_DATA] = (STRUCT, move(chunk[META_DATA][1], PAGE_OFFSETS))
        chunks.append(chunk)
    result[COLUMNS] = (LIST, (inner, chunks))
    return result


class JoinedFile(NamedTuple):
    """How many rows a joined file has, and its digest, which is still being computed."""

    rows: int
    digest: Future[str]


def join_parquet(parts: Sequence[Path], target: Path) -> JoinedFile:
    """Join files into one, in their order. The first part becomes the target.

    Copying and digesting leave Python to others: footers are put together meanwhile.
    """
    stored = [_stored_footer(part) for part in parts]
    os.replace(parts[0], target)
    sizes: list[Future[int]] = [Future(), Future(), Future()]  # of the first part, of all of them, of the file
    sizes[0].set_result(stored[0][1])
    try:
        digest = begun(growing_digest, target, sizes)
        with open(target, "r+b") as output:
            output.truncate(stored[0][1])
            output.seek(stored[0][1])
            places = []
            for part, (_, end) in zip(parts[1:], stored[1:]):
                places.append(output.tell() - len(MAGIC))
                with open(part, "rb") as stream:
                    stream.seek(len(MAGIC))
                    _copy(stream, output, end - len(MAGIC))
                part.unlink()
            output.flush()
            sizes[1].set_result(output.tell())
            footer = _joined_footer([content for content, _ in stored], places)
            content = _written(STRUCT, footer)
            output.write(content + struct.pack("<I4s", len(content), MAGIC))
            output.flush()
            sizes[2].set_result(output.tell())
    except BaseException as error:
        for size in sizes:
            if not size.done():
                size.set_exception(error)  # nobody is to wait for it
        raise
    return JoinedFile(int(footer[NUM_ROWS][1]), digest)


def _joined_footer(stored: Sequence[bytes], places: Sequence[int]) -> Fields:
    """The footer of all groups of rows; those of every part but the first lie further behind than it says."""
    footer, *others = (_Reader(content).fields() for content in stored)
    groups = list(footer[ROW_GROUPS][1][1])
    rows = int(footer[NUM_ROWS][1])
    for more, by in zip(others, places):
        if more[SCHEMA] != footer[SCHEMA]:
            raise InternalError("parts of a release are written with different columns.")
        groups += [_moved(group, by, len(groups) + k) for k, group in enumerate(more[ROW_GROUPS][1][1])]
        rows += int(more[NUM_ROWS][1])
    footer[NUM_ROWS] = (I64, rows)
    footer[ROW_GROUPS] = (LIST, (STRUCT, groups))
    return footer


def _copy(source: Any, target: Any, size: int) -> None:
    target.flush()
    place, end = source.tell(), source.tell() + size
    if hasattr(os, "copy_file_range"):
        try:
            while place < end:
                moved = os.copy_file_range(source.fileno(), target.fileno(), end - place, place)
                if not moved:
                    break
                place += moved
        except OSError:  # another file system, or one that cannot
            pass
        target.seek(0, os.SEEK_END)
        source.seek(place)
    while place < end:
        block = source.read(min(1 << 24, end - place))
        if not block:
            raise InternalError("a part of a release is shorter than its footer says.")
        target.write(block)
        place += len(block)
