"""Entropy, mutual information and the share of information that a mechanism keeps."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import log_shares
from discreet.core.joint import Joint
from discreet.measures import kernels

if TYPE_CHECKING:
    from discreet.mechanism import Mechanism

__all__ = ["entropy", "mutual_information", "nmi", "useful_information"]


def entropy(distribution: Any) -> float:
    r"""Shannon entropy of a distribution.

    .. math:: H(X) = -\sum_x P(x) \log P(x)

    In arrays: ``-(p * np.log(p)).sum()`` with 0 log 0 = 0. The uncertainty about ``x`` before anything is seen.

    Parameters
    ----------
    distribution : Joint or array_like
        A vector of probabilities, or a joint, whose useful variable is then meant.

    Returns
    -------
    float
        Nats, in [0, log n]: 0 for a certain value, log n for a uniform one.

    Notes
    -----
    Cost O(n). Source: [ZDS23]_, (11).

    Examples
    --------
    >>> round(entropy([0.5, 0.25, 0.25]), 4)
    1.0397
    """
    p = distribution.p_useful if isinstance(distribution, Joint) else np.asarray(distribution, dtype=np.float64)
    if p.ndim != 1 or np.isnan(p).any() or (p < 0).any():
        raise InputError("entropy takes a Joint or a vector of probabilities.")
    there = p[p > 0]
    return abs(float(there @ log_shares(there))) if len(there) else 0.0


def mutual_information(joint: Joint) -> float:
    r"""Mutual information of the two variables of a joint.

    .. math:: I(S; Y) = \sum_{s, y} P(s, y) \log \frac{P(s, y)}{P(s) P(y)}

    In arrays: ``(P * log_lift(joint))[P > 0].sum()``. Nats that ``y`` tells about ``s`` on average.

    Parameters
    ----------
    joint : Joint
        P(s, y).

    Returns
    -------
    float
        Nats, in [0, min(H(S), H(Y))]: 0 for independent variables.

    Notes
    -----
    ``ALIP(eps_lower, eps_upper)`` bounds it by ``eps_upper``. Cost O(n_sensitive * n_released).
    Source: [ZDS23]_, Proposition 1.1.

    Examples
    --------
    >>> round(mutual_information(Joint.from_array([[0.30, 0.15, 0.05], [0.10, 0.15, 0.25]])), 4)
    0.1251
    """
    terms = np.empty_like(joint.probabilities)
    prior, released = joint.p_sensitive, joint.p_useful

    def fill(here: slice) -> None:
        cells = joint.probabilities[:, here]
        product = np.outer(prior, released[here])
        ratio = np.divide(cells, product, out=np.ones_like(cells), where=cells > 0)
        np.multiply(cells, np.log(ratio), out=terms[:, here])

    # Large joints need no more memory than their terms, and the sum stays one.
    kernels.side_by_side(fill, joint.n_useful)
    return max(0.0, float(terms.sum()))


def useful_information(joint: Joint, mechanism: Mechanism) -> float:
    r"""Mutual information of useful and released variable, the utility of a mechanism.

    .. math:: I(X; Y) = \sum_{x, y} P(x) P(y \mid x) \log \frac{P(y \mid x)}{P(y)}

    In arrays: from ``joint.p_useful`` and the positive entries of ``mechanism.channel``. Nats about ``x`` that
    the release keeps.

    Parameters
    ----------
    joint : Joint
        P(s, x), of which only P(x) matters.
    mechanism : Mechanism
        P(y | x).

    Returns
    -------
    float
        Nats, in [0, H(X)]: H(X) where ``y`` gives ``x`` back.

    Notes
    -----
    Cost O(number of positive weights). Source: [ZDS23]_, (11).

    Examples
    --------
    >>> from discreet import Mechanism
    >>> joint = Joint.from_array([[0.25, 0.25], [0.25, 0.25]])
    >>> round(useful_information(joint, Mechanism.from_blocks(joint, [0, 1])), 4)
    0.6931
    """
    return mechanism.useful_information(joint)


def nmi(joint: Joint, mechanism: Mechanism) -> float:
    r"""Share of the useful information that a mechanism keeps.

    .. math:: \mathrm{NMI} = \frac{I(X; Y)}{H(X)}

    In arrays: ``useful_information(joint, mechanism) / entropy(joint)``. It divides by H(X), unlike the mean
    of two entropies that clustering uses.

    Parameters
    ----------
    joint : Joint
        P(s, x).
    mechanism : Mechanism
        P(y | x).

    Returns
    -------
    float
        In [0, 1]: 1 where nothing of ``x`` is lost; 0 where ``x`` has only one value.

    Notes
    -----
    Cost O(number of positive weights). Source: [ZDS23]_, Section 3.1.3.

    Examples
    --------
    >>> from discreet import Mechanism
    >>> joint = Joint.from_array([[0.25, 0.0, 0.25], [0.0, 0.25, 0.25]])
    >>> round(nmi(joint, Mechanism.from_blocks(joint, [0, 0, 1])), 4)
    0.6667
    """
    whole = entropy(joint)
    return min(1.0, useful_information(joint, mechanism) / whole) if whole > 0 else 0.0
