r"""Intervals of lifts that hold all at once: limits of beliefs, and of P(s), which all records tell together.

Given X, the number of records N(s) is a sum of n independent trials of mean chance :math:`P(s) = \sum_x P(x) P(s | x)`.
Its tails are lighter than those of a binomial number of the same mean [HOE56]_, so the limits of [CP34]_ hold for P(s)
as well. Where most useful values are rare they are far narrower than what limits of all :math:`P(s | x)` leave of it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from discreet._support.numeric import FloatArray, divide
from discreet.core.joint import Joint
from discreet.measures import kernels
from discreet.measures.limits import limits_of, records_of

__all__ = ["LiftIntervals", "lift_intervals"]


def lift_intervals(joint: Joint, confidence: float) -> tuple[FloatArray, FloatArray]:
    r"""Intervals of the lifts of the population that a table is a sample of, given X.

    .. math::

        \frac{l(s, x)}{\min(u(s), \; P(x) l(s, x) + \sum_{x' \ne x} P(x') u(s, x'))} \le
        \frac{P(s \mid x)}{P(s)} \le
        \frac{u(s, x)}{\max(l(s), \; P(x) u(s, x) + \sum_{x' \ne x} P(x') l(s, x'))}

    In arrays: ``low / high_of_s[:, None]`` and ``high / low_of_s[:, None]``, where the sums do not say more. l and u
    are limits of P(s | x) and of P(s), which share out :math:`1 -` ``confidence``. An interval that excludes 1 is a
    lift that is there for sure, not by chance.

    Parameters
    ----------
    joint : Joint
        With counts.
    confidence : float
        With which all intervals hold at once, between 0 and 1.

    Returns
    -------
    tuple of two ndarrays, shape (n_sensitive, n_useful)
        Least and largest lifts, around the counted ones; 0 and inf for useful values that never occur.

    Notes
    -----
    Promises with confidence let P(s) be whatever limits of P(s | x) leave, which is wider. Limits of P(s) are those of
    :math:`\alpha' / (1 + \alpha')` instead of :math:`\alpha'`, which makes up for means below one record, about which
    the theorem says nothing. Cost O(n_sensitive * n_useful), and one quantile for each distinct pair (N(s, x), N(x)).
    Source: [HOE56]_, Theorem 4; the combination is our own.

    Examples
    --------
    >>> low, high = lift_intervals(Joint.from_counts([[50, 900], [50, 100]]), 0.95)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([[0.43, 1.03], [2.55, 0.61]], [[0.73, 1.06], [4.86, 0.84]])
    """
    return LiftIntervals(joint, confidence).of(slice(0, joint.n_useful))


class LiftIntervals:
    """The same for some useful values at a time: those of a million in the memory of a few.

    Parameters
    ----------
    joint, confidence
        As in `lift_intervals`.
    """

    def __init__(self, joint: Joint, confidence: float) -> None:
        self._joint, self._counts = joint, records_of(joint)
        apart = 1 if joint.n_sensitive == 2 else joint.n_sensitive  # of two, one tells the other
        self._alpha = (1 - float(confidence)) / (2 * apart * (int(joint.occurs.sum()) + 1))
        of_each = self._counts.sum(axis=1)[:, None]
        margins = limits_of(of_each, of_each.sum(axis=0), self._alpha / (1 + self._alpha))
        self._least, self._largest = margins.floats
        self._low, self._high = self._sums()

    def of(self, here: slice) -> tuple[FloatArray, FloatArray]:
        """Least and largest lifts of a stretch of useful values, each of shape (n_sensitive, length)."""
        low, high = self._beliefs(here)
        share = self._joint.p_useful[here]
        above = low * share + np.maximum(self._high - high * share, 0.0)
        below = high * share + np.maximum(self._low - low * share, 0.0)
        least = divide(low, np.minimum(self._largest, above))
        largest = divide(high, np.maximum(self._least, below))
        never = ~self._joint.occurs[here]
        least[:, never], largest[:, never] = 0.0, np.inf
        return np.nan_to_num(least, nan=0.0), np.nan_to_num(largest, nan=np.inf, posinf=np.inf)

    def _sums(self) -> FloatArray:
        """Sums of P(x) l(s, x), and of P(x) u(s, x); shape (2, n_sensitive, 1)."""
        sums: dict[int, FloatArray] = {}

        def add(here: slice) -> None:
            sums[here.start] = np.stack(self._beliefs(here)) @ self._joint.p_useful[here]

        kernels.side_by_side(add, self._joint.n_useful)
        whole: FloatArray = np.sum([sums[start] for start in sorted(sums)], axis=0)[:, :, None]
        return whole

    def _beliefs(self, here: slice) -> tuple[FloatArray, FloatArray]:
        counts = self._counts[:, here]
        return limits_of(counts, counts.sum(axis=0), self._alpha).floats
