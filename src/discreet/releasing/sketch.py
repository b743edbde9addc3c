"""Who had which id: a sample of a table, by which a ledger tells whether ids of another stand for the same people.

The same mechanism, key and id draw the same, but only for whoever kept the id. Where ids are given anew, such as the
numbers of rows in a table that was sorted otherwise, everybody is drawn a second time. So every release with ids leaves
a sketch in the ledger: of those ids whose keyed digests are smallest, the digest and codes of the record's values. Any
two tables under one key choose the same ids, as far as they have them (bottom-k), and the more of them have the same
values in both the surer it is that they are the same people's. Many people share their sensitive and useful values, and
may have changed ids among each other: where further columns tell those apart, one of them has to be the same as well.
Without the key nobody tries ids or values on it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hmac
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet._support.errors import UnusableColumnError
from discreet.core import labels
from discreet.drawing.keys import SUBKEY_DIGITS, ReleaseKey
from discreet.releasing.plan import Plan
from discreet.tables.coding import codes_of, column_codes, symbol_codes
from discreet.tables.dialect import Dialect, is_label_type
from discreet.tables.session import Table

__all__ = ["Sketch", "sketch_of"]

#: Ids that a sketch has at most: shares of all people are known to within one or two in a hundred.
MOST_IDS = 1_000

#: Hexadecimal digits of a code: among a thousand ids of a billion no two share 64 bits.
DIGITS = 16

#: Hexadecimal digits of a code of another column's value: two of 65,536 values agree by chance, which is counted.
SHORT = 4

#: Further columns that a sketch has at most, those of most values: 4 kB of the ledger each.
MOST_COLUMNS = 16

#: Of ten people with an id of both tables, how many must be the same ones.
SAME_OF_TEN = 9

#: A column tells people apart where at most this share of pairs have the same value in it.
MOST_ALIKE = 0.5


@dataclass(frozen=True)
class Sketch:
    """Codes of some ids, in their order, and of the values of each.

    Attributes
    ----------
    ids, values : tuple of str
        Hexadecimal digits; sensitive and useful values together have one code.
    others : mapping of str to tuple of str
        Of further columns, shorter codes of their values; lines of older versions have none.
    """

    ids: tuple[str, ...]
    values: tuple[str, ...]
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def why_others(self, other: Sketch) -> str | None:
        """Why ids of both do not stand for the same people, in words; None where they do.

        Ids that one of them has alone are taken for other people, unless they are more than half. Ids in common may
        agree by chance, and what is more than that counts: people who kept their ids all agree, and of others as many
        as of random pairs of records do, so that agreement tells how many kept theirs.
        """
        one, two = self._beside(other)
        common = [code for code in one if code in two]
        if 2 * len(common) < min(len(one), len(two)) or not common:
            return "fewer than half of the ids are the same"
        n, agree = len(common), sum(one[code] == two[code] for code in common)
        often = Counter(two[code] for code in common)
        by_chance = sum(often[one[code]] for code in common)  # of all n * n pairs of records
        if 10 * (n * agree - by_chance) > SAME_OF_TEN * (n * n - by_chance):
            return self._why_exchanged(other)
        if by_chance == n * n:
            return "all people whose ids were compared have the same values, which do not tell them apart"
        return "too many of the ids stand for other values than before"

    def _why_exchanged(self, other: Sketch) -> str | None:
        """Why people who share sensitive and useful values may have changed ids, in words; None where nothing says so.

        Of the columns that tell such people apart in both tables one has to be the same: others, such as a balance, may
        have changed for everybody. Where no column tells them apart there is nothing to go by.
        """
        telling = self.telling(other)
        if not telling or any(telling.values()):
            return None
        return f"people of the same sensitive and useful values have other values of {', '.join(sorted(telling))}"

    def telling(self, other: Sketch) -> dict[str, bool]:
        """Columns that tell people of the same sensitive and useful values apart in both tables, and which stayed."""
        first, second = self._beside(other)
        ids = [code for code in first if second.get(code) == first[code]]
        own, its = ({code: k for k, code in enumerate(kept.ids)} for kept in (self, other))
        groups = _groups([first[code] for code in ids])
        found = {}
        for column in self.others.keys() & other.others.keys() if ids else ():
            one = [self.others[column][own[code]] for code in ids]
            two = [other.others[column][its[code]] for code in ids]
            if max(_chance(one, one, groups), _chance(two, two, groups)) <= MOST_ALIKE:
                chance, agree = _chance(one, two, groups), sum(a == b for a, b in zip(one, two)) / len(ids)
                found[column] = 10 * (agree - chance) > SAME_OF_TEN * (1 - chance)
        return found

    def _beside(self, other: Sketch) -> tuple[dict[str, str], dict[str, str]]:
        """Codes of values by those of ids, of both, as far as both have all ids of their tables."""
        end = min(self._end, other._end)
        return self._until(end), other._until(end)

    @property
    def _end(self) -> str:
        """The last code up to which it has all ids of its table; one behind all codes where it has every id."""
        return self.ids[-1] if len(self.ids) == MOST_IDS else "g"

    def _until(self, end: str) -> dict[str, str]:
        return {code: values for code, values in zip(self.ids, self.values) if code <= end}

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        others = {column: "".join(codes) for column, codes in self.others.items()}
        return {"ids": "".join(self.ids), "values": "".join(self.values), **({"others": others} if others else {})}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Sketch:
        """What `to_dict` gave; a ValueError where it is damaged."""
        ids, values = (_codes(stored[name]) for name in ("ids", "values"))
        if len(ids) != len(values) or len(ids) > MOST_IDS or list(ids) != sorted(set(ids)):
            raise ValueError("a damaged sketch")
        others = {column: _codes(text, SHORT) for column, text in stored.get("others", {}).items()}
        if any(len(codes) != len(ids) for codes in others.values()):
            raise ValueError("a damaged sketch")
        return cls(ids, values, others)


def sketch_of(table: Table, plan: Plan, key: ReleaseKey) -> Sketch | None:
    """The sketch of a table that is released by ids; None where draws follow from places.

    One digest for every row, as a draw takes, and one pass; ids were found to be unique and never null before.
    """
    if plan.id is None:
        return None
    wanted, bins = (*plan.sensitive, *plan.useful), plan.mechanism.bins
    further = _further(table.kinds, (*wanted, plan.id))
    cells = [table.dialect.symbol(column, table.kinds[column], bins.get(column)) for column in wanted]
    cells += [table.dialect.symbol(column, table.kinds[column], None) for column in further]
    of_ids, of_values = (key.derive(f"sketch-{what}", plan.id, plan.mechanism.fingerprint) for what in ("id", "values"))
    found = table.smallest(cells, _digest(table.dialect, of_ids, plan.id), MOST_IDS)
    found = found.sort_by(found.column_names[-1])
    codes, symbols = symbol_codes(codes_of(found, wanted, bins))
    values = [_code(of_values, symbol) for symbol in symbols]
    others = {
        column: _short_codes(found.column(k), column, key.derive("sketch-column", column, plan.mechanism.fingerprint))
        for k, column in enumerate(further, len(wanted))
    }
    ids = tuple(found.column(found.num_columns - 1).to_pylist())
    return Sketch(ids, tuple(values[k] for k in codes.tolist()), _of_most_values(others))


def _further(kinds: Mapping[str, str], taken: Sequence[str]) -> list[str]:
    """Columns beside those that are taken; what is nested or binary has no symbols."""
    return [column for column, kind in kinds.items() if column not in taken and is_label_type(kind)]


def _short_codes(cells: Any, column: str, secret: bytes) -> tuple[str, ...]:
    """Codes of a column's values, of two columns by two keys; none of a column that has values without symbols."""
    try:
        codes, symbols = column_codes(cells, column, None)
        short = [_code(secret, symbol)[:SHORT] for symbol in symbols]
    except (UnusableColumnError, ValueError, TypeError):  # it is not released, and need not serve here
        return ()
    return tuple(short[k] for k in codes.tolist())


