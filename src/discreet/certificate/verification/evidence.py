"""What a certificate is verified against: the tables, opened once, the mechanism and the key."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core import labels
from discreet.drawing.keys import DrawKeys, ReleaseKey
from discreet.drawing.lookup import key_values
from discreet.mechanism import Draw, Mechanism
from discreet.tables.dialect import DUCKDB
from discreet.tables.session import DuckDBTable

__all__ = ["Evidence"]


@dataclass(frozen=True)
class Evidence:
    """A certificate with all that is at hand to check it.

    Attributes
    ----------
    content : dict
        The certificate as plain data, whose form was checked.
    mechanism : Mechanism or None
        The one that it certifies; None where it is private and the certificate public.
    key : ReleaseKey or None
        Of the release.
    is_signed : bool
        Whether the signature of whoever is trusted was found to be right.
    checked : sequence of (str, bool or None, str)
        What the checker found in the certificate by itself: subject, whether it passed, and a sentence.
    """

    content: dict[str, Any]
    mechanism: Mechanism | None
    key: ReleaseKey | None
    is_signed: bool = False
    checked: Sequence[tuple[str, bool | None, str]] = ()

    @property
    def is_of_release(self) -> bool:
        """Whether it is about a release, and not about a design alone."""
        return "columns" in self.content

    @property
    def is_of_whole_table(self) -> bool:
        """Whether it is about a table that was published as a whole, each record as itself or as a twin."""
        return "publication" in self.content

    @property
    def columns(self) -> dict[str, Any]:
        """Which columns were read and published."""
        found: dict[str, Any] = self.content["columns"]
        return found

    @property
    def own(self) -> Mechanism:
        """The mechanism, where it is known that there is one."""
        assert self.mechanism is not None
        return self.mechanism

    def needed_columns(self) -> list[str]:
        """Columns of the table that are compared: all that were read; of a design those that it is about."""
        if self.is_of_release:
            return list(self.columns["input"])
        return [] if self.mechanism is None else [*self.mechanism.sensitive_columns, *self.mechanism.useful_columns]

    @property
    def record(self) -> str | None:
        """Column that tells whose draw a row has; None where its place does."""
        chosen: str | None = self.columns["person"] or self.columns["id"]
        return chosen

    @property
    def publishes_id(self) -> bool:
        """Whether every row of the release carries the id of its record."""
        return self.columns["id"] is not None and self.columns["id"] in self.columns["published"]

    @property
    def unchanged(self) -> list[str]:
        """Published columns whose cells must be those of the table: all but the drawn ones, and the id that matches."""
        matched = self.columns["id"] if self.publishes_id else None
        return [c for c in self.columns["published"] if c not in self.columns["released"] and c != matched]

    @property
    def value_types(self) -> dict[str, str] | None:
        """In values: the type of each released column, as stated."""
        return self.content.get("value_types")

    def drawn(self) -> list[tuple[Draw, list[str]]]:
        """Every draw with the names of the columns that are published of it."""
        names = iter(self.columns["released"])
        made = [(draw, list(itertools.islice(names, draw.n_columns))) for draw in self.own.draws()]
        if any(len(own) < draw.n_columns for draw, own in made) or next(names, None) is not None:
            raise ValueError("other columns are released than the mechanism draws")
        return made

    def draw_keys(self) -> DrawKeys:
        """The sub-keys of the release."""
        assert self.key is not None
        stated = self.content["digests"]["input"]
        digest = None if stated is None else stated["hmac"]
        return DrawKeys.of(self.key, self.own, digest, self.columns["published"], by_place=self.record is None)

    def lookup_keys(self, table: DuckDBTable) -> str:
        """Expressions of the values that the draws look up, one column each."""
        wanted = dict.fromkeys(column for draw in self.own.draws() for column in draw.inputs)
        return ", ".join(f"{self.looked_up(table, c)} AS {DUCKDB.identifier('k_' + c)}" for c in wanted)

    def looked_up(self, table: DuckDBTable, column: str) -> str:
        """The expression under which a column's values are looked up."""
        return DUCKDB.symbol(column, table.kinds[column], self.own.bins.get(column))

    def rows_of(self, draw: Draw) -> Mapping[tuple[Any, ...], int]:
        """Row of the mechanism by the values that are looked up, -1 where there is none.

        Unknown values go with what they were treated as.
        """
        treated = self.content["unseen"]
        label = None if not treated else labels.decode(treated["treated_as"])
        stand_in = None if not treated else label if isinstance(label, tuple) else (label,)
        known = {key_values(symbol, draw.inputs, self.own.bins): k for k, symbol in enumerate(draw.symbols)}
        return _Rows(known, stand_in)


class _Rows(dict[tuple[Any, ...], int]):
    def __init__(self, known: Mapping[tuple[Any, ...], int], stand_in: tuple[Any, ...] | None) -> None:
        super().__init__(known)
        self._stand_in = stand_in

    def __missing__(self, values: tuple[Any, ...]) -> int:
        if self._stand_in is None:
            return -1
        return self.get((*values[: len(values) - len(self._stand_in)], *self._stand_in), -1)
