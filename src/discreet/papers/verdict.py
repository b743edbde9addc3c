"""One line of the result: what a paper states, what we get, and what that comes to."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet.papers.base import Claim

__all__ = ["AGREES", "DIFFERS", "NOT_COMPUTED", "WORDS", "Verdict", "as_row", "counted", "counts", "shown"]

AGREES, DIFFERS, NOT_COMPUTED = "agrees", "differs", "not computed"
WORDS = (AGREES, DIFFERS, "argued", "given", "drawn", NOT_COMPUTED)


class Verdict(NamedTuple):
    """A statement, what was found, and whether that agrees."""

    claim: Claim
    got: str
    verdict: str
    note: str
    is_close: bool = False  # a number within .01 of print, or within its last digit


def shown(value: Any) -> str:
    """A value as a table has it."""
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else str(value)
    return str(value)


def as_row(verdict: Verdict) -> dict[str, Any]:
    """A verdict as a line of a table."""
    claim = verdict.claim
    return {
        "id": claim.id,
        "paper": claim.paper,
        "where": claim.where,
        "claim": claim.claim,
        "kind": claim.kind,
        "said": shown(claim.value),
        "got": verdict.got,
        "unit": claim.unit,
        "verdict": verdict.verdict,
        "note": verdict.note,
    }


def counts(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """How many verdicts there are of each word."""
    return {word: sum(verdict.verdict == word for verdict in verdicts) for word in WORDS}


#: A word of a verdict about one statement and about several.
TOLD = {AGREES: ("agrees", "agree"), DIFFERS: ("differs", "differ")}


def counted(verdicts: Sequence[Verdict]) -> str:
    """How many verdicts there are of each word that occurs, in words: "2 agree, 1 differs, 1 drawn"."""
    found = counts(verdicts)
    return ", ".join(f"{n} {TOLD.get(word, (word, word))[n > 1]}" for word, n in found.items() if n)
