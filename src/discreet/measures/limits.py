r"""What a sample leaves open about beliefs: limits of P(s | x) that hold together with a stated confidence.

A table of N(x) records of each useful value, N(s, x) of them with a sensitive value s, is taken as a sample given X:
its useful values are facts, and how they speak about S is estimated. The exact limits of [CP34]_ for a probability of
which k of n trials told are

.. math:: l: \; P(\mathrm{Bin}(n, l) \ge k) = \alpha', \qquad u: \; P(\mathrm{Bin}(n, u) \le k) = \alpha',

and with :math:`\alpha' = \alpha / (2 m)`, m the number of cells, all limits hold at once with probability at least
:math:`1 - \alpha`. Of two sensitive values one tells the other, so m counts one cell for each useful value there.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import DENOMINATOR, FloatArray, IntArray
from discreet.core.joint import Joint

__all__ = ["BeliefLimits", "belief_limits", "limits_of", "records_of"]

#: Quantiles are computed to 1e-13 or better, and widened by this share, so that limits are to the safe side.
WIDENED = 1e-9

#: More records of one value than this are not told apart by floats.
MOST_RECORDS = 1 << 53

#: Pairs (k, n) that are marked in a table of all of them; where there may be more they are sorted.
MOST_MARKED = 1 << 20


@dataclass(frozen=True)
class BeliefLimits:
    """Limits of P(s | x), integers over 2**60.

    Attributes
    ----------
    low, high : ndarray of int, shape (n_sensitive, n_useful)
        Rounded outwards. A useful value that never occurs has the limits 0 and 1.
    """

    low: IntArray
    high: IntArray

    @property
    def floats(self) -> tuple[FloatArray, FloatArray]:
        """Both as probabilities."""
        return self.low / DENOMINATOR, self.high / DENOMINATOR


def belief_limits(joint: Joint, confidence: float) -> BeliefLimits:
    r"""Limits of P(s | x) that hold for all cells at once with at least this confidence, given X.

    .. math:: P(\mathrm{Bin}(N(x), l) \ge N(s, x)) = P(\mathrm{Bin}(N(x), u) \le N(s, x)) = \frac{\alpha}{2 m}

    In arrays: the lower limits are ``betaincinv(counts, counts.sum(0) - counts + 1, alpha / (2 * m))``, the upper ones
    come from the counts of all other sensitive values in the same way.

    Parameters
    ----------
    joint : Joint
        With counts.
    confidence : float
        :math:`1 - \alpha`, between 0 and 1.

    Returns
    -------
    BeliefLimits
        ``low`` and ``high`` as integers over 2**60, rounded outwards; ``floats`` has them as probabilities.

    Notes
    -----
    Clopper-Pearson limits of every cell, shared out among the m cells by Bonferroni's inequality; m is the number of
    useful values that occur, times that of sensitive ones unless those are two, of which one tells the other.
    Cost O(n_sensitive * n_useful log), a quantile for each pair of numbers (k, n) that occurs. Source: [CP34]_.

    Examples
    --------
    >>> low, high = belief_limits(Joint.from_counts([[5, 90], [5, 10]]), 0.95).floats
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([[0.159, 0.812], [0.159, 0.044]], [[0.841, 0.956], [0.841, 0.188]])
    """
    counts = records_of(joint)
    total = counts.sum(axis=0)
    cells = max(int((total > 0).sum()), 1) * (1 if joint.n_sensitive == 2 else joint.n_sensitive)
    return limits_of(counts, total, (1 - float(confidence)) / (2 * cells))


def limits_of(counts: IntArray, total: IntArray, alpha: float) -> BeliefLimits:
    """Limits of some useful values: P(s | x) is beyond each end of each cell with probability alpha at most."""
    low = _least(counts, total, alpha)
    high = DENOMINATOR - _least(total - counts, total, alpha)
    if len(counts) == 2:  # one tells the other, to the last digit
        low[1], high[1] = DENOMINATOR - high[0], DENOMINATOR - low[0]
    return BeliefLimits(low, high)


def records_of(joint: Joint) -> IntArray:
    """Counts of a joint, in 64 bits."""
    if joint.counts is None:
        raise InputError(
            "confidence needs the number of records behind each pair. Make the joint with Joint.from_counts or "
            "Joint.from_table."
        )
    if int(joint.counts.sum()) > MOST_RECORDS:
        raise InputError("confidence takes tables of at most 2**53 records.")
    counts: IntArray = joint.counts.astype(np.int64, copy=False)
    return counts


def _least(successes: IntArray, trials: IntArray, alpha: float) -> IntArray:
    """Lower limits of a probability, rounded down: 0 where nothing succeeded."""
    from scipy.special import betaincinv

    (k, n), place = _distinct(successes, np.broadcast_to(trials, successes.shape))
    some = k > 0
    quantile = np.zeros(len(k))
    quantile[some] = betaincinv(k[some].astype(float), (n - k + 1)[some].astype(float), alpha)
    rounded: IntArray = np.floor(quantile * (1 - WIDENED) * DENOMINATOR).astype(np.int64)
    return rounded[place]


def _distinct(k: IntArray, n: IntArray) -> tuple[IntArray, IntArray]:
    """The pairs (k, n) that occur, and which of them is at each place."""
    most = int(n.max(initial=0)) + 1
    if most > 1 << 31:  # no integer holds both
        pairs, place = np.unique(np.stack([k.ravel(), n.ravel()]), axis=1, return_inverse=True)
        return pairs, place.reshape(k.shape)
    codes = n * most + k
    if most * most > MOST_MARKED:
        found, place = np.unique(codes, return_inverse=True)
        return np.stack([found % most, found // most]), place.reshape(k.shape)
    seen = np.zeros(most * most, dtype=bool)
    seen[codes] = True
    found = np.flatnonzero(seen)
    return np.stack([found % most, found // most]), (np.cumsum(seen) - 1)[codes]
