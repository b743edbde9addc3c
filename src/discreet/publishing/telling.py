r"""Which columns tell most: about S, by what the classes of their records tell, and whose row it is.

.. math:: \sum_g P(g) \sum_s P(s \mid g) \log \frac{P(s \mid g)}{P(s)}, \qquad
    P(s \mid g) = \sum_c P(c \mid g) \, P(s \mid c)

for a column in groups g of its values and classes c of belief: the information about S of a reader who knows the group
alone, and who believes of its records what their classes say. Columns that single out rows are found one after the
other, by the number of different combinations that they have together.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet._support.numeric import FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.publishing.quality import groups_of
from discreet.twins.cells import Cells

__all__ = ["most_singling", "most_telling"]

#: Columns that tell a smaller share of what the first one does are not worth leaving out.
LEAST_SHARE = 0.05

#: Records by which columns that single out rows are chosen, and how much more combinations one has to make.
MOST_RECORDS, MORE = 50_000, 1.1


def most_telling(columns: Sequence[Cells], classes: IntArray, joint: Joint, most: int = 3) -> tuple[str, ...]:
    """Names of the columns that tell most about S, the first most of all.

    Parameters
    ----------
    columns : sequence of Cells
        Of some records.
    classes : ndarray of int
        Of these records, their places in ``joint``.
    joint : Joint
        Counts of (S, class).
    most : int
        Names at the most.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from discreet.twins.cells import cells_of
    >>> job, day = (cells_of(name, pa.array(list(cells) * 50)) for name, cells in (("job", "aabb"), ("day", "xyxy")))
    >>> most_telling([day, job], np.array([0, 0, 1, 1] * 50), Joint.from_counts([[90, 20], [10, 80]]))
    ('job',)
    """
    counts = np.asarray(joint.counts, dtype=np.float64)
    beliefs = counts / np.maximum(counts.sum(axis=0), 1)
    told = {cells.name: _information(cells, classes, beliefs) for cells in columns}
    least = LEAST_SHARE * max(told.values(), default=0.0)
    best = sorted((name for name in told if told[name] > least), key=lambda name: -told[name])
    return tuple(best[:most])


def most_singling(columns: Sequence[Cells], most: int = 3) -> tuple[str, ...]:
    """Names of a few columns that have the most combinations together, the one with the most values first.

    >>> import pyarrow as pa
    >>> from discreet.twins.cells import cells_of
    >>> cells = {"sex": [0, 1] * 6, "day": range(12), "town": [0, 1, 2] * 4}
    >>> most_singling([cells_of(name, pa.array(list(own))) for name, own in cells.items()])
    ('day',)
    """
    step = max(1, -(-len(columns[0].codes) // MOST_RECORDS)) if columns else 1
    left = {cells.name: np.unique(cells.codes[::step], return_inverse=True)[1].reshape(-1) for cells in columns}
    chosen: list[str] = []
    together, n_together = np.zeros(1, dtype=np.int64), 1
    while left and len(chosen) < most:
        made = {name: together * (int(own.max()) + 1) + own for name, own in left.items()}
        numbers = {name: len(np.unique(own)) for name, own in made.items()}
        best = max(numbers, key=lambda name: numbers[name])
        if numbers[best] < MORE * n_together:
            break
        together, n_together = np.unique(made[best], return_inverse=True)[1].reshape(-1), numbers[best]
        chosen.append(best)
        del left[best]
    return tuple(chosen)


def _information(cells: Cells, classes: IntArray, beliefs: FloatArray) -> float:
    """Nats that the groups of a column tell about S."""
    of_code, names = groups_of(cells)
    n_classes = beliefs.shape[1]
    flat = np.bincount(of_code[cells.codes] * n_classes + classes, minlength=len(names) * n_classes)
    shares = beliefs @ flat.reshape(len(names), n_classes).T / len(classes)  # P(s, g)
    expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
    some = shares > 0
    return float((shares[some] * np.log(shares[some] / expected[some])).sum())
