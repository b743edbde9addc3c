"""Mechanisms whose released values are listed, with a row of integer weights for whatever chooses among them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from discreet._support.errors import InputError, InvalidMechanismError
from discreet._support.numeric import DENOMINATOR, FloatArray, IntArray
from discreet.core import labels
from discreet.mechanism.about import About
from discreet.mechanism.base import Mechanism
from discreet.mechanism.draw import Draw
from discreet.mechanism.entries import Entries
from discreet.mechanism.weights import filled

__all__ = ["MOST_ROWS", "RowMechanism"]

#: Rows that a release can number with the six hexadecimal digits that its draw has for them.
MOST_ROWS = 16**6 - 1


class RowMechanism(Mechanism):
    """What a plain channel and one that reads S share: sparse rows of weights over 2**60, and labels for them."""

    is_sparse: ClassVar[bool] = True

    entries: Entries

    def __init__(
        self,
        entries: tuple[Any, Any, Any],
        useful: Sequence[Any],
        released: Sequence[str],
        about: About,
        n_rows: int,
        **parts: Any,
    ) -> None:
        names = tuple(released)
        checked = Entries.checked(entries, n_rows, names)
        super().__init__(useful, about, entries=checked, _released=names, n_rows=n_rows, **parts)

    n_rows: int
    _released: tuple[str, ...]

    @property
    def released(self) -> tuple[str, ...]:
        return self._released

    @property
    @abstractmethod
    def _shape(self) -> tuple[int, ...]:
        """Shape of ``weights`` and ``channel``."""

    @cached_property
    def weights(self) -> IntArray:
        """The integer weights as a dense array; those of every row sum to 2**60."""
        return self.entries.dense(self.n_rows, self.n_released).reshape(self._shape)

    @cached_property
    def channel(self) -> FloatArray:
        """``weights / 2**60``; rows sum to one."""
        quotient = self.weights / DENOMINATOR
        quotient.setflags(write=False)
        return quotient

    @property
    def is_deterministic(self) -> bool:
        return self.entries.is_deterministic

    @abstractmethod
    def _row_of(self, symbols: IntArray, sensitive: Any) -> IntArray:
        """The row that belongs to each useful value (and sensitive one, where it is read)."""

    def sample(self, symbols: Any, rng: np.random.Generator, sensitive: Any = None) -> IntArray:
        return self.entries.sample(self._row_of(np.asarray(symbols), sensitive), rng, self.n_rows)

    def compose(self, other: Mechanism) -> Mechanism:
        """This mechanism followed by ``other``, which takes this one's released symbols.

        Weights are rounded to 2**60 where ``other`` randomises. The result carries no notion: not every one
        survives post-processing (the inverse l1 and chi-square lifts do not), so check it anew.
        """
        if not isinstance(other, RowMechanism) or other.reads_sensitive:
            raise InvalidMechanismError("a mechanism is followed by a plain channel over its released symbols.")
        known = {labels.text(label): i for i, label in enumerate(other.useful)}
        if len(known) < other.n_useful:
            raise InvalidMechanismError("two useful labels of the second mechanism read the same; rename one.")
        missing = [y for y in self.released if y not in known]
        if missing:
            raise InvalidMechanismError(
                f"{len(missing)} of {self.n_released} released symbols have no row in the second mechanism."
            )
        second = other.weights[[known[y] for y in self.released]].astype(object)
        product = (self.weights.reshape(self.n_rows, -1).astype(object) @ second) // DENOMINATOR
        made = self.reweighted(filled(product, np.argmax(product, axis=1)), other.released)
        return made.kept_private() if other.is_private else made

    @abstractmethod
    def reweighted(self, weights: Any, released: Iterable[Any]) -> Mechanism:
        """Other weights for the same values, columns and bins; what was promised of the old ones is gone."""

    def unnamed(self) -> Self:
        """Numbers for labels that name several values, unless every value has one label of its own.

        Which values may share a released one follows from what each of them tells about S, and shares tell even more.
        Blocks that are merged are told apart by nothing but their label, which says what the release itself does.
        """
        if self.is_deterministic:
            return self
        own = {labels.text(label) for label in self.useful}
        names = [name if name in own else f"symbol {k}" for k, name in enumerate(self.released, 1)]
        return self._changed(_released=labels.unique_texts(names))

    def _draw(self, column: str, inputs: tuple[str, ...], symbols: tuple[tuple[Any, ...], ...]) -> Draw:
        if len(symbols) > MOST_ROWS:
            raise InputError(f"a release takes mechanisms of less than {MOST_ROWS + 1} rows.")
        names = tuple(self.released[j] for j in self.entries.columns.tolist())
        return Draw(column, inputs, symbols, self.entries.starts(len(symbols)), self.entries.weights, names)

    def _stored_parts(self) -> dict[str, Any]:
        return {"released": list(self.released), "rows": self.entries.to_lists(self.n_rows)}
