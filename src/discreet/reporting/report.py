"""A release decision to look at, in a notebook or as a file."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from discreet._support import files
from discreet._support.visible import visible
from discreet.core.joint import Joint
from discreet.designers import Design
from discreet.mechanism import Mechanism
from discreet.notions import Notion
from discreet.reporting.decision import decision, designed
from discreet.reporting.html import notebook_html, report_html
from discreet.reporting.model import Decision

__all__ = ["Report"]


class Report:
    """A release decision to look at: in a notebook, or as a file.

    Parameters
    ----------
    found : Decision or dict
        What `discreet.reporting.decision` built; `Report.of` and `Report.about` call it.

    Examples
    --------
    >>> from discreet import LIP
    >>> joint = Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", "b", "c"])
    >>> Report.of(joint, LIP(0.5), method="watchdog")
    Report(LIP(0.5): broken as it is, kept by watchdog with NMI 0.5610)
    """

    def __init__(self, found: Decision | Mapping[str, Any]) -> None:
        self.decision = found if isinstance(found, Decision) else Decision.from_dict(found)

    @classmethod
    def of(cls, joint: Joint, notion: Notion, **options: Any) -> Report:
        """The report on a joint and a promise, for which a mechanism is designed; options as in `designed`."""
        return cls(designed(joint, notion, **options))

    @classmethod
    def about(cls, made: Design | Mechanism, *table: Any, **options: Any) -> Report:
        """The report on a design, or on a stored mechanism and its joint; arguments as in `decision`."""
        return cls(decision(made, *table, **options))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return self.decision.to_dict()

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write one HTML file; it tells of the table, so its owner alone may read it."""
        files.write_text(path, report_html(self.decision), private=True)

    def __repr__(self) -> str:
        verdict, made = self.decision.verdict, self.decision.design
        raw, released = ("kept" if holds else "broken" for holds in (verdict.holds, verdict.release_holds))
        return visible(
            f"Report({self.decision.notion_text}: {raw} as it is, {released} by {made.method} with NMI {made.nmi:.4f})"
        )

    def _repr_html_(self) -> str:
        return notebook_html(self.decision)
