"""What a designer hands back before the front door checks and records it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.designers.history import History
from discreet.mechanism import Mechanism

__all__ = ["Outcome"]


@dataclass(frozen=True)
class Outcome:
    """A mechanism, and where the method proves one, an upper limit of what any mechanism keeps, with its proof.

    ``notes`` are sentences about what the method could not do.
    """

    mechanism: Mechanism
    limit: float | None = None  # in the unit of the utility
    proof: Any = None
    history: History | None = None
    notes: tuple[str, ...] = ()
