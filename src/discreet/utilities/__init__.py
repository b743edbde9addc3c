"""Utilities: what a design keeps of X, one object each."""

# SPDX-License-Identifier: Apache-2.0
from discreet.utilities.accuracy import Accuracy
from discreet.utilities.base import Measured, SeparableUtility, Utility, check_listed, released_cells
from discreet.utilities.distance import Distance
from discreet.utilities.guessing import GuessingUtility
from discreet.utilities.information import Information
from discreet.utilities.invariant import Invariant, own_texts
from discreet.utilities.registry import UTILITIES, utility_of

__all__ = [
    "UTILITIES",
    "Accuracy",
    "Distance",
    "GuessingUtility",
    "Information",
    "Invariant",
    "Measured",
    "SeparableUtility",
    "Utility",
    "check_listed",
    "own_texts",
    "released_cells",
    "utility_of",
]
