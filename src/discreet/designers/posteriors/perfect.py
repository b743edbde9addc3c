r"""Perfect privacy in integers: columns that are exactly independent of the sensitive values.

A column :math:`c(x) = P(y \mid x)` tells nothing about s where, with the joint's integer masses N,

.. math:: \sum_x (N_{sx} N - N_s N_x) \, c(x) = 0 \quad \text{for every } s.

How many of these equations are independent is decided in integers; floats see exactly so many, each entry rounded once,
so that symbols that tell the same stay the same. Columns of integers that solve them form a lattice (`lattice`). A
column of the optimum has few symbols, and where the shortest integers in its proportions are small, a multiple of them
takes its place. Otherwise it is rounded to the lattice of all symbols, which is fine where that has short vectors. What
is left of the rows is a column too, and private by itself: the constant column is, and so are all differences.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet._support.numeric import DENOMINATOR, BoolArray, FloatArray, IntArray, ObjectArray
from discreet.designers.posteriors.lattice import Planes, Vector, integer_kernel, nearest, primitive, rational_kernel
from discreet.proof.polytope import Polytope

__all__ = ["Independence", "private_weights"]

#: Equations that are independent modulo this prime are independent; others hardly ever are, and one that is left out
#: by chance lets the exact check fail.
PRIME = 2**31 - 1

#: Relative rounding of an entry that is computed exactly, and of its scale.
ROUNDING = 2.0**-51

#: Entries of a column below this share of its largest, seen as posterior and as channel, are rounding.
OUTSIDE = 1e-8

#: Integers up to this size lose less than 2e-9 of a row where a multiple of them takes the place of a column.
SHORT = 2**31

#: Vectors of a lattice that are longer than this are no use for weights of 60 bits.
MOST_LENGTH = 2**57

#: Alphabets up to this size are rounded to one lattice whose vectors are made short together.
SHORT_TOGETHER = 40

#: Larger ones too, up to the last size, where it is enough to make so many more than the equations short together, or
#: one for every so many bits of all equations: vectors of about so many bits lose nothing of weights of 60.
MORE_TOGETHER, BITS, ONE_LATTICE = 10, 25, 200

#: Equations times bits times the square of what is made short together: some ten seconds.
MOST_WORK = 1_500_000

#: Of others, columns of up to so many symbols are rounded together, so many times at most.
TOGETHER, MOST_LATTICES = 24, 100

#: Columns of more symbols have integers that are too long, and take too long to find, where alphabets are large.
FEW_SYMBOLS = 12

#: Share of the rows that stays for the last column at first; more where rounding leaves some row less than nothing.
LEFT_OVER = 1e-13

#: Times that more is left over, by this factor where the last changed nothing, and the share from which rounding has
#: taken the mixture's place.
TRIES, LEAP, MOST_LEFT_OVER = 24, 8.0, 0.3

#: Lengths of vectors, in bits, that a narrower design keeps to where the lattice has longer ones; tried in turn.
LENGTHS = (38, 46, 52, 56)


@dataclass(frozen=True)
class Independence:
    """Independent equations, on columns P(y | x), that say that y tells nothing.

    Attributes
    ----------
    rows : list of lists of int
        The equations, over symbols that occur.
    mass : list of int
        In proportion to P(x).
    labels : tuple
        Names of the rows, where a checker can make them anew.
    prior : list of int
        Of each row, the mass of its sensitive value and condition.
    """

    rows: list[Vector]
    mass: Vector
    labels: tuple[tuple[Any, ...], ...]
    prior: Vector

    @classmethod
    def of(cls, masses: Sequence[ObjectArray], groups: Sequence[IntArray]) -> Independence:
        """Under every one of the joints (n_sensitive, n_useful), and given that x is in each of the groups."""
        n = masses[0].shape[1]
        rows, labels, prior = list[Vector](), list[tuple[Any, ...]](), list[int]()
        for mass in masses:
            for group in groups:
                inside = mass[:, group]
                by_value, by_symbol = inside.sum(axis=1), inside.sum(axis=0)
                names = None if len(group) == n else tuple(group.tolist())
                for s, line in enumerate(inside * int(by_value.sum()) - np.outer(by_value, by_symbol)):
                    row = np.zeros(n, dtype=object)
                    row[group] = line
                    rows.append(row.tolist())
                    labels.append(("equal", s, s, names))
                    prior.append(int(by_value[s]))
        own = masses[0].sum(axis=0).tolist()
        kept = _independent(rows, own)
        named = tuple(labels[k] for k in kept) if len(masses) == 1 else ()
        return cls([rows[k] for k in kept], own, named, [prior[k] for k in kept])

    def polytope(self, p_useful: FloatArray) -> Polytope:
        """The posteriors of such columns."""
        rows, scale = np.zeros((len(self.rows), len(self.mass))), np.zeros(len(self.rows))
        for k, (row, prior) in enumerate(zip(self.rows, self.prior)):
            # Quotients of integers are rounded once, however long these are, and those of a row are at most one.
            size = [
                math.log2(abs(entry)) - math.log2(mass) if entry else -math.inf for entry, mass in zip(row, self.mass)
            ]
            top = max(range(len(size)), key=size.__getitem__)
            above, below = self.mass[top], abs(row[top])
            rows[k] = [entry * above / (mass * below) for entry, mass in zip(row, self.mass)]
            scale[k] = below / (above * (prior or 1))
        every = np.ones(len(rows), dtype=bool)
        return Polytope(rows, every, p_useful, np.full(len(rows), ROUNDING), scale, self.labels)

    @cached_property
    def basis(self) -> list[Vector]:
        """Short columns of integers that all others are combinations of."""
        together = None if len(self.mass) <= SHORT_TOGETHER else self._together
        return integer_kernel(self.rows, len(self.mass), together)

    @property
    def has_one_lattice(self) -> bool:
        """Whether the basis can be had in seconds."""
        count, n = len(self.rows), len(self.mass)
        work = count * min(n, count + self._together) ** 2 * self._bits
        return n <= SHORT_TOGETHER or (n <= ONE_LATTICE and work <= MOST_WORK)

    @property
    def _together(self) -> int:
        count = len(self.rows)
        return max(count + MORE_TOGETHER, count * self._bits // BITS)

    @property
    def _bits(self) -> int:
        """Of the largest count, about: equations are counts times the sum of all."""
        largest = max((abs(entry) for row in self.rows for entry in row), default=1)
        return max(1, largest.bit_length() - sum(self.mass).bit_length())

    def narrowed(self) -> Iterator[Independence]:
        """The same of columns that are combinations of short ones alone, ever longer ones, where some are too long."""
        if not self.has_one_lattice:
            return
        sizes = [max(map(abs, vector)).bit_length() for vector in self.basis]
        seen = {len(sizes)}
        for bits in LENGTHS:
            short = [vector for vector, size in zip(self.basis, sizes) if size <= bits]
            if len(short) > 1 and len(short) not in seen:
                seen.add(len(short))
                rows = integer_kernel(short, len(self.mass))
                yield Independence(rows, self.mass, (), [0] * len(rows))


def _independent(rows: Sequence[Vector], mass: Vector) -> list[int]:
    """Places of as many rows as are independent, those first that have most across the others."""
    left = np.array([[entry % PRIME for entry in row] for row in rows], dtype=np.int64).reshape(len(rows), len(mass))
    kept: list[int] = []
    for k in _by_size(rows, mass):
        lead = np.flatnonzero(left[k])
        if not len(lead):
            continue
        kept.append(k)
        unit = left[k] * pow(int(left[k, lead[0]]), -1, PRIME) % PRIME
        left = (left - left[:, [lead[0]]] * unit % PRIME) % PRIME
    return sorted(kept)


def _by_size(rows: Sequence[Vector], mass: Vector) -> list[int]:
    """An order of rows in which each has much across those before it, as far as floats see."""
    total = sum(mass)
    seen = np.array([[a / (b * total) for a, b in zip(row, mass)] for row in rows]).reshape(len(rows), len(mass))
    largest = np.abs(seen).max(axis=1, initial=0.0, keepdims=True)
    left = np.divide(seen, largest, out=np.zeros_like(seen), where=largest > 0)
    order: list[int] = []
    for _ in rows:
        size = np.einsum("ij,ij->i", left, left)
        size[order] = -1.0
        k = int(size.argmax())
        order.append(k)
        if size[k] > 0:
            left = left - np.outer(left @ left[k] / size[k], left[k])
    return order


def private_weights(independence: Independence, channel: FloatArray) -> IntArray | None:
    """Integer weights close to a channel (n_useful, n_columns), each column exactly private.

    Columns that could not be represented are part of the last one; None where that leaves nothing else.
    """
    columns = _Columns(independence, channel)
    left_over, missing = LEFT_OVER, 0.0
    for _ in range(TRIES):
        found = columns.rounded(1 - left_over)
        if not found:
            return None
        rest = [DENOMINATOR - sum(entries) for entries in zip(*found)]
        if min(rest) >= 0:
            made = [column for column in (*found, rest) if any(column)]
            return np.array(made, dtype=object).T.astype(np.int64) if len(made) > 1 else None
        missing, before = float(Fraction(-min(rest), DENOMINATOR)), missing
        # Integers that are far apart move by leaps: a little more that is left over may change nothing.
        left_over = (LEAP if missing == before else 1.0) * left_over + 2 * missing
        if left_over > MOST_LEFT_OVER:
            return None
    return None


class _Columns:
    """Columns of a channel, and the lattices that they are rounded to."""

    def __init__(self, independence: Independence, channel: FloatArray) -> None:
        self.independence, self.channel = independence, channel
        p = np.array([float(Fraction(m, sum(independence.mass))) for m in independence.mass])
        posterior = p[:, None] * channel
        inside = (channel > OUTSIDE * channel.max(axis=0)) | (posterior > OUTSIDE * posterior.max(axis=0))
        few = (inside.sum(axis=0) <= FEW_SYMBOLS) | (len(channel) <= SHORT_TOGETHER)
        self.rays = [_ray(independence.rows, column) if few[k] else None for k, column in enumerate(inside.T)]
        able = few | independence.has_one_lattice
        needy = [k for k, ray in enumerate(self.rays) if able[k] and (ray is None or max(ray) > SHORT)]
        self.lattices = dict(self._lattices(needy, inside))

    def _lattices(self, needy: list[int], inside: BoolArray) -> Iterator[tuple[int, _Lattice]]:
        """A lattice for each column whose own proportions are too long."""
        n = len(self.channel)
        if needy and self.independence.has_one_lattice:
            lattice = _Lattice(np.arange(n), self.independence.basis, [1] * n)
            yield from ((k, lattice) for k in needy)
            return
        for group in _grouped(needy, inside)[:MOST_LATTICES]:
            symbols = np.flatnonzero(inside[:, group].any(axis=1))
            found = _Lattice.around(self.independence.rows, symbols, self.channel[symbols][:, group].sum(axis=1))
            if found is not None:
                yield from ((k, found) for k in group)

    def rounded(self, share: float) -> list[Vector]:
        """This share of the channel, column by column; those that are nothing in integers are left out."""
        made = (self._rounded(k, share) for k in range(self.channel.shape[1]))
        return [column for column in made if column is not None]

    def _rounded(self, k: int, share: float) -> Vector | None:
        target = [int(Fraction(entry) * DENOMINATOR) for entry in (share * self.channel[:, k]).tolist()]
        found = list[Vector]()
        ray = self.rays[k]
        if ray is not None:
            times = sum(target) // sum(ray)
            found.append([times * entry for entry in ray])
        if k in self.lattices:
            near = self.lattices[k].nearest(target)
            found += [] if near is None else [near]
        best = min(found, key=lambda column: _distance(column, target), default=None)
        return None if best is None or not any(best) or _distance(best, target) > max(target) // 2 else best


def _distance(column: Vector, target: Vector) -> int:
    return max(abs(a - b) for a, b in zip(column, target))


def _grouped(needy: list[int], inside: BoolArray) -> list[list[int]]:
    """Columns in groups that have up to so many symbols together."""
    groups: list[tuple[list[int], set[int]]] = []
    for k in needy:
        own = set(np.flatnonzero(inside[:, k]).tolist())
        if groups and len(groups[-1][1] | own) <= TOGETHER:
            groups[-1][0].append(k)
            groups[-1][1].update(own)
        else:
            groups.append(([k], own))
    return [group for group, _ in groups]


def _ray(rows: Sequence[Vector], inside: BoolArray) -> Vector | None:
    """The shortest positive integers on some symbols that solve the equations, where they are unique up to a factor."""
    places = np.flatnonzero(inside).tolist()
    _, _, solutions = rational_kernel([[row[x] for x in places] for row in rows], len(places))
    if len(solutions) != 1 or min(solutions[0]) <= 0:  # the free entry is one, so that all are positive or none fits
        return None
    result = [0] * len(inside)
    for x, entry in zip(places, primitive(solutions[0])):
        result[x] = entry
    return result


class _Lattice:
    """Private columns of integers on some symbols: short ones, and a positive one that lifts others above zero."""

    def __init__(self, symbols: IntArray, basis: list[Vector], positive: Vector) -> None:
        self.symbols = symbols.tolist()
        short = [vector for vector in basis if max(map(abs, vector)) <= MOST_LENGTH]
        self.planes = Planes(short) if len(short) > 1 else None
        self.positive = positive

    @classmethod
    def around(cls, rows: Sequence[Vector], symbols: IntArray, inside: FloatArray) -> _Lattice | None:
        """On these symbols, over which a private column is positive; None where its integers are too long."""
        basis = integer_kernel([[row[x] for x in symbols.tolist()] for row in rows], len(symbols))
        error = sum(max(map(abs, vector)) for vector in basis)
        if not basis or error > MOST_LENGTH:
            return None
        scale = Fraction(2 * error) / Fraction(float(inside.min()))
        positive = nearest(basis, [int(Fraction(entry) * scale) + 1 for entry in inside.tolist()])
        return cls(symbols, basis, positive) if min(positive) > 0 else None

    def nearest(self, target: Vector) -> Vector | None:
        """The column of integers nearest to a target, lifted where it would be less than nothing."""
        if self.planes is None:
            return None
        found = self.planes.nearest([target[x] for x in self.symbols])
        times = max(0, *(-(entry // up) for entry, up in zip(found, self.positive)))
        result = [0] * len(target)
        for x, entry, up in zip(self.symbols, found, self.positive):
            result[x] = entry + times * up
        return result
