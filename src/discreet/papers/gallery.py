"""Pages that show each figure of a paper: what it shows, our plot, how its statements came out, and the numbers."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from discreet._support import files
from discreet.papers.base import ENTRIES, SHOWN
from discreet.papers.verdict import Verdict, counted, shown

__all__ = ["write_gallery"]

#: How the page that leads to the others opens.
OPENING = (
    "The figures of the papers, computed anew. Numbers have at most six digits after the point; columns of measured seconds differ "
    "from run to run."
)


def write_gallery(verdicts: Sequence[Verdict], figures: Path, target: Path) -> None:
    """Write a page for each paper and one that leads to them, with plots and tables out of a folder of figures."""
    target.mkdir(parents=True, exist_ok=True)
    papers = list(dict.fromkeys(verdict.claim.paper for verdict in verdicts))
    for paper in papers:
        own = [verdict for verdict in verdicts if verdict.claim.paper == paper]
        lines = [
            f"# Figures of {paper}",
            "",
            f"What each figure of [{paper}](../references.rst) shows, in a sentence of ours with the place where it stands; "
            "below it our own plot, computed anew, and how the statements about it came out. [All statements](../results.md).",
            "",
        ]
        drawn = [name for name in ENTRIES if (figures / f"{name}.svg").is_file()]
        for name in drawn:
            some = [verdict for verdict in own if verdict.claim.figure == name]
            if some:
                lines += _entry(name, some)
                for kind in ("svg", "csv"):
                    files.write_bytes(target / f"{name}.{kind}", (figures / f"{name}.{kind}").read_bytes())
        lines += _without_plot([v for v in own if v.claim.kind == "figure" and v.claim.figure not in drawn])
        files.write_text(target / f"{paper.lower()}.md", "\n".join(lines))
    index = ["# Gallery", "", OPENING, "", "```{toctree}", ":maxdepth: 2", ""]
    files.write_text(target / "index.md", "\n".join([*index, *(paper.lower() for paper in papers), "```", ""]))


def _entry(name: str, verdicts: Sequence[Verdict]) -> list[str]:
    figures = [verdict for verdict in verdicts if verdict.claim.kind == "figure"]
    others = [verdict for verdict in verdicts if verdict not in figures]
    title = f"{_numbered(figures)}{ENTRIES[name].title}"
    lines = [f"## {title}", "", *map(_figure, figures), "", f"![{title}]({name}.svg)", ""]
    lines += [f"{{download}}`The numbers (CSV) <{name}.csv>`. Verdicts: {counted(verdicts)}.", ""]
    lines += [f"- **{v.verdict}**: {v.claim.claim}{_numbers(v)}{f' ({v.note})' if v.note else ''}" for v in others]
    return [*lines, ""]


def _numbered(figures: Sequence[Verdict]) -> str:
    """The numbers of the figures as a heading opens with them."""
    found = (re.search(r"Fig(?:ure|\.) (\d+)", verdict.claim.where) for verdict in figures)
    numbers = list(dict.fromkeys(match[1] for match in found if match))
    return f"Figure{'s' if len(numbers) > 1 else ''} {' and '.join(numbers)}: " if numbers else ""


def _figure(verdict: Verdict) -> str:
    """What a figure shows, its verdict, and what ours is drawn from."""
    words = verdict.note.removesuffix(SHOWN).removesuffix("; ")
    end = f": {words}" if words else ""
    return f"- *{verdict.claim.where}:* {verdict.claim.claim} **{verdict.verdict}**{end}"


def _without_plot(figures: Sequence[Verdict]) -> list[str]:
    """Diagrams, which there is nothing to plot of."""
    return ["## Without a plot", "", *map(_figure, figures), ""] if figures else []


def _numbers(verdict: Verdict) -> str:
    if verdict.claim.kind != "number" or not verdict.got:
        return ""
    return f" Said {shown(verdict.claim.value)}, we get {verdict.got}."
