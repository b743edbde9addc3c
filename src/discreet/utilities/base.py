r"""What every utility can do: price a posterior, value a mechanism, say its name and its unit.

A mechanism turns P(x) into a mixture of posteriors P(x | y). A utility gives each posterior a concave cost h, what is
not known about x where y was seen, and a mechanism keeps what it takes off that cost on average:

.. math:: U(X; Y) = h(P_X) - \sum_y P(y) \, h(P_{X \mid Y = y})

Designers know a utility by this cost alone: they look for the cheapest mixture of allowed posteriors.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.measures.resampled import Seen
from discreet.mechanism import Mechanism

__all__ = ["Measured", "SeparableUtility", "Utility", "check_listed", "released_cells"]

#: Differences over shorter steps would be rounding.
SHORTEST_STEP = 1e-6

#: Cells P(x, y) that are listed of a mechanism whose released values are made of parts.
MOST_LISTED = 50_000_000


class Measured(NamedTuple):
    """What a mechanism keeps, or leaves open, as people would say it."""

    title: str
    value: float
    unit: str


class Utility(ABC):
    r"""What a design maximises; an immutable value.

    A subclass has a ``name``, a ``unit`` and `costs`; all else follows from those, and may be given in closed form. Its
    cost must be concave, so that no mechanism keeps more than X itself and that mixing posteriors never helps, and
    should be of the order of one: searches stop at differences of 1e-9.

    Examples
    --------
    The share of records whose value is among the two likeliest ones, beyond what is so without a release:

    >>> class TopTwo(Utility):
    ...     name, unit = "top two", "share of records"
    ...
    ...     def costs(self, shares, symbols=None):
    ...         return 1 - np.sort(shares)[..., -2:].sum(axis=-1)
    >>> joint = Joint.from_array([[0.1, 0.2, 0.2], [0.1, 0.2, 0.2]])
    >>> round(TopTwo().value(joint, Mechanism.from_blocks(joint, [0, 0, 1])), 4), round(TopTwo().whole(joint), 4)
    (0.2, 0.2)
    """

    name: str
    unit: str

    @abstractmethod
    def costs(self, shares: FloatArray, symbols: IntArray | None = None) -> FloatArray:
        """Cost h of each posterior.

        Parameters
        ----------
        shares : ndarray of shape (..., k)
            Posteriors in the last axis.
        symbols : ndarray of int, broadcastable to ``shares``, optional
            Symbol of each share, the others being zero. Left out: ``shares`` has an entry for every symbol, in order.

        Returns
        -------
        ndarray of shape (...)
        """

    def slopes(self, points: FloatArray, smoothing: float) -> FloatArray:
        """Slopes of the cost at each posterior towards each symbol, up to a constant in each row.

        Searches follow them. ``smoothing`` is how far around the point to look, and shrinks as a search goes on. Here:
        differences, at the price of one `costs` for each symbol; give the gradient where there is one.
        """
        step = max(smoothing, SHORTEST_STEP)
        here, result = self.costs(points), np.empty_like(points)
        for x in range(points.shape[-1]):
            moved = (1 - step) * points
            moved[..., x] += step
            result[..., x] = (self.costs(moved) - here) / step
        return result

    def over(self, useful: Sequence[Any]) -> Utility:
        """The same utility on these useful values, which are symbols 0, 1, 2, ... of `costs`.

        Here: itself. A utility that does not treat all values alike, as a distance between them, overrides this.
        """
        return self

    def alone(self, symbols: IntArray) -> FloatArray:
        """Cost of each of these symbols where it is known for sure."""
        return self.costs(np.ones((len(symbols), 1)), symbols[:, None])

    def prior(self, joint: Joint) -> float:
        """Cost of P(x), before anything is released."""
        return float(self.over(joint.useful).costs(joint.p_useful))

    def whole(self, joint: Joint) -> float:
        """What releasing X itself keeps; no mechanism keeps more."""
        known = self.over(joint.useful).alone(np.arange(joint.n_useful))
        return self.prior(joint) - float(joint.p_useful @ known)

    def value(self, joint: Joint, mechanism: Mechanism) -> float:
        """What a mechanism keeps: the cost before the release less the average cost after it."""
        cells = released_cells(joint, mechanism)
        p_released = cells.sum(axis=0)
        seen = p_released > 0
        after = self.over(joint.useful).costs((cells[:, seen] / p_released[seen]).T)
        return max(0.0, self.prior(joint) - float(p_released[seen] @ after))

    def kept(self, joint: Joint, value: float) -> float:
        """A value as a share of the whole, in [0, 1]; 0 where there is nothing to keep."""
        whole = self.whole(joint)
        return min(1.0, value / whole) if whole > 0 else 0.0

    def measured(self, joint: Joint, value: float) -> Measured:
        """A value in words: what it is a figure of, and its unit."""
        return Measured(f"{self.name} kept", value, self.unit)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name}, {self.unit})"


class SeparableUtility(Utility):
    r"""A utility whose cost is a sum over the entries of a posterior: :math:`h(v) = \sum_x f(v(x))`.

    A subclass has `terms`, the function f, concave on [0, 1] with f(0) = 0. Its chords lie below it, and from those
    limits are proven; which x an entry belongs to does not matter, and from that optima that read S are priced exactly.

    Examples
    --------
    Logical entropy, the chance that two draws from the posterior differ:

    >>> class Gini(SeparableUtility):
    ...     name, unit = "gini", "chance"
    ...
    ...     def terms(self, t):
    ...         return t * (1 - t)
    >>> Gini().costs(np.array([[0.5, 0.5], [1.0, 0.0]]))
    array([0.5, 0. ])
    """

    #: Whether the checker of certificates can follow a proof of this utility.
    is_checkable: bool = False

    @abstractmethod
    def terms(self, t: FloatArray) -> FloatArray:
        """f of each entry."""

    def rates(self, largest: FloatArray) -> FloatArray:
        """f(t) / t at each entry, the least cost of a unit of it in entries of at most t."""
        return np.divide(self.terms(largest), largest, out=np.zeros_like(largest), where=largest > 0)

    def costs(self, shares: FloatArray, symbols: IntArray | None = None) -> FloatArray:
        result: FloatArray = self.terms(shares).sum(axis=-1)
        return result

    def slopes(self, points: FloatArray, smoothing: float) -> FloatArray:
        step = max(smoothing, SHORTEST_STEP)
        low, high = np.maximum(points - step, 0.0), np.minimum(points + step, 1.0)
        result: FloatArray = (self.terms(high) - self.terms(low)) / (high - low)
        return result


def released_cells(joint: Joint, mechanism: Mechanism) -> FloatArray:
    """P(x, y), shape (n_useful, n_released), whatever the kind of the mechanism.

    >>> joint = Joint.from_counts([[1, 1, 0], [0, 1, 1]])
    >>> released_cells(joint, Mechanism.from_blocks(joint, [0, 0, 1]))
    array([[0.25, 0.  ],
           [0.5 , 0.  ],
           [0.  , 0.25]])
    """
    check_listed(mechanism)
    if mechanism.useful == joint.useful:
        seen = Seen.of(joint, mechanism)
        cells = np.zeros((joint.n_useful, mechanism.n_released))
        cells[seen.useful, seen.released] = seen.mass
        return cells
    if not mechanism.reads_sensitive:  # x in the place of s
        return _carried(joint, mechanism, np.diag(joint.p_useful), joint.useful)
    every = np.arange(joint.n_useful)
    one_by_one = [
        _carried(joint, mechanism, np.where(every == x, joint.probabilities, 0.0), joint.sensitive).sum(axis=0)
        for x in every
    ]
    return np.stack(one_by_one)


def check_listed(mechanism: Mechanism) -> None:
    """An error where released symbols are too many to look at one by one, as strings of many bits are."""
    if not mechanism.is_sparse and mechanism.n_released * mechanism.n_useful > MOST_LISTED:
        raise InputError(
            "the released symbols are too many to list, and of such mechanisms only information is known in closed "
            "form. Use utility='information', or another method."
        )


def _carried(joint: Joint, mechanism: Mechanism, cells: FloatArray, rows: tuple[Any, ...]) -> FloatArray:
    """Cells over the joint's useful values after the mechanism, in floats."""
    part = Joint(cells, lambda: cells.astype(object), sensitive=rows, useful=joint.useful, floats_suffice=True)
    return mechanism.carried(part)[0]
