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
from discreet.reporting.text.console import bold

__all__ = ["release_text"]


def release_text(summary: Mapping[str, Any]) -> Group:
    """What was released, what it promises, and what the promise leaves out."""
    notion = from_dict(dict(summary["notion"]))
    lines: list[ConsoleRenderable] = [bold(_headline(summary, str(notion))), Text(words.rule_words(notion))]
    if summary["achieved"] is None:
        lines.append(
            Text("The table has no sensitive column, so the promise is the design's and was not checked here.")
        )
    else:
        achieved = summary["achieved"]
        if "on_averages" in summary:
            lines.append(Text(words.averages_words(summary["on_averages"])))
        lines.append(
            Text(
                f"Checked in integers on this table: log-lifts between {achieved['log_min_lift']} and "
                f"{achieved['log_max_lift']} nats. NMI {summary['nmi']}"
                + (f", at most {summary['bound']} is possible." if summary["bound"] is not None else ".")
            )
        )
        if summary["notion"].get("confidence") is not None:
            lines.append(Text(words.WITHIN_LIMITS))
    if summary["in_values"] is not None:
        lines.append(Text(words.released_values_words(summary["released"], summary["in_values"]["unchanged"])))
    if summary["key"]["draw"] != "private":
        lines.append(Text(f"The draw is {summary['key']['draw']}: do not publish it.", style="bold"))
    if summary["unseen"] is not None:
        lines.append(Text(f"{summary['unseen']['rows']:,} rows with unknown values were treated as a known one."))
    if summary["persons"] is not None:
        lines.append(Text(words.persons_words(summary["persons"])))
    if summary["covered"] is not None:
        lines.append(Text(words.beside_words(summary["covered"])))
    if summary["not_covered"]:
        lines += [
            Text(""),
            bold("Kept as they are, and not covered by the promise"),
            _kept_table(summary["not_covered"]),
        ]
    signed = f", signed by the key {summary['signed_by']}" if "signed_by" in summary else ""
    lines.append(Text(f"Certificate: {summary['certificate']}{signed}"))
    if "ledger" in summary:
        lines.append(Text(words.entered_words(summary["ledger"])))
    if "codebook" in summary:
        private = " (private, as the mechanism is)" if summary["private_mechanism"] else ""
        lines.append(Text(f"What released values stand for: {summary['codebook']}{private}"))
    return Group(*lines)


def _headline(summary: Mapping[str, Any], notion: str) -> str:
    """What was released under which promise and, where columns were kept, which of them it covers."""
    rows, covered = f"{summary['rows']:,} rows", summary["covered"]
    if covered is None and not summary["not_covered"]:
        return f"Released {rows} of {' and '.join(summary['released'])} to {summary['output']} under {notion}"
    inside = [*summary["released"], *([] if covered is None else covered["columns"])]
    outside = [row["column"] for row in summary["not_covered"]]
    return f"Released {rows} to {summary['output']} under {notion}. {words.coverage_words(inside, outside)}"


def _kept_table(kept: Sequence[Mapping[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("column")
    table.add_column("values", justify="right")
    table.add_column("log-lifts alone (nats)", justify="right")
    table.add_column("beside the release", justify="right")
    table.add_column("why")
    for row in kept:
        spans = [
            f"{row[name]['log_min_lift']} to {row[name]['log_max_lift']}" if name in row else "not measured"
            for name in ("alone", "with_release")
        ]
        values = f"{row['values']:,}" if isinstance(row["values"], int) else row["values"] or ""
        table.add_row(visible(row["column"]), values, *spans, visible(row["reason"]))
    return table
