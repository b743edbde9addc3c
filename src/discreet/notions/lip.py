"""Local information privacy, symmetric (LIP) and asymmetric (ALIP)."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from discreet._support import validate
from discreet._support.errors import InvalidNotionError
from discreet.notions import exact
from discreet.notions.base import Notion, check_confidence, check_sides, two_sided
from discreet.notions.bound import Bound
from discreet.notions.lift_kinds import LargestLift, SmallestLift

__all__ = ["ALIP", "LIP"]


@dataclass(frozen=True, repr=False)
class LIP(Notion):
    r"""Local information privacy: no belief about ``s`` changes by more than a factor of exp(epsilon).

    .. math:: e^{-\varepsilon} \le l(s, y) \le e^{\varepsilon} \quad \text{for all } s, y

    Parameters
    ----------
    epsilon : float
        Budget of each side, nats. With zero, nothing may be learnt (perfect privacy).
    confidence : float, optional
        Such as 0.95: the promise holds with this confidence for the population that the table is a sample of, given
        its useful values; see `discreet.measures.belief_limits`. Left out: it is about the counted table.

    Notes
    -----
    ``LIP(e)`` is ``ALIP(e, e)``; it implies ``LDP(2 e)`` and follows from ``LDP(e)``.
    Source: [ZDS23]_, Definition 1; [LTS20]_, Lemma 1.

    Examples
    --------
    >>> LIP(0.5).implies(LIP(0.6)), LIP(0.5).implies(LIP(0.4))
    (True, False)
    """

    epsilon: float
    confidence: float | None = field(default=None, kw_only=True)
    name: ClassVar[str] = "lip"

    def __post_init__(self) -> None:
        check_confidence(self)
        object.__setattr__(self, "epsilon", validate.budget(self.epsilon, "epsilon"))

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return two_sided(self.epsilon, self.epsilon, SmallestLift(), LargestLift())


@dataclass(frozen=True, kw_only=True, repr=False)
class ALIP(Notion):
    r"""Asymmetric local information privacy: separate budgets for falling and for rising beliefs.

    .. math:: e^{-\varepsilon_l} \le l(s, y) \le e^{\varepsilon_u} \quad \text{for all } s, y

    Parameters
    ----------
    eps_lower, eps_upper : float or None
        Nats; None leaves that side open.
    confidence : float, optional
        Such as 0.95: the promise holds with this confidence for the population that the table is a sample of, given
        its useful values; see `discreet.measures.belief_limits`. Left out: it is about the counted table.

    Notes
    -----
    Implies ``LDP(eps_lower + eps_upper)``, mutual information and maximal leakage of at most ``eps_upper``.
    The mean lift is 1, so a zero budget on one side is perfect privacy. Source: [ZDS23]_, Definition 3.

    Examples
    --------
    >>> ALIP.split(2.0, lam=0.65)
    ALIP(eps_lower=1.3, eps_upper=0.7)
    """

    eps_lower: float | None = None
    eps_upper: float | None = None
    confidence: float | None = None
    name: ClassVar[str] = "alip"

    def __post_init__(self) -> None:
        check_confidence(self)
        check_sides(self)

    @classmethod
    def split(cls, epsilon: float, lam: float, *, confidence: float | None = None) -> ALIP:
        """Share a total budget: ``eps_lower = lam * epsilon``, ``eps_upper = (1 - lam) * epsilon``.

        The two never sum to more than ``epsilon``, so that ``LDP(epsilon)`` follows; ``lam = 0.5`` is
        ``LIP(epsilon / 2)``.
        """
        total = validate.budget(epsilon, "epsilon") or 0.0
        if isinstance(lam, bool) or not 0 <= float(lam) <= 1:  # a NaN fails this too
            raise InvalidNotionError(f"lam must be between 0 and 1, got {lam}.")
        lower = float(lam) * total
        upper = (1 - float(lam)) * total
        while Fraction(lower) + Fraction(upper) > Fraction(total):
            upper = math.nextafter(upper, 0.0)
        return cls(eps_lower=lower, eps_upper=upper, confidence=confidence)

    @classmethod
    def against_breach(cls, rho1: float, rho2: float) -> ALIP:
        r"""The notion that prevents upward rho1-to-rho2 and downward rho2-to-rho1 privacy breaches.

        A breach upwards is a property of ``s`` that was at most ``rho1`` likely and becomes more than ``rho2``
        likely; downwards, one that was at least ``rho2`` likely and becomes less than ``rho1`` likely. Enough is

        .. math:: \frac{1 - \rho_2}{1 - \rho_1} \le \Psi(y), \qquad \Lambda(y) \le \frac{\rho_2}{\rho_1}

        The budgets are rounded down. Source: [ZDS23]_, Proposition A1, after Evfimievski et al.

        Examples
        --------
        >>> ALIP.against_breach(0.1, 0.5)
        ALIP(eps_lower=0.587786664902119, eps_upper=1.6094379124341003)
        """
        if not 0 < rho1 < rho2 < 1:
            raise InvalidNotionError(f"rho1 and rho2 must satisfy 0 < rho1 < rho2 < 1, got {rho1} and {rho2}.")
        low, high = Fraction(rho1), Fraction(rho2)
        return cls(eps_lower=_log_down((1 - low) / (1 - high)), eps_upper=_log_down(high / low))

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return two_sided(self.eps_lower, self.eps_upper, SmallestLift(), LargestLift())


def _log_down(value: Fraction) -> float:
    """The largest float that is not above log(value)."""
    below = exact.log_below(value)
    nearest = float(below)
    return nearest if Fraction(nearest) <= below else math.nextafter(nearest, -math.inf)
