r"""An order of values in which close ones are neighbours, for couplings that keep close values together.

Members of classes are coupled along a line (`quotient`). Numbers lie on one. Of other distances d the line is the first
principal coordinate: with :math:`B = -\tfrac{1}{2} J d^2 J`, J taking means off, it is the eigenvector of the largest
eigenvalue, along which squared distances are told best.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray
from discreet.utilities import Distance

__all__ = ["places_on_a_line"]

#: Values whose distances are laid out as a matrix at most; numbers need none.
MOST_VALUES = 4_000


def places_on_a_line(distance: Any, useful: Sequence[Any]) -> FloatArray:
    """A number for each value such that close values have close numbers, as well as one line can have it.

    >>> places_on_a_line(Distance(), [3, 10, 4]).tolist()
    [0.0, 7.0, 1.0]
    """
    if not isinstance(distance, Distance):
        raise InputError(f"near takes a discreet.utilities.Distance, got {type(distance).__name__}.")
    if distance.between is None:
        return distance.numbers(useful)
    if len(useful) > MOST_VALUES:
        raise InputError(
            f"near lays distances of {len(useful):,} values out as a matrix, and takes {MOST_VALUES:,} at most. Use "
            "Distance() for numbers."
        )
    losses = distance.losses(useful)
    squares = (losses + losses.T) ** 2 / 4
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    _, vectors = np.linalg.eigh(-centred / 2)
    result: FloatArray = vectors[:, -1]
    return result
