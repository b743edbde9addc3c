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

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
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

#: Values that are told apart where all pairs of them are counted, and elsewhere; rarer ones are pooled.
MOST_IN_PAIRS, MOST_VALUES = 16, 256

#: Values whose own neighbours are counted.
MOST_WITH_THEMSELVES = 4096


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
    The cost is about forty passes over the codes: a quarter of a second for a million rows and ten values.
    """
    if len(codes) < 2 or (codes == codes[0]).all():
        return None
    codes = dense_codes(codes)
    for words, kind in KINDS:
        surprises = [np.ravel(found) for found in kind(codes, tolerance)]
        tests = sum(len(found) for found in surprises)
        if tests and max(found.max(initial=0.0) for found in surprises) > math.log(2 * tests * len(KINDS) / alarm):
            return words
    return None


def _in_runs(codes: IntArray, tolerance: float) -> Iterator[FloatArray]:
    """Every value in one run: the chance of that in a random order, exactly. It tells all, whatever the tolerance."""
    counts = np.bincount(codes)
    if int((codes[1:] != codes[:-1]).sum()) + 1 == len(counts):
        logs = sum(math.lgamma(count + 1) for count in counts.tolist())
        yield np.array([math.lgamma(len(codes) + 1) - math.lgamma(len(counts) + 1) - logs])


def _trend(codes: IntArray, tolerance: float) -> Iterator[FloatArray]:
    """Values that rise or fall along the sequence: the correlation of place and rank."""
    place = _standardised(np.arange(len(codes), dtype=np.float64))
    rank = _standardised(_middle_ranks(codes))
    excess = _excess(place, rank, tolerance)
    # Places are uniform, and sums of uniform variables have lighter tails than a normal one of their variance.
    yield np.array([excess**2 / (2 * len(codes))])


def _closeness(codes: IntArray, tolerance: float) -> Iterator[FloatArray]:
    """Close values close to each other: the correlation of ranks at small distances."""
    rank = _standardised(_middle_ranks(codes))
    largest = float(np.abs(rank).max()) ** 2
    for lag in CLOSE:
        if lag < len(codes):
            excess = _excess(rank[:-lag], rank[lag:], tolerance)
            # Row by row a martingale: Freedman's inequality, which knows that single products may be large.
            yield np.array([excess**2 / (2 * (len(codes) + largest * excess / 3))])


def _pairs(codes: IntArray, tolerance: float) -> Iterator[FloatArray]:
    """Which value stands how far behind which: more often than by chance, or less."""
    pooled = _pooled(codes, MOST_IN_PAIRS)
    values = int(pooled.max()) + 1
    for first, second in _apart(pooled):
        table = np.bincount(values * first + second, minlength=values**2).reshape(values, values)
        yield _surprise(table, table.sum(axis=1)[:, None], table.sum(axis=0), len(first), tolerance)


def _with_themselves(codes: IntArray, tolerance: float) -> Iterator[FloatArray]:
    """Each value at some distance from itself, the rare ones too."""
    shown = min(int(codes.max()) + 1, MOST_WITH_THEMSELVES)
    for alike, first, second, rows in _matches(_pooled(codes, shown)):
        yield _surprise(alike, first, second, rows, tolerance)


def _rare_together(codes: IntArray, tolerance: float) -> Iterator[FloatArray]:
    """How many of the rarer values have their own at some distance: together they may show what none does alone.

    None of them takes more than a sixteenth of the rows, so that the sum varies less than a Poisson variable.
    """
    rare = np.argsort(np.bincount(codes), kind="stable")[::-1][MOST_IN_PAIRS - 1 :]
    if len(rare) < 2:
        return
    for alike, first, second, rows in _matches(codes):
        seen, mean = float(alike[rare].sum()), float((first[rare] * second[rare] / rows).sum())
        allowed = min(max(seen, mean * math.exp(-tolerance)), mean * math.exp(tolerance))
        yield np.array([(seen * math.log(seen / allowed) if seen else 0.0) - seen + allowed if allowed else 0.0])


def _blocks(codes: IntArray, tolerance: float) -> Iterator[FloatArray]:
    """What blocks of the sequence consist of, beside the whole."""
    pooled = _pooled(codes, MOST_VALUES)
    values, place = int(pooled.max()) + 1, np.arange(len(codes))
    for number in BLOCKS:
        if len(codes) < number * SMALLEST_BLOCK:
            break
        cells = np.bincount(values * (place * number // len(codes)) + pooled, minlength=values * number)
        table = cells.reshape(number, values)
        yield _surprise(table, table.sum(axis=1)[:, None], table.sum(axis=0), len(codes), tolerance)


#: Tests by what they find, most telling first.
KINDS: tuple[tuple[str, Callable[[IntArray, float], Iterator[FloatArray]]], ...] = (
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
    allowed = math.expm1(min(tolerance, 700.0)) * float(np.abs(one).mean() * np.abs(other).mean())
    return max(0.0, abs(float(one @ other)) - len(one) * allowed)


def _standardised(scores: FloatArray) -> FloatArray:
    centred = scores - scores.mean()
    result: FloatArray = centred / math.sqrt(float((centred**2).mean()))
    return result


def _middle_ranks(codes: IntArray) -> FloatArray:
    """Ranks among all rows; equal values share the middle of theirs."""
    counts = np.bincount(codes)
    result: FloatArray = (np.cumsum(counts) - counts / 2)[codes]
    return result


def _pooled(codes: IntArray, most: int) -> IntArray:
    """Codes of at most so many values: the most frequent ones, and one for all others."""
    order = np.argsort(np.bincount(codes), kind="stable")[::-1]
    if len(order) <= most:
        return codes
    place = np.full(len(order), most - 1, dtype=np.int64)
    place[order[: most - 1]] = np.arange(most - 1)
    result: IntArray = place[codes]
    return result


def _apart(codes: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Rows, and the rows at some distance behind them."""
    for lag in sorted({*LAGS, len(codes) // 2}):
        if lag < len(codes):
            yield codes[:-lag], codes[lag:]


def _matches(codes: IntArray) -> Iterator[tuple[IntArray, IntArray, IntArray, int]]:
    """For each distance and value: rows that meet their own value there, rows in front, rows behind; and all rows."""
    values = int(codes.max()) + 1
    counts = np.bincount(codes)
    for first, second in _apart(codes):
        lag = len(codes) - len(first)
        alike = np.bincount(first[first == second], minlength=values)
        before = counts - np.bincount(codes[-lag:], minlength=values)
        after = counts - np.bincount(codes[:lag], minlength=values)
        yield alike, before, after, len(first)


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
