"""Every record drawn again with the key, where rows of the release cannot be told from each other: as a bag."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from discreet.certificate.verification.judge import Judge
from discreet.certificate.verification.link import RELEASE
from discreet.certificate.verification.verdict import Finding
from discreet.drawing.cells import cell_symbol
from discreet.tables.dialect import DUCKDB
from discreet.tables.session import FILE, ROW

__all__ = ["redrawn_as_bag"]


def redrawn_as_bag(judge: Judge) -> Iterator[Finding]:
    """Released and kept cells together, as often as each row must occur."""
    evidence = judge.evidence
    kept = [DUCKDB.as_text(DUCKDB.identifier(c)) for c in evidence.unchanged]
    shown = [evidence.lookup_keys(judge.table), f"{DUCKDB.record(evidence.record, FILE, ROW)} AS id_"]
    expected = judge.drawn(", ".join([*shown, *(f"{text} AS z{k}_" for k, text in enumerate(kept))]))
    own = [
        f"{cell_symbol(judge.released, c)} AS c{number}_{k}" if draw.values else f"{DUCKDB.identifier(c)} AS y{number}"
        for number, (draw, names) in enumerate(evidence.drawn())
        for k, c in enumerate(names)
    ]
    judge.released.relation.create_view(RELEASE, replace=True)
    published = ", ".join([*own, *(f"{text} AS z{k}_" for k, text in enumerate(kept))])
    found = judge.question.labelled(f"SELECT {published} FROM {RELEASE}")
    cells = ", ".join([*(f"y{k}" for k in range(len(judge.draws))), *(f"z{k}_" for k in range(len(kept)))])
    both = f"SELECT {cells}, 1 AS n FROM ({expected}) UNION ALL SELECT {cells}, -1 FROM ({found})"
    left = f"SELECT sum(n) AS n FROM ({both}) GROUP BY {cells} HAVING sum(n) <> 0"
    wrong = int(judge.table.connection.sql(f"SELECT coalesce(sum(abs(n)), 0) FROM ({left})").fetchall()[0][0])
    text = (
        "the rows are those that the key draws"
        if not wrong
        else f"{'1 row is' if wrong == 1 else f'{wrong} rows are'} not what the key draws"
    )
    yield Finding("redraw", wrong == 0, text)
    yield Finding("order", None, "not re-checked: Spark chose it, and the rows have no id", at_most="verified")
