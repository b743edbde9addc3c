"""The summary of a decision says what discreet computes, for every kind of notion and mechanism."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet._support import jsonable
from discreet._support.errors import InputError
from discreet.reporting.decision import decision, decision_summary
from discreet.reporting.words import promise_words

NOTIONS = [
    dc.LIP(0.5),
    dc.ALIP(eps_lower=1.0, eps_upper=0.3),
    dc.ALIP(eps_upper=0.3),
    dc.ALIP(eps_lower=0.7),
    dc.LDP(1.0),
    dc.MaxLift(0.3),
    dc.PerfectPrivacy(),
    dc.SRLIP(0.5),
    dc.L1Lift(eps_upper=0.3),
    dc.L1Lift(eps_lower=0.4, eps_upper=0.3),
    dc.Chi2Lift(eps_upper=0.4),
    dc.AlphaLift(2.0, eps_lower=0.5, eps_upper=0.4),
]

#: Sums and quotients of a few probabilities, in another order.
ROUNDING = 1e-12


@pytest.fixture(scope="module")
def joint() -> dc.Joint:
    return dc.Joint.from_table(dc.samples.adult(), "occupation", "relationship")


@pytest.fixture(scope="module")
def summary(joint: dc.Joint) -> dict[str, Any]:
    return decision_summary(joint, dc.LIP(0.5))


def test_figures_are_those_of_the_design(joint: dc.Joint, summary: dict[str, Any]) -> None:
    made = dc.design(joint, dc.LIP(0.5), "auto")
    times = {"seconds", "search_seconds"}
    stated = {name: value for name, value in summary["design"].items() if name not in times}
    assert stated == {name: value for name, value in made.to_dict().items() if name not in times}
    assert summary["verdict"]["holds"] is dc.LIP(0.5).holds(joint) is False
    assert summary["verdict"]["slack"] == dc.LIP(0.5).slack(joint)
    assert summary["verdict"]["violating_symbols"] == int((~dc.LIP(0.5).allowed(joint)).sum())
    assert summary["verdict"]["release_holds"] is dc.LIP(0.5).holds(joint, made.mechanism) is True


def test_lifts_are_those_of_discreet(joint: dc.Joint, summary: dict[str, Any]) -> None:
    made = dc.design(joint, dc.LIP(0.5), "auto")
    for stated, seen in ((summary["before"], joint), (summary["after"], made.released)):
        order = [seen.useful.index(name) for name in stated["symbols"]]
        assert sorted(order) == list(range(seen.n_useful))
        assert np.array_equal(np.array(stated["lifts"]), dc.measures.lift(seen)[:, order])
        assert stated["shares"] == seen.p_useful[order].tolist()
        assert stated["allowed"] == dc.LIP(0.5).allowed(seen)[order].tolist()
    assert not np.array(summary["after"]["outside"]).any()
    lifts = np.array(summary["before"]["lifts"])
    beyond = (lifts > math.exp(0.5)) | (lifts < math.exp(-0.5))
    assert np.array_equal(np.array(summary["before"]["outside"]), beyond)


def test_what_happens_to_each_value_is_the_channel_and_the_codebook(joint: dc.Joint, summary: dict[str, Any]) -> None:
    mechanism = dc.design(joint, dc.LIP(0.5), "auto").mechanism
    for value in summary["values"]:
        row = mechanism.channel[mechanism.useful.index(value["value"])]
        assert dict(map(tuple, value["released"])) == {y: p for y, p in zip(mechanism.released, row.tolist()) if p > 0}
    book = mechanism.codebook()
    for entry in summary["released"]:
        assert dict(map(tuple, entry["stands_for"])) == pytest.approx(book[entry["label"]], abs=ROUNDING)
    assert [entry["code"] for entry in summary["released"]] == [f"R{k}" for k in range(1, 7)]


def test_the_curve_is_the_frontier(joint: dc.Joint, summary: dict[str, Any]) -> None:
    rows = summary["tradeoff"]["rows"]
    swept = dc.frontier(joint, dc.LIP, [row["epsilon"] for row in rows], ["auto", "subset-merging", "watchdog"])
    assert [(r["method"], r["epsilon"], r["nmi"]) for r in rows] == [(r.method, r.epsilon, r.nmi) for r in swept.rows]
    assert summary["tradeoff"]["epsilon"] == 0.5
    assert 0.5 in {row["epsilon"] for row in rows}


def test_the_curve_of_alip_keeps_the_ratio_of_its_sides(joint: dc.Joint) -> None:
    found = decision_summary(joint, dc.ALIP(eps_lower=0.6, eps_upper=0.2), method="watchdog", epsilons=[0.4, 1.6])
    swept = dc.frontier(joint, lambda e: dc.ALIP.split(e, 0.6 / 0.8), [0.4, 1.6], ["watchdog", "subset-merging"])
    assert found["tradeoff"]["epsilon"] == pytest.approx(0.8)
    assert [row["nmi"] for row in found["tradeoff"]["rows"]] == [row.nmi for row in swept.rows]


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_every_notion_has_words_and_plain_data(notion: dc.Notion) -> None:
    useful = [(a, b) for a in range(2) for b in range(2)]
    joint = dc.Joint.from_counts([[20, 12, 9, 10], [8, 14, 13, 22]], useful=useful, sensitive_columns=["illness"])
    found = decision_summary(joint, notion)
    assert json.loads(jsonable.dumps(found))["notion_text"] == str(notion)
    assert found["promise"].endswith(".")
    assert "illness" in found["promise"]
    one_budget = notion.name != "perfect" and None in (
        found["notion"].get("eps_lower"),
        found["notion"].get("eps_upper"),
    )
    assert bool(found["tradeoff"]["rows"]) is (one_budget or notion.name == "alip")
    assert bool(found["tradeoff"]["note"]) is not bool(found["tradeoff"]["rows"])


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 0.5, 1.0, 3.7, 12.0, 699.0])
def test_words_never_promise_more_than_the_notion(epsilon: float) -> None:
    words = promise_words(dc.LIP(epsilon), "x").split()
    more, less = (float(words[words.index(name) + 2]) for name in ("more", "less"))
    assert more >= math.exp(epsilon) * (1 - ROUNDING)
    assert less <= math.exp(-epsilon) * (1 + ROUNDING)
    assert more == pytest.approx(math.exp(epsilon), rel=2e-3)


def test_words_of_a_vast_or_a_zero_budget() -> None:
    assert "exp(5000)" in promise_words(dc.LIP(5000), "x")
    assert promise_words(dc.ALIP(eps_lower=0.0, eps_upper=1.0), "x") == promise_words(dc.PerfectPrivacy(), "x")


@pytest.mark.parametrize("method", ["oue", "conditional-reporting", "optimal-with-sensitive", "watchdog", "grr"])
def test_every_kind_of_mechanism_is_shown(method: str) -> None:
    joint = dc.Joint.random(3, 5, seed=2)
    found = decision_summary(joint, dc.LIP(0.6), method=method, rows=4, epsilons=[0.6])
    assert len(found["examples"]) == 4
    for value in found["values"]:
        assert sum(p for _, p in value["released"]) == pytest.approx(1)
    for entry in found["released"]:
        assert sum(p for _, p in entry["stands_for"]) == pytest.approx(1)
    assert any("reads" in sentence for sentence in found["limits"]) is found["design"]["reads_sensitive"]


def test_long_encodings_are_told_in_words() -> None:
    found = decision_summary(dc.Joint.random(3, 20, seed=1), dc.LIP(0.6), method="oue", rows=2, epsilons=[0.6])
    assert found["after"] is None
    assert "20 bits" in found["unlisted"]
    assert all(set(y) <= {"0", "1"} for _, y in found["examples"])


def test_values_without_mass_are_left_out() -> None:
    joint = dc.Joint.from_counts([[5, 0, 3], [1, 0, 6]], useful=["a", "never", "b"])
    found = decision_summary(joint, dc.LIP(0.4))
    assert {value["value"] for value in found["values"]} == {"a", "b"}
    assert set(found["before"]["symbols"]) == {"a", "b"}


def test_a_null_and_the_word_null_stay_apart() -> None:
    found = decision_summary(dc.Joint.from_counts([[5, 2], [1, 6]], useful=["null", None]), dc.LIP(0.9))
    assert {value["value"] for value in found["values"]} == {"null", "null (2)"}
    assert {entry["symbol"] for entry in found["worst"]} == {"null", "null (2)"}


def test_a_large_joint_sweeps_only_the_fast_methods() -> None:
    found = decision_summary(dc.Joint.random(40, 40, seed=1), dc.LIP(3.0), method="subset-response")
    assert {row["method"] for row in found["tradeoff"]["rows"]} == {"subset-merging", "watchdog"}
    assert "fast methods" in found["tradeoff"]["note"]


def test_a_certificate_shows_its_digest_and_never_its_counts(joint: dc.Joint) -> None:
    certificate = dc.certify(dc.design(joint, dc.LIP(0.5)))
    stated = decision_summary(joint, dc.LIP(0.5), certificate=certificate, epsilons=[0.5])["certificate"]
    assert stated["digest"] == certificate["certificate_digest"]
    assert stated["intact"]
    assert stated["same_mechanism"]
    assert stated["nmi"] == certificate["nmi"]
    assert "counts" not in json.dumps(stated)


def test_a_changed_certificate_and_another_mechanism_are_named(joint: dc.Joint) -> None:
    other = dc.certify(dc.design(joint, dc.LIP(0.5), "grr")).to_dict()
    changed = dc.Certificate({**other, "nmi": "0.999999"})
    stated = decision_summary(joint, dc.LIP(0.5), certificate=changed, epsilons=[0.5])["certificate"]
    assert not stated["intact"]
    assert not stated["same_mechanism"]


def test_wrong_requests_are_refused(joint: dc.Joint) -> None:
    certificate = dc.certify(dc.design(joint, dc.LIP(0.5)))
    with pytest.raises(InputError, match="another promise"):
        decision_summary(joint, dc.LIP(0.6), certificate=certificate)
    lacking = {name: value for name, value in certificate.to_dict().items() if name != "achieved"}
    with pytest.raises(InputError, match="damaged"):
        decision_summary(joint, dc.LIP(0.5), certificate=dc.Certificate(lacking), epsilons=[0.5])
    with pytest.raises(InputError, match="rows must be"):
        decision_summary(joint, dc.LIP(0.5), rows=-1)


def test_examples_are_drawn_only_on_request(joint: dc.Joint, summary: dict[str, Any]) -> None:
    assert summary["examples"] is None
    found = decision_summary(joint, dc.LIP(0.5), rows=50, epsilons=[0.5])
    becomes = {value["value"]: dict(map(tuple, value["released"])) for value in found["values"]}
    assert all(becomes[x][y] > 0 for x, y in found["examples"])
    assert len({x for x, _ in found["examples"]}) > 2


def test_a_design_for_another_utility_says_what_it_keeps_of_it(joint: dc.Joint) -> None:
    made = dc.design(joint, dc.LIP(0.5), utility="accuracy")
    found = decision(made, curve=False)
    assert found.limit.startswith("Designed for accuracy, records guessed right: ")
    assert "(share of records)" in found.limit
    assert "No release that is measured so can keep more than" in found.limit
    assert found.design.nmi == made.nmi  # a report speaks of information all the same
