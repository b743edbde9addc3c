"""With the key, every record is drawn again."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.verdict import Finding
from discreet.drawing.keys import DrawKeys
from discreet.drawing.thresholds import draws_of
from discreet.tables.dialect import DUCKDB
from discreet.tables.session import FILE, ROW, DuckDBTable

__all__ = ["redrawn", "redrawn_as_bag"]

#: Rows drawn again at a time.
CHUNK = 100_000


class _Redraw:
    """The labels of a row as Python's own SHA-256 draws them."""

    def __init__(self, evidence: Evidence, keys: DrawKeys, names: list[str]) -> None:
        self._draws = draws_of(evidence.own)
        self._keys = keys.columns
        self._rows = [evidence.rows_of(draw.draw) for draw in self._draws]
        self._places = [[names.index("k_" + c) for c in draw.inputs] for draw in self._draws]
        self._record = names.index("id_")

    def labels(self, line: tuple[Any, ...]) -> tuple[str, ...] | None:
        """One for each released column; None where the mechanism has no row or the record no id."""
        record, found = line[self._record], []
        for draw, key, rows, places in zip(self._draws, self._keys, self._rows, self._places, strict=True):
            row = rows[tuple(line[k] for k in places)]
            if row < 0 or record is None:
                return None
            found.append(draw.label(key, row, record))
        return tuple(found)


def redrawn(evidence: Evidence, link: Any, keys: DrawKeys) -> Finding:
    """Every matched row drawn again."""
    names = list(link.columns)
    draw = _Redraw(evidence, keys, names)
    released = [names.index(f"y{number}") for number in range(len(evidence.columns["released"]))]
    wrong = sum(draw.labels(line) != tuple(line[k] for k in released) for line in _lines(link))
    text = "every row is the one that the key draws" if not wrong else f"{wrong} rows are not what the key draws"
    return Finding("redraw", wrong == 0, text)


def redrawn_as_bag(evidence: Evidence, table: DuckDBTable, released: DuckDBTable, keys: DrawKeys) -> Iterator[Finding]:
    """Where rows cannot be matched: released and kept cells together, as often as each row must occur."""
    kept = [DUCKDB.as_text(DUCKDB.identifier(c)) for c in evidence.columns["kept"]]
    shown = [evidence.lookup_keys(table), f"{DUCKDB.record(evidence.record, FILE, ROW)} AS id_"]
    lines = table.relation.project(", ".join([*shown, *(f"{text} AS z{k}_" for k, text in enumerate(kept))]))
    names = list(lines.columns)
    draw, first = _Redraw(evidence, keys, names), len(names) - len(kept)
    expected = Counter((draw.labels(line), line[first:]) for line in _lines(lines))
    own = [DUCKDB.identifier(c) for c in evidence.columns["released"]]
    by = ", ".join([*own, *kept])
    found = released.relation.aggregate(f"{by}, count(*)", by).fetchall()
    seen = Counter({(line[: len(own)], line[len(own) : -1]): line[-1] for line in found})
    wrong = sum((expected - seen).values()) + sum((seen - expected).values())
    text = "the rows are those that the key draws" if not wrong else f"{wrong} rows are not what the key draws"
    yield Finding("redraw", wrong == 0, text)
    yield Finding("order", None, "not re-checked: Spark chose it, and the rows have no id", at_most="verified")


def _lines(relation: Any) -> Iterator[tuple[Any, ...]]:
    """Rows of a relation as tuples, a chunk at a time."""
    for batch in relation.to_arrow_reader(CHUNK):
        yield from zip(*(column.to_pylist() for column in batch.columns))
