"""Designers: from a joint and a notion to a mechanism that keeps it."""

# SPDX-License-Identifier: Apache-2.0
from discreet.designers.front import METHODS, Design, design, methods
from discreet.designers.protocols.seal import seal

__all__ = ["METHODS", "Design", "design", "methods", "seal"]
