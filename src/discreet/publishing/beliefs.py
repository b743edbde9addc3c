r"""Beliefs about S that can be learned: what models say of records that they have not seen.

Records are cut into folds by a keyed hash of their useful cells (of the person, where persons have several records).
A model that was trained on the other folds tells :math:`\hat b(x) \approx P(S = \cdot \mid x)` of a fold's records, so
that neither a record's own S nor that of an equal record enters what is believed about it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support import progress
from discreet._support.errors import InputError
from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.publishing.features import Features
from discreet.publishing.trees import boosting, forest

__all__ = ["Beliefs", "default_model", "few_threads", "learn", "sklearn_needed", "stronger_model"]

#: Records that a model learns from; more of them teach it little, and take long.
MOST_LEARNED = 200_000

#: How far the probabilities of a record may be off 1 together: those of models in single precision are.
SUM_OFF = 1e-3

#: Records of a fold that beliefs are told of at once.
STRIPE = 200_000


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Models, one for each fold and each secret, which tell beliefs about other records too.

    Attributes
    ----------
    models : tuple of tuple
        ``models[fold][turn]``, each trained without the fold.
    places : tuple of ndarray
        Of each secret, the places of its labels among all labels.
    n_labels : int
        Of all secrets together.
    """

    models: tuple[tuple[Any, ...], ...]
    places: tuple[IntArray, ...]
    n_labels: int

    def of(self, features: Features, folds: IntArray) -> FloatArray:
        """Probabilities of all labels, one row a record; of several secrets each has an equal share of one."""
        found = np.zeros((len(folds), self.n_labels))
        for fold, models in enumerate(self.models):
            members = np.flatnonzero(folds == fold)
            for start in range(0, len(members), STRIPE):
                some = members[start : start + STRIPE]
                for model, places in zip(models, self.places):
                    found[np.ix_(some, places)] += _probabilities(model, features.matrix[some], len(places))
        return found / len(self.places)


def learn(
    features: Features,
    secrets: Sequence[IntArray],
    places: Sequence[IntArray],
    folds: IntArray,
    order: IntArray,
    make: Callable[[Features, int], Any],
    seed: int,
) -> Beliefs:
    """Train a model for every fold on all other folds.

    Parameters
    ----------
    features : Features
        Of all records.
    secrets : sequence of ndarray of int
        Codes of each secret, from 0 on.
    places : sequence of ndarray of int
        Places of the labels of each secret among all.
    folds : ndarray of int
        Fold of each record.
    order : ndarray of int
        All records in an order that does not depend on that of the table's rows.
    make : callable
        From features and a seed to an estimator with ``fit`` and ``predict_proba``.
    seed : int
        Of the models, and of which records they learn from where there are very many.
    """
    rng = np.random.default_rng(seed)
    made = []
    n_folds = int(folds.max()) + 1
    with progress.stage("learning what the useful columns tell") as stage:
        for fold in range(n_folds):
            others = order[folds[order] != fold]
            if len(others) > MOST_LEARNED:
                others = others[np.sort(rng.choice(len(others), MOST_LEARNED, replace=False))]
            seen = features.of(others)
            own = [_Trained(make, seen, codes[others], seed) for codes in secrets]
            made.append(tuple(own))
            stage.update(fold + 1, n_folds)
    return Beliefs(tuple(made), tuple(places), sum(map(len, places)))


