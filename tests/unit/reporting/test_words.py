"""Words of promises: rounded to the safe side wherever they are shown, and there for notions from elsewhere."""

from __future__ import annotations

import dataclasses
import io
import math
import re
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from rich.console import Console

import discreet as dc
from discreet._support.errors import InputError
from discreet.cli.options import NotionOptions, TableOptions
from discreet.cli.report import report
from discreet.notions import Bound, L1Mean, LiftRatio
from discreet.reporting import html
from discreet.reporting.audit import Audit, audit, audit_summary
from discreet.reporting.decision import designed
from discreet.reporting.html import report_html
from discreet.reporting.text.audit import audit_text
from discreet.reporting.text.design import design_text
from discreet.reporting.words import promise_words, rule_words

SEX = TableOptions("sample:adult", sensitive=["sex"], useful=["race"])
PROMISE = NotionOptions(epsilon=0.5)
BUDGETS = [0.001, 0.1, 0.2, 0.5, 1.0, 1.2, 3.7, 12.0, 699.0]


@pytest.fixture
def mixed(monkeypatch: pytest.MonkeyPatch) -> dc.Notion:
    """A notion that no file of the package knows: a bound on ratios and one on an average."""
    monkeypatch.setattr(dc.Notion, "registry", dict(dc.Notion.registry))

    @dataclasses.dataclass(frozen=True)
    class Mixed(dc.Notion):
        ratio: float
        mean: float
        name: ClassVar[str] = "mixed"

        @property
        def bounds(self) -> tuple[Bound, ...]:
            return (Bound(LiftRatio(), self.ratio), Bound(L1Mean(), self.mean))

    return Mixed(1.0, 0.3)


@pytest.mark.parametrize("epsilon", BUDGETS)
def test_rules_never_promise_more_than_the_notion(epsilon: float) -> None:
    for notion in (dc.LIP(epsilon), dc.SRLIP(epsilon), dc.LDP(epsilon), dc.MaxLift(epsilon)):
        found = rule_words(notion)
        more = re.search(r"more than (\S+) times", found)
        less = re.search(r"less than (\S+) times", found)
        assert more is not None
        assert float(more[1]) >= math.exp(epsilon) * (1 - 1e-12)
        assert float(more[1]) == pytest.approx(math.exp(epsilon), rel=2e-3)
        assert (less is not None) is (notion.name in ("lip", "srlip"))
        assert less is None or float(less[1]) <= math.exp(-epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", BUDGETS)
def test_averages_are_rounded_up(epsilon: float) -> None:
    for words in (rule_words, lambda notion: promise_words(notion, "x")):
        limit = re.search(r"at most (\S+) on average", words(dc.L1Lift(eps_upper=epsilon)))
        assert limit is not None
        assert float(limit[1]) >= math.expm1(epsilon) * (1 - 1e-12)


def test_vast_budgets_are_rounded_to_the_safe_side_too() -> None:
    assert "exp(701.235)" in rule_words(dc.MaxLift(701.2341))
    assert "exp(-701.235)" in rule_words(dc.ALIP(eps_lower=701.2341))


def test_the_command_line_and_the_report_say_the_same_factor() -> None:
    joint = dc.Joint.from_counts([[30, 15, 5], [10, 15, 25]])
    for text in (audit_text(audit(joint, dc.LIP(1))), design_text(dc.design(joint, dc.LIP(1), "watchdog"))):
        stream = io.StringIO()
        Console(width=300, file=stream).print(text)
        shown = stream.getvalue()
        assert "more than 2.719 times as likely or less than 0.3678 times as likely" in shown
    assert "more than 2.719 times as sure, or less than 0.3678 times" in promise_words(dc.LIP(1), "x")


def test_notes_of_a_design_are_shown() -> None:
    stream = io.StringIO()
    Console(width=300, file=stream).print(design_text(dc.design(dc.Joint.random(4, 7, seed=1), dc.LIP(0))))
    assert "Note: Weights of 60 bits cannot hold the best private columns exactly" in stream.getvalue()


def test_a_notion_from_elsewhere_is_audited_and_reported(mixed: dc.Notion) -> None:
    joint = dc.Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", "b", "c"], sensitive_columns=["illness"])
    found = audit(joint, mixed)
    assert found.holds is mixed.holds(joint) is False
    assert "MIXED: no symbol may be more than 2.719 times" in rule_words(mixed)
    assert "differ from 1 by at most 0.3499 on average" in rule_words(mixed)
    assert promise_words(mixed, "illness").count("illness") == 3
    page = report_html(designed(joint, mixed, "watchdog"))
    assert "Mixed(ratio=1, mean=0.3)" in page


def test_a_bound_without_words_is_named(mixed: dc.Notion, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside those that have words: nothing of a promise is passed over."""
    monkeypatch.setattr(L1Mean, "clause", "")
    left = "The l1 lift of every released value stays within its budget of 0.3 nats."
    assert left in promise_words(mixed, "illness")
    assert "2.719 times as likely" in promise_words(mixed, "illness")
    assert rule_words(mixed).endswith(f"And {left}")


def test_an_audit_is_a_record() -> None:
    joint = dc.Joint.from_counts([[30, 15, 5], [10, 15, 0]], useful=["a", "<b>", "c"])
    found = audit(joint, dc.LIP(0.5))
    assert isinstance(found, Audit)
    assert found.to_dict() == audit_summary(joint, dc.LIP(0.5))
    names = ["sensitive", "useful", "rows", "joint", "measures", "per_symbol", "verdict", "confidence", "chance"]
    assert list(found.to_dict()) == names
    assert "LIP(0.5) is broken" in repr(found)
    assert "<b>" not in found._repr_html_()
    assert "&lt;b&gt;" in found._repr_html_()
    plain = audit(joint)
    assert plain.holds is None
    assert plain.to_dict()["verdict"] is None
    assert "allowed" not in plain.to_dict()["per_symbol"][0]
    assert audit(joint, dc.SRLIP(9.0)).to_dict()["verdict"]["violating_symbols"] is None


def test_a_cut_table_escapes_the_name_of_the_secret() -> None:
    counts = [[3 + (5 * s + 3 * x) % 11 for x in range(3)] for s in range(45)]
    joint = dc.Joint.from_counts(counts, sensitive_columns=["<img src=x>"])
    page = report_html(designed(joint, dc.LIP(0.5), "watchdog", epsilons=[0.5]))
    assert "5 more values of &lt;img" in page
    assert "<img" not in page


def test_without_jinja2_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = designed(dc.Joint.random(3, 4), dc.LIP(0.5), "watchdog", epsilons=[0.5])
    missing: Any = None
    monkeypatch.setitem(sys.modules, "jinja2", missing)
    html._environment.cache_clear()
    with pytest.raises(InputError, match=r"pip install 'discreet\[report\]'"):
        report_html(found)
    with pytest.raises(InputError, match="jinja2"):
        report(SEX, promise=PROMISE, output=tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
    report(SEX, promise=PROMISE, output=tmp_path / "r.md", format="md")
    monkeypatch.undo()
    assert report_html(found).startswith("<!DOCTYPE html>")
