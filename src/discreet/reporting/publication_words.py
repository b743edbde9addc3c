"""Sentences about published tables: the promise, how it came about, what an attack found, and what is not protected."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.notions import Notion
from discreet.reporting.formats import nats, percent
from discreet.reporting.words import at_most_percent, percent_words, rule_words

__all__ = [
    "CALIBRATION",
    "NOT_IDENTITY",
    "OWNER_ONLY",
    "PAIRS",
    "SHARES",
    "attack_clause",
    "attack_words",
    "beyond_words",
    "class_words",
    "design_words",
    "each_words",
    "lift_words",
    "presence_words",
    "promise_words",
    "secret_words",
    "undecided_words",
    "verify_words",
]

OWNER_ONLY = (
    "For the owner of the table alone: it counts the secret in parts of the table. Publish the table and its public "
    "certificate, not this report."
)

SHARES = (
    "Shares of values are those of the original on average over the draw. The largest change is that of the one share "
    "that this draw moved most, in percentage points (pp); its standard error is how far draws move it by chance. Off "
    "by: half the sum of all differences (total variation)."
)

PAIRS = (
    "How far two columns go together is Cramér's V: 0 where they have nothing to do with each other, 1 where one tells "
    "the other. Each point is a pair of columns; on the diagonal it is as it was."
)

CALIBRATION = (
    "Each point is a sensitive value in a class of records: how likely the models believed it on average, and the "
    "share that was counted. On the diagonal beliefs are right. Wrong ones cost use, not protection: the promise is "
    "about the counts."
)

NOT_IDENTITY = (
    "Not protected: who is in the table. Rows are real records, at times of somebody else; whoever better than these "
    "models can guess S from the useful columns may learn more than promised."
)


def promise_words(notion: Notion) -> str:
    """What is promised, and to whom."""
    return f"{rule_words(notion)} It holds for whoever knows of S what the classes know."


def each_words(summary: Mapping[str, Any]) -> list[str]:
    """That several secrets have a promise each; nothing where there is one."""
    names = [" and ".join(one["sensitive"]) for one in summary["secrets"]]
    if len(names) < 2:
        return []
    return [
        f"It is made for each of {', '.join(names[:-1])} and {names[-1]} by itself. Nothing is promised about which of "
        "their values go together in a record."
    ]


def secret_words(summary: Mapping[str, Any]) -> list[str]:
    """What the attack on each secret came to, where there are several; first the one that came closest."""
    secrets = summary["secrets"]
    if len(secrets) < 2:
        return []
    shown = " and ".join(summary["attack"]["sensitive"])
    told = [f"These are lifts of {shown}, where the attack came closest."]
    for one in secrets:
        low, high = (nats(float(end)) for end in one["log_lifts"]["after"])
        told.append(f"{' and '.join(one['sensitive'])}: {low} to {high} nats after, {one['verdict']}.")
    return told


def class_words(summary: Mapping[str, Any]) -> str:
    """How the promise came about, in two sentences."""
    kept = summary["expected_unchanged"]
    is_best = summary["design"]["status"] == "optimal"
    limit = "no channel between them keeps more" if is_best else "no channel that was found keeps more"
    tries = "" if summary["tries"] == 1 else f" It is try {summary['tries']}: an attack found too much in those before."
    return (
        f"Beliefs of {summary['model']} in {summary['classes']} classes; on average {100 * kept:.1f} % of rows stay "
        f"in theirs; {limit}. Coverage is {summary['coverage'].rstrip('.')}.{tries}"
    )


def attack_words(summary: Mapping[str, Any]) -> str:
    """The verdict of the attack."""
    verdict, notion = summary["attack"]["verdict"], summary["notion"]
    if verdict == "not broken":
        beyond = beyond_words(summary["attack"])
        return f"The attack does not break {notion}{beyond}. No attack proves that there is no better one."
    if verdict == "undecided":
        return (
            f"The attack cannot decide on {notion}: some estimates lie far beyond it, with too few records to be sure."
        )
    return f"The attack breaks {notion}."


def undecided_words(summary: Mapping[str, Any]) -> str:
    """That an attack could not decide, with what, and what would decide it; nothing where it did."""
    attack = summary["attack"]
    if attack["verdict"] != "undecided":
        return ""
    worst = f": {attack['reasons'][0].rstrip('.')}" if attack["reasons"] else ""
    return (
        f"the attack could not decide whether {summary['notion']} is kept, with {attack['measured']:,} records that no "
        f"model had seen{worst}. The table is published all the same. More rows, a larger budget (epsilon, "
        "--epsilon) or a stronger model (model= in Python, which the command has not) would decide it"
    )


def beyond_words(attack: Mapping[str, Any]) -> str:
    """Which extreme estimates lie beyond the promise, with their limits, which do not; the end of a sentence."""
    low, high = (float(attack["promised"][end]) for end in ("low", "high"))
    limits, told = attack["after"]["intervals"], []
    for name, limit in (("log_min_lift", low), ("log_max_lift", high)):
        value = float(attack["after"][name])
        if value < limit if name == "log_min_lift" else value > limit:
            ends = " to ".join(f"{float(end):.2f}" for end in limits[name])
            told.append(f"{value:.2f} (limits {ends})")
    if not told:
        return ""
    parts = sum(cell["when"] == "after" for cell in attack["cells"])
    return (
        f": estimates of {' and '.join(told)} nats lie beyond it, which the extremes of {parts:,} noisy estimates "
        "are expected to, and their limits reach back inside"
    )


def attack_clause(verdict: str | None, notion: str) -> str:
    """The verdict of the attack, as the end of a sentence."""
    said = {"not broken": "does not break", "undecided": "cannot decide on"}
    return f"the attack {said.get(verdict or '', 'breaks')} {notion}"


def lift_words(attack: Mapping[str, Any]) -> str:
    """What the pictures of an attack show."""
    return (
        f"Models of {attack['trained']:,} records at most try to learn S from the useful columns, and are measured on "
        f"{attack['measured']:,} others: these are put in the order of what a model believes of them, cut into up to "
        "twenty parts, and S is counted in each. A log-lift of 0 means that a part tells nothing. Limits hold for all "
        f"parts of all models at once, with {percent_words(attack['confidence'])} confidence. A model of the original "
        "is one that was trained on the original and is shown the published rows."
    )


def design_words(summary: Mapping[str, Any]) -> str:
    """What the classes let the design keep."""
    design = summary["design"]
    limit = "no limit of other designs was proven"
    if (
        design["status"] == "optimal" and design["bound"] is not None
    ):  # the bound is rounded upwards, and would look like room
        limit = "which is proven to be the most that any design on these classes keeps"
    elif design["bound"] is not None:
        limit = f"no design on these classes keeps more than {at_most_percent(design['bound'])}, which is proven"
    return (
        f"Of what publishing all rows as they are keeps beyond drawing them at random, the design keeps "
        f"{percent(design['kept'])}, {'' if limit.startswith('which') else 'and '}{limit}."
    )


def verify_words(has_key: bool) -> str:
    """What anyone who has the files can check."""
    drawn = ", and with the key every row is drawn again" if has_key else ""
    return f"The certificate is checked against the original and the published table{drawn}:"


def presence_words(presence: Mapping[str, Any]) -> str:
    """What counting a known person's useful values in the published table tells."""
    if not presence.get("cells"):
        reason = presence.get("reason") or "not measured"
        return f"Presence: {reason.rstrip('.')}."
    if presence["found"]:
        return "Presence: how often a known person's values appear tells about S beyond what can be learned anyway."
    return "Presence: how often a known person's values appear tells nothing about S beyond what can be learned anyway."
