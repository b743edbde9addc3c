"""Whether rows of a release correspond to those of its original: a shuffled release would look safe.

Cells of both tables at the same places tell more about each other than at shifted places, unless the release was
shuffled, or keeps nothing. Small shifts are among them, so that tables in the same order of some column do not pass.
Some shifts may agree as well all the same: those by a multiple of a period.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray
from discreet.twins.cells import Cells

__all__ = ["check_correspondence", "corresponds"]

#: Classes that the cells of a column are put into, rows that are compared, shifts by some and by random places.
CLASSES, MOST_ROWS, NEAR, FAR = 8, 50_000, (1, 2, 3, 7, 11), 15

#: Probability that chance alone lets a column pass.
BY_CHANCE = 1e-6


def check_correspondence(before: Sequence[Cells], after: Sequence[Cells], shared: Sequence[str], seed: int) -> None:
    """Refuse tables whose rows agree no better than by chance."""
    if not corresponds(before, after, shared, seed):
        raise InputError(
            "rows of the release do not seem to correspond to those of the original: columns of the same name agree "
            "no better than by chance, and a shuffled release would look safe. Publish with shuffle=False, or link "
            "rows by id=."
        )


def corresponds(before: Sequence[Cells], after: Sequence[Cells], shared: Sequence[str], seed: int) -> bool:
    """Whether some column, or all together, agree better at the same places than at shifted ones.

    ``shared`` columns are in one code, so that their cells can also be equal.
    """
    n = len(before[0].codes)
    random = np.random.default_rng(seed)
    rows = np.sort(random.choice(n, MOST_ROWS, replace=False)) if n > MOST_ROWS else np.arange(n)
    shifts = [0, *NEAR, *random.integers(1, n, FAR).tolist()]
    released = {cells.name: cells for cells in after}
    pairs = [(cells, released[cells.name]) for cells in before]
    equal = [(a.codes, b.codes) for a, b in pairs if a.name in shared]
    return _tell(pairs, rows, shifts) or _are_equal(equal, rows, shifts)


def _tell(pairs: Sequence[tuple[Cells, Cells]], rows: IntArray, shifts: Sequence[int]) -> bool:
    """Whether cells of the release tell more about those of the original at the same places."""
    from scipy.stats import chi2

    classes = [(_in_classes(a), _in_classes(b)) for a, b in pairs]
    found = np.array([[_information(a, b, rows, shift) for shift in shifts] for a, b in classes])
    freedom = np.array([a.max(initial=0) * b.max(initial=0) for a, b in classes], dtype=np.float64)
    found, freedom = np.vstack([found, found.sum(axis=0)]), np.maximum(np.append(freedom, freedom.sum()), 1)
    least = np.maximum(_elsewhere(found), freedom) + chi2.isf(BY_CHANCE, freedom) - freedom
    return bool((found[:, 0] > least).any())


def _are_equal(pairs: Sequence[tuple[IntArray, IntArray]], rows: IntArray, shifts: Sequence[int]) -> bool:
    """Whether more cells are equal at the same places."""
    from scipy.stats import norm

    if not pairs:
        return False
    found = np.array([[(a[rows] == b[(rows + shift) % len(b)]).sum() for shift in shifts] for a, b in pairs])
    least = _elsewhere(found) + norm.isf(BY_CHANCE) * np.sqrt(len(rows) / 4)
    return bool((found[:, 0] > least).any())


def _elsewhere(found: FloatArray | IntArray) -> FloatArray:
    """What is found at shifted places: in the middle of near ones, or more at many far ones."""
    near, far = found[:, 1 : 1 + len(NEAR)], found[:, 1 + len(NEAR) :]
    return np.maximum(np.median(near, axis=1), np.quantile(far, 0.25, axis=1))


def _in_classes(cells: Cells) -> IntArray:
    """Cells in few classes: stretches of the order where there is one, else the commonest values and all others."""
    if cells.is_ordered:
        of_value = np.minimum((cells.ranks * CLASSES).astype(np.int64), CLASSES - 1)
    else:
        of_value = np.full(cells.n_values, CLASSES - 1)
        common = np.argsort(-cells.counts, kind="stable")[: CLASSES - 1]
        of_value[common] = np.arange(len(common))
    result: IntArray = np.append(of_value, CLASSES)[cells.codes]
    return np.unique(result, return_inverse=True)[1]


def _information(first: IntArray, second: IntArray, rows: IntArray, shift: int) -> float:
    """The statistic of the likelihood ratio: about chi-square where the two tell nothing about each other."""
    a, b = first[rows], second[(rows + shift) % len(second)]
    counts = np.bincount(a * (CLASSES + 1) + b, minlength=(CLASSES + 1) ** 2).reshape(CLASSES + 1, -1).astype(float)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / len(rows)
    some = counts > 0
    return float(2 * (counts[some] * np.log(counts[some] / expected[some])).sum())
