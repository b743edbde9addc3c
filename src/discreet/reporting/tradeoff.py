"""The trade-off curve of a report: what larger and smaller budgets would keep."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from discreet.core.joint import Joint
from discreet.designers import methods as methods_for
from discreet.frontiers.sweep import frontier
from discreet.notions import ALIP, Notion
from discreet.notions.base import from_dict
from discreet.reporting.model import Tradeoff, TradeoffRow

__all__ = ["tradeoff_of"]

#: Budgets of the trade-off curve, as multiples of the chosen one.
MULTIPLES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)

#: Budgets where the chosen one is zero, nats.
FROM_ZERO = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)

#: Baselines that the trade-off curve shows beside the chosen method.
BASELINES = ("subset-merging", "watchdog")

#: Cells of the largest joint whose curve is swept with a searching method unless budgets are given.
MOST_SWEPT = 1500

#: Seconds for each design of a curve under a promise with confidence.
SECONDS = 3.0

ROW = ("epsilon", "method", "nmi", "bound", "status", "log_max_lift", "log_min_lift", "released")


def tradeoff_of(
    joint: Joint, notion: Notion, nmi: float, method: str | None, epsilons: Sequence[float] | None = None
) -> Tradeoff:
    """What each budget keeps under the method and the baselines.

    Parameters
    ----------
    joint, notion : Joint, Notion
        The table and the promise.
    nmi : float
        What the release keeps.
    method : str or None
        The method that made it; None sweeps the fast baselines alone.
    epsilons : sequence of float, optional
        Budgets, nats; left out, eight around the chosen one.
    """
    family = _family(notion)
    if family is None:
        return Tradeoff((), note=f"{notion} has no single budget to vary, so no curve is drawn.")
    make, epsilon = family
    names, note = _names(joint, notion, method, epsilons is not None)
    if not names:
        return Tradeoff((), note=f"No fast method serves {notion}, so no curve is drawn.")
    multiples = [epsilon * k for k in MULTIPLES] if epsilon > 0 else FROM_ZERO
    # Under a promise with confidence searches have no end that is worth waiting for eight times.
    limits: dict[str, Any] = {} if notion.confidence is None else {"time_limit": SECONDS}
    swept = frontier(joint, make, multiples if epsilons is None else epsilons, names, **limits)
    rows = tuple(TradeoffRow(**{name: getattr(row, name) for name in ROW}) for row in swept.rows)
    return Tradeoff(rows, epsilon, nmi, note)


def _names(joint: Joint, notion: Notion, method: str | None, chosen: bool) -> tuple[list[str], str | None]:
    """The methods to sweep, and what is said of those that are not."""
    serving = methods_for(notion)
    if method is None:
        note = "Only the fast methods were swept; the point marks the release itself."
        return [name for name in BASELINES if name in serving], note
    names = [name for name in dict.fromkeys((method, *BASELINES)) if name in serving]
    if chosen or joint.n_sensitive * joint.n_useful <= MOST_SWEPT or len(names) < 2:
        return names, None
    note = (
        f"With {joint.n_sensitive} x {joint.n_useful} values only the fast methods were swept; "
        "the point marks the release itself."
    )
    return [name for name in names if name in BASELINES], note


def _family(notion: Notion) -> tuple[Callable[[float], Notion], float] | None:
    """Notions of the same kind by one budget, and the budget of this one; an ALIP keeps the ratio of its sides."""
    stored = notion.to_dict()
    sides = [name for name in ("epsilon", "eps_lower", "eps_upper") if stored.get(name) is not None]
    if len(sides) == 1:
        return (lambda epsilon: from_dict({**stored, sides[0]: epsilon})), float(stored[sides[0]])
    total = sum(stored[name] for name in sides)
    if not isinstance(notion, ALIP) or total == 0:
        return None
    lam = stored["eps_lower"] / total
    return (lambda epsilon: ALIP.split(epsilon, lam, confidence=notion.confidence)), total
