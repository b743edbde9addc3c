"""What the order of a sequence tells about its values: tests against a random order, on plain codes.

Each test gives a *surprise*: nats by which what is seen would be unlikely if every rate were within a factor
exp(tolerance) of what a random order gives. A surprise of t or more has a chance of at most exp(-t) on either side, so
that many tests together are decided by their number.

In a random order the counts that are tested here are hypergeometric: how often a value falls into a block, and how
often one value follows another. Of neighbours this is not obvious, since pairs overlap. Put the b's into the gaps
between all other rows: the number of gaps behind an a that are not empty is hypergeometric, and it is the number of b's
right behind an a. At larger distances a sequence falls into several that are woven together, and a few rows at the
ends make the difference. Such counts lie closer to their mean than a binomial does, so Chernoff's bound for the
binomial is safe, far out in the tails too, where a normal approximation with the variance of independent pairs is not.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet._support.codes import dense_codes, joined_codes
from discreet._support.numeric import FloatArray, IntArray
from discreet.notions import Notion
from discreet.tables.coding import column_codes

__all__ = ["FALSE_ALARM", "ranks", "told_by_order", "tolerance", "what_tells"]

#: Part of the smallest budget that an order may tell.
TOLERANCE = 0.1

#: Chance that a release in a random order is refused.
FALSE_ALARM = 1e-5

#: Distances at which rows are compared with each other, besides half of the sequence.
LAGS = (*range(1, 17), 20, 24, 32, 50, 64, 100, 128)

#: Distances at which the ranks of values are compared.
CLOSE = (1, 2, 3, 4, 8, 16)

#: Numbers of blocks whose compositions are compared, and rows that a block has at least.
BLOCKS, SMALLEST_BLOCK = (2, 4, 8, 16, 64, 256), 50

#: Rows of which pairs are counted at a time, so that they stay in a processor's cache.
AT_ONCE = 1 << 16

#: Values that are told apart where all pairs of them are counted, and elsewhere; rarer ones are pooled.
MOST_IN_PAIRS, MOST_VALUES = 16, 256

#: Values whose own neighbours are counted.
MOST_WITH_THEMSELVES = 4096


@dataclass(frozen=True)
class _Values:
    """A sequence of codes, with what several tests ask of it; narrow integers, since passes over them take the time."""

    codes: IntArray

    @cached_property
    def counts(self) -> IntArray:
        return np.bincount(self.codes)

    @cached_property
    def rank(self) -> FloatArray:
        """Ranks among all rows, standardised; equal values share the middle of theirs."""
        middle = np.cumsum(self.counts) - self.counts / 2
        return _standardised(middle[self.codes])

    def pooled(self, most: int) -> Any:
        """Codes of at most so many values: the most frequent ones, and one for all others."""
        place = np.arange(len(self.counts))
        if len(place) > most:
            order = np.argsort(self.counts, kind="stable")[::-1]
            place = np.full(len(order), most - 1, dtype=np.int64)
            place[order[: most - 1]] = np.arange(most - 1)
        return place.astype(np.min_scalar_type(int(place.max())))[self.codes]

    @cached_property
    def pairs(self) -> list[IntArray]:
        """For each distance how often one value stands there behind another, the rarer values pooled."""
        pooled = self.pooled(MOST_IN_PAIRS)
        values = int(pooled.max()) + 1
        pooled = pooled.astype(np.min_scalar_type(values**2 - 1))  # what numbers of pairs fit into
        tables = []
        for lag in _distances(len(pooled)):
            cells = np.zeros(values**2, dtype=np.int64)
            for start in range(0, len(pooled) - lag, AT_ONCE):
                end = min(start + AT_ONCE, len(pooled) - lag)
                cells += np.bincount(values * pooled[start:end] + pooled[start + lag : end + lag], minlength=values**2)
            tables.append(cells.reshape(values, values))
        return tables

    @cached_property
    def matches(self) -> list[tuple[IntArray, IntArray, IntArray, int]]:
        """For each distance, by value: rows that meet their own value there, rows in front, rows behind; all rows."""
        if len(self.counts) <= MOST_IN_PAIRS:
            return [(t.diagonal(), t.sum(axis=1), t.sum(axis=0), int(t.sum())) for t in self.pairs]
        codes, values = self.pooled(len(self.counts)), len(self.counts)
        found = []
        for lag in _distances(len(codes)):
            first = codes[:-lag]
            alike = np.bincount(first[first == codes[lag:]], minlength=values)
            before = self.counts - np.bincount(codes[-lag:], minlength=values)
            after = self.counts - np.bincount(codes[:lag], minlength=values)
            found.append((alike, before, after, len(first)))
        return found


def what_tells(codes: IntArray, tolerance: float, alarm: float) -> str | None:
    """What in the order of a sequence tells its values, in words; None where it may be a random order.

    Parameters
    ----------
    codes : ndarray of int
        Values from 0 on, as ranks in their own order.
    tolerance : float
        Nats by which rates may differ from those of a random order. With 0 every difference that is no accident tells.
    alarm : float
        Largest chance that a random order is taken for a telling one. The kinds of tests share it evenly, and inside a
        kind all its tests do (Bonferroni): no assumption on how they depend on each other is needed.

    Notes
    -----
    The cost is about thirty passes over the codes: a tenth of a second for a million rows.
    """
    if len(codes) < 2 or (codes == codes[0]).all():
        return None
    sequence = _Values(dense_codes(codes))
    for words, kind in KINDS:
        surprises = [np.ravel(found) for found in kind(sequence, tolerance)]
        tests = sum(len(found) for found in surprises)
        if tests and max(found.max(initial=0.0) for found in surprises) > math.log(2 * tests * len(KINDS) / alarm):
            return words
    return None


def _in_runs(sequence: _Values, tolerance: float) -> Iterator[FloatArray]:
    """Every value in one run: the chance of that in a random order, exactly. It tells all, whatever the tolerance."""
    codes, counts = sequence.codes, sequence.counts
    if int(np.count_nonzero(codes[1:] != codes[:-1])) + 1 == len(counts):
        logs = sum(math.lgamma(count + 1) for count in counts.tolist())
        yield np.array([math.lgamma(len(codes) + 1) - math.lgamma(len(counts) + 1) - logs])


def _trend(sequence: _Values, tolerance: float) -> Iterator[FloatArray]:
    """Values that rise or fall along the sequence: the correlation of place and rank."""
    place = _standardised(np.arange(len(sequence.codes), dtype=np.float64))
    excess = _excess(place, sequence.rank, tolerance)
    # Places are uniform, and sums of uniform variables have lighter tails than a normal one of their variance.
    yield np.array([excess**2 / (2 * len(place))])


def _closeness(sequence: _Values, tolerance: float) -> Iterator[FloatArray]:
    """Close values close to each other: the correlation of ranks at small distances."""
    rank = sequence.rank
    largest = float(max(rank.max(), -rank.min())) ** 2
    for lag in CLOSE:
        if lag < len(rank):
            excess = _excess(rank[:-lag], rank[lag:], tolerance)
            # Row by row a martingale: Freedman's inequality, which knows that single products may be large.
            yield np.array([excess**2 / (2 * (len(rank) + largest * excess / 3))])


def _pairs(sequence: _Values, tolerance: float) -> Iterator[FloatArray]:
    """Which value stands how far behind which: more often than by chance, or less."""
    for table in sequence.pairs:
        yield _surprise(table, table.sum(axis=1)[:, None], table.sum(axis=0), int(table.sum()), tolerance)


def _with_themselves(sequence: _Values, tolerance: float) -> Iterator[FloatArray]:
    """Each value at some distance from itself, the rare ones too."""
    shown = sequence
    if len(sequence.counts) > MOST_WITH_THEMSELVES:
        shown = _Values(dense_codes(sequence.pooled(MOST_WITH_THEMSELVES)))
    for alike, first, second, rows in shown.matches:
        yield _surprise(alike, first, second, rows, tolerance)


def _rare_together(sequence: _Values, tolerance: float) -> Iterator[FloatArray]:
    """How many of the rarer values have their own at some distance: together they may show what none does alone.

    None of them takes more than a sixteenth of the rows, so that the sum varies less than a Poisson variable.
    """
    rare = np.argsort(sequence.counts, kind="stable")[::-1][MOST_IN_PAIRS - 1 :]
    if len(rare) < 2:
        return
    for alike, first, second, rows in sequence.matches:
        seen, mean = float(alike[rare].sum()), float((first[rare] * second[rare] / rows).sum())
        allowed = min(max(seen, mean * math.exp(-tolerance)), mean * math.exp(tolerance))
        yield np.array([(seen * math.log(seen / allowed) if seen else 0.0) - seen + allowed if allowed else 0.0])


def _blocks(sequence: _Values, tolerance: float) -> Iterator[FloatArray]:
    """What blocks of the sequence consist of, beside the whole; each of the fewer ones is several of the finest."""
    rows = len(sequence.codes)
    numbers = [number for number in BLOCKS if rows >= number * SMALLEST_BLOCK]
    if not numbers:
        return
    pooled = sequence.pooled(MOST_VALUES)
    values, most = int(pooled.max()) + 1, numbers[-1]
    ends = -(-np.arange(most + 1) * rows // most)
    finest = np.array([np.bincount(pooled[a:b], minlength=values) for a, b in itertools.pairwise(ends.tolist())])
    for number in numbers:
        table = finest.reshape(number, -1, values).sum(axis=1)
        yield _surprise(table, table.sum(axis=1)[:, None], table.sum(axis=0), rows, tolerance)


#: Tests by what they find, most telling first.
KINDS: tuple[tuple[str, Callable[[_Values, float], Iterator[FloatArray]]], ...] = (
    ("equal values stand together", _in_runs),
    ("values rise or fall along it", _trend),
    ("its parts differ in what they hold", _blocks),
    ("rows tell about rows near them", _pairs),
    ("rows tell about rows near them", _with_themselves),
    ("rows tell about rows near them", _rare_together),
    ("close values stand close together", _closeness),
)


def _surprise(seen: IntArray, one: IntArray, other: IntArray, rows: int, tolerance: float) -> FloatArray:
    """Surprise of how often rows have two properties at once, of which so many rows have one and the other.

    The rate is compared with the nearest one that the tolerance allows. Of the two binomials that bound the count, the
    one of fewer draws varies less.
    """
    draws, chance = np.minimum(one, other), np.maximum(one, other) / rows
    rate = seen / np.maximum(draws, 1)
    allowed = np.clip(rate, chance * math.exp(-tolerance), np.minimum(chance * math.exp(min(tolerance, 700.0)), 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        upper = np.where(rate > 0, rate * np.log(rate / allowed), 0.0)
        lower = np.where(rate < 1, (1 - rate) * (np.log1p(-rate) - np.log1p(-allowed)), 0.0)
        result: FloatArray = np.where(draws > 0, draws * (upper + lower), 0.0)
    return result


def _excess(one: FloatArray, other: FloatArray, tolerance: float) -> float:
    """By how much a sum of products is beyond what rates within the tolerance give at most.

    Rates that differ from chance by at most a factor 1 + d give a mean product of at most d E|u| E|v|.
    """
    product = abs(float(one @ other))
    if product == 0.0:
        return 0.0
    allowed = math.expm1(min(tolerance, 700.0)) * float(np.abs(one).mean() * np.abs(other).mean())
    return max(0.0, product - len(one) * allowed)


def _standardised(scores: FloatArray) -> FloatArray:
    centred = scores - scores.mean()
    result: FloatArray = centred / math.sqrt(float((centred**2).mean()))
    return result


def _distances(rows: int) -> list[int]:
    """How far apart rows are compared."""
    return [lag for lag in sorted({*LAGS, rows // 2}) if lag < rows]


def tolerance(notion: Notion) -> float:
    """Nats that an order may tell; a side without a limit has no budget, and the others count."""
    return TOLERANCE * min(bound.epsilon for bound in notion.bounds)


def ranks(column: Any) -> IntArray:
    """Values of an Arrow column as ranks in the order of an alphabet."""
    return column_codes(column, "", None)[0].astype(np.int64)


def told_by_order(columns: Mapping[str, Any], sensitive: Sequence[str], notion: Notion, orders: int = 1) -> str | None:
    """Which column an order of rows tells, and by what; None where it tells none of them.

    ``columns`` are Arrow columns in that order, and ``sensitive`` says which of them are. Sensitive ones are looked at
    together too, and together with all others: beside a label, an order may tell what neither tells alone.

    Parameters
    ----------
    orders : int
        How many orders are published, over which false alarms are shared out.
    """
    codes = {f"{name!r}": ranks(cells) for name, cells in columns.items()}
    secret = [codes[f"{name!r}"] for name in sensitive]
    if len(sensitive) > 1:
        codes[f"{' and '.join(map(repr, sensitive))} together"] = joined_codes(np.column_stack(secret))
    if len(columns) > len(sensitive) > 0:
        every = [codes[f"{name!r}"] for name in columns]
        codes["sensitive and useful columns together"] = joined_codes(np.column_stack(every))
    alarm = FALSE_ALARM / (orders * max(1, len(codes)))
    for name, sequence in codes.items():
        words = what_tells(sequence, tolerance(notion), alarm)
        if words is not None:
            return f"tells values of {name}: {words}"
    return None
