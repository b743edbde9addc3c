"""Utilities: what a design keeps of X, one object each."""

# SPDX-License-Identifier: Apache-2.0
from discreet.utilities.base import SeparableUtility, Utility, released_cells
from discreet.utilities.information import Information
from discreet.utilities.registry import UTILITIES, utility_of

__all__ = ["UTILITIES", "Information", "SeparableUtility", "Utility", "released_cells", "utility_of"]
