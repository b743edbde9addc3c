"""Average leakage: total variation, chi-square, Sibson, Arimoto, maximal and realizable leakage."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet._support import validate
from discreet._support.numeric import FloatArray
from discreet.core.joint import Joint
from discreet.measures import kernels
from discreet.measures.average_lift import alpha_lift, chi2_lift, l1_lift
from discreet.measures.lift import max_lift

__all__ = [
    "arimoto_information",
    "chi2_divergence",
    "leakages",
    "maximal_leakage",
    "realizable_leakage",
    "sibson_information",
    "total_variation",
]


def total_variation(joint: Joint) -> float:
    r"""Mean total variation between the beliefs about ``s`` before and after the release.

    .. math:: T(S; Y) = \tfrac12 \sum_y P(y) \sum_s P(s) \, |l(s, y) - 1|

    In arrays: ``joint.p_useful @ l1_lift(joint) / 2``. The mean of what t-closeness bounds at its worst.

    Parameters
    ----------
    joint : Joint
        P(s, y).

    Returns
    -------
    float
        In [0, 1): 0 for independent variables.

    Notes
    -----
    With lifts in [m, M] it is at most (M - 1)(1 - m)/(M - m); the bound of [ZDS23]_, Proposition 1.2, is false
    as printed. Cost O(n_sensitive * n_released). Source: [ZDS23]_, Definition 5.

    Examples
    --------
    >>> round(total_variation(Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])), 4)
    0.2
    """
    return _total_variation(joint.p_useful, l1_lift(joint))


def chi2_divergence(joint: Joint) -> float:
    r"""Chi-square divergence of the joint from the product of its marginals.

    .. math:: \chi^2(S; Y) = \sum_y P(y) \sum_s P(s) \, (l(s, y) - 1)^2

    In arrays: ``joint.p_useful @ chi2_lift(joint)``. Pearson's mean square contingency.

    Parameters
    ----------
    joint : Joint
        P(s, y).

    Returns
    -------
    float
        In [0, min(n_sensitive, n_released) - 1]: 0 for independent variables.

    Notes
    -----
    With lifts in [m, M] it is at most (M - 1)(1 - m); the bound of [ZDS23]_, Proposition 1.2, is false as
    printed. Cost O(n_sensitive * n_released). Source: [ZDS23]_, Definition 5.

    Examples
    --------
    >>> round(chi2_divergence(Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])), 4)
    0.2333
    """
    return _chi2_divergence(joint.p_useful, chi2_lift(joint))


def sibson_information(joint: Joint, alpha: float) -> float:
    r"""Sibson's mutual information of order alpha.

    .. math:: I^S_\alpha(S; Y) = \frac{\alpha}{\alpha - 1} \log \sum_y P(y) \Lambda_\alpha(y)

    In arrays: ``alpha / (alpha - 1) * np.log(joint.p_useful @ alpha_lift(joint, alpha))``. It tends to the
    mutual information as alpha falls to 1.

    Parameters
    ----------
    joint : Joint
        P(s, y).
    alpha : float
        Above 1; inf gives `maximal_leakage`.

    Returns
    -------
    float
        Nats, non-negative, increasing in alpha.

    Notes
    -----
    Max-lift at most exp(e) bounds it by alpha / (alpha - 1) * e. Cost O(n_sensitive * n_released).
    Source: [ZDS22]_, (15).

    Examples
    --------
    >>> round(sibson_information(Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]]), 2), 4)
    0.2047
    """
    order = validate.order_above_one(alpha, infinite=True)
    return _sibson(joint.p_useful, alpha_lift(joint, order), order)


def arimoto_information(joint: Joint, alpha: float) -> float:
    r"""Arimoto's mutual information of order alpha, the alpha-leakage.

    .. math:: I^A_\alpha(S; Y) = \frac{\alpha}{\alpha - 1}
        \log \frac{\sum_y P(y) \, \|P(\cdot \mid y)\|_\alpha}{\|P_S\|_\alpha}

    In arrays: norms of the columns of P(s, y) over the norm of P(s). How much better an adversary guesses
    ``s`` under the alpha-loss after seeing ``y``.

    Parameters
    ----------
    joint : Joint
        P(s, y).
    alpha : float
        Above 1; inf gives the min-entropy leakage log(sum_y max_s P(s, y) / max_s P(s)).

    Returns
    -------
    float
        Nats, non-negative.

    Notes
    -----
    Max-lift at most exp(e) bounds it by alpha / (alpha - 1) * e. Cost O(n_sensitive * n_released).
    Source: [ZDS22]_, (11) and (16).

    Examples
    --------
    >>> round(arimoto_information(Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]]), 2), 4)
    0.2047
    """
    order = validate.order_above_one(alpha, infinite=True)
    if order == float("inf"):
        ratio = joint.probabilities.max(axis=0).sum() / joint.p_sensitive.max()
        return max(0.0, float(np.log(ratio)))
    return _arimoto(kernels.norms(joint.probabilities, order), joint.p_sensitive, order)


def maximal_leakage(joint: Joint) -> float:
    r"""Maximal leakage: the largest gain in guessing any function of ``s``.

    .. math:: \mathcal{L}(S \to Y) = \log \sum_y P(y) \max_s l(s, y) = \log \sum_y \max_s P(y \mid s)

    In arrays: ``np.log(joint.p_useful @ max_lift(joint))``. By how many nats seeing ``y`` can raise the chance
    to guess some function of ``s`` right.

    Parameters
    ----------
    joint : Joint
        P(s, y).

    Returns
    -------
    float
        Nats, in [0, log min(n_sensitive, n_released)].

    Notes
    -----
    ``sibson_information(joint, inf)``; at most the largest log-lift. Cost O(n_sensitive * n_released).
    Source: [ZDS22]_, (17).

    Examples
    --------
    >>> round(maximal_leakage(Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])), 4)
    0.3365
    """
    return _sibson(joint.p_useful, max_lift(joint), float("inf"))


def realizable_leakage(joint: Joint) -> float:
    r"""Maximal realizable leakage: the worst gain over what can actually be seen.

    .. math:: \mathcal{L}^r(S \to Y) = \log \max_{y : P(y) > 0} \max_s l(s, y)

    In arrays: ``np.log(max_lift(joint).max())``. `maximal_leakage` with the worst symbol in place of the mean.

    Parameters
    ----------
    joint : Joint
        P(s, y).

    Returns
    -------
    float
        Nats, non-negative, at least `maximal_leakage`.

    Notes
    -----
    At most ``eps_upper`` exactly where ``MaxLift(eps_upper)`` holds. Cost O(n_sensitive * n_released).
    Source: [DF20]_, after (10).

    Examples
    --------
    >>> round(realizable_leakage(Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])), 4)
    0.5108
    """
    return _realizable(max_lift(joint))


def leakages(
    prior: FloatArray, released: FloatArray, lifts: Mapping[str, FloatArray], norms: FloatArray, alpha: float
) -> dict[str, float]:
    """All of them by name, from what is known of each symbol: its lifts by name, and the norm of its column."""
    return {
        "total_variation": _total_variation(released, lifts["l1_lift"]),
        "chi2_divergence": _chi2_divergence(released, lifts["chi2_lift"]),
        "sibson_information": _sibson(released, lifts["alpha_lift"], alpha),
        "arimoto_information": _arimoto(norms, prior, alpha),
        "maximal_leakage": _sibson(released, lifts["max_lift"], float("inf")),
        "realizable_leakage": _realizable(lifts["max_lift"]),
    }


def _total_variation(released: FloatArray, l1_lifts: FloatArray) -> float:
    return float(released @ l1_lifts) / 2


def _chi2_divergence(released: FloatArray, chi2_lifts: FloatArray) -> float:
    return float(released @ chi2_lifts)


def _sibson(released: FloatArray, alpha_lifts: FloatArray, order: float) -> float:
    factor = 1.0 if order == float("inf") else order / (order - 1)
    return max(0.0, factor * float(np.log(released @ alpha_lifts)))


def _arimoto(norms: FloatArray, prior: FloatArray, order: float) -> float:
    before = kernels.norms(prior[:, None], order)[0]
    return max(0.0, order / (order - 1) * float(np.log(norms.sum() / before)))


def _realizable(max_lifts: FloatArray) -> float:
    return max(0.0, float(np.log(max_lifts.max())))
