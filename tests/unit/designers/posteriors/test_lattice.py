"""Integer kernels, short bases and nearest vectors, compared with a search of all small integers."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from discreet.designers.posteriors.lattice import integer_kernel, nearest, shortened


def solutions(equations: list[list[int]], most: int) -> set[tuple[int, ...]]:
    """All of them with entries of at most so much, by trying."""
    box = itertools.product(range(-most, most + 1), repeat=len(equations[0]))
    return {c for c in box if all(sum(a * b for a, b in zip(row, c)) == 0 for row in equations)}


def coefficients(basis: list[list[int]], vector: list[int]) -> list[Fraction] | None:
    """What the vector is as a combination of the basis; None where it is none."""
    left = [[*map(Fraction, entries), Fraction(b)] for *entries, b in zip(*basis, vector)]
    rank = 0
    for column in range(len(basis)):
        pivot = next(k for k in range(rank, len(left)) if left[k][column])
        left[rank], left[pivot] = left[pivot], left[rank]
        left[rank] = [a / left[rank][column] for a in left[rank]]
        left = [
            [a - row[column] * b for a, b in zip(row, left[rank])] if k != rank else row for k, row in enumerate(left)
        ]
        rank += 1
    return None if any(row[-1] for row in left[rank:]) else [row[-1] for row in left[:rank]]


@pytest.mark.parametrize("together", [None, 1, 2])
@pytest.mark.parametrize("seed", range(40))
def test_every_integer_solution_is_a_combination_of_the_basis(seed: int, together: int | None) -> None:
    rng = np.random.default_rng(seed)
    equations = rng.integers(-6, 7, (1 + seed % 3, 5)).tolist()
    basis = integer_kernel(equations, 5, together)
    assert all(sum(a * b for a, b in zip(row, vector)) == 0 for row in equations for vector in basis)
    assert len(basis) == 5 - np.linalg.matrix_rank(np.array(equations))
    for vector in solutions(equations, 3) if basis else ():
        shares = coefficients(basis, list(vector))
        assert shares is not None
        assert all(share.denominator == 1 for share in shares)


@pytest.mark.parametrize(("count", "bits"), [(3, 7), (6, 7), (2, 53), (3, 53)])
def test_few_that_are_short_together_make_all_short(count: int, bits: int) -> None:
    """Of 80 free entries 40: vectors of about bits * count / 40 bits, where what is solved for has hundreds."""
    equations = np.random.default_rng([count, bits]).integers(0, 2**bits, (count, 80 + count)).tolist()
    basis = integer_kernel(equations, 80 + count, 40)
    assert len(basis) == 80
    assert all(sum(a * b for a, b in zip(row, vector)) == 0 for row in equations for vector in basis)
    assert max(abs(entry) for vector in basis for entry in vector) < 2 ** (bits * count // 40 + 8)


def test_without_equations_everything_is_a_solution() -> None:
    assert sorted(integer_kernel([], 2)) == [[0, 1], [1, 0]]
    assert integer_kernel([[1, 0], [1, 1]], 2) == []


@pytest.mark.parametrize("seed", range(20))
def test_a_short_basis_spans_the_same_lattice_and_begins_with_a_short_vector(seed: int) -> None:
    """The first vector is at most sqrt(2)**(d - 1) times as long as any other that is not zero."""
    rng = np.random.default_rng(seed)
    given = rng.integers(-60, 61, (3, 4)).tolist()
    short = shortened(given)
    for first, second in ((given, short), (short, given)):
        found = [coefficients(first, vector) for vector in second]
        assert all(shares is not None and all(share.denominator == 1 for share in shares) for shares in found)
    box = itertools.product(range(-40, 41), repeat=3)
    others = (np.array(z) @ np.array(short) for z in box if any(z))
    assert sum(a * a for a in short[0]) <= 4 * min(int(v @ v) for v in others)


def test_exchanges_can_run_out() -> None:
    assert shortened([[1, 0, 1000], [0, 1, 999]], most=0) == [[1, 0, 1000], [0, 1, 999]]


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_vector_is_one_of_the_lattice_and_near(seed: int) -> None:
    """No further than half of all vectors of the basis together, however large the target."""
    rng = np.random.default_rng(seed)
    basis = shortened(rng.integers(-60, 61, (3, 4)).tolist())
    inside = (np.array(rng.integers(0, 2**50, 3).tolist(), dtype=object) @ np.array(basis, dtype=object)).tolist()
    assert nearest(basis, inside) == inside
    moved = [a + int(b) for a, b in zip(inside, rng.integers(-20, 21, 4))]
    found = nearest(basis, moved)
    shares = coefficients(basis, found)
    assert shares is not None
    assert all(share.denominator == 1 for share in shares)
    room = sum(sum(a * a for a in vector) ** 0.5 for vector in basis) / 2
    across = np.linalg.lstsq(
        np.array(basis, dtype=float).T, np.array([b - a for a, b in zip(inside, moved)], dtype=float), rcond=None
    )
    left = np.array([float(b - a) for a, b in zip(found, moved)])
    assert np.linalg.norm(left) <= room + (float(across[1][0]) ** 0.5 if len(across[1]) else 0.0) + 1e-6
