r"""Utilities of guessing: a posterior costs what the best guess at x loses on average.

.. math:: h(v) = \min_g \sum_x v(x) \, l(x, g)

Guesses are the column's own values. Released symbols with the same best guess can be merged without loss, and merging
breaks no convex notion, so one released symbol for each guess is enough: the best mechanism is a channel R(x' | x) in
the column's own values, and finding it is one linear programme (`discreet.designers.posteriors.guessing`).
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.measures.resampled import Seen
from discreet.mechanism import Mechanism
from discreet.utilities.base import Measured, Utility, released_cells

__all__ = ["GuessingUtility"]

#: Values up to which losses are laid out as a matrix; more would fill gigabytes.
MOST_VALUES = 5_000

#: Numbers that are laid out at once where few symbols of many are priced.
MOST_LAID_OUT = 10_000_000


class GuessingUtility(Utility):
    """A utility whose cost is the least mean loss of a guess.

    A subclass has a ``name``, a ``unit`` and `losses`, at least 0, of the order of one, and 0 where the guess is right;
    optima under it are proven.

    Examples
    --------
    A guess is right where its first letter is:

    >>> class Initials(GuessingUtility):
    ...     name, unit = "initials", "share of records"
    ...
    ...     def losses(self, useful):
    ...         first = np.array([value[0] for value in useful])
    ...         return (first[:, None] != first).astype(float)
    >>> animals = Initials().over(["ape", "ant", "bee"])
    >>> float(animals.costs(np.array([0.3, 0.3, 0.4])))
    0.4
    """

    @abstractmethod
    def losses(self, useful: Sequence[Any]) -> FloatArray:
        """Loss of guessing g where x is true, shape (x, g), both over these values in their order."""

    def over(self, useful: Sequence[Any]) -> GuessingUtility:
        """The same with its losses laid out over these values."""
        if len(useful) > MOST_VALUES:
            raise InputError(
                f"{self.name} looks at pairs of at most {MOST_VALUES} values, and there are {len(useful)}. Cut the "
                "column into bins first, or use utility='accuracy'."
            )
        return _Laid(self, tuple(useful), self.losses(useful))

    def costs(self, shares: FloatArray, symbols: IntArray | None = None) -> FloatArray:
        """Mean loss of the best guess; `over` makes one that knows its values."""
        raise InputError(f"{self.name} needs to know the values first: utility.over(joint.useful).")

    def drawn_costs(self, shares: FloatArray, symbols: IntArray | None = None) -> FloatArray:
        """Mean loss where a posterior is guessed by a draw from itself; parameters as in `costs`."""
        raise InputError(f"{self.name} needs to know the values first: utility.over(joint.useful).")

    def told_loss(self, joint: Joint, seen: Seen, guesses: IntArray) -> float:
        """Mean loss where each released symbol is taken for one value, the place of which is given for each."""
        return float(seen.mass @ self.losses(joint.useful)[seen.useful, guesses[seen.released]])

    def drawn_loss(self, joint: Joint, mechanism: Mechanism) -> float:
        """Mean loss where each released symbol is read as a draw from what it stands for."""
        cells = released_cells(joint, mechanism)
        p_released = cells.sum(axis=0)
        some = p_released > 0
        return float(p_released[some] @ self.over(joint.useful).drawn_costs((cells[:, some] / p_released[some]).T))

    def in_words(self, joint: Joint, loss: float, *, published: bool) -> Measured:
        """A mean loss as people would say it: of the best guess, or between a value and the published one."""
        return Measured(f"mean loss of {self.name}", loss, self.unit)

    def measured(self, joint: Joint, value: float) -> Measured:
        """The loss that is left."""
        return self.in_words(joint, self.prior(joint) - value, published=False)


@dataclass(frozen=True, eq=False, repr=False)
class _Laid(GuessingUtility):
    """A utility of guessing with its losses over known values; over some of them, losses stay what they are."""

    guessing: GuessingUtility
    useful: tuple[Any, ...]
    matrix: FloatArray = field(repr=False)

    def __post_init__(self) -> None:
        self.matrix.flags.writeable = False

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.guessing.name

    @property
    def unit(self) -> str:  # type: ignore[override]
        return self.guessing.unit

    def over(self, useful: Sequence[Any]) -> GuessingUtility:
        if tuple(useful) == self.useful:
            return self
        place = {value: k for k, value in enumerate(self.useful)}
        if not set(useful) <= set(place):
            raise InputError(f"{self.name} was laid out over other values. Make a new one.")
        chosen = [place[value] for value in useful]
        return _Laid(self.guessing, tuple(useful), self.matrix[np.ix_(chosen, chosen)])

    def losses(self, useful: Sequence[Any]) -> FloatArray:
        own = self.over(useful)
        assert isinstance(own, _Laid)
        return own.matrix

    def costs(self, shares: FloatArray, symbols: IntArray | None = None) -> FloatArray:
        if symbols is None:
            every: FloatArray = (shares @ self.matrix).min(axis=-1)
            return every
        width = shares.shape[-1]
        flat = shares.reshape(-1, width)
        places = np.broadcast_to(symbols, shares.shape).reshape(-1, width)
        result = np.empty(len(flat))
        step = max(1, MOST_LAID_OUT // (width * self.matrix.shape[1]))
        for start in range(0, len(flat), step):
            some = slice(start, start + step)
            result[some] = np.einsum("ik,ikg->ig", flat[some], self.matrix[places[some]]).min(axis=-1)
        return result.reshape(shares.shape[:-1])

    def drawn_costs(self, shares: FloatArray, symbols: IntArray | None = None) -> FloatArray:
        if symbols is None:
            every: FloatArray = np.einsum("...i,...i->...", shares @ self.matrix, shares)
            return every
        between = self.matrix[symbols[..., :, None], symbols[..., None, :]]
        result: FloatArray = np.einsum("...i,...ij,...j->...", shares, between, shares)
        return result

    def in_words(self, joint: Joint, loss: float, *, published: bool) -> Measured:
        return self.guessing.in_words(joint, loss, published=published)