def _of_most_values(others: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Those columns that tell most people apart."""
    usable = [column for column, codes in others.items() if codes]
    chosen = sorted(usable, key=lambda column: (-len(set(others[column])), column))[:MOST_COLUMNS]
    return {column: others[column] for column in chosen}


def _groups(values: Sequence[str]) -> list[list[int]]:
    """Places of equal values, of two or more; all places where no value occurs twice."""
    found = defaultdict(list)
    for place, value in enumerate(values):
        found[value].append(place)
    return [places for places in found.values() if len(places) > 1] or [[*range(len(values))]]


def _chance(one: Sequence[str], two: Sequence[str], groups: Sequence[Sequence[int]]) -> float:
    """How often another person of the same group has the same code in the second table as somebody in the first."""
    pairs = 0.0
    for places in groups:
        often = Counter(two[k] for k in places)
        same = sum(often[one[k]] - (one[k] == two[k]) for k in places)
        pairs += same / max(len(places) - 1, 1)
    return pairs / sum(map(len, groups))


def _digest(dialect: Dialect, secret: bytes, column: str) -> str:
    """SQL of the first digits of an id's digest, under a key that serves nothing else: queries may be logged."""
    text = f"'{secret.hex()[:SUBKEY_DIGITS]}' || {dialect.record(column, '', '')}"
    return f"substr({dialect.sha256(text)}, 1, {DIGITS})"


def _code(secret: bytes, symbol: Any) -> str:
    """The code of sensitive and useful values together."""
    return hmac.digest(secret, json.dumps(labels.encode(symbol)).encode(), "sha256").hex()[:DIGITS]


def _codes(text: str, digits: int = DIGITS) -> tuple[str, ...]:
    if not re.fullmatch(f"(?:[0-9a-f]{{{digits}}})*", text):
        raise ValueError("a damaged sketch")
    return tuple(text[k : k + digits] for k in range(0, len(text), digits))
