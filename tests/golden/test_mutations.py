"""A reproduction that can fail: with a broken function in its place, every verdict that agrees turns to differs."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import pytest

from discreet import papers
from discreet.papers import mutations, oracles
from discreet.papers.base import Setting
from tests.conftest import missing

#: Entries that take more than a second or two with every mutation of theirs.
LONG = {
    "zds22-fig1", "zds22-appendix-a", "zds22-fig2", "zds22-fig3", "zds22-fig4", "zds22-fig3-fig4", "zds22-lambda",
    "zds23-identities", "zds23-fig2", "zds23-fig4", "zds23-fig5", "zds23-fig6", "zds23-fig8", "zds23-fig8-time",
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
