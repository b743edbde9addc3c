r"""A proven lower limit of what channels in the column's own values lose, by weak duality alone.

With masses :math:`u_g(x) = P(x, X' = g)`, auxiliary variables t where a notion needs them, and rows
:math:`R \, (u_g, t_g) \le 0` of the allowed posteriors, every multipliers :math:`y_g \ge 0` and prices :math:`\sigma`
of the shares W, where those are kept, give

.. math:: \sum_{g, x} u_g(x) \, l(x, g) \;\ge\; \sum_g \sigma_g W(g) + \sum_x P(x) \min_g \Bigl( l(x, g) - \sigma_g
   \frac{W(x)}{P(x)} + (R^T y_g)(x) + a_g \Bigr)

since the rows are at most 0, the guesses have the shares :math:`\sum_x u_g(x) W(x) / P(x) = W(g)`, and the masses of
each x sum to P(x).
:math:`a_g \le 0` is what auxiliary variables and the rounding of the rows can take off. Nothing has to be believed of
the multipliers: whatever they are, the right-hand side is a limit, and a solver's are those that make it tight.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._support.numeric import FloatArray
from discreet.proof.polytope import Polytope

__all__ = ["ChannelProof"]

#: A float operation is off by at most this, relative to its result.
UNIT = 2.0**-53


@dataclass(frozen=True)
class ChannelProof:
    """Why no channel in the column's own values loses less on average; see the formula above.

    Attributes
    ----------
    polytope : Polytope
        The rows and :math:`P_X`.
        For accuracy the symbols may be classes of those that tell the same about S, whose limit is one for symbols.
    losses : ndarray of shape (n_useful, n_guesses)
        Of every guess that could be the best: for a distribution that is kept, of every symbol in its place.
    multipliers : ndarray of shape (n_guesses, n_rows)
        y; entries of inequalities below 0 count as 0.
    prices : ndarray of shape (n_guesses,) or None
        :math:`\\sigma`, where the published column keeps a distribution.
    shares : ndarray of shape (n_useful,) or None
        W, which it keeps.
    limit : float
        The claimed limit, in the unit of the utility.
    """

    polytope: Polytope
    losses: FloatArray
    multipliers: FloatArray
    prices: FloatArray | None = None
    shares: FloatArray | None = None
    limit: float = -np.inf

    def to_dict(self) -> None:
        """None: the checker of certificates follows proofs of information alone."""
        return

    def check(self) -> float:
        """The limit evaluated anew; at least ``limit`` where the proof is sound, and true whatever the multipliers.

        A number and no verdict: the least that any mechanism under the notion loses, in the unit of the utility: the
        share of records guessed wrong for accuracy, the mean distance for distance.
        """
        own, p = self.polytope.own_rows, self.polytope.p_useful
        prices, shares = np.zeros(len(self.multipliers)), np.zeros(len(p))
        if self.prices is not None and self.shares is not None:
            prices, shares = self.prices, self.shares
        if not (np.isfinite(self.multipliers).all() and np.isfinite(prices).all()):
            return -np.inf
        usable = np.where(self.polytope.equal, self.multipliers, np.maximum(self.multipliers, 0.0))
        taken = self._taken(usable)
        paid = prices[:, None] * (shares / p)
        reduced = self.losses.T - paid + usable @ own + taken[:, None]
        # What a sum of so many terms can be off by, at most, is as many units of the sum of their sizes.
        sizes = np.abs(self.losses.T) + np.abs(paid) + np.abs(usable) @ np.abs(own) + np.abs(taken)[:, None]
        terms = sum(self.polytope.rows.shape) + len(prices) + 8
        off = 2 * terms * UNIT * (float(p @ sizes.max(axis=0)) + self._of_shares(np.abs(prices), shares))
        found = self._of_shares(prices, shares) + float(p @ reduced.min(axis=0)) - off
        return found if np.isfinite(found) else -np.inf

    def _of_shares(self, prices: FloatArray, shares: FloatArray) -> float:
        """What the shares of the guesses are worth; there are none where nothing is kept."""
        return 0.0 if self.shares is None else float(prices @ shares)

    def _taken(self, usable: FloatArray) -> FloatArray:
        """What auxiliary variables, and the rounding of the rows, take off for each guess, a unit of its mass."""
        auxiliary = self.polytope.rows[:, self.polytope.n_useful :]
        left = np.minimum(usable @ auxiliary, 0.0)
        with np.errstate(invalid="ignore"):
            most = np.where(left < 0, left * self.polytope.auxiliary_limit(), 0.0)
        result: FloatArray = most.sum(axis=1) - np.abs(usable) @ self.polytope.rounding
        return result
