"""Limits by the chain rule are the sum of two optima over all vertices: of groups, and inside of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet import SRLIP, Joint
from discreet.designers.posteriors.chained import chained
from discreet.designers.posteriors.generation import Budget, ColumnGeneration
from discreet.proof.polytope import Polytope
from discreet.utilities import Information
from tests.bruteforce import vertices
from tests.bruteforce.test_many_rows import slice_rows

#: Nats.
SAME = 1e-6

#: By the first of two attributes, and by the second.
GROUPS = [np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])]


def least_cost(points: np.ndarray, p: np.ndarray, groups: np.ndarray) -> float:
    """The least H(G | Y) of mixtures of posteriors that average to p."""
    costs = [vertices.entropy(np.bincount(groups, point)) for point in points]
    solved = linprog(costs, A_eq=points.T, b_eq=p, bounds=(0, None), method="highs-ds")
    assert solved.status == 0
    return float(solved.fun)


@pytest.mark.parametrize("groups", GROUPS, ids=["first", "second"])
@pytest.mark.parametrize("epsilon", [0.1, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_chain_proves_what_its_parts_cost_at_least(seed: int, epsilon: float, groups: np.ndarray) -> None:
    cells = np.random.default_rng(seed).random((3, 4))
    cells /= cells.sum()
    p = cells.sum(axis=0)
    points = vertices.vertices(slice_rows(cells, (2, 2), epsilon))
    parts = [least_cost(points, p, groups)]
    for group in range(2):
        inside = cells[:, groups == group] / cells[:, groups == group].sum()
        rows = slice_rows(inside, (2,), epsilon)
        found = vertices.vertices(rows) if len(rows) else np.eye(2)
        parts.append(p[groups == group].sum() * least_cost(found, inside.sum(axis=0), np.arange(2)))

    polytope = Polytope.of(Joint.from_array(cells, useful=[*np.ndindex(2, 2)]), SRLIP(epsilon))
    known = ColumnGeneration(polytope, Information(), polytope.p_useful[None], np.ones(1), 0)
    proof = chained(known, groups, Information(), 0, Budget(None), 1e8)
    assert proof.limit == pytest.approx(sum(parts), abs=SAME)
    assert proof.limit <= proof.check() <= sum(parts) + SAME
    assert proof.limit <= least_cost(points, p, np.arange(4)) + SAME
