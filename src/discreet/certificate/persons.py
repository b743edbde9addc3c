r"""Several records of one person: the promise for all of a person's labels together.

Records of one person that carry the same value get the same draw, so a reader who links them sees, for every label, how
many of the person's records have it. A person is the multiset T of values of its records, and the set of its sensitive
values takes the place of S:

.. math:: P(s, o) = \sum_T P(s, T) \, P(o \mid T)

where the draws of different values are independent. Where the outcomes o can be listed, the notion is decided on them
in integers. Else every label changes beliefs by at most the largest ratio of two weights in its column, so that m
different values change them by at most m times its logarithm, on top of what the numbers of records tell alone.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import decimal
import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import measures
from discreet._support.errors import BrokenNotionError, UnseenSymbolError, UnsupportedNotionError
from discreet._support.numeric import DENOMINATOR, DENOMINATOR_BITS, IntArray
from discreet.certificate.exposure import joined_codes, lift_text
from discreet.core.joint import Joint
from discreet.drawing.lookup import key_values
from discreet.mechanism import Draw, Mechanism
from discreet.notions import Notion
from discreet.notions.bound import BoundKind
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
    """

    persons: int
    most_records: int
    how: str
    lifts: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """As a certificate states it."""
        return {"persons": self.persons, "most_records": self.most_records, "how": self.how, **self.lifts}


