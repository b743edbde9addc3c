"""Intervals of lifts hold all at once as often as they say, and are narrow where many values are rare."""

from __future__ import annotations

import math

import numpy as np
import pytest

import discreet as dc
from discreet.measures import lift, lift_intervals

DRAWS = 200


@pytest.mark.parametrize(
    ("records", "n_sensitive", "confidence"),
    [((40, 3, 3, 1), 2, 0.5), ((5,) * 12, 3, 0.6), ((900, 20, 1), 3, 0.3), ((2, 2), 2, 0.05)],
)
def test_intervals_hold_at_once(records: tuple[int, ...], n_sensitive: int, confidence: float) -> None:
    """For beliefs that differ from value to value, near 0 and 1 too."""
    rng = np.random.default_rng(len(records))
    share = np.array(records) / sum(records)
    held = 0
    for _ in range(DRAWS):
        beliefs = rng.dirichlet([0.3] * n_sensitive, len(records)).T
        truth = beliefs / (beliefs @ share)[:, None]
        counts = np.stack([rng.multinomial(n, b) for n, b in zip(records, beliefs.T)], axis=1)
        low, high = lift_intervals(dc.Joint.from_counts(counts), confidence)
        held += bool(((low <= truth) & (truth <= high)).all())
    # Five standard errors below what was promised.
    assert held >= DRAWS * confidence - 5 * math.sqrt(DRAWS * confidence * (1 - confidence))


def test_intervals_contain_what_was_counted() -> None:
    joint = dc.Joint.from_counts(np.random.default_rng(4).poisson(3, (4, 60)))
    low, high = lift_intervals(joint, 0.01)
    some = joint.occurs
    assert (low <= lift(joint))[:, some].all()
    assert (lift(joint) <= high)[:, some].all()


def test_rare_values_leave_the_others_alone() -> None:
    """What limits of single values leave of P(s) grows with their number; what all records tell of it does not."""
    rng = np.random.default_rng(6)
    counts = np.stack([rng.binomial(5, 0.1, 3_000), np.zeros(3_000, dtype=int)])
    counts[1] = 5 - counts[0]
    counts[:, 0] = 60, 40
    joint = dc.Joint.from_counts(counts)
    assert lift_intervals(joint, 0.95)[0][0, 0] > 3
    assert dc.ALIP(eps_lower=9, confidence=0.95).levels(joint)[0, 0] > 0  # where limits of P(s | x) alone speak


def test_values_that_never_occur_may_be_anything() -> None:
    low, high = lift_intervals(dc.Joint.from_counts([[5, 0], [5, 0]]), 0.9)
    assert low[:, 1].tolist() == [0, 0]
    assert np.isinf(high[:, 1]).all()
    assert (low[:, 0].tolist(), high[:, 0].tolist()) == ([1, 1], [1, 1])  # one value alone tells nothing
