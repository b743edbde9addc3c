"""Mixtures of cells, walked along their members, again and again for what is left.

Each level gathers what is left of every symbol into cells, finds a good mixture of them, and releases members one by
one in shares that are allowed. What fits nowhere is the target of the next level; what the last one leaves is merged.
Cost O(n log n) for every level beside the search on cells.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from discreet._support.numeric import FloatArray, IntArray
from discreet._support.patience import never
from discreet._support.progress import Stage
from discreet.designers.merging.opposites import opposite_blocks, seconds_to_look
from discreet.designers.posteriors.cells import Cells
from discreet.designers.posteriors.columns import NO_ENTRY
from discreet.designers.posteriors.generation import Budget, ColumnGeneration
from discreet.designers.posteriors.search import explore
from discreet.designers.posteriors.walking import Mixture, walked
from discreet.proof.polytope import Polytope
from discreet.utilities import SeparableUtility

__all__ = ["FEWEST_CELLS", "MOST_CELLS", "Levels", "cells_for"]

#: Cells where there is no time limit, and how many a search can use that has some seconds, at least and at most.
CELLS, CELLS_OF_A_SECOND, FEWEST_CELLS, MOST_CELLS = 300, 100, 60, 1000

#: Share of the time that is left that the search of one level may take.
LEVEL_SHARE = 0.3

#: Levels at most, and the share of the mass that is not worth another one.
MOST_LEVELS, NOTHING_LEFT = 12, 1e-4

#: Of the room that the target of a level has inside of each row, the share that what it leaves has too.
ROOM_OF_REST = 0.9

#: How far cells are designed towards any of their members; see `Cells.between`.
CAUTION = 0.1

#: Less than this of a symbol is rounding.
NO_PART = 1e-12


def cells_for(seconds: float | None) -> int:
    """Number of cells that a search of so many seconds can use: a round of it costs about their square.

    It is one of a few, each twice the one before, so that longer searches come by what shorter ones found.

    >>> cells_for(1), cells_for(9), cells_for(None)
    (60, 240, 300)
    """
    if seconds is None:
        return CELLS
    most = min(max(CELLS_OF_A_SECOND * math.sqrt(max(seconds, 0.0)), FEWEST_CELLS), MOST_CELLS)
    return int(FEWEST_CELLS * 2 ** math.floor(math.log2(most / FEWEST_CELLS)))


class Levels:
    """What was released so far, and what is left of each symbol.

    Parameters
    ----------
    polytope, utility : Polytope, SeparableUtility
        What is allowed, and what it costs.
    rows, mass : ndarray of shape (n_rows, n_symbols) and (n_symbols,)
        R of each symbol, in the order in which members of cells are taken, and P(x).
    """

    def __init__(
        self, polytope: Polytope, utility: SeparableUtility, rows: FloatArray, mass: FloatArray, seed: int
    ) -> None:
        self.polytope, self.utility, self.rows, self.mass, self.seed = polytope, utility, rows, mass, seed
        self.room = self.rows @ self.mass
        self.left = self.mass.copy()
        self.symbol: list[IntArray] = [np.empty(0, dtype=np.int64)]
        self.released: list[IntArray] = [np.empty(0, dtype=np.int64)]
        self.given: list[FloatArray] = [np.empty(0)]
        self.number = 0

    def run(self, number: int, budget: Budget, stage: Stage) -> None:
        """Levels until nothing is left, none helps or the time is over."""
        for _ in range(MOST_LEVELS):
            if budget.over or not self.descend(number, budget.share(LEVEL_SHARE), stage):
                break

    @property
    def cost(self) -> float:
        """H(X | Y) of what was released, and of what is left as one symbol."""
        released, given = np.concatenate(self.released), np.concatenate(self.given)
        total = np.bincount(released, given, minlength=self.number)
        shares = given / total[released]
        rest = self.left[self.left > 0]
        return -float((given * np.log(shares)).sum() + (rest * np.log(rest / rest.sum())).sum())

    @property
    def merged_cost(self) -> float:
        """The same where what is left is merged, as it will be; of very many symbols as one, which is faster."""
        if seconds_to_look(int((self.left > NO_PART * self.mass).sum())):
            return self.cost
        _, released, mass = self.pairs()
        return -float((mass * np.log(mass / np.bincount(released, mass)[released])).sum())

    def descend(self, number: int, budget: Budget, stage: Stage) -> bool:
        """One more level; False where it is the last one that is worth it."""
        some = np.flatnonzero(self.left > NO_PART * self.mass)
        target = self.left[some]
        whole = replace(self.polytope, rows=self.rows[:, some], p_useful=target / target.sum())
        cells = Cells.of(whole, number)
        inner = cells.between(CAUTION)
        generation = ColumnGeneration(inner, self.utility, inner.p_useful[None], np.ones(1), self.seed)
        explore(generation, self.utility, budget)
        used = generation.used()
        points = generation.columns.dense(used, cells.number)
        column, cell = np.nonzero(points > NO_ENTRY)
        mixture = Mixture(column, cell, generation.weights[used][column] * points[column, cell])
        self.room = ROOM_OF_REST * self.room
        found = walked(mixture, cells.cell_of, target, self.rows[:, some], self.room)
        if not len(found.symbol):
            return False
        self.symbol.append(some[found.symbol])
        self.released.append(found.released + self.number)
        self.given.append(found.mass)
        self.number += int(found.released.max(initial=-1)) + 1
        before = float(self.left.sum())
        self.left = np.zeros_like(self.left)
        self.left[some] = found.rest
        now = float(self.left.sum())
        stage.update(detail=f"{100 * (1 - now):.1f} % placed")
        return NOTHING_LEFT < now < 0.9 * before

    def pairs(self, seconds: float = 0.0, is_over: Callable[[], bool] = never) -> tuple[IntArray, IntArray, FloatArray]:
        """Symbol, released symbol and mass of all that has any; what is left is merged into the last ones."""
        rest = np.flatnonzero(self.left > NO_PART * self.mass)
        blocks = opposite_blocks(self.rows[:, rest], self.left[rest], seconds, is_over) if len(rest) else rest
        number = np.unique(blocks, return_inverse=True)[1].reshape(-1)
        return (
            np.concatenate([*self.symbol, rest]),
            np.concatenate([*self.released, self.number + number]),
            np.concatenate([*self.given, self.left[rest]]),
        )

    def mixture(self, is_over: Callable[[], bool]) -> tuple[FloatArray, FloatArray]:
        """Posteriors over the symbols, one a row, and their weights."""
        symbol, released, mass = self.pairs(is_over=is_over)
        points = np.zeros((int(released.max()) + 1, len(self.mass)))
        np.add.at(points, (released, symbol), mass)
        weights = points.sum(axis=1)
        used = weights > 0
        return points[used] / weights[used, None], weights[used]
