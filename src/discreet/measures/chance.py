r"""What chance alone gives: a test whether X tells about S at all, and the information measured where it does not.

Both keep the numbers of records N(x) and N(s) and pair them at random, so that N(s, x) is hypergeometric:

.. math:: P(k) = \binom{N(s)}{k} \binom{n - N(s)}{N(x) - k} \Big/ \binom{n}{N(x)}.

Measured lifts and informations of a table with many rare values are large even then. Nothing here asks for many records
of each value, and values of the same number of records are looked at once.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray
from discreet.core.joint import Joint

__all__ = ["Independence", "chance_information", "independence_test", "is_sample"]

#: More records than this are not told apart by floats.
MOST_RECORDS = 1 << 53

#: Random cells that a test may draw, and how many tables it draws: fewer than the first are left to moments.
MOST_DRAWN = 1_000_000
FEWEST_TABLES, MOST_TABLES = 999, 9_999

#: numpy draws from populations below this size.
LARGEST_POPULATION = 1_000_000_000

#: Tables whose statistics differ by less than this share are tied: they are sums in another order.
TIED = 1e-11

#: Beyond this mean, a cell's part of the information is a series in one over the mean, exact to its cube.
LARGE_MEAN = 3_000.0

#: Cells are summed this many standard deviations and records around their mean: what is beyond has less than exp(-40).
DEVIATIONS, RECORDS = 10.0, 45.0

#: Entries of arrays that are looked at in one vectorised step.
STRIPE = 2_000_000


@dataclass(frozen=True)
class Independence:
    """A test of independence.

    Attributes
    ----------
    statistic : float
        The chi-square statistic.
    p_value : float
        Probability of one as large or larger where X tells nothing about S, given N(x) and N(s).
    method : str
        "tables": exact, by random tables with the same N(x) and N(s); "moments": a gamma distribution with the exact
        mean and variance; "none": one value of S or of X alone, so that there is nothing to test.
    """

    statistic: float
    p_value: float
    method: Literal["tables", "moments", "none"]


def is_sample(joint: Joint) -> bool:
    """Whether a joint was counted from records, and not from more than floats tell apart."""
    return joint.counts is not None and int(joint.counts.sum()) <= MOST_RECORDS


def independence_test(joint: Joint, *, seed: int = 0) -> Independence:
    r"""Test whether the useful values tell anything about the sensitive ones, given how often each of them occurs.

    .. math:: \chi^2 = \sum_{s, x} \frac{(N(s, x) - e)^2}{e}, \qquad e = \frac{N(s) N(x)}{n}

    In arrays: ``scipy.stats.chi2_contingency(joint.counts)`` without a correction, but for its p-value, which is not
    right where values are rare.

    Parameters
    ----------
    joint : Joint
        With counts. Values that never occur count for nothing.
    seed : int
        Of the random tables.

    Returns
    -------
    Independence
        Statistic, p-value and method. The p-value of "tables" is (1 + those as extreme) / (1 + tables), which is
        below p with probability at most p where X tells nothing.

    Notes
    -----
    Where a thousand random tables are not too many cells, they are drawn, halving the values again and again. Else the
    statistic has exactly the mean :math:`n (|S| - 1) (|X| - 1) / (n - 1)` and the variance of Haldane in Dawson's form,
    and is taken as gamma distributed. Cost O(n_sensitive * n_useful). Source: [HAL40]_, [DAW54]_.

    Examples
    --------
    >>> independence_test(Joint.from_counts([[50, 51, 49], [50, 49, 51]])).p_value > 0.5
    True
    >>> independence_test(Joint.from_counts([[50, 80, 20], [50, 20, 80]])).p_value
    0.0001
    """
    counts = _counts(joint)
    across, down = counts.sum(axis=0), counts.sum(axis=1)
    if min(counts.shape) < 2:
        return Independence(0.0, 1.0, "none")
    total = int(down.sum())
    statistic = total * float(_squares(counts, down, across)) - total
    tables = min(MOST_TABLES, MOST_DRAWN // counts.size)
    few = total < 4  # the variance below has n - 3 as a divisor
    if (tables >= FEWEST_TABLES or few) and total < LARGEST_POPULATION:
        tables = max(tables, FEWEST_TABLES)
        drawn = _squares(_random_tables(down, across, tables, seed), down, across)
        extreme = int((drawn >= (1 + statistic / total) * (1 - TIED)).sum())
        return Independence(max(statistic, 0.0), (1 + extreme) / (1 + tables), "tables")
    return Independence(max(statistic, 0.0), _gamma_tail(statistic, down, across), "moments")


def chance_information(joint: Joint) -> float:
    r"""Mean of the measured mutual information where X tells nothing about S, given how often each value occurs.

    .. math:: E[I] = \sum_{s, x} \sum_k P(k) \frac{k}{n} \log \frac{n k}{N(s) N(x)}, \qquad
              k \sim \text{hypergeometric}(n, N(s), N(x))

    In arrays: the mean of ``mutual_information`` over all ways to pair the records' values of S and X anew. It is how
    many of the measured nats are an artefact of few records: near :math:`(|S| - 1) (|X| - 1) / 2n` where all values
    are common, and near H(S) where most useful values occur once.

    Parameters
    ----------
    joint : Joint
        With counts.

    Returns
    -------
    float
        Nats, in [0, min(H(S), H(X))].

    Notes
    -----
    Also known from the adjusted mutual information of clusterings. Sums go over the k that have any probability; for
    cells of more than 3000 expected records over a series. Cost O(k) for each distinct pair (N(s), N(x)), and
    O(n_sensitive * n_useful) to count. Source: [VEB10]_, Theorem 7.

    Examples
    --------
    >>> round(chance_information(Joint.from_counts([[2, 0], [0, 2]])), 4)  # 1/3 of all pairings tell everything
    0.231
    """
    counts = _counts(joint)
    total = int(counts.sum())
    rows, row_times = np.unique(counts.sum(axis=1), return_counts=True)
    columns, column_times = np.unique(counts.sum(axis=0), return_counts=True)
    down, across = (part.ravel() for part in np.meshgrid(rows, columns, indexing="ij"))
    times = np.outer(row_times, column_times).ravel().astype(np.float64)
    mean = down / total * across
    large = mean > LARGE_MEAN
    part = np.empty(len(mean))
    part[large] = _series(mean[large], down[large], across[large], total)
    part[~large] = _summed(mean[~large], down[~large], across[~large], total)
    return max(float(times @ part) / total, 0.0)


def _counts(joint: Joint) -> IntArray:
    """Counts of the values that occur."""
    if joint.counts is None or not is_sample(joint):
        raise InputError(
            "what chance gives needs the number of records behind each pair, at most 2**53 in all. Make the joint with "
            "Joint.from_counts or Joint.from_table."
        )
    counts = joint.counts.astype(np.int64, copy=False)
    some_rows, some_columns = counts.sum(axis=1) > 0, counts.sum(axis=0) > 0
    if some_rows.all() and some_columns.all():
        return counts
    return counts[np.ix_(some_rows, some_columns)]


def _squares(tables: IntArray, down: IntArray, across: IntArray) -> FloatArray:
    """Sum of N(s, x)**2 / (N(s) N(x)): one plus the statistic over n; tables end in the axes (s, x)."""
    inner = np.einsum("...sx,...sx,x->...s", tables, tables, 1.0 / across)
    result: FloatArray = inner @ (1.0 / down)
    return result


def _random_tables(down: IntArray, across: IntArray, tables: int, seed: int) -> IntArray:
    """Tables with these sums, each as likely as by pairing records at random; shape (tables, s, x).

    All records of a stretch of values are shared out between its halves, then those of each half, and so on.
    """
    if len(down) > len(across):
        return _random_tables(across, down, tables, seed).swapaxes(1, 2)
    rng = np.random.default_rng(seed)
    width = 1 << (len(across) - 1).bit_length()
    sizes = np.zeros(width, dtype=np.int64)
    sizes[: len(across)] = across
    held = np.broadcast_to(down, (tables, 1, len(down)))  # records of each s in each stretch
    while held.shape[1] < width:
        first = sizes.reshape(held.shape[1], 2, -1).sum(axis=2)[:, 0]
        halves = _shared_out(rng, held, first)
        held = np.stack([halves, held - halves], axis=2).reshape(tables, -1, len(down))
    return held[:, : len(across)].swapaxes(1, 2)


def _shared_out(rng: np.random.Generator, held: IntArray, first: IntArray) -> IntArray:
    """Draw from each stretch as many records as its first half has, without putting back: how many of each s."""
    halves = np.empty_like(held)
    left, wanted = held.sum(axis=2), np.broadcast_to(first, held.shape[:2]).copy()
    for s in range(held.shape[2]):
        left = left - held[:, :, s]
        halves[:, :, s] = rng.hypergeometric(held[:, :, s], left, wanted)
        wanted -= halves[:, :, s]
    return halves


def _gamma_tail(statistic: float, down: IntArray, across: IntArray) -> float:
    """Probability of at least the statistic under a gamma distribution of its exact mean and variance."""
    from scipy.special import gammaincc

    mean, variance = chi2_moments(down, across)
    if variance <= (TIED * mean) ** 2:  # as where every useful value occurs once
        return 1.0 if statistic <= mean * (1 + TIED) else 0.0
    return float(gammaincc(mean**2 / variance, max(statistic, 0.0) * mean / variance))


def chi2_moments(down: IntArray, across: IntArray) -> tuple[float, float]:
    """Mean and variance of the chi-square statistic of random tables with these sums, of at least four records."""
    n = float(down.sum())
    (v1, w1), (v2, w2) = (
        ((k - 1) * (n - k) / (n - 1), (n * float((1.0 / sums).sum()) - k * k) / (n - 2))
        for sums, k in ((down, float(len(down))), (across, float(len(across))))
    )
    mean = n / (n - 1) * (len(down) - 1) * (len(across) - 1)
    return mean, max(2 * n / (n - 3) * (v1 - w1) * (v2 - w2) + n**2 / (n - 1) * w1 * w2, 0.0)


def _series(mean: FloatArray, down: IntArray, across: IntArray, total: int) -> FloatArray:
    """E[k log(k / mean)] of large hypergeometric k, by its central moments."""
    p, q = down / total, across / total
    variance = mean * (1 - p) * (1 - q) * (total / (total - 1))
    third = variance * (1 - 2 * p) * (1 - 2 * q)
    part: FloatArray = variance / (2 * mean) - third / (6 * mean**2) + 3 * variance**2 / (12 * mean**3)
    return part


def _summed(mean: FloatArray, down: IntArray, across: IntArray, total: int) -> FloatArray:
    """E[k log(k / mean)] of hypergeometric k, summed over all k that have any probability."""
    beyond = DEVIATIONS * np.sqrt(mean) + RECORDS
    first = np.maximum(np.maximum(down + across - total, 0), np.floor(mean - beyond).astype(np.int64))
    last = np.minimum(np.minimum(down, across), np.ceil(mean + beyond).astype(np.int64))
    part = np.empty(len(mean))
    for some, width in _of_like_width(last - first + 1):
        k = first[some, None] + np.arange(width)
        a, c = down[some, None], across[some, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            # P(k + 1) / P(k), whose logarithms add up: no factorial of a large number is needed.
            ratio = (a - k) / (k + 1.0) * ((c - k) / (total - a - c + k + 1.0))
            steps = np.where(k < last[some, None], np.log(ratio), -np.inf)
            gain = np.where(k > 0, k * np.log(k / mean[some, None]), 0.0)
        logs = np.concatenate([np.zeros((len(some), 1)), np.cumsum(steps[:, :-1], axis=1)], axis=1)
        chance = np.exp(logs - logs.max(axis=1, keepdims=True))
        part[some] = (chance * gain).sum(axis=1) / chance.sum(axis=1)
    return part


def _of_like_width(widths: IntArray) -> Iterator[tuple[IntArray, int]]:
    """Places of about the same width, and the largest among them; few enough for one step."""
    order = np.argsort(widths, kind="stable")
    begin = 0
    while begin < len(order):
        width = 2 * int(widths[order[begin]])
        end = int(np.searchsorted(widths[order], width, side="right"))
        end = min(end, begin + max(1, STRIPE // width))
        yield order[begin:end], int(widths[order[end - 1]])
        begin = end
