"""Lines below functions of the lift: below them everywhere, and touching where they can."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.notions import AlphaMean, BoundKind, Chi2Mean, InverseMean, L1Mean
from discreet.notions.lines import CONVEX_UP_TO, Lines

KINDS: list[BoundKind] = [L1Mean(), Chi2Mean(), AlphaMean(2), AlphaMean(1.3), AlphaMean(10)]
KINDS += [InverseMean(kind) for kind in KINDS]  # type: ignore[arg-type]
CONVEX = [kind for kind in KINDS if kind.is_convex]  # type: ignore[attr-defined]

#: Rounding of differences of numbers that are as large as these.
ROUNDING = 1e-11

lifts = st.floats(1e-3, 30.0)


def of(kind: BoundKind, lift: np.ndarray, epsilon: float) -> np.ndarray:
    """f(l) over its limit, from the value of a symbol with this lift alone."""
    value = kind.value(lift[None], np.ones(1))
    order = kind.alpha if isinstance(kind, AlphaMean) else getattr(getattr(kind, "of", None), "alpha", 1.0)
    limit = float(kind.limit(np.array(epsilon)))
    return np.asarray((value / limit) ** order)


def lines_at(kind: BoundKind, at: float, largest: float, epsilon: float) -> Lines:
    return kind.lines(np.array([at]), np.array([largest]), epsilon)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(at=lifts, largest=st.floats(0.5, 30.0), epsilon=st.floats(0.01, 2.0))
def test_lines_lie_below(kind: BoundKind, at: float, largest: float, epsilon: float) -> None:
    """For every lift up to the largest, wherever the line was made."""
    slope, constant, _ = lines_at(kind, at, largest, epsilon)
    every = np.append(np.geomspace(1e-4, largest, 400), [largest, min(at, largest)])
    value = of(kind, every, epsilon)
    size = np.abs(constant) + np.abs(slope) * every + value
    assert (constant + slope * every <= value + ROUNDING * size).all()


@pytest.mark.parametrize("kind", CONVEX, ids=str)
@given(at=lifts, epsilon=st.floats(0.01, 2.0))
def test_lines_of_convex_measures_touch(kind: BoundKind, at: float, epsilon: float) -> None:
    slope, constant, _ = lines_at(kind, at, 30.0, epsilon)
    value = of(kind, np.array([at]), epsilon)
    assert constant + slope * at == pytest.approx(value, rel=1e-9, abs=1e-9 * float(abs(constant[0])))


@given(largest=st.floats(1.0, 30.0))
def test_the_envelope_ends_where_the_measure_does(largest: float) -> None:
    """Of the measures that are not convex the last line meets f at the largest lift, so none closer would be below."""
    for kind in (InverseMean(L1Mean()), InverseMean(Chi2Mean())):
        if largest < CONVEX_UP_TO and kind.of == Chi2Mean():
            continue  # convex as far as lifts go
        slope, constant, _ = lines_at(kind, largest, largest, 0.3)
        assert constant + slope * largest == pytest.approx(of(kind, np.array([largest]), 0.3), rel=1e-6, abs=1e-9)


@given(st.lists(st.floats(0.05, 1.0), min_size=2, max_size=5), st.integers(0, 10_000), st.floats(0.02, 1.0))
def test_no_allowed_symbol_exceeds_the_largest_lifts(shares: list[float], seed: int, epsilon: float) -> None:
    rng = np.random.default_rng(seed)
    prior = np.array(shares) / sum(shares)
    for kind in (InverseMean(L1Mean()), InverseMean(Chi2Mean())):
        tops = kind.largest_lifts(prior, epsilon)
        beliefs = rng.dirichlet(prior * rng.choice([3.0, 30.0, 300.0]), 200)
        beliefs = np.vstack([beliefs, *(prior + t * (beliefs - prior) for t in (0.1, 0.3))])
        # The extreme: one lift at its top, and all others alike.
        for s, top in enumerate(tops.tolist()):
            lift = np.full(len(prior), (1 - prior[s] * top * 0.999) / (1 - prior[s]))
            lift[s] = 0.999 * top
            beliefs = np.vstack([beliefs, lift * prior]) if (lift > 0).all() and top < 1 / prior[s] else beliefs
        every = (beliefs / prior).T
        allowed = kind.level(kind.value(every, prior)) <= epsilon
        assert (every[:, allowed] <= tops[:, None] * (1 + 1e-12)).all()


def test_tops_are_no_larger_than_need_be() -> None:
    """At the top itself, with all other lifts alike, the bound is just used up."""
    prior = np.array([0.3, 0.5, 0.2])
    for kind in (InverseMean(L1Mean()), InverseMean(Chi2Mean())):
        for s, top in enumerate(kind.largest_lifts(prior, 0.2).tolist()):
            lift = np.full(3, (1 - prior[s] * top) / (1 - prior[s]))
            lift[s] = top
            assert float(kind.level(kind.value(lift[:, None], prior))[0]) == pytest.approx(0.2, abs=1e-9)


def test_large_orders_do_not_overflow() -> None:
    slope, constant, _ = AlphaMean(5000).lines(np.array([math.exp(0.3)]), np.array([9.0]), 0.3)
    assert slope[0] == pytest.approx(5000 * math.exp(-0.3), rel=1e-9)
    assert constant[0] == pytest.approx(-4999, rel=1e-9)
