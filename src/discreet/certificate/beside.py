"""What is published beside a release, and whether its promise covers that too: all of it together, not one by one.

Two columns that tell nothing alone may tell everything together, so every column that the promise is to cover is looked
at with all others of them and with the released value. What breaks the promise, or cannot be measured, is refused
unless somebody takes it out of the promise by name.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet._support import progress
from discreet._support.errors import BrokenNotionError
from discreet.certificate.exposure import LONG_TABLE, Exposure, Watcher
from discreet.core.joint import Joint
from discreet.mechanism import Mechanism
from discreet.notions import Notion
from discreet.tables.combinations import count_distinct
from discreet.tables.dialect import is_label_type
from discreet.tables.session import Table

__all__ = ["Beside", "audit_beside"]


@dataclass(frozen=True)
class Beside:
    """What is published beside the released columns, and whether the promise covers it.

    Attributes
    ----------
    covered : tuple of str
        Kept columns that the promise covers, together with each other and with the release.
    lifts : dict or None
        Extreme log-lifts of covered columns and release together, nats, rounded away from zero.
    uncovered : tuple of dict
        One for each other kept column: its name, how many values it has, why it is not covered and, where it was
        measured, its log-lifts alone and with the release.
    """

    covered: tuple[str, ...] = ()
    lifts: dict[str, str] | None = None
    uncovered: tuple[dict[str, Any], ...] = ()

    @property
    def uncovered_columns(self) -> tuple[str, ...]:
        """Names of the columns that are not covered."""
        return tuple(row["column"] for row in self.uncovered)

    def to_dict(self) -> dict[str, Any]:
        """As a certificate states it."""
        covered = {"columns": list(self.covered), **(self.lifts or {})} if self.covered else None
        return {"covered": covered, "not_covered": [dict(row) for row in self.uncovered]}


def audit_beside(
    table: Table,
    mechanism: Mechanism,
    notion: Notion,
    *,
    sensitive: Sequence[str],
    kept: Sequence[str],
    uncovered: Sequence[str],
    suppressed: Mapping[tuple[Any, ...], tuple[Any, ...]],
    counted: Joint | None = None,
) -> Beside:
    """Decide whether the promise covers kept columns; refused where it does not and nobody took them out by name.

    Parameters
    ----------
    table : Table
        The open table.
    mechanism, notion : Mechanism, Notion
        What is released, and what it promises.
    sensitive : sequence of str
        Sensitive columns of the table; none where it has none and the design is trusted.
    kept : sequence of str
        Columns that are published as they are.
    uncovered : sequence of str
        Those of them that the promise need not cover. Sensitive columns among the kept ones need not be named.
    suppressed : mapping
        Useful values that the mechanism does not know, each with the known one that it is drawn like.
    counted : Joint, optional
        The pairs of sensitive and useful values, where they were counted already.
    """
    secret = {name.casefold() for name in (*sensitive, *mechanism.sensitive_columns)}
    own = [column for column in kept if column.casefold() in secret]
    left_out = [column for column in kept if column in uncovered and column not in own]
    wanted = tuple(column for column in kept if column not in (*own, *left_out))
    reasons = {column: _unmeasurable(table, notion, sensitive, column) for column in (*wanted, *left_out)}
    watcher = Watcher(table, mechanism, notion, tuple(sensitive), suppressed, counted)
    measured = tuple(column for column in (*wanted, *left_out) if reasons[column] is None)
    sets = [measured, wanted if set(wanted) <= set(measured) else (), *((column,) for column in measured)]
    with progress.stage("measuring kept columns"):
        values = _values(watcher, sets, [*own, *left_out])
        found = _covering(watcher, wanted, {c: reason for c in wanted if (reason := reasons[c]) is not None})
        listed = {column: {"reason": "it is sensitive itself"} for column in own}
        listed |= {column: _left_out(watcher, column, reasons[column]) for column in left_out}
    rows = ({"column": column, "values": values[column], **listed[column]} for column in kept if column in listed)
    return Beside(wanted, None if found is None else found.lifts, tuple(rows))


def _unmeasurable(table: Table, notion: Notion, sensitive: Sequence[str], column: str) -> str | None:
    """Why a column cannot be measured, whatever its values are."""
    if not sensitive:
        return "the table has no sensitive column to measure it by"
    if notion.is_conditional:
        return f"{notion} speaks of people who know part of a record, which is not measured beside other columns"
    if notion.confidence is not None:
        return f"{notion} is about a population given the useful columns, of which this one is none"
    if not is_label_type(table.kinds[column]):
        return f"its values are of type {table.kinds[column]} and cannot be compared"
    return None


def _values(watcher: Watcher, sets: Sequence[tuple[str, ...]], columns: Sequence[str]) -> dict[str, int | str | None]:
    """How many values each column has: exactly, or about where the table is long; None where they do not compare.

    The first look at the sets is taken in the same pass where it can be.
    """
    table, is_long = watcher.table, watcher.rows > LONG_TABLE
    told = [column for column in columns if is_label_type(table.kinds[column])]
    about = watcher.look_at(sets, told if is_long else ())
    if not is_long:
        about = count_distinct(table, [table.dialect.value_or_null(column, table.kinds[column]) for column in told])
    return dict.fromkeys(columns) | {column: f"about {n:,}" if is_long else n for column, n in zip(told, about)}


def _left_out(watcher: Watcher, column: str, reason: str | None) -> dict[str, Any]:
    """Why a column is not covered and, where it can be measured, what it tells."""
    if reason is not None:
        return {"reason": reason}
    beside, alone = watcher.of((column,)), watcher.alone((column,))
    shown = {"alone": alone.lifts} if alone.reason is None else {}
    if beside.reason is not None:
        return {"reason": beside.reason, **shown}
    said = "it was taken out of the promise" if beside.keeps else f"beside the release it breaks {watcher.notion}"
    return {"reason": said, **shown, "with_release": beside.lifts}


def _covering(watcher: Watcher, wanted: tuple[str, ...], blocked: Mapping[str, str]) -> Exposure | None:
    """What covered columns and the release tell together; an error where the promise does not cover them."""
    if not wanted:
        return None
    whole = watcher.of(wanted) if not blocked else None
    if whole is not None and whole.reason is None and whole.keeps:
        return whole
    raise BrokenNotionError(_refusal(watcher, wanted, blocked, whole))


def _refusal(watcher: Watcher, wanted: tuple[str, ...], blocked: Mapping[str, str], whole: Exposure | None) -> str:
    """What leaks and by how much, which columns do, and the ways out."""
    single = {column: watcher.of((column,)) for column in wanted if column not in blocked}
    stay = _could_stay(watcher, single)
    out = [column for column in wanted if column not in stay]
    said = [_broken(watcher, wanted, whole) if whole is not None and whole.reason is None else _untold(watcher, out)]
    said += [f"{_named([column])}: {reason}." for column, reason in blocked.items()]
    said += [f"{_named([column])}: {found.reason}." for column, found in single.items() if found.reason is not None]
    breaking = [column for column, found in single.items() if found.reason is None and not found.keeps]
    said += [f"{_named([column])} breaks it alone ({_span(single[column].lifts)})." for column in breaking]
    quiet = [column for column, found in single.items() if found.keeps]
    if len(quiet) == len(wanted) > 1:
        said.append("Each of them alone would be covered.")
    if whole is not None and whole.reason is not None and len(wanted) > 1:
        said.append(f"Together: {whole.reason}.")
    if stay:
        said.append(f"{_named(stay)} could stay covered.")
    it = "it" if len(out) == 1 else "them"
    said.append(
        f"Leave {_named(out)} out, add {it} to the useful columns and design anew, design for a smaller budget than is "
        f"promised here (notion=, --epsilon), or publish {it} knowingly, outside the promise (uncovered={out}, "
        f"--uncovered {shlex.join(out)})."
    )
    return " ".join(said)


def _broken(watcher: Watcher, wanted: Sequence[str], whole: Exposure) -> str:
    return (
        f"the release with {_named(wanted)} beside it breaks {watcher.notion}: {_span(whole.lifts)}, so nothing was "
        "released."
    )


def _untold(watcher: Watcher, out: Sequence[str]) -> str:
    return f"{watcher.notion} cannot be shown to cover {_named(out)} beside the release, so nothing was released."


def _span(lifts: Mapping[str, str]) -> str:
    return f"log-lifts between {lifts['log_min_lift']} and {lifts['log_max_lift']} nats"


def _could_stay(watcher: Watcher, single: Mapping[str, Exposure]) -> list[str]:
    """Columns that could be covered together, as many as a greedy choice finds; of long tables none is looked for."""
    good = [column for column, found in single.items() if found.keeps]
    if len(good) < 2 or watcher.rows > LONG_TABLE:
        return good[:1]
    chosen: list[str] = []
    for column in sorted(good, key=lambda column: single[column].combinations):
        larger = tuple(name for name in single if name in (*chosen, column))
        if watcher.of(larger).keeps:
            chosen.append(column)
    return [column for column in single if column in chosen]


def _named(columns: Sequence[str]) -> str:
    names = [repr(column) for column in columns]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
