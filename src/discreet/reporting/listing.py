"""What becomes of each value: lifts before and after, what a value is released as, what a released one stands for."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet import measures
from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.mechanism import Mechanism
from discreet.notions import Notion
from discreet.reporting.model import AuditedSymbol, Becomes, Lifts, StandsFor

__all__ = ["Listing", "examples_of", "lifts_of", "listing_of", "worst_of"]

#: Released symbols of an encoding or a product that are listed one by one.
MOST_LISTED = 1024

#: Seed of the example rows, so that the same report comes out twice.
EXAMPLE_SEED = 0

#: Of a useful value: released symbols by their place, with probabilities, likeliest first.
Spread = list[list[tuple[int, float]]]


@dataclass(frozen=True)
class Listing:
    """Lifts after, what happens to each value and what each released symbol stands for; or why they are not listed."""

    after: Lifts | None = None
    values: tuple[Becomes, ...] = ()
    released: tuple[StandsFor, ...] = ()
    unlisted: str | None = None


def lifts_of(joint: Joint, order: Iterable[int], notion: Notion, verdict: BoolArray | None = None) -> Lifts:
    """Lifts of those symbols that occur, in the given order, with the shares of rows and columns.

    ``verdict`` says which symbols are allowed, where it is known already.
    """
    kept = [k for k in order if joint.occurs[k]]
    names = _texts(joint.useful)
    lifts = measures.lift(joint)[:, kept]
    allowed = None if notion.is_conditional else (notion.allowed(joint) if verdict is None else verdict)[kept]
    return Lifts(
        sensitive=_texts(joint.sensitive),
        sensitive_shares=tuple(joint.p_sensitive.tolist()),
        symbols=tuple(names[k] for k in kept),
        shares=tuple(joint.p_useful[kept].tolist()),
        lifts=tuple(map(tuple, lifts.tolist())),
        allowed=None if allowed is None else tuple(allowed.tolist()),
        outside=None if allowed is None else tuple(map(tuple, (~allowed & _outside(notion, lifts)).tolist())),
    )


def _outside(notion: Notion, lifts: FloatArray) -> BoolArray:
    """Which single lifts are too large or too small; none where the notion does not bound single ones."""
    lowest, highest = 0.0, math.inf
    for bound in notion.bounds:
        low, high = bound.kind.lift_range(bound.epsilon)
        lowest, highest = max(lowest, low), min(highest, high)
    return (lifts > highest) | (lifts < lowest)


def worst_of(per_symbol: Iterable[AuditedSymbol], joint: Joint) -> tuple[AuditedSymbol, ...]:
    """The symbols of an audit that occur, worst first, with labels as texts."""
    useful, sensitive = _names(joint.useful), _names(joint.sensitive)
    return tuple(
        replace(
            entry,
            symbol=useful[json.dumps(entry.symbol)],
            likelier=sensitive[json.dumps(entry.likelier)],
            unlikelier=sensitive[json.dumps(entry.unlikelier)],
            rules_out=tuple(sensitive[json.dumps(s)] for s in entry.rules_out),
        )
        for entry in per_symbol
        if entry.probability > 0
    )


def listing_of(joint: Joint, mechanism: Mechanism, notion: Notion) -> Listing:
    """What the mechanism makes of each value; long encodings and products are told in words."""
    if not mechanism.is_sparse and mechanism.n_released > MOST_LISTED:
        return Listing(unlisted=mechanism.describe())
    released = joint.through(mechanism)
    order = [k for k in np.argsort(-released.p_useful, kind="stable").tolist() if released.occurs[k]]
    spread, names = _spread(joint, mechanism), _texts(joint.useful)
    values = [
        Becomes(names[x], float(joint.p_useful[x]), tuple((mechanism.released[y], p) for y, p in spread[x]))
        for x in range(joint.n_useful)
        if joint.occurs[x]
    ]
    return Listing(
        after=lifts_of(released, order, notion, None if notion.is_conditional else notion.allowed_of(joint, mechanism)),
        values=tuple(sorted(values, key=lambda value: -value.share)),
        released=_stands_for(joint, released, order, spread, names),
    )


def _spread(joint: Joint, mechanism: Mechanism) -> Spread:
    """For each useful value of the joint, the released symbols and their probabilities, likeliest first."""
    rows, ys, chance = mechanism.outcomes(joint)
    found: Spread = [[] for _ in mechanism.useful]
    for row, y, p in zip(rows.tolist(), ys.tolist(), chance.tolist()):
        found[row].append((y, p))
    ordered = [sorted(pairs, key=lambda pair: -pair[1]) for pairs in found]
    return [ordered[row] if row >= 0 else [] for row in _places(joint.useful, mechanism.useful).tolist()]


def _stands_for(
    joint: Joint, released: Joint, order: Sequence[int], spread: Spread, names: Sequence[str]
) -> tuple[StandsFor, ...]:
    """P(x | y) of every released symbol, likeliest first."""
    book: dict[int, list[tuple[str, float]]] = {y: [] for y in order}
    for x, pairs in enumerate(spread):
        for y, p in pairs:
            if y in book and joint.occurs[x]:
                book[y].append((names[x], float(joint.p_useful[x] * p / released.p_useful[y])))
    return tuple(
        StandsFor(
            code=f"R{number}",
            label=released.useful[y],
            share=float(released.p_useful[y]),
            stands_for=tuple(sorted(book[y], key=lambda pair: -pair[1])),
        )
        for number, y in enumerate(order, 1)
    )


def examples_of(joint: Joint, mechanism: Mechanism, rows: int) -> tuple[tuple[str, str], ...]:
    """Values of records drawn at random, each with a draw of the mechanism: a simulation, never the release."""
    rng = np.random.default_rng(EXAMPLE_SEED)
    cells = rng.choice(joint.probabilities.size, size=rows, p=joint.probabilities.ravel())
    sensitive, symbols = np.divmod(cells, joint.n_useful)
    known = _places(joint.useful, mechanism.useful)[symbols]
    read = _places(joint.sensitive, mechanism.sensitive)[sensitive] if mechanism.reads_sensitive else None
    after = mechanism.sample_labels(known, rng, read)
    names = _texts(joint.useful)
    return tuple((names[x], y) for x, y in zip(symbols.tolist(), after))


def _places(values: Sequence[Any], known: Sequence[Any]) -> IntArray:
    """Where each value is among the known ones; -1 where it is not."""
    place = {value: k for k, value in enumerate(known)}
    return np.array([place.get(value, -1) for value in values], dtype=np.int64)


def _texts(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(labels.unique_texts(map(labels.text, values)))


def _names(values: Sequence[Any]) -> dict[str, str]:
    """Texts of labels by their stored form, which an audit uses."""
    return {json.dumps(labels.encode(label)): name for label, name in zip(values, _texts(values))}
