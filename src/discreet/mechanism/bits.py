r"""Unary encodings: a bit for every useful value, each drawn by itself. Optimised unary encoding (OUE) is one.

The bit of the true value is one with probability p, every other bit with probability q. The release is the set A of
ones, 2**a sets for a values, so nothing here lists them. Up to a factor that does not depend on s,

.. math:: P(A \mid s) \propto p (1 - q) P(A \mid s) + q (1 - p) (1 - P(A \mid s)),

where on the right :math:`P(A \mid s) = \sum_{x \in A} P(x \mid s)`. A lift is extreme at a set of the values whose own
lift lies above a threshold: a prefix of the values sorted by it. These prefixes and their complements, a c sets for c
sensitive values, decide every bound on lifts; since A and its complement add up to a constant, they form a joint.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet._support.errors import InputError, InvalidMechanismError, UnsupportedNotionError
from discreet._support.numeric import DENOMINATOR, BoolArray, FloatArray, IntArray, ObjectArray, xlogx
from discreet._support.visible import visible
from discreet.core.joint import Joint
from discreet.mechanism.about import About
from discreet.mechanism.base import JudgedKind, Mechanism
from discreet.mechanism.draw import Draw, column_name, spread_labels
from discreet.mechanism.estimate import Estimate, counts_vector
from discreet.mechanism.pairs import listed_codebook

__all__ = ["BitMechanism"]

#: Alphabets up to this size may list all of their 2**a released symbols.
LISTED_UP_TO = 16

#: Steps of the grid on which the sum of random shares is distributed where its values are too many to list.
GRID = 1 << 15

#: Distinct sums that are listed exactly.
MOST_SUMS = 1 << 20


class BitMechanism(Mechanism):
    """A unary encoding: one integer weight for the true bit, one for every other bit.

    Parameters
    ----------
    useful : sequence
        Labels; released symbols are strings of as many digits 0 and 1, in this order.
    true_weight, other_weight : int
        Weights over 2**60 of a one in the bit of the true value and in any other bit.
    """

    kind: ClassVar[str] = "bits"

    def __init__(self, useful: Sequence[Any], true_weight: int, other_weight: int, **about: Any) -> None:
        parts = {"true_weight": int(true_weight), "other_weight": int(other_weight)}
        super().__init__(useful, About.given(**about), **parts)
        if not 0 <= self.other_weight <= self.true_weight <= DENOMINATOR or self.other_weight == DENOMINATOR:
            raise InvalidMechanismError("weights of bits must satisfy 0 <= other <= true <= 2**60, other < 2**60.")

    true_weight: int
    other_weight: int

    @property
    def n_released(self) -> int:
        """Number of sets of ones, 2**n_useful."""
        return 1 << self.n_useful

    @property
    def is_deterministic(self) -> bool:
        return self.true_weight == DENOMINATOR and self.other_weight == 0

    @cached_property
    def released(self) -> tuple[str, ...]:
        """All released symbols, up to 16 useful values."""
        self._listable("released symbols")
        return tuple(f"{k:0{self.n_useful}b}"[::-1] for k in range(self.n_released))

    def _listable(self, what: str) -> None:
        if self.n_useful > LISTED_UP_TO:
            raise InvalidMechanismError(
                f"the {what} of {self.n_useful} bits are 2**{self.n_useful}, too many to list; up to "
                f"{LISTED_UP_TO} bits are. Bits are drawn one by one with true_weight and other_weight."
            )

    def _ones(self) -> BoolArray:
        """Which bits each released symbol has, shape (n_released, n_useful)."""
        return (np.arange(self.n_released)[:, None] >> np.arange(self.n_useful) & 1).astype(bool)

    @cached_property
    def channel(self) -> FloatArray:
        """P(y | x) over all 2**n_useful released symbols, up to 16 useful values."""
        self._listable("columns of the channel")
        ones, p, q = self._ones(), self.true_weight / DENOMINATOR, self.other_weight / DENOMINATOR
        others = ones.sum(axis=1)[:, None] - ones
        rest = self.n_useful - 1 - others
        return np.ascontiguousarray((np.where(ones, p, 1 - p) * q**others * (1 - q) ** rest).T)

    @property
    def weights(self) -> IntArray:
        """Not there: a set's probability is a product of weights. See ``true_weight`` and ``other_weight``."""
        raise InvalidMechanismError("bits have one weight each: see true_weight and other_weight.")

    def _matched(self, joint: Joint) -> IntArray:
        """Columns of the joint in the order of the bits; -1 where a bit's value is not among them."""
        place = {label: k for k, label in enumerate(joint.useful)}
        self.check_known(joint.useful, joint.occurs)
        return np.array([place.get(label, -1) for label in self.useful])

    def _aligned(self, cells: Any, joint: Joint) -> Any:
        order = self._matched(joint)
        aligned = cells[:, np.maximum(order, 0)].copy()
        aligned[:, order < 0] = 0
        return aligned

    def carried(self, joint: Joint) -> tuple[FloatArray, Callable[[], ObjectArray]]:
        self._listable("released symbols")
        cells = self._aligned(joint.probabilities, joint) @ self.channel

        def masses() -> ObjectArray:
            result: ObjectArray = self._aligned(joint.masses, joint) @ self._exact().T
            return result

        return cells, masses

    def _exact(self) -> ObjectArray:
        """Weights of all sets, the products of those of their bits, shape (n_released, n_useful)."""
        w, d, ones = self.other_weight, DENOMINATOR, self._ones()
        others = ones.sum(axis=1)[:, None] - ones
        true = np.where(ones, self.true_weight, d - self.true_weight).astype(object)
        table = np.array([w**k * (d - w) ** (self.n_useful - 1 - k) for k in range(self.n_useful)], dtype=object)
        result: ObjectArray = true * table[others]
        return result

    def outcome_weights(self) -> ObjectArray:
        """Of every set of ones, up to 16 useful values."""
        self._listable("outcomes")
        return self._exact()[:, None, :]

    def judged(self, joint: Joint, kinds: Iterable[JudgedKind]) -> Joint:
        """Sets at which the bounded lifts, or their ratios, are extreme, with their complements."""
        chosen = tuple(kinds)
        if not all(kind.is_on_lifts for kind in chosen):
            if self.n_useful <= LISTED_UP_TO:
                return joint.through(self)
            raise UnsupportedNotionError("bits are judged by notions that bound lifts: LIP, ALIP, LDP and max-lift.")
        masses: ObjectArray = self._aligned(joint.masses, joint)
        columns = self._alone(masses) if self.other_weight == 0 else self._extreme(masses, chosen)
        return Joint(
            np.array(columns / int(columns.sum()), dtype=np.float64),
            lambda: columns,
            sensitive=joint.sensitive,
            useful=tuple(range(columns.shape[1])),
            floats_suffice=None if joint.floats_suffice else False,
        )

    def _alone(self, masses: ObjectArray) -> ObjectArray:
        """Without false ones, a single value is released, or none."""
        total: ObjectArray = masses.sum(axis=1, keepdims=True)
        none = total * (DENOMINATOR - self.true_weight)
        result: ObjectArray = np.concatenate([masses * self.true_weight, none], axis=1)
        return result

    def _extreme(self, masses: ObjectArray, kinds: Sequence[JudgedKind]) -> ObjectArray:
        """P(s, A), up to a factor for each A, of the sets that are prefixes, and of their complements."""
        values = [row for row in masses if row.any()]
        against = values if any(kind.compares_pairs for kind in kinds) else []
        if not all(kind.compares_pairs for kind in kinds):
            against = [*against, masses.sum(axis=0)]
        orders = {_order(first, second) for first in values for second in against if first is not second}
        orders = orders or {tuple(range(self.n_useful))}  # a single sensitive value, of which nothing can be told
        inside = np.concatenate([masses[:, list(order)].cumsum(axis=1) for order in sorted(orders)], axis=1)
        outside = masses.sum(axis=1, keepdims=True) - inside
        yes = self.true_weight * (DENOMINATOR - self.other_weight)
        no = (DENOMINATOR - self.true_weight) * self.other_weight
        result: ObjectArray = np.concatenate([inside * yes + outside * no, outside * yes + inside * no], axis=1)
        return result

    def useful_information(self, joint: Joint) -> float:
        """I(X; Y) without listing sets: a divergence of bits less the expectation of a function of one random sum.

        With U the sum of P(x) over independent ones of probability q, and f(u) = u p/q + (1 - u)(1 - p)/(1 - q),

        I(X; Y) = KL(p || q) - E[f(U) log f(U)].

        Up to 2**20 distinct sums are listed, equal P(x) taken together; beyond, U is spread over a grid of 2**15 steps,
        which understates I(X; Y) a little, since f log f is convex. Cost O(n_useful * 2**15).
        """
        shares = self._aligned(joint.p_useful[None], joint)[0]
        p, q = self.true_weight / DENOMINATOR, self.other_weight / DENOMINATOR
        if q == 0:
            return max(0.0, float(-p * xlogx(shares).sum()))
        value, chance = _random_sum(shares[shares > 0], q)
        f = value * (p / q) + (1 - value) * ((1 - p) / (1 - q))
        bits = (xlogx(np.array([p, 1 - p])) - np.array([p, 1 - p]) * np.log([q, 1 - q])).sum()
        return max(0.0, float(bits - (chance * xlogx(f)).sum()))

    def codebook(self, joint: Joint | None = None) -> dict[str, dict[Any, float]]:
        """What a released set stands for: P(x | y), likeliest first; up to 16 useful values."""
        self._listable("released symbols")
        cells = (self.known_p_useful(joint)[:, None] * self.channel).T
        return listed_codebook(cells, self.released, self.useful)

    def estimate(self, released_counts: Any) -> Estimate:
        """Unbiased estimate of P(x), with standard errors.

        Parameters
        ----------
        released_counts : mapping, or pair
            Records of each released string of bits; or the number of ones of every bit, and the number of records.
        """
        if self.true_weight == self.other_weight:
            raise InvalidMechanismError("all bits are drawn alike, so the release tells nothing about frequencies.")
        ones, records = self._counted(released_counts)
        p, q = self.true_weight / DENOMINATOR, self.other_weight / DENOMINATOR
        share = ones / records
        squares = (share * (1 - q) ** 2 + (1 - share) * q**2) / (p - q) ** 2
        return Estimate.of(self.useful, (share - q) / (p - q), squares, records)

    def _counted(self, given: Any) -> tuple[FloatArray, float]:
        if isinstance(given, Mapping):
            if not all(isinstance(y, str) and len(y) == self.n_useful and set(y) <= {"0", "1"} for y in given):
                raise InputError(f"released symbols are strings of {self.n_useful} digits 0 and 1.")
            counts = counts_vector(list(given), given)
            ones = np.array([[digit == "1" for digit in y] for y in given]).T @ counts
            records = float(counts.sum())
        else:
            try:
                ones, records = np.asarray(given[0], dtype=np.float64), float(given[1])
            except (TypeError, ValueError, LookupError):
                raise InputError("counts must be a mapping, or the ones of every bit and the records.") from None
        if ones.shape != (self.n_useful,) or not records > 0 or not ((ones >= 0) & (ones <= records)).all():
            raise InputError(f"counts must be {self.n_useful} numbers of ones and a positive number of records.")
        return ones, records

    def sample(self, symbols: Any, rng: np.random.Generator, sensitive: Any = None) -> BoolArray:
        """Bits for each given useful symbol (by index), shape (n, n_useful)."""
        chosen = np.asarray(symbols)
        limit = np.full((len(chosen), self.n_useful), self.other_weight)
        limit[np.arange(len(chosen)), chosen] = self.true_weight
        drawn: BoolArray = rng.integers(0, DENOMINATOR, limit.shape) < limit
        return drawn

    def sample_labels(self, symbols: Any, rng: np.random.Generator, sensitive: Any = None) -> list[str]:
        drawn = self.sample(symbols, rng).tolist()
        return ["".join("1" if bit else "0" for bit in bits) for bits in drawn]

    def draws(self) -> tuple[Draw, ...]:
        columns = self.checked_columns()
        symbols = spread_labels(self.useful, len(columns))
        return (Draw.of_bits(column_name(columns), columns, symbols, (self.true_weight, self.other_weight)),)

    def _stored_parts(self) -> dict[str, Any]:
        return {"bits": {"true": self.true_weight, "other": self.other_weight}}

    @classmethod
    def _restored(cls, stored: Mapping[str, Any], useful: Sequence[Any], about: About) -> BitMechanism:
        bits = stored["bits"]
        if not isinstance(bits, dict) or any(type(bits.get(name)) is not int for name in ("true", "other")):
            raise InvalidMechanismError("the bits of a stored mechanism must be two integers.")
        return cls(useful, bits["true"], bits["other"], about=about)

    def describe(self) -> str:
        true, other = self.true_weight / DENOMINATOR, self.other_weight / DENOMINATOR
        return (
            f"Every value is released as {self.n_useful} bits, one for each useful value. The bit of the true value "
            f"is 1 with probability {true:.4g}, every other bit with probability {other:.4g}."
        )

    def __repr__(self) -> str:
        method = f", {self.method}" if self.method else ""
        return visible(f"BitMechanism({self.n_useful} useful -> as many bits{method})")

    def _repr_html_(self) -> str:
        p, q = self.true_weight / DENOMINATOR, self.other_weight / DENOMINATOR
        return f"<p>{html.escape(repr(self))}: the true bit is 1 with probability {p:.4g}, others with {q:.4g}</p>"


