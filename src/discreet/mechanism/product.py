"""Mechanisms of several attributes: one channel for each, drawn independently."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from discreet._support.errors import InputError, InvalidMechanismError
from discreet._support.numeric import FloatArray, IntArray, ObjectArray
from discreet._support.visible import visible
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.core.rare import has_rare_values
from discreet.mechanism.about import About
from discreet.mechanism.base import Mechanism
from discreet.mechanism.channel import ChannelMechanism
from discreet.mechanism.draw import Draw, spread_labels
from discreet.mechanism.pairs import information, listed_codebook
from discreet.mechanism.values import proportions

__all__ = ["ProductMechanism"]


class ProductMechanism(Mechanism):
    r"""Independent channels for the attributes of x: :math:`P(y \mid x) = \prod_j P(y^j \mid x^j)`.

    Parameters
    ----------
    parts : sequence of Mechanism
        One for each attribute; their useful labels are the attribute's values.
    useful : sequence of tuple
        The useful values, each a tuple with a part for every attribute.
    """

    kind: ClassVar[str] = "attributes"

    def __init__(self, parts: Sequence[Mechanism], useful: Sequence[Any], **about: Any) -> None:
        plain = [part for part in parts if isinstance(part, ChannelMechanism)]
        if not plain or len(plain) < len(parts):
            raise InvalidMechanismError("a mechanism of attributes needs at least one part, and plain channels only.")
        if not all(isinstance(x, tuple) and len(x) == len(plain) for x in useful):
            raise InvalidMechanismError(f"useful labels must be tuples of {len(plain)} attributes.")
        places = [{label: k for k, label in enumerate(part.useful)} for part in plain]
        if not all(value in place for x in useful for value, place in zip(x, places)):
            raise InvalidMechanismError("a useful label has a value that its attribute's mechanism does not know.")
        codes = np.array([[place[value] for value, place in zip(x, places)] for x in useful])
        given = About.given(**about)
        # What one of them tells the product tells too, and the other way round: they are designed one after the other.
        hidden = given.is_private or any(part.is_private for part in plain)
        kept = tuple(part.kept_private() for part in plain) if hidden else tuple(plain)
        super().__init__(useful, replace(given, is_private=hidden), parts=kept, _codes=codes)

    parts: tuple[ChannelMechanism, ...]
    _codes: IntArray

    @property
    def n_released(self) -> int:
        """Number of tuples of released symbols."""
        return math.prod(part.n_released for part in self.parts)

    @property
    def is_deterministic(self) -> bool:
        return all(part.is_deterministic for part in self.parts)

    @cached_property
    def released(self) -> tuple[str, ...]:
        """All tuples of released symbols, the last attribute changing fastest."""
        return labels.unique_texts(labels.text(y) for y in itertools.product(*(part.released for part in self.parts)))

    @cached_property
    def channel(self) -> FloatArray:
        """P(y | x), shape (n_useful, n_released)."""
        result: FloatArray = self._product([part.channel for part in self.parts])
        return result

    def _product(self, tables: Sequence[Any]) -> Any:
        result = tables[0][self._codes[:, 0]]
        for j, table in enumerate(tables[1:], 1):
            result = (result[:, :, None] * table[self._codes[:, j]][:, None, :]).reshape(self.n_useful, -1)
        return result

    @property
    def weights(self) -> IntArray:
        """Not there: a tuple's probability is a product of weights. See ``parts``."""
        raise InvalidMechanismError("attributes have weights of their own: see parts.")

    def _rows_for(self, joint: Joint) -> IntArray:
        """For each useful value of a joint, its row here; 0 where it never occurs."""
        self.check_known(joint.useful, joint.occurs)
        place = {label: k for k, label in enumerate(self.useful)}
        return np.array([place.get(label, 0) for label in joint.useful])

    def carried(self, joint: Joint) -> tuple[FloatArray, Callable[[], ObjectArray]]:
        rows = self._rows_for(joint)

        def masses() -> ObjectArray:
            result: ObjectArray = joint.masses @ self._exact()[rows]
            return result

        return joint.probabilities @ self.channel[rows], masses

    def _exact(self) -> ObjectArray:
        """Weights of tuples, the products of those of their parts, shape (n_useful, n_released)."""
        result: ObjectArray = self._product([part.weights.astype(object) for part in self.parts])
        return result

    def outcome_weights(self) -> ObjectArray:
        return self._exact().T[:, None, :]

    def useful_information(self, joint: Joint) -> float:
        cells = joint.p_useful[:, None] * self.channel[self._rows_for(joint)]
        return information(cells)

    def kept_private(self) -> Self:
        return super().kept_private()._changed(parts=tuple(part.kept_private() for part in self.parts))

    def made_public(self) -> Self:
        return super().made_public()._changed(parts=tuple(part.made_public() for part in self.parts))

    def unnamed(self) -> Self:
        other = self._changed(parts=tuple(part.unnamed() for part in self.parts))
        other.__dict__.pop("released", None)  # made of the labels of the parts
        return other

    def codebook(self, joint: Joint | None = None) -> dict[str, dict[Any, float]]:
        """What a released tuple stands for: P(x | y), likeliest first."""
        cells = (self.known_p_useful(joint)[:, None] * self.channel).T
        return listed_codebook(cells, self.released, self.useful)

    def sample(self, symbols: Any, rng: np.random.Generator, sensitive: Any = None) -> IntArray:
        """A released tuple (by index) for each given useful symbol (by index)."""
        codes = self._codes[np.asarray(symbols)]
        result = np.zeros(len(codes), dtype=np.int64)
        for j, part in enumerate(self.parts):
            result = result * part.n_released + part.sample(codes[:, j], rng)
        return result

    def draws(self) -> tuple[Draw, ...]:
        """One for each attribute, under the name of its own column."""
        columns = self.checked_columns()
        return tuple(
            part._draw(column, (column,), spread_labels(part.useful, 1)) for part, column in zip(self.parts, columns)
        )

    def in_values(self, joint: Joint | None = None) -> ProductMechanism:
        """Each attribute by itself in its own values: its distribution is kept on average, that of tuples is not."""
        masses = self.known_masses(joint)
        parts = []
        for j, part in enumerate(self.parts):
            counts = np.zeros(part.n_useful, dtype=object)
            np.add.at(counts, self._codes[:, j], masses)
            parts.append(part.in_values(Joint.from_counts(counts[None], useful=part.useful)))
        hidden = self.is_private or (joint is not None and has_rare_values(joint))
        about = replace(self.about, p_useful=proportions(masses), is_private=hidden)
        return ProductMechanism(parts, self.useful, about=about)

    @property
    def released_values(self) -> tuple[Any, ...] | None:
        if not self.is_in_values:
            return None
        return tuple(itertools.product(*(part.released_values or () for part in self.parts)))

    @property
    def is_in_values(self) -> bool:
        return all(part.is_in_values for part in self.parts)

    def released_columns(self, rename: str | None = None, *, as_values: bool = False) -> tuple[str, ...]:
        if rename is not None:
            raise InputError("the mechanism releases one column for each attribute; they keep their names.")
        return self.checked_columns()

    def stand_in(self, chosen: Any = None) -> Any:
        raise InputError("a mechanism with one protocol for each attribute cannot suppress unknown values.")

    def _stored_parts(self) -> dict[str, Any]:
        return {"parts": [part.to_dict() for part in self.parts]}

    def public_dict(self) -> dict[str, Any]:
        return {**super().public_dict(), "parts": [part.public_dict() for part in self.parts]}

    @classmethod
    def _restored(cls, stored: Mapping[str, Any], useful: Sequence[Any], about: About) -> ProductMechanism:
        if not isinstance(stored["parts"], list):
            raise InvalidMechanismError("the parts of a stored mechanism must be a list.")
        return cls([Mechanism.from_dict(part) for part in stored["parts"]], useful, about=about)

    def describe(self) -> str:
        sizes = ", ".join(f"{part.n_useful} values as one of {part.n_released}" for part in self.parts)
        return f"Each of {len(self.parts)} attributes is released by itself: {sizes}."

    def __repr__(self) -> str:
        sizes = " x ".join(f"{part.n_useful} -> {part.n_released}" for part in self.parts)
        method = f", {self.method}" if self.method else ""
        return visible(f"ProductMechanism({sizes}{method})")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>" + "".join(part._repr_html_() for part in self.parts)
