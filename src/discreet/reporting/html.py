"""The report of a release decision as one HTML file that asks the network for nothing, and for notebooks."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import hashlib
import html
import math
import os
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from discreet._support import files
from discreet.core.joint import Joint
from discreet.notions import Notion
from discreet.reporting.decision import decision_summary
from discreet.reporting.page import SCRIPT, STYLE
from discreet.reporting.text.pages import number

__all__ = ["Report", "percent", "report_html", "visible"]

#: Symbols, and sensitive values, that a table or a picture shows.
MOST_SHOWN = 40

#: Released symbols named in a line of what a value becomes, or of what a symbol stands for.
MOST_NAMED = 8

#: Characters of a name that a page shows; the rest is in its tooltip.
LONGEST_NAME = 160

#: Changes of belief, as absolute logarithms, at which a heat map turns to its next shade.
SHADES = (0.05, 0.25, 0.5, 1.0, 2.0)

#: Parts of a bar narrower than this percentage carry no text.
NARROWEST_TEXT = 9

#: A release that keeps no larger share than this tells nothing.
NOTHING = 1e-9

#: Invisible characters that belong to words and emoji.
JOINERS = "\u200c\u200d"


class Report:
    """A release decision to look at: in a notebook, or as a file.

    Parameters
    ----------
    summary : dict
        What `discreet.reporting.decision.decision_summary` found; `Report.of` calls it.

    Examples
    --------
    >>> from discreet import LIP
    >>> joint = Joint.from_counts([[30, 15, 5], [10, 15, 25]], useful=["a", "b", "c"])
    >>> Report.of(joint, LIP(0.5), method="watchdog")
    Report(LIP(0.5): broken as it is, kept by watchdog with NMI 0.5610)
    """

    def __init__(self, summary: dict[str, Any]) -> None:
        self._summary = summary

    @classmethod
    def of(cls, joint: Joint, notion: Notion, **options: Any) -> Report:
        """The report on a joint and a promise; options as in `decision_summary`."""
        return cls(decision_summary(joint, notion, **options))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return dict(self._summary)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write one HTML file; it tells of the table, so its owner alone may read it."""
        files.write_text(path, report_html(self._summary), private=True)

    def __repr__(self) -> str:
        raw = "kept" if self._summary["verdict"]["holds"] else "broken"
        made = self._summary["design"]
        return (
            f"Report({self._summary['notion_text']}: {raw} as it is, kept by {made['method']} "
            f"with NMI {made['nmi']:.4f})"
        )

    def _repr_html_(self) -> str:
        return f'<style>{STYLE}</style><div class="dr"><div class="in">{_content(self._summary)}</div></div>'


def report_html(summary: dict[str, Any]) -> str:
    """One HTML file for a release decision: no request leaves it, and it reads without its script as well.

    Parameters
    ----------
    summary : dict
        What `decision_summary` found.
    """
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="robots" content="noindex">\n'
        f'<link rel="icon" href="data:,">\n<title>{_e(question(summary))}</title>\n'
        f'<style>html,body{{margin:0;padding:0}}{STYLE}</style>\n</head>\n<body class="dr">\n'
        f'<div class="in"><main>\n{_content(summary)}\n</main>\n{_small_print(summary)}</div>\n'
        f"<script>{SCRIPT}</script>\n"
        "</body>\n</html>\n"
    )


def _content(summary: dict[str, Any]) -> str:
    parts = (
        _opening(summary),
        _protection(summary),
        _beliefs(summary),
        _worst(summary),
        _changes(summary),
        _tradeoff(summary),
        _examples(summary),
        _limits(summary),
        _certificate(summary),
    )
    return "\n".join(part for part in parts if part)


def question(summary: dict[str, Any]) -> str:
    """What is decided."""
    return f"May {summary['column']} be published without giving {summary['secret']} away?"


