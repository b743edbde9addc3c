r"""Accuracy: the share of records whose value is guessed right from the release.

.. math:: h(v) = 1 - \max_x v(x), \qquad U(X; Y) = \sum_y \max_x P(x, y) - \max_x P(x)

The best mechanism is a channel in the column's own values that tells the truth as often as it may, and what it keeps is
:math:`P(X' = X) - \max_x P(x)`. Its share of the whole says how far a reader gets from guessing the commonest value, 0,
to knowing them all, 1. Our own; the cost is known as Bayes risk.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support.numeric import FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.measures.resampled import Seen, unchanged
from discreet.mechanism import Mechanism
from discreet.utilities.base import Measured, check_listed
from discreet.utilities.guessing import GuessingUtility

__all__ = ["Accuracy"]


@dataclass(frozen=True)
class Accuracy(GuessingUtility):
    """Share of records guessed right, beyond what is guessed without a release.

    Values need no order and no distance: nulls and combinations of columns are values like others.

    >>> joint = Joint.from_array([[0.1, 0.2, 0.2], [0.1, 0.2, 0.2]])
    >>> mechanism = Mechanism.from_blocks(joint, [0, 0, 1])
    >>> round(Accuracy().value(joint, mechanism), 4), round(Accuracy().whole(joint), 4)
    (0.4, 0.6)
    """

    name = "accuracy"
    unit = "share of records"

    def losses(self, useful: Sequence[Any]) -> FloatArray:
        """1 where the guess is wrong."""
        return 1.0 - np.eye(len(useful))

    def over(self, useful: Sequence[Any]) -> Accuracy:
        """Itself: all values are alike."""
        return self

    def costs(self, shares: FloatArray, symbols: IntArray | None = None) -> FloatArray:
        """1 - max v."""
        result: FloatArray = 1.0 - shares.max(axis=-1)
        return result

    def drawn_costs(self, shares: FloatArray, symbols: IntArray | None = None) -> FloatArray:
        """The chance that two draws differ."""
        result: FloatArray = 1.0 - (shares**2).sum(axis=-1)
        return result

    def slopes(self, points: FloatArray, smoothing: float) -> FloatArray:
        """-1 towards the likeliest symbols, and 0 towards those that are further behind than the smoothing."""
        return np.where(points >= points.max(axis=-1, keepdims=True) - smoothing, -1.0, 0.0)

    def told_loss(self, joint: Joint, seen: Seen, guesses: IntArray) -> float:
        """The share of records that are taken for another value."""
        return 1.0 - float(seen.mass[seen.useful == guesses[seen.released]].sum())

    def drawn_loss(self, joint: Joint, mechanism: Mechanism) -> float:
        """The share of records that are read as another value."""
        check_listed(mechanism)
        return 1.0 - unchanged(joint, mechanism)

    def value(self, joint: Joint, mechanism: Mechanism) -> float:
        """From the weights alone, which are few where alphabets are large."""
        check_listed(mechanism)
        seen = Seen.of(joint, mechanism)
        right = np.zeros(len(seen.p_released))
        np.maximum.at(right, seen.released, seen.mass)
        return max(0.0, float(right.sum()) - float(joint.p_useful.max()))

    def in_words(self, joint: Joint, loss: float, *, published: bool) -> Measured:
        """The share that is right."""
        return Measured("records published unchanged" if published else "records guessed right", 1.0 - loss, self.unit)
