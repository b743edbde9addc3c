"""Rows of a table beside those of its release: by their id, or by the place where each must stand."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.certificate.verification.evidence import Evidence
from discreet.drawing.thresholds import DIGITS
from discreet.tables.dialect import DUCKDB, literal
from discreet.tables.session import FILE, ROW, DuckDBTable

__all__ = ["Link", "linked"]

#: Variable of the connection that holds the sub-key of a random order, so that no query text does.
SHUFFLE_KEY = "discreet_shuffle_key"


@dataclass(frozen=True)
class Link:
    """Matched rows.

    Attributes
    ----------
    rows : DuckDBPyRelation
        ``k_*`` what the draws look up, ``id_`` whose draw it is, ``y*`` the released values, ``changed_`` whether a
        kept cell differs, ``s*_`` the sensitive values, ``place_`` and ``stands_`` where the row must stand and where
        it does; nulls where a row has no partner.
    knows_order : bool
        Whether ``place_`` is known.
    """

    rows: Any
    knows_order: bool


def linked(evidence: Evidence, table: DuckDBTable, released: DuckDBTable) -> Link | None:
    """Rows of the table beside those of the release; None where nothing links them."""
    columns = evidence.columns
    place = _place(evidence, table)
    by_id = columns["id"] is not None and columns["id"] in columns["published"]
    if place is None and not by_id:
        return None
    kept = columns["kept"]
    left = [evidence.lookup_keys(table), f"{DUCKDB.record(evidence.record, FILE, ROW)} AS id_", "true AS there_"]
    left += [
        f"{DUCKDB.symbol(c, table.kinds[c], evidence.own.bins.get(c))} AS s{k}_"
        for k, c in enumerate(evidence.own.sensitive_columns)
        if c in table.kinds
    ]
    left += [f"{place or 'NULL'} AS place_", *(f"{DUCKDB.identifier(c)} AS z{k}_" for k, c in enumerate(kept))]
    shown = [f"r.{DUCKDB.identifier(c)} AS y{k}" for k, c in enumerate(columns["released"])]
    different = [
        f"{DUCKDB.as_text(f't.z{k}_')} IS DISTINCT FROM {DUCKDB.as_text('r.' + DUCKDB.identifier(c))}"
        for k, c in enumerate(kept)
    ]
    shown += [f"({' OR '.join(different) or 'false'}) AS changed_", "r.stands_"]
    if by_id:
        left.append(f"{DUCKDB.identifier(columns['id'])} AS match_")
        matched = f"{DUCKDB.as_text('t.match_')} = {DUCKDB.as_text('r.' + DUCKDB.identifier(columns['id']))}"
    else:
        matched = "t.place_ = r.stands_"
    table.relation.create_view("discreet_table", replace=True)
    released.relation.create_view("discreet_release", replace=True)
    rows = table.connection.sql(
        f"SELECT t.*, {', '.join(shown)} FROM (SELECT {', '.join(left)} FROM discreet_table) AS t "
        f"FULL JOIN (SELECT *, {_numbered(released)} AS stands_ FROM discreet_release) AS r ON {matched}"
    )
    return Link(rows, place is not None)


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
