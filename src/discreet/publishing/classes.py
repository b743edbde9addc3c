r"""Classes of records with about the same belief, in each fold by itself.

Of two labels the beliefs are cut where records of one class differ least; of more, :math:`\sqrt{\hat b}` is clustered
by k-means, since distances between square roots of probabilities are those that samples can tell (Hellinger). Classes
are those of one fold: their edges follow from beliefs that a model of the *other* folds has, so that given the useful
columns and the other folds nothing about them depends on the S that is counted in them, and limits of P(s | class)
cover as they say.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.publishing.beliefs import sklearn_needed

__all__ = ["FEWEST_CLASSES", "Classes", "classes_for", "make_classes"]

#: Records behind a class for every promise with confidence, and for one about the table alone, by the root of labels.
SURE_RECORDS, COUNTED_RECORDS = 900, 150

#: Classes of a fold at least: with fewer, records of one class differ so much that it promises little.
FEWEST_CLASSES = 5

#: Classes in all: more are more pairs of them, and more limits to hold at once.
MOST_CLASSES = 60

#: Steps of a class between which it may be cut, and the least part of its equal share of the records that it may have.
FINEST, LEAST_PART = 12, 0.1

#: Part of a class that has to be counted at least: what is counted speaks for the others, as a majority does.
LEAST_COUNTED = 0.5

#: Records of a fold that clusters are made from.
MOST_CLUSTERED = 50_000


def classes_for(records: int, n_labels: int, *, is_sure: bool, n_folds: int) -> int:
    """How many classes of one fold so many records allow, at least a few."""
    each = (SURE_RECORDS if is_sure else COUNTED_RECORDS) * math.sqrt(n_labels)
    return int(np.clip(round(records / each / n_folds), FEWEST_CLASSES, MOST_CLASSES // n_folds))


@dataclass(frozen=True, eq=False)
class Classes:
    """How beliefs become classes.

    Attributes
    ----------
    edges : tuple of ndarray or None
        Of each fold, where the belief in the second label is cut.
    centres : tuple of ndarray or None
        Of each fold, the centres of clusters of square roots.
    """

    edges: tuple[FloatArray, ...] | None
    centres: tuple[FloatArray, ...] | None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Classes of each fold."""
        if self.edges is not None:
            return tuple(len(edges) + 1 for edges in self.edges)
        assert self.centres is not None
        return tuple(len(centres) for centres in self.centres)

    @property
    def labels(self) -> list[str]:
        """Names of all classes: the fold as a letter, then a number."""
        width = len(str(max(self.sizes)))
        return [f"{chr(ord('A') + fold)}{k + 1:0{width}d}" for fold, n in enumerate(self.sizes) for k in range(n)]

    def of(self, beliefs: FloatArray, folds: IntArray) -> IntArray:
        """Class of each record, counted through all folds."""
        found, before = np.zeros(len(folds), dtype=np.int64), 0
        for fold, size in enumerate(self.sizes):
            members = folds == fold
            found[members] = before + self._of_fold(beliefs[members], fold)
            before += size
        return found

    def _of_fold(self, beliefs: FloatArray, fold: int) -> IntArray:
        if self.edges is not None:
            return np.searchsorted(self.edges[fold], beliefs[:, 1], side="right")
        assert self.centres is not None
        centres = self.centres[fold]
        # |r - c|^2 without |r|^2, which is the same for all centres.
        far = (centres**2).sum(axis=1) - 2 * np.sqrt(beliefs) @ centres.T
        nearest: IntArray = far.argmin(axis=1)
        return nearest


def make_classes(
    beliefs: FloatArray, folds: IntArray, counted: BoolArray, per_fold: int, *, fewest: int, seed: int
) -> Classes:
    """Classes of every fold, none with fewer records than ``fewest`` where that can be, and most of each ``counted``.

    Where few records are different, all that are like one may be set aside. Nothing could be promised about a class of
    such records alone.
    """
    n_folds = int(folds.max()) + 1
    parts = [(beliefs[folds == fold], counted[folds == fold]) for fold in range(n_folds)]
    if beliefs.shape[1] == 2:
        return Classes(tuple(_edges(part[:, 1], own, per_fold) for part, own in parts), None)
    return Classes(None, tuple(_centres(np.sqrt(part), own, per_fold, fewest, seed) for part, own in parts))


