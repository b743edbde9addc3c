"""A notion, and a kind of bound, written outside the package, work wherever those of the package do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest

import discreet as dc
from discreet import Joint, Notion
from discreet.errors import InvalidNotionError, UnsupportedNotionError
from discreet.notions import Bound, LargestLift, exact, from_dict
from discreet.reporting.audit import audit_summary
from discreet.testing import awkward_joint


@pytest.fixture(scope="module")
def outside() -> Iterator[ModuleType]:
    """The notions of `outside`, registered for these tests only."""
    before = dict(Notion.registry)
    from tests.unit.notions import outside as module

    for made in (module.SurenessAndDistance, module.AllButOne, module.TCloseness):
        Notion.registry[made.name] = made
    yield module
    Notion.registry.clear()
    Notion.registry.update(before)


def made(outside: ModuleType, epsilon: float) -> list[Notion]:
    both = outside.SurenessAndDistance(epsilon, 0.6 * epsilon)
    return [both, outside.AllButOne(0.2 * epsilon), outside.TCloseness(epsilon)]


@pytest.fixture
def joint() -> Joint:
    return Joint.from_counts([[30, 15, 5, 8, 20], [10, 15, 25, 9, 20], [4, 2, 9, 20, 12]], useful=list("abcde"))


def test_they_are_decided_exactly_and_by_their_own_numbers(outside: ModuleType) -> None:
    for seed in range(60):
        joint = awkward_joint(seed)
        for notion in made(outside, 0.3):
            allowed = notion.allowed(joint)
            assert (allowed == exact.keeps(joint.masses, notion.bounds)).all()
            assert notion.holds(joint) == allowed.all() == (notion.slack(joint) >= 0)
        assert outside.TCloseness(1.0).slack(joint) == pytest.approx(1 - math.log1p(outside.worst_variation(joint)))


@pytest.mark.parametrize("method", ["subset-merging", "watchdog", "auto", "optimal"])
def test_methods_serve_them(outside: ModuleType, joint: Joint, method: str) -> None:
    for notion in made(outside, 0.2):
        if method == "optimal" and not notion.is_polyhedral:
            with pytest.raises(UnsupportedNotionError, match="does not serve AllButOne"):
                dc.design(joint, notion, method)
            with pytest.raises(UnsupportedNotionError, match="the second largest lift"):
                notion.rows(joint)
            continue
        design = dc.design(joint, notion, method)
        assert notion.holds(joint, design.mechanism)
        assert 0 < design.nmi < 1
        if method in ("auto", "optimal") and notion.is_polyhedral:
            assert design.status == "optimal"
            assert design.evidence == "checkable"
            assert design.nmi >= dc.design(joint, notion, "subset-merging").nmi


def test_two_linear_bounds_hold_together(outside: ModuleType, joint: Joint) -> None:
    """The optimum under both is at most that under either, and that of one where the other asks for nothing."""
    lift, distance = dc.MaxLift(0.3), dc.L1Lift(eps_upper=0.2)
    both = dc.design(joint, outside.SurenessAndDistance(0.3, 0.2)).nmi
    alone = [dc.design(joint, notion).nmi for notion in (lift, distance)]
    assert both < min(alone) - 1e-4
    assert dc.design(joint, outside.SurenessAndDistance(0.3, 5.0)).nmi == pytest.approx(alone[0], abs=1e-6)
    assert dc.design(joint, outside.SurenessAndDistance(9.0, 0.2)).nmi == pytest.approx(alone[1], abs=1e-6)


def test_a_polytope_of_an_own_kind_gives_the_same_optimum(outside: ModuleType, joint: Joint) -> None:
    same = dc.L1Lift(eps_upper=math.log1p(2 * math.expm1(0.1)))
    assert dc.design(joint, outside.TCloseness(0.1)).nmi == pytest.approx(dc.design(joint, same).nmi, abs=1e-6)


def test_comparisons_take_them(outside: ModuleType, joint: Joint) -> None:
    for notion in made(outside, 0.2):
        found = dc.compare(joint, notion)
        assert {made.method for made in found.designs} | set(found.skipped) == set(dc.methods(notion)) - {"auto"}
        assert all(notion.holds(joint, made.mechanism) for made in found.designs)


def test_frontier_and_audit_take_them(outside: ModuleType, joint: Joint) -> None:
    for kind in (outside.AllButOne, outside.TCloseness):
        swept = dc.frontier(joint, kind, [0.1, 0.3], ["subset-merging", "auto"])
        kept = [row.nmi for row in swept.rows if row.method == "auto"]
        assert kept == sorted(kept)
    for notion in made(outside, 0.2):
        assert dc.audit(joint, notion).holds is False
        verdict = audit_summary(joint, notion)["verdict"]
        assert verdict["notion"] == notion.to_dict()
        assert verdict["holds"] is False
        assert verdict["violating_symbols"] == int((~notion.allowed(joint)).sum()) > 0


def test_what_they_imply_is_what_their_kinds_know(outside: ModuleType) -> None:
    assert dc.LIP(0.2).implies(outside.TCloseness(0.2))
    assert outside.TCloseness(0.2).implies(outside.TCloseness(0.3))
    assert outside.SurenessAndDistance(0.3, 0.2).implies(dc.MaxLift(0.3))
    assert outside.AllButOne(0.2).implies(outside.AllButOne(0.2))
    assert not outside.AllButOne(0.2).implies(dc.MaxLift(9))
    assert not dc.LIP(0.1).implies(outside.AllButOne(0.1))  # true, but nobody told


def test_they_are_stored_by_name(outside: ModuleType, joint: Joint, tmp_path) -> None:
    for notion in made(outside, 0.2):
        assert from_dict(notion.to_dict()) == notion
        dc.design(joint, notion, "subset-merging").mechanism.to_json(tmp_path / "m.json")
        assert from_dict(dc.Mechanism.from_json(tmp_path / "m.json").notion or {}) == notion


def test_certificates_are_refused(outside: ModuleType, joint: Joint) -> None:
    for notion in made(outside, 0.2):
        design = dc.design(joint, notion, "subset-merging")
        with pytest.raises(UnsupportedNotionError, match="checker of certificates does not know"):
            dc.certify(design)
        with pytest.raises(UnsupportedNotionError, match="checker of certificates does not know"):
            dc.certify(design.mechanism, joint, notion)
        assert dc.certify(design.mechanism, joint, dc.MaxLift(5))["notion"]["name"] == "max-lift"


def test_a_child_of_a_notion_does_not_go_by_its_name(joint: Joint) -> None:
    @dataclass(frozen=True)
    class Lenient(dc.LIP):
        @property
        def bounds(self) -> tuple[Bound, ...]:
            return (Bound(LargestLift(), 9.0),)

    assert Notion.registry["lip"] is dc.LIP
    everything = dc.Mechanism.from_blocks(joint, range(joint.n_useful))
    assert Lenient(0.1).holds(joint, everything)
    with pytest.raises(UnsupportedNotionError, match="checker of certificates does not know"):
        dc.certify(everything, joint, Lenient(0.1))
    with pytest.raises(InvalidNotionError, match="LIP is called 'lip'"):

        @dataclass(frozen=True)
        class Impostor(Notion):
            name: ClassVar[str] = "lip"


def test_a_zero_budget_is_perfect_privacy_or_refused(outside: ModuleType, joint: Joint) -> None:
    with pytest.raises(InvalidNotionError, match="second largest lift"):
        outside.AllButOne(0.0).holds(joint)
    nothing = np.zeros(joint.n_useful, dtype=int)
    assert outside.TCloseness(0.0).holds(joint, dc.Mechanism.from_blocks(joint, nothing))
    assert not outside.TCloseness(0.0).holds(joint)
    assert outside.TCloseness(0.0).implies(dc.PerfectPrivacy())


def test_a_bound_is_checked_when_it_is_made() -> None:
    with pytest.raises(InvalidNotionError, match="kind must be a BoundKind, got str"):
        Bound("max_lift", 1.0)  # type: ignore[arg-type]
    for wrong in (-1.0, math.inf, math.nan, "1"):
        with pytest.raises(InvalidNotionError, match="epsilon"):
            Bound(LargestLift(), wrong)  # type: ignore[arg-type]


def test_half_made_notions_are_told_what_they_lack(joint: Joint) -> None:
    @dataclass(frozen=True)
    class Wider(dc.LIP):
        @property
        def bounds(self) -> tuple[Bound, ...]:
            return (Bound(LargestLift(), 50 * self.epsilon),)

    @dataclass(frozen=True)
    class Nothing(Notion):
        name: ClassVar[str] = "nothing"

    @dataclass(frozen=True)
    class Empty(Nothing):
        name: ClassVar[str] = "empty"
        bounds = ()  # type: ignore[assignment]

    class Plain(Notion):
        name: ClassVar[str] = "plain"
        bounds = (Bound(LargestLift(), 1.0),)  # type: ignore[assignment]

    try:
        for notion, says in (
            (Wider(0.01), "a name of its own"),
            (Nothing(), "needs bounds"),
            (Empty(), "tuple of Bound"),
            (Plain(), "frozen dataclass"),
        ):
            for ask in (dc.design, dc.compare, dc.audit):
                with pytest.raises(InvalidNotionError, match=says):
                    ask(joint, notion)
    finally:
        for name in ("nothing", "empty", "plain"):
            del Notion.registry[name]
    for ask in (dc.design, dc.compare, dc.audit):
        with pytest.raises(dc.errors.InputError, match="takes a Joint"):
            ask([[1, 2]], dc.LIP(1))


def test_a_budget_is_printed_so_that_it_is_the_same_promise() -> None:
    assert str(dc.LIP(0.12345649)) == "LIP(0.12345649)"
    assert str(dc.ALIP(eps_lower=0.1, eps_upper=1 / 3)) == "ALIP(eps_lower=0.1, eps_upper=0.3333333333333333)"
    assert str(dc.LIP(1)) == "LIP(1)"
