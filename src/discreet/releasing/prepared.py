"""A release that passed its checks: nothing is drawn yet, and nothing is left to ask."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.certificate.record import check_certifiable
from discreet.core.rare import has_rare_values
from discreet.releasing.checks import Checked, audit_kept, check_all
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
    kept : list of dict
        What every kept column tells about S; none of it is covered by the promise.
    """

    request: Request
    engine: Engine
    plan: Plan
    checked: Checked
    kept: list[dict[str, Any]]

    @property
    def hides_mechanism(self) -> bool:
        """Whether mechanism and codebook tell about single people, by the design or by this table."""
        return self.plan.mechanism.is_private or has_rare_values(self.checked.joint)

    def drawing(self) -> Drawing:
        """All that the engine needs to draw."""
        return Drawing.of(self.plan, self.request.key, self.checked.suppressed)


def prepare(request: Request, engine: Engine) -> Prepared:
    """Plan a release of an open table and check it; an error where it must not be made."""
    plan = make_plan(request, engine.table.kinds, engine.table.name)
    if request.output is not None and request.certificate:
        check_certifiable(plan.notion)
    checked = check_all(engine.table, plan, unseen=request.unseen, suppress_as=request.suppress_as)
    kept = audit_kept(engine.table, plan, checked.suppressed) if request.audit else []
    return Prepared(request, engine, plan, checked, kept)
