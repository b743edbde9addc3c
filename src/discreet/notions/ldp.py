"""Local differential privacy with respect to the sensitive values."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet._support import validate
from discreet.core.joint import Joint
from discreet.measures.lift import lift
from discreet.notions.base import Notion, PosteriorRows
from discreet.notions.bound import Bound
from discreet.notions.lip import LARGEST_EXPONENT

__all__ = ["LDP"]


@dataclass(frozen=True)
class LDP(Notion):
    r"""Local differential privacy of S: no symbol is much likelier under one sensitive value than another.

    .. math:: P(y \mid s) \le e^{\varepsilon} P(y \mid s') \quad \text{for all } y, s, s'

    Parameters
    ----------
    epsilon : float
        Nats.

    Notes
    -----
    ``LDP(e)`` implies ``LIP(e)`` and follows from ``ALIP`` whose two budgets sum to ``e``.
    Source: [ZDS23]_, Definition 2; [LTS20]_, Lemma 1.

    Examples
    --------
    >>> from discreet import ALIP, LIP
    >>> LDP(1).implies(LIP(1)), ALIP(eps_lower=0.6, eps_upper=0.4).implies(LDP(1))
    (True, True)
    """

    epsilon: float
    name: ClassVar[str] = "ldp"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", validate.budget(self.epsilon, "epsilon"))

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return (Bound("lift_ratio", self.epsilon),)

    @property
    def is_polyhedral(self) -> bool:
        return True

    def rows(self, joint: Joint) -> PosteriorRows:
        """Homogeneous rows ``(L v)(s) - exp(epsilon) (L v)(s') <= 0`` for every pair of values."""
        lifts = lift(joint)
        first, second = np.nonzero(~np.eye(len(lifts), dtype=bool))
        matrix = lifts[first] - math.exp(min(self.epsilon, LARGEST_EXPONENT)) * lifts[second]
        labels = tuple(("ratio", s, other, None) for s, other in zip(first.tolist(), second.tolist()))
        nothing = np.empty((0, joint.n_useful))
        return PosteriorRows(matrix, np.zeros(len(matrix)), nothing, np.empty(0), labels=labels)
