"""One-sided and perfect privacy: MaxLift (pointwise maximal leakage) and PerfectPrivacy."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet._support import validate
from discreet.core.joint import Joint
from discreet.measures.lift import lift
from discreet.notions.base import Notion, check_confidence, two_sided
from discreet.notions.bound import Bound
from discreet.notions.lift_kinds import LargestLift, SmallestLift
from discreet.notions.rows import PosteriorRows

__all__ = ["MaxLift", "PerfectPrivacy"]


@dataclass(frozen=True, repr=False)
class MaxLift(Notion):
    r"""Bounded max-lift: nobody becomes surer of any value by more than a factor; ruling out is allowed.

    .. math:: l(s, y) \le e^{\varepsilon_u} \quad \text{for all } s, y

    Parameters
    ----------
    eps_upper : float
        Nats.
    confidence : float, optional
        Such as 0.95: the promise holds with this confidence for the population that the table is a sample of, given
        its useful values; see `discreet.measures.belief_limits`. Left out: it is about the counted table.

    Notes
    -----
    The same as pointwise maximal leakage of at most ``eps_upper``; bounds mutual information and maximal
    leakage by it. Source: [ZDS23]_, (2); [DF20]_, after (10).

    Examples
    --------
    >>> from discreet import LIP
    >>> LIP(1).implies(MaxLift(1)), MaxLift(1).implies(LIP(1))
    (True, False)
    """

    eps_upper: float
    confidence: float | None = field(default=None, kw_only=True)
    name: ClassVar[str] = "max-lift"

    def __post_init__(self) -> None:
        check_confidence(self)
        object.__setattr__(self, "eps_upper", validate.budget(self.eps_upper, "eps_upper"))

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return (Bound(LargestLift(), self.eps_upper),)


@dataclass(frozen=True)
class PerfectPrivacy(Notion):
    r"""Perfect privacy: the release is independent of the sensitive values.

    .. math:: l(s, y) = 1 \quad \text{for all } s, y

    Notes
    -----
    Decided as an equation of integers, never within a tolerance. Any notion with a zero budget on one side is
    this one, because the mean lift is 1. Source: [ZDS23]_, Definition 3 at zero.

    Examples
    --------
    >>> PerfectPrivacy().implies(MaxLift(0))
    True
    """

    name: ClassVar[str] = "perfect"

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return two_sided(0.0, 0.0, SmallestLift(), LargestLift())

    def rows(self, joint: Joint) -> PosteriorRows:
        """Equations ``L v = 1``."""
        lifts = lift(joint)
        labels = tuple(("equal", s, s, None) for s in range(len(lifts)))
        return PosteriorRows(np.empty((0, joint.n_useful)), np.empty(0), lifts, np.ones(len(lifts)), labels=labels)
