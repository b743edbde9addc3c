r"""Only beliefs matter: symbols that tell the same about S form one class, and designs are made on classes.

A notion about beliefs asks that P(S = . | y) lies in a convex set, which depends on the classes of the symbols behind y
alone. With C the class of X, :math:`H(X \mid Y) \ge H(C \mid Y)` under every mechanism, and a mechanism on C becomes
one on X that reaches it: the mass of every class is shared out among the columns, and inside a column the classes are
*coupled*, so that every released symbol stands for exactly one x of each class, in the proportions of the column. So
the best I(X; Y) is H(X) less the least H(C | Y), a limit for C is one for X, and the cost of an optimum is the number
of distinct beliefs, not that of symbols.

Every coupling keeps the same. Here the members of a class are laid out in the order of the alphabet, or along a line on
which close values are neighbours (`nearness`).
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet._support.numeric import DENOMINATOR, BoolArray, FloatArray, IntArray
from discreet.core import labels
from discreet.core.beliefs import belief_classes, on_classes
from discreet.core.joint import Joint
from discreet.core.rare import has_rare_values
from discreet.designers.posteriors.realise import label_of
from discreet.mechanism import ChannelMechanism, provenance
from discreet.mechanism.entries import Entries
from discreet.notions import Notion
from discreet.utilities import Information, Utility

__all__ = ["Quotient", "is_about_beliefs"]

#: Cuts of a column closer than this, as shares of it, are one: they differ by rounding.
SAME_CUT = 1e-15

#: Released symbols up to which they are named by what they stand for.
MOST_NAMED = 50_000

#: Shares are computed with the 64 bits that the processor has for them, where it has: cuts lie close to each other.
LongArray = NDArray[np.longdouble]


def is_about_beliefs(notion: Notion, utility: Utility) -> bool:
    """Whether symbols with the same belief can be taken together: not where something sees the symbols themselves.

    Limits of what a sample tells are wider where a symbol has fewer records, whatever it seems to tell.
    """
    sees_symbols = notion.is_conditional or notion.confidence is not None
    return utility == Information() and not sees_symbols


@dataclass(frozen=True)
class Quotient:
    """A joint and its classes of equal beliefs.

    Attributes
    ----------
    joint : Joint
        P(s, x).
    classes : ndarray of int
        The class of each symbol.
    inner : Joint
        P(s, class).
    places : ndarray or None
        Where each symbol lies on the line along which members are laid out; None: in the order of the alphabet.
    """

    joint: Joint
    classes: IntArray
    inner: Joint
    places: FloatArray | None = None

    @classmethod
    def of(cls, joint: Joint, *also: Joint, places: FloatArray | None = None) -> Quotient | None:
        """The classes of a joint, or None where every symbol has a belief of its own."""
        classes = belief_classes(joint, *also)
        if int(classes.max()) + 1 == joint.n_useful:
            return None
        return cls(joint, classes, on_classes(joint, classes), places)

    def coupled(self, mechanism: ChannelMechanism) -> ChannelMechanism:
        """A mechanism on classes as one on symbols: it keeps as much, and tells the same about S up to rounding."""
        places = np.zeros(len(self.classes)) if self.places is None else self.places
        order = np.lexsort((places, self.classes))
        entries = _coupled(_pieces(mechanism.entries, self.classes, self.joint.p_useful, order), self.classes)
        names = self._names(entries)
        return ChannelMechanism(entries, self.joint.useful, names, **provenance(self.joint))

    def of_masses(self, symbol: IntArray, released: IntArray, mass: FloatArray) -> ChannelMechanism:
        """The mechanism on symbols with these masses of pairs of a symbol and a released one."""
        entries = _rounded(symbol, released, mass.astype(np.longdouble), self.classes)
        return ChannelMechanism(entries, self.joint.useful, self._names(entries), **provenance(self.joint))

    def summed(self, cells: FloatArray) -> FloatArray:
        """Rows of symbols added up to rows of classes."""
        result = np.zeros((self.inner.n_useful, cells.shape[1]))
        np.add.at(result, self.classes, cells)
        return result

    def _names(self, entries: Entries) -> tuple[str, ...]:
        """What each released symbol mostly stands for; numbers where the values behind it are private anyway."""
        number = int(entries.columns.max()) + 1
        if number > MOST_NAMED or has_rare_values(self.joint):
            return tuple(f"symbol {k}" for k in range(1, number + 1))
        mass = self.joint.p_useful[entries.rows] * entries.weights
        order = np.lexsort((-mass, entries.columns))
        starts = np.searchsorted(entries.columns[order], np.arange(number + 1))
        names = []
        for a, b in itertools.pairwise(starts.tolist()):
            members, shares = entries.rows[order[a:b]].tolist(), mass[order[a:b]]
            names.append(label_of([self.joint.useful[x] for x in members], shares / shares.sum()))
        return labels.unique_texts(names)


class _Pieces(NamedTuple):
    """Where members of classes meet columns.

    A class is a line of length 2**60, which is cut where its members end and where its columns end; a piece lies
    between two cuts. Pieces of one class in one column follow each other, and so do those.
    """

    member: IntArray
    column: IntArray
    width: IntArray  # of the column on the line of the class
    end: LongArray  # of the piece, as a share of that width
    is_first: BoolArray  # of its class in its column


def _pieces(entries: Entries, classes: IntArray, p_useful: Any, order: IntArray) -> _Pieces:
    """Lay the members of every class out along its line, one class after the other, and cut it into columns."""
    until = _cumulated(entries.rows, entries.weights)
    line = np.concatenate([classes[order], entries.rows])
    place = np.concatenate([_ends(classes[order], p_useful[order]), until])
    is_member = np.arange(len(line)) < len(order)
    along = np.lexsort((~is_member, place, line))
    line, place, is_member = line[along], place[along], is_member[along]
    before = np.where(np.diff(line, prepend=-1) > 0, 0, np.concatenate([[0], place[:-1]]))
    real = place > before
    member = order[(np.cumsum(is_member) - is_member)[real]]
    entry: IntArray = (np.cumsum(~is_member) - ~is_member)[real]
    width = entries.weights[entry]
    end = (place[real] - (until - entries.weights)[entry]).astype(np.longdouble) / width
    opens: BoolArray = np.diff(entry, prepend=-1) > 0
    return _Pieces(member, entries.columns[entry], width, end, opens)


def _ends(classes: IntArray, p_useful: Any) -> IntArray:
    """Where each member ends on the line of its class, by their shares; those of one class follow each other."""
    last = np.append(np.flatnonzero(np.diff(classes)), len(classes) - 1)
    occurs = np.bincount(classes, p_useful) > 0
    shares = np.cumsum(np.where(occurs[classes], p_useful, 1.0).astype(np.longdouble))
    whole = np.diff(shares[last], prepend=np.longdouble(0))
    inside = (shares - (shares[last] - whole)[classes]) / whole[classes]
    result: IntArray = np.rint(inside * DENOMINATOR).astype(np.int64)
    result[last] = DENOMINATOR
    return np.clip(result, 0, DENOMINATOR)


def _cumulated(rows: IntArray, weights: IntArray) -> IntArray:
    """Sums of weights up to each entry of a row, which are at most 2**60."""
    # Sums over all rows wrap around, and their differences do not.
    with np.errstate(over="ignore"):
        sums = np.cumsum(weights.astype(np.uint64))
        before = np.concatenate([[np.uint64(0)], sums[:-1]])[np.searchsorted(rows, rows)]
        result: IntArray = (sums - before).astype(np.int64)
    return result


def _coupled(pieces: _Pieces, classes: IntArray) -> Entries:
    """A released symbol between every two cuts of a column, whatever class is cut there."""
    order = np.lexsort((pieces.end, pieces.column))
    end, opens = pieces.end[order], np.diff(pieces.column[order], prepend=-1) > 0
    cut = np.cumsum(opens | (_steps(end, opens) > SAME_CUT)) - 1  # the number of the cut that each piece ends at
    firsts = np.flatnonzero(np.diff(cut, prepend=-1) > 0)
    length = _steps(end[firsts], opens[firsts])  # of the column, in front of each cut
    until, opening = np.empty_like(cut), np.empty_like(cut)
    until[order], opening[order] = cut, np.maximum.accumulate(np.where(opens, cut, 0))
    since = np.where(pieces.is_first, opening, np.concatenate([[0], until[:-1] + 1]))
    crossed = until - since + 1  # none, where a piece is no wider than rounding
    starts = np.cumsum(crossed) - crossed
    released = np.repeat(since - starts, crossed) + np.arange(int(crossed.sum()))
    rows = np.repeat(pieces.member, crossed)
    return _rounded(rows, released, length[released] * np.repeat(pieces.width, crossed), classes)


def _steps(end: LongArray, opens: BoolArray) -> LongArray:
    """How far each end is from the one before it, or from the opening of its column."""
    result: LongArray = np.where(opens, end, np.diff(end, prepend=np.longdouble(0)))
    return result


def _rounded(rows: IntArray, released: IntArray, widths: LongArray, classes: IntArray) -> Entries:
    """Weights over 2**60 in proportion to widths; none is off by more than the last digit of a float."""
    order = np.lexsort((released, rows))
    rows, released, widths = rows[order], released[order], widths[order]
    present, starts, number = np.unique(rows, return_index=True, return_counts=True)
    total = np.repeat(np.add.reduceat(widths, starts), number)
    weights = np.floor(widths / total * DENOMINATOR).astype(np.int64)
    missing = DENOMINATOR - np.add.reduceat(weights, starts)
    each, more = np.divmod(missing, number)
    weights += np.repeat(each, number) + (np.arange(len(rows)) - np.repeat(starts, number) < np.repeat(more, number))
    absent = np.setdiff1d(np.arange(len(classes)), present)
    if len(absent):  # too rare to have a place on the line of their class: released like another member
        like = starts[np.searchsorted(present, _another(classes, present)[absent])]
        rows, released = np.append(rows, absent), np.append(released, released[like])
        weights = np.append(weights, np.full(len(absent), DENOMINATOR))
    kept = weights > 0
    columns = np.unique(released[kept], return_inverse=True)[1].reshape(-1)
    return Entries(rows[kept], columns, weights[kept])


def _another(classes: IntArray, present: IntArray) -> IntArray:
    """For every symbol, one of those present in its class."""
    first = np.zeros(int(classes.max()) + 1, dtype=np.int64)
    first[classes[present]] = present
    result: IntArray = first[classes]
    return result