def verdict_words(summary: dict[str, Any]) -> str:
    """The answer in one line."""
    if summary["verdict"]["holds"]:
        return f"Yes, as it is: it keeps {summary['notion_text']}."
    return "Not as it is, but through this release." if summary["design"]["nmi"] > NOTHING else "Not as it is."


def _opening(summary: dict[str, Any]) -> str:
    verdict, made = summary["verdict"], summary["design"]
    counted = "" if summary["records"] is None else f" in {summary['records']:,} records"
    sizes = summary["sizes"]
    figures = (
        ("of its information kept", percent(made["nmi"])),
        (bound_words(made), "none" if made["bound"] is None else percent(made["bound"])),
        ("largest rise of a belief", times(math.exp(made["log_max_lift"]))),
        ("largest fall of a belief", times(math.exp(made["log_min_lift"]))),
    )
    words = (("As it is", raw_words(verdict, sizes["useful"])), ("As released", release_words(verdict, made)))
    rows = "".join(
        f'<p class="row"><span class="mark">{name}</span> <span>{_e(text)}</span></p>' for name, text in words
    )
    cells = "".join(f"<div><dt>{title}</dt><dd>{value}</dd></div>" for title, value in figures)
    return (
        f'<p class="over">Release decision</p><h1>{_e(question(summary))}</h1>'
        f'<div class="verdict"><p class="main">{_e(verdict_words(summary))}</p>{rows}</div>'
        f'<dl class="figures">{cells}</dl>'
        f'<p class="soft">{sizes["useful"]} values of {_label(summary["column"])}, {sizes["sensitive"]} of '
        f"{_label(summary['secret'])}{counted}. Promise: {_e(summary['notion_text'])}. Method: {_e(made['method'])} "
        f"({_e(made['status'])}). Information is I(X;Y)/H(X): {made['nmi']:.6f}.</p>"
    )


def bound_words(made: dict[str, Any]) -> str:
    """What the bound of a design is."""
    if made["bound"] is None:
        return "no limit proven"
    return "claimed limit of any release" if made["evidence"].startswith("claimed") else "proven limit of any release"


def raw_words(verdict: dict[str, Any], n_symbols: int) -> str:
    """The verdict on the table as it is."""
    if verdict["holds"]:
        return "✓ The promise holds."
    if verdict["violating_symbols"] is None:
        return "✗ The promise is broken."
    return (
        f"✗ The promise is broken by {verdict['violating_symbols']} of {n_symbols} values, in "
        f"{percent(verdict['violating_probability'])} of the records."
    )


def release_words(verdict: dict[str, Any], made: dict[str, Any]) -> str:
    """The verdict on the release."""
    if not verdict["release_holds"]:
        return "✗ The promise is broken."
    kept = "✓ The promise holds, decided in exact integers on this table."
    return kept if made["nmi"] > NOTHING else f"{kept} But nothing is left: this release tells nothing at all."


def _protection(summary: dict[str, Any]) -> str:
    return _section(
        "protection",
        "What is protected, from whom",
        f'<p class="say">{_e(summary["promise"])}</p><h3>From whom</h3><p>{_e(summary["against"])}</p>'
        f"<h3>What it costs</h3><p>{_e(cost_words(summary))} {_e(summary['limit'])}</p>",
    )


def cost_words(summary: dict[str, Any]) -> str:
    """What the release keeps."""
    return f"The release keeps {percent(summary['design']['nmi'])} of the information in {summary['column']}."


