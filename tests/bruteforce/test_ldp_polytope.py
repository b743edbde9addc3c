r"""The optimal LDP design against all vertices of the polytope of channels of LTS20, Theorem 2.

Section IV of LTS20 writes a protocol as the matrix of Q(y | x), a = |X| inputs and b outputs. It keeps epsilon-LDP with
respect to S iff (5) its sums over y are one, (6) no entry is negative and (7) for all s, s' and y

.. math:: \sum_x Q(y|x) P(x|s) \le e^\epsilon \sum_x Q(y|x) P(x|s').

These are a polytope Gamma of dimension a(b - 1). Theorem 2 says that b = a outputs suffice and that, I(X;Y) being
convex in Q, the best protocol is a vertex of Gamma: list the vertices, keep the best. `design` never builds Gamma: it
works with posteriors, of dimension a - 1. This file lists the vertices, by code that uses nothing of discreet.

How they are listed. Rows (5) and (6) alone leave all channels, whose vertices are the b^a functions from X to Y. Each
row (7) then cuts the polytope in turn (the double description method of Motzkin): vertices beyond the row go, and
each edge that crosses it leaves one vertex where it does. Two vertices share an edge iff no third vertex is tight in
every row in which both are. It is exhaustive, and takes .05 s at a = 4 and c = |S| = 2 (12 dimensions, up to 1,324
vertices), two seconds at c = 3 (10,444) and at a = 5, c = 2 (20 dimensions, 15,665), the size of Figure 3. Two more
tests compare the list with the intersections of all sets of rows and, where there are too many sets, with linear
programmes in random directions.

A column of Gamma may be zero, so b = a includes all smaller numbers of outputs; more than a bring nothing, as Theorem 2
says and a test confirms for b = a + 1.
"""

from __future__ import annotations

import math
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import entr, rel_entr

import discreet as dc

# In units of H(X): `design` ends in a linear programme solved up to 1e-9 a row.
SAME = 1e-7
# A vertex within ON_ROW of a row is on it; none may lie between ON_ROW and OFF_ROW, where rounding could decide.
ON_ROW, OFF_ROW = 1e-12, 1e-9
# HiGHS keeps its rows up to 1e-7.
ROUNDING = 1e-7

BUDGETS = (0.25, 0.5, 1.0)


def ldp_rows(joint: np.ndarray, epsilon: float) -> list[np.ndarray]:
    """Vectors r such that (7) is r . Q(y | .) <= 0 at every y."""
    given = joint / joint.sum(axis=1, keepdims=True)
    return [given[s] - math.exp(epsilon) * given[t] for s, t in permutations(range(len(given)), 2)]


def vertices(joint: np.ndarray, epsilon: float, outputs: int) -> np.ndarray:
    """All vertices of Gamma (LTS20, Section IV), as an array (vertex, x, y)."""
    inputs = joint.shape[1]
    points = np.eye(outputs)[list(product(range(outputs), repeat=inputs))]
    # Bit i of a vertex's number: it is tight in row i; first the entries that are zero, then the rows (7).
    bits = np.uint64(1) << np.arange(inputs * outputs, dtype=np.uint64)
    tight = ((points.reshape(len(points), -1) == 0) * bits).sum(axis=1, dtype=np.uint64)
    for i, (y, row) in enumerate(product(range(outputs), ldp_rows(joint, epsilon)), start=inputs * outputs):
        value = points[:, :, y] @ row
        on = np.abs(value) <= ON_ROW
        assert on[np.abs(value) < OFF_ROW].all()
        bit = np.uint64(1 << i)
        tight[on] |= bit
        found, found_tight = [points[on | (value < 0)]], [tight[on | (value < 0)]]
        for outside in np.flatnonzero(~on & (value > 0)):
            # On an edge at least dimension - 1 rows are tight.
            close = np.flatnonzero(np.bitwise_count(tight & tight[outside]) >= inputs * (outputs - 1) - 1)
            inside = close[~on[close] & (value[close] < 0)]
            common = tight[inside] & tight[outside]
            is_edge = ((tight[close] & common[:, None]) == common[:, None]).sum(axis=1) == 2
            inside = inside[is_edge]
            share = (value[outside] / (value[outside] - value[inside]))[:, None, None]
            found.append(share * points[inside] + (1 - share) * points[outside])
            found_tight.append(common[is_edge] | bit)
        points, tight = np.concatenate(found), np.concatenate(found_tight)
    return points


def information(joint: np.ndarray, channels: np.ndarray) -> np.ndarray:
    """I(X;Y) in nats of each channel in an array (..., x, y)."""
    p_x = joint.sum(axis=0)
    p_xy = p_x[:, None] * channels
    return rel_entr(p_xy, p_x[:, None] * p_xy.sum(axis=-2, keepdims=True)).sum(axis=(-2, -1))


def best_information(joint: np.ndarray, epsilon: float, outputs: int | None = None) -> float:
    """Theorem 2 of LTS20: the largest I(X;Y) at a vertex of Gamma, with b = a outputs unless told."""
    return information(joint, vertices(joint, epsilon, outputs or joint.shape[1])).max()


def inequalities(joint: np.ndarray, epsilon: float) -> np.ndarray:
    """Rows (6) and (7) for b = a, written A Q <= 0 on the entries of Q in order (x, y)."""
    size = joint.shape[1]
    privacy = [np.outer(row, np.eye(size)[y]).ravel() for y, row in product(range(size), ldp_rows(joint, epsilon))]
    return np.vstack([-np.eye(size**2), *privacy])


