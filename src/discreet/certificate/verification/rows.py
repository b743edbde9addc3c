"""A release against its table, row by row: partners, kept cells, order, frequencies, and with the key every draw."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet._support import progress
from discreet.certificate.sequence import told_by_order
from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.frequencies import frequencies
from discreet.certificate.verification.judge import Judge, Tally
from discreet.certificate.verification.link import Link, linked, stands_side_by_side
from discreet.certificate.verification.question import MATCHED
from discreet.certificate.verification.redraw import redrawn_as_bag
from discreet.certificate.verification.verdict import Finding
from discreet.notions import from_dict
from discreet.tables.dialect import DUCKDB, is_number, literal, plain_kind
from discreet.tables.files import is_parquet
from discreet.tables.session import DuckDBTable

__all__ = ["against_both", "stored_types"]

#: Rows up to which a release that is not in its table's order is matched again for further tests.
MOST_ROWS = 2_000_000


def against_both(evidence: Evidence, table: DuckDBTable, released: DuckDBTable) -> Iterator[Finding]:
    """All that can be said with both tables at hand; they share a connection."""
    yield from _types(evidence, table, released)
    yield from _shared_ids(evidence, table)
    judge = Judge(evidence, table, released)
    if stands_side_by_side(evidence, table, released) and table.count() == released.count():
        tally = judge.side_by_side()
        if not (tally.totals["moved"] or tally.totals["strange"] or tally.totals["missing"]):
            yield from _row_by_row(evidence, tally)
            yield from _redrawn(judge, judge.first_rows(), tally)
            with progress.stage("checking orders"):
                found = _order_of_table(evidence, table)
            yield found
            return
    link = linked(evidence, table, released)
    if link is not None:
        tally = judge.linked(link)
        yield from _row_by_row(evidence, tally)
        yield from _redrawn(judge, link if tally.totals["rows"] <= MOST_ROWS else None, tally)
        yield _order(evidence, table, link, tally)
    elif evidence.key is not None:
        yield from redrawn_as_bag(judge)
    else:
        text = "cannot be matched without ids: give the key, which knows the order, or the signer, who vouches for it"
        if evidence.is_signed:
            text = "cannot be matched without ids; the signer vouches for them, and the key would tell"
        at_most = "verified" if evidence.is_signed else "consistent"
        yield Finding("released rows beside the table's", None, text, at_most)


def _shared_ids(evidence: Evidence, table: DuckDBTable) -> Iterator[Finding]:
    """Records of a table that share their id, where that is not the id of their person, share their draw too."""
    column = evidence.columns["id"]
    if column is None:
        return
    nulls, repeated = table.repeated(column)
    if nulls or repeated:
        text = f"{nulls + repeated} rows of the table have none of their own, and share their draw with others"
        yield Finding("ids", False, text)


def _row_by_row(evidence: Evidence, tally: Tally) -> Iterator[Finding]:
    """Every row has its partner, kept cells are unchanged, and frequencies agree with the weights."""
    alone, changed = tally.totals["strange"] + tally.totals["missing"], tally.totals["changed"]
    yield Finding(
        "ids",
        alone == 0,
        "every row of the table has one of the release"
        if not alone
        else f"{alone} rows of the table and the release have no partner",
    )
    if evidence.unchanged:
        text = "unchanged, row by row" if not changed else f"were changed in {changed} rows"
        yield Finding("kept columns", changed == 0, text)
    for (draw, names), entries, ones in zip(evidence.drawn(), tally.entries, tally.ones, strict=True):
        yield frequencies(" and ".join(names), draw, entries, ones)


def _redrawn(judge: Judge, first: Link | None, tally: Tally) -> Iterator[Finding]:
    """Every row drawn again with the key, by DuckDB; and the first ones by Python, lest DuckDB err twice."""
    if judge.evidence.key is None:
        return
    wrong = tally.totals["wrong"] or (0 if first is None else judge.redrawn_by_hand(first))
    text = (
        "every row is the one that the key draws"
        if not wrong
        else f"{'1 row is' if wrong == 1 else f'{wrong} rows are'} not what the key draws"
    )
    yield Finding("redraw", wrong == 0, text)


def _order_of_table(evidence: Evidence, table: DuckDBTable) -> Finding:
    """The release is in the order of the table, which must tell nothing; of long tables stretches are looked at."""
    watched = [c for c in (*evidence.own.sensitive_columns, *evidence.own.useful_columns) if c in table.kinds]
    symbols = [evidence.looked_up(table, column) for column in watched]
    orders = [None, *([evidence.columns["id"]] if evidence.publishes_id else [])]
    for by in orders:
        shown = table.in_order(symbols, by, table.count(), watched)
        told = _told(evidence, dict(zip(watched, shown)), len(orders))
        if told is not None:
            return Finding("order", False, f"that of {'rows' if by is None else f'ids {by}'} {told}")
    return Finding("order", True, "every row stands where it must")


def _told(evidence: Evidence, cells: dict[str, Any], orders: int) -> str | None:
    secret = [column for column in evidence.own.sensitive_columns if column in cells]
    return told_by_order(cells, secret, from_dict(evidence.content["notion"]), orders)


def _order(evidence: Evidence, table: DuckDBTable, link: Link, tally: Tally) -> Finding:
    """No published order tells what stands in the rows; and where the right one is known, it is that."""
    if link.knows_order and tally.totals["moved"]:
        return Finding("order", False, f"{tally.totals['moved']} rows do not stand where they must")
    own = evidence.own
    named = {f"s{k}_": c for k, c in enumerate(own.sensitive_columns) if c in table.kinds}
    named |= {f"k_{c}": c for c in own.useful_columns if c not in named.values()}
    asked = f"SELECT {', '.join(map(DUCKDB.identifier, named))} FROM ({link.rows}) WHERE {MATCHED} ORDER BY "
    orders = ["stands_", *(["match_"] if link.by_id else [])]
    if tally.totals["rows"] <= MOST_ROWS:
        for by in orders:
            shown = table.connection.sql(asked + by).to_arrow_table()
            told = _told(evidence, dict(zip(named.values(), shown.columns)), len(orders))
            if told is not None:
                of_what = "rows" if by == "stands_" else f"ids {evidence.columns['id']}"
                return Finding("order", False, f"that of {of_what} {told}")
    if link.knows_order:
        return Finding("order", True, "every row stands where it must")
    return Finding("order", None, "not re-checked: it is known to the key, or to Spark, alone", at_most="verified")


def _types(evidence: Evidence, table: DuckDBTable, released: DuckDBTable) -> Iterator[Finding]:
    """Kept columns and values have the type that they had, as far as the format of the release can tell it."""
    own = {c: c for c in evidence.columns["published"] if c not in evidence.columns["released"]}
    is_spark = evidence.content["engine"] == "spark"
    is_text = len(released.files) > 0 and not is_parquet(released.files[0])
    if own and not is_text:
        yield _changed("types of kept columns", table, released, own, is_spark)
    stated = evidence.value_types
    if stated is None:
        return
    sources = {n: c for draw, names in evidence.drawn() for n, c in zip(names, draw.outputs)}
    values = {n: c for n, c in sources.items() if c not in evidence.own.bins}
    wrong = [n for n, c in values.items() if not _fits(plain_kind(table.kinds[c]), stated[n], is_spark)]
    wrong += [n for n in sources if n not in values and stated[n] != "VARCHAR"]
    if wrong:
        yield Finding("types of released columns", False, f"of {', '.join(wrong)} are not those of the table")
    elif values and not is_text:
        yield _changed("types of released columns", table, released, values, is_spark)
    else:
        yield Finding("types of released columns", True, "are those of the table")


def _changed(
    subject: str, table: DuckDBTable, released: DuckDBTable, columns: Mapping[str, str], is_spark: bool
) -> Finding:
    """Whether published columns have the types of those that they come from."""
    sources = list(columns.values())
    wanted = stored_types(table, sources) if released.files else {column: table.kinds[column] for column in sources}
    wrong = [n for n, c in columns.items() if not _fits(wanted[c], released.kinds[n], is_spark)]
    text = "are those of the table" if not wrong else f"of {', '.join(wrong)} were changed"
    return Finding(subject, not wrong, text)


def stored_types(table: DuckDBTable, columns: Sequence[str]) -> dict[str, str]:
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
