"""Time limits: work in long loops asks whether the time is over, and what it has by then is returned."""

# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable

import numpy as np
import pytest

import discreet as dc
from discreet.designers.merging import opposites, subset_merging
from discreet.designers.merging.subset_merging import partitions
from discreet.designers.posteriors import generation, problem, short_tableau, simplex
from discreet.designers.posteriors.columns import singles
from discreet.designers.posteriors.simplex import Programmes
from discreet.proof.polytope import Polytope


def after_asking(times: int) -> Callable[[], bool]:
    """A clock whose time is over once it has been asked so often."""
    asked = iter(range(10**9))
    return lambda: next(asked) >= times


@pytest.mark.parametrize("n_sensitive", [5, 60])
def test_programmes_stop_when_the_time_is_over(n_sensitive: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a tableau of few rows as in one of many."""
    taken: list[int] = []
    for tableau in (short_tableau.ShortTableau, simplex._Tableau):

        def counted(*given: object, step: Callable[..., None] = tableau._pivot) -> None:
            taken.append(1)
            step(*given)

        monkeypatch.setattr(tableau, "_pivot", counted)
    programmes = Programmes(Polytope.of(dc.Joint.random(n_sensitive, 30), dc.LIP(0.4)))
    costs = np.random.default_rng(0).normal(size=(4, 30))
    assert programmes.has_many_rows == (n_sensitive > 40)
    assert programmes.minimise(costs).is_solved.all()
    assert len(taken) > 2
    taken.clear()
    hasty = programmes.minimise(costs, is_over=after_asking(1))
    assert len(taken) == 2
    assert not hasty.is_solved.all()


def test_opposite_rows_are_found_without_comparing_all_with_all() -> None:
    """LIP has two sides of each value, which are one row of a tableau, unless one of them follows from others."""
    polytope = Polytope.of(dc.Joint.random(60, 25), dc.LIP(0.6))
    first, second, ratio, low = simplex._two_sided(polytope)
    sides = [label[0] for label in polytope.labels]
    values = [label[1] for label in polytope.labels]
    both = {s for s in values if values.count(s) == 2}
    assert len(both) > 10
    assert {values[i] for i, j in zip(first.tolist(), second.tolist()) if j >= 0} == both
    for i, j, r, least in zip(first.tolist(), second.tolist(), ratio.tolist(), low.tolist()):
        if j >= 0:
            assert values[i] == values[j]
            assert sides[i] != sides[j]
            assert polytope.rows[i] + r * polytope.rows[j] == pytest.approx(np.full(25, least))


@pytest.mark.parametrize("limit", [0, 3, 40])
def test_merging_ends_soon_after_the_time_is_over(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By halves: a number of steps that grows with the logarithm of the alphabet, and blocks that are allowed."""
    joint, notion = dc.Joint.random(12, 300, seed=1), dc.LDP(0.7)
    monkeypatch.setattr(subset_merging, "MERGED_AT_ONCE", 0)
    looked: list[int] = []
    measured = subset_merging.MergingBatch.measured

    def counted(self: subset_merging.MergingBatch, *given: object) -> object:
        looked.append(1)
        return measured(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(subset_merging.MergingBatch, "measured", counted)
    blocks = partitions([joint], [notion], is_over=after_asking(limit))[0]
    assert len(looked) <= 2 * limit + 40
    assert notion.holds(joint, dc.Mechanism.from_blocks(joint, blocks))
    assert len(np.unique(blocks)) > 5


def test_short_merging_is_never_cut() -> None:
    """What takes no time is the same whatever the limit: no design is below it."""
    joint = dc.Joint.random(4, 50)
    whole, hasty = (partitions([joint], [dc.LIP(0.3)], is_over=clock)[0] for clock in (lambda: False, lambda: True))
    assert np.array_equal(whole, hasty)


def test_opposites_are_paired_as_they_come_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    polytope = Polytope.of(dc.Joint.random(10, 200), dc.LIP(0.4))
    monkeypatch.setattr(opposites._Blocks, "look", None)  # nobody looks
    blocks = opposites.opposite_blocks(polytope.own_rows, polytope.p_useful, is_over=lambda: True)
    for block in np.unique(blocks).tolist():
        assert (polytope.own_rows @ np.where(blocks == block, polytope.p_useful, 0.0) <= 0).all()
    assert len(np.unique(blocks)) > 5


def test_no_tree_is_made_of_points_in_many_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would compare all with all; the same neighbours come of a product."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 25))
    distance, near = opposites._nearest(points, -points, 6)
    every = np.linalg.norm(points[None] + points[:, None], axis=2)
    assert np.array_equal(near, np.argsort(every, axis=1, kind="stable")[:, :6])
    assert distance == pytest.approx(np.sort(every, axis=1)[:, :6])


def test_symbols_alone_under_bounds_on_means_need_no_programme(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least auxiliary variables decide."""
    joint = dc.Joint.random(4, 30, seed=5)
    polytope = Polytope.of(joint, dc.L1Lift(eps_upper=0.3))
    assert polytope.is_lifted
    monkeypatch.setattr(Programmes, "minimise", None)
    assert singles(polytope).tolist() == np.flatnonzero(dc.L1Lift(eps_upper=0.3).allowed(joint)).tolist()
    assert 0 < len(singles(polytope)) < 30


@pytest.mark.parametrize(
    "notion",
    [dc.LDP(0.5), dc.LIP(0.5), dc.MaxLift(0.3), dc.L1Lift(eps_upper=0.2), dc.Chi2Lift(eps_upper=0.2), dc.LDP(0)],
    ids=str,
)
@pytest.mark.parametrize("method", ["optimal", "auto"])
def test_a_design_without_any_time_is_private_and_has_a_true_bound(notion: dc.Notion, method: str) -> None:
    """Whatever the work, it is cut short everywhere: the clock of every budget is at its end from the start."""
    joint = dc.Joint.random(60, 80, seed=2)
    found = dc.design(joint, notion, method, time_limit=1e-9)
    assert notion.holds(joint, found.mechanism)
    assert found.bound is None or found.bound >= found.nmi - 1e-12
    assert found.proof is None or found.proof.check() >= found.proof.limit


def test_descents_ask_for_the_time_between_their_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    made = problem.Problem(dc.Joint.random(60, 20), dc.LDP(1.0), dc.utilities.Information())
    columns = generation.ColumnGeneration(made.polytope, made.costs, *made.start(), 0)
    solved: list[int] = []
    minimise = columns.pricing.minimise

    def counted(*given: object, **named: object) -> object:
        solved.append(1)
        return minimise(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(columns.pricing, "minimise", counted)
    columns.descend(np.eye(20), np.zeros(20), generation.Budget(None))
    assert len(solved) > 2
    solved.clear()
    columns.descend(np.eye(20), np.zeros(20), generation.Budget(0.0))
    assert len(solved) == 1


def test_equations_of_perfect_privacy_are_made_where_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    joint = dc.Joint.random(20, 40)
    monkeypatch.setattr(problem.Problem, "_independent", None)  # whoever asks for them fails
    found = dc.design(joint, dc.PerfectPrivacy(), time_limit=0.001)
    assert found.bound == 1
    with pytest.raises(AttributeError):
        dc.design(joint, dc.PerfectPrivacy(), time_limit=60)
