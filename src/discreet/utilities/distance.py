r"""Distance: how far the best guess at a value is off.

.. math:: h(v) = \min_g \sum_x v(x) \, d(x, g), \qquad U(X; Y) = h(P_X) - \sum_y P(y) \, h(P_{X \mid Y = y})

Costs are shares of the largest distance between two values, so that searches see numbers of the order of one whatever
the unit of the column. The best guess at a number by :math:`d(x, g) = |x - g|` is a median. Our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray
from discreet.core.joint import Joint
from discreet.measures.resampled import above_the_smallest
from discreet.utilities.base import Measured
from discreet.utilities.guessing import GuessingUtility

__all__ = ["Distance"]


@dataclass(frozen=True, eq=False, repr=False)
class Distance(GuessingUtility):
    """Mean distance that the best guess is nearer than without a release.

    Parameters
    ----------
    between : callable or matrix, optional
        Distance of a guess from a true value: a function ``(x, guess)`` of two values, or a matrix (x, guess) in the
        order of the joint's useful values. At least 0, and 0 from a value to itself; neither symmetry nor the triangle
        inequality is asked for. Left out: ``abs(x - guess)``, where values are numbers, or texts that all read as
        numbers, as those of CSV files.

    Raises
    ------
    InputError
        Without ``between``: values that are no numbers, such as texts, nulls and combinations of columns. A null has
        no distance: a function says how far it is, or a design leaves it out.

    Examples
    --------
    >>> from discreet import Mechanism
    >>> joint = Joint.from_array([[0.25, 0.25], [0.25, 0.25]], useful=[10, 20])
    >>> nothing = Mechanism.from_blocks(joint, [0, 0])
    >>> Distance().measured(joint, Distance().value(joint, nothing))
    Measured(title='mean distance of the best guess', value=5.0, unit='in units of X')
    >>> Distance(lambda x, guess: float(x != guess)).prior(joint)
    0.5
    """

    between: Any = None

    name = "distance"
    unit = "share of the largest distance"

    def losses(self, useful: Sequence[Any]) -> FloatArray:
        """Distances as shares of the largest one."""
        distances = self._distances(useful)
        return distances / _largest(distances)

    def in_words(self, joint: Joint, loss: float, *, published: bool) -> Measured:
        """The mean distance itself."""
        title = "mean distance to the published value" if published else "mean distance of the best guess"
        return Measured(title, loss * _largest(self._distances(joint.useful)), "in units of X")

    @staticmethod
    def numbers(useful: Sequence[Any]) -> FloatArray:
        """How far values that are numbers lie above the smallest; an error where some are none."""
        above = above_the_smallest(_read(useful))
        if above is None:
            raise InputError(
                "a distance needs values that are numbers; texts, nulls and combinations of columns are none. Use "
                "utility='accuracy', or say how far values are apart: discreet.utilities.Distance(between), by a "
                "function of two values or a matrix."
            )
        return above

    def _distances(self, useful: Sequence[Any]) -> FloatArray:
        if self.between is None:
            above = self.numbers(useful)
            return np.abs(above[:, None] - above)
        return _checked(self.between, useful)


def _read(useful: Sequence[Any]) -> Sequence[Any]:
    """Values of a CSV file are texts: those that all read as numbers are numbers."""
    if not all(isinstance(value, str) for value in useful):
        return useful
    try:
        return [float(value) for value in useful]
    except ValueError:
        return useful


def _largest(distances: FloatArray) -> float:
    return float(distances.max(initial=0.0)) or 1.0


def _checked(between: Any, useful: Sequence[Any]) -> FloatArray:
    n = len(useful)
    try:
        given = [[between(x, guess) for guess in useful] for x in useful] if callable(between) else between
        matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("between must be a function of two values that gives a number, or a matrix.") from None
    if matrix.shape != (n, n):
        raise InputError(f"a matrix of distances needs {n} rows and columns, one for each value, got {matrix.shape}.")
    if not np.isfinite(matrix).all() or (matrix < 0).any() or np.diag(matrix).any():
        raise InputError("distances must be finite, at least 0, and 0 from a value to itself.")
    return matrix