def _beliefs(summary: dict[str, Any]) -> str:
    before, after = summary["before"], summary["after"]
    codes = [entry["code"] for entry in summary["released"]]
    maps = _heat(before, "before", f"Before: someone sees {summary['column']} as it is", summary, None)
    buttons = ""
    if after is not None:
        maps += _heat(after, "after", "After: someone sees the release", summary, codes)
        buttons = (
            '<div class="toggle" role="group" aria-label="Which table is shown" hidden>'
            '<button type="button" value="before" aria-pressed="true">Before</button>'
            '<button type="button" value="after" aria-pressed="false">After</button></div>'
        )
    lead = (
        f"Each number is a lift: the factor by which seeing the value on the left multiplies the belief in a "
        f"value of {summary['secret']}. 1 tells nothing, 2 makes it twice as likely, 0 rules it out."
    )
    return _section("beliefs", "How beliefs change", f"<p>{_e(lead)}</p>{_shade_key()}{buttons}{maps}")


def _shade_key() -> str:
    entries = (
        ("u4", "above 1: likelier than before"),
        ("d4", "below 1: less likely than before"),
        ("ring", "framed, with !: beyond the promise"),
    )
    items = "".join(f'<li><span class="chip {kind}" aria-hidden="true"></span>{text}</li>' for kind, text in entries)
    return f'<ul class="key">{items}</ul>'


def _heat(found: dict[str, Any], kind: str, title: str, summary: dict[str, Any], codes: Sequence[str] | None) -> str:
    columns = extreme_rows(found["lifts"])
    heads = "".join(f'<th scope="col" class="up"><span>{_label(found["sensitive"][s])}</span></th>' for s in columns)
    shown = range(min(len(found["symbols"]), MOST_SHOWN))
    allowed = found["allowed"]
    kept = "" if allowed is None else '<th scope="col" class="up kept"><span>keeps the promise</span></th>'
    rows = []
    for k in shown:
        name = _label(found["symbols"][k])
        code = "" if codes is None else f"<b>{codes[k]}</b> "
        cells = "".join(
            _cell(found["lifts"][s][k], found["outside"] is not None and found["outside"][s][k]) for s in columns
        )
        word = "" if allowed is None else f'<td class="kept">{"✓ yes" if allowed[k] else "✗ no"}</td>'
        rows.append(f'<tr><th scope="row">{code}{name}</th>{cells}{word}</tr>')
    note = more_words(len(found["symbols"]) - len(shown), "values", "rarer" if codes else "milder")
    note += more_words(len(found["lifts"]) - len(columns), f"values of {summary['secret']}", "milder")
    seen = "released value" if codes else _label(summary["column"])
    table = (
        f'<table class="heat"><caption><span>{_e(title)}. Columns: {_label(summary["secret"])}.{note}</span></caption>'
        f'<thead><tr><th scope="col" class="name">{seen}</th>{heads}{kept}</tr>'
        f"</thead><tbody>{''.join(rows)}</tbody></table>"
    )
    return f'<div data-map="{kind}">{_scroll(table, title)}</div>'


def _cell(lift: float, outside: bool) -> str:
    change = math.log(lift) if lift > 0 else -math.inf
    shade = sum(abs(change) > step for step in SHADES)
    colour = "" if shade == 0 else f"{'u' if change > 0 else 'd'}{shade}"
    mark = '!<span class="say-only"> beyond the promise</span>' if outside else ""
    return f"<td{_class(f'{colour} out' if outside else colour)}>{brief(lift)}{mark}</td>"


def extreme_rows(lifts: list[list[float]]) -> list[int]:
    """The rows to show: all, or those that change most, in their own order."""
    if len(lifts) <= MOST_SHOWN:
        return list(range(len(lifts)))

    def strength(row: list[float]) -> float:
        return max(*row, 1 / min(row) if min(row) > 0 else math.inf)

    return sorted(sorted(range(len(lifts)), key=lambda s: -strength(lifts[s]))[:MOST_SHOWN])


