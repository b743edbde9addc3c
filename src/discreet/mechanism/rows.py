"""Mechanisms whose released values are listed, with a row of integer weights for whatever chooses among them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from discreet._support.errors import InputError, InvalidMechanismError
from discreet._support.numeric import DENOMINATOR, FloatArray, IntArray, ObjectArray, WeightArray
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.core.rare import has_rare_values
from discreet.mechanism.about import About
from discreet.mechanism.base import Mechanism
from discreet.mechanism.draw import Draw, spread_labels
from discreet.mechanism.entries import Entries
from discreet.mechanism.estimate import Estimate
from discreet.mechanism.values import Reading, composed, proportions
from discreet.mechanism.weights import filled, shares

__all__ = ["MOST_ROWS", "RowMechanism"]

#: Rows that a release can number with the six hexadecimal digits that its draw has for them.
MOST_ROWS = 16**6 - 1


class RowMechanism(Mechanism):
    """What a plain channel and one that reads S share: sparse rows of integer weights, and labels for them."""

    is_sparse: ClassVar[bool] = True

    entries: Entries

    def __init__(
        self,
        entries: tuple[Any, Any, Any],
        useful: Sequence[Any],
        released: Sequence[str],
        about: About,
        n_rows: int,
        places: Sequence[int] | None,
        denominator: int,
        **parts: Any,
    ) -> None:
        names = tuple(released)
        checked = Entries.checked(entries, n_rows, names, denominator)
        own = None if places is None else tuple(places)
        super().__init__(useful, about, entries=checked, _released=names, _places=own, n_rows=n_rows, **parts)
        if own is not None and not (len(set(own)) == len(own) == len(names) and set(own) <= set(range(self.n_useful))):
            raise InvalidMechanismError("in values every released label is another one of the useful values.")

    n_rows: int
    _released: tuple[str, ...]
    _places: tuple[int, ...] | None  # of released values among the useful ones

    @property
    def is_in_values(self) -> bool:
        return self._places is not None

    @property
    def denominator(self) -> int:
        return self.entries.denominator

    @property
    def released_values(self) -> tuple[Any, ...] | None:
        return None if self._places is None else tuple(self.useful[k] for k in self._places)

    @property
    def released(self) -> tuple[str, ...]:
        return self._released

    @property
    @abstractmethod
    def _shape(self) -> tuple[int, ...]:
        """Shape of ``weights`` and ``channel``."""

    @cached_property
    def weights(self) -> WeightArray:
        """The integer weights as a dense array; those of every row sum to ``denominator``."""
        return self.entries.dense(self.n_rows, self.n_released).reshape(self._shape)

    @cached_property
    def channel(self) -> FloatArray:
        """``weights / denominator``; rows sum to one."""
        quotient = shares(self.weights)
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
        product = self.weights.reshape(self.n_rows, -1).astype(object) @ second
        product = product * DENOMINATOR // (self.denominator * other.denominator)
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
        if self.is_deterministic or self.is_in_values:
            return self
        own = {labels.text(label) for label in self.useful}
        names = [name if name in own else f"symbol {k}" for k, name in enumerate(self.released, 1)]
        return self._changed(_released=labels.unique_texts(names))

    def _draw(self, column: str, inputs: tuple[str, ...], symbols: tuple[tuple[Any, ...], ...]) -> Draw:
        if len(symbols) > MOST_ROWS:
            raise InputError(f"a release takes mechanisms of less than {MOST_ROWS + 1} rows.")
        names = tuple(self.released[j] for j in self.entries.columns.tolist())
        starts, own = self.entries.starts(len(symbols)), self.released_values
        width = len(inputs) - (len(self.sensitive_columns) if self.reads_sensitive else 0)
        values = None if own is None else dict(zip(self.released, spread_labels(own, width)))
        return Draw(column, inputs, symbols, starts, self.entries.weights, names, values=values)

    # In the column's own values.

    def in_values(self, joint: Joint | None = None) -> Mechanism:
        """The channel from x to values of its own column; see `Mechanism.in_values`."""
        if self._places is not None:
            return self
        own = self.own_places
        if own is not None:  # its symbols are values, which need no reading
            return self._changed(_places=own)
        masses = self._masses(joint)
        value_of = np.arange(self.n_rows) % self.n_useful
        reading = Reading.of(self.entries, masses, value_of, self.n_released)
        rows, values, weights = composed(self.entries, reading)
        places, columns = np.unique(values, return_inverse=True)
        names = labels.unique_texts([labels.text(self.useful[x]) for x in places.tolist()])
        by_value = masses.reshape(-1, self.n_useful).sum(axis=0)
        is_rare = joint is not None and has_rare_values(joint)
        about = replace(
            self.about,
            p_useful=proportions(by_value),
            is_private=self.is_private or is_rare,
        )
        return self._with_values((rows, columns.reshape(-1), weights), names, places.tolist(), about, masses)

    @abstractmethod
    def _masses(self, joint: Joint | None) -> ObjectArray:
        """Integers in proportion to how often each row is used on a table, or was on that of the design."""

    @abstractmethod
    def _with_values(
        self, entries: tuple[Any, Any, Any], released: Sequence[str], places: Sequence[int], about: About, masses: Any
    ) -> Mechanism:
        """The mechanism of the same kind that releases values, with weights over 2**120."""

    @cached_property
    def own_places(self) -> tuple[int, ...] | None:
        if self._places is not None or self.method is None:  # labels that somebody chose may be anything
            return self._places
        texts = [labels.text(label) for label in self.useful]
        place = {name: k for k, name in enumerate(labels.unique_texts(texts))}
        found = [place.get(name) for name in self.released]
        return None if None in found else tuple(k for k in found if k is not None)

    @property
    def has_mixed_labels(self) -> bool:
        if self.method is None or self.is_in_values:
            return False  # labels that somebody chose, or values
        texts = [labels.text(label) for label in self.useful]
        own = {*texts, *labels.unique_texts(texts)}
        drawn = np.unique(self.entries.columns[self.entries.weights < self.denominator])
        return any(self.released[y] not in own for y in drawn.tolist())

    def released_columns(self, rename: str | None = None, *, as_values: bool = False) -> tuple[str, ...]:
        columns = self.checked_columns()
        if len(columns) == 1 or not (as_values or self.is_in_values):
            return super().released_columns(rename)
        if rename is not None:
            raise InputError(
                "several useful columns come back as those columns, in their own values: leave the name out (rename, "
                "--as), or release one column of labels (as_values=False, --as-labels)."
            )
        return columns

    def estimate(self, released_counts: Any) -> Estimate:
        own = self.released_values
        if own is not None and isinstance(released_counts, Mapping):
            known = dict(zip(own, self.released))
            released_counts = {known.get(value, value): number for value, number in released_counts.items()}
        return super().estimate(released_counts)

    def _stored_parts(self) -> dict[str, Any]:
        own = {} if self._places is None else {"released_values": list(self._places)}
        return {"released": list(self.released), "rows": self.entries.to_lists(self.n_rows), **own}

    @staticmethod
    def _restored_rows(stored: Mapping[str, Any], useful: Sequence[Any]) -> tuple[Entries, Sequence[Any], list[str]]:
        return Entries.stored(stored["rows"], stored["denominator"]), useful, stored["released"]

    @staticmethod
    def _restored_values(stored: Mapping[str, Any]) -> dict[str, Any]:
        return {"places": stored.get("released_values"), "denominator": stored["denominator"]}
