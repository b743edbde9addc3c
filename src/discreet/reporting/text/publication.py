"""A published table as text."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from discreet._support.visible import visible
from discreet.notions.base import from_dict
from discreet.reporting.attacked import measure_of, sides_of
from discreet.reporting.formats import nats, several
from discreet.reporting.publication_words import (
    NOT_IDENTITY,
    attack_words,
    class_words,
    each_words,
    presence_words,
    promise_words,
    secret_words,
    undecided_words,
)
from discreet.reporting.text.console import bold
from discreet.reporting.words import entered_words

__all__ = ["publication_text"]

#: Models that are shown beside the best of all, those that surely tell most.
MOST_MODELS = 3

#: Files that are for the owner alone.
OWNERS = (
    ("private", "Private certificate"),
    ("key", "Key"),
    ("plan", "Plan for later tables"),
    ("report", "Report for the owner"),
)

NAMES = {"auc": "AUC", "accuracy": "accuracy"}


def publication_text(summary: Mapping[str, Any]) -> Group:
    """What was published, what is promised about it, what an attack found, and where everything is."""
    notion = from_dict(dict(summary["notion_parts"]))
    secret = " and ".join(summary["columns"]["sensitive"])
    undecided = undecided_words(summary)
    lines: list[ConsoleRenderable] = [
        *([bold(visible(f"UNDECIDED: {undecided}."))] if undecided else []),
        bold(
            visible(
                f"{several(summary['rows'], 'row')} of {several(len(summary['columns']['published']), 'column')} "
                f"published without {secret}: {100 * summary['unchanged']:.1f} % of rows are unchanged"
            )
        ),
        Text(promise_words(notion)),
        *(Text(visible(line)) for line in each_words(summary)),
        Text(visible(class_words(summary))),
        *(Text(visible(f"Note: {note}.")) for note in summary["notes"]),
        Text(""),
        _columns(summary),
        Text(""),
        _attack(summary["attack"]),
        *(Text(visible(line)) for line in secret_words(summary)),
        Text(attack_words(summary)),
        Text(presence_words(summary["attack"]["presence"])),
        Text(NOT_IDENTITY),
        Text(f"Table: {visible(summary['output'])}"),
        Text(f"Certificate: {visible(summary['certificate'])}"),
    ]
    lines += [Text(f"{title}: {visible(summary[name])}") for name, title in _owners(summary)]
    if "ledger" in summary:
        lines.append(Text(visible(entered_words(summary["ledger"]))))
    return Group(*lines)


def _owners(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Files for the owner alone; of some it is said that they were there before."""
    for name, title in OWNERS:
        if name in summary:
            yield name, f"{title} (read)" if name in summary.get("read", ()) else title


def _columns(summary: Mapping[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, title=None)
    for name, side in (
        ("column", "left"),
        ("unchanged", "right"),
        ("largest change", "right"),
        ("std. error", "right"),
    ):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    for column, kept in summary["quality"]["columns"].items():
        largest = kept["largest_change"]
        table.add_row(
            visible(column),
            f"{100 * kept['unchanged']:.1f} %",
            f"{100 * largest['change']:+.2f} pp",
            f"{100 * largest['standard_error']:.2f} pp",
        )
    return table


def _attack(attack: Mapping[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name, side in (("attack", "left"), ("log-lifts before", "right"), ("after", "right"), ("", "right")):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    measure = measure_of(attack)
    for name, old, new in sides_of(attack, MOST_MODELS):
        guessed = f"{new[measure]:.3f}" if old is None else f"{old[measure]:.3f} to {new[measure]:.3f}"
        table.add_row(name, "" if old is None else _range(old), _range(new), f"{NAMES[measure]} {guessed}")
    return table


def _range(side: Mapping[str, Any]) -> str:
    low, high = (float(side[name]) for name in ("log_min_lift", "log_max_lift"))
    return f"{nats(low)} to {nats(high)} nats"
