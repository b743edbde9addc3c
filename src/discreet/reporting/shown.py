"""What of a decision fits a page: which rows and columns, and the tables that HTML and Markdown share."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from discreet.reporting import words
from discreet.reporting.formats import between, percent, times, yes
from discreet.reporting.model import AuditedSymbol, CertificateFacts, Decision, TradeoffRow

__all__ = [
    "MOST_NAMED",
    "MOST_SHOWN",
    "certificate_rows",
    "codes_of",
    "curves_of",
    "extreme_rows",
    "fall_text",
    "figure_rows",
    "is_judged",
    "kept_text",
    "rise_text",
    "sample_words",
    "tradeoff_table",
]

#: Symbols, and sensitive values, that a table or a picture shows.
MOST_SHOWN = 40

#: Released symbols named in a line of what a value becomes, or of what a symbol stands for.
MOST_NAMED = 8


def figure_rows(decision: Decision) -> list[tuple[str, str]]:
    """The four figures of the opening: what is kept, the limit, and the largest changes of belief."""
    made = decision.design
    return [
        ("of its information kept", percent(made.nmi)),
        (words.bound_words(made), "none" if made.bound is None else words.at_most_percent(made.bound)),
        ("largest rise of a belief", words.changes_by(made.log_max_lift)),
        ("largest fall of a belief", words.changes_by(made.log_min_lift)),
    ]


def extreme_rows(lifts: Sequence[Sequence[float]]) -> list[int]:
    """The rows to show: all, or those that change most, in their own order."""
    if len(lifts) <= MOST_SHOWN:
        return list(range(len(lifts)))

    def strength(row: Sequence[float]) -> float:
        return max(*row, 1 / min(row) if min(row) > 0 else math.inf)

    return sorted(sorted(range(len(lifts)), key=lambda s: -strength(lifts[s]))[:MOST_SHOWN])


def is_judged(entries: Sequence[AuditedSymbol]) -> bool:
    """Whether single values were judged."""
    return bool(entries) and entries[0].allowed is not None


def rise_text(entry: AuditedSymbol) -> str:
    """How far a value raises a belief, with what its records leave open."""
    return times(entry.max_lift) + between(entry.max_lift_interval)


def fall_text(entry: AuditedSymbol) -> str:
    """How far a value lowers a belief, with what its records leave open."""
    return ("rules it out" if entry.min_lift == 0 else times(entry.min_lift)) + between(entry.min_lift_interval)


def kept_text(entry: AuditedSymbol) -> str:
    """Whether a value keeps the promise, and whether that may be chance."""
    return yes(bool(entry.allowed)) + (", too few records to be sure" if entry.population == "undecided" else "")


def sample_words(decision: Decision) -> str:
    """What chance alone gives, and what the intervals are; nothing where no records were counted."""
    if decision.chance is None or decision.confidence is None:
        return ""
    return f"{decision.chance} {words.interval_words(decision.confidence)}"


def codes_of(decision: Decision) -> dict[str, str]:
    """Short codes of the released values."""
    return {entry.label: entry.code for entry in decision.released}


def curves_of(rows: Iterable[TradeoffRow]) -> dict[str, list[TradeoffRow]]:
    """Rows by method, each from the smallest budget on."""
    curves: dict[str, list[TradeoffRow]] = {}
    for row in sorted(rows, key=lambda row: row.epsilon):
        curves.setdefault(row.method, []).append(row)
    # In the order of the rows, which begins with the chosen method.
    return {row.method: curves[row.method] for row in rows}


def tradeoff_table(rows: Iterable[TradeoffRow]) -> tuple[list[str], list[list[str]]]:
    """Heads and rows: the budget, what every method keeps, and the limit where one is proven."""
    curves = curves_of(rows)
    limits = [next((row.bound for row in at if row.bound is not None), None) for at in zip(*curves.values())]
    proven = any(limit is not None for limit in limits)
    body = [
        [f"{at[0].epsilon:.4g}", *(percent(row.nmi) for row in at)]
        + ([percent(limit) if limit is not None else "none"] if proven else [])
        for at, limit in zip(zip(*curves.values()), limits)
    ]
    return ["budget (nats)", *curves, *(["limit of any release"] if proven else [])], body


def certificate_rows(facts: CertificateFacts) -> list[tuple[str, str]]:
    """What a certificate states, as pairs of words."""
    achieved, rows = facts.achieved, facts.rows
    lifts = "not measured" if achieved is None else f"{achieved['log_min_lift']} to {achieved['log_max_lift']} nats"
    limit = "none" if facts.bound is None else f"{facts.bound} ({facts.bound_evidence})"
    return [
        ("digest of the certificate", str(facts.digest)),
        ("the digest fits the content", yes(facts.intact) + ("" if facts.intact else ": the certificate was changed")),
        (
            "it is about the mechanism shown",
            _same_words(facts.same_mechanism),
        ),
        (
            "its records are as many as this table's",
            yes(facts.fits_table) + ("" if facts.fits_table else ": it is about another table"),
        ),
        ("digest of the mechanism", str(facts.mechanism_digest or "none")),
        ("log-lifts", lifts),
        ("NMI", str(facts.nmi)),
        ("limit of the NMI", limit),
        ("published beside it, not covered", ", ".join(facts.not_covered) or "nothing"),
        ("records", "not counted" if rows is None else f"{rows['input']:,} in, {rows['output']:,} out"),
    ]


def _same_words(same: bool | None) -> str:
    if same is None:
        return "not told: the public certificate of a private mechanism leaves it out"
    return yes(same) + ("" if same else ": it is about another one")
