"""An audit as text: size, measures, worst symbols first, zero cells by name, verdict."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from discreet._support.visible import visible
from discreet.reporting import words
from discreet.reporting.audit import Audit, AuditVerdict
from discreet.reporting.formats import number
from discreet.reporting.model import AuditedSymbol
from discreet.reporting.text.console import bold, label_text, listing

__all__ = ["SHOWN_SYMBOLS", "audit_text"]

#: Symbols shown by default.
SHOWN_SYMBOLS = 15

_MEASURES = (
    ("mutual_information", "mutual information I(S;X)", "nats"),
    ("maximal_leakage", "maximal leakage", "nats"),
    ("log_max_lift", "worst log max-lift", "nats"),
    ("log_min_lift", "worst log min-lift", "nats"),
    ("sibson_information", "Sibson information, alpha 2", "nats"),
    ("arimoto_information", "Arimoto information, alpha 2", "nats"),
    ("total_variation", "total variation", "0 to 1"),
    ("chi2_divergence", "chi-square divergence", ""),
    ("entropy_sensitive", "entropy H(S)", "nats"),
    ("entropy_useful", "entropy H(X)", "nats"),
)


def audit_text(found: Audit, shown: int = SHOWN_SYMBOLS) -> ConsoleRenderable:
    """An audit: size, measures, worst symbols first, zero cells by name, verdict."""
    secret, column = visible(" + ".join(found.sensitive)), visible(" + ".join(found.useful))
    symbols = found.per_symbol
    records = "" if found.rows is None else f" in {found.rows:,} records"
    parts: list[Any] = [
        bold(f"What {column} tells about {secret}")
        + f" ({found.joint.n_useful} useful and {found.joint.n_sensitive} sensitive values{records})",
        "",
        _measure_table(found.measures),
        "",
        _symbol_table(symbols[:shown], column),
    ]
    if len(symbols) > shown:
        parts.append(f"and {len(symbols) - shown} more symbols; --symbols all lists them.")
    parts += ["", *_sentences(symbols[:3], column, secret), *_zero_cells(*symbols.ruling_out(shown))]
    if found.verdict is not None and found.notion is not None:
        parts += ["", _verdict_text(found.verdict, words.rule_words(found.notion), len(symbols))]
    return Group(*parts)


def _measure_table(values: Mapping[str, float]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("measure")
    table.add_column("value", justify="right")
    table.add_column("unit")
    for name, title, unit in _MEASURES:
        table.add_row(title, number(values[name]), unit)
    return table


def _symbol_table(symbols: Sequence[AuditedSymbol], column: str) -> Table:
    table = Table(box=None, pad_edge=False, title="Worst symbols first", title_justify="left")
    table.add_column(Text(column), overflow="fold")
    table.add_column("share", justify="right")
    table.add_column("makes likelier", overflow="fold")
    table.add_column("by", justify="right")
    table.add_column("makes unlikelier", overflow="fold")
    table.add_column("by", justify="right")
    judged = bool(symbols) and symbols[0].allowed is not None
    if judged:
        table.add_column("allowed")
    for entry in symbols:
        cells = [
            Text(cell)
            for cell in (
                label_text(entry.symbol),
                f"{100 * entry.probability:.2f} %",
                label_text(entry.likelier),
                f"x {number(entry.max_lift)}",
                label_text(entry.unlikelier),
                f"x {number(entry.min_lift)}",
            )
        ]
        table.add_row(*cells, *([Text("yes") if entry.allowed else bold("no")] if judged else []))
    return table


def _sentences(symbols: Sequence[AuditedSymbol], column: str, secret: str) -> list[str]:
    """The worst symbols in words."""
    lines = []
    for entry in symbols:
        if entry.max_lift < 1.0005:
            continue  # it tells next to nothing
        seen = f"Seeing {column} = {label_text(entry.symbol)}"
        up = f"makes {secret} = {label_text(entry.likelier)} {number(entry.max_lift)} times as likely"
        low = entry.min_lift
        down = (
            f"rules {label_text(entry.unlikelier)} out"
            if low == 0
            else f"makes {label_text(entry.unlikelier)} {number(low)} times as likely"
        )
        lines.append(f"{seen} {up}, and {down}.")
    return lines


def _zero_cells(number_ruling: int, worst: Sequence[AuditedSymbol]) -> list[str]:
    lines = [
        f"Zero cells: {label_text(entry.symbol)} never occurs with {listing(entry.rules_out)}"
        + ("" if entry.records is None else f" ({entry.records} records)")
        + "."
        for entry in worst
    ]
    if number_ruling > len(worst):
        lines.append(f"Zero cells in {number_ruling - len(worst)} more symbols.")
    return lines


def _verdict_text(verdict: AuditVerdict, promise: str, n_symbols: int) -> Text:
    if verdict.holds:
        return bold("Verdict: holds.") + f" {promise} Slack: {number(verdict.slack)} nats."
    if verdict.violating_symbols is None or verdict.violating_probability is None:
        return bold("Verdict: broken.") + f" {promise} Slack: {number(verdict.slack)} nats."
    share = 100 * verdict.violating_probability
    return bold("Verdict: broken") + (
        f" by {verdict.violating_symbols} of {n_symbols} symbols "
        f"({share:.2f} % of the records). {promise} Slack: {number(verdict.slack)} nats."
    )
