"""Proofs by cuts in certificates: the checker makes the rows anew, and whoever changes them proves nothing false."""

from __future__ import annotations

import copy
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import AlphaLift, Chi2Lift, Joint, L1Lift, Notion, certify, design
from discreet.certificate import checker
from discreet.certificate.record import sealed

COUNTS = [[30, 15, 5, 8, 20, 3], [10, 15, 25, 9, 20, 14], [4, 2, 9, 20, 12, 7]]

NOTIONS: list[Notion] = [
    AlphaLift(2, eps_upper=0.05),
    AlphaLift(10, eps_upper=0.15),
    AlphaLift(1.5, eps_lower=0.05),
    AlphaLift(3, eps_lower=0.2, eps_upper=0.1),
    Chi2Lift(eps_upper=0.2),
    Chi2Lift(eps_lower=0.2),
    Chi2Lift(eps_lower=0.25, eps_upper=0.2),
    L1Lift(eps_upper=0.1),
    L1Lift(eps_lower=0.2),
    L1Lift(eps_lower=0.2, eps_upper=0.2),
]
Data = dict[str, Any]


def certificate(notion: Notion) -> Data:
    return certify(design(Joint.from_counts(COUNTS), notion)).to_dict()


@pytest.fixture(scope="module")
def alpha() -> Data:
    return certificate(AlphaLift(2, eps_upper=0.05))


@pytest.fixture(scope="module")
def inverse() -> Data:
    return certificate(Chi2Lift(eps_lower=0.2))


def verdict(content: Data) -> dict[str, bool | None]:
    """What the checker finds in a certificate whose digest is right."""
    return {subject: passed for subject, passed, _ in checker.check(dict(sealed(content)))}


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_proofs_by_cuts_pass(notion: Notion) -> None:
    content = certificate(notion)
    assert content["bound_evidence"] == "proof"
    assert len(content["proof"]["cuts"]) > 0
    assert all(passed for passed in verdict(content).values())
    found = design(Joint.from_counts(COUNTS), notion)
    assert found.bound is not None
    assert float(content["bound"]) == pytest.approx(found.bound, abs=2e-6)


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_a_bound_below_what_is_reached_is_never_proven(notion: Notion) -> None:
    """Whatever lifts w > 0 the cuts are made at: the rows that they give are true."""
    content, rng = certificate(notion), np.random.default_rng(0)
    reached = checker.information_kept(content)
    for _ in range(30):
        forged = copy.deepcopy(content)
        spread = rng.choice([1e-6, 1e-3, 0.1, 1.0])
        forged["proof"]["cuts"] = [
            [w * float(np.exp(rng.normal(0, spread))) for w in cut] for cut in forged["proof"]["cuts"]
        ]
        for vector in forged["proof"]["multipliers"] or []:
            for entry in vector:
                entry[1] *= float(np.exp(rng.normal(0, spread)))
        try:
            proven = checker.proven_bound(forged)
        except ValueError:
            continue  # lifts that no allowed symbol has
        assert proven >= reached


def first_cut(value: Any) -> Callable[[Data], None]:
    def forge(content: Data) -> None:
        content["proof"]["cuts"] = [[value, *cut[1:]] for cut in content["proof"]["cuts"]]

    return forge


def without_cuts(content: Data) -> None:
    del content["proof"]["cuts"]


def shorter(content: Data) -> None:
    content["proof"]["cuts"] = [cut[:-1] for cut in content["proof"]["cuts"]]


def other_side(content: Data) -> None:
    sides = {"upper-cut": "lower-cut", "lower-cut": "upper-cut"}
    content["proof"]["rows"] = [[sides[row[0]], *row[1:]] for row in content["proof"]["rows"]]


def of_lifts(content: Data) -> None:
    content["proof"]["rows"] = [["upper", 0, None, 0] for _ in content["proof"]["rows"]]


def far_away(content: Data) -> None:
    content["proof"]["rows"] = [[row[0], row[1] + 1000, *row[2:]] for row in content["proof"]["rows"]]


@pytest.mark.parametrize(
    "forge",
    [first_cut(0), first_cut(-1.5), first_cut(0.0), first_cut(1e300), without_cuts, shorter, other_side, of_lifts,
     far_away],
)  # fmt: skip
def test_what_is_no_cut_is_refused(alpha: Data, forge: Callable[[Data], None]) -> None:
    forged = copy.deepcopy(alpha)
    forge(forged)
    assert verdict(forged)["bound"] is False


