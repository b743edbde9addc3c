"""Local differential privacy with respect to the sensitive values."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet._support import validate
from discreet.notions.base import Notion
from discreet.notions.bound import Bound
from discreet.notions.lift_kinds import LiftRatio

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
        return (Bound(LiftRatio(), self.epsilon),)
