"""Models of S: boosted trees, neighbours, logistic regression, naive Bayes and counting, behind one name each."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray
from discreet.publishing.attack.counted import Beliefs, bayes, counting
from discreet.publishing.attack.encoding import Columns
from discreet.publishing.beliefs import few_threads
from discreet.publishing.features import Features
from discreet.publishing.trees import boosting as trees_of

__all__ = ["MODELS", "Model", "chosen_models", "learned"]

#: Records whose beliefs are computed at a time.
CHUNK = 20_000

#: Boosted trees in all, however many sensitive values there are.
TREES = 400

#: Neighbours that are asked.
NEIGHBOURS = 50


@dataclass(frozen=True)
class Model:
    """A kind of model.

    Attributes
    ----------
    learn : callable
        From features, codes of S, their number and a seed to a function that gives beliefs.
    most_trained, most_measured : int
        Records beyond which it would take too long.
    library : bool
        Whether it needs scikit-learn.
    """

    learn: Callable[[Features, IntArray, int, int], Beliefs]
    most_trained: int = 100_000
    most_measured: int = 200_000
    library: bool = True


def boosting(features: Features, secret: IntArray, n_values: int, seed: int) -> Beliefs:
    """Boosted trees on numbers and codes; values that training has not seen are missing."""
    model = trees_of(features, seed % (1 << 32), most_trees=TREES)
    with few_threads():
        model.fit(features.matrix, secret)
    return _predicting(model, n_values, lambda matrix: matrix)


def neighbours(features: Features, secret: IntArray, n_values: int, seed: int) -> Beliefs:
    """Shares of S among the nearest records of training, all of them looked at."""
    from sklearn.neighbors import NearestNeighbors

    columns = Columns(features.matrix, features.is_category)
    asked = min(NEIGHBOURS, max(1, len(secret) // 10))
    index = NearestNeighbors(n_neighbors=asked, algorithm="brute").fit(columns.of(features.matrix))
    prior = np.bincount(secret, minlength=n_values) / len(secret)

    def beliefs(matrix: FloatArray) -> FloatArray:
        with few_threads():
            found = secret[index.kneighbors(columns.of(matrix), return_distance=False)]
        counts = np.stack([(found == value).sum(axis=1) for value in range(n_values)], axis=1)
        result: FloatArray = (counts + prior) / (asked + 1)
        return result

    return beliefs


def logistic(features: Features, secret: IntArray, n_values: int, seed: int) -> Beliefs:
    """Logistic regression on scaled numbers and columns of categories."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    columns = Columns(features.matrix, features.is_category)
    model = LogisticRegression(max_iter=60, tol=1e-3)
    with warnings.catch_warnings(), few_threads(), np.errstate(invalid="ignore", over="ignore"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # a few steps short of the optimum it orders as well
        model.fit(columns.of(features.matrix), secret)
    return _predicting(model, n_values, columns.of)


#: By name, the strongest first.
MODELS = {
    "boosting": Model(boosting),
    "neighbours": Model(neighbours, most_trained=20_000, most_measured=20_000),
    "logistic": Model(logistic, most_trained=50_000),
    "bayes": Model(bayes, library=False),
    "counting": Model(counting, library=False),
}


def chosen_models(names: str | Sequence[str]) -> dict[str, Model]:
    """Models by name, or all of them."""
    wanted = list(MODELS) if names == "all" else [names] if isinstance(names, str) else list(names)
    unknown = [name for name in wanted if name not in MODELS]
    if unknown or not wanted:
        got = f", got {unknown[0]!r}" if unknown else ", got none"
        raise InputError(f"models must be 'all' or some of {', '.join(MODELS)}{got}.")
    chosen = {name: MODELS[name] for name in dict.fromkeys(wanted)}
    if any(model.library for model in chosen.values()):
        check_library()
    return chosen


def check_library() -> None:
    """That scikit-learn is there."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise InputError("models of S need scikit-learn: pip install 'discreet[tables]'.") from None


def learned(model: Model, features: Features, secret: IntArray, n_values: int, seed: int) -> Beliefs:
    """A trained model, on the features that vary; with none of them it believes what is common."""
    rows = slice(0, model.most_trained)
    trained, known = features.of(rows), secret[rows]
    varying = np.array([_varies(column) for column in trained.matrix.T], dtype=bool)
    present = np.unique(known)
    if not varying.any() or len(present) < 2:
        shares = np.bincount(known, minlength=n_values) / len(known)
        return lambda given: np.tile(shares, (len(given), 1))
    inner = model.learn(trained.only(varying), known, n_values, seed)

    def beliefs(given: FloatArray) -> FloatArray:
        parts = (given[start : start + CHUNK, varying] for start in range(0, max(len(given), 1), CHUNK))
        return np.concatenate([inner(np.ascontiguousarray(part)) for part in parts])

    return beliefs


def _varies(column: FloatArray) -> bool:
    missing = np.isnan(column)
    if missing.all():
        return False
    return bool(missing.any() or column.min() < column.max())


def _predicting(model: Any, n_values: int, encode: Callable[[FloatArray], Any]) -> Beliefs:
    """Beliefs of a classifier of scikit-learn, with none in values that its training did not have."""
    classes = np.asarray(model.classes_, dtype=np.int64)

    def beliefs(matrix: FloatArray) -> FloatArray:
        result = np.zeros((len(matrix), n_values))
        with few_threads(), np.errstate(invalid="ignore", over="ignore"):  # as matrix products of some machines say
            result[:, classes] = model.predict_proba(encode(matrix))
        return result

    return beliefs
