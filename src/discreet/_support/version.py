"""The version of discreet that is installed."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from importlib import metadata

__all__ = ["version"]


def version() -> str:
    """As reports and certificates state it."""
    return metadata.version("discreet")
