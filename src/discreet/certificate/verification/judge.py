"""All that rows side by side tell, in one pass: partners, kept cells, places, frequencies and, with the key, draws."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support import progress
from discreet._support.numeric import IntArray
from discreet.certificate.verification.evidence import Evidence
from discreet.certificate.verification.link import TABLE, Link, side_by_side
from discreet.certificate.verification.question import COUNTED, MATCHED, Question, key_name
from discreet.drawing.cells import value_table
from discreet.drawing.entries import entry_table, symbol_table
from discreet.drawing.known import check_known_answers
from discreet.drawing.thresholds import bit_subkey, draws_of
from discreet.mechanism import Draw
from discreet.tables.arrow import integers
from discreet.tables.following import following
from discreet.tables.rows import RowRange, shared_out
from discreet.tables.session import DuckDBTable
from discreet.tables.workers import workers_beside

__all__ = ["Judge", "Tally"]

#: Rows that are drawn again without DuckDB.
BY_HAND = 1000


@dataclass(frozen=True)
class Tally:
    """What was counted.

    Attributes
    ----------
    totals : dict
        Rows, those without a partner (``strange`` in the release, ``missing`` from it), ``changed``, ``moved``, and
        ``wrong`` where the key draws another label.
    entries : tuple of ndarray
        For each draw how often every entry occurs; of bits, how often every row does. The last number is that of
        labels that their values never get.
    ones : tuple of ndarray
        For each draw of bits, how often each row has a one in each place; empty for others.
    """

    totals: dict[str, int]
    entries: tuple[IntArray, ...]
    ones: tuple[IntArray, ...]

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            {name: number + other.totals[name] for name, number in self.totals.items()},
            tuple(a + b for a, b in zip(self.entries, other.entries)),
            tuple(a + b for a, b in zip(self.ones, other.ones)),
        )


class Judge:
    """Counts what rows side by side tell.

    Parameters
    ----------
    evidence : Evidence
        The certificate, the mechanism and, if it is at hand, the key.
    table, released : DuckDBTable
        Both, open in one connection.
    """

    def __init__(self, evidence: Evidence, table: DuckDBTable, released: DuckDBTable) -> None:
        self.evidence, self.table, self.released = evidence, table, released
        self.draws = evidence.own.draws()
        by_person = evidence.columns["person"] is not None
        self.question = Question(draws_of(evidence.own), evidence.key is not None, by_person)
        self._lookups = {name: made for number, draw in enumerate(self.draws) for name, made in self._of(number, draw)}

    def _of(self, number: int, draw: Draw) -> list[tuple[str, Any]]:
        """The lookup tables of a draw, by name."""
        asked = ", ".join(f"{self.evidence.looked_up(self.table, c)} AS i{k}" for k, c in enumerate(draw.inputs))
        kinds = [field.type for field in self.table.relation.limit(0).project(asked).to_arrow_table().schema]
        rows = {**self.evidence.rows_of(draw), **self._odd_values(draw)}
        made = [(f"discreet_symbols{number}", symbol_table(rows, draw.inputs, kinds))]
        if draw.values is not None:
            names, types = self.evidence.drawn()[number][1], self.evidence.value_types or {}
            made.append((f"discreet_values{number}", value_table(self.released, draw, names, types)))
        return made if draw.bits is not None else [*made, (f"discreet_entries{number}", entry_table(draw))]

    def _odd_values(self, draw: Draw) -> dict[tuple[Any, ...], int]:
        """Rows of values that the mechanism does not know, as the certificate says that they were treated."""
        if not self.evidence.content["unseen"]:
            return {}
        rows = self.evidence.rows_of(draw)
        by = ", ".join(self.evidence.looked_up(self.table, column) for column in draw.inputs)
        found = [tuple(values) for values in self.table.relation.aggregate(by, by).fetchall()]
        return {values: rows[values] for values in found if values not in rows and rows[values] >= 0}

    def side_by_side(self) -> Tally:
        """All rows as they stand, each worker a share of them with a connection of its own."""
        shares = shared_out(self.table.files, os.cpu_count() or 1)
        with contextlib.ExitStack() as stack:
            stage = stack.enter_context(progress.stage("comparing rows"))
            pool, connections = stack.enter_context(workers_beside(self.table, len(shares)))
            stack.enter_context(following(connections, stage))
            tallies = list(pool.map(self._share, connections, shares))
        return sum(tallies[1:], tallies[0])

    def _share(self, connection: Any, share: Sequence[RowRange]) -> Tally:
        self._prepare(connection)
        released = self.released.of_files(self.released.files, connection)
        tallies = []
        for part in share:
            table = self.table.of_files(part.files, connection)
            tallies.append(self._asked(connection, side_by_side(self.evidence, table, released, part)))
        return sum(tallies[1:], tallies[0])

    def redrawn_by_hand(self, link: Link) -> int:
        """Of the first rows of a link, how many have other labels than Python's own SHA-256 draws."""
        assert self.evidence.key is not None
        self._prepare(self.table.connection)
        keys, rows = self.evidence.draw_keys().columns, [self.evidence.rows_of(draw) for draw in self.draws]
        pairs = self.question.labelled(link.rows)
        found = self.table.connection.sql(f"SELECT * FROM ({pairs}) WHERE {MATCHED} LIMIT {BY_HAND}")
        wrong = 0
        for line in found.fetchall():
            cells = dict(zip(found.columns, line))
            for number, (key, draw) in enumerate(zip(keys, self.question.draws, strict=True)):
                row = rows[number][tuple(cells["k_" + column] for column in draw.inputs)]
                wrong += cells[f"y{number}"] != draw.label(key, row, cells["id_"])
        return wrong

    def first_rows(self) -> Link:
        """The first rows of both tables, as they stand."""
        part = shared_out(self.table.files, 1)[0][0]
        part = part._replace(files=part.files[:1], last=min(part.last, part.first + BY_HAND))
        return side_by_side(self.evidence, self.table.of_files(part.files, self.table.connection), self.released, part)

    def linked(self, link: Link) -> Tally:
        """All pairs of a link, in one query."""
        self._prepare(self.table.connection)
        with progress.stage("matching rows") as stage, following([self.table.connection], stage):
            return self._asked(self.table.connection, link)

    def drawn(self, columns: str) -> str:
        """A query for columns of the table (with ``k_*`` and ``id_``) and the labels ``y*`` that the key draws."""
        self._prepare(self.table.connection)
        self.table.relation.create_view(TABLE, replace=True)
        return self.question.drawing(f"SELECT {columns} FROM {TABLE}")

    def _prepare(self, connection: Any) -> None:
        """Lookup tables and sub-keys in a connection, which hashes as it must."""
        for name, made in self._lookups.items():
            connection.register(name, made)
        if self.evidence.key is None:
            return
        check_known_answers(connection)
        for number, (own, draw) in enumerate(zip(self.evidence.draw_keys().columns, self.draws, strict=True)):
            bits = range(len(draw.symbols) if draw.bits is not None else 0)
            named = {key_name(number): own} | {key_name(number, k): bit_subkey(own, k) for k in bits}
            for name, key in named.items():
                connection.execute(f"SET VARIABLE {name} = $key", {"key": key})

    def _asked(self, connection: Any, link: Link) -> Tally:
        found = connection.sql(self.question.judging(link.rows)).to_arrow_table()
        # Numbers of entries are null where rows are grouped by those of another draw.
        columns = {name: integers(found.column(name).fill_null(-2)) for name in found.column_names}
        totals = {name: int(columns[name][columns["e0"] > -2].sum()) for name in COUNTED}
        each = [self._of_draw(columns, number, draw) for number, draw in enumerate(self.draws)]
        return Tally(totals, tuple(entries for entries, _ in each), tuple(ones for _, ones in each))

    def _of_draw(self, columns: Mapping[str, IntArray], number: int, draw: Draw) -> tuple[IntArray, IntArray]:
        """How often every entry of a draw occurs, and every one of its bits."""
        own = columns[f"e{number}"] > -2
        place = columns[f"e{number}"][own]
        bits = len(draw.symbols) if draw.bits is not None else 0
        entries = np.zeros((bits or len(draw.labels)) + 1, dtype=np.int64)
        entries[place] = columns["n"][own]  # where there is no entry, at -1, the last place
        ones = np.zeros((bits + 1, bits), dtype=np.int64)
        for k in range(bits):
            ones[place, k] = columns[f"o{number}_{k}"][own]
        return entries, ones[:-1]
