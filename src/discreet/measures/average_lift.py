"""Averages of the lift over the sensitive values: l1, chi-square and alpha lift, and their inverses."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from discreet._support import validate
from discreet._support.numeric import FloatArray
from discreet.core.joint import Joint
from discreet.measures import kernels
from discreet.measures.lift import lift, max_lift, min_lift

__all__ = [
    "alpha_lift",
    "alpha_lift_inverse",
    "chi2_lift",
    "chi2_lift_inverse",
    "l1_lift",
    "l1_lift_inverse",
    "min_lift_inverse",
]


def l1_lift(joint: Joint) -> FloatArray:
    r"""Mean distance of the lift from one at each released symbol.

    .. math:: \Lambda_{\ell_1}(y) = \sum_s P(s) \, |l(s, y) - 1|

    In arrays: ``joint.p_sensitive @ abs(lift(joint) - 1)``. Twice the total variation between the beliefs
    before and after seeing ``y``.

    Parameters
    ----------
    joint : Joint
        P(s, y).

    Returns
    -------
    ndarray of shape (n_released,)
        In [0, 2): 0 where ``y`` tells nothing or has probability zero.

    Notes
    -----
    Half its mean under P(y) is `total_variation`. With lifts in [m, M] it is at most
    2 (M - 1) (1 - m) / (M - m), which is attained; the bound M - 1 of [ZDS23]_, Proposition 3.1, holds only
    where M + m >= 2. Cost O(n_sensitive * n_released). Source: [ZDS23]_, (31).

    Examples
    --------
    >>> joint = Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])
    >>> l1_lift(joint).round(3)
    array([0.5  , 0.   , 0.667])
    """
    return kernels.l1_lift(lift(joint), joint.p_sensitive)


def chi2_lift(joint: Joint) -> FloatArray:
    r"""Mean squared distance of the lift from one at each released symbol.

    .. math:: \Lambda_{\chi^2}(y) = \sum_s P(s) \, (l(s, y) - 1)^2

    In arrays: ``joint.p_sensitive @ (lift(joint) - 1) ** 2``. The chi-square divergence of the belief after
    seeing ``y`` from the belief before.

    Parameters
    ----------
    joint : Joint
        P(s, y).

    Returns
    -------
    ndarray of shape (n_released,)
        In [0, inf): 0 where ``y`` tells nothing or has probability zero.

    Notes
    -----
    Its mean under P(y) is `chi2_divergence`; it equals ``alpha_lift(joint, 2) ** 2 - 1``. With lifts in
    [m, M] it is at most (M - 1)(1 - m), which is attained; the bound of [ZDS23]_, Proposition 3.2, holds only
    where M + m >= 2. Cost O(n_sensitive * n_released). Source: [ZDS23]_, (32).

    Examples
    --------
    >>> joint = Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])
    >>> chi2_lift(joint).round(3)
    array([0.25 , 0.   , 0.444])
    """
    return kernels.chi2_lift(lift(joint), joint.p_sensitive)


def alpha_lift(joint: Joint, alpha: float) -> FloatArray:
    r"""Power mean of the lift at each released symbol.

    .. math:: \Lambda_\alpha(y) = \Bigl( \sum_s P(s) \, l(s, y)^\alpha \Bigr)^{1/\alpha}

    In arrays: ``(joint.p_sensitive @ lift(joint) ** alpha) ** (1 / alpha)``. Between the mean lift, 1, and
    the largest lift, which it reaches as alpha grows.

    Parameters
    ----------
    joint : Joint
        P(s, y).
    alpha : float
        Above 1; inf gives `max_lift`.

    Returns
    -------
    ndarray of shape (n_released,)
        In [1, inf), increasing in alpha: 1 where ``y`` tells nothing or has probability zero.

    Notes
    -----
    `sibson_information` is alpha / (alpha - 1) times the logarithm of its mean under P(y).
    Cost O(n_sensitive * n_released). Source: [ZDS23]_, (33).

    Examples
    --------
    >>> joint = Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])
    >>> alpha_lift(joint, 2).round(3)
    array([1.118, 1.   , 1.202])
    """
    order = validate.order_above_one(alpha, infinite=True)
    if order == float("inf"):
        return max_lift(joint)
    return kernels.alpha_lift(lift(joint), joint.p_sensitive, order)


def min_lift_inverse(joint: Joint) -> FloatArray:
    r"""One over the smallest lift at each released symbol.

    .. math:: \frac{1}{\Psi(y)} = \max_s \frac{1}{l(s, y)}

    In arrays: ``1 / lift(joint).min(axis=0)``. The factor by which ``y`` can lower the belief in some value.

    Parameters
    ----------
    joint : Joint
        P(s, y).

    Returns
    -------
    ndarray of shape (n_released,)
        In [1, inf]: inf where ``y`` rules some ``s`` out, 1 where it tells nothing or has probability zero.

    Notes
    -----
    The limit of `alpha_lift_inverse` as alpha grows. Cost O(n_sensitive * n_released). Source: [ZDS23]_, (2).

    Examples
    --------
    >>> joint = Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])
    >>> min_lift_inverse(joint).round(3)
    array([2., 1., 3.])
    """
    return kernels.inverse(min_lift(joint))


def l1_lift_inverse(joint: Joint) -> FloatArray:
    r"""Mean distance of the inverse lift from one at each released symbol.

    .. math:: \Psi_{\ell_1}(y) = \sum_s P(s) \, \Bigl| \frac{1}{l(s, y)} - 1 \Bigr|

    In arrays: ``joint.p_sensitive @ abs(1 / lift(joint) - 1)``. It grows where ``y`` makes values unlikely,
    which `l1_lift` hardly notices.

    Parameters
    ----------
    joint : Joint
        P(s, y).

    Returns
    -------
    ndarray of shape (n_released,)
        In [0, inf]: inf where ``y`` rules some ``s`` out.

    Notes
    -----
    The bound 1/m - 1 of [ZDS23]_, Proposition 5.1, holds only where 1/M + 1/m >= 2, lifts in [m, M].
    Cost O(n_sensitive * n_released). Source: [ZDS23]_, (34).

    Examples
    --------
    >>> joint = Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])
    >>> l1_lift_inverse(joint).round(3)
    array([0.667, 0.   , 1.2  ])
    """
    return kernels.l1_lift(kernels.inverse(lift(joint)), joint.p_sensitive)


def chi2_lift_inverse(joint: Joint) -> FloatArray:
    r"""Mean squared distance of the inverse lift from one at each released symbol.

    .. math:: \Psi_{\chi^2}(y) = \sum_s P(s) \, \Bigl( \frac{1}{l(s, y)} - 1 \Bigr)^2

    In arrays: ``joint.p_sensitive @ (1 / lift(joint) - 1) ** 2``. It grows where ``y`` makes values unlikely.

    Parameters
    ----------
    joint : Joint
        P(s, y).

    Returns
    -------
    ndarray of shape (n_released,)
        In [0, inf]: inf where ``y`` rules some ``s`` out.

    Notes
    -----
    The bound (1/m - 1)^2 of [ZDS23]_, Proposition 5.2, holds only where 1/M + 1/m >= 2, lifts in [m, M].
    Cost O(n_sensitive * n_released). Source: [ZDS23]_, (35).

    Examples
    --------
    >>> joint = Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])
    >>> chi2_lift_inverse(joint).round(3)
    array([0.556, 0.   , 2.08 ])
    """
    return kernels.chi2_lift(kernels.inverse(lift(joint)), joint.p_sensitive)


def alpha_lift_inverse(joint: Joint, alpha: float) -> FloatArray:
    r"""Power mean of the inverse lift at each released symbol.

    .. math:: \Psi_\alpha(y) = \Bigl( \sum_s P(s) \, l(s, y)^{-\alpha} \Bigr)^{1/\alpha}

    In arrays: ``(joint.p_sensitive @ lift(joint) ** -alpha) ** (1 / alpha)``. It tends to one over the
    smallest lift as alpha grows.

    Parameters
    ----------
    joint : Joint
        P(s, y).
    alpha : float
        Above 1; inf gives `min_lift_inverse`.

    Returns
    -------
    ndarray of shape (n_released,)
        In [1, inf], increasing in alpha: inf where ``y`` rules some ``s`` out.

    Notes
    -----
    Convex in the posterior, unlike the two other inverses. Cost O(n_sensitive * n_released).
    Source: [ZDS23]_, (36).

    Examples
    --------
    >>> joint = Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])
    >>> alpha_lift_inverse(joint, 2).round(3)
    array([1.491, 1.   , 2.163])
    """
    order = validate.order_above_one(alpha, infinite=True)
    if order == float("inf"):
        return min_lift_inverse(joint)
    return kernels.alpha_lift(kernels.inverse(lift(joint)), joint.p_sensitive, order)
