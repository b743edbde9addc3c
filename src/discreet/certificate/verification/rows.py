"""A release against its table, row by row: partners, kept cells, order, frequencies, and with the key every draw."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

from discreet.certificate.sequence import told_by_order
from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.frequencies import frequencies
from discreet.certificate.verification.link import Link, linked
from discreet.certificate.verification.redraw import redrawn, redrawn_as_bag
from discreet.certificate.verification.verdict import Finding
from discreet.notions import from_dict
from discreet.tables.dialect import DUCKDB, is_number, literal
from discreet.tables.files import is_parquet
from discreet.tables.session import DuckDBTable

__all__ = ["against_both"]

#: Rows up to which orders are tested again; a longer release was tested on stretches when it was made.
MOST_ROWS = 2_000_000


def against_both(evidence: Evidence, table: DuckDBTable, released: DuckDBTable) -> Iterator[Finding]:
    """All that can be said with both tables at hand; they share a connection."""
    yield from _types(evidence, table, released)
    link = linked(evidence, table, released)
    if link is not None:
        yield from _row_by_row(evidence, link)
        if evidence.key is not None:
            yield redrawn(evidence, link.rows, evidence.draw_keys())
    elif evidence.key is not None:
        yield from redrawn_as_bag(evidence, table, released, evidence.draw_keys())
    else:
        text = "cannot be matched without ids: give the key, which knows the order, or the signer, who vouches for it"
        if evidence.is_signed:
            text = "cannot be matched without ids; the signer vouches for them, and the key would tell"
        at_most = "verified" if evidence.is_signed else "consistent"
        yield Finding("released rows beside the table's", None, text, at_most)


def _row_by_row(evidence: Evidence, link: Link) -> Iterator[Finding]:
    """Every row has its partner, stands where it must, kept cells are unchanged, frequencies agree with the weights."""
    tests = ("there_ IS NULL", "stands_ IS NULL", "changed_", "place_ IS DISTINCT FROM stands_")
    counted = [f"count(*) FILTER (WHERE {test}) AS n{k}" for k, test in enumerate(tests)]
    strange, missing, changed, moved = link.rows.aggregate(", ".join(counted)).fetchall()[0]
    alone = strange + missing
    yield Finding(
        "ids",
        alone == 0,
        "every row of the table has one of the release"
        if not alone
        else f"{alone} rows of the table and the release have no partner",
    )
    if evidence.columns["kept"]:
        text = "unchanged, row by row" if not changed else f"were changed in {changed} rows"
        yield Finding("kept columns", changed == 0, text)
    if link.knows_order and moved:
        yield Finding("order", False, f"{moved} rows do not stand where they must")
    else:
        yield _order(evidence, link)
    draws = evidence.own.draws()
    for number, (column, draw) in enumerate(zip(evidence.columns["released"], draws, strict=True)):
        yield frequencies(evidence, link.rows, number, column, draw)


def _order(evidence: Evidence, link: Link) -> Finding:
    """No published order tells what stands in the rows; and where the right one is known, it is that."""
    columns, own = evidence.columns, evidence.own
    named = {f"s{k}_": c for k, c in enumerate(own.sensitive_columns)}
    named |= {f"k_{c}": c for c in own.useful_columns}
    present = {name: c for name, c in named.items() if name in link.rows.columns}
    rows = link.rows.filter("stands_ IS NOT NULL AND there_")
    orders = ["stands_", *(["match_"] if "match_" in link.rows.columns else [])]
    if rows.aggregate("count(*)").fetchall()[0][0] <= MOST_ROWS:
        for by in orders:
            shown = rows.order(by).project(", ".join(map(DUCKDB.identifier, present))).to_arrow_table()
            cells = dict(zip(present.values(), shown.columns))
            secret = [c for c in own.sensitive_columns if c in cells]
            told = told_by_order(cells, secret, from_dict(evidence.content["notion"]), len(orders))
            if told is not None:
                of_what = "rows" if by == "stands_" else f"ids {columns['id']}"
                return Finding("order", False, f"that of {of_what} {told}")
    if link.knows_order:
        return Finding("order", True, "every row stands where it must")
    return Finding("order", None, "not re-checked: it is known to the key, or to Spark, alone", at_most="verified")


def _types(evidence: Evidence, table: DuckDBTable, released: DuckDBTable) -> Iterator[Finding]:
    """Kept columns have the type that they had, as far as the format of the release can tell it."""
    own = [c for c in evidence.columns["published"] if c not in evidence.columns["released"]]
    if not own or (released.files and not is_parquet(released.files[0])):
        return
    wanted = _stored(table, own) if released.files else {column: table.kinds[column] for column in own}
    is_spark = evidence.content["engine"] == "spark"
    wrong = [c for c in own if not _fits(wanted[c], released.kinds[c], is_spark)]
    text = "are those of the table" if not wrong else f"of {', '.join(wrong)} were changed"
    yield Finding("types of kept columns", not wrong, text)


def _stored(table: DuckDBTable, columns: Sequence[str]) -> dict[str, str]:
    """Types of columns as they come back from a Parquet file."""
    assert table.limits.spill is not None
    path = Path(table.limits.spill) / f"{secrets.token_hex(8)}.parquet"
    table.relation.create_view("discreet_typed", replace=True)
    shown = ", ".join(map(DUCKDB.identifier, columns))
    try:
        table.connection.execute(
            f"COPY (SELECT {shown} FROM discreet_typed LIMIT 0) TO {literal(str(path))} (FORMAT parquet)"
        )
        found = table.connection.sql(f"SELECT * FROM read_parquet({literal(str(path))})")
        return dict(zip(columns, map(str, found.types)))
    finally:
        path.unlink(missing_ok=True)


def _fits(wanted: str, found: str, is_spark: bool) -> bool:
    """Whether a type is the one that was; Spark knows no unsigned numbers, and writes every time in a zone."""
    if wanted == found or not is_spark:
        return wanted == found
    return (is_number(wanted) and is_number(found)) or (wanted[:9] == found[:9] == "TIMESTAMP")
