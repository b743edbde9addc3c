"""A design as text: what it keeps, what it leaks, and how each value is released."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from rich.console import ConsoleRenderable, Group
from rich.table import Table
from rich.text import Text

from discreet._support.visible import visible
from discreet.core import labels
from discreet.designers import Design
from discreet.notions import LIFTS
from discreet.notions.confident import Sample
from discreet.reporting import words
from discreet.reporting.formats import number
from discreet.reporting.text.console import bold, label_text

__all__ = ["design_text"]

#: Released symbols of a codebook; that of a release has all of them.
SHOWN_SYMBOLS = 30

#: Nats to the budget that are no room.
NO_ROOM = 1e-6

#: Nats that are a rounding error of zero: lifts are quotients of sums of floats.
NO_NATS = 1e-12

#: Shares of a symbol that would be printed as nothing.
NO_SHARE = 0.0005


def design_text(design: Design) -> ConsoleRenderable:
    """A design: what it keeps, what it leaks, and how each value is released."""
    figures = design.to_dict()
    table = Table(box=None, pad_edge=False)
    table.add_column("figure")
    table.add_column("value", justify="right")
    table.add_column("unit")
    name = design.kept_name
    if design.measured is not None and name != "NMI":
        table.add_row(design.measured.title, number(design.measured.value), design.measured.unit)
        table.add_row(f"kept of X, {name}", number(design.kept), "0 to 1: nothing, and all that X itself keeps")
    table.add_row("kept of X, I(X;Y)/H(X)", number(figures["nmi"]), "NMI, 0 to 1")
    if figures["nmi_in_values"] is not None:
        table.add_row("the same in values", number(figures["nmi_in_values"]), "NMI of a release, unless --as-labels")
    table.add_row("mutual information I(X;Y)", number(figures["mutual_information"]), "nats")
    for title, value, unit in _in_values(design):
        table.add_row(title, value, unit)
    for average in figures.get("on_averages", ()):
        value, allowed = words.allowed_words(average)
        table.add_row(f"promised: {average['measure']}", value, allowed)
    table.add_row("log max-lift", _nats(figures["log_max_lift"]), "nats")
    table.add_row("log min-lift", _nats(figures["log_min_lift"]), "nats")
    together = "nats" if design.after is None else f"nats, together with {len(design.after.mechanisms)} before"
    table.add_row("slack of the notion", number(design.slack), together)
    if figures["bound"] is not None:
        claimed = design.evidence == "claimed, not checkable"
        title = "claimed limit of any mechanism" if claimed else "proven limit of any mechanism"
        table.add_row(title, number(figures["bound"]), f"{name} ({figures['status']})")
    for title, value, unit in (*_binding(design), *_for_others(design)):
        table.add_row(title, Text(value), unit)
    table.add_row("released symbols", f"{figures['released']} for {figures['useful']}", "")
    if figures["reads_sensitive"]:
        table.add_row("reads", "S and X", "whoever draws needs the sensitive columns")
    table.add_row("time", f"{figures['seconds']:.3g}", "s")
    return Group(
        bold(design.method) + f" for {design.notion}. {words.rule_words(design.notion)}",
        "",
        table,
        *(Text(visible(f"Note: {note}.")) for note in design.notes),
        "",
        _codebook_table(design) if _is_explained(design) else design.mechanism.describe(),
    )


def _nats(value: float) -> str:
    """A log-lift, and 0 for what rounding leaves of it."""
    return number(0.0 if abs(value) < NO_NATS else value)


def _binding(design: Design) -> Iterator[tuple[str, str, str]]:
    """Under a promise with confidence: the sensitive value whose limits leave no room at most released symbols."""
    limits = design.notion.limits(design.joint)
    if limits is None:
        return
    least, largest = Sample.of(design.joint, limits, design.mechanism).extremes
    budgets = {bound.kind: bound.epsilon for bound in design.notion.bounds}
    rise, fall = (budgets.get(kind, math.inf) for kind in LIFTS)
    with np.errstate(divide="ignore"):
        tight = (np.log(largest) >= rise - NO_ROOM) | (-np.log(least) >= fall - NO_ROOM)
    share = tight @ design.released.p_useful
    s = int(share.argmax())
    if share[s] > 0:
        records = int(design.joint.whole[s].sum())
        told = f"{records:,} records; at its limits for {100 * share[s]:.0f} % of what is released"
        yield "sensitive value that binds", label_text(labels.encode(design.joint.sensitive[s])), told


def _for_others(design: Design) -> Iterator[tuple[str, str, str]]:
    """What is left to other tables, and to records that the design did not see."""
    if design.room is not None and design.room.margin is not None:
        yield "margin of the design", number(design.room.margin), f"nats inside of {design.notion}"
    if design.room is not None and design.room.share is not None:
        share = f"{100 * design.room.share:.1f}"
        yield "next tables that keep it", share, f"% of simulated ones; check releases at {design.notion}"
    if design.designed_on is not None:
        seen = f"records; the promise holds on {design.joint.records:,} others, which all figures are about"
        yield "designed on", f"{design.designed_on.records:,}", seen


def _in_values(design: Design) -> Iterator[tuple[str, str, str]]:
    """What is left of the column in its own values: name, figure, unit."""
    if design.unchanged is not None:
        is_read = design.mechanism.own_places is None
        how = "%, each symbol read as a value drawn from it" if is_read else "%"
        yield "records unchanged", f"{100 * design.unchanged:.1f}", how
    if design.share_error is not None:
        yield (
            "error of a value's share",
            f"{100 * design.share_error:.2g}",
            f"percentage points at most, standard error with {design.joint.records} records",
        )
    if design.distortion is not None:
        yield "mean distance of a number", number(design.distortion), "in units of X"


def _is_explained(design: Design) -> bool:
    """Whether what every released symbol stands for can be listed; strings of bits and the like are too many."""
    return design.mechanism.is_sparse or design.mechanism.n_released <= SHOWN_SYMBOLS


def _codebook_table(design: Design, shown: int = SHOWN_SYMBOLS) -> Table:
    book = design.mechanism.codebook(design.joint)
    table = Table(box=None, pad_edge=False, title="What a released symbol stands for", title_justify="left")
    table.add_column("released", overflow="fold", ratio=3)
    table.add_column("share", justify="right")
    table.add_column("most likely", overflow="fold", ratio=4)
    p_released = design.released.p_useful
    for k in sorted(range(len(book)), key=lambda k: -p_released[k])[:shown]:
        label = design.mechanism.released[k]
        likeliest = [(x, p) for x, p in book[label].items() if p >= NO_SHARE][:4]
        parts = ", ".join(f"{visible(labels.text(x))} {100 * p:.1f} %" for x, p in likeliest)
        more = "" if len(book[label]) <= len(likeliest) else ", ..."
        share = f"{100 * p_released[k]:.2f} %" if p_released[k] >= NO_SHARE / 10 else "< 0.01 %"
        table.add_row(Text(visible(label)), share, Text(parts + more))
    if len(book) > shown:
        table.add_row(f"and {len(book) - shown} more", "", "")
    return table
