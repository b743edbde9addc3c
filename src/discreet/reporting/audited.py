"""The symbols of an audit, worst first: arrays, of which an entry is made where it is looked at."""

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

__all__ = ["AuditedSymbols", "order_of_risk"]

#: What an entry tells of the lifts at its symbol.
SHOWN = ("max_lift", "min_lift", "lift_ratio", "l1_lift", "l1_lift_inverse", "chi2_lift", "chi2_lift_inverse")


def order_of_risk(joint: Joint, max_lift: FloatArray, min_lift: FloatArray) -> IntArray:
    """Symbols by the largest change of belief that they cause, in either direction; commoner ones first at ties."""
    strength = np.maximum(log(max_lift), -log(min_lift))
    order: IntArray = np.lexsort((-joint.p_useful, -max_lift, -strength))
    return order


class AuditedSymbols(Sequence[AuditedSymbol]):
    """Every useful value and how it changes beliefs, worst first."""

    def __init__(self, found: Profile, allowed: BoolArray | None) -> None:
        self._found, self._allowed, self._joint = found, allowed, found.joint
        self._order = order_of_risk(found.joint, found.lifts["max_lift"], found.lifts["min_lift"])
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

    def ruling_out(self, most: int) -> tuple[int, tuple[AuditedSymbol, ...]]:
        """How many symbols rule some sensitive value out, and the worst of them."""
        joint = self._joint
        ruling = ((joint.probabilities == 0).any(axis=0) & (joint.p_useful > 0))[self._order]
        return int(ruling.sum()), self._entries(self._order[np.flatnonzero(ruling)[:most]])

    def _entries(self, symbols: IntArray) -> tuple[AuditedSymbol, ...]:
        return tuple(self._entry(x) for x in symbols.tolist())

    def _entry(self, x: int) -> AuditedSymbol:
        found, joint = self._found, self._joint
        impossible = np.flatnonzero(joint.probabilities[:, x] == 0) if joint.p_useful[x] > 0 else ()
        return AuditedSymbol(
            symbol=labels.encode(joint.alphabet[x]),
            probability=float(joint.p_useful[x]),
            records=None if joint.counts is None else int(joint.counts[:, x].sum()),
            **{name: float(found.lifts[name][x]) for name in SHOWN},
            likelier=self._sensitive[found.likelier[x]],
            unlikelier=self._sensitive[found.unlikelier[x]],
            rules_out=tuple(self._sensitive[s] for s in impossible),
            allowed=None if self._allowed is None else bool(self._allowed[x]),
        )
