"""A report of a mechanism designed elsewhere: its figures are computed, its limit is only what is certified."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet._support.errors import InputError, UnseenSymbolError
from discreet.cli.options import NotionOptions, TableOptions
from discreet.cli.report import report
from discreet.reporting.decision import decision, designed
from discreet.reporting.html import report_html
from discreet.reporting.markdown import report_markdown
from discreet.reporting.model import Decision
from discreet.reporting.report import Report


@pytest.fixture(scope="module")
def joint() -> dc.Joint:
    return dc.Joint.from_table(dc.samples.adult(), "occupation", "relationship")


@pytest.fixture(scope="module")
def best(joint: dc.Joint) -> dc.Design:
    return dc.design(joint, dc.LIP(0.5), "auto")


def test_it_says_what_the_design_says_but_for_the_limit(joint: dc.Joint, best: dc.Design) -> None:
    fresh, stored = decision(best, rows=3, curve=False), decision(best.mechanism, joint, rows=3, curve=False)
    same = set(fresh.to_dict()) - {"design", "limit"}
    assert {name: stored.to_dict()[name] for name in same} == {name: fresh.to_dict()[name] for name in same}
    changed = {"bound", "evidence", "status", "seconds"}
    ours, theirs = stored.design.to_dict(), fresh.design.to_dict()
    assert {name for name in ours if ours[name] != theirs[name]} == changed
    assert [ours[name] for name in sorted(changed)] == [None, None, None, "stored"]
    assert stored.limit.startswith("No certificate states a limit")


def test_the_limit_is_that_of_the_certificate(joint: dc.Joint, best: dc.Design) -> None:
    certificate = dc.certify(best).public
    found = decision(best.mechanism, joint, certificate=certificate, curve=False)
    assert found.design.bound == float(certificate["bound"])
    assert (found.design.evidence, found.design.status) == ("checkable", "optimal")
    assert "The certificate states this limit" in found.limit
    assert found.certificate is not None
    assert found.certificate.same_mechanism


def test_a_limit_that_is_only_claimed_stays_so(joint: dc.Joint, best: dc.Design) -> None:
    stated = dc.certify(best).public.with_fields(bound="0.900000", bound_evidence="claimed, not checkable")
    found = decision(best.mechanism, joint, certificate=stated, curve=False)
    assert found.design.status.startswith("gap")
    assert "claims this limit, without a proof" in found.limit
    assert "claimed limit" in report_html(found)


def test_a_certificate_of_another_mechanism_is_said_to_be_so(joint: dc.Joint, best: dc.Design) -> None:
    other = dc.certify(dc.design(joint, dc.LIP(0.5), "subset-merging")).public
    found = decision(best.mechanism, joint, certificate=other, curve=False)
    assert found.certificate is not None
    assert not found.certificate.same_mechanism
    assert found.design.bound is None
    assert "about another mechanism" in found.limit
    for page in (report_html(found), report_markdown(found)):
        assert "it is about another one" in page


def test_a_changed_certificate_and_one_of_another_table_lend_no_limit(joint: dc.Joint, best: dc.Design) -> None:
    certificate = dc.certify(best).public
    changed = dc.Certificate({**certificate.to_dict(), "bound": "0.100000"})
    elsewhere = certificate.with_fields(nmi="0.100000")
    for given, words in ((changed, "was changed"), (elsewhere, "another NMI")):
        found = decision(best.mechanism, joint, certificate=given, curve=False)
        assert found.design.bound is None
        assert words in found.limit


def test_a_release_of_everything_needs_no_certificate() -> None:
    joint = dc.Joint.from_counts([[5, 4], [5, 6]])
    found = decision(dc.design(joint, dc.LIP(3.0)).mechanism, joint, curve=False)
    assert found.limit == "The release keeps everything, and nothing can keep more."


@pytest.mark.parametrize("method", ["optimal", "oue", "conditional-reporting", "optimal-with-sensitive", "grr"])
def test_values_are_matched_by_name(method: str) -> None:
    """The table may list its values in another order than the one that the mechanism was designed on."""
    counts = np.array([[20, 12, 9, 10], [8, 14, 13, 22], [11, 9, 17, 6]])
    names, secrets = list("abcd"), list("uvw")
    first = dc.Joint.from_counts(counts, useful=names, sensitive=secrets)
    turned = dc.Joint.from_counts(
        counts[::-1, [2, 0, 3, 1]], useful=[names[k] for k in (2, 0, 3, 1)], sensitive=secrets[::-1]
    )
    mechanism = dc.design(first, dc.LIP(0.4), method).mechanism
    here, there = (decision(mechanism, table, rows=30, curve=False) for table in (first, turned))
    spreads = [{value.value: dict(value.released) for value in found.values} for found in (here, there)]
    assert spreads[0].keys() == spreads[1].keys() == set(names)
    for name in names:
        assert spreads[0][name] == pytest.approx(spreads[1][name])
    books = [{entry.label: dict(entry.stands_for) for entry in found.released} for found in (here, there)]
    assert books[0].keys() == books[1].keys()
    for label in books[0]:
        assert books[0][label] == pytest.approx(books[1][label])
    assert there.examples is not None
    assert all(spreads[1][x][y] > 0 for x, y in there.examples)


def test_a_promise_that_is_broken_here_is_not_told_as_kept(best: dc.Design, joint: dc.Joint) -> None:
    found = decision(best.mechanism, joint, dc.LIP(0.1), curve=False)
    assert not found.verdict.release_holds
    assert found.promise.startswith("This release does not keep the promise")
    assert found.limit.startswith("It does not keep the promise")
    assert "and not through this release" in report_html(found)
    assert "broken by auto" in repr(Report(found))


def test_the_curve_sweeps_fast_methods_alone_or_nothing(joint: dc.Joint, best: dc.Design) -> None:
    swept = decision(best.mechanism, joint, epsilons=[0.5, 1.0]).tradeoff
    assert {row.method for row in swept.rows} == {"subset-merging", "watchdog"}
    assert (swept.epsilon, swept.nmi) == (0.5, pytest.approx(best.nmi))
    assert "fast methods" in (swept.note or "")
    assert decision(best.mechanism, joint, curve=False).tradeoff.rows == ()


def test_no_design_is_made(joint: dc.Joint, best: dc.Design, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("a report of what is there must not design")

    monkeypatch.setattr("discreet.reporting.decision.design", fail)
    decision(best.mechanism, joint)
    decision(best)
    with pytest.raises(AssertionError):
        designed(joint, dc.LIP(0.5))
    with pytest.raises(InputError, match="rows must be"):  # wrong requests are refused before the work
        designed(joint, dc.LIP(0.5), rows=-1)


def test_wrong_subjects_are_refused(joint: dc.Joint, best: dc.Design) -> None:
    with pytest.raises(InputError, match="a mechanism and a joint"):
        decision(best.mechanism)
    with pytest.raises(InputError, match="leave them out"):
        decision(best, joint)
    with pytest.raises(InputError, match="carries no notion"):
        decision(dc.Mechanism.from_blocks(joint, [0] * joint.n_useful), joint)
    with pytest.raises(UnseenSymbolError):
        decision(best.mechanism, dc.Joint.random(3, 4))


def test_plain_data_makes_the_same_decision_again(joint: dc.Joint, best: dc.Design) -> None:
    for found in (
        decision(best, certificate=dc.certify(best), rows=2, epsilons=[0.5]),
        decision(best.mechanism, joint, curve=False),
        designed(dc.Joint.random(3, 20, seed=1), dc.PerfectPrivacy(), "subset-merging"),
    ):
        again = Decision.from_dict(found.to_dict())
        assert again == found
        assert report_html(again) == report_html(found) == report_html(found.to_dict())


ADULT = TableOptions("sample:adult", sensitive=["occupation"], useful=["relationship"])


@pytest.fixture
def stored(best: dc.Design, tmp_path: Path) -> Path:
    best.mechanism.to_json(tmp_path / "mechanism.json")
    dc.certify(best).public.to_json(tmp_path / "certificate.json")
    return tmp_path / "mechanism.json"


def test_the_command_reports_a_stored_mechanism(
    stored: Path, best: dc.Design, capsys: pytest.CaptureFixture[str]
) -> None:
    page = stored.parent / "report.html"
    assert report(ADULT, mechanism=stored, output=page) == 0
    assert f"kept by auto with NMI {best.nmi:.4f}" in capsys.readouterr().out
    assert "No certificate was given" in page.read_text(encoding="utf-8")
    certificate = stored.parent / "certificate.json"
    assert report(ADULT, mechanism=stored, certificate=certificate, output=page, force=True) == 0
    assert "proven limit of any release" in page.read_text(encoding="utf-8")


def test_the_command_fails_where_the_stored_mechanism_breaks_its_promise(stored: Path) -> None:
    page = stored.parent / "report.md"
    tighter = NotionOptions(epsilon=0.1)
    assert report(ADULT, mechanism=stored, promise=tighter, output=page, format="md") == 1
    assert "As released: ✗ The promise is broken." in page.read_text(encoding="utf-8")


def test_the_command_takes_bins_from_the_mechanism(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("ill,age\n" + "".join(f"{'yes' if age % 3 else 'no'},{age}\n" for age in range(10, 90)))
    joint = dc.Joint.from_table(str(table), "ill", "age", bins={"age": [0, 30, 50, 100]})
    dc.design(joint, dc.LIP(0.5), "watchdog").mechanism.to_json(tmp_path / "m.json")
    columns = TableOptions(str(table), sensitive=["ill"], useful=["age"])
    report(columns, mechanism=tmp_path / "m.json", output=tmp_path / "r.md", format="md")
    assert "3 values of age" in (tmp_path / "r.md").read_text(encoding="utf-8")


def test_the_command_refuses_what_contradicts_the_mechanism(stored: Path) -> None:
    page = stored.parent / "report.html"
    with pytest.raises(InputError, match="leave out --method"):
        report(ADULT, mechanism=stored, method="grr", output=page)
    with pytest.raises(InputError, match="leave out --method and --bins"):
        report(dataclasses.replace(ADULT, bins=("age=0,18",)), mechanism=stored, output=page)
    with pytest.raises(InputError, match="give --useful relationship"):
        report(TableOptions("sample:adult", sensitive=["occupation"], useful=["age"]), mechanism=stored, output=page)
    with pytest.raises(InputError, match="the input itself"):
        report(ADULT, mechanism=stored, output=stored, force=True)
    assert not page.exists()


def test_a_limit_of_another_table_is_not_taken_over() -> None:
    """NMI depends on X alone: a table with the same X and another S has the same one, and another limit."""
    counts = np.array([[30, 15, 5], [10, 15, 25]])
    joint = dc.Joint.from_counts(counts, useful=["a", "b", "c"])
    found = dc.design(joint, dc.LIP(0.5))
    even = counts.sum(axis=0) // 2
    other = dc.Joint.from_counts(np.stack([even, counts.sum(axis=0) - even]), useful=["a", "b", "c"])
    for certificate in (dc.certify(found), dc.certify(found).public):
        mine = decision(found.mechanism, joint, certificate=certificate, curve=False)
        assert mine.design.bound is not None
        theirs = decision(found.mechanism, other, certificate=certificate, curve=False)
        assert theirs.design.bound is None
        assert "about another table" in theirs.limit
        assert theirs.certificate is not None
        assert not theirs.certificate.fits_table
        assert "it is about another table" in report_markdown(theirs)


def test_what_is_published_beside_a_release_is_named(tmp_path: Path) -> None:
    table = dc.samples.adult()
    joint = dc.Joint.from_table(table, "relationship", "occupation")
    found = dc.design(joint, dc.LIP(0.5), "subset-merging")
    dc.release(
        table,
        found.mechanism,
        output=tmp_path / "o.parquet",
        keep=["income"],
        uncovered=["income"],
        shuffle=True,
        seed=1,
    )
    certificate = dc.Certificate.from_json(tmp_path / "o.parquet.certificate.json")
    page = report_markdown(decision(found, certificate=certificate, curve=False))
    assert "Not covered here: income." in page
    assert "published beside it, not covered" in page


def test_a_design_for_another_utility_is_reported_by_its_information(joint: dc.Joint) -> None:
    class Gini(dc.SeparableUtility):
        name, unit = "gini", "chance"

        def terms(self, t: np.ndarray) -> np.ndarray:
            return t * (1 - t)

    found = dc.design(joint, dc.LIP(0.5), utility=Gini())
    assert found.bound is not None
    reported = decision(found, curve=False)
    assert reported.design.nmi == found.nmi
    assert reported.design.bound is None
    assert dc.certify(found)["bound"] is None
