"""Certificates with confidence: the standalone checker decides limits and promise by itself."""

from __future__ import annotations

import copy
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.certificate import checker
from discreet.certificate.record import sealed
from tests.bruteforce import samples

Content = dict[str, Any]


def design_of(seed: int) -> dc.Design:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 4)), int(rng.integers(2, 6))
    counts = rng.integers(1, int(rng.choice([30, 300, 3000, 30000])), size)
    confidence = float(rng.choice([0.8, 0.95, 0.99]))
    notion = [
        dc.LIP(float(rng.choice([0.2, 0.5, 1])), confidence=confidence),
        dc.ALIP(eps_lower=0.7, eps_upper=0.4, confidence=confidence),
        dc.MaxLift(0.5, confidence=confidence),
    ][int(rng.integers(3))]
    return dc.design(dc.Joint.from_counts(counts), notion, time_limit=2.0)


def verdicts(content: Content) -> dict[str, bool | None]:
    return {subject: passed for subject, passed, _ in checker.check(content)}


@pytest.mark.parametrize("seed", range(200))
def test_honest_designs_are_verified(seed: int) -> None:
    design = design_of(seed)
    content = dc.certify(design).to_dict()
    found = verdicts(content)
    assert found["limits"] is True
    assert found["leakage"] is True
    assert False not in found.values()
    if design.status == "optimal" and design.nmi < 0.999:
        assert found["bound"] is True
        assert float(content["bound"]) < design.nmi + 1e-5


def narrowed(content: Content) -> None:
    """One limit closer to what was counted, by a thousandth of the way."""
    for entry in content["counts"]["limits"]:
        s, x, _, high = entry
        column = [n for _, place, n in content["counts"]["cells"] if place == x]
        share = next((n for a, b, n in content["counts"]["cells"] if (a, b) == (s, x)), 0) / sum(column)
        if high < checker.FULL:
            entry[3] = high - int((high - share * checker.FULL) / 1000)
            return


def widened(content: Content) -> None:
    """All limits wider: the promise, which is tight, no longer holds within them."""
    for entry in content["counts"]["limits"]:
        entry[2], entry[3] = int(entry[2] * 0.9), checker.FULL - int((checker.FULL - entry[3]) * 0.9)


def surer(content: Content) -> None:
    confidence = 1 - (1 - content["notion"]["confidence"]) / 10
    content["notion"] = content["mechanism"]["notion"] = {**content["notion"], "confidence": confidence}


