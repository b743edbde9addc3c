"""Limits by the chain rule: programmes over groups, and proofs that nobody takes for more than they are."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet import LIP, SRLIP, Joint, certify, design, verify
from discreet.certificate import checker
from discreet.certificate.record import sealed
from discreet.designers.posteriors.chained import chained
from discreet.designers.posteriors.generation import Budget, ColumnGeneration
from discreet.designers.posteriors.problem import Problem
from discreet.designers.posteriors.simplex import Programmes
from discreet.proof.boxes import Evaluator, Proof
from discreet.proof.polytope import Polytope
from discreet.utilities import Accuracy, Information

SAME = 1e-7


def joint_of(sizes: tuple[int, ...], seed: int = 0) -> Joint:
    counts = np.random.default_rng(seed).integers(1, 60, (3, int(np.prod(sizes))))
    return Joint.from_counts(counts, useful=[*np.ndindex(*sizes)])


def proven(joint: Joint, epsilon: float, chain: int, work: float = 1e7) -> Proof:
    problem = Problem(joint, SRLIP(epsilon), Information())
    known = ColumnGeneration(problem.polytope, Information(), *problem.start(), 0)
    return chained(known, problem.chains[chain], Information(), 0, Budget(None), work)


def test_groups_are_by_the_attribute_of_most_values_and_by_all_others() -> None:
    few, many = Problem(joint_of((2, 4, 3)), SRLIP(0.5), Information()).chains
    codes = np.array([*np.ndindex(2, 4, 3)])
    assert few.tolist() == codes[:, 1].tolist()
    assert many.tolist() == (3 * codes[:, 0] + codes[:, 2]).tolist()


def test_only_promises_inside_of_groups_have_chains() -> None:
    joint = joint_of((2, 3))
    assert len(Problem(joint, SRLIP(0.5), Information()).chains) == 2
    assert not Problem(joint, LIP(0.5), Information()).chains
    assert not Problem(joint, SRLIP(0.5), Accuracy()).chains  # whose costs no chain rule adds up
    assert not Problem(joint, SRLIP(0.0), Information()).chains
    assert not Problem(joint_of((5,)), SRLIP(0.5), Information()).chains


def test_programmes_over_groups_have_the_values_that_scipy_finds() -> None:
    groups = np.array([*np.ndindex(2, 2, 3)])[:, 2]
    polytope = dataclasses.replace(Polytope.of(joint_of((2, 2, 3)), SRLIP(0.4)), groups=groups)
    rng, count = np.random.default_rng(1), 40
    cost, upper = rng.standard_normal((count, 12)), rng.uniform(0.2, 1.0, (count, 3))
    lower = rng.uniform(0.0, 0.5, (count, 3)) * (rng.random((count, 3)) < 0.4)
    lower = np.minimum(lower, upper)
    programmes, evaluator = Programmes(polytope), Evaluator(polytope)
    cold = programmes.minimise(cost, lower, upper)
    warm = programmes.minimise(cost, lower, upper, np.roll(cold.bases, 1, axis=0))
    limits = evaluator.least(lower, upper, evaluator.usable(cold.multipliers), cost)
    sums = (groups == np.arange(3)[:, None]).astype(float)
    solved = 0
    for k in range(count):
        rows, room = np.vstack([polytope.rows, sums, -sums]), [np.zeros(len(polytope.rows)), upper[k], -lower[k]]
        result = linprog(cost[k], A_ub=rows, b_ub=np.concatenate(room), A_eq=np.ones((1, 12)), b_eq=[1.0])
        if result.status != 0:
            assert cold.is_empty[k]
            continue
        solved += 1
        for found in (cold, warm):
            assert cost[k] @ found.points[k] == pytest.approx(result.fun, abs=SAME)
        assert result.fun - SAME <= limits[k] <= result.fun + SAME
    assert solved > count / 3


@pytest.mark.parametrize("chain", [0, 1])
@pytest.mark.parametrize("epsilon", [0.6, 1.0])
def test_limits_lie_below_the_optimum_and_above_what_groups_cost_alone(epsilon: float, chain: int) -> None:
    joint = joint_of((2, 2, 2))
    best = design(joint, SRLIP(epsilon))
    assert best.status == "optimal"
    proof = proven(joint, epsilon, chain)
    cost = Information().prior(joint) * (1 - best.nmi)
    alone = dataclasses.replace(proof, inside=()).check()
    assert alone + 0.01 < proof.limit <= proof.check() <= cost + SAME


def swap_inside(proof: Proof) -> Proof:
    return dataclasses.replace(proof, inside=(*proof.inside[1:], proof.inside[0]))


def drop_inside(proof: Proof) -> Proof:
    return dataclasses.replace(proof, inside=proof.inside[1:])


def forget_inside(proof: Proof) -> Proof:
    return dataclasses.replace(proof, inside=(None, *proof.inside[1:]))


def forget_groups(proof: Proof) -> Proof:
    return dataclasses.replace(proof, polytope=dataclasses.replace(proof.polytope, groups=None), prices=None)


def loosen_inside(proof: Proof) -> Proof:
    first = proof.inside[0]
    assert first is not None
    rows = np.where(first.polytope.rows > 0, 2 * first.polytope.rows, first.polytope.rows)
    other = dataclasses.replace(first, polytope=dataclasses.replace(first.polytope, rows=rows))
    return dataclasses.replace(proof, inside=(other, *proof.inside[1:]))


@pytest.mark.parametrize("change", [swap_inside, drop_inside, forget_inside, forget_groups, loosen_inside])
def test_a_proof_that_was_changed_proves_less_than_it_says(change: Callable[[Proof], Proof]) -> None:
    proof = proven(joint_of((2, 2, 3)), 0.3, 0)
    assert proof.check() >= proof.limit
    assert change(proof).check() < proof.limit


@pytest.mark.parametrize("chain", [0, 1])
def test_the_checker_proves_the_same_limit(chain: int) -> None:
    joint = joint_of((2, 2, 3))
    proof = proven(joint, 0.3, chain)
    certificate = certify(design(joint, SRLIP(0.3), "max-truth"), proof=proof)
    expected = 1 - proof.limit / Information().prior(joint)
    assert float(certificate.to_dict()["bound"]) == pytest.approx(expected, abs=1e-6)
    assert certificate.to_dict()["bound_evidence"] == "proof"
    assert verify(certificate)


def move_symbol(proof: dict[str, Any]) -> None:
    proof["groups"][0] = 1


def join_groups(proof: dict[str, Any]) -> None:
    proof["groups"] = [0] * len(proof["groups"])


def many_groups(proof: dict[str, Any]) -> None:
    proof["groups"][0] = 10**12


def rows_of_all(proof: dict[str, Any]) -> None:
    proof["inside"][0]["rows"] = [[*row[:3], 0] for row in proof["inside"][0]["rows"]]


def swap_parts(proof: dict[str, Any]) -> None:
    proof["inside"].append(proof["inside"].pop(0))


def repeat_part(proof: dict[str, Any]) -> None:
    proof["inside"].append(proof["inside"][0])


def raise_prices(proof: dict[str, Any]) -> None:
    proof["prices"] = [price + 0.01 * (k % 2) for k, price in enumerate(proof["prices"])]


def number_anew(proof: dict[str, Any]) -> None:
    """Another number for each group: boxes and proofs inside are then about other members than they were made for."""
    proof["groups"] = [(group + 1) % 3 for group in proof["groups"]]


def without_inside(proof: dict[str, Any]) -> None:
    del proof["inside"]


def nested(proof: dict[str, Any]) -> None:
    proof["inside"][0] |= {"groups": [0, 0, 1, 1], "inside": [None, None]}


@pytest.mark.parametrize(
    "change",
    [
        move_symbol, join_groups, many_groups, rows_of_all, swap_parts, repeat_part, raise_prices, without_inside,
        nested, number_anew,
    ],
)  # fmt: skip
def test_the_checker_refuses_what_was_changed(change: Callable[[dict[str, Any]], None]) -> None:
    joint = joint_of((2, 2, 3))
    certificate = certify(design(joint, SRLIP(0.3), "max-truth"), proof=proven(joint, 0.3, 0))
    data = copy.deepcopy(certificate.to_dict())
    assert all(passed is not False for _, passed, _ in checker.check(data))
    change(data["proof"])
    assert not all(passed is not False for _, passed, _ in checker.check(sealed(data)))


def test_a_design_takes_the_limit_of_a_chain_where_boxes_of_symbols_prove_less(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("WORK", 2_000_000), ("SEARCH_WORK", 20_000_000)):
        monkeypatch.setattr(f"discreet.designers.posteriors.optimal.{name}", value)
    joint = joint_of((3, 3, 3))
    result = design(joint, SRLIP(0.3))
    monkeypatch.setattr(Problem, "chains", [])
    without = design(joint, SRLIP(0.3))
    assert isinstance(result.proof, Proof)
    assert result.proof.inside
    assert result.bound is not None
    assert without.bound is not None
    assert result.nmi <= result.bound < without.bound - 0.01
    assert result.proof.check() >= result.proof.limit
