"""The lift P(s | y) / P(s) and its extremes at each released symbol."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from discreet._support import numeric
from discreet._support.numeric import FloatArray
from discreet.core.joint import Joint
from discreet.measures import kernels

__all__ = ["lift", "lift_ratio", "log_lift", "max_lift", "min_lift"]


def lift(joint: Joint) -> FloatArray:
    r"""Lift of every sensitive value at every released symbol.

    .. math:: l(s, y) = \frac{P(s \mid y)}{P(s)} = \frac{P(s, y)}{P(s) P(y)}

    In arrays: ``joint.probabilities / np.outer(joint.p_sensitive, joint.p_useful)``. It is the factor by
    which seeing ``y`` multiplies the belief in ``s``.

    Parameters
    ----------
    joint : Joint
        P(s, y). A symbol of probability zero is never seen: its lifts are 1, so that it counts for nothing.

    Returns
    -------
    ndarray of shape (n_sensitive, n_released)
        In [0, inf): 0 where ``y`` rules ``s`` out. The mean of each column under P(s) is 1.

    Notes
    -----
    Cost O(n_sensitive * n_released). Source: [ZDS23]_, (1).

    Examples
    --------
    >>> joint = Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])
    >>> lift(joint).round(3)
    array([[1.5  , 1.   , 0.333],
           [0.5  , 1.   , 1.667]])
    """
    return kernels.lift(joint.probabilities, joint.p_sensitive, joint.p_useful)


def log_lift(joint: Joint) -> FloatArray:
    r"""Information density: the logarithm of the lift.

    .. math:: i(s, y) = \log l(s, y)

    In arrays: ``np.log(lift(joint))``. Nats by which seeing ``y`` raises or lowers the belief in ``s``.

    Parameters
    ----------
    joint : Joint
        P(s, y).

    Returns
    -------
    ndarray of shape (n_sensitive, n_released)
        Nats, in [-inf, inf): -inf where ``y`` rules ``s`` out. Its mean under P(s, y) is the mutual information.

    Notes
    -----
    ``LIP(epsilon)`` is ``abs(log_lift(joint)) <= epsilon`` everywhere. Cost O(n_sensitive * n_released).
    Source: [ZDS23]_, Section 1.

    Examples
    --------
    >>> joint = Joint.from_array([[0.5, 0.0], [0.25, 0.25]])
    >>> log_lift(joint).round(3)
    array([[ 0.288,   -inf],
           [-0.405,  0.693]])
    """
    return numeric.log(lift(joint))


def max_lift(joint: Joint) -> FloatArray:
    r"""Largest lift at each released symbol.

    .. math:: \Lambda(y) = \max_s l(s, y)

    In arrays: ``lift(joint).max(axis=0)``. How much surer of some sensitive value ``y`` can make anyone.

    Parameters
    ----------
    joint : Joint
        P(s, y).

    Returns
    -------
    ndarray of shape (n_released,)
        In [1, inf): 1 where ``y`` tells nothing. A symbol of probability zero has 1.

    Notes
    -----
    Its logarithm is the pointwise maximal leakage of ``y``; the logarithm of its mean is
    `maximal_leakage`. Cost O(n_sensitive * n_released). Source: [ZDS23]_, (2).

    Examples
    --------
    >>> joint = Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])
    >>> max_lift(joint).round(3)
    array([1.5  , 1.   , 1.667])
    """
    return kernels.max_lift(lift(joint), joint.p_sensitive)


def min_lift(joint: Joint) -> FloatArray:
    r"""Smallest lift at each released symbol.

    .. math:: \Psi(y) = \min_s l(s, y)

    In arrays: ``lift(joint).min(axis=0)``. How far ``y`` can push the belief in some sensitive value down.

    Parameters
    ----------
    joint : Joint
        P(s, y).

    Returns
    -------
    ndarray of shape (n_released,)
        In [0, 1]: 0 where ``y`` rules some ``s`` out, 1 where it tells nothing or has probability zero.

    Notes
    -----
    Cost O(n_sensitive * n_released). Source: [ZDS23]_, (2).

    Examples
    --------
    >>> joint = Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])
    >>> min_lift(joint).round(3)
    array([0.5  , 1.   , 0.333])
    """
    return kernels.min_lift(lift(joint), joint.p_sensitive)


def lift_ratio(joint: Joint) -> FloatArray:
    r"""Spread of the lift at each released symbol.

    .. math:: \Gamma(y) = \frac{\Lambda(y)}{\Psi(y)} = \frac{\max_s l(s, y)}{\min_s l(s, y)}

    In arrays: ``lift(joint).max(axis=0) / lift(joint).min(axis=0)``. It tells how much likelier ``y``
    is under the sensitive value that favours it most than under the one that favours it least.

    Parameters
    ----------
    joint : Joint
        P(s, y).

    Returns
    -------
    ndarray of shape (n_released,)
        In [1, inf]: 1 where ``y`` tells nothing or has probability zero, inf where it rules some ``s`` out.

    Notes
    -----
    All entries at most ``exp(epsilon)`` is ``LDP(epsilon)``. ``ALIP(eps_lower, eps_upper)`` gives
    ``LDP(eps_lower + eps_upper)``; ``LDP(e)`` gives ``ALIP(e, e)``; neither step can be reversed.
    Cost O(n_sensitive * n_released). Source: [ZDS23]_, (4).

    Examples
    --------
    >>> joint = Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])
    >>> lift_ratio(joint).round(3)
    array([3., 1., 5.])
    """
    return kernels.lift_ratio(lift(joint), joint.p_sensitive)
