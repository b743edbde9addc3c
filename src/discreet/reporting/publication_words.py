"""Sentences about published tables: the promise, how it came about, what an attack found, and what is not protected."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.notions import Notion
from discreet.reporting.words import percent_words, rule_words

__all__ = ["NOT_IDENTITY", "attack_words", "class_words", "presence_words", "promise_words"]

NOT_IDENTITY = (
    "Not protected: who is in the table. Rows are real records, at times of somebody else; whoever better than these "
    "models can guess S from the useful columns may learn more than promised."
)


def promise_words(notion: Notion) -> str:
    """What is promised, and to whom."""
    return f"{rule_words(notion)} It holds for whoever knows of S what the classes know."


def class_words(summary: Mapping[str, Any]) -> str:
    """How the promise came about, in two sentences."""
    kept = summary["expected_unchanged"]
    limit = "no channel between them keeps more" if summary["design"]["status"] == "optimal" else "the best found"
    tries = "" if summary["tries"] == 1 else f" It is try {summary['tries']}: an attack found too much in those before."
    return (
        f"Beliefs of {summary['model']} in {summary['classes']} classes; on average {percent_words(kept)} of rows stay "
        f"in theirs, and {limit}. Coverage is {summary['coverage'].split(':')[0]}.{tries}"
    )


def attack_words(summary: Mapping[str, Any]) -> str:
    """The verdict of the attack."""
    verdict, notion = summary["attack"]["verdict"], summary["notion"]
    if verdict == "not broken":
        return f"The attack does not break {notion}. No attack proves that there is no better one."
    if verdict == "undecided":
        return (
            f"The attack cannot decide on {notion}: some estimates lie far beyond it, with too few records to be sure."
        )
    return f"The attack breaks {notion}."


def presence_words(presence: Mapping[str, Any]) -> str:
    """What counting a known person's useful values in the published table tells."""
    if not presence.get("cells"):
        return f"Presence: {presence.get('reason') or 'not measured'}."
    if presence["found"]:
        return "Presence: how often a known person's values appear tells about S beyond what can be learned anyway."
    return "Presence: how often a known person's values appear tells nothing about S beyond what can be learned anyway."
