"""Mechanisms of several attributes: one channel for each, drawn independently."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet._support.errors import InvalidMechanismError
from discreet._support.numeric import FloatArray, IntArray, ObjectArray, xlogx
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.mechanism.base import Mechanism, stored_about

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
        self.parts = tuple(parts)
        self.useful = tuple(useful)
        if not self.parts:
            raise InvalidMechanismError("a mechanism of attributes needs at least one part.")
        if len(set(self.useful)) != len(self.useful) or not self.useful:
            raise InvalidMechanismError("useful labels must be distinct, and at least one.")
        if not all(isinstance(x, tuple) and len(x) == len(self.parts) for x in self.useful):
            raise InvalidMechanismError(f"useful labels must be tuples of {len(self.parts)} attributes.")
        places = [{label: k for k, label in enumerate(part.useful)} for part in self.parts]
        if not all(value in place for x in self.useful for value, place in zip(x, places)):
            raise InvalidMechanismError("a useful label has a value that its attribute's mechanism does not know.")
        self._codes = np.array([[place[value] for value, place in zip(x, places)] for x in self.useful])
        self._set_about(**about)

    @property
    def n_released(self) -> int:
        """Number of tuples of released symbols."""
        return int(np.prod([part.n_released for part in self.parts]))

    @property
    def is_deterministic(self) -> bool:
        return all(part.is_deterministic for part in self.parts)

    @cached_property
    def released(self) -> tuple[str, ...]:  # type: ignore[override]
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

    @property
    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        raise InvalidMechanismError("attributes have weights of their own: see parts.")

    def _rows_for(self, joint: Joint) -> IntArray:
        """For each useful value of a joint, its row here; 0 where it never occurs."""
        self.check_known(joint.useful, joint.occurs)
        place = {label: k for k, label in enumerate(self.useful)}
        return np.array([place.get(label, 0) for label in joint.useful])

    def carried(self, joint: Joint) -> tuple[FloatArray, Callable[[], ObjectArray]]:
        rows = self._rows_for(joint)

        def masses() -> ObjectArray:
            exact = self._product([part.weights.astype(object) for part in self.parts])
            result: ObjectArray = joint.masses @ exact[rows]
            return result

        return joint.probabilities @ self.channel[rows], masses

    def useful_information(self, joint: Joint) -> float:
        cells = joint.p_useful[:, None] * self.channel[self._rows_for(joint)]
        kept = xlogx(cells).sum() - xlogx(cells.sum(axis=0)).sum() - xlogx(cells.sum(axis=1)).sum()
        return max(0.0, float(kept))

    def codebook(self) -> dict[str, dict[Any, float]]:
        """What a released tuple stands for: P(x | y), likeliest first."""
        if self.p_useful is None:
            raise InvalidMechanismError("the mechanism carries no P(x), which a codebook needs: pass p_useful.")
        book: dict[str, dict[Any, float]] = {}
        for label, row in zip(self.released, (self.p_useful[:, None] * self.channel).T):
            order = np.argsort(-row, kind="stable").tolist()
            book[label] = {self.useful[x]: float(row[x] / row.sum()) for x in order if row[x] > 0}
        return book

    def sample(self, symbols: Any, rng: np.random.Generator, sensitive: Any = None) -> IntArray:
        """A released tuple (by index) for each given useful symbol (by index)."""
        codes = self._codes[np.asarray(symbols)]
        result = np.zeros(len(codes), dtype=np.int64)
        for j, part in enumerate(self.parts):
            result = result * part.n_released + part.sample(codes[:, j], rng)
        return result

    def compose(self, other: Mechanism) -> Mechanism:
        raise InvalidMechanismError("attributes are composed one by one: see parts.")

    def reweighted(self, weights: Any, released: Iterable[Any]) -> Mechanism:
        raise InvalidMechanismError("attributes have weights of their own: see parts.")

    def to_dict(self) -> dict[str, Any]:
        return {**self._about_dict(), "parts": [part.to_dict() for part in self.parts]}

    def public_dict(self) -> dict[str, Any]:
        return {**super().public_dict(), "parts": [part.public_dict() for part in self.parts]}

    @classmethod
    def _restored(cls, stored: Mapping[str, Any]) -> Mechanism:
        if not isinstance(stored["parts"], list):
            raise InvalidMechanismError("the parts of a stored mechanism must be a list.")
        parts = [Mechanism.from_dict(part) for part in stored["parts"]]
        if any(part.kind != Mechanism.kind for part in parts):
            raise InvalidMechanismError("the parts of a stored mechanism must be plain channels.")
        return cls(parts, [labels.decode(label) for label in stored["useful"]], **stored_about(stored))

    def __repr__(self) -> str:
        sizes = " x ".join(f"{part.n_useful} -> {part.n_released}" for part in self.parts)
        method = f", {self.method}" if self.method else ""
        return f"ProductMechanism({sizes}{method})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>" + "".join(part._repr_html_() for part in self.parts)