def _worst(summary: dict[str, Any]) -> str:
    entries = summary["worst"][:MOST_SHOWN]
    judged = bool(entries) and "allowed" in entries[0]
    rows = []
    for entry in entries:
        down = "rules it out" if entry["min_lift"] == 0 else times(entry["min_lift"])
        word = [("✓ yes" if entry["allowed"] else "✗ no", "")] if judged else []
        rows.append(
            _row(
                _label(entry["symbol"]),
                (percent(entry["probability"]), "n"),
                (_label(entry["likelier"]), ""),
                (times(entry["max_lift"]), "n"),
                (_label(entry["unlikelier"]), ""),
                (down, "n"),
                *word,
            )
        )
    heads = [(_label(summary["column"]), "name"), ("share", "n"), ("makes likelier", ""), ("by", "n")]
    heads += [("makes unlikelier", ""), ("by", "n"), *([("keeps the promise", "")] if judged else [])]
    note = more_words(len(summary["worst"]) - len(entries), "values", "milder")
    table = _table(f"Values of {summary['column']} that change beliefs most, worst first.{note}", heads, rows)
    return _section("worst", "The values that give most away", table)


def _changes(summary: dict[str, Any]) -> str:
    if summary["unlisted"] is not None:
        return _section("values", "What happens to each value", f"<p>{_e(summary['unlisted'])}</p>")
    code = {entry["label"]: entry["code"] for entry in summary["released"]}
    shown = summary["values"][:MOST_SHOWN]
    bars = "".join(_bar(value, code) for value in shown)
    note = more_words(len(summary["values"]) - len(shown), "values", "rarer")
    rows = [
        _row(
            _label(value["value"]),
            (percent(value["share"]), "n"),
            (_shares([(code.get(y, ""), y, p) for y, p in value["released"]]), "wide"),
        )
        for value in shown
    ]
    plain = _table(
        f"How each value of {summary['column']} is released.{note}",
        [(_label(summary["column"]), "name"), ("share", "n"), ("released as", "")],
        rows,
    )
    lead = (
        f"Each bar is one value of {summary['column']}, cut into the released values that it may become. "
        "The codes are explained below."
    )
    return _section(
        "values",
        "What happens to each value",
        f'<p>{_e(lead)}{_e(note)}</p><ul class="bars">{bars}</ul>'
        f"<details><summary>The same as a table</summary>{plain}</details>{_codebook(summary)}",
    )


def _bar(value: dict[str, Any], code: dict[str, str]) -> str:
    pieces, spoken = [], []
    for label, chance in value["released"]:
        name, share = code.get(label, ""), 100 * chance
        shade = int(name[1:] or 0) % 4 + 1
        text = f"{name}<i> {share:.0f} %</i>" if share >= NARROWEST_TEXT else ""
        thin = " thin" if share < 2 * NARROWEST_TEXT else ""
        title = _e(f"{name}: {label}, {percent(chance)}")
        pieces.append(f'<span class="u{shade}{thin}" style="width:{share:.4f}%" title="{title}">{text}</span>')
        spoken.append(f"{name} {percent(chance)}")
    told = _e(f"{value['value']} becomes {', '.join(spoken[:MOST_NAMED])}")
    return (
        f'<li><span class="who">{_label(value["value"])}<small>{percent(value["share"])} of the records</small></span>'
        f'<span class="bar" role="img" aria-label="{told}">{"".join(pieces)}</span></li>'
    )


def _codebook(summary: dict[str, Any]) -> str:
    shown = summary["released"][:MOST_SHOWN]
    rows = [
        _row(
            entry["code"],
            (_label(entry["label"]), "wide"),
            (percent(entry["share"]), "n"),
            (_shares([("", x, p) for x, p in entry["stands_for"]]), "wide"),
            kind="tiny",
        )
        for entry in shown
    ]
    note = more_words(len(summary["released"]) - len(shown), "released values", "rarer")
    return "<h3>What a released value stands for</h3>" + _table(
        f"Released values, commonest first, and the true values behind them.{note}",
        [("code", ""), ("written in the release as", ""), ("share", "n"), ("true value", "")],
        rows,
    )


