"""The draw as one SQL query, the same for every engine but for the few words that differ."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from discreet.drawing.thresholds import DIGITS, Lookup, Thresholds
from discreet.tables.dialect import Dialect
from discreet.tables.session import OWN

__all__ = ["PLACE", "SHUFFLE", "Joined", "Statement", "joined_tables", "symbol_columns"]


#: Columns that a keyed random order sorts by: random digits, and what they are made of.
SHUFFLE, PLACE = f"{OWN}shuffle", f"{OWN}place"

OUTSIDE = "a value is outside the mechanism, or an id is null"


@dataclass(frozen=True)
class Joined:
    """A draw with the names of its tables: symbols (and their sub-key), and thresholds where they are apart."""

    draw: Thresholds
    lookup: Lookup | None  # None for bits
    number: int
    is_shuffled: bool = False  # whether its table of symbols carries the sub-key of a random order
    is_spelled: bool = False  # whether labels are the texts that they are published as

    @property
    def symbols(self) -> str:
        """Name of the table of symbols."""
        return f"{OWN}symbols{self.number}"

    @property
    def thresholds(self) -> str:
        """Name of the table of thresholds."""
        return f"{OWN}thresholds{self.number}"

    @property
    def is_apart(self) -> bool:
        """Whether thresholds have a table of their own."""
        return self.lookup is not None and (self.lookup.digits > 0 or self.lookup.is_searched)

    @property
    def values(self) -> str:
        """Name of the table of values, (y, v0, v1, ...), where labels are published as such."""
        return f"{OWN}values{self.number}"

    @property
    def is_in_values(self) -> bool:
        """Whether labels are published as values that they have to be told by."""
        return self.draw.draw.values is not None and not self.is_spelled

    def spelled(self, kinds: Mapping[str, str]) -> Joined:
        """The same draw; where it publishes a column of text whose values are its labels, no table has to say so."""
        outputs, values = self.draw.draw.outputs, self.draw.draw.values or {}
        is_text = len(outputs) == 1 and kinds[outputs[0]] == "VARCHAR"
        return replace(self, is_spelled=is_text and all(value == (label,) for label, value in values.items()))

    def inner(self, what: str) -> str:
        """A name inside the query that belongs to this draw."""
        return f"{OWN}{what}{self.number}"


def joined_tables(draws: Sequence[Thresholds], *, shuffle: bool = False) -> tuple[Joined, ...]:
    """Each draw with its lookup table; the first one carries the sub-key of a random order."""
    return tuple(
        Joined(draw, None if draw.bits is not None else draw.lookup(), number, shuffle and number == 0)
        for number, draw in enumerate(draws)
    )


@dataclass(frozen=True)
class Statement:
    """A release as SQL.

    Attributes
    ----------
    dialect : Dialect
        Of the engine.
    source : str
        The table, or a query in parentheses.
    keys : dict
        Column to the expression under which its values are looked up.
    record : str
        Expression of the record's id as text.
    draws : tuple of Joined
        What is drawn.
    output : tuple of (str or int, str)
        A column to keep, or the number of a released one; and the name that it gets. Each draw has one released column
        or, in values, one for each part of its values.
    order : tuple of str
        Expressions that rows are sorted by; ``SHUFFLE`` is a keyed random value.
    hint : str
        Goes behind SELECT where tables are joined.
    """

    dialect: Dialect
    source: str
    keys: dict[str, str]
    record: str
    draws: tuple[Joined, ...]
    output: tuple[tuple[str | int, str], ...]
    order: tuple[str, ...] = ()
    hint: str = ""
    place: str = ""  # expression of what is unique to a row, as text, where it is not the record
    names: dict[str, str] = field(default_factory=dict)  # tables called otherwise than `Joined` says
    equal: str = "IS NOT DISTINCT FROM"  # how values are compared; "=" does where none that is looked up is null

    def text(self) -> str:
        """The query."""
        released = [(joined, place) for joined in self.draws for place in range(joined.draw.draw.n_columns)]
        shown = [
            f"{self._published(*released[what]) if isinstance(what, int) else self._kept(what)} "
            f"AS {self.dialect.identifier(name)}"
            for what, name in self.output
        ]
        order = f" ORDER BY {', '.join(self.order)}" if self.order else ""
        return f"SELECT {self._hint_of_values()}{', '.join(shown)} FROM {self._worded()}{order}"

    @property
    def _in_values(self) -> list[Joined]:
        return [joined for joined in self.draws if joined.is_in_values]

    def _hint_of_values(self) -> str:
        return self.hint if self._in_values else ""

    def _kept(self, column: str) -> str:
        """A column of the table, told from those of values where they are joined."""
        return (f"{OWN}drawn." if self._in_values else "") + self.dialect.identifier(column)

    def _published(self, joined: Joined, place: int) -> str:
        return f"{joined.inner('z')}.v{place}" if joined.is_in_values else self._drawn(joined)

    def _worded(self) -> str:
        """Rows with their draws, and the values that labels are published as."""
        if not self._in_values:
            return f"({self._looked_up()}) AS {OWN}drawn"
        made = [f"{self._drawn(joined)} AS {joined.inner('y_')}" for joined in self._in_values]
        joins = [
            f" LEFT JOIN {self._table(joined.values)} AS {joined.inner('z')} "
            f"ON {OWN}drawn.{joined.inner('y_')} = {joined.inner('z')}.y"
            for joined in self._in_values
        ]
        drawn = f"SELECT {OWN}labelled.*, {', '.join(made)} FROM ({self._looked_up()}) AS {OWN}labelled"
        return f"({drawn}) AS {OWN}drawn{''.join(joins)}"

    def _table(self, name: str) -> str:
        return self.names.get(name, name)

    def _keyed(self) -> str:
        """The source with lookup keys and the id as text."""
        keys = [
            f"{self.keys[column]} AS {joined.inner(f'key{k}_')}"
            for joined in self.draws
            for k, column in enumerate(joined.draw.inputs)
        ]
        return (
            f"SELECT {OWN}source.*, {', '.join([*keys, f'{self.record} AS {OWN}id', *self._placed()])} "
            f"FROM {self.source} AS {OWN}source"
        )

    def _placed(self) -> list[str]:
        """What a random order hashes: of persons with several records, what is unique to each of them."""
        shuffled = any(joined.is_shuffled for joined in self.draws)
        return [f"{self.place or self.record} AS {PLACE}"] if shuffled else []

    def _found(self) -> str:
        """Each record with the row of every draw."""
        columns, joins = [f"{OWN}keyed.*"], []
        for joined in self.draws:
            table = joined.inner("w")
            on = " AND ".join(
                f"{OWN}keyed.{joined.inner(f'key{k}_')} {self.equal} {table}.i{k}"
                for k in range(len(joined.draw.inputs))
            )
            joins.append(f"LEFT JOIN {self._table(joined.symbols)} AS {table} ON {on}")
            columns += [f"{table}.{name} AS {joined.inner(name)}" for name in symbol_columns(joined)]
        return f"SELECT {self.hint}{', '.join(columns)} FROM ({self._keyed()}) AS {OWN}keyed {' '.join(joins)}"

    def _hashed(self) -> str:
        """The digest of every draw, which begins with u, and the digits that a keyed random order sorts by."""
        drawn = [
            f"substr({self._digest(j.inner('s'), PLACE)}, 1, {DIGITS}) AS {SHUFFLE}"
            for j in self.draws
            if j.is_shuffled
        ]
        for joined in self.draws:
            u = self._digest(joined.inner("p"))
            if joined.lookup is not None and not joined.is_apart:
                # A symbol with one entry needs no draw, and a digest is what a release spends its time on.
                alone = f"{joined.inner('h0')} = 'g'" if joined.lookup.width > 1 else f"{joined.inner('p')} IS NOT NULL"
                u = f"CASE WHEN {alone} THEN '' ELSE {u} END"
            drawn.append(f"{u} AS {joined.inner('u')}")
            if joined.lookup is None:
                for k in range(len(joined.draw.symbols)):
                    drawn.append(f"{self._digest(joined.inner(f'b{k}_'))} AS {joined.inner(f'u{k}_')}")
        return f"SELECT {OWN}found.*, {', '.join(drawn)} FROM ({self._found()}) AS {OWN}found"

    def _digest(self, prefix: str, record: str = f"{OWN}id") -> str:
        """All digits of a digest: beside a threshold, which has fewer, it lies where its first ones do."""
        return self.dialect.sha256(f"{prefix} || {record}")

    def _looked_up(self) -> str:
        apart = [joined for joined in self.draws if joined.is_apart]
        if not apart:
            return self._hashed()
        columns, joins = [f"{OWN}hashed.*"], []
        for joined in apart:
            assert joined.lookup is not None
            table = joined.inner("v")
            joins.append(
                f"LEFT JOIN {self._table(joined.thresholds)} AS {table} ON {OWN}hashed.{joined.inner('r')} = {table}.r "
                f"AND substr({OWN}hashed.{joined.inner('u')}, 1, {joined.lookup.digits}) = {table}.d"
                f"{self._searched(joined, table)}"
            )
            columns += [f"{table}.{name} AS {joined.inner(name)}" for name in joined.lookup.names]
        return f"SELECT {self.hint}{', '.join(columns)} FROM ({self._hashed()}) AS {OWN}hashed {' '.join(joins)}"

    def _searched(self, joined: Joined, table: str) -> str:
        """Where every entry has a line of its own: the one that holds u."""
        if joined.lookup is None or not joined.lookup.is_searched:
            return ""
        u = f"{OWN}hashed.{joined.inner('u')}{self.dialect.collation}"
        return f" AND {u} >= {table}.low AND {u} < {table}.high"

    def _drawn(self, joined: Joined) -> str:
        """The released label; whatever is null fails instead of becoming a value."""
        fail = self.dialect.fail(OUTSIDE)
        if joined.lookup is None:
            true, other = joined.draw.bits or ("", "")
            bits = " || ".join(
                f"CASE WHEN {self._u(joined, k)} < CASE WHEN {joined.inner('r')} = {k} THEN '{true}' "
                f"ELSE '{other}' END THEN '1' ELSE '0' END"
                for k in range(len(joined.draw.symbols))
            )
            return f"CASE WHEN {joined.inner('u')} IS NULL THEN {fail} ELSE {bits} END"
        last = joined.lookup.width - 1
        branches = "".join(
            f"WHEN {self._u(joined)} < {joined.inner(f'h{k}')} THEN {joined.inner(f'y{k}')} " for k in range(last)
        )
        nothing = f"{joined.inner('u')} IS NULL OR {joined.inner(f'y{last}')} IS NULL"
        return f"CASE WHEN {nothing} THEN {fail} {branches}ELSE {joined.inner(f'y{last}')} END"

    def _u(self, joined: Joined, bit: int | None = None) -> str:
        return joined.inner("u" if bit is None else f"u{bit}_") + self.dialect.collation


def symbol_columns(joined: Joined) -> list[str]:
    """Columns of the table of symbols besides the values: prefix, row number, and what else stands there."""
    always = ["p", "r", *(["s"] if joined.is_shuffled else [])]
    if joined.lookup is None:
        return [*always, *(f"b{k}_" for k in range(len(joined.draw.symbols)))]
    return always if joined.is_apart else [*always, *joined.lookup.names]
