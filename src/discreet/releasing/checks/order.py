"""Does an order give a protected column away? That of the rows, where it is kept, and that of the published ids."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from discreet._support.errors import BrokenNotionError
from discreet.certificate.sequence import FALSE_ALARM, ranks, tolerance, what_tells
from discreet.core.joint import Joint
from discreet.releasing.plan import Plan
from discreet.tables.session import Table

__all__ = ["check_order"]


def check_order(table: Table, plan: Plan, joint: Joint) -> None:
    """No published order tells a protected column; ``joint`` are the counts of the table.

    The place of a row in a file is published with the file, and so is its place among the ids. Where it changes
    beliefs about a sensitive value by more than the promise allows, the promise is broken, whatever is drawn. An order
    tells something where rates, such as how often a value follows itself, are off by more than a tenth of the
    notion's smallest budget (`TOLERANCE`), and this is no accident: of 100,000 releases in a random order, at most one
    is refused. The draw uses its budget up, so little of it is left to the order; with none, large tables would be
    refused for drifts that tell next to nothing. Where the budget is zero, every difference counts that is no accident.
    """
    watched = dict.fromkeys((*plan.useful, *plan.sensitive))
    orders: list[str | None] = [] if plan.shuffle else [None]
    orders += plan.published_ids
    found = {by: _telling(table, plan, by, list(watched), int(joint.records or 0), len(orders)) for by in orders}
    told = {by: words for by, words in found.items() if words is not None}
    if told:
        raise BrokenNotionError(_refusal(told))


def _telling(table: Table, plan: Plan, by: str | None, watched: list[str], rows: int, orders: int) -> str | None:
    """Which column an order tells, and by what."""
    symbols = [table.dialect.symbol(c, table.kinds[c], plan.mechanism.bins.get(c)) for c in watched]
    is_person = by is not None and by == plan.person
    shown = _of_persons(table, str(by), symbols) if is_person else table.in_order(symbols, by, rows, plan.read)
    alarm = FALSE_ALARM / (orders * len(watched))
    for column, cells in zip(watched, shown):
        words = what_tells(ranks(cells), tolerance(plan.notion), alarm)
        if words is not None:
            return f"tells values of {column!r}: {words}"
    return None


def _of_persons(table: Table, by: str, symbols: list[str]) -> list[Any]:
    """The values of each person, in the order of their ids: records of one person may be alike, those of others not."""
    name = table.dialect.identifier(by)
    texts = [table.dialect.gathered.format(table.dialect.as_text(symbol)) for symbol in symbols]
    shown = ", ".join(f"{text} AS c{k}" for k, text in enumerate(texts))
    return list(table.aggregate(f"{shown}, {name} AS p", name).sort_by("p").columns)[:-1]


def _refusal(told: dict[str | None, str]) -> str:
    """What tells what, and what helps against it."""
    shuffle = "release the rows in a keyed random order (shuffle=True, --shuffle)"
    drop = "do not publish the id (publish_id=False, --drop-id, or leave it out of keep)"
    parts = [
        f"the order of the rows {words}" if by is None else f"the order of the published id {by!r} {words}"
        for by, words in told.items()
    ]
    if len(told) == 2:
        way_out = f"{shuffle}, and {drop}"
    else:
        way_out = f"{shuffle}, which leaves the id out too" if None in told else drop
    return f"{'; '.join(parts)}. So nothing was released. Way out: {way_out}."
