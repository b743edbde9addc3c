"""Methods from outside the package: they work with designs, comparisons and frontiers, and break no promise."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from discreet import (
    LIP,
    ChannelMechanism,
    Chi2Lift,
    Joint,
    Mechanism,
    Utility,
    certify,
    design,
    frontier,
    methods,
    release,
)
from discreet._support.errors import (
    BrokenNotionError,
    InputError,
    InvalidMechanismError,
    UnknownMethodError,
    UnsupportedNotionError,
)
from discreet.designers import METHODS, Outcome, compare, register_method
from discreet.notions import Notion
from tests.unit.utilities.test_outside import Gini


def everything_merged(joint: Joint, notion: Notion) -> Mechanism:
    return Mechanism.from_blocks(joint, [0] * joint.n_useful)


def best_pair(joint: Joint, notion: Notion, *, utility: Utility, seed: int = 0) -> Outcome:
    """The best mechanism that merges two symbols, or all of them."""
    made = [everything_merged(joint, notion)]
    for first, second in combinations(range(joint.n_useful), 2):
        blocks = np.arange(joint.n_useful)
        blocks[second] = first
        made.append(Mechanism.from_blocks(joint, blocks))
    allowed = [mechanism for mechanism in made if notion.holds(joint, mechanism)]
    return Outcome(max(allowed, key=lambda mechanism: utility.value(joint, mechanism)))


@pytest.fixture
def registered() -> Iterator[str]:
    register_method("best-pair", best_pair, serves=lambda notion: notion.is_polyhedral)
    yield "best-pair"
    del METHODS["best-pair"]


def test_a_function_is_a_method() -> None:
    joint, notion = Joint.random(3, 5, seed=1), LIP(0.6)
    found = design(joint, notion, best_pair, utility=Gini(), seed=3)
    assert (found.method, found.mechanism.method, found.status) == ("best_pair", "best_pair", "heuristic")
    assert found.kept <= design(joint, notion, utility=Gini()).bound
    with pytest.raises(InputError, match="best_pair has no option 'search'"):
        design(joint, notion, best_pair, search="columns")
    with pytest.raises(InputError, match="seed must be"):
        design(joint, notion, best_pair, seed=-1)
    with pytest.raises(BrokenNotionError, match="breaks"):
        design(joint, LIP(0.01), lambda joint, notion: Mechanism.from_blocks(joint, range(joint.n_useful)))
    with pytest.raises(InputError, match="must return a Mechanism"):
        design(joint, notion, lambda joint, notion: None)
    with pytest.raises(InputError, match="claims"):
        design(joint, notion, lambda joint, notion: Outcome(best_pair(joint, notion, utility=Gini()).mechanism, 1e-3))
    anything = design(joint, notion, lambda joint, notion, **options: everything_merged(joint, notion), colour="red")
    assert anything.kept == pytest.approx(0, abs=1e-12)


class Lying(ChannelMechanism):
    """Releases X itself, and shows a joint that tells nothing to whoever checks it."""

    def judged(self, joint: Joint, kinds: object) -> Joint:
        return Mechanism.from_blocks(joint, [0] * joint.n_useful).expected(joint)


def test_a_mechanism_that_answers_for_itself_is_not_believed() -> None:
    """A subclass could say anything of its own weights; it is refused wherever a mechanism is taken."""
    table = pa.table({"ill": [0, 1, 1, 0] * 9, "job": ["a", "b", "b", "c"] * 9})
    joint = Joint.from_table(table, "ill", "job")
    plain = ChannelMechanism.from_blocks(joint, range(joint.n_useful))
    lying = Lying(plain.entries, plain.useful, plain.released, about=plain.about)
    assert LIP(0.1).holds(joint, lying)  # it would be believed
    for refused in (
        lambda: design(joint, LIP(0.1), lambda joint, notion: lying),
        lambda: certify(lying, joint, LIP(0.1)),
        lambda: release(table, lying, notion=LIP(0.1), shuffle=True),
    ):
        with pytest.raises(InvalidMechanismError, match="a kind of its own"):
            refused()


def test_a_registered_method_is_known_everywhere(registered: str) -> None:
    joint = Joint.random(3, 5, seed=1)
    assert registered in methods(LIP(0.6))
    assert registered not in methods(Chi2Lift(eps_upper=1))
    assert design(joint, LIP(0.6), registered).method == registered
    assert registered in {made.method for made in compare(joint, LIP(0.6), seed=1).designs}
    assert [made.method for made in compare(joint, LIP(0.6), [registered, best_pair]).designs] == [
        registered,
        "best_pair",
    ]
    rows = frontier(joint, LIP, [0.4, 0.6], [registered]).rows
    assert [row.method for row in rows] == [registered] * 2
    with pytest.raises(UnsupportedNotionError):
        design(joint, Chi2Lift(eps_upper=1), registered)
    with pytest.raises(InputError, match="already"):
        register_method(registered, best_pair)
    with pytest.raises(InputError, match="a name and a callable"):
        register_method("", best_pair)


def test_comparisons_refuse_odd_requests_and_report_progress() -> None:
    joint, seen = Joint.random(2, 4, seed=1), []
    found = compare(joint, LIP(0.5), ["watchdog", "grr"], watch=lambda *at: seen.append(at))
    assert seen == [(1, 2), (2, 2)]
    assert found.skipped == {}
    assert "does not serve" in compare(joint, Chi2Lift(eps_upper=1), ["grr"]).skipped["grr"]
    with pytest.raises(UnknownMethodError):
        compare(joint, LIP(0.5), ["watchdgo"])
    with pytest.raises(InputError, match="list"):
        compare(joint, LIP(0.5), "watchdog")


def test_workers_know_utilities_and_methods_from_outside() -> None:
    joint = Joint.random(3, 5, seed=2)
    register_method("everything-merged", everything_merged)
    try:
        names = ["everything-merged", "optimal"]
        one, two = (frontier(joint, LIP, [0.3, 0.6], names, utility=Gini(), workers=n) for n in (1, 2))
    finally:
        del METHODS["everything-merged"]
    assert [(r.method, r.kept, r.bound) for r in one.rows] == [(r.method, r.kept, r.bound) for r in two.rows]
