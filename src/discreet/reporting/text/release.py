"""A release as text."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from discreet._support.visible import visible
from discreet.notions.base import from_dict
from discreet.reporting import words
from discreet.reporting.formats import number
from discreet.reporting.text.console import bold

__all__ = ["release_text"]


def release_text(summary: Mapping[str, Any]) -> Group:
    """What was released, what it promises, and what the promise leaves out."""
    notion = from_dict(dict(summary["notion"]))
    rows, column = summary["rows"], " and ".join(summary["released"])
    lines: list[ConsoleRenderable] = [
        bold(f"Released {rows:,} rows of {column} to {summary['output']} under {notion}"),
        Text(words.rule_words(notion)),
    ]
    if summary["achieved"] is None:
        lines.append(
            Text("The table has no sensitive column, so the promise is the design's and was not checked here.")
        )
    else:
        achieved = summary["achieved"]
        lines.append(
            Text(
                f"Checked in integers on this table: log-lifts between {achieved['log_min_lift']} and "
                f"{achieved['log_max_lift']} nats. NMI {summary['nmi']}"
                + (f", at most {summary['bound']} is possible." if summary["bound"] is not None else ".")
            )
        )
    if summary["key"]["draw"] != "private":
        lines.append(Text(f"The draw is {summary['key']['draw']}: do not publish it.", style="bold"))
    if summary["unseen"] is not None:
        lines.append(Text(f"{summary['unseen']['rows']:,} rows with unknown values were treated as a known one."))
    if summary["not_covered"]:
        lines += [
            Text(""),
            bold("Kept as they are, and not covered by the promise"),
            _kept_table(summary["not_covered"]),
        ]
    lines.append(Text(f"Certificate: {summary['certificate']}"))
    if "codebook" in summary:
        lines.append(Text(f"What released values stand for: {summary['codebook']}"))
    return Group(*lines)


def _kept_table(kept: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("column")
    table.add_column("values", justify="right")
    table.add_column("log-lifts alone (nats)", justify="right")
    table.add_column("beside the release", justify="right")
    for row in kept:
        spans = [
            f"{number(float(row[name]['log_min_lift']))} to {number(float(row[name]['log_max_lift']))}"
            if name in row
            else ""
            for name in ("alone", "with_release")
        ]
        table.add_row(
            visible(row["column"]), f"{row['values']:,}", *(spans if "note" not in row else [row["note"], ""])
        )
    return table