class _Trained:
    """A model, or what is known without one where its records have a single label."""

    def __init__(self, make: Callable[[Features, int], Any], seen: Features, codes: IntArray, seed: int) -> None:
        self.known: IntArray = np.unique(codes)
        # Nothing is learned from features that none of these records have.
        self.given: BoolArray = np.asarray(np.isfinite(seen.matrix).any(axis=0))
        if len(self.known) < 2 or not self.given.any():
            self.model: Any = None
            self.shares = np.bincount(np.searchsorted(self.known, codes)) / len(codes)
            return
        used = seen.only(self.given)
        model = make(used, seed)
        with few_threads(), _explained(model, "trained on these columns", used.matrix):
            self.model = model.fit(used.matrix, np.searchsorted(self.known, codes))

    def probabilities(self, matrix: FloatArray) -> FloatArray:
        if self.model is None:
            return np.tile(self.shares, (len(matrix), 1))
        used = matrix[:, self.given]
        with few_threads(), _explained(self.model, "asked about records that it has not seen", used):
            found: FloatArray = np.asarray(self.model.predict_proba(used), dtype=np.float64)
        _check_probabilities(self.model, found, (len(matrix), len(self.known)))
        return found


@contextmanager
def _explained(model: Any, what: str, matrix: FloatArray) -> Iterator[None]:
    """An estimator fails in its own ways, and its message may quote a cell: what it lacks is said instead."""
    try:
        yield
    except Exception as error:
        raise InputError(
            f"the model {type(model).__name__} cannot be {what} ({type(error).__name__}). {_lacking(error, matrix)}"
        ) from None


def _lacking(error: Exception, matrix: FloatArray) -> str:
    """What an estimator has to take that this one may not."""
    if not np.isnan(matrix).any():
        return "Leave model out, or give an estimator that takes a matrix of numbers."
    said = "It says that its input contains NaN: missing" if "contains NaN" in str(error) else "Missing"
    return (
        f"{said} values must be accepted. Give a pipeline with an imputer, or HistGradientBoostingClassifier, or leave "
        "model out."
    )


def _check_probabilities(model: Any, found: FloatArray, shape: tuple[int, int]) -> None:
    """Refuse what are no probabilities: classes would be made of anything."""
    name = type(model).__name__
    if found.shape != shape or not np.isfinite(found).all():
        raise InputError(f"the model {name} must tell finite probabilities of every label it was trained on.")
    if (found < 0).any() or (found > 1 + SUM_OFF).any() or (np.abs(found.sum(axis=1) - 1) > SUM_OFF).any():
        raise InputError(
            f"the model {name} must tell probabilities from 0 to 1 that sum to 1 for every record (predict_proba)."
        )


def _probabilities(model: _Trained, matrix: FloatArray, n_labels: int) -> FloatArray:
    """Of all labels, those that training lacked with none."""
    found = np.zeros((len(matrix), n_labels))
    found[:, model.known] = model.probabilities(matrix)
    return found


def default_model(features: Features, seed: int) -> Any:
    """Boosted trees."""
    return boosting(features, seed)


def stronger_model(features: Features, seed: int, *, leaf: int = 5) -> Any:
    """Boosted trees that look longer and more closely, beside a forest of random ones; their mean.

    ``leaf`` is the fewest records of a leaf in the forest, whose size goes with their number.
    """
    return _Mean([boosting(features, seed, longer=2.0, leaves=16), forest(features, seed, leaf=leaf)])


class _Mean:
    """Several models as one, by the mean of what they tell."""

    def __init__(self, models: Sequence[Any]) -> None:
        self.models = models

    def fit(self, matrix: FloatArray, codes: IntArray) -> _Mean:
        self.models = [model.fit(matrix, codes) for model in self.models]
        return self

    def predict_proba(self, matrix: FloatArray) -> FloatArray:
        found: FloatArray = np.mean([model.predict_proba(matrix) for model in self.models], axis=0)
        return found


def few_threads() -> Any:
    """Half of the cores: threads that wait for each other on a busy machine take ten times as long."""
    with sklearn_needed():
        from threadpoolctl import threadpool_limits
    return threadpool_limits(max(1, (os.cpu_count() or 1) // 2))


class sklearn_needed:  # noqa: N801 - a context, written like the functions of contextlib
    """Says which extra to install where scikit-learn is missing."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, ImportError):
            raise InputError("whole tables need scikit-learn: pip install 'discreet[tables]'.") from None
