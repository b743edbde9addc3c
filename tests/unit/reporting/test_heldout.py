"""Audits of one part of the records, looked up in the other."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.cli.app import run


def test_the_worst_by_chance_are_not_the_worst_again() -> None:
    """Where X tells nothing, the largest lifts of many values are about 1 among records that were held out."""
    rng = np.random.default_rng(0)
    joint = dc.Joint.from_counts(rng.multinomial(20_000, np.full(2 * 300, 1 / 600)).reshape(2, 300))
    found = dc.audit(joint, holdout=0.5)
    assert found.held_out is not None
    seen = [entry.lift for entry in found.held_out.symbols]
    again = [entry.held_out for entry in found.held_out.symbols if entry.held_out is not None]
    assert np.mean(seen) > 1.3
    assert np.mean(again) == pytest.approx(1.0, abs=0.1)


def test_both_parts_are_those_of_the_split() -> None:
    joint = dc.Joint.from_counts([[300, 100, 50], [100, 150, 300]], sensitive=["ill", "well"], useful=["a", "b", "c"])
    first, second = joint.split(0.25, seed=3)
    found = dc.audit(joint, dc.LIP(0.1), holdout=0.25, seed=3)
    assert found.rows == first.records
    assert found.held_out is not None
    assert found.held_out.records == second.records
    assert found.held_out.mutual_information == dc.measures.mutual_information(second)
    assert found.held_out.holds is False
    assert found.holds is False
    lifts = dc.measures.lift(second)
    for entry in found.held_out.symbols:
        s, x = joint.sensitive.index(entry.sensitive), joint.useful.index(entry.symbol)
        assert entry.held_out == pytest.approx(lifts[s, x])
    assert found.to_dict()["held_out"]["records"] == second.records
    assert "held_out" not in dc.audit(joint).to_dict()


def test_the_command_shows_both(capsys: pytest.CaptureFixture[str]) -> None:
    command = "audit sample:adult --sensitive relationship --useful occupation --epsilon 1 --holdout 0.5"
    assert run(command.split()) == 1
    assert "The same among 16,280 records held out" in capsys.readouterr().out
    assert run([*command.split()[:-1], "1.5"]) == 2
    assert "between 0 and 1" in capsys.readouterr().err
