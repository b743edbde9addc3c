"""Trees that also see, of values too many for codes, how common each label is among other records with them.

Trees cut an order, and single postcodes among thousands stay together. The share of a label among the records that have
the value tells them apart. Of the records that are learned from, those shares come from the other fifths of them, so
that no record's own label is part of its features; of all other records, from all that were learned from.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.publishing.features import Features

__all__ = ["WithShares", "boosting", "forest"]

#: Parts of the records that are learned from: each has the shares of the others.
PARTS = 5

#: Records of the whole that each share is mixed with.
PRIOR_RECORDS = 10.0

#: Rounds of boosting: more for more records, since more can be learned from them; trees in all, of which every label
#: needs one a round; and rounds however many labels there are.
FEWEST_ROUNDS, MOST_ROUNDS, RECORDS_A_ROUND, MOST_TREES, SOME_ROUNDS = 100, 300, 600, 1500, 15

#: Part of each tree that is added.
RATE = 0.08

#: Trees of a forest.
TREES = 150

#: Features of shares at the most, however many labels there are.
MOST_SHARES = 64


class WithShares:
    """A classifier with features of shares beside those that it is given.

    scikit-learn's TargetEncoder does the same, but how its parts are chosen changed from version to version, and the
    same key must give the same shares.

    Parameters
    ----------
    make : callable
        From whether each feature is a code (shares are not), records and labels to a classifier.
    features : Features
        Of which those of many values have shares.
    seed : int
        Of the parts.
    """

    def __init__(self, make: Callable[[BoolArray, int, int], Any], features: Features, seed: int) -> None:
        self._many = [k for k, kind in enumerate(features.kinds) if kind.is_many]
        self._is_category = features.is_category
        self._make, self._seed = make, seed
        self._tables: list[_Shares] = []

    def fit(self, matrix: FloatArray, codes: IntArray) -> WithShares:
        """Learn shares, and then the classifier with them."""
        n_labels = int(codes.max()) + 1
        self._many = self._many[: MOST_SHARES // max(1, n_labels - 1)]
        self._tables = [_Shares(matrix[:, k], codes, n_labels, self._seed) for k in self._many]
        seen = np.hstack([matrix, *(table.of_own for table in self._tables)])
        is_category = np.append(self._is_category, np.zeros(seen.shape[1] - matrix.shape[1], dtype=bool))
        self._model = self._make(is_category, len(codes), n_labels).fit(seen, codes)
        for table in self._tables:
            del table.of_own
        self.classes_ = self._model.classes_
        return self

    def predict_proba(self, matrix: FloatArray) -> FloatArray:
        """What the classifier says."""
        shares = [table.of(matrix[:, k]) for k, table in zip(self._many, self._tables)]
        found: FloatArray = self._model.predict_proba(np.hstack([matrix, *shares]))
        return found


class _Shares:
    """Shares of labels among the records of each value of one feature; of two labels those of the second."""

    def __init__(self, column: FloatArray, codes: IntArray, n_labels: int, seed: int) -> None:
        self.values = np.unique(column[~np.isnan(column)])
        place = self._places(column)
        size = len(self.values) + 1
        part = np.random.default_rng(seed).integers(0, PARTS, len(column))
        cells = (part * size + place) * n_labels + codes
        counts = np.bincount(cells, minlength=PARTS * size * n_labels).reshape(PARTS, size, n_labels)
        whole = counts.sum(axis=0)
        self.table = _mixed(whole)
        others = np.stack([_mixed(whole - counts[k]) for k in range(PARTS)])
        self.of_own = others[part, place]

    def _places(self, column: FloatArray) -> IntArray:
        """Of each cell the place of its value; missing and new ones are the last."""
        where = np.minimum(np.searchsorted(self.values, column), max(0, len(self.values) - 1))
        if not len(self.values):
            return np.zeros(len(column), dtype=np.int64)
        found: IntArray = np.where(self.values[where] == column, where, len(self.values))
        return found

    def of(self, column: FloatArray) -> FloatArray:
        """Shares for cells of any records."""
        found: FloatArray = self.table[self._places(column)]
        return found


def _mixed(counts: IntArray) -> FloatArray:
    """Shares, mixed with those of the whole; the first label's follow from the others."""
    total = counts.sum(axis=0)
    prior = total / max(1.0, total.sum())
    shares = (counts + PRIOR_RECORDS * prior) / (counts.sum(axis=1, keepdims=True) + PRIOR_RECORDS)
    result: FloatArray = shares[:, 1:]
    return result


def boosting(
    features: Features, seed: int, *, longer: float = 1.0, leaves: int = 12, most_trees: int = MOST_TREES
) -> WithShares:
    """Boosted trees on histograms, which take numbers, codes and missing cells as they are, for so much longer."""
    return WithShares(_Boosting(seed, longer, leaves, most_trees), features, seed)


class _Boosting:
    """Makes the trees once it is known what they learn from; a class, so that workers can be sent one."""

    def __init__(self, seed: int, longer: float, leaves: int, most_trees: int) -> None:
        self._seed, self._longer, self._leaves, self._most_trees = seed, longer, leaves, most_trees

    def __call__(self, is_category: BoolArray, records: int, labels: int) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        rounds = np.clip(records / RECORDS_A_ROUND, FEWEST_ROUNDS, MOST_ROUNDS) * self._longer
        trees_a_round = 1 if labels == 2 else labels
        return HistGradientBoostingClassifier(
            max_iter=max(SOME_ROUNDS, min(round(rounds), self._most_trees // trees_a_round)),
            learning_rate=RATE / self._longer**0.5,
            max_leaf_nodes=self._leaves,
            l2_regularization=5.0,
            early_stopping=False,
            categorical_features=is_category,
            random_state=self._seed,
        )


def forest(features: Features, seed: int, *, leaf: int) -> WithShares:
    """Random trees, with at least so many records in each leaf."""
    return WithShares(_Forest(seed, leaf), features, seed)


class _Forest:
    """Makes random trees, as `_Boosting` makes boosted ones."""

    def __init__(self, seed: int, leaf: int) -> None:
        self._options = {"min_samples_leaf": leaf, "random_state": seed}

    def __call__(self, is_category: BoolArray, records: int, labels: int) -> Any:
        from sklearn.ensemble import ExtraTreesClassifier
        from sklearn.impute import SimpleImputer
        from sklearn.pipeline import make_pipeline

        trees = ExtraTreesClassifier(TREES, max_features=None, n_jobs=-1, **self._options)
        return make_pipeline(SimpleImputer(strategy="constant", fill_value=-1.0), trees)
