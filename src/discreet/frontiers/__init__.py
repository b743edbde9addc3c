"""Designs over a range of budgets."""

# SPDX-License-Identifier: Apache-2.0
from discreet.frontiers.record import Frontier
from discreet.frontiers.rows import FrontierRow
from discreet.frontiers.sweep import frontier

__all__ = ["Frontier", "FrontierRow", "frontier"]
