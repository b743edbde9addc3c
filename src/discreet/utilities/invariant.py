r"""Values that keep their distribution: what is lost between a value and the one that is published in its place.

A column X' in the column's own values whose distribution is that of X, :math:`\sum_x P(x) R(x' \mid x) = P(x')`, loses
:math:`\sum_{x, x'} P(x) R(x' \mid x) \, l(x, x')` on average. What tells nothing, an independent draw, loses
:math:`\sum_{x, x'} P(x) P(x') \, l(x, x')`, and that is what a mechanism takes off.

A mechanism in other words than the column's is read as :math:`x' \sim P(\cdot \mid y)`, which keeps the distribution
too (see `discreet.measures.unchanged`): its posteriors cost :math:`h(v) = \sum_{x, x'} v(x) v(x') \, l(x, x')`.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet._support.numeric import FloatArray, IntArray
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.measures.resampled import Seen
from discreet.mechanism import Mechanism
from discreet.utilities.base import Measured, Utility
from discreet.utilities.guessing import GuessingUtility

__all__ = ["Invariant", "own_texts"]

#: Shares of values that differ by less are the same: rounded weights, and sums of a million floats.
SAME_SHARE = 1e-12


@dataclass(frozen=True, repr=False)
class Invariant(Utility):
    """A utility of guessing where the published column keeps the distribution of X.

    "Keeps" is meant on average over the draw, up to the rounding of weights to multiples of 2**-60: the share that a
    value is published with differs from its share in the table by less than 1e-15 for a thousand values. Source:
    [GKW98]_ for invariant matrices.

    Parameters
    ----------
    guessing : GuessingUtility
        Whose losses count, between a value and the one that is published for it.
    sizes : mapping of value to float, optional
        How often each value is published where that is not how often it was counted, such as where some records are
        left out of the counts: the distribution that is kept is then theirs. Mechanisms that do not keep it count as
        keeping nothing.

    Examples
    --------
    >>> from discreet.utilities import Accuracy
    >>> joint = Joint.from_array([[0.25, 0.25], [0.25, 0.25]], useful=["a", "b"])
    >>> kept = Invariant(Accuracy())
    >>> swapping = Mechanism.from_channel([[0.75, 0.25], [0.25, 0.75]], useful=["a", "b"], released=["a", "b"])
    >>> kept.measured(joint, kept.value(joint, swapping))
    Measured(title='records published unchanged', value=0.75, unit='share of records')
    """

    guessing: GuessingUtility
    sizes: Mapping[Any, float] | None = field(default=None, hash=False)

    @property
    def name(self) -> str:  # type: ignore[override]
        """That of the guessing, after the word."""
        return f"invariant {self.guessing.name}"

    @property
    def unit(self) -> str:  # type: ignore[override]
        """That of the guessing."""
        return self.guessing.unit

    def over(self, useful: Sequence[Any]) -> Invariant:
        """The same over these values."""
        return replace(self, guessing=self.guessing.over(useful))

    def shares(self, useful: Sequence[Any], counted: FloatArray) -> FloatArray:
        """The distribution over these values that is kept; what was not counted at all is not published."""
        if self.sizes is None:
            return counted
        sizes = np.where(counted > 0, [float(self.sizes.get(value, 0.0)) for value in useful], 0.0)
        result: FloatArray = sizes / sizes.sum()
        return result

    def costs(self, shares: FloatArray, symbols: IntArray | None = None) -> FloatArray:
        """Mean loss between two draws from each posterior."""
        return self.guessing.drawn_costs(shares, symbols)

    def prior(self, joint: Joint) -> float:
        """Mean loss of an independent draw from what is kept."""
        if self.sizes is None:
            return super().prior(joint)
        shares = self.shares(joint.useful, joint.p_useful)
        return float(joint.p_useful @ self.guessing.losses(joint.useful) @ shares)

    def value(self, joint: Joint, mechanism: Mechanism) -> float:
        """What a mechanism takes off: of its own values where it publishes such, else read as draws from P(x | y)."""
        shares = self.shares(joint.useful, joint.p_useful)
        guessing, published = self.guessing.over(joint.useful), _published(joint, mechanism, shares)
        if published is None and self.sizes is not None:
            return 0.0
        if published is None:
            return max(0.0, self.prior(joint) - guessing.drawn_loss(joint, mechanism))
        return max(0.0, self.prior(joint) - guessing.told_loss(joint, *published))

    def measured(self, joint: Joint, value: float) -> Measured:
        """The loss that is left between values and published ones."""
        return self.guessing.in_words(joint, self.prior(joint) - value, published=True)


def own_texts(joint: Joint) -> tuple[str, ...]:
    """The label under which each of the joint's values is released as itself."""
    return labels.unique_texts(map(labels.text, joint.useful))


def _published(joint: Joint, mechanism: Mechanism, wanted: FloatArray) -> tuple[Seen, IntArray] | None:
    """P(x, y), and the value that each y is; None where they are not values with the shares that are wanted."""
    if mechanism.n_released > joint.n_useful or mechanism.useful != joint.useful:
        return None
    place = {text: k for k, text in enumerate(own_texts(joint))}
    symbols = np.array([place.get(label, -1) for label in mechanism.released])
    if (symbols < 0).any():
        return None
    seen = Seen.of(joint, mechanism)
    size = np.divide(wanted, joint.p_useful, out=np.zeros_like(wanted), where=joint.p_useful > 0)
    shares = np.bincount(symbols[seen.released], seen.mass * size[seen.useful], minlength=joint.n_useful)
    return (seen, symbols) if np.abs(shares - wanted).max() <= SAME_SHARE else None
