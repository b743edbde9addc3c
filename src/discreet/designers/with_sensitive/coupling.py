r"""From classes of equal beliefs back to symbols, for mechanisms that read S.

Let C be the class of X by its belief P(S = . | x). A mechanism Q(y | s, x) makes one on pairs of s and class, with the
same P(s, y), and C is a function of X. So under every cost :math:`\sum_x f(v(x))` with f concave and f(0) = 0, which is
subadditive, no mechanism on symbols costs less than the best on classes: for information :math:`H(X \mid Y) \ge
H(C \mid Y)`, that is :math:`I_X \le H(X) - H(C) + I_C`.

The best on classes is reached. Inside a class :math:`P(s, x) = P(x \mid c) P(s, c)` for every s alike. Cut the unit
interval of each column k into pieces, so that every class of the column lays its members x out along it with lengths
:math:`P(x \mid c)`, and release a symbol for each piece: it stands for one x of each class, the same for all s, with
:math:`u(s, x_c) = u_k(s, c)`. Its costs and its belief are those of the column, and summed up

.. math:: \sum_k w_k \, u_k(s, c) \, P(x \mid c) = P(s, c) \, P(x \mid c) = P(s, x).

The lengths must be the same in every column. Laying members out along the columns instead, as for mechanisms that read
x alone (`discreet.designers.posteriors.quotient`), would ask for different members of a class under different s, since
each s fills the columns at a pace of its own, and lose. A column has at most as many classes as there are sensitive
values, so the pieces are few.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet._support.numeric import FloatArray, IntArray
from discreet.core import labels
from discreet.core.rare import has_rare_values
from discreet.designers.posteriors.quotient import Quotient
from discreet.designers.posteriors.realise import label_of
from discreet.designers.posteriors.sparse_rows import rounded_rows
from discreet.mechanism import SensitiveMechanism, provenance

__all__ = ["MOST_CELLS", "coupled_pairs"]

#: Cells (s, x, y) of a mechanism that can be checked: it is laid out as a whole.
MOST_CELLS = 20_000_000

#: Cuts of a column closer than this are one: they differ by rounding.
SAME_CUT = 1e-15


#: Columns of less weight than this are one released symbol: what could be told by cutting them is less than that, and a
#: rest that makes a mixture exact has members of every class.
LEFT_WHOLE = 1e-10


class _Pieces(NamedTuple):
    """What stands behind each released symbol: one entry for each of its classes and each s with a share there."""

    row: IntArray  # s * n_useful + x
    released: IntArray
    mass: FloatArray


def coupled_pairs(quotient: Quotient, points: FloatArray, weights: FloatArray) -> SensitiveMechanism | None:
    """A mixture of posteriors over pairs (s, class) as a mechanism on symbols; None where it is too large.

    Parameters
    ----------
    quotient : Quotient
        The joint and its classes.
    points : ndarray of shape (count, n_sensitive, n_classes)
        Posteriors u(s, c) that average to P(s, c).
    weights : ndarray of shape (count,)
        Their weights.
    """
    joint = quotient.joint
    pieces = _cut(quotient, points, weights)
    number = int(pieces.released.max()) + 1
    if joint.n_sensitive * joint.n_useful * number > MOST_CELLS:
        return None
    rows, columns, chosen = rounded_rows(*_with_absent(quotient, pieces))
    used, columns = np.unique(columns, return_inverse=True)
    names = _names(quotient, pieces, number)
    return SensitiveMechanism(
        (rows, columns.reshape(-1), chosen),
        joint.useful,
        [names[k] for k in used.tolist()],
        sensitive=joint.sensitive,
        p_joint=joint.probabilities,
        **provenance(joint),
    )


def _cut(quotient: Quotient, points: FloatArray, weights: FloatArray) -> _Pieces:
    joint = quotient.joint
    n, p = joint.n_useful, joint.p_useful
    members, ends = [], []
    for c in range(quotient.inner.n_useful):
        inside = np.flatnonzero((quotient.classes == c) & (p > 0))
        along = np.cumsum(p[inside])
        members.append(inside)
        ends.append(along / along[-1] if len(along) else along)
    rows, released, mass = [], [], []
    first = 0
    for point, weight in zip(points, weights.tolist()):
        held = np.flatnonzero(point.any(axis=0))
        if weight < LEFT_WHOLE:
            for s, c in zip(*(place.tolist() for place in np.nonzero(point))):
                rows.append(s * n + members[c])
                released.append(np.full(len(members[c]), first))
                mass.append(weight * point[s, c] * np.diff(ends[c], prepend=0.0))
            first += 1
            continue
        cuts = np.unique(np.concatenate([ends[c] for c in held.tolist()]))
        cuts = cuts[np.diff(cuts, prepend=0.0) > SAME_CUT]
        length = np.diff(cuts, prepend=0.0)
        middle = cuts - length / 2
        for c in held.tolist():
            x = members[c][np.minimum(np.searchsorted(ends[c], middle), len(members[c]) - 1)]
            for s in np.flatnonzero(point[:, c]).tolist():
                rows.append(s * n + x)
                released.append(first + np.arange(len(x)))
                mass.append(weight * point[s, c] * length)
        first += len(cuts)
    amount = np.concatenate(mass)
    some = amount > 0  # masses of nearly nothing vanish when they are shared out
    number = np.unique(np.concatenate(released)[some], return_inverse=True)[1].reshape(-1)
    return _Pieces(np.concatenate(rows)[some], number, amount[some])


def _with_absent(quotient: Quotient, pieces: _Pieces) -> _Pieces:
    """Rows of pairs that never occur, and of symbols too rare for a piece, are those of a pair that is close."""
    joint = quotient.joint
    n = joint.n_useful
    present = np.zeros(joint.n_sensitive * n, dtype=bool)
    present[pieces.row] = True
    absent = np.flatnonzero(~present)
    if not len(absent):
        return pieces
    has = present.reshape(-1, n)
    commonest = int(np.where(has.any(axis=0), joint.p_useful, -1.0).argmax())
    another = np.full(int(quotient.classes.max()) + 1, commonest)  # a member of each class with rows of its own
    another[quotient.classes[has.any(axis=0)]] = np.flatnonzero(has.any(axis=0))
    s, x = np.divmod(absent, n)
    x = np.where(has[:, x].any(axis=0), x, another[quotient.classes[x]])
    s = np.where(has[s, x], s, has[:, x].argmax(axis=0))
    order = np.argsort(pieces.row, kind="stable")
    starts = np.searchsorted(pieces.row[order], np.arange(len(present) + 1))
    like = s * n + x
    size = starts[like + 1] - starts[like]
    taken = order[np.repeat(starts[like] - (np.cumsum(size) - size), size) + np.arange(int(size.sum()))]
    return _Pieces(
        np.concatenate([pieces.row, np.repeat(absent, size)]),
        np.concatenate([pieces.released, pieces.released[taken]]),
        np.concatenate([pieces.mass, pieces.mass[taken]]),
    )


def _names(quotient: Quotient, pieces: _Pieces, number: int) -> tuple[str, ...]:
    """What each released symbol mostly stands for; numbers where the values behind it are private anyway."""
    joint = quotient.joint
    if has_rare_values(joint):
        return tuple(f"symbol {k}" for k in range(1, number + 1))
    x = pieces.row % joint.n_useful
    pair, place = np.unique(pieces.released * joint.n_useful + x, return_inverse=True)
    mass = np.bincount(place.reshape(-1), pieces.mass)
    owner, x = np.divmod(pair, joint.n_useful)
    order = np.lexsort((-mass, owner))
    starts = np.searchsorted(owner[order], np.arange(number + 1))
    names = []
    for k in range(number):
        here = order[starts[k] : starts[k + 1]]
        names.append(label_of([joint.useful[v] for v in x[here].tolist()], mass[here] / mass[here].sum()))
    return labels.unique_texts(names)
