"""`Attack`: what was found before and after, by each model and by presence, and the verdict."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._support import files
from discreet._support.errors import InputError
from discreet._support.visible import visible
from discreet.notions import Notion
from discreet.publishing.attack.lifts import Cell
from discreet.publishing.attack.presence import PresenceCell
from discreet.publishing.attack.verdict import Promised, Word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Attack", "Measured", "Presence", "Side"]


@dataclass(frozen=True)
class Measured:
    """What one model, or the best of several, tells about S on records that it was not trained on.

    Attributes
    ----------
    log_max_lift, log_min_lift : float
        The largest and the smallest counted log-lift of any part of the records, nats.
    intervals : dict
        Of both, their limits (low, high), which hold for all parts of all models at once.
    auc : float or None
        Area under the curve; None for more than two sensitive values.
    accuracy, base_rate : float
        Share of records whose S the model guesses, and that of the commonest value.
    calibration : float
        Mean difference between predicted and counted shares of s over the parts.
    """

    log_max_lift: float
    log_min_lift: float
    intervals: Mapping[str, tuple[float, float]]
    auc: float | None
    accuracy: float
    base_rate: float
    calibration: float

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return dict(vars(self)) | {"intervals": {name: list(ends) for name, ends in self.intervals.items()}}


@dataclass(frozen=True)
class Side(Measured):
    """The best of all models: extremes of log-lifts, the largest AUC and accuracy, the smallest miscalibration.

    ``by_model`` has each by itself, and so has ``side[name]``.
    """

    by_model: Mapping[str, Measured] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Measured:
        return self.by_model[name]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return super().to_dict() | {"by_model": {name: one.to_dict() for name, one in self.by_model.items()}}


@dataclass(frozen=True)
class Presence:
    """What the number of appearances of a tuple tells.

    Attributes
    ----------
    applies : bool
        Whether it could be tried; ``reason`` says why not.
    found : bool
        Whether some number of appearances surely tells about S, given equal learned belief.
    records : int
        Records that were looked at, whose tuple occurs once in the original.
    cells : tuple of PresenceCell
        By appearances and sensitive value.
    """

    applies: bool
    reason: str
    found: bool
    records: int
    cells: tuple[PresenceCell, ...] = field(repr=False)

    @classmethod
    def of(cls, reason: str, records: int, cells: tuple[PresenceCell, ...]) -> Presence:
        """What cells tell; none where there is a reason."""
        return cls(not reason, reason, any(cell.low > 0 or cell.high < 0 for cell in cells), records, cells)


@dataclass(frozen=True, repr=False, eq=False)
class Attack:
    """What a reader can learn about S from a release, and could from the original.

    Attributes
    ----------
    before, after : Side
        Of the original, and of the release; ``after`` also has models of the original applied to the release.
    presence : Presence
        What appearances of tuples tell.
    verdict : str or None
        "broken", "undecided" or "not broken"; None without a notion. Nothing proves that no better attack exists.
    reasons : tuple of str
        What the verdict rests on.
    beyond : float
        How far estimates that break the promise lie beyond it, nats; infinity where the presence of tuples breaks it.
    notion : Notion or None
        The promise; ``promised`` are the log-lifts that it allows.
    sensitive : tuple of str
        Names of the columns; ``values`` are the sensitive values as texts.
    rows, trained, measured : int
        Records in all, those that models were trained on at most, and the untouched ones they were measured on.
    confidence : float
        Of all limits of the release together.
    seed : int
        Of the halves and the models.
    notes : tuple of str
        What was cut, left out or could not be tried.
    """

    before: Side
    after: Side
    presence: Presence
    verdict: Word | None
    reasons: tuple[str, ...]
    beyond: float
    notion: Notion | None
    promised: Promised | None
    sensitive: tuple[str, ...]
    values: tuple[str, ...]
    rows: int
    trained: int
    measured: int
    confidence: float
    seed: int
    notes: tuple[str, ...]
    cells_before: tuple[Cell, ...]
    cells_after: tuple[Cell, ...]

    @property
    def cells(self) -> tuple[dict[str, Any], ...]:
        """Every part of the records under every model and value, as rows of a table."""
        sides = (("before", self.cells_before), ("after", self.cells_after))
        return tuple(
            {"when": when, **cell._asdict(), "value": self.values[cell.value]}
            for when, cells in sides
            for cell in cells
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        names = ("verdict", "beyond", "rows", "trained", "measured", "confidence", "seed")
        listed = ("reasons", "sensitive", "values", "notes", "cells")
        return {
            **{name: getattr(self, name) for name in names},
            **{name: list(getattr(self, name)) for name in listed},
            "notion": None if self.notion is None else self.notion.to_dict(),
            "promised": None if self.promised is None else self.promised._asdict(),
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "presence": dict(vars(self.presence)) | {"cells": [self._present(cell) for cell in self.presence.cells]},
        }

    def _present(self, cell: PresenceCell) -> dict[str, Any]:
        return {**cell._asdict(), "value": self.values[cell.value]}

    def plot(self) -> Figure:
        """Log-lifts of all parts before and after, with limits and the promise; needs the extra ``plots``."""
        from discreet.figures import attack_figure

        return attack_figure(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plot as .svg, .png or .pdf, by the name's ending."""
        suffix = Path(path).suffix.lower()
        if suffix not in (".svg", ".png", ".pdf"):
            raise InputError(f"cannot tell the format of {str(path)!r}. Use .svg, .png or .pdf.")
        from discreet.figures import figure_bytes

        files.write_bytes(path, figure_bytes(self.plot(), suffix[1:]))

    def __repr__(self) -> str:
        said = "no promise was named" if self.verdict is None else f"{self.notion} is {self.verdict}"
        spans = [f"{side.log_min_lift:.2f} to {side.log_max_lift:.2f}" for side in (self.before, self.after)]
        telling = "; appearances tell" if self.presence.found else ""
        return visible(
            f"Attack({' + '.join(self.sensitive)}, {self.rows:,} rows: log-lifts {spans[0]} nats before, {spans[1]} "
            f"after{telling}; {said})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"
