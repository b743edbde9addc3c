"""What kept columns tell about S, alone and together with the release: the promise does not cover them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np

from discreet._support.errors import InvalidMechanismError
from discreet._support.numeric import DENOMINATOR, FloatArray
from discreet.measures import kernels
from discreet.mechanism import Mechanism
from discreet.releasing.plan import Plan
from discreet.tables import list_pairs
from discreet.tables.dialect import is_label_type
from discreet.tables.session import Table

__all__ = ["audit_kept"]

#: A column with more values than this nearly names people, and is said to instead of measured.
MOST_VALUES = 2_000

#: Cells of P(s, z, x) that are measured.
MOST_CELLS = 20_000_000


def audit_kept(table: Table, plan: Plan, suppressed: dict[tuple[Any, ...], tuple[Any, ...]]) -> list[dict[str, Any]]:
    """For every kept column: how much it changes beliefs about S by itself, and beside the released column.

    Together with the release it is P(s, z, y), expected over the draw: no second draw is needed.
    """
    distinct = table.distinct(plan.kept)
    return [
        {
            "column": column,
            "values": distinct[column],
            **_audited(table, plan, suppressed, column, distinct[column]),
        }
        for column in plan.kept
    ]


def _audited(
    table: Table,
    plan: Plan,
    suppressed: dict[tuple[Any, ...], tuple[Any, ...]],
    column: str,
    values: int,
) -> dict[str, Any]:
    if column in plan.sensitive:
        return {"note": "it is sensitive itself"}
    if not plan.sensitive:
        return {"note": "not measured: the table has no sensitive column"}
    if values > MOST_VALUES:
        return {"note": "not measured: so many values may single people out"}
    if not is_label_type(table.kinds[column]):
        return {"note": f"not measured: values of type {table.kinds[column]} cannot be compared"}
    bins = {name: edges for name, edges in plan.mechanism.bins.items() if name in (*plan.sensitive, *plan.useful)}
    pairs = list_pairs(table, list(plan.sensitive), [column, *plan.useful], bins=bins)
    z_of = {label: k for k, label in enumerate(dict.fromkeys(label[0] for label in pairs.useful))}
    x_of = {label: k for k, label in enumerate(plan.mechanism.useful)}
    if len(pairs.sensitive) * len(z_of) * len(x_of) > MOST_CELLS:
        return {"note": "not measured: too many combinations of values"}
    cells = np.zeros((len(pairs.sensitive), len(z_of), len(x_of)))
    z = np.array([z_of[label[0]] for label in pairs.useful])
    x = np.array([x_of[_known(label[1:], suppressed, plan)] for label in pairs.useful])
    np.add.at(cells, (pairs.row, z[pairs.column], x[pairs.column]), pairs.records / pairs.records.sum())
    result: dict[str, Any] = {"alone": _leakage(cells.sum(axis=2))}
    joint = _with_release(cells, plan.mechanism, pairs.sensitive)
    if joint is not None:
        result["with_release"] = _leakage(joint.reshape(len(joint), -1))
    return result


def _known(values: tuple[Any, ...], suppressed: dict[tuple[Any, ...], tuple[Any, ...]], plan: Plan) -> Any:
    """The mechanism's label of useful values; of unknown ones, that of their stand-in."""
    if plan.mechanism.reads_sensitive:
        stand_ins = {s_and_x[-len(values) :]: like[-len(values) :] for s_and_x, like in suppressed.items()}
    else:
        stand_ins = suppressed
    chosen = stand_ins.get(values, values)
    return chosen if len(chosen) > 1 else chosen[0]


def _with_release(cells: FloatArray, mechanism: Mechanism, sensitive: list[Any]) -> FloatArray | None:
    """P(s, z, y), or None where released symbols are too many to list."""
    try:
        result = mechanism.applied(cells, sensitive)
    except InvalidMechanismError:
        return None
    result[result < 1 / DENOMINATOR] = 0.0
    return result


def _leakage(cells: FloatArray) -> dict[str, float]:
    """Largest and smallest logarithm of a lift, nats, rounded away from zero: the certificate is public."""
    prior, mass = cells.sum(axis=1), cells.sum(axis=0)
    seen = cells[:, mass > 0]
    lifts = seen / (prior[:, None] * mass[mass > 0])
    with np.errstate(divide="ignore"):
        return {
            "log_max_lift": float(np.ceil(1e3 * np.log(kernels.max_lift(lifts, prior).max())) / 1e3),
            "log_min_lift": float(np.floor(-1e3 * np.log(kernels.min_lift_inverse(lifts, prior).max())) / 1e3),
        }
