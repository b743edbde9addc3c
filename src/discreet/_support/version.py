"""The version of discreet that is installed."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

__all__ = ["version"]


def version() -> str:
    """As reports and certificates state it."""
    from importlib import metadata  # which takes longer than most commands need to start

    return metadata.version("discreet")
