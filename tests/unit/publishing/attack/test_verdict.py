"""Verdicts: broken even at the favourable end, undecided beyond twice the budget, else not broken."""

from __future__ import annotations

import math

import numpy as np
import pytest

import discreet as dc
from discreet.publishing.attack.lifts import Cell
from discreet.publishing.attack.presence import PresenceCell
from discreet.publishing.attack.verdict import Found, Judgement, Promised, findings, judged, promised, with_unchecked


def found(log_lift: float, low: float, high: float, n: int = 1000) -> Found:
    return Found(log_lift, low, high, n, 0.2, "here: >50K")


@pytest.mark.parametrize(
    ("cell", "notion", "word"),
    [
        (found(0.7, 0.51, 0.9), dc.LIP(0.5), "broken"),
        (found(-0.7, -0.9, -0.51), dc.LIP(0.5), "broken"),
        (found(0.7, 0.49, 0.9), dc.LIP(0.5), "not broken"),
        (found(1.01, 0.49, 1.5), dc.LIP(0.5), "undecided"),
        (found(-math.inf, -math.inf, -0.4), dc.LIP(0.5), "undecided"),
        (found(-math.inf, -math.inf, -0.4, n=20), dc.LIP(0.5), "not broken"),  # four records expected
        (found(-math.inf, -math.inf, -3), dc.MaxLift(0.5), "not broken"),
        (found(0.34, 0.1, 0.5), dc.LIP(0.1), "not broken"),
        (found(0.36, 0.1, 0.5), dc.LIP(0.1), "undecided"),
        (found(0.7, 0.6, 0.8), dc.ALIP(eps_lower=0.1, eps_upper=0.9), "not broken"),
        (found(-0.3, -0.4, -0.2), dc.ALIP(eps_lower=0.1, eps_upper=0.9), "broken"),
        (found(0.01, 0.005, 0.02), dc.notions.PerfectPrivacy(), "broken"),
        (found(0.9, 0.85, 0.95), dc.LDP(1), "broken"),  # 0.2 * exp(0.85) has odds 3.5 times those of 0.2
        (found(0.9, 0.6, 0.95), dc.LDP(1), "not broken"),
        (found(0.4, 0.3, 0.5), dc.LDP(1) & dc.MaxLift(0.2), "broken"),
        (found(-0.4, -0.5, -0.3), dc.LDP(1) & dc.MaxLift(0.2), "not broken"),
    ],
)
def test_a_cell_is_judged(cell: Found, notion: dc.Notion, word: str) -> None:
    allowed = promised(notion)
    assert allowed is not None
    verdict, reasons, _ = judged([found(0.0, -0.01, 0.01), cell], allowed)
    assert verdict == word
    assert len(reasons) == (word != "not broken")


def test_presence_given_equal_belief_counts_and_the_plain_share_does_not() -> None:
    prior = np.array([0.8, 0.2])
    quiet = Cell("bayes", 1, 0, 0.5, 100, 20, 0.2, 0.0, -0.3, 0.3)
    plain = PresenceCell("3+", 1, 500, 200, 200.0, math.log(2), 0.0, -0.2, 0.2)
    surely = PresenceCell("0", 1, 500, 200, 100.0, math.log(2), math.log(2), 0.55, 0.9)
    allowed = Promised(-0.5, 0.5)
    assert judged(findings([quiet], [plain], prior, ["no", "yes"]), allowed)[0] == "not broken"
    verdict, (reason,), beyond = judged(findings([quiet], [plain, surely], prior, ["no", "yes"]), allowed)
    assert (verdict, beyond) == ("broken", math.inf)  # presence: no margin between classes mends it
    assert reason.startswith(
        "presence, 0 appearances, 500 records, given equal belief: yes has a log-lift of 0.69 nats"
    )


def test_the_worst_reasons_come_first_and_the_rest_is_counted() -> None:
    cells = [found(0.6 + k / 100, 0.55 + k / 100, 2.0) for k in range(20)]
    _, reasons, _ = judged(cells, Promised(-0.5, 0.5))
    assert "log-lift of 0.79 nats, 0.74 to 2.00 (promised -0.5 to 0.5)" in reasons[0]
    assert (len(reasons), reasons[-1]) == (13, "And 8 more.")


def test_some_two_lifts_lie_as_far_apart_as_the_odds_say() -> None:
    random = np.random.default_rng(0)
    for _ in range(200):
        prior, shares = random.dirichlet(np.ones(4)), random.dirichlet(np.ones(4))
        lifts = np.log(shares / prior)
        for value in range(4):
            odds = Found(lifts[value], lifts[value], lifts[value], 100, prior[value], "").odds.log_lift
            assert abs(odds) <= lifts.max() - lifts.min() + 1e-9
    assert promised(None) is None


def test_what_is_unchecked_is_never_called_not_broken() -> None:
    said = ("100 rows were not looked at.",)
    assert with_unchecked(Judgement("not broken"), said) == ("undecided", said, 0.0)
    assert with_unchecked(Judgement("undecided", ("a",)), said).reasons == ("a", *said)
    for left in (Judgement("broken", ("a",), 1.0), Judgement("not broken")):
        assert with_unchecked(left, said if left.word == "broken" else ()) == left
