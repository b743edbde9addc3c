"""Processes by their number."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os

__all__ = ["lives"]


def lives(process: int) -> bool:
    """Whether a process is there; one of someone else's is, too."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
