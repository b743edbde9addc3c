"""Models: beliefs sum to one, learn what is there, read cells they have not seen, and stay quiet."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import pytest

from discreet.cli import names
from discreet.errors import InputError
from discreet.publishing.attack.lifts import area_under_curve
from discreet.publishing.attack.models import MODELS, chosen_models, learned
from discreet.publishing.features import Features, Kind, features_of
from discreet.twins.cells import cells_of


def some_features(n: int, seed: int) -> Features:
    random = np.random.default_rng(seed)
    city = [None if k % 17 == 0 else f"city {k}" for k in random.integers(0, 30, n).tolist()]
    age = [None if k == 20 else k for k in random.integers(20, 80, n).tolist()]
    columns = {"city": pa.array(city), "age": pa.array(age), "flag": pa.array(random.random(n) < 0.5)}
    return features_of([cells_of(name, column) for name, column in columns.items()])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_values", [2, 4])
def test_every_model_learns_a_number_and_a_category(name: str, n_values: int) -> None:
    features, n = some_features(2000, 1), 2000
    city, age = (np.nan_to_num(features.matrix[:, k], nan=0.0) for k in (0, 1))
    noise = np.random.default_rng(2).random(n)
    secret = (((city % 3 == 0) * 1.0 + (age > 50) + noise) * n_values / 3).astype(np.int64)
    first = features.of(slice(0, 1300))
    beliefs = learned(MODELS[name], first, secret[:1300], n_values, 0)(features.matrix[1300:])
    assert beliefs.shape == (700, n_values)
    assert beliefs.min() >= 0
    assert np.allclose(beliefs.sum(axis=1), 1)
    area = area_under_curve(beliefs[:, -1], secret[1300:] == n_values - 1)
    assert area is not None
    assert area > 0.8


@pytest.mark.parametrize("name", MODELS)
def test_a_model_reads_what_it_has_not_seen(name: str) -> None:
    features = some_features(600, 3)
    secret = np.where(np.arange(600) % 3 == 0, 3, 0)
    secret[:2] = 2  # of a value that is rarer than anything a model splits on
    beliefs = learned(MODELS[name], features, secret, 4, 0)
    other = features.matrix.copy()
    other[:300, 0], other[300:, :] = 249.0, np.nan
    found = beliefs(other)
    assert np.isfinite(found).all()
    assert found[:, 1].max() < 0.01  # never trained on
    assert 0.1 < found[:, 3].mean() < 0.6


@pytest.mark.parametrize("name", MODELS)
def test_without_anything_that_varies_all_records_look_alike(name: str) -> None:
    features = Features(np.column_stack([np.ones(200), np.full(200, np.nan)]), (Kind("a", is_code=True), Kind("b")))
    secret = np.repeat([0, 1, 1, 1], 50)
    assert learned(MODELS[name], features, secret, 2, 0)(features.matrix[:3]).tolist() == [[0.25, 0.75]] * 3


def test_names_are_those_of_the_command_line_and_unknown_ones_are_refused() -> None:
    assert names.MODELS == tuple(MODELS) == tuple(chosen_models("all"))
    assert list(chosen_models("bayes")) == ["bayes"]
    for wrong in (["guessing"], []):
        with pytest.raises(InputError, match="models must be 'all' or some of boosting"):
            chosen_models(wrong)


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(InputError, match=r"pip install 'discreet\[tables\]'"):
        chosen_models("all")
    assert list(chosen_models(["bayes", "counting"])) == ["bayes", "counting"]