def active_set_vertices(joint: np.ndarray, epsilon: float) -> np.ndarray:
    """The vertices of Gamma for b = a by their definition: feasible points that a(a - 1) tight rows determine."""
    size = joint.shape[1]
    rows, sums = inequalities(joint, epsilon), np.kron(np.eye(size), np.ones(size))
    sets = np.array(list(combinations(range(len(rows)), size * (size - 1))))
    systems = np.concatenate([np.broadcast_to(sums, (len(sets), *sums.shape)), rows[sets]], axis=1)
    systems = systems[np.abs(np.linalg.det(systems)) > OFF_ROW]
    right = np.concatenate([np.ones(size), np.zeros(size * (size - 1))])
    points = np.linalg.solve(systems, np.broadcast_to(right[:, None], (len(systems), size**2, 1)))[..., 0]
    points = points[(points @ rows.T <= OFF_ROW).all(axis=1)]
    distinct = np.unique(points.round(6) + 0.0, axis=0)
    return distinct.reshape(-1, size, size)


JOINTS = {
    **{f"{c} x 3, seed {seed}": dc.Joint.random(c, 3, seed=seed) for c in (2, 3) for seed in range(4)},
    "4 x 3, seed 0": dc.Joint.random(4, 3, seed=0),
    **{f"2 x 4, seed {seed}": dc.Joint.random(2, 4, seed=seed) for seed in range(5)},
    **{f"2 x 4, Jeffreys, seed {seed}": dc.Joint.random(2, 4, seed=seed, concentration=0.5) for seed in range(2)},
    "zero cells and symbols that tell nothing": dc.Joint.from_counts([[2, 1, 0, 3], [0, 1, 2, 3]]),
}


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
@pytest.mark.parametrize("epsilon", BUDGETS)
def test_the_optimal_ldp_design_is_as_good_as_the_best_vertex(joint: dc.Joint, epsilon: float) -> None:
    check_against_vertices(joint, epsilon)


@pytest.mark.parametrize(("c", "a", "epsilon"), [(3, 4, 0.5), (2, 5, 1.0)])
def test_the_optimal_ldp_design_is_as_good_as_the_best_of_many_vertices(c: int, a: int, epsilon: float) -> None:
    """The second is of the size of Figure 3 of LTS20, 20 dimensions (133 s in their Matlab at epsilon .5)."""
    check_against_vertices(dc.Joint.random(c, a, seed=1), epsilon)


def check_against_vertices(joint: dc.Joint, epsilon: float) -> None:
    masses = np.array(joint.probabilities)
    expected = best_information(masses, epsilon)
    found = dc.design(joint, dc.LDP(epsilon))
    entropy = entr(masses.sum(axis=0)).sum()
    assert found.method == "optimal"
    assert found.mutual_information == pytest.approx(expected, abs=SAME * entropy)
    assert information(masses, np.array(found.mechanism.channel)) == pytest.approx(expected, abs=SAME * entropy)


@pytest.mark.parametrize(("c", "a"), [(2, 3), (3, 3), (2, 4)])
def test_the_comparison_notices_a_budget_wrong_by_one_in_a_thousand(c: int, a: int) -> None:
    joint = dc.Joint.random(c, a, seed=1)
    masses = np.array(joint.probabilities)
    for epsilon, factor in product(BUDGETS, (0.999, 1.001)):
        found = dc.design(joint, dc.LDP(epsilon)).mutual_information
        assert found != pytest.approx(best_information(masses, factor * epsilon), abs=100 * SAME)


@pytest.mark.parametrize(("c", "a"), [(2, 3), (3, 3), (2, 4)])
def test_an_output_more_than_inputs_brings_nothing(c: int, a: int) -> None:
    """Theorem 2.1 of LTS20: one can take b = a."""
    masses = np.array(dc.Joint.random(c, a, seed=2).probabilities)
    for epsilon in BUDGETS:
        with_one_more = best_information(masses, epsilon, outputs=a + 1)
        assert best_information(masses, epsilon) == pytest.approx(with_one_more, abs=ON_ROW)


@pytest.mark.parametrize(("c", "seed", "epsilon"), [(2, 0, 0.25), (2, 1, 0.5), (2, 2, 1.0), (3, 3, 0.5)])
def test_cutting_finds_the_points_that_sets_of_tight_rows_determine(c: int, seed: int, epsilon: float) -> None:
    masses = np.array(dc.Joint.random(c, 3, seed=seed).probabilities)
    cut, expected = vertices(masses, epsilon, 3), active_set_vertices(masses, epsilon)
    assert len(cut) == len(expected)
    distance = np.abs(cut[:, None] - expected).max(axis=(2, 3))
    assert distance.min(axis=0).max() < 1e-6  # the rounding of active_set_vertices
    assert distance.min(axis=1).max() < 1e-6


@pytest.mark.parametrize(("c", "epsilon"), [(2, 0.25), (2, 1.0), (3, 1.0)])
def test_cutting_misses_no_direction_at_four_inputs(c: int, epsilon: float) -> None:
    """The farthest vertex in any direction is as far as a linear programme over Gamma gets, and all keep its rows."""
    masses = np.array(dc.Joint.random(c, 4, seed=1).probabilities)
    points, rows = vertices(masses, epsilon, 4).reshape(-1, 16), inequalities(masses, epsilon)
    assert (points @ rows.T).max() < OFF_ROW
    sums = np.kron(np.eye(4), np.ones(4))
    for direction in np.random.default_rng(0).normal(size=(200, 16)):
        farthest = linprog(-direction, rows, np.zeros(len(rows)), sums, np.ones(4), bounds=(None, None))
        assert (points @ direction).max() == pytest.approx(-farthest.fun, abs=ROUNDING)
