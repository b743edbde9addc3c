r"""Several records of one person: the promise for all of a person's labels together.

Records of one person that carry the same value get the same draw, so a reader who links them sees, for every label, how
many of the person's records have it: the outcome o. A person is the multiset T of what its records hold, and the draws
of different values are independent. Somebody who looks at a record sees its label y and the outcome of its person:

.. math:: P(s, (y, o)) = \sum_T \sum_{r \in T, \, s_r = s} P(T) \, P(y_r = y, o \mid T)

The notion is decided on this joint, and for persons whose records share their sensitive value also on that of persons,
P(s, o). Where outcomes can be listed that is done in integers. Else every label changes beliefs by at most
the largest ratio of two weights in its column, so that m different values change them by at most m times its
logarithm, on top of what the numbers of records tell alone.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import measures
from discreet._support.codes import joined_codes
from discreet._support.errors import BrokenNotionError, UnseenSymbolError, UnsupportedNotionError
from discreet._support.numeric import DENOMINATOR, IntArray
from discreet.certificate.lifts import lift_text
from discreet.core.joint import Joint
from discreet.core.rare import has_rare_values
from discreet.drawing.lookup import key_values
from discreet.mechanism import Draw, Mechanism
from discreet.notions import Notion
from discreet.notions.bound import BoundKind
from discreet.tables.arrow import integers
from discreet.tables.session import Table

__all__ = ["Persons", "check_persons"]

#: Different values of one person up to which outcomes are listed, and outcomes that are.
MOST_LISTED, MOST_OUTCOMES = 8, 200_000

#: Different values of one person beyond which no bound is of use.
MOST_VALUES = 64

#: Relative room for the rounding of floats in a bound.
SAFETY = 1e-9


@dataclass(frozen=True)
class Persons:
    """What a release tells about a person, all of its records together.

    Attributes
    ----------
    persons, most_records : int
        How many there are, and the records of the one that has most.
    how : str
        "exactly", or "by a bound".
    lifts : dict
        Extreme log-lifts, or limits of them, nats, rounded away from zero.
    counts : ndarray
        How many persons have each pair of a sensitive and a useful value.
    """

    persons: int
    most_records: int
    how: str
    lifts: dict[str, str]
    counts: IntArray = field(compare=False)

    @property
    def has_rare_values(self) -> bool:
        """Whether few persons stand behind values, however many records they have."""
        return has_rare_values(Joint.from_counts(self.counts))

    @property
    def fewest(self) -> int:
        """Persons behind the pair of values that has fewest."""
        return int(self.counts[self.counts > 0].min())

    def to_dict(self) -> dict[str, Any]:
        """As a certificate states it."""
        return {"persons": self.persons, "most_records": self.most_records, "how": self.how, **self.lifts}


@dataclass(frozen=True)
class _Records:
    """The records of all persons: who has which value with which sensitive one, and how often.

    Attributes
    ----------
    person, value, secret, times : ndarray
        One entry for each pair of values of each person.
    rows : list of tuple
        By which row of each draw a value is drawn; values that are drawn alike are one.
    """

    person: IntArray
    value: IntArray
    secret: IntArray
    times: IntArray
    rows: list[tuple[int, ...]]

    @property
    def n_persons(self) -> int:
        """How many there are."""
        return int(self.person.max()) + 1

    def held(self) -> tuple[IntArray, IntArray, IntArray]:
        """(person, value, records) of each value that a person has, whatever the sensitive ones."""
        pairs, place = np.unique(np.column_stack([self.person, self.value]), axis=0, return_inverse=True)
        return pairs[:, 0], pairs[:, 1], np.bincount(place.reshape(-1), self.times).astype(np.int64)

    @property
    def most_values(self) -> int:
        """Different values of the person that has most."""
        return int(np.bincount(self.held()[0]).max())

    def counts(self) -> IntArray:
        """Persons with each sensitive value and each value."""
        shape = int(self.secret.max()) + 1, len(self.rows)
        found = np.unique(np.column_stack([self.person, self.secret, self.value]), axis=0)
        counts = np.zeros(shape, dtype=np.int64)
        np.add.at(counts, (found[:, 1], found[:, 2]), 1)
        return counts

    def with_one_secret(self) -> tuple[IntArray, IntArray]:
        """Persons whose records share their sensitive value, and that value."""
        pairs = np.unique(np.column_stack([self.person, self.secret]), axis=0)
        alone = np.bincount(pairs[:, 0])[pairs[:, 0]] == 1
        return pairs[alone, 0], pairs[alone, 1]


def check_persons(
    table: Table,
    mechanism: Mechanism,
    notion: Notion,
    *,
    person: str,
    sensitive: Sequence[str],
    suppressed: Mapping[tuple[Any, ...], tuple[Any, ...]],
) -> Persons:
    """Decide the notion for all labels of a person together; refused where it is broken or cannot be bounded."""
    if notion.is_conditional:
        raise UnsupportedNotionError(f"{notion} is about single records; a promise for persons is one about lifts.")
    if notion.confidence is not None:
        raise UnsupportedNotionError(
            f"{notion} takes records as a sample in which none depends on another, and those of a person do. Keep one "
            "record of each person, or leave confidence out."
        )
    draws = mechanism.draws()
    records = _gathered(table, mechanism, person, sensitive, suppressed)
    joints = _listed(records, draws)
    if joints is not None:
        kept, how, lifts = all(map(notion.holds, joints)), "exactly", _lifts(joints)
    else:
        how, (kept, lifts) = "by a bound", _bounded(records, draws, notion)
    if not kept:
        raise BrokenNotionError(_refusal(notion, records, how, lifts))
    most = int(np.bincount(records.person, records.times).max())
    return Persons(records.n_persons, most, how, lifts, records.counts())


def _refusal(notion: Notion, records: _Records, how: str, lifts: Mapping[str, str]) -> str:
    several = int((np.bincount(records.person, records.times) > 1).sum())
    span = f"log-lifts from {lifts['log_min_lift']} to {lifts['log_max_lift']} nats"
    found = f"have {span}" if how == "exactly" else f"are only known to have {span}"
    return (
        f"{several:,} of {records.n_persons:,} persons have several records, with up to {records.most_values} "
        f"different values, and all labels of a person together {found}, which breaks {notion}. Keep one record of "
        "each person; or make the values coarser, or design for a smaller budget than is promised (notion=, --epsilon)."
    )


def side_by_side(person: IntArray, codes: IntArray) -> IntArray:
    """Codes of each person in one line, sorted, from 1 on; 0 where a person has no more.

    >>> side_by_side(np.array([0, 0, 1]), np.array([5, 2, 7])).tolist()
    [[3, 6], [8, 0]]
    """
    order = np.lexsort((codes, person))
    sorted_person = person[order]
    first = np.searchsorted(sorted_person, np.arange(int(person.max()) + 1))
    place = np.arange(len(person)) - first[sorted_person]
    lines = np.zeros((len(first), int(place.max()) + 1), dtype=np.int64)
    lines[sorted_person, place] = codes[order] + 1
    return lines


def _gathered(
    table: Table, mechanism: Mechanism, person: str, sensitive: Sequence[str], suppressed: Mapping[Any, Any]
) -> _Records:
    """One query for (person, sensitive values, looked-up values, records), and numbers for each."""
    draws = mechanism.draws()
    inputs = list(dict.fromkeys(column for draw in draws for column in draw.inputs))
    bins, wanted = mechanism.bins, (*sensitive, *inputs)
    symbols = [table.dialect.symbol(column, table.kinds[column], bins.get(column)) for column in wanted]
    asked = [table.dialect.as_text(table.dialect.identifier(person)), *symbols]
    named = [f"{expression} AS c{k}" for k, expression in enumerate(asked)]
    found = table.aggregate(", ".join([*named, "count(*) AS n"]), ", ".join(asked))
    codes = [_codes(found.column(k)) for k in range(len(asked))]
    who, secret = codes[0], joined_codes(np.column_stack(codes[1 : 1 + len(sensitive)]))
    value = joined_codes(np.column_stack(codes[1 + len(sensitive) :]))
    examples = np.unique(value, return_index=True)[1]
    shown = [found.column(k).take(examples).to_pylist() for k in range(1 + len(sensitive), len(asked))]
    rows = np.column_stack([_rows(draw, mechanism, inputs, list(zip(*shown)), suppressed) for draw in draws])
    alike = joined_codes(rows)
    lines = rows[np.unique(alike, return_index=True)[1]]
    times = integers(found.column(len(asked)))
    same, place = np.unique(np.column_stack([who, alike[value], secret]), axis=0, return_inverse=True)
    records = np.bincount(place.reshape(-1), times).astype(np.int64)
    return _Records(same[:, 0], same[:, 1], same[:, 2], records, [tuple(line) for line in lines.tolist()])


def _codes(column: Any) -> IntArray:
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    whole = encoded.chunk(0) if hasattr(encoded, "chunks") else encoded
    return integers(whole.indices)


def _rows(
    draw: Draw,
    mechanism: Mechanism,
    inputs: Sequence[str],
    values: Sequence[tuple[Any, ...]],
    suppressed: Mapping[Any, Any],
) -> list[int]:
    """Row of a draw by which each value is drawn."""
    places = [inputs.index(column) for column in draw.inputs]
    own = {symbol: k for k, symbol in enumerate(draw.symbols)}
    known = {key_values(symbol, draw.inputs, mechanism.bins): k for symbol, k in own.items()}
    known |= {key_values(odd, draw.inputs, mechanism.bins): own[like] for odd, like in suppressed.items()}
    try:
        return [known[tuple(value[k] for k in places)] for value in values]
    except KeyError:
        raise UnseenSymbolError("the table has useful values that the mechanism does not know.") from None


def _listed(records: _Records, draws: Sequence[Draw]) -> list[Joint] | None:
    """The joints of what is secret and what is seen, in integers; None where outcomes are too many."""
    if records.most_values > MOST_LISTED or any(draw.bits is not None for draw in draws):
        return None
    content = np.column_stack([records.value, records.secret, records.times])
    code = joined_codes(content)
    holds = content[np.unique(code, return_index=True)[1]].tolist()
    lines, persons = np.unique(side_by_side(records.person, code), axis=0, return_counts=True)
    kinds = [_Kind.of([holds[k - 1] for k in line if k], records.rows) for line in lines.tolist()]
    if sum(kind.outcomes(draws) for kind in kinds) > MOST_OUTCOMES:
        return None
    largest = max(kind.weight(draws) for kind in kinds)
    by_record: dict[Any, Counter[int]] = {}
    by_person: dict[Any, Counter[int]] = {}
    for kind, number in zip(kinds, persons.tolist()):
        scale = number * (largest // kind.weight(draws))  # powers of two
        for label, seen, weight in kind.listed(draws):
            for v, s, times in kind.holds:
                by_record.setdefault((label[v], seen), Counter())[s] += weight * scale * times
            if len({s for _, s, _ in kind.holds}) == 1:
                by_person.setdefault(seen, Counter())[kind.holds[0][1]] += weight * scale
    return [_joint(masses) for masses in (by_record, by_person) if masses]


@dataclass(frozen=True)
class _Kind:
    """Persons whose records hold the same.

    Attributes
    ----------
    holds : list of (value, sensitive value, records)
        What the records hold.
    rows : dict
        By which row of each draw a value is drawn.
    drawn : tuple of (draw, row)
        What is drawn for such a person: once for each row of each draw, however many values share it.
    """

    holds: list[list[int]]
    rows: dict[int, tuple[int, ...]]
    drawn: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, holds: list[list[int]], rows: Sequence[tuple[int, ...]]) -> _Kind:
        own = {v: rows[v] for v, _, _ in holds}
        return cls(holds, own, tuple(sorted({pair for line in own.values() for pair in enumerate(line)})))

    def outcomes(self, draws: Sequence[Draw]) -> int:
        """In how many ways its labels can be drawn."""
        return math.prod(int(draws[d].starts[r + 1] - draws[d].starts[r]) for d, r in self.drawn)

    def weight(self, draws: Sequence[Draw]) -> int:
        """What the weights of all ways sum to."""
        return math.prod(draws[d].denominator for d, _ in self.drawn)

    def listed(self, draws: Sequence[Draw]) -> Iterator[tuple[dict[int, tuple[str, ...]], Any, int]]:
        """(label of each value, how many records of the person have which, weight) of each way."""
        records: Counter[int] = Counter()
        for v, _, times in self.holds:
            records[v] += times
        for chosen in itertools.product(*(_entries(draws[d], r) for d, r in self.drawn)):
            got = {pair: label for pair, (label, _) in zip(self.drawn, chosen)}
            label = {v: tuple(got[pair] for pair in enumerate(line)) for v, line in self.rows.items()}
            seen: Counter[tuple[str, ...]] = Counter()
            for v, number in records.items():
                seen[label[v]] += number
            yield label, frozenset(seen.items()), math.prod(weight for _, weight in chosen)


def _entries(draw: Draw, row: int) -> list[tuple[str, int]]:
    """Labels that a row may give, and their weights."""
    return [(draw.labels[k], int(draw.weights[k])) for k in range(int(draw.starts[row]), int(draw.starts[row + 1]))]


def _joint(found: Mapping[Any, Mapping[int, int]]) -> Joint:
    """Integer masses of (secret, what is seen) as a joint, of the secrets that occur."""
    secrets = sorted({s for column in found.values() for s in column})
    masses = np.array([[column.get(s, 0) for column in found.values()] for s in secrets], dtype=object)
    total = int(masses.sum())
    cells = np.array([[float(Fraction(int(n), total)) for n in row] for row in masses])
    names = [tuple(range(size)) for size in masses.shape]
    return Joint(cells, lambda: masses, sensitive=names[0], useful=names[1], floats_suffice=False)


def _lifts(joints: Sequence[Joint]) -> dict[str, str]:
    """The extreme log-lifts of joints."""
    lifts = []
    for joint in joints:
        masses = joint.masses
        prior, mass, total = masses.sum(axis=1), masses.sum(axis=0), int(masses.sum())
        lifts += [
            Fraction(int(masses[s, y]) * total, int(prior[s]) * int(mass[y]))
            for s in range(len(prior))
            for y in range(len(mass))
        ]
    return {
        "log_max_lift": lift_text(max(lifts), decimal.ROUND_CEILING),
        "log_min_lift": lift_text(min(lifts), decimal.ROUND_FLOOR),
    }


def _bounded(records: _Records, draws: Sequence[Draw], notion: Notion) -> tuple[bool, dict[str, str]]:
    """What the numbers of records tell, and at most m times the largest ratio of weights on top of it."""
    room = math.inf  # which of several columns records share would tell as well
    if len(draws) == 1:
        room = records.most_values * _largest_ratio(draws[0], [row for (row,) in records.rows])
    if records.most_values > MOST_VALUES or not math.isfinite(room):
        return False, {"log_max_lift": "inf", "log_min_lift": "-inf"}
    alone = [measures.log_lift(joint) for joint in _profiles(records)]
    low, high = (np.concatenate([end(lifts, axis=0) for lifts in alone]) for end in (np.min, np.max))
    rise, fall, apart = (float(part.max()) + room for part in (high, -low, high - low))

    def keeps(kind: BoundKind, epsilon: float) -> bool:
        if not kind.is_on_lifts:
            return False
        falling, rising = kind.lift_budgets(epsilon)
        needed = [(apart, epsilon)] if kind.compares_pairs else [(fall, falling), (rise, rising)]
        return all(part * (1 + SAFETY) <= budget for part, budget in needed)

    kept = all(keeps(bound.kind, bound.epsilon) for bound in notion.bounds)
    return kept, {"log_max_lift": _outwards(rise), "log_min_lift": _outwards(-fall)}


def _profiles(records: _Records) -> Iterator[Joint]:
    """What the numbers of records tell: of each record, how many have its value and the others; of each person, all."""
    person, value, times = records.held()
    profile = joined_codes(side_by_side(person, times))
    place = np.searchsorted(person * len(records.rows) + value, records.person * len(records.rows) + records.value)
    seen = joined_codes(np.column_stack([profile[records.person], times[place]]))
    counts = np.zeros((int(records.secret.max()) + 1, int(seen.max()) + 1), dtype=np.int64)
    np.add.at(counts, (records.secret, seen), records.times)
    yield Joint.from_counts(counts)
    persons, secret = records.with_one_secret()
    if len(persons):
        counts = np.zeros((int(secret.max()) + 1, int(profile.max()) + 1), dtype=np.int64)
        np.add.at(counts, (secret, profile[persons]), 1)
        yield Joint.from_counts(counts[counts.sum(axis=1) > 0])


def _largest_ratio(draw: Draw, rows: Sequence[int]) -> float:
    """Largest logarithm of the ratio of two weights of one label, over the rows that are used."""
    if draw.bits is not None:
        true, other = (weight / DENOMINATOR for weight in draw.bits)
        return math.log(true * (1 - other) / (other * (1 - true))) if other > 0 and true < 1 else math.inf
    names = {label: k for k, label in enumerate(dict.fromkeys(draw.labels))}
    used = sorted(set(rows))
    weights = np.zeros((len(used), len(names)))
    for k, row in enumerate(used):
        part = slice(int(draw.starts[row]), int(draw.starts[row + 1]))
        weights[k, [names[label] for label in draw.labels[part]]] = draw.weights[part]
    seen = weights[:, weights.max(axis=0) > 0]
    return float(np.log(seen.max(axis=0) / seen.min(axis=0)).max()) if seen.min() > 0 else math.inf


def _outwards(value: float) -> str:
    """A limit in thousandths, away from zero."""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"{math.copysign(math.ceil(abs(value) * (1 + SAFETY) * 1e3) / 1e3, value) + 0.0:.3f}"  # no -0.000
