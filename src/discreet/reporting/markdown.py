"""The report of a release decision as Markdown: the same content as the HTML, for wikis and reviews."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from discreet.reporting.html import (
    EXAMPLE_WARNING,
    MOST_NAMED,
    MOST_SHOWN,
    NO_CERTIFICATE,
    bound_words,
    brief,
    certificate_rows,
    cost_words,
    extreme_rows,
    more_words,
    percent,
    question,
    raw_words,
    release_words,
    times,
    tradeoff_table,
    verdict_words,
    visible,
)

__all__ = ["report_markdown"]


def report_markdown(summary: dict[str, Any]) -> str:
    """The report as Markdown with tables (GitHub's dialect); names from the table are escaped.

    Parameters
    ----------
    summary : dict
        What `decision_summary` found.
    """
    parts = [
        *_opening(summary),
        "## What is protected, from whom",
        _m(summary["promise"]),
        "### From whom",
        _m(summary["against"]),
        "### What it costs",
        f"{_m(cost_words(summary))} {_m(summary['limit'])}",
        *_beliefs(summary),
        *_worst(summary),
        *_changes(summary),
        *_tradeoff(summary),
        *_examples(summary),
        "## Limits and assumptions",
        "\n".join(f"- {_m(sentence)}" for sentence in summary["limits"]),
        "## Certificate",
        _certificate(summary),
        "---",
        f"Made by discreet {_m(summary['version'])}. Factors in the promise are rounded to the safe side; other "
        "numbers to the nearest.",
    ]
    return "\n\n".join(parts) + "\n"


def _opening(summary: dict[str, Any]) -> list[str]:
    verdict, made, sizes = summary["verdict"], summary["design"], summary["sizes"]
    counted = "" if summary["records"] is None else f" in {summary['records']:,} records"
    figures = [
        ["of its information kept", f"{percent(made['nmi'])} (NMI {made['nmi']:.6f})"],
        [bound_words(made), "none" if made["bound"] is None else percent(made["bound"])],
        ["largest rise of a belief", times(math.exp(made["log_max_lift"]))],
        ["largest fall of a belief", times(math.exp(made["log_min_lift"]))],
        ["promise", _m(summary["notion_text"])],
        ["method", _m(f"{made['method']} ({made['status']})")],
    ]
    return [
        f"# {_m(question(summary))}",
        f"**{_m(verdict_words(summary))}**",
        f"- As it is: {raw_words(verdict, sizes['useful'])}\n- As released: {release_words(verdict, made)}",
        f"{sizes['useful']} values of {_m(summary['column'])}, {sizes['sensitive']} of {_m(summary['secret'])}"
        f"{counted}.",
        _table(["figure", "value"], figures),
    ]


def _beliefs(summary: dict[str, Any]) -> list[str]:
    parts = [
        "## How beliefs change",
        f"Each number is a lift: the factor by which seeing the value on the left multiplies the belief in a value of "
        f"{_m(summary['secret'])}. 1 tells nothing, 0 rules it out, and ! marks what is beyond the promise.",
        "### Before",
        _lifts(summary["before"], summary["column"], None),
    ]
    if summary["after"] is not None:
        codes = [entry["code"] for entry in summary["released"]]
        parts += ["### After", _lifts(summary["after"], "released value", codes)]
    return parts


def _lifts(found: dict[str, Any], column: str, codes: Sequence[str] | None) -> str:
    columns = extreme_rows(found["lifts"])
    judged = found["allowed"] is not None
    rows = []
    for k, name in enumerate(found["symbols"][:MOST_SHOWN]):
        cells = [brief(found["lifts"][s][k]) + ("!" if judged and found["outside"][s][k] else "") for s in columns]
        word = [_yes(found["allowed"][k])] if judged else []
        rows.append([("" if codes is None else f"**{codes[k]}** ") + _m(name), *cells, *word])
    heads = [_m(column), *(_m(found["sensitive"][s]) for s in columns), *(["keeps the promise"] if judged else [])]
    return _table(heads, rows) + _left_out(len(found["symbols"]) - len(rows), "values")


def _worst(summary: dict[str, Any]) -> list[str]:
    entries = summary["worst"][:MOST_SHOWN]
    judged = bool(entries) and "allowed" in entries[0]
    rows = [
        [
            _m(entry["symbol"]),
            percent(entry["probability"]),
            _m(entry["likelier"]),
            times(entry["max_lift"]),
            _m(entry["unlikelier"]),
            "rules it out" if entry["min_lift"] == 0 else times(entry["min_lift"]),
            *([_yes(entry["allowed"])] if judged else []),
        ]
        for entry in entries
    ]
    heads = [_m(summary["column"]), "share", "makes likelier", "by", "makes unlikelier", "by"]
    table = _table([*heads, *(["keeps the promise"] if judged else [])], rows)
    return ["## The values that give most away", table + _left_out(len(summary["worst"]) - len(rows), "values")]


def _changes(summary: dict[str, Any]) -> list[str]:
    if summary["unlisted"] is not None:
        return ["## What happens to each value", _m(summary["unlisted"])]
    code = {entry["label"]: entry["code"] for entry in summary["released"]}
    values = [
        [
            _m(value["value"]),
            percent(value["share"]),
            _shares([(f"**{code.get(y, '')}** {_m(y)}", p) for y, p in value["released"]]),
        ]
        for value in summary["values"][:MOST_SHOWN]
    ]
    book = [
        [
            entry["code"],
            _m(entry["label"]),
            percent(entry["share"]),
            _shares([(_m(x), p) for x, p in entry["stands_for"]]),
        ]
        for entry in summary["released"][:MOST_SHOWN]
    ]
    return [
        "## What happens to each value",
        _table([_m(summary["column"]), "share", "released as"], values)
        + _left_out(len(summary["values"]) - len(values), "values"),
        "### What a released value stands for",
        _table(["code", "written in the release as", "share", "true value"], book)
        + _left_out(len(summary["released"]) - len(book), "released values"),
    ]


def _tradeoff(summary: dict[str, Any]) -> list[str]:
    swept = summary["tradeoff"]
    note = [_m(swept["note"])] if swept["note"] else []
    if not swept["rows"]:
        return ["## More privacy or more use", *note]
    heads, rows = tradeoff_table(swept["rows"])
    lead = (
        f"A smaller budget is a stronger promise. This release keeps {percent(swept['nmi'])} of the information at "
        f"{swept['epsilon']:.4g} nats."
    )
    return ["## More privacy or more use", lead, *note, _table([_m(head) for head in heads], rows)]


def _examples(summary: dict[str, Any]) -> list[str]:
    if not summary["examples"]:
        return []
    rows = [[_m(x), _m(y)] for x, y in summary["examples"]]
    return ["## Some records before and after", f"**{EXAMPLE_WARNING}**", _table(["before", "after"], rows)]


def _certificate(summary: dict[str, Any]) -> str:
    if summary["certificate"] is None:
        return NO_CERTIFICATE
    return _table(["figure", "value"], [[name, _m(value)] for name, value in certificate_rows(summary["certificate"])])


def _shares(parts: Sequence[tuple[str, float]]) -> str:
    texts = [f"{percent(p)} {name}" for name, p in parts[:MOST_NAMED]]
    if len(parts) > MOST_NAMED:
        texts.append(f"and {len(parts) - MOST_NAMED} more")
    return "; ".join(texts)


def _left_out(left: int, what: str) -> str:
    words = more_words(left, what, "further")
    return f"\n\n{words.strip()}" if words else ""


def _yes(kept: bool) -> str:
    return "✓ yes" if kept else "✗ no"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _m(text: str) -> str:
    """Text in which nothing is markup, a link or the end of a cell.

    >>> print(_m("<b> a|b *c* www.x.org"))
    &lt;b&gt; a\\|b \\*c\\* www\\.x.org
    """
    entities = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~!@$]|(?<=www)\.|:(?=//))", r"\\\1", entities, flags=re.IGNORECASE)
