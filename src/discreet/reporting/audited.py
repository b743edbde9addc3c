"""The symbols of an audit, surest and worst first: arrays, of which an entry is made where it is looked at."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from discreet._support.numeric import BoolArray, FloatArray, IntArray, log
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.measures.profile import Profile
from discreet.reporting.model import AuditedSymbol
from discreet.reporting.sampled import STANDINGS, Sampled

__all__ = ["AuditedSymbols", "order_of_risk"]

#: What an entry tells of the lifts at its symbol.
SHOWN = ("max_lift", "min_lift", "lift_ratio", "l1_lift", "l1_lift_inverse", "chi2_lift", "chi2_lift_inverse")


def order_of_risk(joint: Joint, max_lift: FloatArray, min_lift: FloatArray) -> IntArray:
    """Symbols by the largest change of belief that they cause, in either direction; commoner ones first at ties."""
    strength = np.maximum(log(max_lift), -log(min_lift))
    order: IntArray = np.lexsort((-joint.p_useful, -max_lift, -strength))
    return order


class AuditedSymbols(Sequence[AuditedSymbol]):
    """Every useful value and how it changes beliefs: what breaks the promise for sure first, each part worst first.

    Without a promise, those that surely tell anything come first; without counts, nothing is sure.
    """

    def __init__(self, found: Profile, allowed: BoolArray | None, sampled: Sampled | None = None) -> None:
        self._found, self._allowed, self._joint = found, allowed, found.joint
        self._sampled = sampled
        self._order = order_of_risk(found.joint, found.lifts["max_lift"], found.lifts["min_lift"])
        if sampled is not None:
            self._order = self._order[np.argsort(~sampled.is_sure[self._order], kind="stable")]
        self._sensitive = [labels.encode(label) for label in found.joint.sensitive]

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, place: int) -> AuditedSymbol: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[AuditedSymbol, ...]: ...
    def __getitem__(self, place: int | slice) -> Any:
        chosen = self._order[place]
        return self._entry(int(chosen)) if isinstance(place, int) else self._entries(chosen)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AuditedSymbols) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def told(self, most: int) -> tuple[AuditedSymbol, ...]:
        """At most so many, in order; where there are more, those that have too few records to tell are left out."""
        return self._entries(self._told(most)[:most])

    def number_told(self, most: int) -> int:
        """Among how many `told` chooses."""
        return len(self._told(most))

    def left_open(self) -> tuple[int, float]:
        """How many symbols have too few records to tell, and the share of records with them."""
        if self._sampled is None:
            return 0, 0.0
        is_open = self._sampled.is_open & self._joint.occurs
        return int(is_open.sum()), float(self._joint.p_useful[is_open].sum())

    def surely_telling(self, most: int) -> tuple[int, tuple[Any, ...]]:
        """How many symbols have a lift that is not 1 for sure, and the labels of the worst of them."""
        if self._sampled is None:
            return 0, ()
        tells = self._sampled.tells[self._order]
        worst = self._order[np.flatnonzero(tells)[:most]].tolist()
        return int(tells.sum()), tuple(labels.encode(self._joint.alphabet[x]) for x in worst)

    def ruling_out(self, most: int) -> tuple[int, tuple[AuditedSymbol, ...]]:
        """How many symbols rule some sensitive value out, and the worst of them, chosen as by `told`."""
        joint = self._joint
        ruling = (joint.probabilities == 0).any(axis=0) & (joint.p_useful > 0)
        told = self._told(most)
        return int(ruling.sum()), self._entries(told[ruling[told]][:most])

    def _told(self, most: int) -> IntArray:
        if self._sampled is None or len(self) <= most:
            return self._order
        return self._order[~self._sampled.is_open[self._order]]

    def _entries(self, symbols: IntArray) -> tuple[AuditedSymbol, ...]:
        return tuple(self._entry(x) for x in symbols.tolist())

    def _entry(self, x: int) -> AuditedSymbol:
        found, joint, sampled = self._found, self._joint, self._sampled
        impossible = np.flatnonzero(joint.probabilities[:, x] == 0) if joint.p_useful[x] > 0 else ()
        known: dict[str, Any] = {name: float(found.lifts[name][x]) for name in SHOWN}
        if sampled is not None and joint.occurs[x]:
            known |= _limits(sampled, x)
        return AuditedSymbol(
            symbol=labels.encode(joint.alphabet[x]),
            probability=float(joint.p_useful[x]),
            records=None if joint.counts is None else int(joint.counts[:, x].sum()),
            likelier=self._sensitive[found.likelier[x]],
            unlikelier=self._sensitive[found.unlikelier[x]],
            rules_out=tuple(self._sensitive[s] for s in impossible),
            allowed=None if self._allowed is None else bool(self._allowed[x]),
            **known,
        )


def _limits(sampled: Sampled, x: int) -> dict[str, Any]:
    """What the records of one symbol leave open."""
    (rise_low, rise_high), (fall_low, fall_high) = sampled.rise[:, x].tolist(), sampled.fall[:, x].tolist()
    return {
        "max_lift_interval": (rise_low, rise_high),
        "min_lift_interval": (fall_low, fall_high),
        "population": None if sampled.standing is None else STANDINGS[sampled.standing[x]],
        "is_open": bool(sampled.is_open[x]),
    }
