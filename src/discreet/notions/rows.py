"""Linear rows: a polytope of posteriors, and several of them held at once."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet._support.numeric import FloatArray, IntArray

__all__ = ["Band", "Label", "PosteriorRows", "stacked"]

#: Name of a row: (kind, s, s', symbols).
Label = tuple[str, int, int, tuple[int, ...] | None]


class Band(NamedTuple):
    r"""Lifts that all lie within a factor of each other: :math:`t \le (L v)(s) \le f t` for every s and some t.

    That is what a row :math:`(L v)(s) - f (L v)(s') \le 0` for each of the c (c - 1) pairs says, in 2 c rows and an
    auxiliary variable t: of 200 values, 400 rows for 39,800. Multipliers of such rows that leave t alone are sums of
    multipliers of pairs (`discreet.proof.pairs`).

    Attributes
    ----------
    factor : float
        f, how far lifts may lie apart.
    auxiliary : int
        Which auxiliary variable t is.
    above, below : ndarray of int
        Places of the rows ``L_s v - f t <= 0`` and of the rows ``t - L_s v <= 0``.
    of_above, of_below : ndarray of int
        The sensitive value of each.
    number : int or None
        What the last part of the name of each pair's row is.
    """

    factor: float
    auxiliary: int
    above: IntArray
    below: IntArray
    of_above: IntArray
    of_below: IntArray
    number: int | None = None

    def moved(self, rows: int, auxiliary: int) -> Band:
        """The same with so many rows and auxiliary variables before it."""
        return self._replace(auxiliary=self.auxiliary + auxiliary, above=self.above + rows, below=self.below + rows)

    def among(self, places: IntArray) -> Band:
        """The same where these rows alone are left, in this order."""
        new = np.full(max(int(places.max(initial=-1)), int(self.above.max()), int(self.below.max())) + 1, -1)
        new[places] = np.arange(len(places))
        above, below = new[self.above], new[self.below]
        return self._replace(
            above=above[above >= 0],
            below=below[below >= 0],
            of_above=self.of_above[above >= 0],
            of_below=self.of_below[below >= 0],
        )


@dataclass(frozen=True)
class PosteriorRows:
    r"""A polytope of posteriors: :math:`A (v, t) \le b` and :math:`E (v, t) = e`, besides v >= 0, sum v = 1.

    The first ``n_useful`` variables are the posterior ``v``; the others, where there are any, are auxiliary. ``labels``
    name the rows of both matrices, so that a checker can make them anew from counts: (kind, s, s', symbols), the kind
    being ``"upper"``, ``"lower"``, ``"ratio"`` or ``"equal"`` and the symbols those of a slice, or None for all. Rows
    without such names leave it empty.

    Where entries count differently below and above ``steps`` (each a vector over the useful values, the lowest first),
    the columns are those of the parts of v below the first step, then of those between the first and the second, and
    so on: parts that cost more the higher they are, so that filling them from below is never worse.

    ``bands`` tell which rows stand for a row of each pair of sensitive values.
    """

    matrix: FloatArray
    bound: FloatArray
    equal_matrix: FloatArray
    equal_bound: FloatArray
    n_auxiliary: int = 0
    labels: tuple[Label, ...] = ()
    steps: FloatArray | None = None
    bands: tuple[Band, ...] = ()

    @classmethod
    def at_most(
        cls, matrix: FloatArray, bound: FloatArray, *, n_auxiliary: int = 0, labels: tuple[Label, ...] = ()
    ) -> PosteriorRows:
        """Inequalities alone."""
        nothing = np.empty((0, matrix.shape[1]))
        return cls(matrix, bound, nothing, np.empty(0), n_auxiliary=n_auxiliary, labels=labels)


def stacked(parts: Sequence[PosteriorRows]) -> PosteriorRows:
    """All rows of all parts on one posterior; every part keeps auxiliary variables of its own, side by side.

    >>> upper = PosteriorRows.at_most(np.array([[2.0, 1.0]]), np.array([1.5]))
    >>> spread = PosteriorRows.at_most(np.array([[1.0, 0.0, -1.0]]), np.array([0.0]), n_auxiliary=1)
    >>> stacked([spread, upper]).matrix
    array([[ 1.,  0., -1.],
           [ 2.,  1.,  0.]])
    """
    if len(parts) == 1:
        return parts[0]
    widths = [part.n_auxiliary for part in parts]
    named = all(part.labels for part in parts)
    return PosteriorRows(
        _side_by_side([part.matrix for part in parts], widths),
        np.concatenate([part.bound for part in parts]),
        _side_by_side([part.equal_matrix for part in parts], widths),
        np.concatenate([part.equal_bound for part in parts]),
        n_auxiliary=sum(widths),
        labels=_labels(parts) if named else (),
        bands=_bands(parts),
    )


def _side_by_side(matrices: Sequence[FloatArray], widths: Sequence[int]) -> FloatArray:
    n_useful, total, before = matrices[0].shape[1] - widths[0], sum(widths), 0
    placed = []
    for matrix, width in zip(matrices, widths):
        wide = np.zeros((len(matrix), n_useful + total))
        wide[:, :n_useful] = matrix[:, :n_useful]
        wide[:, n_useful + before : n_useful + before + width] = matrix[:, n_useful:]
        placed.append(wide)
        before += width
    return np.vstack(placed)


def _labels(parts: Sequence[PosteriorRows]) -> tuple[Label, ...]:
    """Names of all inequalities first, then those of all equations, as the matrices have them."""
    inequalities = [label for part in parts for label in part.labels[: len(part.matrix)]]
    equations = [label for part in parts for label in part.labels[len(part.matrix) :]]
    return (*inequalities, *equations)


def _bands(parts: Sequence[PosteriorRows]) -> tuple[Band, ...]:
    """Those of all parts; they have inequalities alone, which come first."""
    found, rows, auxiliary = list[Band](), 0, 0
    for part in parts:
        found += [band.moved(rows, auxiliary) for band in part.bands]
        rows, auxiliary = rows + len(part.matrix), auxiliary + part.n_auxiliary
    return tuple(found)
