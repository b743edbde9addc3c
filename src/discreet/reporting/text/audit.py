"""An audit as text: size, measures, chance, surest and worst symbols first, zero cells by name, verdict."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from discreet._support.visible import visible
from discreet.reporting import words
from discreet.reporting.audit import Audit
from discreet.reporting.formats import number, span
from discreet.reporting.heldout import HeldOut
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
    """An audit: size, measures, chance, surest and worst symbols first, zero cells by name, verdict."""
    secret, column = visible(" + ".join(found.sensitive)), visible(" + ".join(found.useful))
    symbols = found.per_symbol
    records = "" if found.rows is None else f" in {found.rows:,} records"
    parts: list[Any] = [
        bold(f"What {column} tells about {secret}")
        + f" ({found.joint.n_useful} useful and {found.joint.n_sensitive} sensitive values{records})",
        "",
        _measure_table(found.measures),
        "",
        *_chance(found, column, secret),
        *_symbols(found, shown, column),
        *_sentences(symbols.told(shown)[:3], column, secret),
        *_zero_cells(*symbols.ruling_out(shown)),
    ]
    left_open, share = symbols.left_open()
    if left_open:
        judged = found.verdict is not None and found.verdict.population is not None
        parts.append(words.open_words(left_open, share, len(symbols), column, judged=judged))
    if found.held_out is not None:
        parts += ["", *_held_out(found.held_out, column)]
    if found.verdict is not None and found.notion is not None:
        parts += ["", _verdict_text(found, words.rule_words(found.notion))]
    return Group(*parts)


def _held_out(other: HeldOut, column: str) -> list[Any]:
    """The worst symbols among records that the audit did not see."""
    table = Table(box=None, pad_edge=False, title=f"The same among {other.records:,} records held out")
    table.title_justify = "left"
    table.add_column(Text(column), overflow="fold")
    table.add_column("likelier", overflow="fold")
    table.add_column("by", justify="right")
    table.add_column("held out", justify="right")
    for entry in other.symbols:
        again = "does not occur" if entry.held_out is None else f"x {number(entry.held_out)}"
        cells = (label_text(entry.symbol), label_text(entry.sensitive), f"x {number(entry.lift)}", again)
        table.add_row(*map(Text, cells))
    kept = "" if other.holds is None else f" They {'keep' if other.holds else 'break'} the promise."
    return [table, f"Mutual information there: {number(other.mutual_information)} nats.{kept}"]


def _chance(found: Audit, column: str, secret: str) -> list[str]:
    """What chance alone gives, in a sentence."""
    if found.chance is None or found.confidence is None:
        return []
    surest = [label_text(label) for label in found.per_symbol.surely_telling(words.MOST_SURE)[1]]
    measured = found.measures["mutual_information"]
    return [words.chance_words(found.chance, column, secret, measured, found.confidence, surest), ""]


def _symbols(found: Audit, shown: int, column: str) -> list[Any]:
    """A table of symbols that there are enough records to tell about; of all where they are few."""
    told, number_told = found.per_symbol.told(shown), found.per_symbol.number_told(shown)
    if not told:
        return []
    parts: list[Any] = [_symbol_table(told, column, found.confidence)]
    if number_told > shown:
        parts.append(f"and {number_told - shown} more symbols; --symbols all lists them.")
    if found.confidence is not None:
        marked = " ? marks what they leave open." if any(entry.population == "undecided" for entry in told) else ""
        parts.append(words.interval_words(found.confidence) + marked)
    return [*parts, ""]


def _measure_table(values: Mapping[str, float]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("measure")
    table.add_column("value", justify="right")
    table.add_column("unit")
    for name, title, unit in _MEASURES:
        table.add_row(title, number(values[name]), unit)
    return table


def _symbol_table(symbols: Sequence[AuditedSymbol], column: str, confidence: float | None) -> Table:
    surest = bool(symbols) and symbols[0].is_open is False and any(entry.is_open for entry in symbols)
    title = "Worst symbols first" + (", those that are sure before others" if surest else "")
    table = Table(box=None, pad_edge=False, title=title, title_justify="left")
    table.add_column(Text(column), overflow="fold")
    table.add_column("share", justify="right")
    for head in ("makes likelier", "makes unlikelier") if confidence is None else ("likelier", "unlikelier"):
        table.add_column(head, overflow="fold")
        table.add_column("by", justify="right")
        if confidence is not None:
            table.add_column(words.percent_words(confidence), justify="right", no_wrap=True)
    judged = bool(symbols) and symbols[0].allowed is not None
    if judged:
        table.add_column("allowed")
    for entry in symbols:
        cells = [label_text(entry.symbol), f"{100 * entry.probability:.2f} %"]
        for label, lift, interval in (
            (entry.likelier, entry.max_lift, entry.max_lift_interval),
            (entry.unlikelier, entry.min_lift, entry.min_lift_interval),
        ):
            cells += [label_text(label), f"x {number(lift)}", *([] if confidence is None else [span(interval)])]
        table.add_row(*map(Text, cells), *([_allowed(entry)] if judged else []))
    return table


def _allowed(entry: AuditedSymbol) -> Text:
    """Whether a symbol keeps the promise in the counted table; with a mark where that may be chance."""
    said = ("yes" if entry.allowed else "no") + ("?" if entry.population == "undecided" else "")
    return bold(said) if said == "no" else Text(said)


def _sentences(symbols: Sequence[AuditedSymbol], column: str, secret: str) -> list[str]:
    """The worst symbols in words."""
    lines = []
    for entry in symbols:
        if entry.max_lift < 1.0005:
            continue  # it tells next to nothing
        up = f"makes {secret} = {label_text(entry.likelier)} {number(entry.max_lift)} times as likely"
        low, unlikelier = entry.min_lift, label_text(entry.unlikelier)
        down = f"rules {unlikelier} out" if low == 0 else f"makes {unlikelier} {number(low)} times as likely"
        # Of intervals, only what they leave no doubt about.
        rises = entry.max_lift_interval is None or entry.max_lift_interval[0] > 1
        falls = entry.min_lift_interval is None or entry.min_lift_interval[1] < 1
        told = [clause for clause, is_sure in ((up, rises), (down, falls)) if is_sure]
        if told:
            lines.append(f"Seeing {column} = {label_text(entry.symbol)} {', and '.join(told)}.")
    return lines


def _zero_cells(number_ruling: int, worst: Sequence[AuditedSymbol]) -> list[str]:
    lines = [
        f"Zero cells: {label_text(entry.symbol)} never occurs with {listing(entry.rules_out)}"
        + ("" if entry.records is None else f" ({entry.records} records)")
        + "."
        for entry in worst
    ]
    if number_ruling > len(worst):
        more = "more " if worst else ""
        lines.append(f"Zero cells in {number_ruling - len(worst)} {more}symbols.")
    return lines


def _verdict_text(found: Audit, promise: str) -> Text:
    assert found.verdict is not None  # asked by the caller
    assert found.notion is not None
    head, rest = words.population_words(
        found.verdict, len(found.per_symbol), found.confidence, promised=found.notion.confidence
    )
    judged = "" if found.confidence is None or found.verdict.population is not None else f" {words.NOT_JUDGED}"
    return bold(f"Verdict: {head}") + f"{rest} {promise} Slack: {number(found.verdict.slack)} nats.{judged}"
