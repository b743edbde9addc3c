"""Several methods under one notion as text."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table

from discreet.designers import Design
from discreet.reporting import words
from discreet.reporting.formats import number
from discreet.reporting.text.console import bold

__all__ = ["comparison_text"]

EXPLAINED = (
    "unchanged: records that keep their value where each released symbol is read as a value drawn from what it stands "
    "for; share error: largest standard error of a value's share counted in such a column, in percentage points."
)


def comparison_text(designs: Sequence[Design], skipped: Mapping[str, str]) -> Group:
    """Several methods under one notion, in the order given."""
    other = next((design.kept_name for design in designs if design.kept_name != "NMI"), None)
    titles = ["NMI"] if other is None else [other, "NMI"]
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    for title, justify in (
        ("method", "left"),
        *[(title, "right") for title in titles],
        ("limit", "right"),
        ("unchanged", "right"),
        ("share error", "right"),
        ("log max-lift", "right"),
        ("log min-lift", "right"),
        ("reads", "left"),
        ("seconds", "right"),
        ("status", "left"),
    ):
        # A name that is cut off cannot be given to --method, and words of a title stay whole.
        narrowest = max(map(len, title.split()))
        table.add_column(title, justify=justify, no_wrap=title == "method", overflow="fold", min_width=narrowest)  # type: ignore[arg-type]
    for design in designs:
        row = design.to_dict()
        table.add_row(
            design.method,
            *([] if other is None else [f"{design.kept:.4f}"]),
            f"{design.nmi:.4f}",
            "" if design.bound is None else f"{design.bound:.4f}",
            "" if design.unchanged is None else f"{100 * design.unchanged:.1f} %",
            "" if design.share_error is None else f"{100 * design.share_error:.2g}",
            f"{row['log_max_lift']:.4f}",
            number(row["log_min_lift"]),
            "S and X" if design.mechanism.reads_sensitive else "X",
            f"{design.seconds:.2g}",
            design.status,
        )
    parts: list[Any] = [bold(words.rule_words(designs[0].notion)) if designs else "", table]
    if any(design.unchanged is not None for design in designs):
        parts.append(EXPLAINED)
    parts += [f"{name} left out: {reason}" for name, reason in skipped.items()]
    return Group(*parts)
