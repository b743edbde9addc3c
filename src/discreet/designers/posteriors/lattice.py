r"""Integer solutions of homogeneous equations: a basis of short ones, and the one that is nearest to given numbers.

Everything that decides is an integer of Python. `integer_kernel` finds all integers :math:`c` with :math:`A c = 0`:
some entries are free, the others follow from them, and that these are integers is a congruence for each. After every
congruence the basis is made short again (LLL, in the variant that keeps to integers), so that numbers stay small.
`nearest` rounds floats to a solution, plane by plane (Babai); floats only choose which one, so it is always a solution.
Source: Cohen, A Course in Computational Algebraic Number Theory, algorithm 2.6.7; Babai, Combinatorica 6 (1986).
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet._support.numeric import FloatArray

__all__ = ["Planes", "Vector", "integer_kernel", "nearest", "primitive", "rational_kernel", "shortened"]

#: Integers of any size.
Vector = list[int]

#: A vector goes in front of the one before it where that shortens what the latter has across all earlier ones, squared,
#: to less than this share, 99 of 100: the closer to one, the shorter the basis.
SHORTER = (99, 100)

#: Exchanges of two vectors at most, some seconds; a basis that is then not short is a basis all the same.
MOST_EXCHANGES = 20_000

#: What is left after rounding is rounded again, so many times and once more for every so many bits: floats see 53 bits
#: of a number.
ROUNDS, GAINED = 4, 40

#: Numbers of more bits are shifted before they become floats, which end at 1024.
FLOAT_BITS = 900


def integer_kernel(equations: Sequence[Sequence[int]], width: int, together: int | None = None) -> list[Vector]:
    """A basis of the integers c of some width with ``equations . c = 0``, of short vectors.

    Where many entries are free, so many ``together`` are enough for short vectors: each of the others gives one more,
    which is then short beside these.

    >>> integer_kernel([[1, 1, -2]], 3)
    [[-1, 1, 0], [1, 1, 1]]
    """
    free, pivots, solutions = rational_kernel(equations, width)
    first = len(free) if together is None else min(together, len(free))
    vectors = [[int(k == other) for other in range(len(free))] for k in range(len(free))]
    for pivot in pivots:
        shares = [solution[pivot] for solution in solutions]
        modulus = math.lcm(*(share.denominator for share in shares))
        scaled = [int(share * modulus) for share in shares]
        values = [_dot(vector, scaled) for vector in vectors]
        chosen = _solutions_modulo(values, modulus)
        entries = [_dot(row, values) // modulus for row in chosen]
        found = [[*vector, entry] for vector, entry in zip(_combined(chosen, vectors), entries)]
        # One that solves the equation with the help of later ones alone makes these long, unless it is short itself.
        joined = [k for k in range(first, len(found)) if chosen[k][k] != 1]
        short = shortened([*found[:first], *(found[k] for k in joined)])
        others = [vector for k, vector in enumerate(found) if k >= first and k not in joined]
        first = len(short)
        beside = Planes(short) if others and short and _bits(short) <= FLOAT_BITS // 2 else None  # floats square them
        vectors = short + [vector if beside is None else beside.left(vector) for vector in others]
    place = {x: k for k, x in enumerate([*free, *pivots])}
    return [[vector[place[x]] for x in range(len(place))] for vector in vectors]


def rational_kernel(
    equations: Sequence[Sequence[int]], width: int
) -> tuple[list[int], list[int], list[list[Fraction]]]:
    """The entries of solutions that are free, those that follow, and for each free one the solution that it is 1 in.

    >>> rational_kernel([[2, 1, -3]], 3)
    ([1, 2], [0], [[Fraction(-1, 2), Fraction(1, 1), Fraction(0, 1)], [Fraction(3, 2), Fraction(0, 1), Fraction(1, 1)]])
    """
    pivots, reduced = list[int](), list[list[Fraction]]()
    for row in equations:
        left = [Fraction(entry) for entry in row]
        for pivot, other in zip(pivots, reduced):
            if left[pivot]:
                left = [a - left[pivot] * b for a, b in zip(left, other)]
        lead = next((k for k, a in enumerate(left) if a), None)
        if lead is None:
            continue
        unit = [a / left[lead] for a in left]
        reduced = [[a - other[lead] * b for a, b in zip(other, unit)] if other[lead] else other for other in reduced]
        reduced.append(unit)
        pivots.append(lead)
    free = [k for k in range(width) if k not in set(pivots)]
    solutions = []
    for k in free:
        vector = [Fraction(int(k == other)) for other in range(width)]
        for pivot, other_row in zip(pivots, reduced):
            vector[pivot] = -other_row[k]
        solutions.append(vector)
    return free, pivots, solutions


def primitive(solution: Sequence[Fraction]) -> Vector:
    """The shortest integers in these proportions.

    >>> primitive([Fraction(1, 2), Fraction(1, 3)])
    [3, 2]
    """
    common = math.lcm(*(share.denominator for share in solution))
    whole = [int(share * common) for share in solution]
    divisor = math.gcd(*whole) or 1
    return [n // divisor for n in whole]


def _bits(vectors: Sequence[Vector]) -> int:
    """Those of the largest entry."""
    return max(entry.bit_length() for vector in vectors for entry in vector)


def _solutions_modulo(values: Sequence[int], modulus: int) -> list[Vector]:
    """A triangular basis of the integers z with ``values . z`` a multiple of the modulus."""
    common, reaches, basis = modulus, [0] * len(values), []  # reaches . values is common, modulo the modulus
    for k, value in enumerate(values):
        divisor = math.gcd(common, value)
        row = [-value // divisor * r % modulus for r in reaches]
        row[k] += common // divisor
        basis.append(row)
        # divisor = a common + b value
        b = pow(value // divisor, -1, common // divisor) if common > divisor else 0
        a = (divisor - b * value) // common
        reaches = [a * r % modulus for r in reaches]
        reaches[k] = (reaches[k] + b) % modulus
        common = divisor
    return basis


def _combined(chosen: Sequence[Vector], vectors: Sequence[Vector]) -> list[Vector]:
    found = []
    for row in chosen:
        used = [(z, vector) for z, vector in zip(row, vectors) if z]  # few, of most rows
        found.append(
            [sum(z * c for (z, _), c in zip(used, entries)) for entries in zip(*(vector for _, vector in used))]
        )
    return found


def shortened(basis: Sequence[Vector], most: int = MOST_EXCHANGES) -> list[Vector]:
    """Another basis of the same lattice, of short vectors that are nearly at right angles (LLL).

    >>> shortened([[1, 0, 1000], [0, 1, 999]])
    [[-1, 1, -1], [-333, 334, 666]]
    """
    work = _Reduction([list(vector) for vector in basis])
    k = 1
    while k < len(work.vectors) and most > 0:
        work.reduce(k, k - 1)
        if work.is_out_of_order(k):
            work.exchange(k)
            k, most = max(1, k - 1), most - 1
        else:
            for other in range(k - 2, -1, -1):
                work.reduce(k, other)
            k += 1
    return work.vectors


class _Reduction:
    """A basis and its Gram-Schmidt coefficients, all in integers.

    With ``d[k]`` the determinant of the Gram matrix of the first k vectors, ``lam[i][j] / d[j + 1]`` is the coefficient
    of vector i along what vector j has across all earlier ones.
    """

    def __init__(self, vectors: list[Vector]) -> None:
        self.vectors = vectors
        self.d = [1]
        self.lam = [[0] * k for k in range(len(vectors))]
        for i in range(len(vectors)):
            for j in range(i + 1):
                value = _dot(vectors[i], vectors[j])
                for k in range(j):
                    other = self.lam[j][k]
                    value = (self.d[k + 1] * value - self.lam[i][k] * other) // self.d[k]
                if j < i:
                    self.lam[i][j] = value
                else:
                    self.d.append(value)

    def reduce(self, k: int, other: int) -> None:
        """Take the nearest multiple of an earlier vector off."""
        size = self.d[other + 1]
        times = (2 * self.lam[k][other] + size) // (2 * size)
        if times:
            earlier = self.vectors[other]
            self.vectors[k] = [a - times * b for a, b in zip(self.vectors[k], earlier)]
            self.lam[k][other] -= times * size
            for j in range(other):
                self.lam[k][j] -= times * self.lam[other][j]

    def is_out_of_order(self, k: int) -> bool:
        """Whether the vector before it had better come after it."""
        part, whole = SHORTER
        d, coefficient = self.d, self.lam[k][k - 1]
        return whole * (d[k + 1] * d[k - 1] + coefficient * coefficient) < part * d[k] * d[k]

    def exchange(self, k: int) -> None:
        """Put a vector in front of the one before it."""
        d, lam = self.d, self.lam
        self.vectors[k - 1], self.vectors[k] = self.vectors[k], self.vectors[k - 1]
        lam[k - 1], lam[k][: k - 1] = lam[k][: k - 1], lam[k - 1]
        coefficient = lam[k][k - 1]
        middle = (d[k - 1] * d[k + 1] + coefficient * coefficient) // d[k]
        for later in lam[k + 1 :]:
            before = later[k]
            later[k] = (d[k + 1] * later[k - 1] - coefficient * before) // d[k]
            later[k - 1] = (middle * before + coefficient * later[k]) // d[k + 1]
        d[k] = middle


def _dot(first: Vector, second: Vector) -> int:
    return sum(a * b for a, b in zip(first, second))


def nearest(basis: Sequence[Vector], target: Sequence[int]) -> Vector:
    """A vector of the lattice close to the target, by rounding plane by plane.

    >>> nearest([[1, 1, 1], [1, -1, 0]], [10, 4, 6])
    [10, 4, 7]
    """
    return Planes(basis).nearest(target)


class Planes:
    """The planes that a lattice lies in, by which numbers are rounded to its vectors."""

    def __init__(self, basis: Sequence[Vector]) -> None:
        self.basis = list(basis)
        self._across = _across(np.array(basis, dtype=np.float64))

    def nearest(self, target: Sequence[int]) -> Vector:
        """A vector of the lattice close to the target."""
        return [a - b for a, b in zip(target, self.left(target))]

    def left(self, target: Sequence[int]) -> Vector:
        """The target less a vector of the lattice close to it."""
        left = list(target)
        for _ in range(ROUNDS + max(map(int.bit_length, left), default=0) // GAINED):
            moved = False
            for vector, direction in zip(reversed(self.basis), self._across[::-1]):
                times = _times(direction, left)
                if times:
                    left = [a - times * b for a, b in zip(left, vector)]
                    moved = True
            if not moved:
                break
        return left


def _times(direction: FloatArray, left: Vector) -> int:
    """How many times a vector is taken off what is left, by the plane that it leads to."""
    surplus = max(0, max(map(int.bit_length, left)) - FLOAT_BITS)
    seen = left if not surplus else [a >> surplus for a in left]
    return round(float(np.dot(direction, np.array(seen, dtype=np.float64)))) << surplus


def _across(basis: FloatArray) -> FloatArray:
    """For each vector what it has across the earlier ones, divided by its square: the plane that a point is nearest."""
    across = basis.copy()
    for k in range(len(across)):
        for _ in range(2):  # the second time takes up the rounding of the first
            for other in across[:k]:
                across[k] -= (across[k] @ other) / (other @ other) * other
    result: FloatArray = across / np.einsum("ij,ij->i", across, across)[:, None]
    return result
