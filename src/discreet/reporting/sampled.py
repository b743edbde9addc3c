"""What the records leave open about the lifts of every useful value, and about a promise."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support.numeric import LEVEL_GUARD, BoolArray, FloatArray, IntArray
from discreet.measures import kernels
from discreet.measures.intervals import LiftIntervals
from discreet.measures.profile import Profile
from discreet.notions import Notion

__all__ = ["BROKEN", "KEPT", "STANDINGS", "UNDECIDED", "Sampled", "sampled"]

#: How a useful value stands to a promise in the population, and the words for it.
BROKEN, UNDECIDED, KEPT = range(3)
STANDINGS = ("broken", "undecided", "kept")


@dataclass(frozen=True)
class Sampled:
    """Intervals of lifts that hold all at once with a confidence, given X; and what follows from them.

    Attributes
    ----------
    confidence : float
        Of all intervals together.
    rise, fall : ndarray of shape (2, n_useful)
        Intervals of the lifts of the values of S that each useful value makes likelier and unlikelier.
    tells : ndarray of bool
        Where the interval of some lift excludes 1.
    standing : ndarray of int, or None
        `BROKEN`: some bound is broken wherever in their intervals the lifts are. `KEPT`: all bounds hold wherever they
        are. `UNDECIDED`: neither. None where there is no promise, or one that is not about single lifts or ratios.
    """

    confidence: float
    rise: FloatArray
    fall: FloatArray
    tells: BoolArray
    standing: IntArray | None

    @property
    def is_sure(self) -> BoolArray:
        """Which useful values break the promise for sure; where none is judged, which tell anything for sure."""
        return self.tells if self.standing is None else self.standing == BROKEN

    @property
    def is_open(self) -> BoolArray:
        """Which useful values have too few records to tell."""
        return ~self.tells if self.standing is None else self.standing == UNDECIDED

    def verdict(self, p_useful: FloatArray) -> dict[str, Any]:
        """How the whole stands, and how many symbols and records do so; all None where it is not judged."""
        if self.standing is None:
            return {}
        symbols = np.bincount(self.standing, minlength=len(STANDINGS))
        shares = np.bincount(self.standing, p_useful, minlength=len(STANDINGS))
        whole = next(k for k in (BROKEN, UNDECIDED, KEPT) if symbols[k])
        return {
            "population": STANDINGS[whole],
            "population_symbols": _by_name(symbols),
            "population_probability": _by_name(shares),
        }


def sampled(found: Profile, notion: Notion | None, allowed: BoolArray | None, confidence: float) -> Sampled:
    """Intervals of the lifts of a counted joint, and where a promise stands.

    Parameters
    ----------
    found : Profile
        Measures of the joint, which has counts.
    notion : Notion, optional
        The promise.
    allowed : ndarray of bool, optional
        Which symbols keep it: exactly, and for the population where the promise has a confidence.
    confidence : float
        Of all intervals together.
    """
    joint, n = found.joint, found.joint.n_useful
    limits = LiftIntervals(joint, confidence)
    rise, fall, tells = np.empty((2, n)), np.empty((2, n)), np.empty(n, dtype=bool)
    bounds = () if notion is None or allowed is None else notion.bounds
    needed: FloatArray = np.empty((2, len(bounds), n))
    known = np.ones(len(bounds), dtype=bool)

    def fill(here: slice) -> None:
        least, largest = limits.of(here)
        place = np.arange(here.stop - here.start)
        for target, rows in ((rise, found.likelier[here]), (fall, found.unlikelier[here])):
            target[:, here] = least[rows, place], largest[rows, place]
        tells[here] = (least.max(axis=0) > 1 + LEVEL_GUARD) | (largest.min(axis=0) < 1 - LEVEL_GUARD)
        for k, bound in enumerate(bounds):
            levels = bound.kind.levels_within(least, largest)
            if levels is None:
                known[k] = False
            else:
                needed[:, k, here] = levels

    kernels.side_by_side(fill, n)
    standing = None
    if notion is not None and allowed is not None and known.all():
        standing = _standing(notion, allowed, needed)
        standing[~joint.occurs] = KEPT  # what is never seen tells nothing
    return Sampled(confidence, rise, fall, tells, standing)


def _standing(notion: Notion, allowed: BoolArray, needed: FloatArray) -> IntArray:
    """Where each symbol stands; what comes within the rounding of floats of a bound is undecided."""
    budgets = np.array([bound.epsilon for bound in notion.bounds])[:, None]
    broken = (needed[0] > budgets + LEVEL_GUARD).any(axis=0)
    kept = (needed[1] <= budgets - LEVEL_GUARD).all(axis=0) if notion.confidence is None else allowed
    standing: IntArray = np.where(broken & ~kept, BROKEN, np.where(kept, KEPT, UNDECIDED))
    return standing


def _by_name(values: Any) -> Mapping[str, Any]:
    return dict(zip(STANDINGS, values.tolist()))
