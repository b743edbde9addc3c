"""How work that goes on for long asks whether its time is over."""

# SPDX-License-Identifier: Apache-2.0
__all__ = ["never"]


def never() -> bool:
    """What work without a time limit is told.

    >>> never()
    False
    """
    return False
