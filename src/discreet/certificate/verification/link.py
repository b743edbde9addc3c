"""Rows of a table beside those of its release: as they stand, by their id, or by the place that each must have."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass

from discreet.certificate.verification.evidence import Evidence
from discreet.drawing.cells import cell_symbol
from discreet.drawing.thresholds import DIGITS
from discreet.tables.dialect import DUCKDB, is_float, is_label_type, literal
from discreet.tables.files import is_parquet
from discreet.tables.rows import RowRange
from discreet.tables.session import FILE, OWN, ROW, DuckDBTable

__all__ = ["RELEASE", "TABLE", "Link", "linked", "side_by_side", "stands_side_by_side"]

#: Variable of the connection that holds the sub-key of a random order, so that no query text does.
SHUFFLE_KEY = f"{OWN}shuffle_key"

#: Where a row must stand in the release, and where it does.
PLACE, STANDS = f"{OWN}place", f"{OWN}stands"

#: Views of the two tables in the connection that compares them.
TABLE, RELEASE = f"{OWN}table", f"{OWN}release"


@dataclass(frozen=True)
class Link:
    """Matched rows.

    Attributes
    ----------
    rows : str
        A query for ``k_*`` what the draws look up, ``id_`` whose draw it is, ``y*`` the released labels (in values
        ``c*_*``, the cells of which `Question.labelled` makes them), ``changed_`` whether a kept cell differs, ``s*_``
        the sensitive values, ``place_`` and ``stands_`` where the row must stand and where it does, ``there_`` whether
        the table has it; nulls where a row has no partner.
    knows_order : bool
        Whether ``place_`` is known.
    by_id : bool
        Whether ids match the rows, which are in ``match_``.
    """

    rows: str
    knows_order: bool
    by_id: bool


def linked(evidence: Evidence, table: DuckDBTable, released: DuckDBTable) -> Link | None:
    """Rows of the table beside those of the release, by a join; None where nothing links them."""
    place = _place(evidence, table)
    if place is None and not evidence.publishes_id:
        return None
    matched = _same_id(evidence, table, released) if evidence.publishes_id else f"{PLACE} = {STANDS}"
    source = (
        f"(SELECT *, {place or 'NULL'} AS {PLACE} FROM {TABLE}) AS t "
        f"FULL JOIN (SELECT {_cells(evidence)}, {_numbered(released)} AS {STANDS} FROM {RELEASE}) AS r ON {matched}"
    )
    return Link(_pairs(evidence, table, released, source, PLACE), place is not None, evidence.publishes_id)


def stands_side_by_side(evidence: Evidence, table: DuckDBTable, released: DuckDBTable) -> bool:
    """Whether row by row both must stand in the same order, in files that can be read from any row on."""
    in_order = evidence.content["order"] == "input" and evidence.content["engine"] == "duckdb"
    both_files = len(table.files) > 0 and len(released.files) == 1
    return in_order and both_files and is_parquet(table.files[0]) and is_parquet(released.files[0])


def side_by_side(evidence: Evidence, table: DuckDBTable, released: DuckDBTable, part: RowRange) -> Link:
    """Some rows of the table beside those that stand in the same places of the release: nothing is sorted or joined.

    A row of another id than the one beside it counts as one that does not stand where it must. Both sides are bare
    scans, which DuckDB reads in step; of anything else it would keep one side in memory.
    """
    first, last = part.before, part.before + part.rows
    moved = "false" if len(part.files) > 1 else f"{ROW} + {part.before - part.first} IS DISTINCT FROM {STANDS}"
    if evidence.publishes_id:
        moved += f" OR NOT coalesce({_same_id(evidence, table, released)}, false)"
    source = (
        f"(SELECT * FROM {TABLE} WHERE {part.condition(ROW)}) AS t POSITIONAL JOIN (SELECT {_cells(evidence)}, "
        f"{ROW} AS {STANDS} FROM {RELEASE} WHERE {ROW} >= {first} AND {ROW} < {last}) AS r"
    )
    place = f"CASE WHEN {moved} THEN -1 ELSE {STANDS} END"
    file = FILE if len(part.files) > 1 else literal(table.name_of(part.files[0]))
    return Link(_pairs(evidence, table, released, source, place, file), True, evidence.publishes_id)


def _pairs(
    evidence: Evidence, table: DuckDBTable, released: DuckDBTable, source: str, place: str, file: str = FILE
) -> str:
    """The query for matched rows, out of both sides, where a row must stand, and the name of its file."""
    table.relation.create_view(TABLE, replace=True)
    released.relation.create_view(RELEASE, replace=True)
    columns, own, name = evidence.columns, evidence.own, DUCKDB.identifier
    asked = [evidence.lookup_keys(table), f"{DUCKDB.record(evidence.record, file, ROW)} AS id_"]
    secret = [(k, c) for k, c in enumerate(own.sensitive_columns) if c in table.kinds]
    asked += [f"{evidence.looked_up(table, c)} AS s{k}_" for k, c in secret]
    asked += [f"{name(columns['id'])} AS match_"] if evidence.publishes_id else []
    asked += _drawn(evidence, released)
    differ = [_differs(name(c), _cell(evidence, c), table.kinds[c], released.kinds[c]) for c in evidence.unchanged]
    asked.append(f"({' OR '.join(differ) or 'false'}) AS changed_")
    asked += [f"{ROW} IS NOT NULL AS there_", f"{place} AS place_", f"{STANDS} AS stands_"]
    return f"SELECT {', '.join(asked)} FROM {source}"


def _drawn(evidence: Evidence, released: DuckDBTable) -> list[str]:
    """The released cells of every draw."""
    made = []
    for number, (draw, names) in enumerate(evidence.drawn()):
        if draw.values is None:
            made.append(f"{_cell(evidence, names[0])} AS y{number}")
        else:
            cells = [cell_symbol(released, name, _cell(evidence, name)) for name in names]
            made += [f"{cell} AS c{number}_{k}" for k, cell in enumerate(cells)]
    return made


def _cells(evidence: Evidence) -> str:
    """The cells of a released row, under names that no column of the table has."""
    return ", ".join(f"{DUCKDB.identifier(c)} AS {_cell(evidence, c)}" for c in evidence.columns["published"])


def _cell(evidence: Evidence, column: str) -> str:
    return f"{OWN}r{evidence.columns['published'].index(column)}"


def _differs(one: str, other: str, kind: str, stored: str) -> str:
    """SQL that holds where two cells read differently.

    Cells of one type are compared as they are, which is far cheaper than as text; but minus zero equals zero then, and
    every NaN any other, so that of those the bits are compared.
    """
    if kind != stored or not is_label_type(kind):
        return f"{DUCKDB.as_text(one)} IS DISTINCT FROM {DUCKDB.as_text(other)}"
    differs = f"{one} IS DISTINCT FROM {other}"
    if not is_float(kind):
        return differs
    bits = f"CAST({one} AS BIT) IS DISTINCT FROM CAST({other} AS BIT)"
    return f"({differs} OR CASE WHEN {one} = 0 OR isnan({one}) THEN {bits} ELSE false END)"


def _same_id(evidence: Evidence, table: DuckDBTable, released: DuckDBTable) -> str:
    """SQL that holds where the ids of both sides are equal."""
    column = evidence.columns["id"]
    one, other = DUCKDB.identifier(column), _cell(evidence, column)
    if table.kinds[column] == released.kinds[column]:
        return f"{one} = {other}"
    return f"{DUCKDB.as_text(one)} = {DUCKDB.as_text(other)}"


def _place(evidence: Evidence, table: DuckDBTable) -> str | None:
    """Where a row of the table must stand in the release; None where that is not known."""
    if evidence.content["order"] == "shuffle":
        if evidence.key is None or evidence.content["digests"]["input"] is None:
            return None
        table.connection.execute(f"SET VARIABLE {SHUFFLE_KEY} = $key", {"key": evidence.draw_keys().shuffle})
        record = DUCKDB.record(evidence.columns["id"], FILE, ROW)
        prefix = f"getvariable({literal(SHUFFLE_KEY)})"
        digits = f"substr({DUCKDB.sha256(f'{prefix} || {record}')}, 1, {DIGITS})"
        return f"row_number() OVER (ORDER BY {digits}, {record}, {FILE}, {ROW}) - 1"
    return _numbered(table) if evidence.content["engine"] == "duckdb" else None


def _numbered(table: DuckDBTable) -> str:
    """The number of a row over all files of a table."""
    return ROW if len(table.files) <= 1 else f"row_number() OVER (ORDER BY {FILE}, {ROW}) - 1"
