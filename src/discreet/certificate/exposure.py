"""What columns tell about S beside a release: counted together, carried through the mechanism, decided in integers.

With z the values of all of these columns and y the released one, P(s, z, y) = sum over x of P(s, z, x) P(y | x),
expected over the draw. Combinations z are taken in blocks, so that neither their number nor exact arithmetic fills the
memory.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from discreet._support.codes import joined_codes
from discreet._support.errors import InvalidMechanismError, UnseenSymbolError
from discreet._support.numeric import FloatArray, IntArray, ObjectArray
from discreet.certificate.lifts import rounded_extremes, steps_text
from discreet.core.joint import Joint
from discreet.mechanism import Mechanism
from discreet.notions import Notion
from discreet.tables.combinations import Combinations, about_distinct, count_rows, list_combinations
from discreet.tables.session import Table

__all__ = ["FEWEST_RECORDS", "LONG_TABLE", "Exposure", "Watcher"]

#: Records for each combination of further and useful values, on average, below which lifts are those of single people.
FEWEST_RECORDS = 5

#: Cells of P(s, z, x) and of P(s, z, y) that are computed, and those of them that are computed at a time.
MOST_CELLS, CELLS_AT_ONCE = 20_000_000, 1_000_000

#: Combinations up to which all columns are counted by one query.
COUNTED_AT_ONCE = 200_000

#: Useful values up to which it pays to know them all before they are counted again.
MOST_KNOWN = 100_000

#: Rows of a table on which questions of mere interest are no longer answered exactly, or at all.
LONG_TABLE = 2_000_000

#: How far a count may exceed what is allowed and still be told from it by sketches that are off by some per cent.
CLEARLY = 2

TOO_MANY = f"fewer than {FEWEST_RECORDS} records for each combination with the useful values, too few to measure"
TOO_LARGE = "too many combinations with the sensitive, useful and released values to measure"
UNLISTED = "too many values that the mechanism may release to list them all"


@dataclass(frozen=True)
class Exposure:
    """What one set of columns tells about S together with the release.

    Attributes
    ----------
    reason : str or None
        Why it cannot be measured; nothing else is known then.
    keeps : bool
        Whether the promise holds of the columns and the release together.
    lifts : dict
        Extreme log-lifts, nats, rounded away from zero.
    combinations : int
        Combinations of further and useful values.
    """

    reason: str | None = None
    keeps: bool = False
    lifts: dict[str, str] = field(default_factory=dict)
    combinations: int = 0


@dataclass(frozen=True)
class Watcher:
    """Measures sets of columns of one table beside one release.

    Attributes
    ----------
    suppressed : mapping
        Values that the mechanism does not know, each with the known one that it is drawn like, by column.
    counted : Joint or None
        The pairs of sensitive and useful values as they were counted before, if they were.
    """

    table: Table
    mechanism: Mechanism
    notion: Notion
    sensitive: tuple[str, ...]
    suppressed: Mapping[tuple[Any, ...], tuple[Any, ...]]
    counted: Joint | None = None
    _bases: dict[tuple[str, ...], Combinations] = field(default_factory=dict)
    _known: dict[tuple[str, ...], Exposure] = field(default_factory=dict)

    @cached_property
    def rows(self) -> int:
        """Rows of the table."""
        return count_rows(self.table)

    def look_at(self, sets: Sequence[tuple[str, ...]], columns: Sequence[str] = ()) -> list[int]:
        """Tell in one pass which sets have clearly too many combinations; count the first at once if it is small.

        The same pass tells about how many values each of some columns has.
        """
        wanted = [own for own in dict.fromkeys(sets) if own]
        symbols, name = list(map(self._symbol, self.mechanism.useful_columns)), self.table.dialect.identifier
        asked = [[*symbols, *map(name, own)] for own in wanted]
        about = about_distinct(self.table, [*asked, *([name(column)] for column in columns)])
        for own, combinations in zip(wanted, about):
            if combinations * FEWEST_RECORDS > CLEARLY * self.rows:
                self._known[own] = Exposure(TOO_MANY)
        if wanted and about[0] <= COUNTED_AT_ONCE:
            self._counted(wanted[0])
        return about[len(wanted) :]

    def _symbol(self, column: str) -> str:
        return self.table.dialect.symbol(column, self.table.kinds[column], self.mechanism.bins.get(column))

    def of(self, columns: tuple[str, ...]) -> Exposure:
        """These columns and the release together."""
        if columns not in self._known:
            self._known[columns] = self._measured(columns, self.mechanism)
        return self._known[columns]

    def alone(self, columns: tuple[str, ...]) -> Exposure:
        """These columns without the release."""
        known = self._known.get(columns)
        return known if known is not None and known.reason == TOO_MANY else self._measured(columns, None)

    def _measured(self, columns: tuple[str, ...], mechanism: Mechanism | None) -> Exposure:
        found = self._counted(columns)
        z = joined_codes(found.beside)
        combinations = int(joined_codes(np.column_stack([z, found.column])).max()) + 1
        if combinations * FEWEST_RECORDS > int(found.records.sum()):
            return Exposure(TOO_MANY)
        released = 1 if mechanism is None else mechanism.n_released
        if (int(z.max()) + 1) * len(found.sensitive) * max(released, self.mechanism.n_useful) > MOST_CELLS:
            return Exposure(TOO_LARGE if released <= MOST_CELLS else UNLISTED)
        try:
            return self._decided(found, z, mechanism, combinations)
        except InvalidMechanismError:
            return Exposure(UNLISTED)

    def _decided(self, found: Combinations, z: IntArray, mechanism: Mechanism | None, combinations: int) -> Exposure:
        keeps, lowest, highest = True, decimal.Decimal("Infinity"), decimal.Decimal("-Infinity")
        for joint in self._blocks(found, z, mechanism):
            keeps = keeps and bool(self.notion.allowed(joint)[:-1].all())
            low, high = rounded_extremes(joint, slice(-1))  # the last symbol is not one of the block's own
            lowest, highest = min(lowest, low), max(highest, high)
        lifts = {"log_max_lift": steps_text(highest), "log_min_lift": steps_text(lowest)}
        return Exposure(None, keeps, lifts, combinations)

    def _counted(self, columns: tuple[str, ...]) -> Combinations:
        """The combinations of these columns, out of what was counted before where that has them all."""
        for base, found in self._bases.items():
            if set(columns) <= set(base):
                return found._replace(beside=found.beside[:, [base.index(column) for column in columns]])
        useful = self.mechanism.useful_columns
        bins = {name: edges for name, edges in self.mechanism.bins.items() if name in (*self.sensitive, *useful)}
        found = list_combinations(self.table, self.sensitive, useful, columns, bins=bins, known=self._alphabets)
        self._bases[columns] = found
        return found

    def _blocks(self, found: Combinations, z: IntArray, mechanism: Mechanism | None) -> Iterator[Joint]:
        """P(s, (z, y)) of some combinations z after the other, all others taken together as a last symbol."""
        x = np.array([self._place(label) for label in found.useful])[found.column]
        narrow = z.astype(np.min_scalar_type(int(z.max(initial=0))))  # sorted faster
        order = np.argsort(narrow, kind="stable")
        s, z, x, records = found.row[order], z[order], x[order], found.records[order]
        n_sensitive, n_useful = len(found.sensitive), self.mechanism.n_useful
        everyone = np.bincount(s, records, n_sensitive).astype(np.int64)
        widest = max(n_useful, 1 if mechanism is None else mechanism.n_released)
        step = max(1, CELLS_AT_ONCE // (n_sensitive * widest))
        for first in range(0, int(z[-1]) + 1, step):
            here = slice(*np.searchsorted(z, [first, first + step]))
            shape = n_sensitive, int(z[here][-1]) + 1 - first, n_useful
            place = np.ravel_multi_index((s[here], z[here] - first, x[here]), shape)
            counts = np.bincount(place, records[here], math.prod(shape)).astype(np.int64).reshape(shape)
            cells, masses = _symbols(counts, found.sensitive, mechanism)
            yield _with_rest(cells, masses, counts.sum(axis=(1, 2)), everyone, found.sensitive)

    def _place(self, label: Any) -> int:
        """Row of the mechanism that a useful value is drawn by."""
        chosen = self._stand_ins.get(label, label)
        if chosen not in self._rows:
            raise UnseenSymbolError("the table has useful values that the mechanism does not know.")
        return self._rows[chosen]

    @cached_property
    def _alphabets(self) -> dict[str, Sequence[Any]]:
        """All values of sensitive and useful columns that are symbols by themselves."""
        pairs = self.counted
        if pairs is None or pairs.n_useful > MOST_KNOWN:
            return {}
        sides = ((self.sensitive, pairs.sensitive), (self.mechanism.useful_columns, pairs.useful))
        return {columns[0]: values for columns, values in sides if len(columns) == 1}

    @cached_property
    def _rows(self) -> dict[Any, int]:
        return {label: k for k, label in enumerate(self.mechanism.useful)}

    @cached_property
    def _stand_ins(self) -> dict[Any, Any]:
        """Unknown useful values, each with the one that it is treated as; what is read of S plays no part."""
        width = len(self.mechanism.useful_columns)
        pairs = ((unknown[-width:], like[-width:]) for unknown, like in self.suppressed.items())
        return dict(pairs) if width > 1 else {unknown[0]: like[0] for unknown, like in pairs}


def _symbols(
    counts: IntArray, sensitive: Sequence[Any], mechanism: Mechanism | None
) -> tuple[FloatArray, Callable[[], ObjectArray]]:
    """P(s, z, y) among these counts of (s, z, x), in floats and in integers; without a mechanism y is nothing."""
    if mechanism is not None:
        return mechanism.applied(counts, sensitive)
    alone = counts.sum(axis=2, keepdims=True)
    return alone / alone.sum(), lambda: alone.astype(object)


def _with_rest(
    cells: FloatArray, masses: Callable[[], ObjectArray], inside: IntArray, everyone: IntArray, sensitive: Sequence[Any]
) -> Joint:
    """The joint of a block: its own symbols, and one that stands for all other records, so that P(s) is that of all."""
    total, outside = int(everyone.sum()), everyone - inside
    own = cells.reshape(len(everyone), -1) * (int(inside.sum()) / total)

    def exact() -> ObjectArray:
        made = masses().reshape(len(everyone), -1)
        scale = int(made.sum()) // int(inside.sum())  # the weights of every value have the same sum
        return np.column_stack([made, outside.astype(object) * scale])

    return Joint(
        np.column_stack([own, outside / total]),
        exact,
        sensitive=tuple(sensitive),
        useful=tuple(range(own.shape[1] + 1)),
    )
