r"""Coupling members of cells: a mixture of cells becomes one of symbols whose posteriors are allowed one by one.

Members of a cell tell nearly the same about S, not exactly, so a released symbol that stands for one member of each
cell has to choose its shares anew. A column of the mixture is a vertex: as many rows hold with equality as determine
its shares, and with the members' own rows in their place those equations determine the shares of the members. The
members of every cell are laid out along its line and cut into the columns that use them. A column then walks along its
cells: the members at hand are released in their own shares until one of them is used up, and the next of its cell takes
its place. What is left where a cell of the column comes to its end, and what fits nowhere, is the rest, which is
designed on anew. All columns walk at once, a step of each at a time, and long ones are cut into stretches that walk at
once as well.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray

__all__ = ["Mixture", "Walked", "walked"]

#: Rows closer than this to zero determine the shares of a column.
TOUCHED = 1e-7

#: How far inside of the rows that it touches a released symbol is put, and how far any other row may come to zero.
MARGIN = 1e-11

#: Shares smaller than this are none, and parts of a line that are smaller, relative to it, are rounding.
NO_SHARE, NO_PART = 1e-9, 1e-15

#: Members that a column tries in turn where those at hand fit in no shares.
MOST_TRIES = 30

#: Members of a stretch, about: each leaves one of its members, and takes as many steps.
MEMBERS_OF_A_STRETCH = 50

#: A pivot smaller than this says that a row is determined by others.
DEPENDENT = 1e-6


class Mixture(NamedTuple):
    """Columns of cells: how much of each cell a column uses."""

    column: IntArray
    cell: IntArray
    mass: FloatArray


class Walked(NamedTuple):
    """Which symbol is released as what, with which mass, and how much of each symbol is left."""

    symbol: IntArray
    released: IntArray
    mass: FloatArray
    rest: FloatArray


class _Pieces(NamedTuple):
    """Parts of members, in the order in which columns meet them, and where those of each entry begin and end."""

    member: IntArray
    mass: FloatArray
    first: IntArray
    last: IntArray


def walked(mixture: Mixture, cell_of: IntArray, mass: FloatArray, rows: FloatArray, room: FloatArray) -> Walked:
    """Release members of cells by the columns of a mixture of cells.

    Parameters
    ----------
    mixture : Mixture
        Which columns use how much of which cells.
    cell_of, mass : ndarray of shape (n_symbols,)
        The cell of each symbol, in the order in which the cell's members are taken, and P(x).
    rows : ndarray of shape (n_rows, n_symbols)
        R, where a posterior v is allowed if R v <= 0.
    room : ndarray of shape (n_rows,)
        R v of the rest is at most this, so that it can be designed on; that of the masses must be.
    """
    mixture, origin = _stretches(mixture, len(mass))
    order = np.lexsort((mixture.column, mixture.cell))
    order = order[mixture.mass[order] > 0]
    column, cell, used = mixture.column[order], mixture.cell[order], mixture.mass[order]
    whole = np.bincount(cell_of, mass)
    mean = np.stack([np.bincount(cell_of, row * mass) for row in rows]) / whole
    walk = _Walk(_Columns.of(column, cell, used, mean, origin), _pieces(cell, used, cell_of, mass), rows)
    while walk.is_going:
        walk.step()
    return walk.result(mass, room)


def _stretches(mixture: Mixture, n_symbols: int) -> tuple[Mixture, IntArray]:
    """Long columns as several of the same shares, and of each of them which column it is a stretch of."""
    column, cell, mass = mixture
    members = np.bincount(column, mass) * (n_symbols / mass.sum())
    parts = np.maximum((members / MEMBERS_OF_A_STRETCH).astype(np.int64), 1)
    first, times = np.cumsum(parts) - parts, parts[column]
    number = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    cut = Mixture(np.repeat(first[column], times) + number, np.repeat(cell, times), np.repeat(mass / times, times))
    return cut, np.repeat(np.arange(len(parts)), parts)


def _pieces(cells: IntArray, used: FloatArray, cell_of: IntArray, mass: FloatArray) -> _Pieces:
    """Each cell as a line, cut where its members end and where the entries that use it do; both sorted by cell."""
    order = np.argsort(cell_of, kind="stable")
    line = np.concatenate([cell_of[order], cells])
    place = np.concatenate([_ends(cell_of[order], mass[order]), _ends(cells, used)])
    is_member = np.arange(len(line)) < len(order)
    along = np.lexsort((~is_member, place, line))
    line, place, is_member = line[along], place[along], is_member[along]
    before = np.where(np.diff(line, prepend=-1) > 0, 0.0, np.concatenate([[0.0], place[:-1]]))
    width = place - before
    entry = np.minimum(np.cumsum(~is_member) - ~is_member, len(cells) - 1)
    real = (width > NO_PART) & (cells[entry] == line)  # a cell that no column uses has no entry
    member, entry = order[np.minimum(np.cumsum(is_member) - is_member, len(order) - 1)[real]], entry[real]
    total = np.bincount(cell_of, mass)
    every = np.arange(len(cells))
    return _Pieces(
        member,
        width[real] * total[line[real]],
        np.searchsorted(entry, every),
        np.searchsorted(entry, every, side="right"),
    )


def _ends(group: IntArray, amount: FloatArray) -> FloatArray:
    """Where each ends on the line of its group, as a share of it; those of one group follow each other."""
    sums = np.cumsum(amount)
    last = np.append(np.flatnonzero(np.diff(group)), len(group) - 1)
    number = np.cumsum(np.diff(group, prepend=group[0]) > 0)
    until = sums[last]
    whole = np.diff(until, prepend=0.0)
    inside, total = sums - (until - whole)[number], whole[number]
    # What is too small to be seen beside the other groups ends at once.
    result: FloatArray = np.clip(np.divide(inside, total, out=np.ones_like(inside), where=total > 0), 0.0, 1.0)
    result[last] = 1.0
    return result


class _Columns(NamedTuple):
    """Columns of few cells, padded to one width: their entries, the shares of those, and the rows that determine them.

    Columns of more cells than rows can determine do not walk: their members are left for the rest.
    """

    entry: IntArray  # (n_columns, width); -1 where there is none
    share: FloatArray
    touched: IntArray  # (n_columns, width - 1): rows that hold with equality; -1: the shares keep their proportion

    @classmethod
    def of(cls, column: IntArray, cell: IntArray, used: FloatArray, mean: FloatArray, origin: IntArray) -> _Columns:
        """Sort entries by column, and find the rows that each column touches; stretches of one touch the same."""
        order = np.lexsort((-used, column))  # the largest share of a column first
        number = np.bincount(column)
        starts = np.cumsum(number) - number
        few = np.flatnonzero(number <= len(mean) + 1)
        width = max(2, int(number[few].max(initial=2)))
        place = starts[few, None] + np.arange(width)
        there = np.arange(width) < number[few, None]
        entry = np.where(there, order[np.minimum(place, len(order) - 1)], -1)
        share = np.where(there, used[entry], 0.0)
        share /= share.sum(axis=1, keepdims=True)
        touched = np.full((len(few), width - 1), -1, dtype=np.int64)
        firsts, which = np.unique(origin[few], return_index=True, return_inverse=True)[1:]
        for k in firsts.tolist():
            chosen = _determining(mean[:, cell[entry[k, there[k]]]], share[k, there[k]])
            touched[k, : len(chosen)] = chosen
        return cls(entry, share, touched[firsts[which.reshape(-1)]])


def _determining(rows: FloatArray, share: FloatArray) -> list[int]:
    """Independent rows that hold with equality at these shares, one less than there are shares at most."""
    chosen: list[int] = []
    basis = [np.full(len(share), 1 / np.sqrt(len(share)))]  # that shares add up to one is a row too
    for k in np.flatnonzero(rows @ share > -TOUCHED).tolist():
        rest = rows[k] - sum((rows[k] @ b) * b for b in basis)
        size = float(np.sqrt(rest @ rest))
        if len(basis) < len(share) and size > DEPENDENT * max(float(np.abs(rows[k]).max()), DEPENDENT):
            chosen.append(k)
            basis.append(rest / size)
    return chosen


class _Walk:
    """All columns on their way along their cells."""

    def __init__(self, columns: _Columns, pieces: _Pieces, rows: FloatArray) -> None:
        self.pieces, self.rows, self.width = pieces, rows, columns.entry.shape[1]
        self.there: BoolArray = columns.entry >= 0
        self.at = np.where(self.there, pieces.first[columns.entry], 0)
        self.end = np.where(self.there, pieces.last[columns.entry], 1)
        self.left = np.where(self.there, self._mass(self.at), np.inf)
        self.share, self.touched = columns.share, columns.touched
        self.going = self._goes() & self.there.any(axis=1)
        self.tries = np.zeros(len(self.at), dtype=np.int64)
        self._rng = np.random.default_rng(0)
        self.found: list[tuple[IntArray, FloatArray]] = []
        self._keep(self.going)

    @property
    def is_going(self) -> bool:
        """Whether some column has members of all of its cells left."""
        return len(self.at) > 0

    def step(self) -> None:
        """Release the members at hand in their own shares, until one of them is used up."""
        member = self.pieces.member[np.minimum(self.at, len(self.pieces.member) - 1)]
        share, fits = _own_shares(self.rows, member, self.there, self.share, self.touched)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(self.there & (share > 0), self.left / share, np.inf)
        first = np.where(fits, steps.argmin(axis=1), np.where(self.there, self.left, np.inf).argmin(axis=1))
        every = np.arange(len(first))
        amount = np.where(fits, steps[every, first], 0.0)[:, None] * share
        self.found.append((member[fits], np.where(self.there, amount, 0.0)[fits]))
        self.tries = np.where(fits, 0, self.tries + 1)
        again = ~fits & (self.tries <= MOST_TRIES)
        # Where no shares are allowed, members later in line are tried; in the end the smallest part is left.
        self.left = np.where(self.there, self.left - amount, np.inf)
        used_up = self.there & (self.left <= NO_SHARE * self._mass(self.at))
        used_up[every, first] = ~again
        self._swap(np.flatnonzero(again))
        self.at = np.where(used_up, self.at + 1, self.at)
        going = self._goes()
        new = self._mass(np.minimum(self.at, len(self.pieces.mass) - 1))
        self.left = np.where(used_up, new, self.left)
        if not going.all():
            self._keep(going)

    def _goes(self) -> BoolArray:
        """Which columns have members of all of their cells left."""
        result: BoolArray = np.all((self.at < self.end) | ~self.there, axis=1)
        return result

    def _swap(self, columns: IntArray) -> None:
        """Let a random member that is later in line take the place of a random one at hand."""
        if not len(columns):
            return
        place = (self._rng.random(len(columns)) * self.there[columns].sum(axis=1)).astype(np.int64)
        at, end = self.at[columns, place], self.end[columns, place]
        other = at + (self._rng.random(len(columns)) * (end - at)).astype(np.int64)
        member, mass = self.pieces.member, self.pieces.mass
        mass[at] = self.left[columns, place]
        member[at], member[other] = member[other], member[at]
        mass[at], mass[other] = mass[other], mass[at]
        self.left[columns, place] = mass[at]

    def _mass(self, at: IntArray) -> FloatArray:
        result: FloatArray = self.pieces.mass[np.minimum(at, len(self.pieces.mass) - 1)]
        return result

    def _keep(self, columns: BoolArray) -> None:
        self.there, self.at, self.end = self.there[columns], self.at[columns], self.end[columns]
        self.left, self.share, self.touched = self.left[columns], self.share[columns], self.touched[columns]
        self.going, self.tries = self.going[columns], self.tries[columns]

    def result(self, mass: FloatArray, room: FloatArray) -> Walked:
        """All that was released, and the rest, with as much of everything else as puts it well inside."""
        members = np.concatenate([np.empty((0, self.width), dtype=np.int64), *(m for m, _ in self.found)])
        amounts = np.concatenate([np.empty((0, self.width)), *(a for _, a in self.found)])
        number = np.repeat(np.arange(len(members)), self.width).reshape(members.shape)
        real = amounts > 0
        symbol, released, given = members[real], number[real], amounts[real]
        rest = np.maximum(mass - np.bincount(symbol, given, minlength=len(mass)), 0.0)
        excess = self.rows @ rest - room * rest.sum()
        slack = room * mass.sum() - self.rows @ mass
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = np.where(excess > 0, excess / (excess + np.maximum(slack, 0.0)), 0.0)
        back = float(np.clip(needed.max(initial=0.0), 0.0, 1.0))
        if back == 1.0:
            return Walked(symbol[:0], released[:0], given[:0], mass)
        return Walked(symbol, released, given * (1 - back), (1 - back) * rest + back * mass)


def _own_shares(
    rows: FloatArray, member: IntArray, there: BoolArray, share: FloatArray, touched: IntArray
) -> tuple[FloatArray, BoolArray]:
    """Shares of members of each column that touch the same rows as the shares of their cells, and whether they fit."""
    count, width = member.shape
    own = rows[:, member].transpose(1, 0, 2)  # (columns, rows, places)
    system, goal, every = np.zeros((count, width, width)), np.zeros((count, width)), np.arange(count)
    system[:, 0], goal[:, 0] = there, 1.0
    for k in range(1, width):
        row = touched[:, k - 1]
        goal[:, k] = np.where(row >= 0, -MARGIN, 0.0)
        # A place that no row is left for keeps its proportion to the first; one that is not there stays empty.
        system[:, k] = np.where(((row >= 0)[:, None]) & there, own[every, row], 0.0)
        free = row < 0
        system[free, k, k] = np.where(there[free, k], share[free, 0], 1.0)
        system[free, k, 0] -= share[free, k]
    try:
        value = np.linalg.solve(system, goal[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        value = (np.linalg.pinv(system) @ goal[:, :, None])[:, :, 0]
    value = np.where(there, value, 0.0)
    sides = np.einsum("crp,cp->cr", own, value)
    fits = (
        np.isfinite(value).all(axis=1)
        & ((value > NO_SHARE) | ~there).all(axis=1)
        & (sides <= -MARGIN / 2).all(axis=1)
        & (np.abs(value.sum(axis=1) - 1) < 1e-9)
    )
    return np.where(fits[:, None], value, 0.0), fits
