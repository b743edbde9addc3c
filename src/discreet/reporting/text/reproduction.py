"""How the papers' statements came out, as text."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from discreet.reporting.text.console import bold

__all__ = ["entries_text", "reproduction_text"]


def entries_text(titles: Mapping[str, str]) -> Table:
    """Names of entries, and what each is about."""
    table = Table(box=None, pad_edge=False)
    table.add_column("name", no_wrap=True)
    table.add_column("what is computed")
    for name, title in titles.items():
        table.add_row(name, title)
    return table


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
    if not others.row_count:
        return Group(title, table)
    return Group(title, table, Text(""), bold("Where we do not agree"), others)
