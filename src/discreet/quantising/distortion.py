"""Distortion of a block: the largest distance of a member to the block's codeword."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray

__all__ = ["CODEWORDS", "Distortion"]

CODEWORDS = ("centroid", "midpoint", "member")


class Distortion:
    """Values of the useful symbols, how blocks get codewords, and how far a value is from one.

    Parameters
    ----------
    values : array_like of shape (n_useful,) or (n_useful, dimensions)
        Numbers; with ``distance``, any objects.
    codeword : str
        ``"centroid"`` (mean), ``"midpoint"`` (middle of the smallest box around the block) or ``"member"`` (the
        member whose largest distance to the others is smallest).
    norm : float
        The p of the p-norm, at least 1; inf for the largest coordinate.
    distance : callable, optional
        Another distance of two values; codewords are then members.
    """

    def __init__(
        self,
        values: Any,
        codeword: str = "centroid",
        norm: float = 2.0,
        distance: Callable[[Any, Any], float] | None = None,
    ) -> None:
        if codeword not in CODEWORDS:
            raise InputError(f"codeword must be one of {', '.join(CODEWORDS)}, got {codeword!r}.")
        if not norm >= 1:
            raise InputError(f"norm must be at least 1, got {norm}.")
        self.codeword = "member" if distance is not None else codeword
        self.norm, self.distance = norm, distance
        self.values: Sequence[Any] | FloatArray = list(values) if distance is not None else _numbers(values)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_line(self) -> bool:
        """Whether values lie on a line, and codewords follow from sums and extremes."""
        return self.distance is None and np.shape(self.values)[1] == 1 and self.codeword != "member"

    @cached_property
    def on_line(self) -> list[int]:
        """Values on a line as integers in the same proportions, each float read as the decimal that it is written as.

        Sums and comparisons of them are exact, so that equal distortions are equal.

        >>> Distortion([0.1, 0.25]).on_line
        [2, 5]
        """
        exact = [Fraction(repr(value)) for value in np.asarray(self.values)[:, 0].tolist()]
        common = math.lcm(*(value.denominator for value in exact))
        return [int(value * common) for value in exact]

    def of(self, members: Sequence[int]) -> float:
        """The distortion of a block."""
        if len(members) == 1:
            return 0.0
        if self.distance is not None:
            chosen = [self.values[k] for k in members]
            return min(max(float(self.distance(x, y)) for x in chosen) for y in chosen)
        points = np.asarray(self.values)[list(members)]
        if self.codeword == "centroid":
            return float(self._lengths(points - points.mean(axis=0)).max())
        if self.codeword == "midpoint":
            return float(self._lengths(points - (points.min(axis=0) + points.max(axis=0)) / 2).max())
        return min(float(self._lengths(points - point).max()) for point in points)

    def _lengths(self, offsets: FloatArray) -> FloatArray:
        lengths: FloatArray = np.linalg.norm(offsets, ord=self.norm, axis=1)
        return lengths


def _numbers(values: Any) -> FloatArray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "values must be numbers: a mark such as '?' is not taken for one. Give each symbol a number, or a distance."
        ) from None
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or not np.isfinite(array).all():
        raise InputError("values must be finite numbers, one or a vector for each useful symbol.")
    return array
