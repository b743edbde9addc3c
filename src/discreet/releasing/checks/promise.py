"""What must hold before a row is released: known values, the promise on this very table, ids, order."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet._support.errors import BrokenNotionError, InputError, UnseenSymbolError, UnusableColumnError
from discreet._support.numeric import BoolArray, FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.releasing.checks.order import is_telling
from discreet.releasing.plan import Plan
from discreet.tables import count_pairs, count_values

__all__ = ["Checked", "Engine", "check_all"]


class Engine(Protocol):
    """What a release asks of the engine that holds the table."""

    name: str
    kinds: dict[str, str]
    has_stable_rows: bool

    def rows(self) -> int: ...
    def repeated(self, column: str) -> tuple[int, int]: ...
    def neighbours(
        self, columns: Sequence[str], edges: Mapping[str, Any], rows: int, read: Sequence[str]
    ) -> tuple[list[IntArray], BoolArray]: ...
    def distinct(self, columns: Sequence[str]) -> dict[str, int]: ...


@dataclass(frozen=True)
class Checked:
    """What the checks found.

    Attributes
    ----------
    joint : Joint
        Counted (S, X) of the table, over the mechanism's values; with one nameless sensitive value where the table
        has no S and the design is trusted.
    suppressed : dict
        Values that the mechanism does not know, each with the known one that it is drawn like, by column.
    suppressed_rows : int
        Rows that carry such a value.
    """

    joint: Joint
    suppressed: dict[tuple[Any, ...], tuple[Any, ...]]
    suppressed_rows: int
    has_sensitive: bool


def check_all(engine: Engine, table: Any, plan: Plan, *, unseen: str, suppress_as: Any) -> Checked:
    """All checks, cheapest first."""
    if plan.record is None and not engine.has_stable_rows:
        raise InputError(
            "the table has no stable order of rows, so records need an id: name a column of unique integers or text "
            "(id, --id)."
        )
    joint = _counted(table, plan)
    checked = _known(joint, plan, unseen, suppress_as)
    if checked.has_sensitive and not plan.notion.holds(checked.joint, plan.mechanism):
        slack = plan.notion.slack(checked.joint, plan.mechanism)
        how = f"by {-slack:.3g} nats" if np.isfinite(slack) else "since a released value rules a sensitive one out"
        raise BrokenNotionError(
            f"on this table the mechanism breaks {plan.notion} {how}, so nothing was released. "
            "Design it on this table, or on both tables (also=[...])."
        )
    if plan.record is not None:
        _check_ids(engine, plan.record)
    if not plan.shuffle:
        _check_order(engine, plan, joint)
    return checked


def _counted(table: Any, plan: Plan) -> Joint:
    useful = plan.mechanism.useful_columns
    wanted = (*plan.sensitive, *useful)
    bins = {column: edges for column, edges in plan.mechanism.bins.items() if column in wanted}
    if plan.sensitive:
        return count_pairs(table, list(plan.sensitive), list(useful), bins=bins)
    return count_values(table, list(useful), bins=bins)


def _known(joint: Joint, plan: Plan, unseen: str, suppress_as: Any) -> Checked:
    mechanism = plan.mechanism
    known = set(mechanism.useful)
    unknown = [k for k, x in enumerate(joint.useful) if x not in known]
    counts = np.asarray(joint.counts)
    rows = int(counts[:, unknown].sum())
    if mechanism.reads_sensitive:
        strange = [k for k, s in enumerate(joint.sensitive) if s not in set(mechanism.sensitive)]  # type: ignore[attr-defined]
        if strange:
            raise UnseenSymbolError(
                f"{len(strange)} sensitive values in {int(counts[strange].sum())} rows are unknown to the mechanism, "
                "which reads them. Design it on a table that has them."
            )
    if not unknown:
        return Checked(joint, {}, 0, bool(plan.sensitive))
    if unseen != "suppress":
        raise UnseenSymbolError(
            f"{len(unknown)} value(s) of {' + '.join(plan.useful)} in {rows} row(s) are unknown to the mechanism, so "
            "nothing was released. Design it on a table that has them, or treat them as a value that it knows "
            "(unseen='suppress', --unseen suppress)."
        )
    like = mechanism.stand_in(suppress_as)
    stands_for = _suppressed(joint, plan, unknown, like)
    return Checked(_merged(joint, unknown, like), stands_for, rows, bool(plan.sensitive))


def _merged(joint: Joint, unknown: list[int], like: Any) -> Joint:
    """The joint with unknown values counted as the one that they are treated as."""
    keep = [k for k in range(joint.n_useful) if k not in set(unknown)]
    counts = np.asarray(joint.counts)
    names = [joint.useful[k] for k in keep]
    cells = counts[:, keep]
    extra = counts[:, unknown].sum(axis=1)
    if like in names:
        cells = cells.copy()
        cells[:, names.index(like)] += extra
    else:
        cells, names = np.column_stack([cells, extra]), [*names, like]
    return Joint.from_counts(
        cells,
        sensitive=joint.sensitive,
        useful=names,
        sensitive_columns=joint.sensitive_columns,
        useful_columns=joint.useful_columns,
        bins=joint.bins,
    )


def _suppressed(joint: Joint, plan: Plan, unknown: list[int], like: Any) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """By the values that a draw looks up: the unknown ones, and what stands in for each."""

    def spread(label: Any, columns: Sequence[str]) -> tuple[Any, ...]:
        return label if len(columns) > 1 else (label,)

    found = [(spread(joint.useful[k], plan.useful), spread(like, plan.useful)) for k in unknown]
    if not plan.mechanism.reads_sensitive:
        return dict(found)
    values = [spread(s, plan.sensitive) for s in joint.sensitive]
    return {s + x: s + stand_in for s in values for x, stand_in in found}


def _check_ids(engine: Engine, column: str) -> None:
    nulls, repeated = engine.repeated(column)
    if nulls:
        raise UnusableColumnError(
            f"the id column {column!r} is null in {nulls} rows; those would share one draw. Fill them, or use another "
            "column."
        )
    if repeated:
        raise UnusableColumnError(
            f"the id column {column!r} repeats: {repeated} rows have the id of another. Records that share an id "
            "would share their draw. Use a column that is unique."
        )


def _check_order(engine: Engine, plan: Plan, joint: Joint) -> None:
    watched = (*plan.useful, *plan.sensitive)
    codes, follows = engine.neighbours(watched, plan.mechanism.bins, int(joint.records or 0), plan.read)
    for column, code in zip(watched, codes):
        if is_telling(code, follows, _shares(joint, plan, column)):
            raise UnusableColumnError(
                f"the rows are sorted or partitioned by {column!r}, so their order would tell its values. Release them "
                "in a keyed random order (shuffle=True, --shuffle)."
            )


def _shares(joint: Joint, plan: Plan, column: str) -> FloatArray:
    """How often each value of one column occurs in the whole table."""
    is_useful = column in plan.useful
    columns = plan.useful if is_useful else plan.sensitive
    names, mass = (joint.useful, joint.p_useful) if is_useful else (joint.sensitive, joint.p_sensitive)
    parts = [name[columns.index(column)] if len(columns) > 1 else name for name in names]
    place = {part: k for k, part in enumerate(dict.fromkeys(parts))}
    result: FloatArray = np.bincount([place[part] for part in parts], mass).astype(np.float64)
    return result
