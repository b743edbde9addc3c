"""A release that passed its checks: nothing is drawn yet, and nothing is left to ask."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass

from discreet.certificate.beside import Beside, audit_beside
from discreet.certificate.record import check_certifiable
from discreet.releasing.checks import Checked, check_all
from discreet.releasing.engines.base import Drawing, Engine
from discreet.releasing.plan import Plan, make_plan
from discreet.releasing.request import Request

__all__ = ["Prepared", "prepare"]


@dataclass(frozen=True)
class Prepared:
    """What was asked for, who draws, and what the checks found.

    Attributes
    ----------
    request, engine, plan : Request, Engine, Plan
        What was asked for, who holds the table, and which columns are looked up, drawn and kept.
    checked : Checked
        The counts that the promise was checked on.
    beside : Beside
        What is kept, and whether the promise covers it.
    """

    request: Request
    engine: Engine
    plan: Plan
    checked: Checked
    beside: Beside

    def drawing(self) -> Drawing:
        """All that the engine needs to draw."""
        return Drawing.of(self.plan, self.request.key, self.checked.suppressed)


def prepare(request: Request, engine: Engine) -> Prepared:
    """Plan a release of an open table and check it; an error where it must not be made."""
    plan = make_plan(request, engine.table.kinds, engine.table.name)
    if request.output is not None and request.certificate:
        check_certifiable(plan.notion)
    checked = check_all(engine.table, plan, unseen=request.unseen, suppress_as=request.suppress_as)
    beside = audit_beside(
        engine.table,
        plan.mechanism,
        plan.notion,
        sensitive=plan.sensitive,
        kept=plan.kept,
        uncovered=plan.uncovered,
        suppressed=checked.suppressed,
    )
    return Prepared(request, engine, plan, checked, beside)