@pytest.mark.parametrize("lift", [-1.0, -1e-9, 0.0])
def test_lifts_below_zero_are_refused(inverse: Data, lift: float) -> None:
    """Where the line at -1 would lie above f, and prove what is false."""
    forged = copy.deepcopy(inverse)
    first_cut(lift)(forged)
    assert verdict(forged)["bound"] is False
    with pytest.raises(ValueError, match="not a cut"):
        checker.proven_bound(forged)


@pytest.mark.parametrize("changed", [{"eps_upper": 0.08}, {"alpha": 1.5}, {"name": "chi2"}])
def test_a_proof_for_another_bound_proves_nothing_here(alpha: Data, changed: Data) -> None:
    """Cuts of a tighter budget, of a larger order and of another measure, under a notion that allows more."""
    forged = copy.deepcopy(alpha)
    notion = forged["notion"] | changed
    if notion["name"] == "chi2":
        notion = {"name": "chi2", "eps_lower": None, "eps_upper": 0.5}
    forged["notion"] = forged["mechanism"]["notion"] = notion
    forged["digests"]["mechanism"] = checker.digest(forged["mechanism"])
    found = verdict(forged)
    assert found["leakage"] is True  # the mechanism keeps the weaker promise as well
    assert found["bound"] is False


def test_a_tighter_statement_is_refused(alpha: Data) -> None:
    lower = float(alpha["bound"]) - 2e-6
    forged = copy.deepcopy(alpha) | {"nmi": f"{lower:.6f}", "bound": f"{lower:.6f}"}
    assert verdict(forged)["bound"] is False


@pytest.mark.parametrize("factor", [0.5, 0.9, 0.99])
def test_tops_that_lifts_exceed_are_refused(inverse: Data, factor: float) -> None:
    forged = copy.deepcopy(inverse)
    forged["proof"]["lifts"] = [factor * top for top in forged["proof"]["lifts"]]
    assert verdict(forged)["bound"] is False


def test_a_cut_under_earlier_releases_is_refused(alpha: Data) -> None:
    forged = copy.deepcopy(alpha)
    forged["counts"]["outcomes"] = [forged["counts"]["cells"]]
    with pytest.raises(ValueError, match="not a cut"):
        checker.proven_bound(forged)


@pytest.mark.parametrize("kind", ["l1_lift", "chi2_lift", "l1_lift_inverse", "chi2_lift_inverse"])
@given(w=st.fractions(Fraction(1, 100), 20), top=st.fractions(Fraction(1, 2), 20), share=st.fractions(0, 1))
def test_lines_lie_below(kind: str, w: Fraction, top: Fraction, share: Fraction) -> None:
    """In rational numbers, at every lift up to the top; at w itself they touch where the measure is convex."""
    constant, slope = checker._line(kind, w, top, Fraction(1), Fraction(1))

    def f(lift: Fraction) -> Fraction:
        away = (1 / lift if kind.endswith("_inverse") else lift) - 1
        return abs(away) if kind.startswith("l1") else away**2

    for lift in (max(share * top, Fraction(1, 1000)), top, Fraction(1, 1000)):
        assert constant + slope * lift <= f(lift)
    if not kind.endswith("_inverse") or w < 1:
        assert constant + slope * w == f(w)


def test_powers_are_enclosed() -> None:
    mpmath.mp.dps = 80
    for w, power, exponent in ((Fraction(3, 7), Fraction(-5, 2), Fraction(1, 3)), (Fraction(11, 9), Fraction(40), 2)):
        true = mpmath.mpf(w.numerator) / w.denominator
        true = true ** (mpmath.mpf(power.numerator) / power.denominator)
        true *= mpmath.exp(-mpmath.mpf(Fraction(exponent).numerator) / Fraction(exponent).denominator)
        low, high = (checker._power(w, power, Fraction(exponent), side) for side in (-1, 1))
        assert mpmath.mpf(low.numerator) / low.denominator < true < mpmath.mpf(high.numerator) / high.denominator
        assert high - low < Fraction(1, 10**38) * high
