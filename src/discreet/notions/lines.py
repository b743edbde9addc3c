r"""Straight lines below a function of the lift: what cuts of the allowed posteriors are made of.

A bound on a mean, :math:`\sum_s P(s) f(l_s) \le b`, has a curved border. Where :math:`c_s + k_s l \le f(l) / b` for
every lift l that can occur,

.. math:: \sum_s P(s) \, (c_s + k_s l_s) \le 1

holds for all that it allows, and that is linear. Tangents lie below a convex f. Of the inverse measures f(1/l) is
convex for alpha lift; for chi-square it is up to a lift of 3/2 and concave beyond, for l1 up to a lift of 1. There the
lines lie below f as far as the largest lift M that can occur, and the closest of them follow its convex envelope. M is
the largest lift of the table, or less where the bound itself allows less: with :math:`l_s = M` the others have a mean
of :math:`r = (1 - P(s) M) / (1 - P(s))`, below 1, where f is convex and falls, so that

.. math:: P(s) \, f(M) + (1 - P(s)) \, f(r) \le b

is needed, whose left side grows with M.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from discreet._support.numeric import FloatArray

__all__ = [
    "Lines",
    "chi2_inverse_lines",
    "chi2_lines",
    "l1_inverse_lines",
    "l1_lines",
    "largest_allowed",
    "power_lines",
]

#: Lifts up to which the inverse chi-square is convex: (1/l - 1)^2 has the second derivative (6 - 4 l) / l^4.
CONVEX_UP_TO = 1.5

#: Halvings of the range of the largest lift.
BISECTIONS = 60

#: Tangents stay this share below the last one that lies below f, so that rounding of M does not take them past it.
INSIDE = 1e-12


class Lines(NamedTuple):
    """A line for each sensitive value, of values divided by the limit of the bound.

    ``roundings`` tells how many units of rounding each may be off by, relative to its numbers.
    """

    slope: FloatArray
    constant: FloatArray
    roundings: FloatArray


def power_lines(at: FloatArray, power: float, exponent: float) -> Lines:
    r"""Tangents of :math:`l^q / e^t` for a power q above 1 or below 0; t is the ``exponent``.

    .. math:: q w^{q-1} \, l - (q - 1) \, w^q

    Powers are taken after the division, so that large orders do not overflow.
    """
    logarithm = np.log(at)
    with np.errstate(over="ignore"):
        slope = power * np.exp((power - 1) * logarithm - exponent)
        constant = (1 - power) * np.exp(power * logarithm - exponent)
    return Lines(slope, constant, 1 + (abs(power) + 1) * np.abs(logarithm) + exponent)


def l1_lines(at: FloatArray, limit: float) -> Lines:
    """The pieces of ``abs(l - 1)``: which one, the side of 1 tells on which a lift lies."""
    slope = np.sign(at - 1) / limit
    return Lines(slope, -slope, np.ones_like(at))


def chi2_lines(at: FloatArray, limit: float) -> Lines:
    """Tangents of ``(l - 1)**2``."""
    return Lines(2 * (at - 1) / limit, (1 - at) * (1 + at) / limit, np.ones_like(at))


def l1_inverse_lines(at: FloatArray, largest: FloatArray, limit: float) -> Lines:
    """Tangents of ``1/l - 1`` below a lift of 1; from there on the chord of ``1 - 1/l`` up to the largest lift."""
    falls = at < 1
    chord = 1 / np.maximum(largest, 1.0)
    slope = np.where(falls, -1 / at**2, chord)
    return Lines(slope / limit, np.where(falls, 2 / at - 1, -chord) / limit, np.ones_like(at))


def chi2_inverse_lines(at: FloatArray, largest: FloatArray, limit: float) -> Lines:
    r"""Tangents of ``(1/l - 1)**2``, at a lift of at most :math:`2M / (2M - 1)`, whose tangent meets f at M again."""
    most = np.maximum(largest, CONVEX_UP_TO)
    touching = np.minimum(at, (1 - INSIDE) * 2 * most / (2 * most - 1))
    slope = 2 * (touching - 1) / touching**3
    return Lines(slope / limit, (touching - 1) * (touching - 3) / touching**2 / limit, np.ones_like(at))


def largest_allowed(f: Callable[[FloatArray], FloatArray], prior: FloatArray, limit: float) -> FloatArray:
    """For each sensitive value a lift that a bound on the mean of f does not allow, or 1 / P(s), which none exceeds.

    For an f that is convex and falls up to a lift of 1, and is not negative.
    """
    low, high = np.ones_like(prior), 1 / prior
    if len(prior) == 1:
        return high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        rest = np.maximum(1 - prior * middle, 0.0) / (1 - prior)
        with np.errstate(divide="ignore", over="ignore"):
            is_too_large = prior * f(middle) + (1 - prior) * f(rest) > limit
        low, high = np.where(is_too_large, low, middle), np.where(is_too_large, middle, high)
    result: FloatArray = high * (1 + INSIDE)
    return result
