"""Ranges: which values can occur together, and what that alone gives away. All quantities are in bits, as in [DF20]_.

For small tables probabilities mean little, and a range asks only which pairs (s, x) occur. Every function takes a
`Range`, a `Joint` or a boolean matrix with sensitive values as rows; a joint of (sensitive, released) is taken alike.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from discreet import _validate, labels
from discreet._numeric import FloatArray, IntArray, xlogx
from discreet.errors import InputError, InvalidJointError
from discreet.joint import Joint

__all__ = [
    "Components",
    "Range",
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


class Range:
    r"""The joint range :math:`[[S, X]]`: the pairs that occur, kept sparse.

    Parameters
    ----------
    sensitive_of, useful_of : array_like of int
        Codes of the pairs; repeated pairs count once.
    sensitive, useful : sequence, optional
        Labels; 0, 1, 2, ... where left out. Values that occur in no pair are not part of the range and are left out.
    records : array_like of int, optional
        Records of each pair, for `k_anonymity`.

    Examples
    --------
    >>> Range([0, 1, 1, 2], [0, 0, 1, 2], useful=["a", "b", "c"])
    Range(3 sensitive x 3 useful, 4 pairs)
    """

    def __init__(
        self,
        sensitive_of: Any,
        useful_of: Any,
        *,
        sensitive: Iterable[Any] | None = None,
        useful: Iterable[Any] | None = None,
        records: Any = None,
    ) -> None:
        row, column = np.asarray(sensitive_of, dtype=np.int64), np.asarray(useful_of, dtype=np.int64)
        if row.shape != column.shape or row.ndim != 1 or not len(row):
            raise InvalidJointError("a range needs at least one pair, as two vectors of codes of one length.")
        if row.min() < 0 or column.min() < 0:
            raise InvalidJointError("codes of a range must not be negative.")
        names = _validate.label_list(sensitive, _count(row, sensitive), "sensitive")
        values = _validate.label_list(useful, _count(column, useful), "useful")
        if row.max() >= len(names) or column.max() >= len(values):
            raise InvalidJointError("a pair of a range has a code beyond its labels.")
        weights = np.ones(len(row), dtype=np.int64) if records is None else np.asarray(records, dtype=np.int64)
        if weights.shape != row.shape or (weights < 1).any():
            raise InvalidJointError("records must be a positive integer for every pair.")
        seen_s, row = np.unique(row, return_inverse=True)
        seen_x, column = np.unique(column, return_inverse=True)
        keys, place = np.unique(column * len(seen_s) + row, return_inverse=True)
        self.sensitive = tuple(names[k] for k in seen_s.tolist())
        self.useful = tuple(values[k] for k in seen_x.tolist())
        #: Codes of the pairs, sorted by useful and then by sensitive value.
        self.useful_of, self.sensitive_of = np.divmod(keys, len(seen_s))
        #: First pair of every useful value, and the number of pairs at the end.
        self.starts = np.searchsorted(self.useful_of, np.arange(len(seen_x) + 1))
        #: Records of every pair; None where they were not given.
        self.records: IntArray | None = None
        if records is not None:
            self.records = np.zeros(len(keys), dtype=np.int64)
            np.add.at(self.records, place, weights)

    @classmethod
    def of(cls, source: Any) -> Range:
        """The range of a joint, of a boolean matrix with sensitive values as rows, or a range as it is."""
        if isinstance(source, Range):
            return source
        if isinstance(source, Joint):
            row, column = np.nonzero(source.masses != 0)
            records = None if source.counts is None else source.counts[row, column].astype(np.int64)
            return cls(row, column, sensitive=source.sensitive, useful=source.useful, records=records)
        matrix = np.asarray(source)
        if matrix.ndim != 2 or matrix.dtype != bool:
            raise InputError(
                f"a range comes from a Joint or a matrix of booleans, got {type(source).__name__} of "
                f"{getattr(matrix, 'dtype', 'objects')}. For counts use Joint.from_counts."
            )
        if not matrix.any():
            raise InvalidJointError("a range needs at least one pair.")
        empty = int((~matrix.any(axis=0)).sum())
        if empty:
            raise InvalidJointError(f"{empty} useful values occur with no sensitive value: their range is empty.")
        row, column = np.nonzero(matrix)
        return cls(row, column)

    @classmethod
    def from_table(
        cls,
        table: Any,
        sensitive: str | Sequence[str],
        useful: str | Sequence[str],
        *,
        bins: Mapping[str, Any] | None = None,
    ) -> Range:
        """The pairs that occur in a table, of any number: nothing dense is built. See `Joint.from_table`."""
        from discreet.tables import list_pairs  # as Joint.from_table does, against the order of layers

        pairs = list_pairs(table, sensitive, useful, bins=bins)
        return cls(pairs.row, pairs.column, sensitive=pairs.sensitive, useful=pairs.useful, records=pairs.records)

    @property
    def n_sensitive(self) -> int:
        """Number of sensitive values that occur."""
        return len(self.sensitive)

    @property
    def n_useful(self) -> int:
        """Number of useful values that occur."""
        return len(self.useful)

    @property
    def sizes(self) -> IntArray:
        """How many sensitive values occur with every useful value."""
        return np.diff(self.starts)

    def merged(self, block_of: Any) -> Range:
        """The range after useful values with equal numbers were merged; labels name the members."""
        number = np.asarray(block_of, dtype=np.int64)
        if number.shape != (self.n_useful,):
            raise InputError(f"a partition must give each of {self.n_useful} useful values a number.")
        _, first, block = np.unique(number, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first))  # blocks in the order of their first members
        block = rank[block.reshape(-1)]
        members: list[list[Any]] = [[] for _ in first]
        for x, b in enumerate(block.tolist()):
            members[b].append(self.useful[x])
        return Range(
            self.sensitive_of,
            block[self.useful_of],
            sensitive=self.sensitive,
            useful=labels.unique_texts(labels.block_text(part) for part in members),
            records=self.records,
        )

    def with_sensitive(self) -> Range:
        """The range in which the useful value is the pair (s, x): quantising it may read S."""
        names = [(self.sensitive[s], self.useful[x]) for s, x in zip(self.sensitive_of, self.useful_of)]
        everyone = np.arange(len(names))
        return Range(self.sensitive_of, everyone, sensitive=self.sensitive, useful=names, records=self.records)

    def to_dict(self) -> dict[str, Any]:
        """Labels and pairs as plain data."""
        return {
            "sensitive": [labels.encode(label) for label in self.sensitive],
            "useful": [labels.encode(label) for label in self.useful],
            "pairs": np.stack([self.sensitive_of, self.useful_of], axis=1).tolist(),
        }

    def __repr__(self) -> str:
        return f"Range({self.n_sensitive} sensitive x {self.n_useful} useful, {len(self.useful_of)} pairs)"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


def _count(codes: IntArray, names: Iterable[Any] | None) -> int:
    return (
        int(codes.max()) + 1 if names is None else len(list(names)) if not isinstance(names, Sequence) else len(names)
    )


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
    mass: FloatArray = np.bincount(components(joint).useful, joint.p_useful[occurs]).astype(np.float64)
    return float(-xlogx(mass).sum() / math.log(2))
