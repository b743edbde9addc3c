"""The report of a release decision as Markdown: the same content as the HTML, for wikis and reviews."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from discreet.reporting import words
from discreet.reporting.formats import brief, more_words, percent, visible, yes
from discreet.reporting.model import Decision, Lifts
from discreet.reporting.shown import (
    MOST_NAMED,
    MOST_SHOWN,
    certificate_rows,
    codes_of,
    extreme_rows,
    fall_text,
    figure_rows,
    is_judged,
    kept_text,
    rise_text,
    sample_words,
    tradeoff_table,
)

__all__ = ["report_markdown"]


def report_markdown(decision: Decision | Mapping[str, Any]) -> str:
    """The report as Markdown with tables (GitHub's dialect); names from the table are escaped.

    Parameters
    ----------
    decision : Decision or dict
        What `discreet.reporting.decision` built, or its ``to_dict()``.
    """
    d = decision if isinstance(decision, Decision) else Decision.from_dict(decision)
    parts = [
        *_opening(d),
        "## What is protected, from whom",
        _m(d.promise),
        "### From whom",
        _m(d.against),
        "### What it costs",
        f"{_m(words.cost_words(d))} {_m(d.limit)}",
        *_beliefs(d),
        *_worst(d),
        *_changes(d),
        *_tradeoff(d),
        *_examples(d),
        "## Limits and assumptions",
        "\n".join(f"- {_m(sentence)}" for sentence in d.limits),
        "## Certificate",
        _certificate(d),
        "---",
        f"Made by discreet {_m(d.version)}. Factors in the promise are rounded to the safe side; other numbers to the "
        "nearest.",
    ]
    return "\n\n".join(parts) + "\n"


def _opening(d: Decision) -> list[str]:
    counted = "" if d.records is None else f" in {d.records:,} records"
    (kept, share), *others = figure_rows(d)
    figures = [
        [kept, f"{share} (NMI {d.design.nmi:.6f})"],
        *map(list, others),
        ["promise", _m(d.notion_text)],
        ["method", _m(f"{d.design.method} ({d.design.status})")],
    ]
    return [
        f"# {_m(words.question(d))}",
        f"**{_m(words.verdict_words(d))}**",
        f"- As it is: {words.raw_words(d.verdict, d.sizes.useful)}\n"
        f"- As released: {words.release_words(d.verdict, d.design)}",
        f"{d.sizes.useful} values of {_m(d.column)}, {d.sizes.sensitive} of {_m(d.secret)}{counted}.",
        _table(["figure", "value"], figures),
        *filter(None, [_m(words.in_values_words(d.design))]),
    ]


def _beliefs(d: Decision) -> list[str]:
    parts = [
        "## How beliefs change",
        f"Each number is a lift: the factor by which seeing the value on the left multiplies the belief in a value of "
        f"{_m(d.secret)}. 1 tells nothing, 0 rules it out, and ! marks what is beyond the promise.",
        "### Before",
        _lifts(d.before, d.column, None),
    ]
    if d.after is not None:
        parts += ["### After", _lifts(d.after, "released value", [entry.code for entry in d.released])]
    return parts


def _lifts(found: Lifts, column: str, codes: Sequence[str] | None) -> str:
    columns = extreme_rows(found.lifts)
    rows = []
    for k, name in enumerate(found.symbols[:MOST_SHOWN]):
        cells = [brief(found.lifts[s][k]) + ("!" if found.outside and found.outside[s][k] else "") for s in columns]
        word = [] if found.allowed is None else [yes(found.allowed[k])]
        rows.append([("" if codes is None else f"**{codes[k]}** ") + _m(name), *cells, *word])
    heads = [_m(column), *(_m(found.sensitive[s]) for s in columns)]
    table = _table([*heads, *([] if found.allowed is None else ["keeps the promise"])], rows)
    return table + _left_out(len(found.symbols) - len(rows), "values")


def _worst(d: Decision) -> list[str]:
    entries = d.worst[:MOST_SHOWN]
    judged = is_judged(entries)
    rows = [
        [
            _m(entry.symbol),
            percent(entry.probability),
            _m(entry.likelier),
            rise_text(entry),
            _m(entry.unlikelier),
            fall_text(entry),
            *([kept_text(entry)] if judged else []),
        ]
        for entry in entries
    ]
    heads = [_m(d.column), "share", "makes likelier", "by", "makes unlikelier", "by"]
    table = _table([*heads, *(["keeps the promise"] if judged else [])], rows)
    said = filter(None, [_m(sample_words(d))])
    return ["## The values that give most away", *said, table + _left_out(len(d.worst) - len(rows), "values")]


def _changes(d: Decision) -> list[str]:
    if d.unlisted is not None:
        return ["## What happens to each value", _m(d.unlisted)]
    codes = codes_of(d)
    values = [
        [
            _m(value.value),
            percent(value.share),
            _shares([(f"**{codes.get(y, '')}** {_m(y)}", p) for y, p in value.released]),
        ]
        for value in d.values[:MOST_SHOWN]
    ]
    book = [
        [entry.code, _m(entry.label), percent(entry.share), _shares([(_m(x), p) for x, p in entry.stands_for])]
        for entry in d.released[:MOST_SHOWN]
    ]
    return [
        "## What happens to each value",
        _table([_m(d.column), "share", "released as"], values) + _left_out(len(d.values) - len(values), "values"),
        "### What a released value stands for",
        _table(["code", "written in the release as", "share", "true value"], book)
        + _left_out(len(d.released) - len(book), "released values"),
    ]


def _tradeoff(d: Decision) -> list[str]:
    swept = d.tradeoff
    note = [_m(swept.note)] if swept.note else []
    if not swept.rows or swept.nmi is None:
        return ["## More privacy or more use", *note]
    heads, rows = tradeoff_table(swept.rows)
    lead = (
        f"A smaller budget is a stronger promise. This release keeps {percent(swept.nmi)} of the information at "
        f"{swept.epsilon:.4g} nats."
    )
    return ["## More privacy or more use", lead, *note, _table([_m(head) for head in heads], rows)]


def _examples(d: Decision) -> list[str]:
    if not d.examples:
        return []
    rows = [[_m(x), _m(y)] for x, y in d.examples]
    return ["## Some records before and after", f"**{words.EXAMPLE_WARNING}**", _table(["before", "after"], rows)]


def _certificate(d: Decision) -> str:
    if d.certificate is None:
        return words.NO_CERTIFICATE
    return _table(["figure", "value"], [[name, _m(value)] for name, value in certificate_rows(d.certificate)])


def _shares(parts: Sequence[tuple[str, float]]) -> str:
    texts = [f"{percent(p)} {name}" for name, p in parts[:MOST_NAMED]]
    if len(parts) > MOST_NAMED:
        texts.append(f"and {len(parts) - MOST_NAMED} more")
    return "; ".join(texts)


def _left_out(left: int, what: str) -> str:
    words = more_words(left, what, "further")
    return f"\n\n{words.strip()}" if words else ""


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
