"""What is told with a publication: why few rows are unchanged, which are singled out, what was cut and left out."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from discreet._support.numeric import IntArray
from discreet.core.joint import Joint
from discreet.measures.limits import belief_limits
from discreet.notions import Notion
from discreet.publishing.fitting import Counted
from discreet.publishing.making import Tried
from discreet.publishing.note import Note
from discreet.publishing.parts import FREE_TEXT, is_free_text
from discreet.publishing.pilot import MOST_LABELS
from discreet.publishing.reading import Subject
from discreet.publishing.roles import Roles
from discreet.publishing.telling import most_singling, most_telling
from discreet.twins.cells import Cells, cells_of, is_dates, partly_read
from discreet.twins.secret import RARER, SecretRule

__all__ = ["later_notes", "notes_of"]

#: Unchanged rows below this share are explained.
FEW = 0.5

#: Rows that are the only ones of their kind are told of above this share.
MANY_ALONE = 0.5

#: Values that are promised about together are many where their records are a larger share than this.
MANY_GATHERED = 0.1

#: Shares of classes that move by more are told of.
MUCH_MOVED = 0.01

#: Share of the cells of a text that look like numbers or dates, from which a note says so.
SOME_READ = 0.2

READ_TOGETHER = (
    "whoever has this table and the one before finds rows that stand once in each, which are true far more often than "
    "others: what two tables of the same people tell together is not promised"
)

#: Gathered values that a note names.
MOST_NAMED = 5


def notes_of(subject: Subject, made: Tried, unchanged: float, sources: IntArray) -> tuple[Note, ...]:
    """What an owner should know; ``subject`` are the records that were learned from.

    Of each of them ``sources`` names the one whose useful cells are published for it; empty where that is not known.
    """
    fitted, joint = made.counted.fitted, made.counted.joint
    found: list[Note] = []
    if unchanged < FEW and _budget(fitted.settings.notion) == 0:
        text = (
            "a budget of 0 nats leaves nothing of what columns tell about S: every row is that of a record which was "
            f"drawn at random, and {_percent(unchanged)} are unchanged by chance. A larger epsilon keeps more"
        )
        found.append(Note("no-budget", text))
    elif unchanged < FEW:
        telling = most_telling(subject.cells, made.counted.classes, joint)
        found.append(Note("few-unchanged", _why_few(unchanged, made, telling)))
    found += [*_about_labels(fitted.rule, joint), *_about_columns(subject.roles)]
    found += [*_about_rows(subject, sources), *_about_texts(subject.cells)]
    for column, edges in fitted.rule.edges.items():
        places = _edges(cells_of(column, subject.table.column(column)), edges)
        text = (
            f"cut into parts: {column} (at {', '.join(places)}). Nothing is promised about which value inside its part "
            "a record has"
        )
        found.append(Note("cut", text))
    return tuple(found)


def later_notes(counted: Counted, subject: Subject, before: Roles, *, keeps_order: bool) -> tuple[Note, ...]:
    """What an owner should know of a later table under an earlier design."""
    now, fitted = subject.roles, counted.fitted
    mechanism, shares = fitted.mechanism, counted.sizes / counted.sizes.sum()
    channel = np.asarray(mechanism.channel)[:, np.argsort(mechanism.own_places or ())]
    moved = float(np.abs(shares @ channel - shares).sum() / 2)
    found = [Note("read-together", READ_TOGETHER)]
    new = [column for column in now.dropped if column not in before.dropped]
    if new:
        found.append(Note("new-columns", f"not published, as the first table lacks them: {', '.join(new)}"))
    unknown = {} if fitted.encoder is None else fitted.encoder.unknown(subject.cells)
    if unknown:
        listed = ", ".join(f"{name} ({_percent(share)} of rows)" for name, share in unknown.items())
        text = (
            f"values that the first table lacks: {listed}. The plan's models take them for missing ones, and only this "
            "table's attack has seen what they tell. Where they are many, publish the table by itself, without the plan"
        )
        found.append(Note("new-values", text))
    if moved > MUCH_MOVED:
        text = (
            f"classes are not as common here as in the first table: {_percent(moved)} of rows appear as others than "
            "would keep shares of values as they are, which the largest changes of columns show. Published by itself, "
            "without the plan, the table keeps them"
        )
        found.append(Note("shares-moved", text))
    if keeps_order:
        text = (
            "rows keep their order: whoever puts this table beside another publication of the same people sees which "
            "rows changed, and learns more than either promises. Publish one of them at most in order"
        )
        found.append(Note("in-order", text))
    return tuple(found)


def _why_few(unchanged: float, made: Tried, telling: tuple[str, ...]) -> str:
    """Why few rows are unchanged, in numbers, and what would help."""
    joint, before, promised = made.counted.joint, made.attack.before, made.attack.promised
    fitted = made.counted.fitted
    guessed = (
        f"an accuracy of {_percent(before.accuracy)} (the commonest value: {_percent(before.base_rate)})"
        if before.auc is None
        else f"an AUC of {before.auc:.3f}"
    )
    allowed = "" if promised is None else f", where {promised.low:g} to {promised.high:g} are promised"
    records = int(np.median(np.asarray(joint.counts).sum(axis=0)))
    helps = ["a larger epsilon", *([_fewer_values(fitted.rule)] if joint.n_sensitive > 2 else [])]
    helps += [f"leaving out what tells most ({', '.join(telling)})"] if telling else []
    return (
        f"only {_percent(unchanged)} of rows are unchanged. In the original, models guess S with {guessed}, and find "
        f"log-lifts of {before.log_min_lift:.2f} to {before.log_max_lift:.2f} nats{allowed}. {joint.n_sensitive} "
        f"sensitive values are counted in {joint.n_useful} classes of some {records:,} records"
        f"{_width(joint, fitted.settings.notion)}. What helps: {', '.join(helps)}, more rows"
    )


def _fewer_values(rule: SecretRule) -> str:
    """How there would be fewer sensitive values: numbers are cut, others joined by whoever knows what they mean."""
    if set(rule.edges) == set(rule.columns):
        return "fewer parts of the sensitive numbers (bins, --bins)"
    return "fewer sensitive values (join kindred ones in the table)"


def _width(joint: Joint, notion: Notion) -> str:
    """How far shares in classes are known, where the promise is for the population."""
    if notion.confidence is None:
        return ""
    low, high = belief_limits(joint, notion.confidence).floats
    off = 100 * float((high - low).mean()) / 2
    return f", whose shares of a value are known to {off:.1f} percentage points up or down on average"


def _about_labels(rule: SecretRule, joint: Joint) -> Iterator[Note]:
    """How many values, and of how many records, the promise does not tell apart."""
    if not rule.gathered:
        return
    n_gathered = len(rule.gathered)
    is_rarer = np.array([str(label).endswith(RARER) for label in joint.sensitive])
    share = float(joint.p_sensitive[is_rarer].sum())
    n_all = n_gathered + int((~is_rarer).sum())
    left = n_gathered - MOST_NAMED
    named = ", ".join(rule.gathered[:MOST_NAMED]) + (f" and {left:,} more" if left > 0 else "")
    is_much = n_gathered > MOST_LABELS or share > MANY_GATHERED
    advice = ": make fewer and commoner values of the column first" if is_much else ""
    text = (
        f"{n_gathered} of {n_all} sensitive values, {_percent(share)} of records, are promised about together only: "
        f"{named}. Nothing is promised about which of them a record has, and a reader may learn it{advice}"
    )
    yield Note("gathered", text)


def _about_columns(roles: Roles) -> Iterator[Note]:
    if roles.ids:
        yield Note("ids", f"left out as ids: {', '.join(roles.ids)}. To publish one, name it as useful")
    for column in roles.repeating:
        text = (
            f"{column} repeats: if its rows are one person's, say so (person, --person {column}): else the promise is "
            "about single rows"
        )
        yield Note("repeating-id", text)
    if roles.telling:
        first = roles.telling[0]
        text = (
            f"published, with many different values that may tell who people are: {', '.join(roles.telling)}. Leave "
            f"out what nobody needs (drop, --drop {first}), and where rows of one value are one person's, say so "
            f"(person, --person {first})"
        )
        yield Note("many-values", text)


def _about_rows(subject: Subject, sources: IntArray) -> Iterator[Note]:
    """That most records are the only ones of their kind, and which columns make them so."""
    alone = int((np.bincount(subject.records.tuples) == 1).sum())
    if not len(sources) or alone <= MANY_ALONE * len(sources):
        return
    names = most_singling(subject.cells)
    text = (
        f"{alone:,} of {len(sources):,} records are the only ones with their values, and most are published: whoever "
        f"knows some of them (most are singled out by {_listed(names)}) finds the row and reads the others. Leave out "
        "or coarsen what identifies"
    )
    yield Note("singled-out", text)


def _about_texts(columns: Sequence[Cells]) -> Iterator[Note]:
    """Texts that models cannot read as a person would."""
    for cells in columns:
        if is_free_text(cells):
            text = f"{cells.name} is free text: {FREE_TEXT}. Leave it out unless you know that it does not tell S"
            yield Note("free-text", text)
        share = partly_read(cells)
        if share >= SOME_READ and cells.is_ordered:
            text = (
                f"{cells.name} is taken as text, though {_percent(share)} of its cells look like numbers or dates: as "
                "others do not, models do not see their order. Write all of them in one way first, if they are such"
            )
            yield Note("taken-as-text", text)


def _edges(cells: Cells, edges: Sequence[float]) -> list[str]:
    """Where a column is cut, numbers to three digits and dates as they are written."""
    import pyarrow as pa

    is_date = is_dates(cells.way) or pa.types.is_temporal(cells.values.type)
    numbers = np.zeros(0) if cells.numbers is None else cells.numbers
    found = []
    for edge in edges:
        above = np.flatnonzero(numbers >= edge)
        is_shown = is_date and len(above)
        found.append(str(cells.values[int(above[0])].as_py()) if is_shown else _rounded(edge))
    return found


def _rounded(edge: float) -> str:
    return f"{float(f'{edge:.3g}'):,.15g}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _budget(notion: Notion) -> float:
    return max(float(bound.epsilon) for bound in notion.bounds)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
