"""The promise on this very table: its pairs are counted, unknown values settled, and the notion decided on them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support.errors import BrokenNotionError, UnseenSymbolError
from discreet.core.joint import Joint
from discreet.mechanism import Mechanism
from discreet.releasing.checks.failing import where_broken
from discreet.releasing.plan import Plan
from discreet.tables import count_pairs, count_values
from discreet.tables.session import Table

__all__ = ["Checked", "check_promise", "count_table"]


@dataclass(frozen=True)
class Checked:
    """What the checks found.

    Attributes
    ----------
    joint : Joint
        Counted (S, X) of the table, over the mechanism's values; with one nameless sensitive value where the table
        has no S and the design is trusted.
    counted : Joint
        The same before unknown values were counted as the ones that they are treated as.
    suppressed : dict
        Values that the mechanism does not know, each with the known one that it is drawn like, by column.
    suppressed_rows : int
        Rows that carry such a value.
    """

    joint: Joint
    counted: Joint
    suppressed: dict[tuple[Any, ...], tuple[Any, ...]]
    suppressed_rows: int
    has_sensitive: bool


def count_table(table: Table, plan: Plan, *, unseen: str, suppress_as: Any) -> Checked:
    """Count the table, and settle what unknown values are treated as."""
    return _known(_counted(table, plan), plan, unseen, suppress_as)


def check_promise(plan: Plan, asked: Mechanism, checked: Checked) -> None:
    """Decide the notion on the counts, in integers; ``asked`` is the mechanism that values were made of."""
    if not checked.has_sensitive or plan.notion.holds(checked.joint, plan.mechanism):
        return
    slack = plan.notion.slack(checked.joint, plan.mechanism)
    how = f"by {-slack:.3g} nats" if np.isfinite(slack) else "since a released value rules a sensitive one out"
    where = where_broken(plan.notion, checked.joint, plan.mechanism)
    way_out = (
        "Design it on this table; or so that other tables keep it too: on several tables at once (also=[...], --also), "
        "or with room for the next one (for_later=0.95, --for-later; margin=, --margin)."
    )
    if plan.notion.confidence is not None:
        way_out = (
            "Design it on this table, or on all tables counted together, as one sample; or release without confidence."
        )
    if plan.is_in_values and not asked.is_in_values and plan.notion.holds(checked.joint, asked):
        way_out = (
            "Its symbols keep the promise, which does not survive that each is read as a value. Release them as labels "
            "(as_values=False, --as-labels)."
        )
    raise BrokenNotionError(
        f"on this table the mechanism breaks {plan.notion} {how}{where}, so nothing was released. {way_out}"
    )


def _counted(table: Table, plan: Plan) -> Joint:
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
        read = set(mechanism.sensitive)
        strange = [k for k, s in enumerate(joint.sensitive) if s not in read]
        if strange:
            raise UnseenSymbolError(
                f"{len(strange)} sensitive values in {int(counts[strange].sum())} rows are unknown to the mechanism, "
                "which reads them. Design it on a table that has them."
            )
    if not unknown:
        return Checked(joint, joint, {}, 0, bool(plan.sensitive))
    if unseen != "suppress":
        raise UnseenSymbolError(
            f"{len(unknown)} value(s) of {' + '.join(plan.useful)} in {rows} row(s) are unknown to the mechanism, so "
            "nothing was released. Design it on a table that has them, or treat them as a value that it knows "
            "(unseen='suppress', --unseen suppress)."
        )
    like = mechanism.stand_in(suppress_as)
    stands_for = _suppressed(joint, plan, unknown, like)
    return Checked(_merged(joint, unknown, like), joint, stands_for, rows, bool(plan.sensitive))


def _merged(joint: Joint, unknown: list[int], like: Any) -> Joint:
    """The joint with unknown values counted as the one that they are treated as."""
    keep = np.delete(np.arange(joint.n_useful), unknown).tolist()
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
