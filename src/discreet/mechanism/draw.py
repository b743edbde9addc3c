"""What a release draws: for every row of a mechanism, the labels that it may give and their integer weights."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray, WeightArray
from discreet.mechanism.weights import denominator_of, shares

__all__ = ["Draw", "column_name", "spread_labels"]


@dataclass(frozen=True)
class Draw:
    """One draw: a released column or, in values, as many columns as its values have parts.

    Attributes
    ----------
    column : str
        Name under which its sub-key is derived.
    inputs : tuple of str
        Columns whose values together choose the row.
    symbols : tuple of tuple
        The values of each row, one for each input.
    starts : ndarray
        First entry of each row, and the number of entries at the end.
    weights : ndarray
        Of all entries, row by row, over 2**60 or 2**120.
    labels : tuple of str
        What each entry releases.
    bits : tuple of int, optional
        Weights of a one in the true bit and in any other, where the release is a string of bits and has no entries.
    values : dict, optional
        In values: what each label is published as, a value for each of the last inputs.
    """

    column: str
    inputs: tuple[str, ...]
    symbols: tuple[tuple[Any, ...], ...]
    starts: IntArray
    weights: WeightArray
    labels: tuple[str, ...]
    bits: tuple[int, int] | None = None
    values: Mapping[str, tuple[Any, ...]] | None = None

    @classmethod
    def of_bits(
        cls, column: str, inputs: tuple[str, ...], symbols: tuple[tuple[Any, ...], ...], bits: tuple[int, int]
    ) -> Draw:
        """A string of bits, one for every row."""
        none = np.zeros(len(symbols) + 1, dtype=np.int64)
        return cls(column, inputs, symbols, none, none[:0], (), bits)

    @property
    def denominator(self) -> int:
        """What the weights of a row sum to."""
        return denominator_of(self.weights)

    @property
    def shares(self) -> FloatArray:
        """The weights as probabilities."""
        return shares(self.weights)

    @property
    def outputs(self) -> tuple[str, ...]:
        """In values: the columns whose values are published; none where labels are."""
        return () if self.values is None else self.inputs[-len(next(iter(self.values.values()))) :]

    @property
    def n_columns(self) -> int:
        """Columns that are published of it."""
        return 1 if self.values is None else len(self.outputs)

    @property
    def widest(self) -> int:
        """Entries of the longest row."""
        return int(np.diff(self.starts).max(initial=0))


def column_name(columns: Sequence[str]) -> str:
    """The name under which columns that are drawn together derive their sub-key."""
    return "\x1f".join(columns)


def spread_labels(labels: Sequence[Any], count: int) -> tuple[tuple[Any, ...], ...]:
    """Labels as tuples with a value for each column.

    >>> spread_labels(["a", None], 1)
    (('a',), (None,))
    """
    if count == 1:
        return tuple((label,) for label in labels)
    if not all(isinstance(label, tuple) and len(label) == count for label in labels):
        raise InputError(f"the mechanism's values are not tuples of {count} parts, one for each column.")
    return tuple(labels)
