"""What a verification found, and the verdict that follows."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from discreet._support.errors import ColumnNotFoundError, DiscreetError, InputError
from discreet._support.visible import visible

__all__ = ["LEVELS", "Finding", "Verdict", "equal"]

#: What a verification may come to, each more than the one before.
LEVELS = ("failed", "consistent", "verified", "redrawn")

MEANINGS = {
    "failed": "at least one check failed",
    "consistent": "nothing failed, but the leakage was not re-checked",
    "verified": "nothing failed, and the leakage was re-checked on counts",
    "redrawn": "nothing failed, the leakage was re-checked on counts, and every row was drawn again with the key",
}

UNMATCHED = "nothing failed, and the leakage was re-checked on counts, but nothing is known of the released rows"


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes
    ----------
    subject, text : str
        What was checked, and a sentence.
    passed : bool or None
        None where the check could not be made.
    at_most : str
        The highest level of a verdict that is left where it was not made.
    """

    subject: str
    passed: bool | None
    text: str
    at_most: str = "redrawn"

    def __post_init__(self) -> None:
        # A comparison of arrays gives a bool of numpy's own, which is no False.
        object.__setattr__(self, "passed", None if self.passed is None else bool(self.passed))

    @classmethod
    def of_unread_table(cls, error: DiscreetError) -> Finding:
        """That a table could not be read, or lacks a column that the certificate is about."""
        if isinstance(error, ColumnNotFoundError):
            return cls("certificate", False, f"not of this table: {error}")
        return cls("table", False, str(error))


@dataclass(frozen=True)
class Verdict:
    """All findings, and the level that they come to; true from "verified" on.

    ``scope`` says, of a published table, what was checked, what was not, and what that would need.
    """

    findings: tuple[Finding, ...]
    scope: tuple[str, ...] = ()

    @property
    def level(self) -> str:
        """One of "failed", "consistent", "verified" and "redrawn"; `meaning` says it in words."""
        if self.failures:
            return "failed"
        made = {finding.subject for finding in self.findings if finding.passed}
        reached = "consistent" if "leakage" not in made else "redrawn" if "redraw" in made else "verified"
        limits = [finding.at_most for finding in self.findings if finding.passed is None]
        return min([reached, *limits], key=LEVELS.index)

    @property
    def meaning(self) -> str:
        """The level in words."""
        if self.level == "consistent" and any(f.subject == "leakage" and f.passed for f in self.findings):
            return UNMATCHED
        return MEANINGS[self.level]

    def reaches(self, level: str) -> bool:
        """Whether the verdict is at least of this level."""
        if level not in LEVELS:
            raise InputError(f"a level is one of {', '.join(LEVELS)}, got {level!r}.")
        return LEVELS.index(self.level) >= LEVELS.index(level)

    def __bool__(self) -> bool:
        return self.reaches("verified")

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The checks that failed."""
        return tuple(finding for finding in self.findings if finding.passed is False)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What failed, or what keeps the level from being the next one."""
        if self.failures:
            return tuple(f"{finding.subject}: {finding.text}" for finding in self.failures)
        if self.level == "redrawn":
            return ()
        limiting = [f for f in self.findings if f.passed is None and f.at_most == self.level]
        return tuple(f"{finding.subject}: {finding.text}" for finding in limiting)

    def to_dict(self) -> dict[str, Any]:
        """Verdict and findings as plain data."""
        return {
            "level": self.level,
            "meaning": self.meaning,
            "verified": bool(self),
            "scope": list(self.scope),
            "findings": [{"subject": f.subject, "passed": f.passed, "text": f.text} for f in self.findings],
        }

    def __repr__(self) -> str:
        why = f": {'; '.join(self.reasons)}" if self.reasons else ""
        return visible(f"Verdict({self.level}{why})")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


def equal(subject: str, found: object, stated: object, of_what: str) -> Finding:
    """A digest beside the one that the certificate states."""
    same = found == stated
    return Finding(subject, same, f"agrees with {of_what}" if same else f"is not that of {of_what}")
