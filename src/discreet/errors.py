"""Errors of discreet, for ``except`` clauses; `discreet._support.errors` has their family tree."""

# SPDX-License-Identifier: Apache-2.0
from discreet._support.errors import (
    BrokenNotionError,
    ColumnNotFoundError,
    DataError,
    DiscreetError,
    DiscreetWarning,
    EmptyTableError,
    InputError,
    InternalError,
    InvalidJointError,
    InvalidMechanismError,
    InvalidNotionError,
    UnknownMethodError,
    UnreadableTableError,
    UnseenSymbolError,
    UnsupportedNotionError,
    UnusableColumnError,
)

__all__ = [
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
    "UnknownMethodError",
    "UnreadableTableError",
    "UnseenSymbolError",
    "UnsupportedNotionError",
    "UnusableColumnError",
]
