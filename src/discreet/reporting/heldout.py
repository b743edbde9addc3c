"""What an audit found on one part of the records, beside the same on those that were held out."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core import labels
from discreet.core.joint import Joint
from discreet.measures import lift, mutual_information
from discreet.notions import Notion
from discreet.reporting.audited import AuditedSymbols
from discreet.reporting.model import Part

__all__ = ["HeldOut", "HeldOutSymbol", "held_out_of"]

#: Symbols that are looked at again: those that an audit lists first.
MOST = 15


@dataclass(frozen=True)
class HeldOutSymbol(Part):
    """A symbol that was among the worst, and its largest lift there and among the records held out.

    ``held_out`` is None where it does not occur among those.
    """

    symbol: Any
    sensitive: Any
    lift: float
    held_out: float | None


@dataclass(frozen=True)
class HeldOut(Part):
    """Records that an audit did not see: how many, what they tell in all, and what the worst symbols tell there.

    The worst of many symbols look worse than they are, by chance; where they are looked at again they do not.
    """

    records: int
    mutual_information: float
    holds: bool | None
    symbols: tuple[HeldOutSymbol, ...]


def held_out_of(symbols: AuditedSymbols, seen: Joint, other: Joint, notion: Notion | None) -> HeldOut:
    """The worst symbols of an audit of ``seen`` on other records of the same table."""
    lifts, place = lift(other), {label: k for k, label in enumerate(seen.useful)}
    row = {label: k for k, label in enumerate(seen.sensitive)}
    found = []
    for entry in symbols[:MOST]:
        s, x = row[labels.decode(entry.likelier)], place[labels.decode(entry.symbol)]
        again = float(lifts[s, x]) if other.occurs[x] and np.isfinite(lifts[s, x]) else None
        found.append(HeldOutSymbol(entry.symbol, entry.likelier, entry.max_lift, again))
    holds = None if notion is None or notion.is_conditional else notion.holds(other)
    return HeldOut(int(other.records or 0), mutual_information(other), holds, tuple(found))
