"""Promises for the table of another day: bounds that hold wherever its beliefs may come to lie."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass

from discreet.core.joint import Joint
from discreet.measures.limits import BeliefLimits, limits_of, records_of
from discreet.notions.base import Notion
from discreet.notions.bound import Bound

__all__ = ["Foreseen"]


@dataclass(frozen=True)
class Foreseen(Notion):
    """The bounds of a notion for every P(s | x) that single cells are beyond with probability ``alpha`` at each end.

    Something to design for, and no promise by itself: how often the next table keeps the notion is found by simulation
    (`discreet.designers.later`). It has no name, so it is neither stored nor certified.
    """

    notion: Notion
    alpha: float

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return self.notion.bounds

    @property
    def confidence(self) -> float:
        """Of a single cell."""
        return 1 - 2 * self.alpha

    def limits(self, joint: Joint) -> BeliefLimits:
        """Of every cell by itself."""
        counts = records_of(joint)
        return limits_of(counts, counts.sum(axis=0), self.alpha)

    def __str__(self) -> str:
        return f"{self.notion} for later"
