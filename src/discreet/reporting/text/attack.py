"""An attack as text: what every model tells before and after, presence, verdict."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console, ConsoleOptions, ConsoleRenderable, Group
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from discreet._support.visible import visible
from discreet.notions import from_dict
from discreet.reporting.attacked import measure_of, worst_presence
from discreet.reporting.formats import nats
from discreet.reporting.publication_words import beyond_words
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
        f"Log-lifts in nats, smallest to largest of all parts of the records; surely: how far they reach with "
        f"{percent_words(found['confidence'])} confidence, 0 where not even the sign is sure. {_guessing(found)} Off: "
        "how far predicted shares are from counted ones.",
        "",
        *_presence(found["presence"], found["confidence"]),
        *found["notes"],
        "",
        *_verdict(found),
    ]
    return Group(*parts)


class _Trimmed:
    """A table whose lines end where their texts do."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for line in console.render_lines(self.table, options, pad=False):
            shown = [segment for segment in line if segment.text != "\n"]
            while shown and not shown[-1].text.strip():
                shown.pop()
            yield from shown[:-1]
            if shown:
                yield Segment(shown[-1].text.rstrip(), shown[-1].style)
            yield Segment.line()


def _models(found: Facts) -> _Trimmed:
    """One line a model and table, the release's below the original's."""
    before, after = found["before"], found["after"]
    measure = measure_of(found)
    table = Table(box=None, pad_edge=False)
    for head in ("model", "table", "log-lifts", "surely", "AUC" if measure == "auc" else measure, "off"):
        table.add_column(head, justify="left" if head in ("model", "table") else "right", no_wrap=True)
    for name, side in after["by_model"].items():
        own = before["by_model"].get(name)
        if own is not None:
            table.add_row(name, "original", *_told(own, measure))
        table.add_row(name if own is None else "", "release", *_told(side, measure))
    table.add_row(Text("best of all", style="bold"), "original", *_told(before, measure))
    table.add_row("", "release", *_told(after, measure))
    return _Trimmed(table)


def _told(side: Facts, measure: str) -> Iterator[str]:
    """Log-lifts, how far they surely reach, how well S is guessed, and how far predicted shares are off."""
    yield f"{nats(side['log_min_lift'])} to {nats(side['log_max_lift'])}"
    # Lifts are 1 on average, so that the smallest logarithm is never above 0, nor the largest below.
    low, high = min(0.0, side["intervals"]["log_min_lift"][1]), max(0.0, side["intervals"]["log_max_lift"][0])
    yield f"[{nats(low)}, {nats(high)}]"
    yield "" if side[measure] is None else f"{side[measure]:.3f}"
    yield f"{side['calibration']:.3f}"


def _guessing(found: Facts) -> str:
    if measure_of(found) == "auc":
        return "AUC: how often a record with the value is told from one without, 0.5 by chance."
    return f"Accuracy: how often S is guessed, {found['after']['base_rate']:.3f} by always guessing the commonest."


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
    return [title, _Trimmed(table), said, ""]


def _verdict(found: Facts) -> list[Any]:
    if found["verdict"] is None:
        return [bold("Verdict: none, no promise was named.")]
    notion = from_dict(found["notion"])
    reasons = [f"- {reason}" for reason in found["reasons"]]
    beyond = beyond_words(found) if found["verdict"] == "not broken" else ""
    said = SAID[found["verdict"]].replace("by what was tried", f"by what was tried{beyond}")
    return [bold(f"Verdict: {notion} ") + said, *reasons]
