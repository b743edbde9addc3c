"""Designs of many rows equal the optimum over all vertices: many sensitive values, and what someone knows of x."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet import LDP, SRLIP, Joint, design
from tests.bruteforce import vertices

#: Nats of the optimum: `design` ends in a linear programme solved up to 1e-9 a row.
SAME = 1e-6

PROVER = "discreet.designers.posteriors.prover"


def slice_rows(cells: np.ndarray, sizes: tuple[int, ...], epsilon: float) -> np.ndarray:
    """SRLIP by its definition: whatever attributes someone knows, lifts inside what is left lie within the budget."""
    useful, rows = [*np.ndindex(*sizes)], []
    for known in itertools.product(*[(None, *range(size)) for size in sizes]):
        inside = [all(k in (None, part) for k, part in zip(known, x)) for x in useful]
        beliefs = cells / cells.sum(axis=0)
        prior = cells[:, inside].sum(axis=1) / cells[:, inside].sum()
        lift = np.where(inside, beliefs / prior[:, None], 0.0)
        rows += [row - np.exp(epsilon) * np.array(inside) for row in lift]
        rows += [np.exp(-epsilon) * np.array(inside) - row for row in lift]
    return np.array([row for row in rows if (row > 1e-12).any()])


@pytest.fixture(params=["prices of the mixture", "prices of a relaxed mixture"])
def _prices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tableaus of touched rows alone, and proofs of either kind."""
    monkeypatch.setattr("discreet.designers.posteriors.simplex.LONG_UP_TO", 0)
    if request.param == "prices of a relaxed mixture":
        for name, value in (("WINDOW", 0.0), ("SMALL", 0.0), ("SHRINKING", 1e-9)):
            monkeypatch.setattr(f"{PROVER}.{name}", value)


@pytest.mark.usefixtures("_prices")
@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_ldp_with_many_sensitive_values(seed: int, epsilon: float) -> None:
    cells = np.random.default_rng(seed).random((7, 4))
    cells /= cells.sum()
    result = design(Joint.from_array(cells), LDP(epsilon))
    best = vertices.best_information(cells, {"name": "ldp", "epsilon": epsilon})
    assert result.mutual_information == pytest.approx(best, abs=SAME)
    assert result.bound is not None
    assert result.bound * vertices.entropy(cells.sum(axis=0)) >= best - SAME
    assert result.status == "optimal"


@pytest.mark.usefixtures("_prices")
@pytest.mark.parametrize("epsilon", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_srlip_with_two_attributes(seed: int, epsilon: float) -> None:
    cells = np.random.default_rng(seed).random((3, 4))
    cells /= cells.sum()
    result = design(Joint.from_array(cells, useful=[*np.ndindex(2, 2)]), SRLIP(epsilon))
    best = vertices.best_mixture(vertices.vertices(slice_rows(cells, (2, 2), epsilon)), cells.sum(axis=0))
    assert result.mutual_information == pytest.approx(best, abs=SAME)
    assert result.status == "optimal"
