"""Two halves of the records: what models are trained on, and what they are measured on."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import BoolArray, IntArray
from discreet.publishing.attack.cells import code_keys, tuple_keys
from discreet.twins.cells import Cells

__all__ = ["Halves", "halved", "rows_each_of"]

#: Records that models are trained on, and measured on, at the most.
MOST_TRAINED, MOST_MEASURED = 100_000, 200_000

#: Tuples with fewer rows tell who is meant; of more, some rows of each half stand for themselves.
RARE = 3


def halved(
    before: Sequence[Cells],
    after: Sequence[Cells],
    secret: IntArray,
    n_values: int,
    persons: IntArray | None,
    seed: int,
) -> tuple[Halves, float]:
    """The halves, and how many measured rows say as much about shares of S as a single independent one would."""
    if persons is None:
        return Halves.drawn(before, after, secret, n_values, seed), 1.0
    halves = Halves.of_persons(before, after, secret, n_values, persons, seed)
    return halves, rows_each_of(persons[halves.measured], halves.to_guess)


@dataclass(frozen=True, eq=False)
class Halves:
    """Records that models are trained on, in random order, and others that they are measured on.

    Rows that share a rare tuple are in one half. Else a row of the untouched half with the tuple of a record that was
    trained on would tell by that alone that it stands for somebody else, which a reader who cannot tell whose row it is
    does not know. For the same reason models of the original are not trained on records (``apart``) whose own rare
    tuple belongs to the other half.

    Where rows are said to be about persons, all rows of one are in one half: else models learn of somebody's other rows
    what S is. Of two halves that share a rare tuple, the one that is measured goes without it.
    """

    trained: IntArray
    measured: IntArray
    apart: BoolArray
    secret: IntArray
    n_values: int

    @classmethod
    def drawn(
        cls, before: Sequence[Cells], after: Sequence[Cells], secret: IntArray, n_values: int, seed: int
    ) -> Halves:
        rng = np.random.default_rng(seed)
        is_measured = rng.random(len(secret)) < 0.5
        own, is_rare = _sides_of_rare(before, seed)
        shown, is_rare_now = _sides_of_rare(after, seed)
        is_measured = np.where(is_rare_now, shown, is_measured)
        order = rng.permutation(len(secret))
        trained, measured = (order[is_measured[order] == half] for half in (False, True))
        if min(len(trained), len(measured)) < len(secret) // 8:  # a few tuples hold nearly all rows
            trained, measured = np.array_split(order, 2)
        trained = trained[:MOST_TRAINED]
        return cls(trained, measured[:MOST_MEASURED], (is_rare & own)[trained], secret, n_values)

    @classmethod
    def of_persons(
        cls,
        before: Sequence[Cells],
        after: Sequence[Cells],
        secret: IntArray,
        n_values: int,
        persons: IntArray,
        seed: int,
    ) -> Halves:
        is_measured = _sides_of(persons, seed)
        order = np.random.default_rng(seed).permutation(len(secret))
        trained, measured = (order[is_measured[order] == half] for half in (False, True))
        own, shown = tuple_keys(before, seed), tuple_keys(after, seed)
        again = _is_rare(shown)[measured] & np.isin(shown[measured], shown[trained])
        measured = measured[~again]
        if min(len(trained), len(measured)) < len(secret) // 8:
            raise InputError(
                "rows cannot be split into halves of different persons: few persons have nearly all rows, or all "
                "released tuples. Attack a table of more persons, or leave out person=, --person."
            )
        trained, measured = trained[:MOST_TRAINED], measured[:MOST_MEASURED]
        there = np.union1d(own[measured], shown[measured])
        return cls(trained, measured, _is_rare(own)[trained] & np.isin(own[trained], there), secret, n_values)

    @property
    def rows(self) -> IntArray:
        """Both, in this order."""
        return np.concatenate([self.trained, self.measured])

    @property
    def to_learn(self) -> IntArray:
        """S of the records that models see."""
        return self.secret[self.trained]

    @property
    def to_guess(self) -> IntArray:
        """S of the untouched ones."""
        return self.secret[self.measured]


def _sides_of_rare(columns: Sequence[Cells], seed: int) -> tuple[BoolArray, BoolArray]:
    """Of each row the half of its tuple, by a hash of it, and whether the tuple is rare."""
    keys = tuple_keys(columns, seed)
    return (keys >> 20) % 2 == 1, _is_rare(keys)


def _is_rare(keys: IntArray) -> BoolArray:
    _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    result: BoolArray = (counts < RARE)[place.reshape(-1)]
    return result


def _sides_of(persons: IntArray, seed: int) -> BoolArray:
    """Of each row whether it is measured: persons in the order of a hash of their codes, up to half of all rows."""
    hashes = code_keys(persons, seed)
    _, place, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    result: BoolArray = (np.cumsum(counts) - counts / 2 > len(persons) / 2)[place.reshape(-1)]
    return result


def rows_each_of(persons: IntArray, secret: IntArray) -> float:
    r"""How many rows say as much about shares of S as a single one would, were all independent.

    .. math:: 1 + \rho \left(\frac{\sum_i m_i^2}{\sum_i m_i} - 1\right), \qquad \rho = \frac{A - C}{1 - C}

    Person i has m_i rows; A is how often two rows of one person have the same S, C how often any two have.
    """
    _, place, rows = np.unique(persons, return_inverse=True, return_counts=True)
    n_values = int(secret.max()) + 1
    _, same = np.unique(place.reshape(-1) * n_values + secret, return_counts=True)
    pairs = int((rows * (rows - 1)).sum())
    by_chance = float(((np.bincount(secret) / len(secret)) ** 2).sum())
    if not pairs or by_chance == 1.0:
        return 1.0
    alike = ((same * (same - 1)).sum() / pairs - by_chance) / (1 - by_chance)
    return 1.0 + max(0.0, float(alike)) * pairs / len(secret)
