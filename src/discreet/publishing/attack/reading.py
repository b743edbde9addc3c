"""Tables of an attack as columns of Arrow whose rows correspond: by their places, or by an id in both."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from discreet._support import validate
from discreet._support.errors import InputError
from discreet._support.numeric import IntArray
from discreet.publishing.attack.columns import together
from discreet.tables.arrow import integers
from discreet.tables.dialect import DUCKDB
from discreet.tables.session import FILE, ROW, is_spark, open_table
from discreet.twins.cells import Cells, cells_of

__all__ = ["Pair", "read_pair"]

#: Share of the released rows whose ids must be in the original.
LEAST_LINKED = 0.5

#: Share of them that may go unlinked, and so unchecked, where something is called not broken.
MOST_UNLINKED = 0.01


class Link(NamedTuple):
    """Of each row its place in the release, and its id: whoever has the release sees both."""

    places: IntArray
    ids: Cells


@dataclass(frozen=True, eq=False)
class Pair:
    """Two tables, row by row.

    Attributes
    ----------
    original, released : dict of str to Arrow column
        By name, without ids.
    rows : int
        Of each column.
    secret : dict of str to Arrow column
        Sensitive columns of all rows of the original.
    places : ndarray of int
        Of each row its place in the original.
    notes : tuple of str
        What was left out, and why.
    unchecked : tuple of str
        What of it is so much that nothing can be called safe.
    persons : ndarray of int or None
        A code of whom each row is about.
    link : Link or None
        Where the released rows stand, and by which ids they are linked; None where they correspond by their places.
    """

    original: dict[str, Any]
    released: dict[str, Any]
    rows: int
    secret: dict[str, Any]
    places: IntArray
    notes: tuple[str, ...]
    unchecked: tuple[str, ...] = ()
    persons: IntArray | None = None
    link: Link | None = None


def read_pair(
    original: Any,
    released: Any,
    sensitive: Sequence[str],
    useful: Sequence[str] | None,
    id: str | None,
    person: str | None = None,
) -> Pair:
    """The columns that an attack needs, in rows that correspond."""
    for table in (original, released):
        if is_spark(table):
            raise InputError("an attack works in memory and takes no Spark DataFrame. Write it to Parquet first.")
    with open_table(original, places=True) as first, open_table(released, places=True) as second:
        ids = () if id is None else (id,)
        whose = () if person is None else (person,)
        validate.columns_exist([*sensitive, *(useful or ()), *ids, *whose], first.columns, first.name)
        validate.columns_exist(ids, second.columns, second.name)
        names = _of_release(first.columns, second.columns, sensitive, ids, useful)
        shared = [name for name in names if name in first.columns and name not in sensitive]
        before = _in_order(first, [*dict.fromkeys([*sensitive, *shared, *ids, *whose])])
        after = _in_order(second, [*names, *ids])
    notes = tuple(f"The release itself holds the sensitive column {c!r}." for c in sensitive if c in second.columns)
    secret = {name: before[name] for name in sensitive}
    persons = None if person is None else _codes(before[person])
    here = np.arange(len(secret[sensitive[0]]))
    unchecked: tuple[str, ...] = ()
    link = None
    if id is not None:
        sizes = len(here), len(after[id])
        ids = before.pop(id)
        here, there = _linked(ids, after.pop(id), id)
        link = Link(there, cells_of(f"{id} (links rows)", ids.take(here)))
        missing, unknown = _unlinked(*sizes, len(here), id)
        notes = (
            *notes,
            *missing,
            *unknown,
            f"Where {id!r} is published as well, it links rows to people. Models look at it, and at the file's order.",
        )
        unchecked = unknown if sizes[1] - len(here) > MOST_UNLINKED * sizes[1] else ()
        before = {name: column.take(here) for name, column in before.items()}
        after = {name: column.take(there) for name, column in after.items()}
    people = None if persons is None else persons[here]
    return Pair(before, after, _rows(before, after), secret, here, notes, unchecked, people, link)


def _of_release(
    before: Sequence[str], after: Sequence[str], sensitive: Sequence[str], ids: Sequence[str], useful: Any
) -> list[str]:
    """Columns of the release that are used: shared ones that are wanted, all that the original does not have, and S."""
    wanted = set(before if useful is None else useful) - {*sensitive, *ids}
    if not wanted & set(after):
        raise InputError(
            "no useful column of the original is in the release. Give both the same names, or name those "
            "that both have (useful=, --useful)."
        )
    every = wanted | set(sensitive)
    return [name for name in after if name not in ids and (name in every or name not in before)]


def _in_order(opened: Any, names: Sequence[str]) -> dict[str, Any]:
    ordered = opened.relation.order(f"{FILE}, {ROW}").project(", ".join(map(DUCKDB.identifier, names)))
    found = ordered.to_arrow_table()
    return {name: found.column(k) for k, name in enumerate(names)}


def _rows(before: dict[str, Any], after: dict[str, Any]) -> int:
    first, second = (len(next(iter(columns.values()))) for columns in (before, after))
    if first != second:
        raise InputError(
            f"the original has {first:,} rows and the release {second:,}, so they do not correspond by their places. "
            "Link them by an id that both have (id=, --id)."
        )
    return first


def _codes(persons: Any) -> IntArray:
    """Codes of persons, by their values; every null is somebody else."""
    cells = cells_of("person", persons, way=None)
    nobody = np.flatnonzero(cells.codes < 0)
    codes = cells.codes.copy()
    codes[nobody] = cells.n_values + np.arange(len(nobody))
    return codes


def _unlinked(original: int, released: int, linked: int, id: str) -> tuple[list[str], tuple[str, ...]]:
    """Notes on rows of the original that are not released, and on released ones that nobody of the original has."""
    missing, unknown = original - linked, released - linked
    gone = (
        f"Of {original:,} rows of the original {missing:,} are not in the release. Lifts are relative to all of them."
    )
    odd = f"Of {released:,} released rows {unknown:,} have an {id!r} that the original lacks: they were not looked at."
    return [gone] if missing else [], (odd,) if unknown else ()


def _linked(before: Any, after: Any, id: str) -> tuple[IntArray, IntArray]:
    """Rows of both tables whose ids are equal, in the order of the original."""
    for column, table in ((before, "original"), (after, "release")):
        if column.null_count:
            raise InputError(f"id {id!r} is null in {column.null_count:,} rows of the {table}. Fill it.")
    coded = together(before, after).dictionary_encode()
    codes = integers(coded.indices)
    first, second = codes[: len(before)], codes[len(before) :]
    for part, table in ((first, "original"), (second, "release")):
        if len(np.unique(part)) < len(part):
            raise InputError(f"id {id!r} repeats in the {table}. Use a column whose values differ in all rows.")
    place = np.full(len(coded.dictionary), -1)
    place[second] = np.arange(len(second))
    here = np.flatnonzero(place[first] >= 0)
    if len(here) < LEAST_LINKED * len(second):
        raise InputError(
            f"of {len(second):,} released rows {len(here):,} have an id {id!r} of the original, fewer than half. Use "
            "ids that both tables share."
        )
    return here, place[first[here]]
