"""Utilities by name, and the check of those that come from outside."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np

from discreet._support import validate
from discreet._support.errors import InputError
from discreet.utilities.accuracy import Accuracy
from discreet.utilities.base import SeparableUtility, Utility
from discreet.utilities.distance import Distance
from discreet.utilities.guessing import GuessingUtility
from discreet.utilities.information import Information
from discreet.utilities.invariant import Invariant

__all__ = ["UTILITIES", "utility_of"]

UTILITIES: dict[str, Utility] = {utility.name: utility for utility in (Information(), Accuracy(), Distance())}

#: Points at which the terms of a separable utility are looked at, and how far off rounding may put them.
LOOKED_AT, ROUNDING = np.linspace(0.0, 1.0, 129), 1e-9


def utility_of(given: str | Utility, *, invariant: bool = False) -> Utility:
    """The utility of this name, or the given object itself; of a column that keeps its distribution where asked for.

    Raises
    ------
    InputError
        No utility has the name, the object is none, or its terms are not concave with f(0) = 0, so that limits proven
        from their chords would be false. Or a distribution is to be kept by a utility that publishes no values.

    Examples
    --------
    >>> utility_of("information").unit
    'nats'
    >>> utility_of("accuracy", invariant=True).name
    'invariant accuracy'
    """
    found = _found(given)
    if not invariant or isinstance(found, Invariant):
        return found
    if isinstance(found, GuessingUtility):
        return Invariant(found)
    raise InputError(
        f"invariant keeps the distribution of published values, and {found.name} is not about such. Use it with "
        "utility='accuracy' or 'distance'."
    )


def _found(given: str | Utility) -> Utility:
    if isinstance(given, Utility):
        own = UTILITIES.get(getattr(given, "name", ""))
        if own is not None and type(own) is not type(given):
            raise InputError(f"{type(given).__name__} needs a name of its own: {type(own).__name__} is {own.name!r}.")
        if isinstance(given, SeparableUtility):
            _check_terms(given)
        return given
    if isinstance(given, str) and given in UTILITIES:
        return UTILITIES[given]
    if not isinstance(given, str):
        raise InputError(f"utility must be a name or a Utility, got {type(given).__name__}.")
    near = validate.closest(given, UTILITIES)
    raise InputError(
        f"no utility {given!r}.{near} Known utilities: {', '.join(UTILITIES)}; or give a Utility of yours."
    )


def _check_terms(utility: SeparableUtility) -> None:
    values = utility.terms(LOOKED_AT)
    if not np.isfinite(values).all() or abs(values[0]) > ROUNDING:
        raise InputError(f"the terms of {utility.name} must be finite on [0, 1], and 0 at 0.")
    if (np.diff(values, 2) > ROUNDING).any():
        raise InputError(f"the terms of {utility.name} must be concave on [0, 1]: limits are proven from their chords.")