def _edges(beliefs: FloatArray, counted: BoolArray, parts: int) -> FloatArray:
    """Where the beliefs of classes differ least, on a scale on which samples tell all of them apart equally well.

    The best of all cuts between hundredths of the records that leave every class a good part of its equal share.
    """
    steps = min(len(beliefs), FINEST * parts)
    starts = np.unique(np.quantile(beliefs, np.arange(steps) / steps, method="higher"))
    cells = np.searchsorted(starts, beliefs, side="right") - 1
    sizes = np.bincount(cells, minlength=len(starts)).astype(np.float64)
    spoken = np.bincount(cells, counted - LEAST_COUNTED, len(starts)).astype(np.float64)
    scale = np.arcsin(np.sqrt(np.clip(beliefs, 0, 1)))
    sums = np.bincount(cells, scale, len(starts)).astype(np.float64)
    squares = np.bincount(cells, scale**2, len(starts)).astype(np.float64)
    return _halfway(beliefs, starts[_cuts(sizes, sums, squares, spoken, parts, LEAST_PART * len(beliefs) / parts)])


def _halfway(beliefs: FloatArray, firsts: FloatArray) -> FloatArray:
    """Edges between the first beliefs of classes and those before them: another machine may be off by a last digit."""
    different = np.unique(beliefs)
    before = different[np.searchsorted(different, firsts) - 1]
    middle = before + (firsts - before) / 2
    return np.where(middle > before, middle, firsts)


def _cuts(
    sizes: FloatArray, sums: FloatArray, squares: FloatArray, spoken: FloatArray, parts: int, fewest: float
) -> IntArray:
    """Cells that classes begin with, but for the first one: least sum of squares within (dynamic programme).

    ``spoken`` is how many records are counted beyond those that have to be; no class has less than none.
    """
    n, s, q, c = (np.concatenate([[0.0], np.cumsum(values)]) for values in (sizes, sums, squares, spoken))
    size = n[None, :] - n[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = (q[None, :] - q[:, None]) - (s[None, :] - s[:, None]) ** 2 / size
    is_allowed = (size >= fewest) & (c[None, :] >= c[:, None])
    cost = np.where(is_allowed, np.maximum(cost, 0.0), np.inf)
    best, back = cost[0], []
    for _ in range(parts - 1):
        through = best[:, None] + cost
        begin = through.argmin(axis=0)
        more = through[begin, np.arange(len(n))]
        if not np.isfinite(more[-1]) or more[-1] >= best[-1]:
            break
        best = more
        back.append(begin)
    found, end = [], len(n) - 1
    for begin in reversed(back):
        end = int(begin[end])
        found.append(end)
    return np.array(found[::-1], dtype=np.int64)


def _centres(roots: FloatArray, counted: BoolArray, parts: int, fewest: int, seed: int) -> FloatArray:
    with sklearn_needed():
        from sklearn.cluster import KMeans
    rng = np.random.default_rng(seed)
    some = roots if len(roots) <= MOST_CLUSTERED else roots[rng.choice(len(roots), MOST_CLUSTERED, replace=False)]
    different = len(np.unique(some, axis=0))
    centres: FloatArray = KMeans(min(parts, different), n_init=3, random_state=seed).fit(some).cluster_centers_
    while (least := _least(roots, counted, centres, fewest)) is not None:
        centres = np.delete(centres, least, axis=0)  # its records go to its neighbours
    return centres


def _least(roots: FloatArray, counted: BoolArray, centres: FloatArray, fewest: int) -> int | None:
    """The cluster that cannot stay: the least counted where too few of it are, else the smallest if it is too small."""
    nearest = ((centres**2).sum(axis=1) - 2 * roots @ centres.T).argmin(axis=1)
    sizes = np.bincount(nearest, minlength=len(centres))
    parts = np.bincount(nearest, counted, len(centres)) / np.maximum(sizes, 1)
    if len(centres) > 1 and parts.min() < LEAST_COUNTED:
        return int(parts.argmin())
    return int(sizes.argmin()) if len(centres) > 2 and sizes.min() < fewest else None
