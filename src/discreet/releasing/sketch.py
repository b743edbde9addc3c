"""Who had which id: a sample of a table, by which a ledger tells whether ids of another stand for the same people.

The same mechanism, key and id draw the same, but only for whoever kept the id. Where ids are given anew, such as the
numbers of rows in a table that was sorted otherwise, everybody is drawn a second time. So every release with ids leaves
a sketch in the ledger: of those ids whose keyed digests are smallest, the digest and a code of the record's values. Any
two tables under one key choose the same ids, as far as they have them (bottom-k), and the more of them have the same
values in both the surer it is that they are the same people's. Without the key nobody tries ids or values on it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hmac
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core import labels
from discreet.drawing.keys import SUBKEY_DIGITS, ReleaseKey
from discreet.releasing.plan import Plan
from discreet.tables.coding import codes_of, symbol_codes
from discreet.tables.dialect import Dialect
from discreet.tables.session import Table

__all__ = ["Sketch", "sketch_of"]

#: Ids that a sketch has at most: shares of all people are known to within one or two in a hundred.
MOST_IDS = 1_000

#: Hexadecimal digits of a code: among a thousand ids of a billion no two share 64 bits.
DIGITS = 16

#: Of ten people with an id of both tables, how many must be the same ones.
SAME_OF_TEN = 9


@dataclass(frozen=True)
class Sketch:
    """Codes of some ids, in their order, and of the values of each.

    Attributes
    ----------
    ids, values : tuple of str
        Hexadecimal digits; sensitive and useful values together have one code.
    """

    ids: tuple[str, ...]
    values: tuple[str, ...]

    def why_others(self, other: Sketch) -> str | None:
        """Why ids of both do not stand for the same people, in words; None where they do.

        Ids that one of them has alone are taken for other people, unless they are more than half. Ids in common may
        agree by chance, and what is more than that counts: people who kept their ids all agree, and of others as many
        as of random pairs of records do, so that agreement tells how many kept theirs.
        """
        end = min(self._end, other._end)
        one, two = self._until(end), other._until(end)
        common = [code for code in one if code in two]
        if 2 * len(common) < min(len(one), len(two)) or not common:
            return "fewer than half of the ids are the same"
        n, agree = len(common), sum(one[code] == two[code] for code in common)
        often = Counter(two[code] for code in common)
        by_chance = sum(often[one[code]] for code in common)  # of all n * n pairs of records
        if 10 * (n * agree - by_chance) > SAME_OF_TEN * (n * n - by_chance):
            return None
        if by_chance == n * n:
            return "all people whose ids were compared have the same values, which do not tell them apart"
        return "too many of the ids stand for other values than before"

    @property
    def _end(self) -> str:
        """The last code up to which it has all ids of its table; one behind all codes where it has every id."""
        return self.ids[-1] if len(self.ids) == MOST_IDS else "g"

    def _until(self, end: str) -> dict[str, str]:
        return {code: values for code, values in zip(self.ids, self.values) if code <= end}

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"ids": "".join(self.ids), "values": "".join(self.values)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Sketch:
        """What `to_dict` gave; a ValueError where it is damaged."""
        ids, values = (_codes(stored[name]) for name in ("ids", "values"))
        if len(ids) != len(values) or len(ids) > MOST_IDS or list(ids) != sorted(set(ids)):
            raise ValueError("a damaged sketch")
        return cls(ids, values)


def sketch_of(table: Table, plan: Plan, key: ReleaseKey) -> Sketch | None:
    """The sketch of a table that is released by ids; None where draws follow from places.

    One digest for every row, as a draw takes, and one pass; ids were found to be unique and never null before.
    """
    if plan.id is None:
        return None
    wanted, bins = (*plan.sensitive, *plan.useful), plan.mechanism.bins
    cells = [table.dialect.symbol(column, table.kinds[column], bins.get(column)) for column in wanted]
    of_ids, of_values = (key.derive(f"sketch-{what}", plan.id, plan.mechanism.fingerprint) for what in ("id", "values"))
    found = table.smallest(cells, _digest(table.dialect, of_ids, plan.id), MOST_IDS)
    codes, symbols = symbol_codes(codes_of(found, wanted, bins))
    values = [_code(of_values, symbol) for symbol in symbols]
    pairs = dict(sorted(zip(found.column(len(wanted)).to_pylist(), (values[k] for k in codes.tolist()))))
    return Sketch(tuple(pairs), tuple(pairs.values()))


def _digest(dialect: Dialect, secret: bytes, column: str) -> str:
    """SQL of the first digits of an id's digest, under a key that serves nothing else: queries may be logged."""
    text = f"'{secret.hex()[:SUBKEY_DIGITS]}' || {dialect.record(column, '', '')}"
    return f"substr({dialect.sha256(text)}, 1, {DIGITS})"


def _code(secret: bytes, symbol: Any) -> str:
    """The code of sensitive and useful values together."""
    return hmac.digest(secret, json.dumps(labels.encode(symbol)).encode(), "sha256").hex()[:DIGITS]


def _codes(text: str) -> tuple[str, ...]:
    if not re.fullmatch(f"(?:[0-9a-f]{{{DIGITS}}})*", text):
        raise ValueError("a damaged sketch")
    return tuple(text[k : k + DIGITS] for k in range(0, len(text), DIGITS))
