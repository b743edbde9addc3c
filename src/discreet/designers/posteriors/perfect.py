r"""Perfect privacy in integers: columns that are exactly independent of the sensitive values.

A column :math:`c(x) = P(y \mid x)` tells nothing about s where, with the joint's integer masses N,

.. math:: \sum_x (N_{sx} N - N_s N_x) \, c(x) = 0 \quad \text{for every } s.

Floats only suggest which symbols a column uses; the column itself is a solution of these equations in rational
numbers, scaled to integers. Multiples of such columns are added up to just below :math:`2^{60}` in every row. What is
left of the rows is a column too, and private by itself: the constant column is, and so is every difference of
private ones.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet._support.numeric import DENOMINATOR, FloatArray, IntArray, ObjectArray

__all__ = ["private_weights"]

#: Entries of a posterior below this may be rounding, and are not part of its support.
OUTSIDE = 1e-7

#: Share of the rows that stays for the last column, so that rounding leaves it non-negative.
LEFT_OVER = 1e-9

#: Coefficients of several independent solutions are rounded to fractions with at most this denominator.
LARGEST_DENOMINATOR = 1 << 16


def private_weights(masses: Sequence[ObjectArray], points: FloatArray, channel: FloatArray) -> IntArray | None:
    """Integer weights close to a channel, each column exactly independent of s under every one of the joints.

    Parameters
    ----------
    masses : sequence of integer matrices (n_sensitive, n_useful)
        The joints.
    points : ndarray of shape (n_columns, n_useful)
        Posteriors, for their supports.
    channel : ndarray of shape (n_useful, n_columns)
        P(y | x) in floats.

    Returns
    -------
    ndarray of int64, or None
        Columns that could not be represented are part of the last column; None where that leaves nothing else.
    """
    equations = np.vstack([_equations(mass) for mass in masses])
    total = np.zeros(channel.shape[0], dtype=object)
    columns: list[ObjectArray] = []
    for k, point in enumerate(points):
        whole = _integer_column(equations, np.flatnonzero(point > OUTSIDE), channel[:, k])
        if whole is None:
            continue
        times = int(Fraction(float(channel[:, k].sum()) * (1 - LEFT_OVER)) * DENOMINATOR / int(whole.sum()))
        if times > 0 and (total + times * whole <= DENOMINATOR).all():
            columns.append(times * whole)
            total = total + times * whole
    if not columns:
        return None
    rest = DENOMINATOR - total
    if rest.any():
        columns.append(rest)
    return np.array(columns, dtype=object).T.astype(np.int64)


def _equations(masses: ObjectArray) -> ObjectArray:
    """N_sx N - N_s N_x, a row for each sensitive value."""
    by_value, by_symbol = masses.sum(axis=1), masses.sum(axis=0)
    result: ObjectArray = masses * by_value.sum() - np.outer(by_value, by_symbol)
    return result


def _integer_column(equations: ObjectArray, support: IntArray, target: FloatArray) -> ObjectArray | None:
    """The smallest integers on the support that solve the equations and are closest in direction to the target."""
    basis = _null_space([[Fraction(int(n)) for n in row] for row in equations[:, support]], len(support))
    if not basis:
        return None
    matrix = np.array([[float(x) for x in vector] for vector in basis])
    scale = np.abs(matrix).max(axis=1)
    share = np.linalg.lstsq((matrix / scale[:, None]).T, target[support] / target[support].max(), rcond=None)[0]
    size = np.abs(share).max()
    parts = [
        Fraction(float(a / size)).limit_denominator(LARGEST_DENOMINATOR) / Fraction(float(s))
        for a, s in zip(share, scale)
    ]
    solution = [sum((part * vector[k] for part, vector in zip(parts, basis)), Fraction(0)) for k in range(len(support))]
    if len(basis) == 1:
        solution = list(basis[0]) if share[0] > 0 else [-x for x in basis[0]]
    if min(solution) <= 0:
        return None
    common = math.lcm(*(x.denominator for x in solution))
    whole = [int(x * common) for x in solution]
    divisor = math.gcd(*whole)
    column = np.zeros(equations.shape[1], dtype=object)
    column[support] = [n // divisor for n in whole]
    return column


def _null_space(rows: list[list[Fraction]], width: int) -> list[list[Fraction]]:
    """A basis of the solutions of ``rows . x = 0``, by elimination in fractions."""
    pivots: list[int] = []
    reduced: list[list[Fraction]] = []
    for row in rows:
        left = row
        for pivot, other in zip(pivots, reduced):
            if left[pivot]:
                left = [a - left[pivot] * b for a, b in zip(left, other)]
        lead = next((k for k, a in enumerate(left) if a), None)
        if lead is None:
            continue
        unit = [a / left[lead] for a in left]
        reduced = [[a - other[lead] * b for a, b in zip(other, unit)] for other in reduced]
        reduced.append(unit)
        pivots.append(lead)
    free = [k for k in range(width) if k not in pivots]
    basis = []
    for k in free:
        vector = [Fraction(0)] * width
        vector[k] = Fraction(1)
        for pivot, row in zip(pivots, reduced):
            vector[pivot] = -row[k]
        basis.append(vector)
    return basis
