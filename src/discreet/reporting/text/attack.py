"""An attack as text: what every model tells before and after, presence, verdict."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from discreet._support.visible import visible
from discreet.notions import from_dict
from discreet.reporting.attacked import worst_presence
from discreet.reporting.formats import nats
from discreet.reporting.text.console import bold
from discreet.reporting.words import percent_words

__all__ = ["attack_text"]

Facts = Mapping[str, Any]

#: What each verdict says.
SAID = {
    "broken": "is broken: some log-lift lies beyond it, wherever in its interval it is.",
    "undecided": "is left undecided: an estimate lies beyond twice the budget, or not all was looked at.",
    "not broken": "is not broken by what was tried. That is no proof: a better attack may exist.",
}


def attack_text(found: Facts) -> ConsoleRenderable:
    """An attack, out of ``Attack.to_dict``."""
    secret = visible(" + ".join(found["sensitive"]))
    parts: list[Any] = [
        bold(f"What a reader can learn about {secret}")
        + f" ({found['rows']:,} rows; models trained on {found['trained']:,} of them at most, measured on "
        f"{found['measured']:,} others)",
        "",
        _models(found),
        f"Log-lifts in nats, smallest to largest of all parts of the records; in brackets how far they surely reach, "
        f"with {percent_words(found['confidence'])} confidence, 0 where not even the sign is sure. Off: how far "
        "predicted shares are from counted ones.",
        "",
        *_presence(found["presence"], found["confidence"]),
        *found["notes"],
        "",
        *_verdict(found),
    ]
    return Group(*parts)


def _models(found: Facts) -> Table:
    """One line a model, before and after."""
    before, after = found["before"], found["after"]
    judged = "accuracy" if after["auc"] is None else "auc"
    heading = f"accuracy (commonest: {after['base_rate']:.3f})" if judged == "accuracy" else "AUC"
    table = Table(box=None, pad_edge=False)
    table.add_column("model")
    for head in ("log-lifts before", "after", f"{heading} before", "after", "off after"):
        table.add_column(head, justify="right")
    for name in after["by_model"]:
        sides = before["by_model"].get(name), after["by_model"][name]
        guessed = ["" if side is None or side[judged] is None else f"{side[judged]:.3f}" for side in sides]
        table.add_row(name, *map(_lifts, sides), *guessed, f"{sides[1]['calibration']:.3f}")
    best = [f"{side[judged]:.3f}" for side in (before, after)]
    table.add_row(Text("best of all", style="bold"), _lifts(before), _lifts(after), *best, "")
    return table


def _lifts(side: Facts | None) -> str:
    if side is None:
        return ""
    # Lifts are 1 on average, so that the smallest logarithm is never above 0, nor the largest below.
    low, high = min(0.0, side["intervals"]["log_min_lift"][1]), max(0.0, side["intervals"]["log_max_lift"][0])
    return f"{nats(side['log_min_lift'])} to {nats(side['log_max_lift'])} [{nats(low)}, {nats(high)}]"


def _presence(found: Facts, confidence: float) -> list[Any]:
    """Groups of appearances, the values whose ratio differs most."""
    if not found["applies"]:
        return []
    title = f"Presence: how often tuples appear that occur once in the original ({found['records']:,} records; nats)"
    table = Table(box=None, pad_edge=False)
    table.add_column("appearances")
    for head in ("records", "value", "log-lift", "given equal belief", percent_words(confidence)):
        table.add_column(head, justify="left" if head == "value" else "right", overflow="fold")
    for cell in worst_presence(found["cells"]):
        cells = (f"{cell['n']:,}", cell["value"], nats(cell["log_lift"]), nats(cell["log_ratio"]))
        table.add_row(cell["appearances"], *map(Text, cells), f"{nats(cell['low'])} to {nats(cell['high'])}")
    surely = "tells" if found["found"] else "does not surely tell"
    said = f"Given what the tuple itself tells, the number of its appearances {surely} about the secret."
    return [title, table, said, ""]


def _verdict(found: Facts) -> list[Any]:
    if found["verdict"] is None:
        return [bold("Verdict: none, no promise was named.")]
    notion = from_dict(found["notion"])
    reasons = [f"- {reason}" for reason in found["reasons"]]
    return [bold(f"Verdict: {notion} ") + SAID[found["verdict"]], *reasons]
