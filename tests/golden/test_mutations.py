"""A reproduction that can fail: with a broken function in its place, every verdict that agrees turns to differs."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import papers
from discreet.designers.merging import batch
from discreet.designers.posteriors import subset_response
from discreet.designers.protocols import grr, oue
from discreet.designers.with_sensitive import conditional_reporting
from discreet.notions import mean_kinds, srlip
from discreet.notions.lift_kinds import SmallestLift
from discreet.papers import mutations, oracles
from discreet.papers.base import Setting
from discreet.quantising import front as quantising
from tests.conftest import missing

#: Entries that take more than a second or two with every mutation of theirs.
LONG = {
    "zds22-fig1", "zds22-appendix-a", "zds22-fig2", "zds22-fig3", "zds22-fig4", "zds22-fig3-fig4", "zds22-lambda",
    "zds23-identities", "zds23-fig2", "zds23-fig4", "zds23-fig5", "zds23-fig6", "zds23-fig8",
    "zds23-fig9", "zds23-fig10", "zds23-fig11", "lts20-lemma1", "lts20-fig3", "lts20-fig4", "lts20-fig5",
    "lts20-fig6", "lts20-fig7",
}  # fmt: skip
ENTRIES = [pytest.param(name, marks=[pytest.mark.long] if name in LONG else []) for name in papers.ENTRIES]
BY_NAME = {mutation.name: mutation for mutation in mutations.MUTATIONS}


@pytest.mark.parametrize("name", ENTRIES)
def test_every_verdict_that_agrees_turns_red(name: str, data_where_there: Path | None) -> None:
    """Whatever agrees has a mutation on record, and differs under it; nothing else is on record."""
    setting = Setting(quick=True, data=data_where_there)
    try:
        agree, _ = mutations.differing(name, setting)
    except papers.MissingDataError:
        missing("the data files are not beside the project")
    recorded = mutations.turned_red().get(name, {})
    assert set(recorded) == agree
    for word in dict.fromkeys(recorded.values()):
        broken = dataclasses.replace(setting, tested=BY_NAME[word].apply(setting.tested))
        _, differ = mutations.differing(name, broken)
        assert {claim for claim, mutation in recorded.items() if mutation == word} <= differ, word


def _least_risky_first(real: Any) -> Any:
    def classify(self: Any) -> Any:
        risk, high_risk = real(self)
        return 1 / (1 + risk), high_risk

    return classify


def _merged_inside(real: Any) -> Any:
    def respond(problem: Any, members: Any, *rest: Any) -> Any:
        mass = problem.polytope.p_useful[members]
        whole = np.zeros((1, problem.polytope.n_useful))
        whole[0, members] = mass / mass.sum()
        return whole, np.array([mass.sum()])

    return respond


def _rising_only(real: Any) -> Any:
    def excesses(joint: Any, notion: Any) -> Any:
        kept = [not isinstance(bound.kind, SmallestLift) for bound in notion.bounds]
        return [found for found, keep in zip(real(joint, notion), kept) if keep]

    return excesses


def _first_and_last_half(real: Any) -> Any:
    def slices(joint: Any, **options: Any) -> Any:
        found = list(real(joint, **options))
        return iter(found[:1] + found[len(found) // 2 :])

    return slices


def _quarter_apart(real: Any) -> Any:
    def suppression(whole: Any, k: int) -> Any:
        blocks = np.array(real(whole, k))
        members = np.flatnonzero(blocks == np.bincount(blocks).argmax())
        blocks[members[: len(members) // 4]] = blocks.max() + 1
        return blocks

    return suppression


#: What is broken inside the library: where, its name, how, an entry, and a claim of it that must not agree then.
BROKEN: dict[str, tuple[Any, str, Callable[[Any], Any], str, str]] = {
    "watchdog without repair": (
        batch.MergingBatch, "absorb_low_risk", lambda real: lambda *args: None,
        "zds23-fig7", "zds23-fig7-constraints-met",
    ),
    "blocks start with the least risky symbol": (
        batch.MergingBatch, "_classify", _least_risky_first, "zds23-fig7", "zds23-fig7-subset-eps1"
    ),
    "blocks take in any symbol": (
        batch, "_least", lambda real: lambda risk, left: left.argmax(axis=1), "zds23-fig7", "zds23-fig7-subset-eps1"
    ),
    "inverse means without a limit": (
        mean_kinds.InverseMean, "limit", lambda real: lambda self, levels: np.full_like(levels, 1e300),
        "zds23-fig12", "zds23-fig12-l1-beats-alip",
    ),
    "subset response that merges": (
        subset_response, "_respond", _merged_inside, "zds23-fig9", "zds23-fig9-srr-beats-subset"
    ),
    "randomised response without falling beliefs": (
        grr, "excesses", _rising_only, "lts20-fig8", "lts20-fig8a-grr-above"
    ),
    "conditional reporting 2 % too weak": (
        conditional_reporting, "reporting_strength", lambda real: lambda *args: 0.98 * real(*args),
        "lts20-proposition1", "lts20-proposition1-cr-level",
    ),
    "unary encoding 5 % too weak": (
        oue, "oue_strength", lambda real: lambda *args: 0.95 * real(*args), "lts20-fig6", "lts20-fig6-oue-worse"
    ),
    "side channels of the first attribute forgotten": (
        srlip, "slices", _first_and_last_half, "lts20-srlip-theory", "lts20-srlip-equals-robust-lip"
    ),
    "suppression of three values in four": (
        quantising, "suppression", _quarter_apart, "df20-fig9", "df20-fig9-beats-suppression"
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=[pytest.mark.long] if BROKEN[what][3] in LONG else []) for what in BROKEN]
)
def test_what_is_broken_inside_the_library_turns_red(
    what: str, monkeypatch: pytest.MonkeyPatch, data_where_there: Path | None
) -> None:
    """No function of `Tested` is exchanged here: the code behind them is."""
    where, name, change, entry, claim = BROKEN[what]
    setting = Setting(quick=True, data=data_where_there)
    monkeypatch.setattr(where, name, change(getattr(where, name)))
    try:
        agree, differ = mutations.differing(entry, setting)
    except papers.MissingDataError:
        missing("the data files are not beside the project")
    assert claim in differ
    assert claim not in agree
    assert claim in mutations.turned_red()[entry]


def test_mutations_have_names_of_their_own() -> None:
    assert len(BY_NAME) == len(mutations.MUTATIONS)


def test_every_claim_is_answered_by_one_entry() -> None:
    claims = [claim for found in mutations.turned_red().values() for claim in found]
    assert len(claims) == len(set(claims))


def test_oracles_import_nothing_of_discreet() -> None:
    """What a verdict is computed from shares no code with what it tests."""
    for path in sorted(Path(oracles.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert not name.startswith("discreet") or name.startswith("discreet.papers.oracles"), (path.name, name)