def _shares(parts: Sequence[tuple[str, str, float]]) -> str:
    texts = [f"{percent(p)} {f'<b>{code}</b> ' if code else ''}{_label(name)}" for code, name, p in parts[:MOST_NAMED]]
    if len(parts) > MOST_NAMED:
        texts.append(f"and {len(parts) - MOST_NAMED} more")
    return "<br>".join(texts)


def _tradeoff(summary: dict[str, Any]) -> str:
    swept = summary["tradeoff"]
    note = f"<p>{_e(swept['note'])}</p>" if swept["note"] else ""
    if not swept["rows"]:
        return _section("tradeoff", "More privacy or more use", note)
    curves = _curves(swept["rows"])
    lead = (
        f"A smaller budget is a stronger promise. The curve shows how much of {summary['column']} each budget keeps; "
        f"the ring marks this release, at {swept['epsilon']:.4g} nats."
    )
    key = "".join(
        f'<li><svg viewBox="0 0 42 16" aria-hidden="true"><line class="curve c{k}" x1="0" y1="8" x2="42" y2="8"/>'
        f"{_dot(k, 21, 8)}</svg>{_e(name)}{' (this release)' if name == summary['design']['method'] else ''}</li>"
        for k, name in enumerate(curves)
    )
    heads, body = tradeoff_table(swept["rows"])
    rows = [_row(cells[0], *((cell, "n") for cell in cells[1:]), kind="n") for cells in body]
    table = _table("Share of the information kept, by budget and method.", [(_e(head), "n") for head in heads], rows)
    figure = f'<figure>{_chart(curves, swept)}<ul class="key">{key}</ul></figure>'
    return _section("tradeoff", "More privacy or more use", f"<p>{_e(lead)}</p>{note}{figure}{table}")


