"""Notions that bound averages of the lift: l1, chi-square and alpha lift, and their inverses."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from discreet._support import validate
from discreet.notions.base import Notion, check_sides, two_sided
from discreet.notions.bound import Bound
from discreet.notions.mean_kinds import AlphaMean, Chi2Mean, InverseMean, L1Mean

__all__ = ["AlphaLift", "Chi2Lift", "L1Lift"]


@dataclass(frozen=True, kw_only=True)
class L1Lift(Notion):
    r"""Bounded l1 lift, and bounded inverse l1 lift.

    .. math:: \Lambda_{\ell_1}(y) \le e^{\varepsilon_u} - 1, \qquad \Psi_{\ell_1}(y) \le e^{\varepsilon_l} - 1

    Parameters
    ----------
    eps_lower, eps_upper : float or None
        Nats; None leaves that side open.

    Notes
    -----
    The upper side is a polytope of posteriors, the lower one is not even convex: ``1 - 1/l`` is concave above a lift
    of 1, so that optima have limits that may not be met. Source: [ZDS23]_, Section 6.2.

    Examples
    --------
    >>> from discreet import LIP
    >>> LIP(0.5).implies(L1Lift(eps_upper=0.5))
    True
    """

    eps_lower: float | None = None
    eps_upper: float | None = None
    name: ClassVar[str] = "l1"

    def __post_init__(self) -> None:
        check_sides(self)

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return two_sided(self.eps_lower, self.eps_upper, InverseMean(L1Mean()), L1Mean())


@dataclass(frozen=True, kw_only=True)
class Chi2Lift(Notion):
    r"""Bounded chi-square lift, and bounded inverse chi-square lift.

    .. math:: \Lambda_{\chi^2}(y) \le (e^{\varepsilon_u} - 1)^2, \qquad
        \Psi_{\chi^2}(y) \le (e^{\varepsilon_l} - 1)^2

    Parameters
    ----------
    eps_lower, eps_upper : float or None
        Nats; None leaves that side open.

    Notes
    -----
    Implies `L1Lift` with the same budgets (Cauchy-Schwarz). The upper side is convex in the posterior, the lower one
    where no lift exceeds 3/2. Source: [ZDS23]_, Section 6.2.

    Examples
    --------
    >>> Chi2Lift(eps_upper=0.5).implies(L1Lift(eps_upper=0.5))
    True
    """

    eps_lower: float | None = None
    eps_upper: float | None = None
    name: ClassVar[str] = "chi2"

    def __post_init__(self) -> None:
        check_sides(self)

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return two_sided(self.eps_lower, self.eps_upper, InverseMean(Chi2Mean()), Chi2Mean())


@dataclass(frozen=True)
class AlphaLift(Notion):
    r"""Bounded alpha lift, and bounded inverse alpha lift.

    .. math:: \Lambda_\alpha(y) \le e^{\varepsilon_u}, \qquad \Psi_\alpha(y) \le e^{\varepsilon_l}

    Parameters
    ----------
    alpha : float
        Above 1 and finite; the limit for large alpha is `ALIP`.
    eps_lower, eps_upper : float or None
        Nats; None leaves that side open.

    Notes
    -----
    Both sides are convex in the posterior. Source: [ZDS23]_, Section 6.2.

    Examples
    --------
    >>> AlphaLift(10, eps_upper=0.5).implies(AlphaLift(2, eps_upper=0.5))
    True
    """

    alpha: float
    _: KW_ONLY
    eps_lower: float | None = None
    eps_upper: float | None = None
    name: ClassVar[str] = "alpha-lift"

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", validate.order_above_one(self.alpha))
        check_sides(self)

    @property
    def bounds(self) -> tuple[Bound, ...]:
        mean = AlphaMean(self.alpha)
        return two_sided(self.eps_lower, self.eps_upper, InverseMean(mean), mean)
