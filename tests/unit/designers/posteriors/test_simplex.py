"""The batched simplex against scipy's solver: same values, same verdicts, proofs that hold by weak duality."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet import ALIP, LDP, LIP, SRLIP, Joint, L1Lift, MaxLift, PerfectPrivacy
from discreet.designers.posteriors.short_tableau import PLACES
from discreet.designers.posteriors.simplex import Programmes
from discreet.notions import Notion
from discreet.proof.boxes import Evaluator
from discreet.proof.polytope import Polytope

# Values of programmes with costs of size one; both solvers stop within 1e-9 of feasibility.
SAME = 1e-8

COUNT = 60

CASES = [
    (5, 17, ALIP.split(0.25, 0.5)),
    (4, 9, LIP(1.0)),
    (4, 9, LDP(0.7)),
    (2, 5, LDP(0.5)),
    (2, 6, LIP(0.4)),
    (4, 9, MaxLift(0.2)),
    (3, 9, PerfectPrivacy()),
    (4, 9, L1Lift(eps_upper=0.2)),
    (6, 70, LIP(0.3)),
    (8, 12, LDP(0.4)),
    (3, 12, SRLIP(0.4)),
]

#: Rows up to which tableaus have all of them: none, and more than there are.
SHORT, LONG = 0, 10**6


def boxes(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    lower = rng.random((COUNT, n)) * 0.4 * (rng.random((COUNT, n)) < 0.08)
    upper = np.maximum(lower, np.where(rng.random((COUNT, n)) < 0.4, 0.4 * rng.random((COUNT, n)), 1.0))
    return rng.standard_normal((COUNT, n)), lower, upper


def expected(polytope: Polytope, cost: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> float | None:
    extra = polytope.rows.shape[1] - polytope.n_useful
    rows, equal = polytope.rows, polytope.equal
    total = np.concatenate([np.ones(polytope.n_useful), np.zeros(extra)])
    result = linprog(
        np.concatenate([cost, np.zeros(extra)]),
        A_ub=rows[~equal] if (~equal).any() else None,
        b_ub=np.zeros((~equal).sum()) if (~equal).any() else None,
        A_eq=np.vstack([rows[equal], total]),
        b_eq=np.append(np.zeros(equal.sum()), 1.0),
        bounds=[*zip(lower, upper), *[(0, None)] * extra],
    )
    return float(result.fun) if result.status == 0 else None


def polytope_of(n_sensitive: int, n_useful: int, notion: Notion) -> Polytope:
    cells = Joint.random(n_sensitive, n_useful, seed=3).probabilities
    useful = [*np.ndindex(2, 2, n_useful // 4)] if isinstance(notion, SRLIP) else [*range(n_useful)]
    return Polytope.of(Joint.from_array(cells, useful=useful), notion)


@pytest.mark.parametrize("long_up_to", [SHORT, LONG], ids=["short", "long"])
@pytest.mark.parametrize(("n_sensitive", "n_useful", "notion"), CASES, ids=str)
def test_programmes_have_the_values_that_scipy_finds(
    n_sensitive: int, n_useful: int, notion: Notion, long_up_to: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.designers.posteriors.simplex.LONG_UP_TO", long_up_to)
    polytope = polytope_of(n_sensitive, n_useful, notion)
    programmes, evaluator = Programmes(polytope), Evaluator(polytope)
    cost, lower, upper = boxes(n_useful)
    cold = programmes.minimise(cost, lower, upper)
    warm = programmes.minimise(cost, lower, upper, np.roll(cold.bases, 1, axis=0))
    proven = evaluator.least(lower, upper, evaluator.usable(cold.multipliers), cost)
    ray = evaluator.usable(cold.multipliers) + 1e6 * evaluator.usable(cold.rays)
    seen = set()
    for k in range(COUNT):
        value = expected(polytope, cost[k], lower[k], upper[k])
        seen.add(value is None)
        if value is None:
            assert cold.is_empty[k]
            assert warm.is_empty[k]
            one = slice(k, k + 1)
            assert evaluator.least(lower[one], upper[one], ray[one], cost[one])[0] > 100
            continue
        for found in (cold, warm):
            assert found.is_solved[k]
            assert cost[k] @ found.points[k] == pytest.approx(value, abs=SAME)
            assert found.points[k].sum() == pytest.approx(1)
        # The multipliers prove the value from below, without trusting the solver.
        assert value - SAME <= proven[k] <= value + SAME
    assert False in seen


def test_a_box_without_room_is_empty() -> None:
    polytope = Polytope.of(Joint.random(3, 4, seed=0), LIP(0.5))
    found = Programmes(polytope).minimise(np.ones((1, 4)), np.zeros((1, 4)), np.full((1, 4), 0.2))
    assert found.is_empty.all()


def test_a_short_tableau_grows_with_the_rows_that_are_touched() -> None:
    """More rows are tight at these minima than there were places at first; all of them are found."""
    polytope = polytope_of(12, 30, LDP(0.2))
    cost = np.random.default_rng(5).standard_normal((20, 30))
    found = Programmes(polytope).minimise(cost)
    assert found.is_solved.all()
    assert (np.count_nonzero(found.points > SAME, axis=1) > PLACES).any()
    assert polytope.exceeded(found.points).max() <= SAME
    values = [expected(polytope, line, np.zeros(30), np.ones(30)) for line in cost]
    assert (cost * found.points).sum(axis=1) == pytest.approx(values, abs=SAME)


def test_large_batches_are_solved_in_parts() -> None:
    polytope = Polytope.of(Joint.random(3, 8, seed=0), LIP(0.3))
    programmes = Programmes(polytope)
    cost = np.random.default_rng(0).standard_normal((3 * programmes.batch + 1, 8))
    whole = programmes.minimise(cost)
    assert whole.is_solved.all()
    alone = programmes.minimise(cost[-1:])
    assert alone.points[0] == pytest.approx(whole.points[-1])
    assert programmes.work > len(cost) * 8
