"""Columns of the master problem: posteriors, their costs, and the listing of those with one or two entries."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray, product
from discreet._support.patience import never
from discreet.designers.posteriors.simplex import Programmes
from discreet.proof.polytope import Polytope
from discreet.utilities import Utility

__all__ = ["NO_ENTRY", "Columns", "best_pairs", "least_entries", "pair_interval", "singles", "towards_symbols"]

#: Entries of a posterior below this are none, unless they are more than this share of what the symbol has at all.
NO_ENTRY, NO_SHARE = 1e-11, 1e-3

#: Pairs looked at in one vectorised step.
STRIPE = 50_000

#: Posteriors are put this share inside of the rows that they would touch.
INSIDE = 1e-9

#: Halvings of an interval of shares.
BISECTIONS = 40

#: Rows that a posterior exceeds by less than this, by rounding, are kept; it is polished like any other.
FITTING = 1e-12

#: Pairs whose interval is shorter than this are one point.
SHORT = 1e-12


class Columns(NamedTuple):
    """Sparse posteriors: runs of (symbol, value) that begin at ``starts``, with their costs."""

    starts: IntArray
    symbol: IntArray
    value: FloatArray
    cost: FloatArray

    def __len__(self) -> int:  # the number of posteriors, not of fields
        return len(self.cost)

    @classmethod
    def of(cls, points: FloatArray, cost: FloatArray, least: FloatArray | float = NO_ENTRY) -> Columns:
        """From a dense matrix, a posterior a row; entries of at most the least are left out."""
        row, symbol = np.nonzero(points > least)
        return cls(np.searchsorted(row, np.arange(len(points))), symbol, points[row, symbol], cost)

    @classmethod
    def of_pairs(cls, first: IntArray, second: IntArray, share: FloatArray, utility: Utility) -> Columns:
        """Posteriors ``share`` on the first symbol and the rest on the second."""
        value, symbol = np.stack([share, 1 - share], axis=1), np.stack([first, second], axis=1)
        return cls(np.arange(0, 2 * len(share), 2), symbol.ravel(), value.ravel(), utility.costs(value, symbol))

    def joined(self, other: Columns) -> Columns:
        """Both, one after the other."""
        return Columns(
            np.concatenate([self.starts, other.starts + len(self.symbol)]),
            np.concatenate([self.symbol, other.symbol]),
            np.concatenate([self.value, other.value]),
            np.concatenate([self.cost, other.cost]),
        )

    def dense(self, chosen: IntArray, n_useful: int) -> FloatArray:
        """The chosen posteriors as a dense matrix."""
        ends = np.append(self.starts[1:], len(self.symbol))
        points = np.zeros((len(chosen), n_useful))
        for k, c in enumerate(chosen.tolist()):
            run = slice(self.starts[c], ends[c])
            points[k, self.symbol[run]] = self.value[run]
        return points


def least_entries(p_useful: FloatArray) -> FloatArray:
    """What is no entry of a posterior, for each symbol."""
    return np.minimum(NO_ENTRY, NO_SHARE * p_useful)


def singles(polytope: Polytope, is_over: Callable[[], bool] = never) -> IntArray:
    """Symbols that may be released as they are; of those that programmes decide, as many as there is time for."""
    alone = np.eye(polytope.n_useful)
    if polytope.is_banded:
        return np.flatnonzero(polytope.exceeded(alone) <= 0)
    if polytope.is_lifted:
        known = _fit_by_least(polytope, alone)
        if known is not None:
            return np.flatnonzero(known)
        return np.flatnonzero(Programmes(polytope).minimise(0 * alone, alone, alone, is_over=is_over).is_solved)
    rows, equal = polytope.own_rows, polytope.equal
    return np.flatnonzero((rows[~equal] <= 0).all(axis=0) & (rows[equal] == 0).all(axis=0))


def _fit_by_least(polytope: Polytope, points: FloatArray) -> BoolArray | None:
    """Whether posteriors are allowed, by the least auxiliary variables; None where rows do not tell which those are.

    They do where each row is at least one variable, or at most a sum of them, as under bounds on means of lifts.
    """
    auxiliary, sides = polytope.auxiliary, product(polytope.parts(points), polytope.own_rows.T)
    below = auxiliary < 0
    if (below.any(axis=1) & (auxiliary > 0).any(axis=1)).any() or (below.sum(axis=1) > 1).any() or polytope.equal.any():
        return None
    least = np.zeros((len(points), auxiliary.shape[1]))
    row, variable = np.nonzero(below)
    for k, j in zip(row.tolist(), variable.tolist()):
        np.maximum(least[:, j], sides[:, k] / -auxiliary[k, j], out=least[:, j])
    return np.asarray((sides + product(least, auxiliary.T) <= FITTING).all(axis=1))


def towards_symbols(polytope: Polytope) -> FloatArray:
    """For each symbol the allowed posterior furthest from P_X towards it, a row each: no mixture is out of reach."""
    p, rows = polytope.p_useful, polytope.own_rows
    if polytope.steps is not None:
        return _bisected(polytope)
    at_p = np.where(polytope.equal, 0.0, rows @ p)  # equations hold there, and rounding says that they nearly do
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(rows > at_p[:, None], -at_p[:, None] / (rows - at_p[:, None]), 1.0)
    steps[polytope.equal[:, None] & (rows != 0)] = 0.0
    step = np.clip(steps.min(axis=0, initial=1.0), 0.0, 1.0) * (1 - INSIDE)
    result: FloatArray = (1 - step)[:, None] * p + np.diag(step)
    return result


def _bisected(polytope: Polytope) -> FloatArray:
    """The same where rows are not straight between P_X and a symbol."""
    p, symbols = polytope.p_useful, np.eye(polytope.n_useful)
    low, high = np.zeros(len(p)), np.ones(len(p))
    for _ in range(BISECTIONS):
        middle = ((low + high) / 2)[:, None]
        fits = polytope.exceeded((1 - middle) * p + middle * symbols) <= 0
        low, high = np.where(fits, middle[:, 0], low), np.where(fits, high, middle[:, 0])
    step = low[:, None] * (1 - INSIDE)
    result: FloatArray = (1 - step) * p + step * symbols
    return result


def pair_interval(rows: FloatArray, equal: BoolArray, first: IntArray) -> tuple[FloatArray, FloatArray]:
    """For which shares a of ``first`` the posterior (a, 1 - a) with each other symbol is allowed; empty: low > high."""
    low, high = np.zeros((len(first), rows.shape[1])), np.ones((len(first), rows.shape[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        for row, is_equal in zip(rows, equal):
            at_first, at_second = row[first][:, None], row[None]
            slope = at_first - at_second
            root = -at_second / slope
            np.minimum(high, root, out=high, where=(slope > 0))
            np.maximum(low, root, out=low, where=(slope < 0))
            if is_equal:
                np.minimum(high, root, out=high, where=(slope < 0))
                np.maximum(low, root, out=low, where=(slope > 0))
            high[(slope == 0) & ((at_second > 0) | (is_equal & (at_second != 0)))] = -1.0
    high[np.arange(len(first)), first] = -1.0  # no symbol pairs with itself
    return low, high


def best_pairs(
    polytope: Polytope,
    utility: Utility,
    prices: FloatArray | None,
    most_per_symbol: int,
    is_over: Callable[[], bool] = lambda: False,
) -> Columns:
    """For each symbol, the pairs that it leads which price best (or, without prices, are the purest).

    All O(n^2) pairs are looked at, in vectorised stripes; ends of their intervals are vertices of the polytope.
    """
    n, rows, equal = polytope.n_useful, polytope.own_rows, polytope.equal
    found: list[tuple[IntArray, IntArray, FloatArray]] = []
    step = max(1, STRIPE // n)
    for start in range(0, n, step):
        if found and is_over():
            break
        leaders = np.arange(start, min(n, start + step))
        low, high = pair_interval(rows, equal, leaders)
        # The purest allowed posterior led by x is the upper end; equal ends of an equation count once.
        usable = (high - low >= -SHORT) & (high >= 0.5) & (high < 1 - NO_ENTRY)
        if n > most_per_symbol:
            share = np.where(usable, high, 0.5)
            symbols = np.stack(np.broadcast_arrays(leaders[:, None], np.arange(n)), axis=-1)
            cost = utility.costs(np.stack([share, 1 - share], axis=-1), symbols)
            if prices is not None:
                cost -= share * prices[leaders][:, None] + (1 - share) * prices
            cost[~usable] = np.inf
            dear = np.partition(cost, most_per_symbol - 1, axis=1)[:, most_per_symbol - 1, None]
            usable &= cost <= dear
        first, second = np.nonzero(usable)
        found.append((leaders[first], second, high[usable]))
    first, second, shares = (np.concatenate(part) for part in zip(*found))
    return Columns.of_pairs(first, second, shares, utility)
