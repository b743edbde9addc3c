"""`QuantisationPath`: partitions from no merge to the coarsest, and the choice among them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import itertools
import math
from dataclasses import dataclass
from typing import Any

from discreet._support.errors import InputError
from discreet.quantising.quantisation import Quantisation

__all__ = ["QuantisationPath"]


@dataclass(frozen=True)
class QuantisationPath:
    """Partitions from no merge to the coarsest, all from one run; weights choose among them."""

    points: tuple[Quantisation, ...]
    objective: str
    utility: str
    method: str

    def _leakage(self, point: Quantisation) -> float:
        return point.maximin_bits if self.objective == "maximin" else -math.log2(point.k)

    def _utility(self, point: Quantisation) -> float:
        return point.resolution_bits if self.utility == "resolution" else -float(point.distortion or 0.0)

    def lagrangian(self, weight: float) -> list[float]:
        """Leakage less weight times utility at every point: L_0 up to a constant, or I_*."""
        return [self._leakage(point) - weight * self._utility(point) for point in self.points]

    def changes(self, weight: float) -> list[float]:
        """Delta L of every step."""
        values = self.lagrangian(weight)
        return [after - before for before, after in itertools.pairwise(values)]

    def best(self, weight: float) -> Quantisation:
        """Where the paper's algorithm stops at this weight: before the first step that does not lower the Lagrangian.

        Exact methods have no steps: of their points, the one of least Lagrangian.
        """
        if not weight >= 0 or not math.isfinite(weight):
            raise InputError(f"weight must be a finite number of at least 0, got {weight}.")
        if self.method != "agglomerative":
            values = self.lagrangian(weight)
            return self.points[values.index(min(values))]
        for point, change in zip(self.points, self.changes(weight)):
            if change >= 0:
                return point
        return self.points[-1]

    def frontier(self) -> tuple[Quantisation, ...]:
        """Points that no other beats in both leakage and utility, finest first."""
        ordered = sorted(self.points, key=lambda p: (-self._utility(p), self._leakage(p)))
        kept: list[Quantisation] = []
        for point in ordered:
            if not kept or self._leakage(point) < self._leakage(kept[-1]):
                kept.append(point)
        return tuple(kept)

    def to_dict(self) -> dict[str, Any]:
        """All points as plain data."""
        chosen = {id(point) for point in self.frontier()}
        return {
            "objective": self.objective,
            "utility": self.utility,
            "method": self.method,
            "points": [point.to_dict() | {"pareto": id(point) in chosen} for point in self.points],
        }

    def __repr__(self) -> str:
        return f"QuantisationPath({self.method}, {self.objective}, {self.utility}: {len(self.points)} points)"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"
