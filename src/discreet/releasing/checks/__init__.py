"""What must hold before a row is released: places and the promise first, then orders beside ids and other work."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from discreet._support import progress
from discreet.releasing.checks.ids import check_ids, check_places
from discreet.releasing.checks.order import checking_orders
from discreet.releasing.checks.promise import Checked, check_promise, count_table
from discreet.releasing.plan import Plan
from discreet.tables.session import Table

__all__ = ["Checked", "check_ids", "check_promise", "check_table", "checking_orders"]


def check_table(table: Table, plan: Plan, *, unseen: str, suppress_as: Any) -> Checked:
    """Rows have places where they need them, and every value is known; the counts are handed on."""
    check_places(table, plan)
    with progress.stage("checking the promise"):
        return count_table(table, plan, unseen=unseen, suppress_as=suppress_as)
