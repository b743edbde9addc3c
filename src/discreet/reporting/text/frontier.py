"""A sweep of budgets as text."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from discreet.frontiers.sweep import Frontier, FrontierRow
from discreet.reporting.formats import number
from discreet.reporting.text.console import bold

__all__ = ["frontier_text"]

#: Curves of a frontier that get bars; more would not fit a line.
MOST_BARS = 3


def frontier_text(frontier: Frontier, keep: float | None = None, smallest: FrontierRow | None = None) -> Group:
    """What every budget keeps under every method, with bars; the knee; the smallest budget where asked for."""
    curves = frontier.curves()
    several = len({lam for _, lam in curves}) > 1
    name = frontier.rows[0].design.kept_name
    title = f"How much of X each budget{_of_side(frontier.rows[0].side)} keeps ({name}, 0 to 1)"
    table = Table(box=None, pad_edge=False, title=title, title_justify="left")
    table.add_column("epsilon (nats)", justify="right")
    unproven = {curve for curve, rows in curves.items() if any(_is_open(row) for row in rows)}
    width = 48 // len(curves) if len(curves) <= MOST_BARS else 0
    for method, lam in curves:
        table.add_column(f"{method}, lam {lam:g}" if several else method, justify="right")
        table.add_column("")
        if (method, lam) in unproven:
            table.add_column("at most", justify="right")
    for at_budget in zip(*curves.values()):
        cells = [f"{at_budget[0].epsilon:.4g}"]
        for curve, row in zip(curves, at_budget):
            cells += [f"{row.kept:.3f}", "#" * round(width * row.kept)]
            cells += [_limit_text(row)] if curve in unproven else []
        table.add_row(*cells)
    parts: list[Any] = [table, "", _row_sentence("Knee", frontier.knee(), name)]
    if smallest is not None and keep is not None:
        parts.append(_row_sentence(f"Smallest budget that keeps {100 * keep:g} %", smallest, name))
    return Group(*parts)


def _is_open(row: FrontierRow) -> bool:
    """Whether a limit is known that what is kept does not meet."""
    return row.bound is not None and row.status != "optimal"


def _limit_text(row: FrontierRow) -> str:
    """The proven limit where it is above what is kept, rounded up."""
    return f"{math.ceil(1000 * row.bound) / 1000:.3f}" if row.bound is not None and _is_open(row) else ""


def _row_sentence(title: str, row: FrontierRow, name: str) -> Text:
    limit = "" if row.bound is None else f" (proven limit {row.bound:.4f})"
    unchanged = "" if row.unchanged is None else f", {100 * row.unchanged:.1f} % of records unchanged as values"
    reads = ", which reads S" if row.reads_sensitive else ""
    return bold(f"{title}: epsilon {row.epsilon:.4g}") + (
        f"{_of_side(row.side)} with {row.method}{reads}: {name} {row.kept:.4f}{limit}{unchanged}, "
        f"log max-lift {number(row.log_max_lift)}, log min-lift {number(row.log_min_lift)} nats."
    )


def _of_side(side: str | None) -> str:
    """Words that follow a budget where it is that of one side only."""
    return "" if side is None else f" of the {side} side"
