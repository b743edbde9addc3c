"""With the key, every record is drawn again."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.verdict import Finding
from discreet.drawing.keys import ReleaseKey
from discreet.drawing.thresholds import draws_of
from discreet.tables.dialect import DUCKDB
from discreet.tables.session import FILE, ROW, DuckDBTable

__all__ = ["redrawn", "redrawn_as_bag"]

#: Rows drawn again at a time.
CHUNK = 100_000


def redrawn(evidence: Evidence, link: Any, key: ReleaseKey) -> Finding:
    """Every row drawn again, by Python's own SHA-256."""
    mechanism = evidence.mechanism
    draws = draws_of(mechanism)
    subkeys = [key.subkey(draw.column, mechanism.fingerprint) for draw in draws]
    rows = [evidence.rows_of(draw.draw) for draw in draws]
    names = list(link.columns)
    places = [[names.index("k_" + c) for c in draw.inputs] for draw in draws]
    record, released = names.index("id_"), [names.index(f"y{number}") for number in range(len(draws))]
    wrong = 0
    for line in _lines(link):
        for number, draw in enumerate(draws):
            row = rows[number][tuple(line[k] for k in places[number])]
            drawn = None if row < 0 or line[record] is None else draw.label(subkeys[number], row, line[record])
            if drawn is None or drawn != line[released[number]]:
                wrong += 1
                break
    text = "every row is the one that the key draws" if not wrong else f"{wrong} rows are not what the key draws"
    return Finding("redraw", wrong == 0, text)


def redrawn_as_bag(evidence: Evidence, table: DuckDBTable, released: DuckDBTable, key: ReleaseKey) -> Finding:
    """Where rows cannot be matched: the released values, as often as each must occur."""
    columns, mechanism = evidence.columns, evidence.mechanism
    draws = draws_of(mechanism)
    lines = table.relation.project(f"{evidence.lookup_keys(table)}, {DUCKDB.record(columns['id'], FILE, ROW)} AS id_")
    names = list(lines.columns)
    rows = [evidence.rows_of(draw.draw) for draw in draws]
    subkeys = [key.subkey(draw.column, mechanism.fingerprint) for draw in draws]
    expected: Counter[tuple[Any, ...]] = Counter()
    for line in _lines(lines):
        by_name = dict(zip(names, line))
        found = [rows[k][tuple(by_name["k_" + c] for c in draw.inputs)] for k, draw in enumerate(draws)]
        expected[tuple(d.label(subkeys[k], found[k], by_name["id_"]) for k, d in enumerate(draws))] += 1
    shown = ", ".join(map(DUCKDB.identifier, columns["released"]))
    seen = Counter(
        {line[:-1]: line[-1] for line in released.relation.aggregate(f"{shown}, count(*)", shown).fetchall()}
    )
    wrong = sum((expected - seen).values())
    text = "the values are those that the key draws" if not wrong else f"{wrong} values are not what the key draws"
    return Finding("redraw", wrong == 0, text)


def _lines(relation: Any) -> Iterator[tuple[Any, ...]]:
    """Rows of a relation as tuples, a chunk at a time."""
    for batch in relation.to_arrow_reader(CHUNK):
        yield from zip(*(column.to_pylist() for column in batch.columns))
