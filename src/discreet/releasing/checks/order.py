"""Does an order give a protected column away? That of the rows, where it is kept, and that of the published ids."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from discreet._support import progress
from discreet._support.errors import BrokenNotionError
from discreet.certificate.sequence import told_by_order
from discreet.core.joint import Joint
from discreet.releasing.plan import Plan
from discreet.tables.session import Table

__all__ = ["checking_orders"]


@contextlib.contextmanager
def checking_orders(table: Table, plan: Plan, joint: Joint) -> Iterator[None]:
    """No published order tells a protected column; ``joint`` are the counts of the table.

    The place of a row in a file is published with the file, and so is its place among the ids. Where it changes
    beliefs about a sensitive value by more than the promise allows, the promise is broken, whatever is drawn. An order
    tells something where rates, such as how often a value follows itself, are off by more than a tenth of the
    notion's smallest budget (`TOLERANCE`), and this is no accident: of 100,000 releases in a random order, at most one
    is refused. The draw uses its budget up, so little of it is left to the order; with none, large tables would be
    refused for drifts that tell next to nothing. Where the budget is zero, every difference counts that is no accident.

    The table is asked before the block, and the tests run beside it; the block's end waits for them. What the block
    itself refuses is said first.
    """
    orders: list[str | None] = [] if plan.shuffle else [None]
    orders += plan.published_ids
    watched = tuple(dict.fromkeys((*plan.useful, *plan.sensitive)))
    with _ending_early() as tests:
        with progress.stage("checking orders"):
            found = {
                by: [
                    tests.submit(told_by_order, dict(zip(watched, shown)), plan.sensitive, plan.notion, shares)
                    for shown, shares in _shown(table, plan, by, watched, int(joint.records or 0), len(orders))
                ]
                for by in orders
            }
        yield
        with progress.stage("checking orders"):
            told = {by: [words for test in each if (words := test.result())] for by, each in found.items()}
    if any(told.values()):
        raise BrokenNotionError(_refusal({by: words[0] for by, words in told.items() if words}))


@contextlib.contextmanager
def _ending_early() -> Iterator[ThreadPoolExecutor]:
    """A thread for tests, of which those that have not begun are left out where nobody waits for them any more."""
    pool = ThreadPoolExecutor(1)
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _shown(
    table: Table, plan: Plan, by: str | None, watched: Sequence[str], rows: int, orders: int
) -> Iterator[tuple[list[Any], int]]:
    """Columns in an order, and by how many tests false alarms are shared."""
    symbols = [table.dialect.symbol(c, table.kinds[c], plan.mechanism.bins.get(c)) for c in watched]
    if by is not None and by == plan.person:
        for shown in _of_persons(table, by, symbols, plan.read):
            yield shown, 2 * orders
    else:
        yield table.in_order(symbols, by, rows, plan.read), orders


def _of_persons(table: Table, by: str, symbols: Sequence[str], read: Sequence[str]) -> Iterator[list[Any]]:
    """In the order of persons' ids: all values of each, and those of one record of each, whichever it is.

    Records of one person may be alike, so that only one of them, or all taken as one value, stand for the person.
    """
    words, name = table.dialect, table.dialect.identifier(by)
    mixed = ", ".join(map(words.identifier, dict.fromkeys((by, *read))))
    for made in (
        [words.joined(words.as_text(symbol)) for symbol in symbols],
        [words.any_of.format(words.as_text(symbol), mixed) for symbol in symbols],
    ):
        shown = ", ".join(f"{text} AS c{k}" for k, text in enumerate(made))
        yield list(table.aggregate(f"{shown}, {name} AS p", name).sort_by("p").columns)[:-1]


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