def counted_otherwise(content: Content) -> None:
    """Tenth parts of the counts, for which the limits are too narrow."""
    content["counts"]["cells"] = [[s, x, max(1, n // 10)] for s, x, n in content["counts"]["cells"]]
    total = sum(n for _, _, n in content["counts"]["cells"])
    content["rows"] = {"input": total, "output": total}


def without_limits(content: Content) -> None:
    del content["counts"]["limits"]


def with_a_limit_less(content: Content) -> None:
    content["counts"]["limits"].pop()


def with_one_twice(content: Content) -> None:
    content["counts"]["limits"].append(content["counts"]["limits"][0])


def turned_around(content: Content) -> None:
    entry = content["counts"]["limits"][0]
    entry[2], entry[3] = entry[3], entry[2]


def without_confidence(content: Content) -> None:
    notion = {name: value for name, value in content["notion"].items() if name != "confidence"}
    content["notion"] = content["mechanism"]["notion"] = notion


def certain(content: Content) -> None:
    content["notion"] = content["mechanism"]["notion"] = {**content["notion"], "confidence": 1}


CHANGES: list[Callable[[Content], None]] = [
    narrowed,
    widened,
    surer,
    counted_otherwise,
    without_limits,
    with_a_limit_less,
    with_one_twice,
    turned_around,
    without_confidence,
    certain,
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("seed", [1, 4, 11, 12])
def test_changed_limits_are_rejected(seed: int, change: Callable[[Content], None]) -> None:
    rng = np.random.default_rng(seed)
    joint = dc.Joint.from_counts(rng.integers(100, 3000, (3, 4)))
    content = copy.deepcopy(dc.certify(dc.design(joint, dc.LIP(0.3, confidence=0.9), time_limit=3.0)).to_dict())
    change(content)
    content["digests"]["mechanism"] = checker.digest(content["mechanism"])
    assert False in verdicts(sealed(content)).values()


@pytest.mark.parametrize(("n", "k"), [(1, 0), (7, 3), (40, 0), (40, 39), (300, 20), (300, 290)])
@pytest.mark.parametrize("alpha", [0.05, 1e-4, 1e-9])
def test_tails_are_bounded_closely_from_above(n: int, k: int, alpha: float) -> None:
    from scipy.special import betaincinv

    p = Fraction(1 - float(betaincinv(n - k, k + 1, alpha)))
    exact = samples.below(n, k, p)
    bound = checker._tail(n, k, p)
    assert exact <= Fraction(bound) <= exact * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("n", [2**60, 2**100, 10**30])
def test_more_records_than_floats_tell_apart_are_no_limits(n: int) -> None:
    assert not checker._is_limit(n, n // 2, 2**59 + 1, Fraction(1, 100))
    assert checker._tail(n, n // 2, Fraction(2**59 + 1, 2**60)) > 0


@pytest.mark.parametrize("n", [10**5, 10**7, 10**9])
def test_tails_of_many_records_are_those_of_the_beta_function(n: int) -> None:
    from scipy.special import betainc, betaincinv

    k = n // 3
    p = float(1 - betaincinv(n - k, k + 1, 1e-5))
    assert checker._tail(n, k, Fraction(p)) == pytest.approx(float(betainc(n - k, k + 1, 1 - p)), rel=1e-6)


def test_limits_of_more_confidence_prove_no_bound() -> None:
    """Wider limits keep the promise of narrower ones, but what is proven for them is not for those."""
    joint = dc.Joint.from_counts([[900, 400, 300, 100], [200, 700, 300, 500], [100, 200, 800, 600]])
    notion = dc.LIP(0.3, confidence=0.95)
    content = copy.deepcopy(dc.certify(dc.design(joint, dc.LIP(0.3, confidence=1 - 1e-9))).to_dict())
    assert float(content["bound"]) < dc.design(joint, notion).nmi
    content["notion"] = content["mechanism"]["notion"] = notion.to_dict()
    content["digests"]["mechanism"] = checker.digest(content["mechanism"])
    assert verdicts(sealed(content))["limits"] is False


def test_large_budgets_are_certified() -> None:
    joint = dc.Joint.from_counts([[50, 0, 20], [50, 60, 30]])
    found = dc.design(joint, dc.ALIP(eps_lower=0.5, eps_upper=1000, confidence=0.95))
    assert False not in verdicts(dc.certify(found).to_dict()).values()


def test_logarithms_of_factorials() -> None:
    import mpmath

    with mpmath.workdps(60):
        for n in (0, 1, 5, 255, 256, 257, 10_000, 10**9):
            found = checker._log_factorial(n)
            assert abs(mpmath.mpf(found.numerator) / found.denominator - mpmath.loggamma(n + 1)) < mpmath.mpf(10) ** -28


def test_a_table_is_verified_by_its_public_certificate(tmp_path: Any) -> None:
    """Limits are made anew from what is counted in the table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, 4000)
    table = pa.table({"s": (x + rng.integers(0, 3, 4000)) % 3, "x": x, "id": np.arange(4000)})
    pq.write_table(table, tmp_path / "t.parquet")
    joint = dc.Joint.from_table(table, "s", "x")
    mechanism = dc.design(joint, dc.LIP(0.4, confidence=0.95), time_limit=3.0).mechanism
    options = {"id": "id", "seed": 1, "private_certificate": tmp_path / "p.json"}
    dc.release(tmp_path / "t.parquet", mechanism, output=tmp_path / "o.parquet", **options)
    for certificate in ("o.parquet.certificate.json", "p.json"):
        verdict = dc.verify(tmp_path / certificate, tmp_path / "t.parquet", tmp_path / "o.parquet")
        assert verdict.level == "verified", verdict
