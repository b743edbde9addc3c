"""Models that count: naive Bayes, and frequencies of pairs of columns and of whole tuples."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from discreet._support.numeric import FloatArray, IntArray, log
from discreet.publishing.attack.encoding import MISSING, Classes
from discreet.publishing.features import Features

__all__ = ["Beliefs", "bayes", "counting", "normalised"]

#: From the features of records to P(s | features), one row a record.
Beliefs = Callable[[FloatArray], FloatArray]

#: Records of the prior that each frequency is mixed with; for whole tuples those of what their pairs say.
PRIOR_RECORDS, PAIR_RECORDS = 10.0, 3.0

#: Of more columns only single ones are counted, and whole tuples.
MOST_PAIRED = 14


def bayes(features: Features, secret: IntArray, n_values: int, seed: int) -> Beliefs:
    r"""Naive Bayes on codes and on twentieths of numbers: P(s) times the product of all P(code | s)."""
    classes = Classes(features.matrix, features.is_category)
    codes = classes.of(features.matrix)
    of_each = np.bincount(secret, minlength=n_values).astype(np.float64)
    tables = [_counts(column, MISSING + 1, secret, n_values) for column in codes.T]
    prior = log(of_each / of_each.sum())
    tells = [np.log((table + 0.5) / (of_each + 0.5 * _used(table))) for table in tables]

    def beliefs(matrix: FloatArray) -> FloatArray:
        parts = (table[column] for table, column in zip(tells, classes.of(matrix).T))
        return normalised(sum(parts, np.tile(prior, (len(matrix), 1))))

    return beliefs


def counting(features: Features, secret: IntArray, n_values: int, seed: int) -> Beliefs:
    """Frequencies of pairs of columns, averaged as logarithms, and those of exact tuples where there are enough."""
    classes = Classes(features.matrix, features.is_category)
    codes = classes.of(features.matrix)
    pairs = _pairs(features)
    prior = np.asarray((np.bincount(secret, minlength=n_values) + 0.5) / (len(secret) + 0.5 * n_values), np.float64)
    tables = [_shrunk(_counts(_paired(codes, pair), (MISSING + 1) ** 2, secret, n_values), prior) for pair in pairs]
    tuples, place = np.unique(_exact(features.matrix), return_inverse=True)
    exact = _counts(place.reshape(-1), len(tuples), secret, n_values)

    def beliefs(matrix: FloatArray) -> FloatArray:
        seen = classes.of(matrix)
        logs = np.zeros((len(matrix), n_values))
        for table, pair in zip(tables, pairs):
            logs += table[_paired(seen, pair)]
        base = normalised(logs / len(pairs))
        keys = _exact(matrix)
        where = np.minimum(np.searchsorted(tuples, keys), len(tuples) - 1)
        counts = exact[where] * (tuples[where] == keys)[:, None]
        mixed = counts + PAIR_RECORDS * base
        result: FloatArray = mixed / mixed.sum(axis=1, keepdims=True)
        return result

    return beliefs


def _pairs(features: Features) -> list[tuple[int, int]]:
    """Pairs of whole values, with parts of values by themselves; all by themselves where there are many."""
    whole = [k for k, kind in enumerate(features.kinds) if not kind.is_part]
    if not 2 <= len(whole) <= MOST_PAIRED:
        return [(k, k) for k in range(len(features.kinds))]
    return [*itertools.combinations(whole, 2), *((k, k) for k, kind in enumerate(features.kinds) if kind.is_part)]


def normalised(logs: FloatArray) -> FloatArray:
    """Probabilities in proportion to exp(logs), row by row."""
    raised = np.exp(logs - logs.max(axis=1, keepdims=True))
    result: FloatArray = raised / raised.sum(axis=1, keepdims=True)
    return result


def _counts(codes: IntArray, size: int, secret: IntArray, n_values: int) -> FloatArray:
    """Records of each code with each secret, shape (size, n_values)."""
    counts = np.bincount(codes * n_values + secret, minlength=size * n_values)
    result: FloatArray = counts.reshape(size, n_values).astype(np.float32)
    return result


def _used(table: FloatArray) -> int:
    return int((table.sum(axis=1) > 0).sum()) + 1


def _shrunk(counts: FloatArray, prior: FloatArray) -> FloatArray:
    """Logarithms of frequencies, mixed with the prior."""
    mixed = counts + PRIOR_RECORDS * prior
    result: FloatArray = np.log(mixed / mixed.sum(axis=1, keepdims=True)).astype(np.float32)
    return result


def _paired(codes: IntArray, pair: tuple[int, int]) -> IntArray:
    first, second = pair
    result: IntArray = codes[:, first] * (MISSING + 1) + codes[:, second]
    return result


def _exact(matrix: FloatArray) -> IntArray:
    """A number for each row, equal for equal rows; missing cells are equal to each other."""
    random = np.random.default_rng(matrix.shape[1])
    bits = np.where(np.isnan(matrix), np.inf, matrix + 0.0).view(np.uint64)
    factors = random.integers(1, 1 << 63, matrix.shape[1], dtype=np.uint64) | np.uint64(1)
    mixed = (bits ^ (bits >> np.uint64(29))) * factors
    summed = (mixed ^ (mixed >> np.uint64(32))).sum(axis=1, dtype=np.uint64)
    result: IntArray = summed.view(np.int64)
    return result
