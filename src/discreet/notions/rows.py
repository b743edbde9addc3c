"""Linear rows: a polytope of posteriors, and several of them held at once."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet._support.numeric import FloatArray

__all__ = ["Label", "PosteriorRows", "stacked"]

#: Name of a row: (kind, s, s', symbols).
Label = tuple[str, int, int, tuple[int, ...] | None]


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
    """

    matrix: FloatArray
    bound: FloatArray
    equal_matrix: FloatArray
    equal_bound: FloatArray
    n_auxiliary: int = 0
    labels: tuple[Label, ...] = ()
    steps: FloatArray | None = None

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
