"""Draws agree with the weights, by a test that would notice 2 % of a row's mass in the wrong place."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet import LIP, SRLIP, Joint, Mechanism, design

DRAWS = 1_000_000

#: Two-sided p of about 8e-11 for each entry: below 1e-6 over the some thousand entries tested here.
Z_LIMIT = 6.5

METHODS = ["watchdog", "grr", "tight-rr", "max-truth", "optimal", "conditional-reporting", "optimal-with-sensitive"]


def largest_z(counts: np.ndarray, channel: np.ndarray) -> float:
    """Largest deviation of counted from expected entries, in standard deviations; inf for what cannot be drawn."""
    total = counts.sum(axis=1, keepdims=True)
    expected, variance = total * channel, total * channel * (1 - channel)
    off = np.abs(counts - expected)
    z = np.divide(off, np.sqrt(variance), out=np.where(off > 0.5, np.inf, 0.0), where=variance > 1e-9)
    return float(z.max())


def counted(mechanism: Mechanism, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Counts by row and released symbol of 1e6 draws, x (and s) uniform; and the channel as a matrix."""
    x = rng.integers(0, mechanism.n_useful, DRAWS)
    rows, s = x, None
    if mechanism.reads_sensitive:
        s = rng.integers(0, mechanism.n_sensitive, DRAWS)
        rows = s * mechanism.n_useful + x
    drawn = mechanism.sample(x, rng, s)
    channel = mechanism.channel.reshape(-1, mechanism.n_released)
    counts = np.bincount(rows * mechanism.n_released + drawn, minlength=channel.size).reshape(channel.shape)
    return counts, channel


@pytest.mark.parametrize("method", METHODS)
def test_draws_agree_with_the_weights(method: str) -> None:
    joint = Joint.random(3, 8, seed=6)
    mechanism = design(joint, LIP(0.4), method).mechanism
    counts, channel = counted(mechanism, np.random.default_rng(1))
    assert largest_z(counts, channel) < Z_LIMIT
    # 2 % of one row moved between two of its entries must be noticed.
    row = int(np.argmax((channel > 0).sum(axis=1)))
    if (channel[row] > 0).sum() >= 2:
        rich, other = np.argsort(-channel[row])[:2]
        wrong = channel.copy()
        wrong[row, rich] -= 0.02
        wrong[row, other] += 0.02
        assert largest_z(counts, wrong) > Z_LIMIT


def test_bits_agree_with_their_weights() -> None:
    joint = Joint.random(3, 8, seed=6)
    mechanism = design(joint, LIP(0.4), "oue").mechanism
    rng = np.random.default_rng(2)
    x = rng.integers(0, 8, DRAWS // 8)
    drawn = mechanism.sample(x, rng)
    p, q = mechanism.true_weight / 2**60, mechanism.other_weight / 2**60
    own = np.arange(8) == x[:, None]
    for bits, expected in ((drawn[own], p), (drawn[~own], q)):
        z = abs(bits.sum() - len(bits) * expected) / np.sqrt(len(bits) * expected * (1 - expected))
        assert z < Z_LIMIT
        assert (
            abs(bits.sum() - len(bits) * (expected + 0.02)) / np.sqrt(len(bits) * expected * (1 - expected)) > Z_LIMIT
        )


def test_attributes_are_drawn_by_their_own_channels() -> None:
    useful = list(itertools.product("ab", "xyz"))
    joint = Joint.from_array(Joint.random(2, 6, seed=1).probabilities, useful=useful)
    mechanism = design(joint, SRLIP(0.8), "independent-attributes").mechanism
    counts, channel = counted(mechanism, np.random.default_rng(3))
    assert largest_z(counts, channel) < Z_LIMIT
