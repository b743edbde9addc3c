"""Who appears as whom: classes by the integers of a mechanism, twins by a point of each record's stretch.

Every record has one keyed digest. Its first 120 bits are compared with the summed weights of the record's class, as in
every release; the next 40 are the point at which its twin stands, and the last 96 its own place among its class. Were
places told by the first bits too, all that move to a class would stand side by side, opposite few of its records, and
those would appear often together and the others never: shares of values would vary several times as much. Where rows
keep their order, records are exchanged one for one instead (`exchange`).
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

from discreet._support.numeric import IntArray
from discreet.mechanism import Mechanism
from discreet.twins.coupling import Coupling, couple
from discreet.twins.distance import Distance
from discreet.twins.exchange import exchanged
from discreet.twins.records import Digests, numbers_of

__all__ = [
    "NEARLY",
    "ONE_FOR_ONE",
    "Appearing",
    "appearing",
    "channel_of",
    "coupled",
    "coupling_of",
    "drawn_classes",
    "moves",
    "points",
    "sources",
]

#: Hexadecimal digits that the class is drawn by, and those of the point behind them.
CLASS_DIGITS, POINT_DIGITS = 30, 10

#: The digits behind both, by which records stand in order.
ORDER_FROM, ORDER_DIGITS = 40, 24


#: What certificates call it that records are exchanged; the second where classes have other sizes than in the design.
ONE_FOR_ONE, NEARLY = "one for one", "one for one, some repeated"


def coupling_of(found: IntArray) -> str:
    """What certificates call an exchange with these sources."""
    return ONE_FOR_ONE if len(np.unique(found)) == len(found) else NEARLY


class Appearing(NamedTuple):
    """Of each row the row whose useful cells are published for it, and a digest of who stood opposite whom."""

    sources: IntArray
    digest: str


def appearing(
    hashes: Digests, classes: IntArray, mechanism: Mechanism, distance: Distance, names: IntArray, *, one_for_one: bool
) -> Appearing:
    """Draw every row's appearance; ``names`` of the rows are the same in any order of them."""
    if one_for_one:
        found = exchanged(hashes, classes, _rows(mechanism), mechanism.denominator, distance)
        by_name = names[found][np.argsort(names)]
        return Appearing(found, hashlib.sha256(by_name.astype("<i8").tobytes()).hexdigest())
    coupling = coupled(hashes, classes, mechanism, distance)
    return Appearing(sources(hashes, classes, mechanism, coupling), coupling.digest(names))


def coupled(hashes: Digests, classes: IntArray, mechanism: Mechanism, distance: Distance) -> Coupling:
    """Twins between the classes of a mechanism; the key decides between records that are alike."""
    last = np.empty(len(hashes), dtype=np.int64)
    last[np.argsort(_order_digits(hashes), kind="stable")] = np.arange(len(hashes))
    return couple(classes, mechanism.n_useful, moves(mechanism), distance, last)


def _order_digits(hashes: Digests) -> Digests:
    """Those that say nothing about who moves, nor where to."""
    letters = hashes.view(np.uint8).reshape(len(hashes), hashes.dtype.itemsize)[:, ORDER_FROM:]
    result: Digests = np.ascontiguousarray(letters).view(f"S{ORDER_DIGITS}").reshape(-1)
    return result


def moves(mechanism: Mechanism) -> dict[tuple[int, int], float]:
    """Pairs of classes (own, published) with their chance; a class is its place among the useful values."""
    whole = mechanism.denominator
    return {(k, g): weight / whole for k, row in enumerate(_rows(mechanism)) for g, weight in row}


def _rows(mechanism: Mechanism) -> list[list[tuple[int, int]]]:
    """Of every class the classes that it may appear as, with integer weights."""
    stored = mechanism.public_dict()["rows"]
    places = mechanism.own_places
    assert places is not None, "classes appear as classes"
    return [[(places[y], int(weight)) for y, weight in row if weight] for row in stored]


def drawn_classes(hashes: Digests, classes: IntArray, mechanism: Mechanism) -> IntArray:
    """The class that each record appears as."""
    scale = (1 << 4 * CLASS_DIGITS) // mechanism.denominator
    found = classes.copy()
    shown = hashes.astype(f"S{CLASS_DIGITS}")
    for k, row in enumerate(_rows(mechanism)):
        members = np.flatnonzero(classes == k)
        ends = np.cumsum([weight for _, weight in row], dtype=object)[:-1]
        edges = np.array([f"{int(end) * scale:0{CLASS_DIGITS}x}" for end in ends], dtype=f"S{CLASS_DIGITS}")
        targets = np.array([g for g, _ in row], dtype=np.int64)
        found[members] = targets[np.searchsorted(edges, shown[members], side="right")]
    return found


def points(hashes: Digests) -> IntArray:
    """Numbers of 40 bits, from the digits behind those of the class."""
    return numbers_of(hashes, CLASS_DIGITS, POINT_DIGITS)


def sources(hashes: Digests, classes: IntArray, mechanism: Mechanism, coupling: Coupling) -> IntArray:
    """Of each row the row whose useful cells are published for it: its own, or those of a twin."""
    published, drawn = drawn_classes(hashes, classes, mechanism), points(hashes)
    found = np.arange(len(classes))
    for own, other in moves(mechanism):
        if own != other:
            rows = np.flatnonzero((classes == own) & (published == other))
            found[rows] = coupling.twins(rows, own, other, drawn[rows])
    return found


def channel_of(mechanism: Mechanism, joint: Any) -> Mechanism:
    """The mechanism as a channel from classes to classes."""
    return mechanism if mechanism.own_places is not None else mechanism.in_values(joint)
