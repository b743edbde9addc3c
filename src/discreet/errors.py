"""Errors of discreet, for ``except`` clauses; `discreet._support.errors` has their family tree."""

# SPDX-License-Identifier: Apache-2.0
from discreet._support.errors import *  # noqa: F403
from discreet._support.errors import __all__ as __all__  # noqa: PLC0414
