"""The reproduction: every stated number has a verdict, and the known ones agree."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from discreet import papers
from discreet._support.errors import InputError
from discreet.papers import zds22, zds23
from discreet.papers.base import Answer, Claim, Setting, answered
from discreet.papers.curves import drawn_from
from discreet.papers.extremes import range_answer
from discreet.papers.oracles import merging
from discreet.papers.verdict import counted

ROOT = Path(__file__).parent.parent.parent


def test_every_statement_belongs_to_an_entry_or_says_why_not() -> None:
    for claim in papers.claims().values():
        assert claim.figure in papers.ENTRIES or claim.id in papers.NOT_ANSWERED, claim.id
        assert claim.claim
        assert claim.where
        if claim.kind == "number":
            assert claim.value is not None


def test_numbers_agree_within_their_digits() -> None:
    claim = Claim("x", "P", "", "", "", 0.73, "", "number")
    assert answered(claim, Answer(0.739))
    assert not answered(claim, Answer(0.741))
    assert not answered(claim._replace(value=0.9815), Answer(0.97))
    assert answered(claim._replace(value=30), Answer(29.6, tolerance=0))
    assert answered(claim._replace(value=None), Answer(True))
    assert answered(claim._replace(value=[1, 2]), Answer([1.0, 2.0]))
    assert answered(claim._replace(value=[1, 2]), Answer([1.0])) is False


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory, data_where_there: Path | None) -> dict[str, papers.Verdict]:
    """A quick run of everything, with the data files where they are there."""
    output = tmp_path_factory.mktemp("reproduced")
    found = papers.reproduce(["all"], output, quick=True, data=data_where_there)
    assert (output / "verdicts.csv").exists()
    assert (output / "zds23-fig4.svg").read_text().startswith("<?xml")
    papers.write_gallery(found, output, output / "gallery")
    shown = (output / "gallery" / "zds23.md").read_text()
    for name in [path.stem for path in output.glob("zds23-*.svg")]:
        assert f"({name}.svg)" in shown
        assert f"<{name}.csv>" in shown
        assert (output / "gallery" / f"{name}.csv").exists()
    assert "## Figure 8: Optimal, subset response and merging on synthetic joints" in shown
    assert "**drawn**: 4 joints, the paper has 100; standard error" in shown
    assert "Section III, Fig. 2" in (output / "gallery" / "lts20.md").read_text().partition("## Without a plot")[2]
    return {verdict.claim.id: verdict for verdict in found}


@pytest.mark.long
def test_every_statement_gets_a_verdict(verdicts: dict[str, papers.Verdict]) -> None:
    assert set(verdicts) == set(papers.claims())
    for verdict in verdicts.values():
        if verdict.verdict != papers.AGREES:
            assert verdict.note, f"{verdict.claim.id} does not agree and does not say why"


@pytest.mark.long
def test_stated_utilities_agree(verdicts: dict[str, papers.Verdict]) -> None:
    for name in (
        "zds23-fig2-complete-eps1", "zds23-fig2-complete-eps2", "zds23-fig3-complete-eps1", "zds23-fig3-complete-eps2",
        "zds23-fig5-optimal-eps2", "zds23-fig7-subset-eps1", "lts20-fig5-oue-limit", "lts20-fig7-correlation-eps1",
        "df20-example2-u1-first", "df20-example3-first", "df20-example1-istar",
    ):  # fmt: skip
        assert verdicts[name].verdict == papers.AGREES, verdicts[name]


@pytest.mark.long
def test_errata_show_as_differences(verdicts: dict[str, papers.Verdict]) -> None:
    for name in ("zds23-prop1", "zds23-prop3", "zds23-prop5", "lts20-theorem4-budget"):
        assert verdicts[name].verdict == papers.DIFFERS


def test_missing_data_is_reported_not_faked() -> None:
    (verdict,) = [v for v in papers.reproduce(["df20-heart-data"]) if v.claim.id == "df20-heart-ages"]
    assert verdict.verdict == papers.NOT_COMPUTED
    assert "processed.hungarian.data" in verdict.note


def test_a_second_run_leaves_verdicts_on_other_entries(tmp_path: Path) -> None:
    alone = [papers.reproduce([name], tmp_path, quick=True) for name in ("df20-example3", "df20-example2")]
    with (tmp_path / "verdicts.csv").open(newline="") as stream:
        stored = {row["id"]: row["verdict"] for row in csv.DictReader(stream)}
    assert stored == {verdict.claim.id: verdict.verdict for found in alone for verdict in found}
    assert list(stored) == [claim for claim in papers.claims() if claim in stored]
    before = (tmp_path / "verdicts.csv").read_bytes()
    papers.reproduce(["df20-example2"], tmp_path, quick=True)
    assert (tmp_path / "verdicts.csv").read_bytes() == before


def test_statements_that_another_entry_answers_are_left_to_it() -> None:
    """The example of merged graphs stands under Example 3, and is computed with Algorithm 2 in general."""
    found = {verdict.claim.id: verdict.verdict for verdict in papers.reproduce(["df20-example3"], quick=True)}
    assert "df20-merge-subgraphs-example" not in found
    assert set(found.values()) <= {papers.AGREES, "argued", "drawn", "given"}


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="zds23-fig4"):
        papers.reproduce(["zds23-fig44"])


@pytest.mark.long
def test_the_page_counts(verdicts: dict[str, papers.Verdict]) -> None:
    page = papers.results_page(list(verdicts.values()), version="1", quick=True, seconds=1.0)
    assert f"{len(verdicts)} statements" in page
    for row in page.splitlines():
        cells = row.replace("\\|", "").split("|")
        if row.startswith("| Section") and cells[5].strip().startswith("agrees"):
            assert cells[6].strip(), f"nothing turns this red: {row}"
    assert "| Section" in page or "| Fig" in page or "## ZDS23" in page


def test_workers_get_the_same_verdicts(tmp_path: Path) -> None:
    names = ["df20-example3", "df20-fig7", "df20-heart-data"]
    alone, beside = (papers.reproduce(names, tmp_path / str(n), quick=True, workers=n) for n in (1, 2))
    assert alone == beside
    assert sorted(path.name for path in (tmp_path / "2").iterdir()) == sorted(
        path.name for path in (tmp_path / "1").iterdir()
    )
    with pytest.raises(InputError, match="workers must be an integer of at least 1, got 0"):
        papers.reproduce(names, workers=0)


def _curve(*nmi: float) -> dict[str, np.ndarray]:
    return {"epsilon": np.arange(1.0, len(nmi) + 1), "nmi": np.array(nmi)}


def test_curves_are_compared_budget_by_budget() -> None:
    """A curve that is ahead on the mean, and behind at one budget, does not agree; the words name the budget."""
    found = {"a": _curve(0.9, 0.4, 0.9), "b": _curve(0.1, 0.5, 0.1), "c": _curve(0.1, 0.4, 0.1)}
    behind = zds23._ahead(found, found, [("a", "b")])
    assert behind.value is False
    assert behind.note == "not at 1 of 3 budgets (eps 2), by 0.100 at most"
    assert zds23._ahead(found, found, [("a", "c")]) == Answer(True, "strictly at 2 of 3 budgets, level at the others")
    assert zds23._ahead(found, found, [("c", "c")]).value is False
    assert zds23._ahead(found, found, [("a", "b")], found["a"]["epsilon"] > 2).value is True


def test_level_curves_agree_only_at_their_last_value() -> None:
    early, late = _curve(0.4, 0.5, 0.6), _curve(0.3, 0.5, 0.55)
    assert zds23._until_level([("", early, late)], slice(None)).value is False
    assert zds23._until_level([("", _curve(0.4, 0.6, 0.6), _curve(0.3, 0.6, 0.6))], slice(None)).value is True


def test_levels_are_told_of_other_panels_too() -> None:
    """Infinite leakages are level with each other, and the words keep the curves apart."""
    one, other = ({"x": np.array(values)} for values in ([1.0, np.inf, np.inf], [0.5, 2.0, np.inf]))
    assert zds23._until_level([(" of a", one, other)], slice(None), "x").value is True
    assert zds23._until_level([(" of a", one, one), (" of b", one, other)], slice(None), "x") == Answer(
        False,
        "above at 0 of 3 budgets of a, level at 3; "
        "above at 2 of 3 budgets of b, level at 1, where both have come to their last value",
    )


def test_clearly_asks_for_more_than_a_printed_number_may_be_off() -> None:
    """One rule for all figures: nowhere below, and .01 apart on the mean of the budgets."""
    found = {"a": _curve(0.5, 0.5), "b": _curve(0.5, 0.4), "c": _curve(0.5, 0.49), "d": _curve(0.1, 0.51)}
    assert zds23._clearly(found, found, [("a", "b")]) == Answer(
        True, "by 0.0500 on the mean of the budgets; strictly at 1 of 2 budgets, level at the others"
    )
    assert zds23._clearly(found, found, [("a", "b"), ("a", "c")]).value is False
    assert zds23._clearly(found, found, [("a", "d")]).value is False


def test_shares_are_read_to_their_last_digit_unless_they_are_about() -> None:
    about, plain = (
        zds22._nonzero(Setting(), f"zds22-fig4-nonzero-{key}", share)
        for key, share in (("lam5", 27.15), ("lam65", 67.06))
    )
    known = papers.claims()
    assert answered(known["zds22-fig4-nonzero-lam5"], about)
    assert not answered(known["zds22-fig4-nonzero-lam65"], plain)
    assert plain.note == "-2.9 points, read to the unit; the standard error of ours is 0.5"


def test_a_printed_end_outside_of_all_runs_says_what_it_stands_for() -> None:
    runs = {"min low": (-17.9, -13.6), "min high": (-0.455, -0.306)}
    answer = range_answer((-15.5, -0.5), np.array([-15.2, -0.4]), runs, exact=True)
    assert answer.agrees
    assert answer.note.endswith("; -0.5 in print stands for anything from -0.55 to -0.45")
    assert not range_answer((-15.5, -0.6), np.array([-15.2, -0.4]), runs, exact=True).agrees


def test_counts_are_sentences() -> None:
    claim = Claim("x", "P", "", "", "", None, "", "claim")
    found = [papers.Verdict(claim, "", word, "") for word in ("agrees", "agrees", "differs", "drawn", "drawn")]
    assert counted(found) == "2 agree, 1 differs, 2 drawn"


def test_figures_say_how_many_joints_they_rest_on() -> None:
    errors = {"x": {"nmi_error": np.array([0.001, 0.0034])}}
    assert (
        drawn_from(100, 100, errors) == "100 joints, as many as the paper; standard error of a mean NMI 0.0034 at most"
    )
    assert drawn_from(5, 100) == "5 joints, the paper has 100"
    assert drawn_from(20, None) == "20 joints, the paper does not say of how many"


def test_plain_algorithm_1_leaves_only_allowed_blocks() -> None:
    """On a tiny joint by hand: x1 and x2 are opposite and cancel out, x3 tells nothing."""
    cells = np.array([[0.3, 0.1, 0.1], [0.1, 0.3, 0.1]])
    most = merging.limits("alip", 0.2, 0.2)
    blocks = merging.algorithm1(cells, lambda lifts, prior: merging.risks("alip", lifts, prior), most)
    assert blocks == {frozenset([0, 1]), frozenset([2])}


def test_committed_results_are_whole() -> None:
    """The page counts every claim, names a mutation for all that agree, and rests on as many joints as the papers."""
    page = (ROOT / "docs" / "results.md").read_text()
    claims = papers.claims()
    assert f"{len(claims)} statements:" in page
    assert f"[{len(claims)} statements of the papers]" in (ROOT / "README.md").read_text()
    rows = [re.split(r"(?<!\\)\|", row) for row in page.splitlines() if row.startswith("| ")]
    verdicts = [row for row in rows if len(row) == 8 and not row[1].startswith((" where", " verdicts"))]
    told = [row for row in verdicts if re.match(r" (agrees|differs|argued|given|drawn|not computed)", row[5])]
    assert len(told) == len(claims)
    assert all(row[6].strip() for row in told if row[5].startswith(" agrees"))
    synthetic = [row for row in told if row[5].startswith(" drawn:") and " joint" in row[5]]
    assert len(synthetic) == 15
    assert [row[1] for row in synthetic if "as many as the paper" not in row[5]] == [" Section 5.2, Figure 10(a)-(c) "]


def test_the_committed_gallery_is_whole() -> None:
    folder = ROOT / "docs" / "gallery"
    pages = {name: (folder / f"{name}.md").read_text() for name in ("df20", "lts20", "zds22", "zds23")}
    plots = sorted(path.stem for path in folder.glob("*.svg"))
    assert plots == sorted(path.stem for path in folder.glob("*.csv"))
    for name in plots:
        shown = pages[name.partition("-")[0]]
        assert f"({name}.svg)" in shown
        assert f"<{name}.csv>" in shown
    for claim in papers.claims().values():
        if claim.kind == "figure":
            assert f"- *{claim.where}:* {claim.claim}" in pages[claim.paper.lower()], claim.id
