"""Audits and designs as text that a person understands."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from discreet._support.numeric import DENOMINATOR
from discreet.certificate import Certificate, Verdict
from discreet.core import labels
from discreet.designers import Design
from discreet.frontiers.sweep import Frontier, FrontierRow
from discreet.mechanism import BitMechanism
from discreet.notions.base import from_dict
from discreet.quantising import Quantisation, QuantisationPath

__all__ = [
    "audit_text",
    "certificate_text",
    "comparison_text",
    "design_text",
    "frontier_text",
    "make_console",
    "quantisation_text",
    "release_text",
    "reproduction_text",
    "verdict_text",
]

#: Symbols shown by default; JSON has all of them.
SHOWN_SYMBOLS = 15

#: Curves of a frontier that get bars; more would not fit a line.
MOST_BARS = 3

#: Width of text that goes to a file or a pipe.
PLAIN_WIDTH = 110

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


def make_console(stream: Any) -> Console:
    """A console for a stream: full colour on a terminal, plain text of a fixed width elsewhere."""
    # Labels come from users: nothing in them is markup or the name of an emoji.
    plain: dict[str, Any] = {"file": stream, "highlight": False, "markup": False, "emoji": False}
    if getattr(stream, "isatty", lambda: False)():
        return Console(**plain)
    return Console(**plain, width=PLAIN_WIDTH, no_color=True)


def bold(text: str) -> Text:
    """A heading."""
    return Text(text, style="bold")


def audit_text(summary: dict[str, Any], shown: int = SHOWN_SYMBOLS) -> ConsoleRenderable:
    """An audit: size, measures, worst symbols first, zero cells by name, verdict."""
    secret, column = " + ".join(summary["sensitive"]), " + ".join(summary["useful"])
    size = summary["joint"]
    symbols = summary["per_symbol"]
    records = "" if summary["rows"] is None else f" in {summary['rows']:,} records"
    parts: list[Any] = [
        bold(f"What {column} tells about {secret}")
        + f" ({size['n_useful']} useful and {size['n_sensitive']} sensitive values{records})\n",
        _measure_table(summary["measures"]),
        "",
        _symbol_table(symbols[:shown], column),
    ]
    if len(symbols) > shown:
        parts.append(f"and {len(symbols) - shown} more symbols; --format json lists all.")
    parts += ["", *_sentences(symbols[:3], column, secret), *_zero_cells(symbols, shown)]
    if summary["verdict"] is not None:
        parts += ["", _verdict_text(summary["verdict"], len(symbols))]
    return Group(*parts)


def _measure_table(values: dict[str, float]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("measure")
    table.add_column("value", justify="right")
    table.add_column("unit")
    for name, title, unit in _MEASURES:
        table.add_row(title, number(values[name]), unit)
    return table


def _symbol_table(symbols: Sequence[dict[str, Any]], column: str) -> Table:
    table = Table(box=None, pad_edge=False, title="Worst symbols first", title_justify="left")
    table.add_column(Text(column), overflow="fold")
    table.add_column("share", justify="right")
    table.add_column("makes likelier", overflow="fold")
    table.add_column("by", justify="right")
    table.add_column("makes unlikelier", overflow="fold")
    table.add_column("by", justify="right")
    judged = bool(symbols) and "allowed" in symbols[0]
    if judged:
        table.add_column("allowed")
    for entry in symbols:
        cells = [
            Text(cell)
            for cell in (
                _text(entry["symbol"]),
                f"{100 * entry['probability']:.2f} %",
                _text(entry["likelier"]),
                f"x {number(entry['max_lift'])}",
                _text(entry["unlikelier"]),
                f"x {number(entry['min_lift'])}",
            )
        ]
        table.add_row(*cells, *([Text("yes") if entry["allowed"] else bold("no")] if judged else []))
    return table


def _sentences(symbols: Sequence[dict[str, Any]], column: str, secret: str) -> list[str]:
    """The worst symbols in words."""
    lines = []
    for entry in symbols:
        if entry["max_lift"] < 1.0005:
            continue  # it tells next to nothing
        seen = f"Seeing {column} = {_text(entry['symbol'])}"
        up = f"makes {secret} = {_text(entry['likelier'])} {number(entry['max_lift'])} times as likely"
        low = entry["min_lift"]
        down = (
            f"rules {_text(entry['unlikelier'])} out"
            if low == 0
            else f"makes {_text(entry['unlikelier'])} {number(low)} times as likely"
        )
        lines.append(f"{seen} {up}, and {down}.")
    return lines


def _zero_cells(symbols: Sequence[dict[str, Any]], shown: int) -> list[str]:
    ruling = [entry for entry in symbols if entry["rules_out"]]
    lines = [
        f"Zero cells: {_text(entry['symbol'])} never occurs with {_listing(entry['rules_out'])}"
        + ("" if entry["records"] is None else f" ({entry['records']} records)")
        + "."
        for entry in ruling[:shown]
    ]
    if len(ruling) > shown:
        lines.append(f"Zero cells in {len(ruling) - shown} more symbols.")
    return lines


def _verdict_text(verdict: dict[str, Any], n_symbols: int) -> Text:
    promise = promise_text(verdict["notion"])
    if verdict["holds"]:
        return bold("Verdict: holds.") + f" {promise} Slack: {number(verdict['slack'])} nats."
    if verdict["violating_symbols"] is None:
        return bold("Verdict: broken.") + f" {promise} Slack: {number(verdict['slack'])} nats."
    share = 100 * verdict["violating_probability"]
    return bold("Verdict: broken") + (
        f" by {verdict['violating_symbols']} of {n_symbols} symbols "
        f"({share:.2f} % of the records). {promise} Slack: {number(verdict['slack'])} nats."
    )


def promise_text(notion: dict[str, Any]) -> str:
    """What a notion promises, in a sentence."""
    name = notion["name"]
    low = notion.get("eps_lower", notion.get("epsilon"))
    high = notion.get("eps_upper", notion.get("epsilon"))
    if name == "perfect":
        return "Perfect privacy: nothing at all may be learnt."
    if name == "ldp":
        factor = factor_text(notion["epsilon"])
        return f"LDP: no symbol may be more than {factor} times as likely under one sensitive value as under another."
    if name in ("lip", "alip", "max-lift", "srlip"):
        limits = []
        if high is not None:
            limits.append(f"more than {factor_text(high)} times as likely")
        if low is not None and name != "max-lift":
            limits.append(f"less than {factor_text(-low)} times as likely")
        whoever = " Also for those who know some of the useful columns." if name == "srlip" else ""
        return f"{name.upper()}: no sensitive value may become {' or '.join(limits)} as before.{whoever}"
    given = ", ".join(f"{key} {value:g}" for key, value in notion.items() if key != "name" and value is not None)
    return f"{name} ({given})."


def design_text(design: Design) -> ConsoleRenderable:
    """A design: what it keeps, what it leaks, and how each value is released."""
    figures = design.to_dict()
    table = Table(box=None, pad_edge=False)
    table.add_column("figure")
    table.add_column("value", justify="right")
    table.add_column("unit")
    table.add_row("kept of X, I(X;Y)/H(X)", number(figures["nmi"]), "NMI, 0 to 1")
    table.add_row("mutual information I(X;Y)", number(figures["mutual_information"]), "nats")
    table.add_row("log max-lift", number(figures["log_max_lift"]), "nats")
    table.add_row("log min-lift", number(figures["log_min_lift"]), "nats")
    table.add_row("slack of the notion", number(design.notion.slack(design.joint, design.mechanism)), "nats")
    if figures["bound"] is not None:
        claimed = design.evidence == "claimed, not checkable"
        title = "claimed limit of any mechanism" if claimed else "proven limit of any mechanism"
        table.add_row(title, number(figures["bound"]), f"NMI ({figures['status']})")
    table.add_row("released symbols", f"{figures['released']} for {figures['useful']}", "")
    if figures["reads_sensitive"]:
        table.add_row("reads", "S and X", "whoever draws needs the sensitive columns")
    table.add_row("time", f"{figures['seconds']:.3g}", "s")
    return Group(
        bold(design.method) + f" for {design.notion}. {promise_text(design.notion.to_dict())}\n",
        table,
        "",
        _bits_text(design.mechanism) if isinstance(design.mechanism, BitMechanism) else _codebook_table(design),
    )


def _bits_text(mechanism: BitMechanism) -> str:
    true, other = mechanism.true_weight / DENOMINATOR, mechanism.other_weight / DENOMINATOR
    return (
        f"A released symbol has a bit for each of the {mechanism.n_useful} values. The bit of the true value is 1 with "
        f"probability {number(true)}, every other bit with probability {number(other)}."
    )


def _codebook_table(design: Design, shown: int = 2 * SHOWN_SYMBOLS) -> Table:
    book = design.mechanism.codebook()
    table = Table(box=None, pad_edge=False, title="What a released symbol stands for", title_justify="left")
    table.add_column("released", overflow="fold", ratio=3)
    table.add_column("share", justify="right")
    table.add_column("most likely", overflow="fold", ratio=4)
    p_released = design.released.p_useful
    for k in sorted(range(len(book)), key=lambda k: -p_released[k])[:shown]:
        label = design.mechanism.released[k]
        likeliest = list(book[label].items())[:4]
        parts = ", ".join(f"{labels.text(x)} {100 * p:.1f} %" for x, p in likeliest)
        more = "" if len(book[label]) <= len(likeliest) else ", ..."
        table.add_row(Text(label), f"{100 * p_released[k]:.2f} %", Text(parts + more))
    if len(book) > shown:
        table.add_row(f"and {len(book) - shown} more", "", "")
    return table


def comparison_text(designs: Sequence[Design], skipped: Mapping[str, str]) -> Group:
    """Several methods under one notion, in the order given."""
    table = Table(box=None, pad_edge=False)
    for title, justify in (
        ("method", "left"),
        ("NMI", "right"),
        ("limit", "right"),
        ("log max-lift", "right"),
        ("log min-lift", "right"),
        ("reads", "left"),
        ("seconds", "right"),
        ("status", "left"),
    ):
        table.add_column(title, justify=justify)  # type: ignore[arg-type]
    for design in designs:
        row = design.to_dict()
        table.add_row(
            design.method,
            f"{design.nmi:.4f}",
            "" if design.bound is None else f"{design.bound:.4f}",
            f"{row['log_max_lift']:.4f}",
            number(row["log_min_lift"]),
            "S and X" if design.mechanism.reads_sensitive else "X",
            f"{design.seconds:.2g}",
            design.status,
        )
    parts: list[Any] = [bold(promise_text(designs[0].notion.to_dict())) if designs else "", table]
    parts += [f"{name} left out: {reason}" for name, reason in skipped.items()]
    return Group(*parts)


def frontier_text(frontier: Frontier, keep: float | None = None, smallest: FrontierRow | None = None) -> Group:
    """What every budget keeps under every method, with bars; the knee; the smallest budget where asked for."""
    curves = frontier.curves()
    several = len({lam for _, lam in curves}) > 1
    table = Table(box=None, pad_edge=False, title="How much of X each budget keeps (NMI, 0 to 1)", title_justify="left")
    table.add_column("epsilon (nats)", justify="right")
    width = 48 // len(curves) if len(curves) <= MOST_BARS else 0
    for method, lam in curves:
        table.add_column(f"{method}, lam {lam:g}" if several else method, justify="right")
        table.add_column("")
    for at_budget in zip(*curves.values()):
        cells = [f"{at_budget[0].epsilon:.4g}"]
        for row in at_budget:
            cells += [f"{row.nmi:.3f}", "#" * round(width * row.nmi)]
        table.add_row(*cells)
    parts: list[Any] = [table, "", _row_sentence("Knee", frontier.knee())]
    if smallest is not None and keep is not None:
        parts.append(_row_sentence(f"Smallest budget that keeps {100 * keep:g} %", smallest))
    return Group(*parts)


def _row_sentence(title: str, row: FrontierRow) -> Text:
    limit = "" if row.bound is None else f" (proven limit {row.bound:.4f})"
    reads = ", which reads S" if row.reads_sensitive else ""
    return bold(f"{title}: epsilon {row.epsilon:.4g}") + (
        f" with {row.method}{reads}: NMI {row.nmi:.4f}{limit}, log max-lift {number(row.log_max_lift)}, "
        f"log min-lift {number(row.log_min_lift)} nats."
    )


def quantisation_text(
    paths: Sequence[QuantisationPath], weights: Sequence[float] = (), chosen: Quantisation | None = None
) -> Group:
    """The frontier of every method: what is left of S, and what it costs."""
    parts: list[Any] = []
    for path in paths:
        title = f"{path.method}, {path.objective}, {path.utility}: points that no other of the path beats"
        table = Table(box=None, pad_edge=False, title=title, title_justify="left")
        for name in ("k", "L0 (bits)", "I* (bits)", "values", "largest block", "loss", "distortion", "limit"):
            table.add_column(name, justify="right")
        table.add_column("status")
        for point in path.frontier():
            table.add_row(
                str(point.k),
                f"{point.leakage_bits:.4f}",
                f"{point.maximin_bits:.4f}",
                str(len(point.blocks)),
                str(point.largest_block),
                f"{point.loss:.4f}",
                "" if point.distortion is None else number(point.distortion),
                "" if point.bound is None else number(point.bound),
                point.status,
            )
        parts += [table, *(_stop_sentence(path, weight) for weight in weights), ""]
    if chosen is not None:
        far = "" if chosen.distortion is None else f", distortion {number(chosen.distortion)}"
        parts.append(
            bold(f"Chosen: k {chosen.k}")
            + f" with {len(chosen.blocks)} values, largest block {chosen.largest_block}{far} ({chosen.status})."
        )
    return Group(*parts)


def _stop_sentence(path: QuantisationPath, weight: float) -> str:
    point = path.best(weight)
    return f"At weight {weight:g} it stops at k {point.k}, largest block {point.largest_block}."


def release_text(summary: Mapping[str, Any]) -> Group:
    """What was released, what it promises, and what the promise leaves out."""
    notion = from_dict(dict(summary["notion"]))
    rows, column = summary["rows"], " and ".join(summary["released"])
    lines: list[ConsoleRenderable] = [
        bold(f"Released {rows:,} rows of {column} to {summary['output']} under {notion}"),
        Text(promise_text(summary["notion"])),
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
        table.add_row(row["column"], f"{row['values']:,}", *(spans if "note" not in row else [row["note"], ""]))
    return table


def certificate_text(certificate: Certificate) -> Group:
    """The promise and the figures of a certificate."""
    achieved = certificate["achieved"]
    bound = certificate["bound"]
    evidence = "" if bound is None else f", at most {bound} is possible ({certificate['bound_evidence']})"
    return Group(
        bold(f"Certified: {from_dict(certificate['notion'])} holds on this table"),
        Text(promise_text(certificate["notion"])),
        Text(f"log-lifts between {achieved['log_min_lift']} and {achieved['log_max_lift']} nats"),
        Text(f"NMI {certificate['nmi']}{evidence}"),
    )


def verdict_text(verdict: Verdict) -> Group:
    """Every finding, and what they come to."""
    marks = {True: "ok", False: "FAILED", None: "not checked"}
    lines = [
        Text(f"{marks[f.passed]:<12}{f.subject}: {f.text}", style="" if f.passed else "bold") for f in verdict.findings
    ]
    if verdict:
        return Group(*lines, bold("Verified."))
    return Group(*lines, bold(f"Not verified: {'; '.join(verdict.reasons)}."))


def reproduction_text(result: Mapping[str, Any]) -> Group:
    """How many statements agree, and those that do not."""
    rows = result["verdicts"]
    words = ("agrees", "differs", "argued", "given", "drawn", "not computed")
    table = Table(box=None, pad_edge=False)
    for name in ("paper", "kind", *words):
        table.add_column(name, justify="left" if name in ("paper", "kind") else "right")
    for paper in dict.fromkeys(row["paper"] for row in rows):
        for kind in ("number", "claim", "theorem", "figure"):
            some = [row["verdict"] for row in rows if row["paper"] == paper and row["kind"] == kind]
            if some:
                table.add_row(paper, kind, *(str(some.count(word)) for word in words))
    others = Table(box=None, pad_edge=False)
    for name in ("statement", "said", "got", "verdict"):
        others.add_column(name)
    for row in rows:
        if row["verdict"] in ("differs", "not computed"):
            others.add_row(row["id"], row["said"], row["got"], f"{row['verdict']}: {row['note']}")
    title = bold(f"{len(rows)} statements in {result['seconds']:.0f} s")
    return Group(title, table, Text(""), bold("Where we do not agree"), others)


def factor_text(nats: float) -> str:
    """exp of a budget, also where it exceeds every float."""
    return number(math.exp(nats)) if abs(nats) < 700 else f"exp({nats:g})"


def number(value: float) -> str:
    """Four significant digits, and words for what is not finite."""
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"{value:.4g}"


def _text(stored: Any) -> str:
    return labels.text(labels.decode(stored))


def _listing(stored: Sequence[Any], most: int = 6) -> str:
    shown = ", ".join(_text(item) for item in stored[:most])
    return shown if len(stored) <= most else f"{shown} and {len(stored) - most} more"
