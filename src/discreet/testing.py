"""Generators of joints and notions for tests, the awkward ones included; users may test with them too."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet._support.numeric import FloatArray
from discreet.core.joint import Joint
from discreet.notions import ALIP, LDP, LIP, AlphaLift, Chi2Lift, L1Lift, MaxLift, Notion, PerfectPrivacy

__all__ = ["SHAPES", "awkward_joint", "every_notion"]

Rng = np.random.Generator


def _uniform(rng: Rng, rows: int, columns: int) -> FloatArray:
    return rng.random((rows, columns)) + 1e-6


def _skewed(rng: Rng, rows: int, columns: int) -> FloatArray:
    return rng.dirichlet(np.full(rows * columns, 0.2)).reshape(rows, columns) + 1e-15


def _zeros(rng: Rng, rows: int, columns: int) -> FloatArray:
    return _uniform(rng, rows, columns) * (rng.random((rows, columns)) < 0.6)


def _tiny(rng: Rng, rows: int, columns: int) -> FloatArray:
    return np.where(rng.random((rows, columns)) < 0.4, 1e-12 * rng.random((rows, columns)), rng.random((rows, columns)))


def _independent(rng: Rng, rows: int, columns: int) -> FloatArray:
    # Powers of two, so that the product is independent in exact arithmetic as well.
    return np.outer(2.0 ** rng.integers(0, 4, rows), 2.0 ** rng.integers(0, 4, columns))


def _deterministic(rng: Rng, rows: int, columns: int) -> FloatArray:
    return np.eye(rows)[:, rng.integers(0, rows, columns)] * rng.random(columns)


def _repeated(rng: Rng, rows: int, columns: int) -> FloatArray:
    return _uniform(rng, rows, columns)[:, rng.integers(0, columns, columns)]


def _nearly_independent(rng: Rng, rows: int, columns: int) -> FloatArray:
    noise: FloatArray = 1 + 1e-3 * rng.standard_normal((rows, columns))
    return np.outer(rng.random(rows) + 0.1, rng.random(columns) + 0.1) * noise


#: Families of joints by name, each a function of a generator and two sizes.
SHAPES: dict[str, Callable[[Rng, int, int], FloatArray]] = {
    "uniform": _uniform,
    "skewed": _skewed,
    "zeros": _zeros,
    "tiny": _tiny,
    "independent": _independent,
    "deterministic": _deterministic,
    "repeated": _repeated,
    "nearly independent": _nearly_independent,
}


def awkward_joint(seed: int, *, largest: int = 6, n_sensitive: int | None = None, n_useful: int | None = None) -> Joint:
    """A random joint whose shape, sizes and number format change with the seed.

    Half of them are counts, half floats. Every sensitive value has mass; useful symbols may have none.

    Examples
    --------
    >>> awkward_joint(3)
    Joint(5 sensitive x 1 useful, 10004 records)
    """
    rng = np.random.default_rng(seed)
    rows = n_sensitive or int(rng.integers(1, largest + 1))
    columns = n_useful or int(rng.integers(1, largest + 1))
    cells = SHAPES[list(SHAPES)[seed % len(SHAPES)]](rng, rows, columns)
    empty = np.flatnonzero(cells.sum(axis=1) == 0)
    cells[empty, rng.integers(0, columns, len(empty))] = 0.5
    cells = cells / cells.sum()
    if rng.random() < 0.5:
        return Joint.from_counts(np.ceil(cells * 10_000).astype(np.int64))
    return Joint.from_array(cells)


def every_notion(epsilon: float, *, lam: float = 0.5, alpha: float = 2.0) -> list[Notion]:
    """One notion of each kind and of each choice of open sides, with budgets of the size of ``epsilon``.

    Examples
    --------
    >>> len(every_notion(1.0))
    14
    """
    shared = ALIP.split(2 * epsilon, lam)
    lower, upper = shared.eps_lower, shared.eps_upper
    return [
        LIP(epsilon),
        shared,
        ALIP(eps_upper=upper),
        ALIP(eps_lower=lower),
        LDP(epsilon),
        MaxLift(epsilon),
        PerfectPrivacy(),
        L1Lift(eps_lower=lower, eps_upper=upper),
        L1Lift(eps_upper=upper),
        Chi2Lift(eps_lower=lower, eps_upper=upper),
        Chi2Lift(eps_lower=lower),
        AlphaLift(alpha, eps_lower=lower, eps_upper=upper),
        AlphaLift(alpha, eps_upper=upper),
        AlphaLift(alpha + 0.5, eps_lower=lower, eps_upper=upper),
    ]
