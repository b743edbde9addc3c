"""Which symbols tell the same about S: classes of equal beliefs P(S = . | x), decided in integers."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet._support.numeric import FloatArray, IntArray, ObjectArray
from discreet.core.joint import Joint

__all__ = ["belief_classes", "on_classes"]

#: Equal columns of integers are closer than this in floats, seen in any direction.
NEARLY_EQUAL = 1e-9


def belief_classes(*joints: Joint) -> IntArray:
    """The class of every symbol, from 0 on in the order of their first members.

    Beliefs are equal where columns of integers, divided by what they have in common, are. Under several joints over the
    same symbols they must be in the same proportion under all of them. Symbols that never occur have no belief, and
    form one class.

    >>> belief_classes(Joint.from_counts([[2, 1, 3, 0], [4, 5, 6, 0]])).tolist()
    [0, 1, 0, 2]
    """
    if all(joint.floats_suffice for joint in joints):
        shared = _may_be_shared(np.vstack([joint.probabilities for joint in joints]))
    else:
        shared = np.arange(joints[0].n_useful)
    first = np.arange(joints[0].n_useful)  # the first member of each symbol's class
    if len(shared):
        columns: Any = np.vstack([joint.whole[:, shared] for joint in joints])
        reduced = _reduced_small(columns) if columns.dtype != object else _reduced_large(columns)
        _, opens, place = np.unique(reduced, axis=1, return_index=True, return_inverse=True)
        first[shared] = shared[opens[place.reshape(-1)]]
    result: IntArray = np.unique(first, return_inverse=True)[1].reshape(-1)
    return result


def _may_be_shared(columns: FloatArray) -> IntArray:
    """Symbols whose column has nearly the direction of another one: no others need to be compared in integers."""
    mass = columns.sum(axis=0)
    weights = np.random.default_rng(0).uniform(1.0, 2.0, len(columns))
    seen = np.divide(weights @ columns, mass, out=np.zeros_like(mass), where=mass > 0)
    order = np.argsort(seen, kind="stable")
    close = np.diff(seen[order]) < NEARLY_EQUAL
    result: IntArray = np.sort(order[np.append(close, False) | np.insert(close, 0, False)])
    return result


def _reduced_small(columns: IntArray) -> IntArray:
    result: IntArray = columns // np.maximum(np.gcd.reduce(columns, axis=0), 1)
    return result


def _reduced_large(columns: ObjectArray) -> IntArray:
    """Columns of numbers that need more than 64 bits, each number named by its rank among those that occur."""
    common = [max(1, math.gcd(*map(int, column))) for column in columns.T]
    reduced = [[int(cell) // divisor for cell, divisor in zip(row, common)] for row in columns]
    rank = {number: k for k, number in enumerate(sorted({cell for row in reduced for cell in row}))}
    return np.array([[rank[cell] for cell in row] for row in reduced], dtype=np.int64)


def on_classes(joint: Joint, classes: IntArray) -> Joint:
    """The joint of S and the class of X, exactly; a class is called by its number."""
    number = int(classes.max()) + 1
    order = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[order], np.arange(number))
    whole = np.add.reduceat(joint.whole[:, order], starts, axis=1)
    if joint.counts is not None:
        return Joint.counted(whole, sensitive=joint.sensitive, useful=tuple(range(number)))
    cells = np.add.reduceat(joint.probabilities[:, order], starts, axis=1)
    return Joint(cells, lambda: whole.astype(object), sensitive=joint.sensitive, useful=tuple(range(number)))
