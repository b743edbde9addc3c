"""The reproduction: every stated number has a verdict, and the known ones agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet import papers
from discreet._support.errors import InputError
from discreet.papers.base import Answer, Claim, answered


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