def tradeoff_table(rows: Iterable[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Heads and rows: the budget, what every method keeps, and the limit where one is proven."""
    curves = _curves(rows)
    limits = [next((row["bound"] for row in at if row["bound"] is not None), None) for at in zip(*curves.values())]
    proven = any(limit is not None for limit in limits)
    body = [
        [f"{at[0]['epsilon']:.4g}", *(percent(row["nmi"]) for row in at)]
        + ([percent(limit) if limit is not None else "none"] if proven else [])
        for at, limit in zip(zip(*curves.values()), limits)
    ]
    return ["budget (nats)", *curves, *(["limit of any release"] if proven else [])], body


def _curves(rows: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    curves: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: float(row["epsilon"])):
        curves.setdefault(row["method"], []).append(row)
    # In the order of the rows, which begins with the chosen method.
    return {row["method"]: curves[row["method"]] for row in rows}


def _chart(curves: dict[str, list[dict[str, Any]]], swept: dict[str, Any]) -> str:
    left, right, top, bottom = 74, 620, 18, 300
    most = max(*(row["epsilon"] for rows in curves.values() for row in rows), swept["epsilon"]) or 1.0

    def x(epsilon: float) -> float:
        return left + (right - left) * epsilon / most

    def y(nmi: float) -> float:
        return bottom - (bottom - top) * nmi

    parts = [
        f'<line class="grid" x1="{left}" x2="{right}" y1="{y(k / 4):.1f}" y2="{y(k / 4):.1f}"/>'
        f'<text x="{left - 8}" y="{y(k / 4) + 5:.1f}" text-anchor="end">{25 * k} %</text>'
        for k in range(5)
    ]
    parts += [
        f'<text x="{x(most * k / 4):.1f}" y="{bottom + 22}" text-anchor="middle">{most * k / 4:.3g}</text>'
        for k in range(5)
    ]
    parts.append(f'<text x="{right}" y="{bottom + 44}" text-anchor="end">budget, nats (smaller promises more)</text>')
    for k, rows in reversed(list(enumerate(curves.values()))):
        line = " ".join(f"{x(row['epsilon']):.1f},{y(row['nmi']):.1f}" for row in rows)
        parts.append(f'<polyline class="curve c{k}" points="{line}"/>')
        for row in rows:
            title = _e(f"{row['method']}, budget {row['epsilon']:.4g} nats: keeps {percent(row['nmi'])}")
            parts.append(f"<g><title>{title}</title>{_dot(k, x(row['epsilon']), y(row['nmi']))}</g>")
    here, kept = x(swept["epsilon"]), y(swept["nmi"])
    parts.append(f'<line class="here" x1="{here:.1f}" x2="{here:.1f}" y1="{top}" y2="{bottom}"/>')
    parts.append(f'<circle class="ring" cx="{here:.1f}" cy="{kept:.1f}" r="9"/>')
    # Curves rise to the right, so the space above and left of a point is free, unless the axis is there.
    beside = f'x="{here - 12:.1f}" text-anchor="end"' if here > left + 90 else f'x="{here + 12:.1f}"'
    parts.append(f'<text class="name" {beside} y="{kept - 12:.1f}">{percent(swept["nmi"])}</text>')
    told = _e(
        f"Curves of the share kept against the budget; this release keeps {percent(swept['nmi'])} at "
        f"{swept['epsilon']:.4g} nats. The table below has all numbers."
    )
    return f'<svg viewBox="0 0 640 352" role="img" aria-label="{told}">{"".join(parts)}</svg>'


def _dot(kind: int, x: float, y: float) -> str:
    """A mark of its own shape for every curve."""
    if kind == 0:
        return f'<circle class="dot p0" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    if kind == 1:
        return f'<rect class="dot" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8"/>'
    return f'<path class="dot" d="M{x:.1f} {y - 5:.1f}l5 9h-10z"/>'


def _examples(summary: dict[str, Any]) -> str:
    if not summary["examples"]:
        return ""
    pairs = enumerate(summary["examples"], 1)
    rows = [_row(str(k), (_label(x), ""), (_label(y), "wide"), kind="tiny") for k, (x, y) in pairs]
    table = _table(
        "Records drawn at random from the table, each with a draw of the mechanism: a simulation, not the release.",
        [("no.", ""), (f"{_label(summary['column'])} before", "name"), ("after", "")],
        rows,
    )
    return _section("examples", "Some records before and after", f'<p class="warn">{EXAMPLE_WARNING}</p>{table}')


EXAMPLE_WARNING = (
    "Warning: these are real values of the table. Do not pass this report on to people who may not see them."
)


def _limits(summary: dict[str, Any]) -> str:
    items = "".join(f"<li>{_e(sentence)}</li>" for sentence in summary["limits"])
    return _section("limits", "Limits and assumptions", f"<ul>{items}</ul>")


def certificate_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """What a certificate states, as pairs of words."""
    achieved, rows = found["achieved"], found["rows"]
    lifts = "not measured" if achieved is None else f"{achieved['log_min_lift']} to {achieved['log_max_lift']} nats"
    limit = "none" if found["bound"] is None else f"{found['bound']} ({found['bound_evidence']})"
    return [
        ("digest of the certificate", str(found["digest"])),
        ("the digest fits the content", "✓ yes" if found["intact"] else "✗ no: the certificate was changed"),
        ("it is about the mechanism shown", "✓ yes" if found["same_mechanism"] else "✗ no: it is about another one"),
        ("digest of the mechanism", str(found["mechanism_digest"])),
        ("log-lifts", lifts),
        ("NMI", str(found["nmi"])),
        ("limit of the NMI", limit),
        ("records", "not counted" if rows is None else f"{rows['input']:,} in, {rows['output']:,} out"),
    ]


def _certificate(summary: dict[str, Any]) -> str:
    found = summary["certificate"]
    if found is None:
        return _section("certificate", "Certificate", f"<p>{NO_CERTIFICATE}</p>")
    rows = [
        _row(name, (f"<code>{_e(value)}</code>" if "digest of" in name else _e(value), "wide"))
        for name, value in certificate_rows(found)
    ]
    table = _table("What the certificate states.", [("figure", ""), ("value", "")], rows)
    return _section("certificate", "Certificate", table)


NO_CERTIFICATE = "No certificate was given. A release writes one; discreet certify makes one for a stored mechanism."


def _small_print(summary: dict[str, Any]) -> str:
    return (
        f"<footer><p>Made by discreet {_e(summary['version'])}. Factors in the promise are rounded to the safe side; "
        "other numbers to the nearest. This file loads nothing from the network.</p></footer>"
    )


def _section(name: str, title: str, content: str) -> str:
    """A part of the page; named by a class, since a notebook may show several reports."""
    return f'<section class="{name}" aria-label="{title}"><h2>{title}</h2>{content}</section>'


def _table(caption: str, heads: Sequence[tuple[str, str]], rows: Iterable[str]) -> str:
    """A table from escaped heads and rows; the caption is plain text."""
    cells = "".join(f'<th scope="col"{_class(kind)}>{text}</th>' for text, kind in heads)
    body = "".join(rows)
    table = f"<table><caption><span>{_e(caption)}</span></caption><thead><tr>{cells}</tr></thead>"
    return _scroll(f"{table}<tbody>{body}</tbody></table>", caption)


def _row(head: str, *cells: tuple[str, str], kind: str = "") -> str:
    return (
        f'<tr><th scope="row"{_class(kind)}>{head}</th>'
        + "".join(f"<td{_class(kind)}>{text}</td>" for text, kind in cells)
        + "</tr>"
    )


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _scroll(table: str, title: str) -> str:
    """A table that is wider than a phone scrolls by itself, with the keyboard too."""
    return f'<div class="scroll" role="group" tabindex="0" aria-label="{_e(title)}">{table}</div>'


def more_words(number_left: int, what: str, which: str) -> str:
    """What a table leaves out; nothing where it is whole."""
    return f" {number_left:,} more {what}, {which} ones, are left out." if number_left > 0 else ""


def percent(share: float) -> str:
    r"""A share in per cent, with enough digits to tell small ones from none.

    >>> percent(0.63689), percent(0.00021), percent(0.0000003), percent(1)
    ('63.7\xa0%', '0.021\xa0%', '< 0.001\xa0%', '100\xa0%')
    """
    value = 100 * share
    if value == 0 or value >= 99.95:
        return f"{value:.0f}\u00a0%"
    if value < 0.001:
        return "< 0.001\u00a0%"
    return f"{value:.1f}\u00a0%" if value >= 1 else f"{value:.2g}\u00a0%"


def times(factor: float) -> str:
    """A factor with its sign."""
    return f"\u00d7 {number(factor)}"


def brief(lift: float) -> str:
    """A lift in a narrow cell.

    >>> brief(1.64872), brief(0.0312), brief(0), brief(48.3), brief(0.0001)
    ('1.65', '0.03', '0', '48', '<0.01')
    """
    if lift == 0:
        return "0"
    if lift < 0.01:
        return "<0.01"
    return f"{lift:.2f}" if lift < 10 else f"{lift:,.0f}"


def visible(text: str) -> str:
    """Text in which characters that hide, break lines or turn the direction are spelt out.

    >>> print(visible("a\\nb\\u202ec"))
    a\\nb\\u202ec
    """
    return "".join(
        c.encode("unicode_escape", "surrogatepass").decode()
        if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in JOINERS
        else c
        for c in text
    )


def _e(text: str) -> str:
    return html.escape(visible(text))


def _label(text: str) -> str:
    """A name from the table, kept apart from the direction of the text around it."""
    if len(text) <= LONGEST_NAME:
        return f"<bdi>{_e(text)}</bdi>"
    return f'<bdi title="{_e(text)}">{_e(text[: LONGEST_NAME - 1])}…</bdi>'
