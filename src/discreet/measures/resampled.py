r"""What is left of a column in its own words: each released symbol is read as a value drawn from what it stands for.

With q(x' | y) = P(x') P(y | x') / P(y), what reads y as a draw from q sees :math:`R(x' \mid x) = \sum_y P(y \mid x)
q(x' \mid y)`. On average the column keeps its distribution exactly: :math:`\sum_x P(x) R(x' \mid x) = P(x')`.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.mechanism import Mechanism

__all__ = ["Seen", "above_the_smallest", "distortion", "share_errors", "unchanged"]

#: Cells of P(x, y) up to which whole matrices are multiplied for the errors of shares, and products of single weights
#: that are added up beyond.
MOST_CELLS, MOST_PRODUCTS = 2_000_000, 20_000_000


def unchanged(joint: Joint, mechanism: Mechanism) -> float:
    r"""Share of records that keep their value when each released symbol is read as a value drawn from P(x | y).

    .. math:: P(X' = X) = \sum_{x, y} \frac{P(x, y)^2}{P(y)}

    In arrays: ``(cells**2 / cells.sum(axis=0)).sum()`` with ``cells = joint.p_useful[:, None] * mechanism.channel``.

    Parameters
    ----------
    joint : Joint
        P(s, x), of which only P(x) matters.
    mechanism : Mechanism
        P(y | x); where it reads S, its mean given x. One in values is taken as it is: nothing is left to be read.

    Returns
    -------
    float
        In [0, 1]: 1 where ``y`` gives ``x`` back, and :math:`\sum_x P(x)^2` where it tells nothing.

    Notes
    -----
    Cost O(number of positive weights). Source: [GKW98]_, whose invariant matrices R is one of.

    Examples
    --------
    >>> joint = Joint.from_array([[0.25, 0.25], [0.25, 0.25]])
    >>> unchanged(joint, Mechanism.from_channel([[0.75, 0.25], [0.25, 0.75]]))
    0.625
    """
    seen = Seen.of(joint, mechanism)
    own = seen.own_values(mechanism)
    if own is not None:
        return float(seen.mass[own == seen.useful].sum())
    return float((seen.mass**2 / seen.p_released[seen.released]).sum())


def distortion(joint: Joint, mechanism: Mechanism) -> float | None:
    r"""Mean distance of a record's number from the one that its released symbol is read as.

    .. math:: E |X' - X| = \sum_y \frac{1}{P(y)} \sum_{x, x'} P(x, y) P(x', y) |x - x'|

    In arrays: ``(cells.T / cells.sum(axis=0)[:, None] @ abs(x[:, None] - x) * cells.T).sum()`` with ``cells`` of
    P(x, y).

    Parameters
    ----------
    joint : Joint
        P(s, x), of which only P(x) matters.
    mechanism : Mechanism
        P(y | x).

    Returns
    -------
    float or None
        In units of X; None where its values are not all finite numbers.

    Notes
    -----
    Cost O(m log m) for m positive weights. Source: [GKW98]_ for R.

    Examples
    --------
    >>> joint = Joint.from_array([[0.25, 0.25], [0.25, 0.25]], useful=[10, 20])
    >>> distortion(joint, Mechanism.from_channel([[0.75, 0.25], [0.25, 0.75]], useful=[10, 20]))
    3.75
    """
    above = above_the_smallest(mechanism.useful)
    if above is None:
        return None
    seen = Seen.of(joint, mechanism)
    own = seen.own_values(mechanism)
    if own is not None:
        return float((seen.mass * np.abs(above[seen.useful] - above[own])).sum())
    order = np.lexsort((above[seen.useful], seen.released))
    mass, value, group = seen.mass[order], above[seen.useful[order]], seen.released[order]
    first = np.searchsorted(group, group)  # of the entry's own symbol
    value = value - value[first]  # so that sums lose no digits to values that all are large
    below, moment = (np.append(0.0, np.cumsum(part)) for part in (mass, mass * value))
    places = np.arange(len(mass))
    # Twice the pairs of a smaller value with this one, since either may be the true one.
    pairs = 2 * mass * (value * (below[places] - below[first]) - (moment[places] - moment[first]))
    return max(0.0, float((pairs / seen.p_released[group]).sum()))


def above_the_smallest(values: Sequence[Any]) -> FloatArray | None:
    """How far numbers lie above the smallest of them; None where they are not all numbers that floats can hold."""
    if not all(isinstance(x, int | float) and not isinstance(x, bool) for x in values):
        return None
    try:
        smallest = min(values) if all(map(math.isfinite, values)) else math.inf
        above = np.array([float(x - smallest) for x in values])
    except OverflowError:
        return None
    return above if np.isfinite(above).all() else None


def share_errors(joint: Joint, mechanism: Mechanism, records: int | None = None) -> FloatArray | None:
    r"""Standard error of the share that each value has among published ones, around its share in the table.

    .. math:: \sqrt{\frac{1}{n} \sum_x P(x) R(x' \mid x) (1 - R(x' \mid x))}

    for n records, each released symbol read as a value drawn from P(x | y).

    In arrays: ``np.sqrt(p @ (r * (1 - r)) / n)`` with ``r = cells / p[:, None] @ (cells / cells.sum(axis=0)).T`` and
    ``cells`` of P(x, y).

    Parameters
    ----------
    joint : Joint
        P(s, x), of which only P(x) matters.
    mechanism : Mechanism
        P(y | x), drawn for each record by itself. Where it reads S its mean given x is taken, and the errors are
        upper limits.
    records : int, optional
        n; left out, those that the joint was counted from.

    Returns
    -------
    ndarray of shape (n_useful,) or None
        In the order of ``mechanism.useful``; None where symbols stand for too many values to add them up.

    Notes
    -----
    Cost O(n_useful**2 * n_released), or the squares of how many values stand behind each symbol.
    Source: [GKW98]_ for R.

    Examples
    --------
    >>> joint = Joint.from_array([[0.25, 0.25], [0.25, 0.25]])
    >>> mechanism = Mechanism.from_channel([[0.75, 0.25], [0.25, 0.75]])
    >>> share_errors(joint, mechanism, records=100).round(4)
    array([0.0484, 0.0484])
    """
    number = joint.records if records is None else records
    if number is None or number < 1:
        raise InputError("standard errors need a number of records: records=n.")
    seen = Seen.of(joint, mechanism)
    n, m = mechanism.n_useful, len(seen.p_released)
    p_useful = np.bincount(seen.useful, seen.mass, minlength=n).astype(np.float64)
    own = seen.own_values(mechanism)
    if own is not None:
        some, spread = own >= 0, seen.mass * (1 - seen.mass / p_useful[seen.useful])
        exact: FloatArray = np.sqrt(np.bincount(own[some], spread[some], minlength=n).clip(0.0) / number)
        return exact
    share = seen.mass / seen.p_released[seen.released]  # q(x | y)
    if n * m <= MOST_CELLS:
        cells, back = np.zeros((n, m)), np.zeros((m, n))
        cells[seen.useful, seen.released], back[seen.released, seen.useful] = seen.mass, share
        together = cells @ back  # P(x) R(x' | x)
        squares = (together**2 / np.where(p_useful > 0, p_useful, 1.0)[:, None]).sum(axis=0)
    elif float((np.bincount(seen.released).astype(np.float64) ** 2).sum()) <= MOST_PRODUCTS:
        squares = _sparse_squares(seen, share, p_useful, m)
    else:
        return None
    result: FloatArray = np.sqrt(np.maximum(p_useful - squares, 0.0) / number)
    return result


def _sparse_squares(seen: Seen, share: FloatArray, p_useful: FloatArray, m: int) -> FloatArray:
    """For each x' the sum over x of P(x) R(x' | x)**2, where few values stand behind each symbol."""
    from scipy import sparse  # takes longer to import than most designs

    n = len(p_useful)
    cells = sparse.csr_array((seen.mass, (seen.useful, seen.released)), shape=(n, m))
    together = (cells @ sparse.csr_array((share, (seen.released, seen.useful)), shape=(m, n))).tocoo()
    return np.bincount(together.col, together.data**2 / p_useful[together.row], minlength=n).astype(np.float64)


class Seen(NamedTuple):
    """P(x, y) where it is positive."""

    useful: IntArray
    released: IntArray
    mass: FloatArray
    p_released: FloatArray

    def own_values(self, mechanism: Mechanism) -> IntArray | None:
        """Where the mechanism releases values: the place among useful values of what each entry publishes."""
        if mechanism.own_places is not None:
            return np.array(mechanism.own_places)[self.released]
        if mechanism.released_values is None:
            return None
        place = {value: k for k, value in enumerate(mechanism.useful)}
        # A tuple of attributes that were drawn by themselves may be no useful value.
        return np.array([place.get(value, -1) for value in mechanism.released_values])[self.released]

    @classmethod
    def of(cls, joint: Joint, mechanism: Mechanism) -> Seen:
        useful, released, chance = mechanism.outcomes(joint)
        mass = mechanism.known_p_useful(joint)[useful] * chance
        some = mass > 0
        p_released: FloatArray = np.bincount(released[some], mass[some], minlength=int(released.max()) + 1).astype(
            float
        )
        return cls(useful[some], released[some], mass[some], p_released)
