"""A design that runs out of time keeps the best that it had, and compares it with all that takes no time."""

# SPDX-License-Identifier: Apache-2.0
from types import SimpleNamespace
from typing import Any

import highspy
import numpy as np
import pytest

import discreet as dc
from discreet.designers import automatic
from discreet.designers.outcome import Outcome
from discreet.designers.posteriors import gathered, lp, realise
from discreet.designers.posteriors.generation import Budget, ColumnGeneration
from discreet.designers.posteriors.levels import FEWEST_CELLS, Levels, cells_for
from discreet.designers.posteriors.problem import Problem


def generation_of(joint: dc.Joint, notion: dc.Notion) -> ColumnGeneration:
    problem = Problem(joint, notion, dc.utilities.Information())
    return ColumnGeneration(problem.polytope, problem.costs, *problem.start(), 0)


def test_a_mixture_that_was_found_counts_before_a_solver_has_time_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    joint, notion = dc.Joint.random(4, 12, seed=1), dc.LIP(0.6)
    known = generation_of(joint, notion)
    found = dc.design(joint, notion)
    cells = (joint.p_useful[:, None] * found.mechanism.channel).T
    weights = cells.sum(axis=1)
    monkeypatch.setattr(known.master, "solve", lambda seconds=0.0: None)
    before = known.value
    known.take(cells / weights[:, None], weights)
    assert not known.solve()
    assert known.value < before - 0.1
    assert known.weights @ known.columns.dense(np.arange(len(known.columns)), 12) == pytest.approx(joint.p_useful)
    better = known.value
    known.take(joint.p_useful[None], np.ones(1))  # nothing kept, which is worse
    assert known.value == better


class _Hurried:
    """A solver whose time is over, with what it has by then."""

    def __init__(self, weights: list[float], target: list[float]) -> None:
        self.solution = SimpleNamespace(col_value=weights, row_value=target, row_dual=[0.0] * len(target))

    def getModelStatus(self) -> Any:
        return highspy.HighsModelStatus.kTimeLimit

    def getSolution(self) -> SimpleNamespace:
        return self.solution

    def getRunTime(self) -> float:
        return 0.0

    def setOptionValue(self, *given: object) -> None: ...

    def run(self) -> None: ...


@pytest.mark.parametrize(("target", "is_right"), [([0.5, 0.5], True), ([0.5, 0.4], False)])
def test_what_a_solver_has_when_its_time_is_over_is_kept_where_it_is_a_mixture(
    target: list[float], is_right: bool
) -> None:
    master = lp.MasterLP(np.array([0.5, 0.5]))
    every = np.arange(2)
    master.add(np.zeros(2), every, every, np.ones(2))
    master._solver = _Hurried([0.5, 0.5], target)
    assert master.solve(1.0) is None
    assert (master.reached is not None) == is_right
    if is_right:
        assert master.reached == pytest.approx([0.5, 0.5])


def test_no_design_in_a_hurry_is_below_a_response_that_takes_no_time() -> None:
    joint, notion = dc.Joint.from_counts([[60, 40, 5], [40, 60, 5], [50, 50, 9]]), dc.LDP(0.2)
    quick = dc.design(joint, notion, "tight-rr").nmi
    assert quick > dc.design(joint, notion, "subset-merging").nmi
    assert dc.design(joint, notion, time_limit=1e-9).nmi >= quick - 1e-12


def test_the_fewest_cells_come_first_whatever_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a longer search has what a shorter one finds."""
    problem = Problem(dc.Joint.random(4, 200), dc.LIP(0.5), dc.utilities.Information())
    tried: list[int] = []
    monkeypatch.setattr(Levels, "run", lambda self, number, *given: tried.append(number))
    for seconds in (0.1, 1000.0):
        tried.clear()
        found = list(gathered.quick_mixtures(problem, problem.costs, 0, Budget(seconds)))  # type: ignore[arg-type]
        assert tried[0] == FEWEST_CELLS
        assert len(found) == len(tried)
    assert tried == [FEWEST_CELLS, cells_for(299.0)]


def test_auto_leaves_time_for_what_is_simpler(monkeypatch: pytest.MonkeyPatch) -> None:
    joint, given = dc.Joint.random(3, 20), []

    def hurried(joint: dc.Joint, notion: dc.Notion, *, time_limit: float, **options: object) -> Outcome:
        given.append(time_limit)
        return Outcome(dc.Mechanism.from_blocks(joint, [0] * joint.n_useful))

    monkeypatch.setattr(automatic, "optimal", hurried)
    found = dc.design(joint, dc.LIP(0.3), "auto", time_limit=20)
    assert given[0] == pytest.approx(20 * (1 - automatic.SIMPLER_SHARE), abs=0.5)
    assert found.nmi >= dc.design(joint, dc.LIP(0.3), "subset-response").nmi - 1e-9


@pytest.mark.parametrize("count", [90, 120, 150])
def test_weights_of_large_mixtures_are_exact(count: int) -> None:
    rng = np.random.default_rng(count)
    points, weights = rng.dirichlet(np.full(120, 0.1), count), rng.dirichlet(np.ones(count))
    target = weights @ points
    found = realise.mixture_weights(points, weights * (1 + 1e-9 * rng.normal(size=count)), target)
    assert np.abs(found @ points - target).max() <= 1e-15
    assert found == pytest.approx(weights, abs=1e-7)
