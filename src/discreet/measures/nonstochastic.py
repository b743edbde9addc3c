"""What a range gives away, whatever the probabilities. All quantities are in bits, as in [DF20]_.

For small tables probabilities mean little, and a range asks only which pairs (s, x) occur. Every function takes a
`Range`, a `Joint` or a boolean matrix with sensitive values as rows; a joint of (sensitive, released) is taken alike.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray, xlogx
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.core.range import Range

__all__ = [
    "Components",
    "common_information",
    "components",
    "distinct_sensitive",
    "hartley_entropy",
    "k_anonymity",
    "maximin_information",
    "non_stochastic_information",
    "overlap_partition",
    "smallest_uncertainty",
    "uncertainty_reduction",
]


def hartley_entropy(source: Any, *, of: str = "useful") -> float:
    r"""Hartley entropy: the logarithm of the number of values that occur.

    .. math:: H_0(X) = \log_2 |[[X]]|

    Parameters
    ----------
    source : Range, Joint or array_like of bool
        Pairs (s, x).
    of : str
        ``"useful"`` or ``"sensitive"``.

    Returns
    -------
    float
        Bits, at least 0.

    Notes
    -----
    Cost O(pairs). Source: [DF20]_, Section II.

    Examples
    --------
    >>> hartley_entropy(np.array([[True, True, False, True], [True, False, True, False]]))
    2.0
    """
    if of not in ("useful", "sensitive"):
        raise InputError(f"of must be 'useful' or 'sensitive', got {of!r}.")
    whole = Range.of(source)
    return math.log2(whole.n_useful if of == "useful" else whole.n_sensitive)


def non_stochastic_information(source: Any) -> float:
    r"""Non-stochastic information: the smallest drop of the uncertainty about S.

    .. math:: I_0(S \to X) = H_0(S) - \max_x \log_2 |[[S \mid x]]|

    Parameters
    ----------
    source : Range, Joint or array_like of bool
        Pairs (s, x).

    Returns
    -------
    float
        Bits, in [0, `uncertainty_reduction`].

    Notes
    -----
    Cost O(pairs). Source: [DF20]_, Section II.

    Examples
    --------
    >>> non_stochastic_information(np.eye(4, dtype=bool))
    2.0
    """
    whole = Range.of(source)
    return math.log2(whole.n_sensitive / int(whole.sizes.max()))


def uncertainty_reduction(source: Any, *, given: Any = None) -> float:
    r"""Largest drop of the uncertainty about S that a useful value causes.

    .. math:: L_0(S \to X) = H_0(S) - \min_x \log_2 |[[S \mid x]]| = \log_2 (|[[S]]| / k)

    With side information A, the drop is counted from what A had left:
    :math:`L_0(S \to Y \mid A) = \max_{(y, a)} \log_2 |[[S \mid a]]| / |[[S \mid y, a]]|`.

    Parameters
    ----------
    source : Range, Joint or array_like of bool
        Pairs (s, x); with side information, pairs (s, (y, a)).
    given : array_like, optional
        The value a of every useful value (y, a), in the order of the source's useful values.

    Returns
    -------
    float
        Bits, in [0, H_0(S)].

    Notes
    -----
    Cost O(pairs). Source: [DF20]_, Sections III and V.

    Examples
    --------
    >>> uncertainty_reduction(np.array([[True, True], [True, False]]))
    1.0
    """
    whole = Range.of(source)
    if given is None:
        return math.log2(whole.n_sensitive / int(whole.sizes.min()))
    known = Range(whole.sensitive_of, _codes(given, whole)[whole.useful_of])
    before = known.sizes[_codes(given, whole)]
    return float(np.log2(before / whole.sizes).max())


def _codes(given: Any, whole: Range) -> IntArray:
    values = list(given)
    if len(values) != whole.n_useful:
        raise InputError(f"given must have a value for each of {whole.n_useful} useful values, got {len(values)}.")
    place: dict[Any, int] = {}
    return np.array([place.setdefault(labels.plain(value), len(place)) for value in values])


def smallest_uncertainty(source: Any) -> float:
    r"""Uncertainty about S that the most telling useful value leaves.

    .. math:: B_0(S \mid X) = \min_x \log_2 |[[S \mid x]]| = \log_2 k

    Parameters
    ----------
    source : Range, Joint or array_like of bool
        Pairs (s, x).

    Returns
    -------
    float
        Bits, in [0, H_0(S)]: 0 where some value gives s away.

    Notes
    -----
    Cost O(pairs). Source: [DF20]_, Section III.

    Examples
    --------
    >>> smallest_uncertainty(np.ones((8, 2), dtype=bool))
    3.0
    """
    return math.log2(distinct_sensitive(source))


def distinct_sensitive(source: Any) -> int:
    r"""Fewest distinct sensitive values that a useful value leaves: k of [DF20]_, elsewhere distinct l-diversity.

    .. math:: k = \min_x |[[S \mid x]]|

    Parameters
    ----------
    source : Range, Joint or array_like of bool
        Pairs (s, x).

    Returns
    -------
    int
        In [1, number of sensitive values].

    Notes
    -----
    Cost O(pairs). Not the k of records, see `k_anonymity`. Source: [DF20]_, Lemma 1.

    Examples
    --------
    >>> distinct_sensitive(np.array([[True, True], [True, False]]))
    1
    """
    return int(Range.of(source).sizes.min())


def k_anonymity(source: Any) -> int:
    r"""Fewest records that share a useful value.

    .. math:: k = \min_x n(x)

    Parameters
    ----------
    source : Range or Joint
        With counted records: from a table or from counts.

    Returns
    -------
    int
        At least 1.

    Notes
    -----
    Cost O(pairs). Says nothing about S: all k may share one sensitive value, see `distinct_sensitive`.
    Source: Samarati and Sweeney (1998), as cited in [DF20]_.

    Examples
    --------
    >>> k_anonymity(Joint.from_counts([[2, 0], [1, 4]]))
    3
    """
    whole = Range.of(source)
    if whole.records is None:
        raise InputError("k-anonymity counts records: build the joint or the range from a table or from counts.")
    return int(np.add.reduceat(whole.records, whole.starts[:-1]).min())


class Components(NamedTuple):
    """Connected parts of a range: the number of them, and the part of every sensitive and useful value."""

    number: int
    sensitive: IntArray
    useful: IntArray


def components(source: Any) -> Components:
    """Connected components of the bipartite graph of pairs: values that some chain of pairs links.

    Parameters
    ----------
    source : Range, Joint or array_like of bool
        Pairs (s, x).

    Returns
    -------
    Components
        Numbered in the order of their first useful values.

    Notes
    -----
    Cost O(pairs). The parts of the useful values are the finest decomposition of the confusability graph.
    Source: [DF20]_, Section IV.

    Examples
    --------
    >>> components(np.array([[True, True, False], [False, False, True]])).useful
    array([0, 0, 1])
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    whole = Range.of(source)
    size = whole.n_sensitive + whole.n_useful
    # Useful values come first, so that parts are numbered by them.
    links = coo_array(
        (np.ones(len(whole.useful_of), dtype=np.int8), (whole.useful_of, whole.n_useful + whole.sensitive_of)),
        shape=(size, size),
    )
    count, part = connected_components(links, directed=False)
    _, first, order = np.unique(part[: whole.n_useful], return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    return Components(
        int(count),
        rank[part[whole.n_useful :]].astype(np.int64),
        rank[order.reshape(-1)].astype(np.int64),
    )


def maximin_information(source: Any) -> float:
    r"""Maximin information: bits of S that can be told without error.

    .. math:: I_*(S; X) = \log_2 |\text{components of the range}|

    With side information, take the pairs (s, (y, a)) as the range: :math:`I_*(S; Y, A)`.

    Parameters
    ----------
    source : Range, Joint or array_like of bool
        Pairs (s, x).

    Returns
    -------
    float
        Bits, in [0, `uncertainty_reduction`].

    Notes
    -----
    Cost O(pairs). Source: [DF20]_, Section III, after Nair.

    Examples
    --------
    >>> maximin_information(np.eye(4, dtype=bool))
    2.0
    """
    return math.log2(components(source).number)


def overlap_partition(source: Any) -> tuple[tuple[Any, ...], ...]:
    """Sensitive values that no useful value tells apart without error, as tuples of labels.

    Parameters
    ----------
    source : Range, Joint or array_like of bool
        Pairs (s, x).

    Notes
    -----
    Cost O(pairs). Source: [DF20]_, Definition 1.

    Examples
    --------
    >>> overlap_partition(np.array([[True, False], [True, False], [False, True]]))
    ((0, 1), (2,))
    """
    whole = Range.of(source)
    parts: list[list[Any]] = [[] for _ in range(components(whole).number)]
    for label, part in zip(whole.sensitive, components(whole).sensitive.tolist()):
        parts[part].append(label)
    return tuple(tuple(part) for part in parts)


def common_information(joint: Joint) -> float:
    r"""Gács-Körner common information: the entropy of the component that a record lies in.

    .. math:: K(S; X) = -\sum_C P(C) \log_2 P(C)

    Parameters
    ----------
    joint : Joint
        P(s, x), whose probabilities count here.

    Returns
    -------
    float
        Bits, in [0, `maximin_information`], and at most the mutual information in bits.

    Notes
    -----
    Cost O(pairs). Source: [DF20]_, Section VI.

    Examples
    --------
    >>> common_information(Joint.from_array([[0.25, 0.25, 0], [0, 0, 0.5]]))
    1.0
    """
    if not isinstance(joint, Joint):
        raise InputError(f"common_information takes a Joint, got {type(joint).__name__}.")
    occurs = np.flatnonzero(joint.occurs)
    parts = components(joint)
    mass: FloatArray = np.bincount(parts.useful, joint.p_useful[occurs]).astype(np.float64)
    entropy = float(-xlogx(mass).sum()) / math.log(2)
    return min(max(0.0, entropy), math.log2(parts.number))  # masses that are rounded sum to a hair more or less than 1
