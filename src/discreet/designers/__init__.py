"""Designers: from a joint and a notion to a mechanism that keeps it."""

# SPDX-License-Identifier: Apache-2.0
from discreet.designers.base import METHODS, Design, design, methods
from discreet.designers.rounding import seal

__all__ = ["METHODS", "Design", "design", "methods", "seal"]
