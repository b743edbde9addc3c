"""Errors of discreet: wrong input, unusable data, an impossible request, a failed computation.

::

    DiscreetError
    +-- InputError (ValueError)              the call is wrong; exit code 2
    |   +-- InvalidJointError                not a joint distribution
    |   +-- InvalidMechanismError            not a channel, or not for this joint
    |   +-- InvalidNotionError               a privacy parameter out of range
    |   +-- UnsupportedNotionError           the notion has no such representation or method
    |   +-- UnknownMethodError               no designer of that name
    |   +-- SignatureError                   damaged, by somebody else, or of something else
    |   +-- ColumnNotFoundError (KeyError)   no such column in the table
    +-- DataError (ValueError)               the table cannot be used; exit code 3
    |   +-- UnreadableTableError             missing, damaged, not text in UTF-8, not a table
    |   +-- EmptyTableError                  no rows
    |   +-- UnusableColumnError              one value only, wrong type, too many values
    |   +-- UnseenSymbolError                a value that the mechanism does not know
    +-- BrokenNotionError                    a promise would not be kept; exit code 1
    |   +-- BrokenByAttackError                  an attack learns too much; ``attack`` is what it found
    +-- InternalError                        a bug in discreet; please report it

Messages carry names, shapes and probabilities, never a cell of the user's table. They are one line, and what hides in
a name is spelt out, so that none can clear a screen or write a line of its own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet._support.visible import visible

__all__ = [
    "BrokenByAttackError",
    "BrokenNotionError",
    "ColumnNotFoundError",
    "DataError",
    "DiscreetError",
    "DiscreetWarning",
    "EmptyTableError",
    "InputError",
    "InternalError",
    "InvalidJointError",
    "InvalidMechanismError",
    "InvalidNotionError",
    "SignatureError",
    "UnknownMethodError",
    "UnreadableTableError",
    "UnseenSymbolError",
    "UnsupportedNotionError",
    "UnusableColumnError",
]


class DiscreetError(Exception):
    """Root of all errors raised on purpose; ``exit_code`` is what the command line returns."""

    exit_code = 2

    def __str__(self) -> str:
        return visible(super().__str__())


class DiscreetWarning(UserWarning):
    """Something worth a look that does not stop the work."""

    def __str__(self) -> str:
        return visible(super().__str__())


class InputError(DiscreetError, ValueError):
    """An argument breaks a rule that the caller can know beforehand."""


class InvalidJointError(InputError):
    """An array that is not a joint distribution of (sensitive, useful)."""


class InvalidMechanismError(InputError):
    """Weights or labels that are not a mechanism, or not one for the joint at hand."""


class InvalidNotionError(InputError):
    """A privacy parameter that is negative, not finite or missing."""


class UnsupportedNotionError(InputError):
    """A notion that lacks what was asked of it, such as linear rows."""


class UnknownMethodError(InputError):
    """A method name that no designer carries."""


class SignatureError(InputError):
    """A signature that does not hold: damaged, by somebody else, or of something else."""


class ColumnNotFoundError(InputError, KeyError):
    """A column name that the table does not have; ``available`` lists those it has."""

    def __init__(self, message: str, available: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.available = tuple(available)

    def __str__(self) -> str:  # KeyError would quote the sentence
        return visible(str(self.args[0]))


class DataError(DiscreetError, ValueError):
    """A table that cannot be used as asked."""

    exit_code = 3


class UnreadableTableError(DataError):
    """A source that is missing, damaged or of an unknown kind."""


class EmptyTableError(DataError):
    """A table without rows."""


class UnusableColumnError(DataError):
    """A column whose values cannot serve as an alphabet."""


class UnseenSymbolError(DataError):
    """Data holding values that a mechanism has no row for."""


class BrokenNotionError(DiscreetError):
    """A mechanism that would break its promise; it was not returned."""

    exit_code = 1


class BrokenByAttackError(BrokenNotionError):
    """A table that an attack learns too much from; it was not published. ``attack`` is what was found."""

    def __init__(self, message: str, attack: Any) -> None:
        super().__init__(message)
        self.attack = attack


class InternalError(DiscreetError):
    """A state that should be impossible."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message} This is a bug in discreet: please report it.")
