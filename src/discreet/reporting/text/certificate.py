"""A certificate, and the verdict on one, as text."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from rich.console import Group
from rich.text import Text

from discreet.certificate import Certificate, Verdict
from discreet.notions.base import from_dict
from discreet.reporting import words
from discreet.reporting.text.console import bold

__all__ = ["certificate_text", "verdict_text"]


def certificate_text(certificate: Certificate) -> Group:
    """The promise and the figures of a certificate."""
    achieved = certificate["achieved"]
    notion, bound = from_dict(certificate["notion"]), certificate["bound"]
    evidence = "" if bound is None else f", at most {bound} is possible ({certificate['bound_evidence']})"
    return Group(
        bold(f"Certified: {notion} holds on this table"),
        Text(words.rule_words(notion)),
        Text(f"log-lifts between {achieved['log_min_lift']} and {achieved['log_max_lift']} nats"),
        Text(f"NMI {certificate['nmi']}{evidence}"),
    )


def verdict_text(verdict: Verdict, required: str) -> Group:
    """Every finding, what they come to, and whether that is the level that was asked for."""
    marks = {True: "ok", False: "FAILED", None: "not checked"}
    lines = [
        Text(f"{marks[f.passed]:<12}{f.subject}: {f.text}", style="" if f.passed else "bold") for f in verdict.findings
    ]
    why = f" ({'; '.join(verdict.reasons)})" if verdict.reasons else ""
    said = [bold(f"{verdict.level.capitalize()}: {verdict.meaning}{why}."), *map(Text, verdict.scope)]
    if not verdict.failures and not verdict.reaches(required):
        said.append(Text(f"Not enough: {required} was asked for (--require), so the exit code is 1."))
    return Group(*lines, *said)
