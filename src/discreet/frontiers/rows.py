"""Rows of a frontier: one budget, one method, and the design behind them.

A promise with a smaller budget is the stronger one, so a mechanism designed for it serves every larger budget too.
Only the true optimum grows with the budget by itself: greedy methods do not, so each row keeps the best mechanism of
its own and of all smaller budgets.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from discreet._support.errors import InputError
from discreet.core.joint import Joint
from discreet.designers import METHODS, Design, design
from discreet.designers.design import status_of
from discreet.notions import Notion

__all__ = ["Family", "FrontierRow", "as_row", "carried", "designed_row", "notion_at", "options_of", "row_at"]

Family = Callable[..., Notion]


@dataclass(frozen=True)
class FrontierRow:
    """One budget, one method: what is kept and what leaks. Leakages in nats.

    ``kept`` is the share of the utility, for information the same as ``nmi``; ``bound`` and ``status`` speak of it.
    ``unchanged``, ``share_error`` and ``distortion`` are those of `Design`. ``side`` is the one that ``epsilon`` limits
    where the other is left open, ``upper`` for rising beliefs and ``lower`` for falling ones.
    """

    epsilon: float
    lam: float | None
    side: str | None
    method: str
    nmi: float
    kept: float
    bound: float | None
    status: str
    unchanged: float | None
    share_error: float | None
    distortion: float | None
    log_max_lift: float
    log_min_lift: float
    released: int
    reads_sensitive: bool
    seconds: float
    designed_for: float  # the budget of the mechanism, smaller than epsilon where that one keeps more
    design: Design = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "design"}


def notion_at(family: Family, epsilon: float, lam: float | None) -> Notion:
    """The notion of a family at one budget."""
    try:
        notion = family(epsilon) if lam is None else family(epsilon, lam)
    except TypeError:
        given = "epsilon alone" if lam is None else "epsilon and lam"
        raise InputError(
            f"the family does not take {given}. Give lams exactly where it takes them; to sweep one side of a notion, "
            "give a function such as lambda epsilon: ALIP(eps_upper=epsilon)."
        ) from None
    if not isinstance(notion, Notion):
        raise InputError(f"the family must return a notion, got {type(notion).__name__}.")
    return notion


def options_of(method: str, options: dict[str, Any]) -> dict[str, Any]:
    """The utility, and of the other options those that a method takes."""
    return {name: value for name, value in options.items() if name == "utility" or METHODS[method].takes(name)}


def row_at(
    joint: Joint,
    family: Family,
    epsilon: float,
    lam: float | None,
    method: str,
    options: dict[str, Any],
    start: Design | None,
) -> FrontierRow:
    """The row of one budget of a family."""
    notion = notion_at(family, epsilon, lam)
    return designed_row(joint, notion, epsilon, lam, method, options_of(method, options), start)


def designed_row(
    joint: Joint,
    notion: Notion,
    epsilon: float,
    lam: float | None,
    method: str,
    options: dict[str, Any],
    start: Design | None,
) -> FrontierRow:
    """The row of one notion, designed from a neighbour's mechanism where there is one."""
    more = options if start is None else {**options, "start": start.mechanism}
    result = design(joint, notion, method, **more)
    return as_row(result, epsilon, lam, epsilon)


def as_row(result: Design, epsilon: float, lam: float | None, designed_for: float) -> FrontierRow:
    """A design as a row, with the budget that it was made for."""
    figures = result.to_dict()
    return FrontierRow(
        epsilon=epsilon,
        lam=lam,
        side=result.notion.only_side,
        designed_for=designed_for,
        design=result,
        **{
            name: figures[name]
            for name in (
                "method",
                "nmi",
                "kept",
                "bound",
                "status",
                "unchanged",
                "share_error",
                "distortion",
                "log_max_lift",
                "log_min_lift",
                "released",
                "reads_sensitive",
                "seconds",
            )
        },
    )


def carried(rows: list[FrontierRow]) -> Iterator[FrontierRow]:
    """Each row with the best mechanism of its own and of smaller budgets; checked again under its own notion."""
    best: dict[tuple[str, float | None], FrontierRow] = {}
    for row in rows:
        key = (row.method, row.lam)
        before = best.get(key)
        kept = row
        if (
            before is not None
            and before.kept > row.kept
            and row.design.notion.holds(row.design.joint, before.design.mechanism)
        ):
            bound = None if row.bound is None else max(row.bound, before.kept)
            better = dataclasses.replace(
                before.design,
                notion=row.design.notion,
                bound=bound,
                status=status_of(before.kept, bound),
                proof=row.design.proof,
                seconds=row.seconds,
            )
            kept = as_row(better, row.epsilon, row.lam, before.designed_for)
        best[key] = kept
        yield kept