def _order(first: ObjectArray, second: ObjectArray) -> tuple[int, ...]:
    """Values by falling first / second, compared as exact fractions; those without second come first."""

    def ratio(x: int) -> tuple[bool, Fraction]:
        return (second[x] == 0 and first[x] > 0, Fraction(int(first[x]), int(second[x]) or 1))

    return tuple(sorted(range(len(first)), key=ratio, reverse=True))


def _random_sum(shares: FloatArray, q: float) -> tuple[FloatArray, FloatArray]:
    """Values and probabilities of a sum in which each share is present with probability q, independently."""
    distinct, many = np.unique(shares, return_counts=True)
    if np.log2(many + 1.0).sum() <= np.log2(MOST_SUMS):
        value, chance = np.zeros(1), np.ones(1)
        for share, count in zip(distinct.tolist(), many.tolist()):
            present = np.arange(count + 1)
            value = (value[:, None] + share * present).ravel()
            chance = (chance[:, None] * _binomial(count, q)).ravel()
        return value, chance
    chance = np.zeros(GRID + 2)
    chance[0] = 1.0
    for share in shares.tolist():
        whole, part = divmod(share * GRID, 1.0)
        step = int(whole)
        moved = np.zeros_like(chance)
        moved[step:] = (1 - part) * chance[: len(chance) - step]
        moved[step + 1 :] += part * chance[: len(chance) - step - 1]
        chance = (1 - q) * chance + q * moved
    return np.arange(len(chance)) / GRID, chance


def _binomial(count: int, q: float) -> FloatArray:
    chance = np.ones(1)
    for _ in range(count):
        chance = np.append((1 - q) * chance, 0.0) + np.append(0.0, q * chance)
    return chance
