"""Whether rows of a release correspond to those of its original: a shuffled release would look safe.

Cells of both tables at the same places tell more about each other than at shifted places, unless the release was
shuffled, or keeps nothing. Small shifts are among them, so that tables in the same order of some column do not pass.
Some shifts may agree as well all the same: those by a multiple of a period. Where a row is missing or one too many, all
rows behind it are shifted: every stretch of the table is looked at by itself.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray
from discreet.publishing.attack.cells import tuple_keys
from discreet.twins.cells import Cells

__all__ = ["check_correspondence", "corresponds", "moved_rows", "stretches_apart"]

#: Classes that the cells of a column are put into, rows that are compared, shifts by some and by random places.
CLASSES, MOST_ROWS, NEAR, FAR = 8, 50_000, (1, 2, 3, 7, 11), 15

#: Probability that chance alone lets a column pass.
BY_CHANCE = 1e-6

#: Stretches of a table at most, rows of each at least, and how far the rows of one may be shifted.
STRETCHES, STRETCH, SHIFTED = 20, 250, 12

#: Stretches agree too little from this part of what is usual in the table on, where that is at least so much.
LITTLE, USUAL = 0.25, 0.15

#: Share of rows that are in both tables at different places, from which a note says so.
MANY_MOVED = 0.3

#: What helps.
LINK = "link rows by an id (id=, --id)"


def check_correspondence(
    before: Sequence[Cells], after: Sequence[Cells], shared: Sequence[str], seed: int, *, by_id: bool = False
) -> tuple[str, ...]:
    """Refuse tables whose rows agree no better than by chance; what is doubtful is noted.

    Rows that an id links are taken at its word: where they agree no better, either nothing is left of the original or
    the ids are not those of the same people.
    """
    if not corresponds(before, after, shared, seed):
        if by_id:
            return ("Rows with the same id agree no better than by chance: nothing is left, or the ids are others'.",)
        raise InputError(
            "rows of the release do not seem to correspond to those of the original: columns of the same name agree "
            "no better than by chance, and a shuffled release would look safe. Publish in order (shuffle=False, "
            f"--keep-order), or {LINK}."
        )
    return () if by_id else stretches_apart(before, after, shared)


def moved_rows(before: Sequence[Cells], after: Sequence[Cells], shared: Sequence[str]) -> tuple[str, ...]:
    """A note where both tables hold the same rows and many stand elsewhere: who shuffled some hides what they tell."""
    sides = [[cells for cells in table if cells.name in shared] for table in (before, after)]
    if not all(sides):
        return ()
    keys = [tuple_keys(sorted(side, key=lambda cells: cells.name)) for side in sides]
    (here, own), (there, other) = (np.unique(side, return_counts=True) for side in keys)
    _, first, second = np.intersect1d(here, there, assume_unique=True, return_indices=True)
    both = float(np.minimum(own[first], other[second]).sum()) / len(keys[0])
    same = float((keys[0] == keys[1]).mean())
    if both - same < MANY_MOVED:
        return ()
    return (
        f"{both:.0%} of rows are in both tables, {same:.0%} at the same place. If some were put into another order "
        f"afterwards, more can be learned than is found here: {LINK}.",
    )


def stretches_apart(before: Sequence[Cells], after: Sequence[Cells], shared: Sequence[str]) -> tuple[str, ...]:
    """Refuse tables that are shifted from some row on; notes on stretches whose rows agree too little."""
    released = {cells.name: cells for cells in after}
    pairs = [(cells.codes, released[cells.name].codes) for cells in before if cells.name in shared]
    n = len(before[0].codes)
    count = min(STRETCHES, n // STRETCH)
    if not pairs or count < 2:
        return ()
    ends = np.linspace(0, n, count + 1).astype(np.int64)
    agree = np.array([[_equal(pairs, rows, shift) for shift in _SHIFTS] for rows in map(np.arange, ends, ends[1:])])
    better = np.flatnonzero(agree[:, 1:].max(axis=1) > agree[:, 0] + USUAL)
    if len(better):
        raise InputError(
            f"rows of the release are shifted against those of the original from about row {ends[better[0]] + 1:,} on, "
            f"as if one were missing or one too many. Mend that, or {LINK}."
        )
    excess = agree[:, 0] - np.median(agree[:, 1:], axis=1)
    usual = float(np.median(excess))
    return tuple(
        f"Rows {ends[k] + 1:,} to {ends[k + 1]:,} agree with the original no better than by chance: nothing is left "
        f"there, or they are in another order. What is found may be too little; {LINK}."
        for k in np.flatnonzero(excess < LITTLE * usual)
        if usual > USUAL
    )


def _equal(pairs: Sequence[tuple[IntArray, IntArray]], rows: IntArray, shift: int) -> float:
    """Share of equal cells of some rows, those of the release so many places later."""
    return float(np.mean([(a[rows] == b[(rows + shift) % len(b)]).mean() for a, b in pairs]))


#: As they are first, then shifted.
_SHIFTS = (0, *(sign * shift for shift in range(1, SHIFTED + 1) for sign in (1, -1)))


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
