r"""Which columns tell most about S, by what the classes of their records tell.

.. math:: \sum_g P(g) \sum_s P(s \mid g) \log \frac{P(s \mid g)}{P(s)}, \qquad
    P(s \mid g) = \sum_c P(c \mid g) \, P(s \mid c)

for a column in groups g of its values and classes c of belief: the information about S of a reader who knows the group
alone, and who believes of its records what their classes say.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet._support.numeric import FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.publishing.quality import groups_of
from discreet.twins.cells import Cells

__all__ = ["most_telling"]

#: Columns that tell a smaller share of what the first one does are not worth leaving out.
LEAST_SHARE = 0.05


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


def _information(cells: Cells, classes: IntArray, beliefs: FloatArray) -> float:
    """Nats that the groups of a column tell about S."""
    of_code, names = groups_of(cells)
    n_classes = beliefs.shape[1]
    flat = np.bincount(of_code[cells.codes] * n_classes + classes, minlength=len(names) * n_classes)
    shares = beliefs @ flat.reshape(len(names), n_classes).T / len(classes)  # P(s, g)
    expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
    some = shares > 0
    return float((shares[some] * np.log(shares[some] / expected[some])).sum())
