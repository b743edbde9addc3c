"""Tails of the binomial distribution, against scipy.stats and at their ends."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.certificate.verification.frequencies import _at_least, _at_most

#: Both are good to about ten digits in tails of 1e-55 of six thousand million trials.
RELATIVE = 1e-8

TRIALS = [1, 2, 30, 1000, 10**6, 6 * 10**9]
CHANCES = [0.0, 2.0**-60, 1e-12, 0.01, 0.3, 0.5, 0.999, 1 - 2.0**-53, 1.0]


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize("chance", CHANCES)
def test_tails_are_those_of_scipy_stats(trials: int, chance: float) -> None:
    from scipy.stats import binom

    spread = np.arange(-12, 13) * np.sqrt(trials * chance * (1 - chance))
    seen = np.unique([*np.clip(np.rint(trials * chance + spread), 0, trials), 0, 1, trials - 1, trials])
    seen = seen.astype(np.int64)
    every = np.full(len(seen), trials), np.full(len(seen), chance)
    np.testing.assert_allclose(_at_most(seen, *every), binom.cdf(seen, *every), rtol=RELATIVE, atol=1e-300)
    np.testing.assert_allclose(_at_least(seen, *every), binom.sf(seen - 1, *every), rtol=RELATIVE, atol=1e-300)
