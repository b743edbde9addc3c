"""Multipliers of the rows of a polytope, a vector for each box of a proof, of which few entries are not zero."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet._support.numeric import FloatArray, IntArray

__all__ = ["Multipliers", "Run", "runs_of"]

#: The rows of one vector that count, and their multipliers.
Run = tuple[IntArray, FloatArray]


@dataclass(frozen=True)
class Multipliers:
    """Vectors over ``n_rows`` rows, one after the other: (row, value) pairs, those of vector k from ``starts[k]`` on.

    >>> Multipliers.of([*runs_of(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]))], 3).dense(1, 2)
    array([[1., 0., 3.]])
    """

    starts: IntArray  # and the end of the last
    row: IntArray
    value: FloatArray
    n_rows: int

    @classmethod
    def of(cls, runs: Sequence[Run], n_rows: int) -> Multipliers:
        """From a run for each vector."""
        starts = np.cumsum([0, *(len(row) for row, _ in runs)])
        rows, values = [np.empty(0, dtype=np.int64)], [np.empty(0)]
        rows += [row for row, _ in runs]
        values += [value for _, value in runs]
        return cls(starts, np.concatenate(rows), np.concatenate(values), n_rows)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def size(self) -> int:
        """Numbers that the vectors consist of."""
        return len(self) + 2 * len(self.value)

    def dense(self, first: int, last: int) -> FloatArray:
        """Vectors from the first up to the last, which is not among them, as rows of a matrix."""
        last = min(last, len(self))
        some = slice(self.starts[first], self.starts[last])
        result = np.zeros((last - first, self.n_rows))
        vector = np.repeat(np.arange(last - first), np.diff(self.starts[first : last + 1]))
        result[vector, self.row[some]] = self.value[some]
        return result

    def __iter__(self) -> Iterator[Run]:
        for first, last in itertools.pairwise(self.starts.tolist()):
            yield self.row[first:last], self.value[first:last]


def runs_of(matrix: FloatArray) -> Iterator[Run]:
    """The entries that are not zero, of each row of a matrix."""
    line, row = np.nonzero(matrix)
    value, starts = matrix[line, row], np.searchsorted(line, np.arange(len(matrix) + 1)).tolist()
    for first, last in itertools.pairwise(starts):
        yield row[first:last], value[first:last]
