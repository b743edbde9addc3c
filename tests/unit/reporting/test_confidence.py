"""Reports on promises with confidence."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet as dc
from discreet.cli.app import run
from discreet.reporting.decision import decision, designed

JOINT = dc.Joint.from_counts(
    [[900, 400, 300, 100], [200, 700, 300, 500], [100, 200, 800, 600]], useful=["a", "b", "c", "d"]
)
NOTION = dc.LIP(0.3, confidence=0.95)


def test_a_design_is_reported() -> None:
    found = designed(JOINT, NOTION, epsilons=[0.3, 0.6])
    assert found.verdict.release_holds
    assert not found.verdict.holds
    assert found.after is not None
    assert all(found.after.allowed)
    assert {row.epsilon for row in found.tradeoff.rows} == {0.3, 0.6}


def test_a_stored_mechanism_that_breaks_it_is_shown_where() -> None:
    nominal = dc.design(JOINT, dc.LIP(0.3)).mechanism
    found = decision(nominal, JOINT, NOTION, curve=False)
    assert not found.verdict.release_holds
    assert found.after is not None
    assert not all(found.after.allowed)


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "t.csv"
    rows = [f"{s},{x}" for s, line in enumerate(JOINT.counts.tolist()) for x, n in zip("abcd", line) for _ in range(n)]
    table.write_text("s,x\n" + "\n".join(rows) + "\n")
    target = tmp_path / "r.md"
    words = ["report", str(table), "--sensitive", "s", "--useful", "x", "--epsilon", "0.3", "--confidence", "95"]
    assert run([*words, "-o", str(target), "--format", "md"]) == 0
    assert "with 95 % confidence for the population" in target.read_text()
    design = ["design", *words[1:]]
    assert run(design) == 0
    assert "sensitive value that binds" in capsys.readouterr().out


def test_too_many_values_are_refused_at_once() -> None:
    joint = dc.Joint.from_counts([[3] * 2500, [2] * 2500])
    with pytest.raises(dc.errors.InputError, match="2,000 useful values at most"):
        dc.design(joint, NOTION)
