"""What must hold before a row is released, cheapest first: places, the promise, ids, and orders beside other work."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from discreet._support import progress
from discreet.releasing.checks.ids import check_ids, check_places
from discreet.releasing.checks.order import checking_orders
from discreet.releasing.checks.promise import Checked, check_promise
from discreet.releasing.plan import Plan
from discreet.tables.session import Table

__all__ = ["Checked", "check_all", "checking_orders"]


def check_all(table: Table, plan: Plan, *, unseen: str, suppress_as: Any) -> Checked:
    """All checks but that of orders; what they find on the way is handed on."""
    check_places(table, plan)
    with progress.stage("checking the promise"):
        checked = check_promise(table, plan, unseen=unseen, suppress_as=suppress_as)
    with progress.stage("checking ids"):
        check_ids(table, plan)
    return checked
