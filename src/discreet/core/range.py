"""Ranges: which values can occur together, kept sparse. Small tables are judged by this alone."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from discreet._support.errors import InputError, InvalidJointError
from discreet._support.numeric import IntArray
from discreet.core import cells, labels, partition
from discreet.core.joint import Joint

__all__ = ["Range"]


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
        names = cells.label_list(sensitive, _count(row, sensitive), "sensitive")
        values = cells.label_list(useful, _count(column, useful), "useful")
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
            row, column = np.nonzero(source.whole != 0)
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
        # As Joint.from_table does, against the order of layers.
        from discreet.tables import columns_to_count, group_pairs, open_table

        with open_table(table, columns_to_count(sensitive, useful)) as source:
            found = group_pairs(source, sensitive, useful, bins=bins)
        row, column, records, names, values = found.pairs()
        return cls(row, column, sensitive=tuple(names), useful=tuple(values), records=records)

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
        members = [[self.useful[x] for x in block] for block in partition.members(number)]
        return Range(
            self.sensitive_of,
            partition.numbered(number)[self.useful_of],
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
