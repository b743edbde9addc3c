"""What a verification found, and the verdict that follows."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from discreet._support.visible import visible

__all__ = ["Finding", "Verdict", "equal"]


@dataclass(frozen=True)
class Finding:
    """What one check found; ``passed`` is None where it could not be made."""

    subject: str
    passed: bool | None
    text: str


@dataclass(frozen=True)
class Verdict:
    """All findings; true where none failed and the leakage was re-checked."""

    findings: tuple[Finding, ...]

    def __bool__(self) -> bool:
        checked = any(finding.subject == "leakage" and finding.passed for finding in self.findings)
        return checked and not self.failures

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The checks that failed."""
        return tuple(finding for finding in self.findings if finding.passed is False)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What failed, or why nothing could be said."""
        if self.failures:
            return tuple(f"{finding.subject}: {finding.text}" for finding in self.failures)
        return () if self else tuple(f.text for f in self.findings if f.subject == "leakage")

    def to_dict(self) -> dict[str, Any]:
        """Verdict and findings as plain data."""
        return {
            "verified": bool(self),
            "findings": [{"subject": f.subject, "passed": f.passed, "text": f.text} for f in self.findings],
        }

    def __repr__(self) -> str:
        return "Verdict(verified)" if self else visible(f"Verdict(not verified: {'; '.join(self.reasons)})")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


def equal(subject: str, found: str, stated: str, of_what: str) -> Finding:
    """A digest beside the one that the certificate states."""
    same = found == stated
    return Finding(subject, same, f"agrees with {of_what}" if same else f"is not that of {of_what}")
