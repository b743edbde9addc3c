"""Designers: from a joint and a notion to a mechanism that keeps it."""

# SPDX-License-Identifier: Apache-2.0
from discreet.designers.comparison import Comparison, compare
from discreet.designers.design import Design
from discreet.designers.front import design, methods
from discreet.designers.later import share_of_next_tables
from discreet.designers.outcome import Outcome
from discreet.designers.protocols.seal import seal
from discreet.designers.registry import METHODS, register_method

__all__ = [
    "METHODS",
    "Comparison",
    "Design",
    "Outcome",
    "compare",
    "design",
    "methods",
    "register_method",
    "seal",
    "share_of_next_tables",
]
