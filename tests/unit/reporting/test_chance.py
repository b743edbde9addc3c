"""An audit tells chance from leakage: intervals, verdicts about the population, and what it says of both."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.measures import lift, lift_intervals
from discreet.reporting.audit import Audit, audit
from discreet.reporting.decision import designed
from discreet.reporting.html import report_html
from discreet.reporting.markdown import report_markdown
from discreet.reporting.model import Decision
from discreet.reporting.text.audit import audit_text
from discreet.reporting.text.console import make_console

#: A table of which one value surely breaks LIP(0.5), one surely keeps it, and one is too rare to tell.
MIXED = dc.Joint.from_counts([[9_000, 50_000, 2], [1_000, 50_000, 0]], useful=["bad", "good", "rare"])


def text_of(found: Audit, shown: int = 15) -> str:
    stream = io.StringIO()
    make_console(stream).print(audit_text(found, shown))
    return " ".join(stream.getvalue().split())


def test_every_symbol_has_the_intervals_of_its_lifts() -> None:
    least, largest = lift_intervals(MIXED, 0.9)
    lifts = lift(MIXED)
    for entry in audit(MIXED, confidence=0.9).per_symbol:
        x = MIXED.useful.index(entry.symbol)
        s, t = lifts[:, x].argmax(), lifts[:, x].argmin()
        assert entry.max_lift_interval == pytest.approx((least[s, x], largest[s, x]))
        assert entry.min_lift_interval == pytest.approx((least[t, x], largest[t, x]))
        assert entry.max_lift_interval[0] <= entry.max_lift <= entry.max_lift_interval[1]


def test_many_symbols_are_measured_in_stretches() -> None:
    """As they are all at once."""
    rng = np.random.default_rng(2)
    joint = dc.Joint.from_counts(1 + rng.poisson(5, (3, 70_000)))
    found = audit(joint, dc.LIP(1.0))
    least, largest = lift_intervals(joint, 0.95)
    for entry in found.per_symbol[-50:]:
        s = joint.sensitive.index(entry.likelier)
        assert entry.max_lift_interval == pytest.approx((least[s, entry.symbol], largest[s, entry.symbol]))


@pytest.mark.parametrize(
    ("notion", "standings"),
    [
        (dc.LIP(0.5), ("broken", "kept", "undecided")),
        (dc.LIP(0.5, confidence=0.95), ("broken", "kept", "undecided")),
        (dc.ALIP(eps_lower=0.5, eps_upper=1.0), ("broken", "kept", "undecided")),
        (dc.MaxLift(0.3), ("broken", "kept", "undecided")),
        (dc.LDP(1.0), ("broken", "kept", "undecided")),
        (dc.LDP(3.0), ("kept", "kept", "undecided")),
        (dc.PerfectPrivacy(), ("broken", "broken", "undecided")),
        (dc.LIP(0.5) & dc.LDP(1.0), ("broken", "kept", "undecided")),
    ],
)
def test_values_are_broken_kept_or_undecided(notion: dc.Notion, standings: tuple[str, ...]) -> None:
    found = audit(MIXED, notion)
    by_name = {entry.symbol: entry.population for entry in found.per_symbol}
    assert tuple(by_name[name] for name in MIXED.useful) == standings
    verdict = found.verdict
    assert verdict.population == ("broken" if "broken" in standings else "undecided")
    assert verdict.population_symbols == {name: standings.count(name) for name in ("broken", "undecided", "kept")}
    assert sum(verdict.population_probability.values()) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(20))
def test_a_verdict_never_contradicts_the_counted_table(seed: int) -> None:
    """What is broken for sure is not allowed, what is kept for sure is; corners of the intervals agree."""
    rng = np.random.default_rng(seed)
    joint = dc.Joint.from_counts(rng.integers(0, 4000, (3, 12)) + 1)
    least, largest = lift_intervals(joint, 0.95)
    for notion in (dc.LIP(0.4), dc.LDP(0.9), dc.MaxLift(0.3)):
        for entry in audit(joint, notion).per_symbol:
            low, high = least[:, entry.symbol], largest[:, entry.symbol]
            if notion.name == "ldp":
                best, worst = math.log(low.max() / high.min()), math.log(high.max() / low.min())
            else:
                best, worst = math.log(low.max()), math.log(high.max())
                if notion.name == "lip":
                    best, worst = max(best, -math.log(high.min())), max(worst, -math.log(low.min()))
            budget = notion.bounds[0].epsilon
            expected = "broken" if best > budget else "kept" if worst <= budget else "undecided"
            assert entry.population == expected
            assert entry.allowed is {"broken": False, "kept": True}.get(expected, entry.allowed)


def test_a_promise_with_confidence_is_kept_where_it_holds() -> None:
    joint = dc.Joint.from_counts([[5_000, 6_000], [5_000, 5_500]])
    for epsilon in (0.02, 0.1, 0.3):
        notion = dc.LIP(epsilon, confidence=0.9)
        found = audit(joint, notion)
        assert found.confidence == 0.9
        assert (found.verdict.population == "kept") == notion.holds(joint) == found.verdict.holds


def test_what_the_verdict_said_before_stays() -> None:
    for notion in (dc.LIP(0.5), dc.LDP(1.0), dc.L1Lift(eps_lower=0.5, eps_upper=0.5)):
        verdict = audit(MIXED, notion).verdict
        assert verdict.holds == notion.holds(MIXED)
        assert verdict.slack == notion.slack(MIXED)
        assert verdict.violating_symbols == int((~notion.allowed(MIXED)).sum())


@pytest.mark.parametrize("notion", [dc.L1Lift(eps_lower=0.5, eps_upper=0.5), dc.SRLIP(0.5)])
def test_other_notions_are_not_judged(notion: dc.Notion) -> None:
    found = audit(MIXED, notion)
    assert found.verdict.population is None
    assert found.verdict.population_symbols is None
    assert "not judged" in text_of(found)
    assert audit(MIXED, dc.LIP(1)).verdict.population is not None


@pytest.mark.parametrize("joint", [dc.Joint.random(3, 5), dc.Joint.from_counts([[2**70, 1], [5, 2**70]])])
def test_without_countable_records_nothing_is_said_of_chance(joint: dc.Joint) -> None:
    found = audit(joint, dc.LIP(0.01))
    assert (found.chance, found.confidence, found.verdict.population) == (None, None, None)
    assert found.per_symbol[0].max_lift_interval is None
    assert found.to_dict()["per_symbol"][0]["min_lift_interval"] is None
    said = text_of(found)
    assert "chance" not in said
    assert "Verdict: broken by" in said


def test_values_that_never_occur_are_kept_and_have_no_interval() -> None:
    joint = dc.Joint.from_counts([[500, 0, 400], [500, 0, 600]])
    never = next(entry for entry in audit(joint, dc.LIP(0.1)).per_symbol if entry.symbol == 1)
    assert (never.max_lift_interval, never.population) == (None, None)
    assert audit(joint, dc.LIP(0.1)).verdict.population_symbols["kept"] == 1


def test_the_sure_come_first_and_each_part_is_worst_first() -> None:
    assert [entry.symbol for entry in audit(MIXED, dc.LIP(0.5)).per_symbol] == ["bad", "rare", "good"]
    assert [entry.symbol for entry in audit(MIXED).per_symbol] == ["bad", "good", "rare"]


def test_texts_tell_the_three_verdicts_apart() -> None:
    broken = text_of(audit(MIXED, dc.LIP(0.5)))
    assert "Verdict: broken for sure by 1 of 3 symbols" in broken
    assert "2 break it in the counted table" in broken
    assert "1 of 3 values (0.00 % of the records) have too few records to tell" in broken
    kept = text_of(audit(dc.Joint.from_counts([[5_000, 6_000], [5_000, 5_500]]), dc.LIP(0.5)))
    assert "Verdict: holds in the counted table, and with 95 % confidence in the population." in kept
    assert "too few" not in kept
    few = dc.Joint.from_counts([[3, 1, 2], [1, 3, 2]])
    assert "Verdict: undecided, too few records. The counted table is beyond" in text_of(audit(few, dc.LIP(0.1)))
    assert "Verdict: holds in the counted table. Whether it does" in text_of(audit(few, dc.LIP(1)))
    assert "it is not known to hold at 3 of 3" in text_of(audit(few, dc.LIP(0.1, confidence=0.9)))


def test_a_long_list_leaves_out_what_too_few_records_tell() -> None:
    found = audit(MIXED, dc.LIP(0.5))
    assert [entry.symbol for entry in found.per_symbol.told(2)] == ["bad", "good"]
    assert " rare " not in text_of(found, 2)
    assert " rare " in text_of(found, 3)
    assert "= rare" not in text_of(found, 3)  # what is not sure is not told in a sentence


def test_chance_is_stated_as_plain_data() -> None:
    chance = json.loads(json.dumps(audit(MIXED).to_dict()))["chance"]
    assert {"p_value", "method", "statistic", "expected_information", "share"} <= set(chance)
    assert chance["share"] == pytest.approx(
        chance["expected_information"] / dc.measures.mutual_information(MIXED), rel=1e-9
    )
    assert chance["evidence"]


def test_evidence_of_single_values_is_enough() -> None:
    """Where the test of the whole is drowned in many values that tell nothing."""
    rng = np.random.default_rng(1)
    counts = rng.multinomial(4, [0.5, 0.5], 6_000).T
    counts[:, 0] = 45, 5
    found = audit(dc.Joint.from_counts(counts))
    assert found.chance.p_value > 0.025
    assert found.chance.evidence
    assert "For sure, with 95 % confidence: 0." in text_of(found)


def test_a_report_has_the_intervals_and_the_sentence() -> None:
    made = designed(MIXED, dc.LIP(0.5), "watchdog", curve=False)
    assert made.confidence == 0.95
    assert made.verdict.population == "broken"
    for page in (report_html(made), report_markdown(made)):
        assert "Evidence that X tells about S" in page
        assert "with 95 % confidence, given X" in page.replace("\u00a0", " ")
        assert "\u00d7 1.678 (1." in page
        assert "too few records to be sure" in page
    assert Decision.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    plain = report_html(designed(dc.Joint.random(2, 4), dc.LIP(0.5), "watchdog", curve=False))
    assert "vidence that" not in plain


@pytest.fixture(scope="module")
def postcodes() -> tuple[np.ndarray, np.ndarray]:
    """200,000 records with about 7,000 postcodes, and diagnoses that have nothing to do with them."""
    rng = np.random.default_rng(11)
    share = rng.gamma(0.7, size=7_200)
    return rng.choice(7_200, 200_000, p=share / share.sum()), rng.choice(5, 200_000, p=[0.4, 0.3, 0.15, 0.1, 0.05])


def run_audit(folder: Path, x: np.ndarray, s: np.ndarray, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    from discreet.cli.app import run

    path = folder / "people.parquet"
    pq.write_table(pa.table({"postcode": [f"P{k:04}" for k in x.tolist()], "diagnosis": s}), path)
    chosen = ["--sensitive", "diagnosis", "--useful", "postcode", "--epsilon", "0.5", *more]
    assert run(["audit", str(path), *chosen]) == 1  # the counted table does not keep the promise
    return capsys.readouterr().out


def test_chance_is_not_called_leakage(tmp_path: Path, postcodes, capsys: pytest.CaptureFixture[str]) -> None:
    x, s = postcodes
    out = " ".join(run_audit(tmp_path, x, s, capsys).split())
    assert "No evidence that postcode tells anything about diagnosis (p about 0." in out
    assert "about 100 % of the measured" in out or "about 99." in out
    assert "Verdict: undecided, too few records." in out
    assert "broken" not in out
    assert "Seeing postcode" not in out
    assert "values have too few records to tell" in out.replace(" (100.00 % of the records)", "")


def test_planted_leakage_is_found_and_named_first(
    tmp_path: Path, postcodes, capsys: pytest.CaptureFixture[str]
) -> None:
    x, s = postcodes[0], postcodes[1].copy()
    rng = np.random.default_rng(3)
    common = np.flatnonzero(np.bincount(x, minlength=7_200) >= 40)
    planted = rng.choice(common, 72, replace=False)
    told = np.isin(x, planted) & (rng.random(len(x)) < 0.8)
    s[told] = 4
    found = json.loads(run_audit(tmp_path, x, s, capsys, "--format", "json"))
    assert found["chance"]["evidence"]
    assert found["chance"]["p_value"] < 1e-4
    assert found["chance"]["share"] < 0.7
    names = {f"P{k:04}" for k in planted.tolist()}
    sure = [entry["symbol"] for entry in found["per_symbol"] if entry["population"] == "broken"]
    assert len(sure) > 60
    assert set(sure) <= names
    assert [entry["symbol"] for entry in found["per_symbol"][: len(sure)]] == sure
    out = run_audit(tmp_path, x, s, capsys)
    assert "Evidence that postcode tells about diagnosis (p < 0.0001)" in out
    assert f"Verdict: broken for sure by {len(sure)} of" in out
    listed = out.split("Worst symbols first")[1].splitlines()[2:17]
    assert [line.split()[0] for line in listed] == sure[:15]


def test_the_confidence_of_intervals_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    from discreet.cli.app import run

    adult = ["audit", "sample:adult", "--sensitive", "income", "--useful", "sex", "--format", "json"]
    assert run([*adult, "--sure", "99"]) == 0
    wide = json.loads(capsys.readouterr().out)
    assert run([*adult, "--sure", "50", "--epsilon", "0.3", "--confidence", "80"]) == 1
    narrow = json.loads(capsys.readouterr().out)
    assert (wide["confidence"], narrow["confidence"]) == (0.99, 0.8)
    first, second = (found["per_symbol"][0]["max_lift_interval"] for found in (wide, narrow))
    assert first[0] < second[0] < second[1] < first[1]
    assert run([*adult, "--sure", "100"]) == 2
    assert "--sure takes percent" in capsys.readouterr().err


@pytest.mark.slow
def test_intervals_hold_as_often_as_they_say() -> None:
    """Of 400 tables in which X tells nothing, at most about one in twenty shows evidence of single values."""
    rng = np.random.default_rng(17)
    x, s = rng.integers(0, 60, 3_000), rng.integers(0, 3, 3_000)
    wrong = 0
    for _ in range(400):
        counts = np.zeros((3, 60), dtype=int)
        np.add.at(counts, (rng.permutation(s), x), 1)
        wrong += audit(dc.Joint.from_counts(counts)).chance.telling_symbols > 0
    assert wrong <= 400 * 0.05 + 5 * math.sqrt(400 * 0.05 * 0.95)
