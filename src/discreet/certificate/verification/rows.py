"""A release against its table, row by row: partners, kept cells, frequencies, and with the key every draw."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.frequencies import frequencies
from discreet.certificate.verification.redraw import redrawn, redrawn_as_bag
from discreet.certificate.verification.verdict import Finding
from discreet.tables.dialect import DUCKDB
from discreet.tables.digest import table_digest
from discreet.tables.session import FILE, ROW, DuckDBTable

__all__ = ["against_both"]


def against_both(evidence: Evidence, table: DuckDBTable, released: DuckDBTable) -> Iterator[Finding]:
    """All that can be said with both tables at hand; they share a connection."""
    columns = evidence.columns
    both = [c for c in columns["published"] if c == columns["id"] or c in columns["kept"]]
    if both:
        same = table_digest(table.relation, both) == table_digest(released.relation, both)
        yield Finding("kept columns", same, "unchanged" if same else "were changed")
    link = _link(evidence, table, released)
    if link is None:
        yield Finding("frequencies", None, "rows cannot be matched: the release has a random order and no id")
        if evidence.key is not None:
            yield redrawn_as_bag(evidence, table, released, evidence.key)
        return
    yield from _row_by_row(evidence, link)
    if evidence.key is not None:
        yield redrawn(evidence, link, evidence.key)


def _link(evidence: Evidence, table: DuckDBTable, released: DuckDBTable) -> Any:
    """Rows of the table beside those of the release: keys, id, released values; None where nothing links them."""
    content, columns = evidence.content, evidence.columns
    keys = evidence.lookup_keys(table)
    record = DUCKDB.record(columns["id"], FILE, ROW)
    shown = ", ".join(f"r.{DUCKDB.identifier(c)} AS y{k}" for k, c in enumerate(columns["released"]))
    left = f"SELECT {keys}, {record} AS id_, row_number() OVER (ORDER BY {FILE}, {ROW}) AS place_"
    left += "".join(f", {DUCKDB.identifier(c)} AS z{k}_" for k, c in enumerate(columns["kept"]))
    same = [
        f"{DUCKDB.as_text(f't.z{k}_')} IS DISTINCT FROM {DUCKDB.as_text('r.' + DUCKDB.identifier(c))}"
        for k, c in enumerate(columns["kept"])
    ]
    shown += f", ({' OR '.join(same) or 'false'}) AS changed_"
    if columns["id"] is not None:
        left += f", {DUCKDB.identifier(columns['id'])} AS match_"
    table.relation.create_view("discreet_table", replace=True)
    released.relation.create_view("discreet_release", replace=True)
    if columns["id"] is not None and columns["id"] in columns["published"]:
        matched = f"t.match_ = r.{DUCKDB.identifier(columns['id'])}"
    elif content["order"] == "input" and content["engine"] == "duckdb":
        matched = f"t.place_ = r.{ROW} + 1"
    else:
        return None
    return table.connection.sql(
        f"SELECT t.*, {shown} FROM ({left} FROM discreet_table) AS t FULL JOIN discreet_release AS r ON {matched}"
    )


def _row_by_row(evidence: Evidence, link: Any) -> Iterator[Finding]:
    """Every row has its partner, kept cells are unchanged, and frequencies agree with the weights."""
    unmatched = link.aggregate("count(*) FILTER (WHERE place_ IS NULL) AS a, count(*) FILTER (WHERE y0 IS NULL) AS b")
    alone = sum(unmatched.fetchall()[0])
    yield Finding(
        "ids",
        alone == 0,
        "every row of the table has one of the release"
        if not alone
        else f"{alone} rows of the table and the release have no partner",
    )
    if evidence.columns["kept"]:
        changed = link.aggregate("count(*) FILTER (WHERE changed_) AS n").fetchall()[0][0]
        text = "unchanged, row by row" if not changed else f"were changed in {changed} rows"
        yield Finding("kept columns", changed == 0, text)
    for number, (column, draw) in enumerate(zip(evidence.columns["released"], evidence.mechanism.draws())):
        yield frequencies(evidence, link, number, column, draw)
