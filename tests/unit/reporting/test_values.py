"""Reports about releases in values: which mechanism they are about, and what they say of the column."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet as dc
from discreet.reporting import words
from discreet.reporting.decision import decision
from tests.releases import awkward_table


@pytest.fixture(scope="module")
def made() -> dc.Design:
    return dc.design(dc.Joint.from_table(awkward_table(3_000), "ill", "job"), dc.LIP(0.2))


def test_a_certificate_in_values_makes_the_report_one_about_values(made: dc.Design, tmp_path: Path) -> None:
    dc.release(awkward_table(3_000), made.mechanism, seed=1, output=tmp_path / "o.parquet")
    certificate = dc.Certificate.from_json(tmp_path / "o.parquet.certificate.json")
    for found in (
        decision(made, certificate=certificate, curve=False),
        decision(made.mechanism, made.joint, certificate=certificate, curve=False),
        decision(certificate.mechanism, made.joint, certificate=certificate, curve=False),
    ):
        assert (found.certificate.same_mechanism, found.certificate.fits_table) == (True, True)
        assert found.design.in_values
        assert found.design.nmi == pytest.approx(float(certificate["nmi"]), abs=2e-6)
        assert found.design.unchanged == pytest.approx(dc.measures.unchanged(made.joint, made.mechanism))
        said = words.in_values_words(found.design)
        assert said.startswith("The release has the column's own values, whose distribution is kept on average:")
        assert {row.label for row in found.released} == {row.value for row in found.values}
    assert decision(made, certificate=certificate, curve=False).design.bound == made.bound  # a limit of any mechanism
    assert not decision(made, curve=False).design.in_values


def test_the_words_of_a_release_in_values() -> None:
    said = words.released_values_words(["job"], 0.766).replace("\N{NO-BREAK SPACE}", " ")
    assert said == (
        "job has its own values, whose distribution is kept on average. 76.6 % of records are expected to keep theirs."
    )
    assert words.released_values_words(["sex", "race"], None) == (
        "sex and race have their own values, whose distribution is kept on average."
    )