@dataclass(frozen=True)
class _Records:
    """The records of all persons: who has which value how often, and which sensitive ones.

    Attributes
    ----------
    person, value, times : ndarray
        One entry for each value of each person, by person.
    secret : ndarray
        Of each person, the number of its set of sensitive values.
    values : list of tuple
        What the draws look up of each value.
    """

    person: IntArray
    value: IntArray
    times: IntArray
    secret: IntArray
    values: list[tuple[Any, ...]]

    @property
    def most_values(self) -> int:
        """Different values of the person that has most."""
        return int(np.bincount(self.person).max())

    def kinds(self, codes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Persons that look alike: set of sensitive values, sorted codes from 1 on filled up with 0, and how many."""
        lines = side_by_side(self.person, codes)
        found, persons = np.unique(np.column_stack([self.secret, lines]), axis=0, return_counts=True)
        return found[:, 0], found[:, 1:], persons


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
    draws = mechanism.draws()
    records = _gathered(table, mechanism, person, sensitive, draws)
    rows = [_rows(draw, mechanism, records.values, suppressed) for draw in draws]
    joint = _listed(records, draws, rows)
    if joint is not None:
        kept, how, lifts = notion.holds(joint), "exactly", _lifts(joint)
    else:
        how, (kept, lifts) = "by a bound", _bounded(records, draws, rows, notion)
    if not kept:
        raise BrokenNotionError(_refusal(notion, records.most_values, how, lifts))
    most = int(np.bincount(records.person, records.times).max())
    return Persons(len(records.secret), most, how, lifts)


def _refusal(notion: Notion, most: int, how: str, lifts: Mapping[str, str]) -> str:
    span = f"log-lifts from {lifts['log_min_lift']} to {lifts['log_max_lift']} nats"
    found = f"has {span}" if how == "exactly" else f"is only known to have {span}"
    return (
        f"the promise is about persons, and one with up to {most} different values is released as several labels: all "
        f"of them together {found}, which breaks {notion}. Keep fewer records of each person, make the values coarser, "
        "or design for a smaller budget."
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
    table: Table, mechanism: Mechanism, person: str, sensitive: Sequence[str], draws: Sequence[Draw]
) -> _Records:
    """One query for (person, sensitive values, looked-up values, records), and numbers for each."""
    inputs = list(dict.fromkeys(column for draw in draws for column in draw.inputs))
    symbols = [
        table.dialect.symbol(column, table.kinds[column], mechanism.bins.get(column))
        for column in (*sensitive, *inputs)
    ]
    asked = [table.dialect.as_text(table.dialect.identifier(person)), *symbols]
    named = [f"{expression} AS c{k}" for k, expression in enumerate(asked)]
    found = table.aggregate(", ".join([*named, "count(*) AS n"]), ", ".join(asked))
    codes = [_codes(found.column(k)) for k in range(len(asked))]
    who, secret = codes[0], joined_codes(np.column_stack(codes[1 : 1 + len(sensitive)]))
    value = joined_codes(np.column_stack(codes[1 + len(sensitive) :]))
    examples = np.unique(value, return_index=True)[1]
    shown = [found.column(k).take(examples).to_pylist() for k in range(1 + len(sensitive), len(asked))]
    own, place = np.unique(np.column_stack([who, value]), axis=0, return_inverse=True)
    times = np.bincount(place.reshape(-1), np.asarray(found.column(len(asked)))).astype(np.int64)
    pairs = np.unique(np.column_stack([who, secret]), axis=0)
    sets = joined_codes(side_by_side(pairs[:, 0], pairs[:, 1]))
    return _Records(own[:, 0], own[:, 1], times, sets, list(zip(*shown)))


def _codes(column: Any) -> IntArray:
    encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    whole = encoded.chunk(0) if hasattr(encoded, "chunks") else encoded
    return np.asarray(whole.indices).astype(np.int64)


def _rows(
    draw: Draw, mechanism: Mechanism, values: Sequence[tuple[Any, ...]], suppressed: Mapping[Any, Any]
) -> list[int]:
    """Row of a draw by which each value is drawn."""
    inputs = list(dict.fromkeys(column for one in mechanism.draws() for column in one.inputs))
    places = [inputs.index(column) for column in draw.inputs]
    own = {symbol: k for k, symbol in enumerate(draw.symbols)}
    known = {key_values(symbol, draw.inputs, mechanism.bins): k for symbol, k in own.items()}
    known |= {key_values(odd, draw.inputs, mechanism.bins): own[like] for odd, like in suppressed.items()}
    try:
        return [known[tuple(value[k] for k in places)] for value in values]
    except KeyError:
        raise UnseenSymbolError("the table has useful values that the mechanism does not know.") from None


def _listed(records: _Records, draws: Sequence[Draw], rows: Sequence[Sequence[int]]) -> Joint | None:
    """The joint of sets of sensitive values and outcomes, in integers; None where outcomes are too many."""
    if records.most_values > MOST_LISTED or any(draw.bits is not None for draw in draws):
        return None
    entries = [_entries(draws, [row[v] for row in rows]) for v in range(len(records.values))]
    pair = joined_codes(np.column_stack([records.value, records.times]))
    example = np.unique(pair, return_index=True)[1]
    secrets, lines, persons = records.kinds(pair)
    total = sum(
        math.prod(len(entries[records.value[example[code - 1]]]) for code in line if code) for line in lines.tolist()
    )
    if total > MOST_OUTCOMES:
        return None
    shift = DENOMINATOR_BITS * len(draws)
    masses: dict[Any, Counter[int]] = {}
    for secret, line, number in zip(secrets.tolist(), lines.tolist(), persons.tolist()):
        held = [(int(records.value[example[code - 1]]), int(records.times[example[code - 1]])) for code in line if code]
        scale = number << shift * (lines.shape[1] - len(held))
        for outcome, weight in _outcomes([(entries[v], n) for v, n in held]).items():
            masses.setdefault(outcome, Counter())[secret] += weight * scale
    return _joint([[column[s] for column in masses.values()] for s in range(int(secrets.max()) + 1)])


def _entries(draws: Sequence[Draw], rows: Sequence[int]) -> list[tuple[tuple[str, ...], int]]:
    """Labels that a value may get, one for each draw, and their weights."""
    options = []
    for draw, row in zip(draws, rows, strict=True):
        part = range(int(draw.starts[row]), int(draw.starts[row + 1]))
        options.append([(draw.labels[k], int(draw.weights[k])) for k in part])
    return [
        (tuple(label for label, _ in chosen), math.prod(weight for _, weight in chosen))
        for chosen in itertools.product(*options)
    ]


def _outcomes(held: Sequence[tuple[Sequence[tuple[tuple[str, ...], int]], int]]) -> dict[Any, int]:
    """How many records of a person have which label, with the weight of each possibility."""
    found: Counter[Any] = Counter()
    for chosen in itertools.product(*(entries for entries, _ in held)):
        seen: Counter[tuple[str, ...]] = Counter()
        for (labels, _), (_, times) in zip(chosen, held):
            seen[labels] += times
        found[frozenset(seen.items())] += math.prod(weight for _, weight in chosen)
    return found


def _joint(table: Sequence[Sequence[int]]) -> Joint:
    """Integer masses as a joint."""
    masses = np.array(table, dtype=object)
    total = int(masses.sum())
    cells = np.array([[float(Fraction(int(n), total)) for n in row] for row in masses])
    names = [tuple(range(size)) for size in masses.shape]
    return Joint(cells, lambda: masses, sensitive=names[0], useful=names[1], floats_suffice=False)


def _lifts(joint: Joint) -> dict[str, str]:
    """The extreme log-lifts of a joint."""
    masses = joint.masses
    prior, mass, total = masses.sum(axis=1), masses.sum(axis=0), int(masses.sum())
    lifts = [
        Fraction(int(masses[s, y]) * total, int(prior[s]) * int(mass[y]))
        for s in range(len(prior))
        for y in range(len(mass))
        if prior[s] and mass[y]
    ]
    return {
        "log_max_lift": lift_text(max(lifts), decimal.ROUND_CEILING),
        "log_min_lift": lift_text(min(lifts), decimal.ROUND_FLOOR),
    }


def _bounded(
    records: _Records, draws: Sequence[Draw], rows: Sequence[Sequence[int]], notion: Notion
) -> tuple[bool, dict[str, str]]:
    """What the numbers of records tell, and at most m times the largest ratio of weights on top of it."""
    room = records.most_values * sum(_largest_ratio(draw, used) for draw, used in zip(draws, rows, strict=True))
    if records.most_values > MOST_VALUES or not math.isfinite(room):
        return False, {"log_max_lift": "inf", "log_min_lift": "-inf"}
    secrets, lines, persons = records.kinds(records.times)
    profile = joined_codes(lines)
    counts = np.zeros((int(secrets.max()) + 1, int(profile.max()) + 1), dtype=np.int64)
    np.add.at(counts, (secrets, profile), persons)
    alone = measures.lift(Joint.from_counts(counts))
    low, high = np.log(alone.min(axis=0)), np.log(alone.max(axis=0))
    rise, fall, apart = (float(part.max()) + room for part in (high, -low, high - low))

    def needed(kind: BoundKind) -> float:
        if not kind.is_on_lifts:
            return math.inf
        return apart if kind.compares_pairs else fall if kind.is_inverse else rise

    kept = all(needed(bound.kind) * (1 + SAFETY) <= bound.epsilon for bound in notion.bounds)
    return kept, {"log_max_lift": _outwards(rise), "log_min_lift": _outwards(-fall)}


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
    return f"{math.copysign(math.ceil(abs(value) * (1 + SAFETY) * 1e3) / 1e3, value):.3f}"
