"""Mechanisms that read S: P(y | s, x), one row of integer weights for every pair."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from discreet._support.errors import InputError, InvalidMechanismError, UnseenSymbolError
from discreet._support.numeric import (
    DENOMINATOR,
    FINE_DENOMINATOR,
    FloatArray,
    IntArray,
    ObjectArray,
    WeightArray,
    exact_integers,
)
from discreet._support.visible import visible
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.mechanism.about import About, provenance
from discreet.mechanism.draw import Draw, column_name, spread_labels
from discreet.mechanism.entries import Entries
from discreet.mechanism.estimate import Estimate
from discreet.mechanism.pairs import information, listed_codebook
from discreet.mechanism.rows import RowMechanism
from discreet.mechanism.values import proportions
from discreet.mechanism.weights import shares

__all__ = ["SensitiveMechanism"]


class SensitiveMechanism(RowMechanism):
    r"""A channel :math:`P(y \mid s, x)`: what is released depends on the sensitive value too.

    Whoever draws from it must have S at hand, which a plain `Mechanism` does not need. Row ``s * n_useful + x``
    belongs to the pair (s, x); ``channel`` and ``weights`` have the shape (n_sensitive, n_useful, n_released).
    """

    kind: ClassVar[str] = "reads-sensitive"
    reads_sensitive: ClassVar[bool] = True

    def __init__(
        self,
        entries: tuple[Any, Any, Any],
        useful: Sequence[Any],
        released: Sequence[str],
        *,
        sensitive: Sequence[Any],
        p_joint: Any = None,
        places: Sequence[int] | None = None,
        denominator: int = DENOMINATOR,
        **about: Any,
    ) -> None:
        names, cells = tuple(sensitive), None if p_joint is None else np.asarray(p_joint, dtype=np.float64)
        if len(set(names)) != len(names):
            raise InvalidMechanismError("sensitive labels must be distinct.")
        if cells is not None and not ((cells >= 0) & (cells <= 1)).all():
            raise InvalidMechanismError("p_joint must hold probabilities.")
        if cells is not None and cells.shape != (len(names), len(useful)):
            raise InvalidMechanismError(
                "p_joint must have a row for each sensitive and a column for each useful value."
            )
        n_rows = len(names) * len(useful)
        parts = {"sensitive": names, "p_joint": cells}
        super().__init__(entries, useful, released, About.given(**about), n_rows, places, denominator, **parts)

    sensitive: tuple[Any, ...]
    p_joint: FloatArray | None

    @classmethod
    def from_cells(cls, joint: Joint, weights: IntArray, released: Iterable[str], **about: Any) -> SensitiveMechanism:
        """From integer weights of shape (n_sensitive, n_useful, n_released); symbols never released are left out."""
        names = list(released)
        entries, used = Entries.of_matrix(weights.reshape(-1, weights.shape[-1]))
        kept = [names[j] for j in used]
        known = {**provenance(joint), **about}
        return cls(entries, joint.useful, kept, sensitive=joint.sensitive, p_joint=joint.probabilities, **known)

    @property
    def n_sensitive(self) -> int:
        """Number of sensitive values."""
        return len(self.sensitive)

    @property
    def _shape(self) -> tuple[int, ...]:
        return self.n_sensitive, self.n_useful, self.n_released

    def _row_of(self, symbols: IntArray, sensitive: Any) -> IntArray:
        if sensitive is None:
            raise InvalidMechanismError("the mechanism reads S: give the sensitive values too.")
        return np.asarray(sensitive) * self.n_useful + symbols

    def carried(self, joint: Joint) -> tuple[FloatArray, Callable[[], ObjectArray]]:
        weights = self._for_joint(joint)

        def masses() -> ObjectArray:
            pairs = joint.masses[:, :, None] * weights.astype(object)
            result: ObjectArray = pairs.sum(axis=1)
            return result

        return np.einsum("sx,sxy->sy", joint.probabilities, shares(weights)), masses

    def useful_information(self, joint: Joint) -> float:
        cells = np.einsum("sx,sxy->xy", joint.probabilities, shares(self._for_joint(joint)))
        return information(cells)

    def applied(self, counts: IntArray, sensitive: Sequence[Any]) -> tuple[FloatArray, Callable[[], ObjectArray]]:
        known = {label: k for k, label in enumerate(self.sensitive)}
        if not all(s in known for s in sensitive):
            raise UnseenSymbolError("a sensitive value does not occur in the mechanism, which reads it.")
        weights = self.weights[[known[s] for s in sensitive]]

        def masses() -> ObjectArray:
            carried = [own @ rows for own, rows in zip(counts.astype(object), weights.astype(object))]
            return np.stack(carried)

        return np.einsum("szx,sxy->szy", counts / counts.sum(), shares(weights)), masses

    def outcome_weights(self) -> ObjectArray:
        return np.moveaxis(self.weights.astype(object), 2, 0)

    def outcomes(self, joint: Joint) -> tuple[IntArray, IntArray, FloatArray]:
        """Over all s, as likely as each is in the joint given x."""
        nothing = np.zeros_like(joint.probabilities)
        given = np.divide(joint.probabilities, joint.p_useful, where=joint.p_useful > 0, out=nothing)
        place_s = {label: k for k, label in enumerate(self.sensitive)}
        if any(p > 0 and s not in place_s for s, p in zip(joint.sensitive, joint.p_sensitive.tolist())):
            raise UnseenSymbolError("a sensitive value does not occur in the mechanism, which reads it.")
        place_x = {label: k for k, label in enumerate(self.useful)}
        cells = np.zeros((self.n_sensitive, self.n_useful))
        for i, s in enumerate(joint.sensitive):
            for j, x in enumerate(joint.useful):
                if s in place_s and x in place_x:
                    cells[place_s[s], place_x[x]] = given[i, j]
        expected = np.einsum("sx,sxy->xy", cells, self.channel)
        rows, columns = np.nonzero(expected)
        return rows, columns, expected[rows, columns]

    def _for_joint(self, joint: Joint) -> WeightArray:
        """Weights in the order of another joint's labels; pairs that never occur need no row."""
        if (joint.sensitive, joint.useful) == (self.sensitive, self.useful):
            return self.weights
        known_s = {label: k for k, label in enumerate(self.sensitive)}
        known_x = {label: k for k, label in enumerate(self.useful)}
        missing = np.array([[s not in known_s or x not in known_x for x in joint.useful] for s in joint.sensitive])
        here = joint.probabilities > 0 if joint.floats_suffice else joint.masses != 0
        unseen = int((missing & here).sum())
        if unseen:
            raise UnseenSymbolError(
                f"{unseen} pairs of sensitive and useful values do not occur in the mechanism. "
                "Design it on a table that has them."
            )
        rows = [known_s.get(s, 0) for s in joint.sensitive]
        columns = [known_x.get(x, 0) for x in joint.useful]
        chosen: WeightArray = self.weights[np.ix_(rows, columns)]
        return chosen

    def codebook(self, joint: Joint | None = None) -> dict[str, dict[Any, float]]:
        """What a released symbol stands for: P(x | y), likeliest first; ``joint`` gives P(s, x), matched by label."""
        if joint is not None:
            cells = np.einsum("sx,sxy->yx", joint.probabilities, shares(self._for_joint(joint)))
            return listed_codebook(cells, self.released, joint.useful)
        if self.p_joint is None:
            raise InvalidMechanismError(
                "the mechanism carries no P(s, x), which a codebook needs. Give a joint of the table: codebook(joint)."
            )
        cells = np.einsum("sx,sxy->yx", self.p_joint, self.channel)
        return listed_codebook(cells, self.released, self.useful)

    def estimate(self, released_counts: Any) -> Estimate:
        """Not possible: the frequencies of x alone do not determine those of the release."""
        raise InvalidMechanismError(
            "the mechanism reads S, so released counts depend on S as well as on X and no estimate of P(x) exists."
        )

    def reweighted(self, weights: Any, released: Iterable[Any]) -> SensitiveMechanism:
        names = [labels.text(name) for name in released]
        entries, used = Entries.of_matrix(np.asarray(weights).reshape(self.n_rows, -1))
        about = replace(self.about, notion=None, method=None)
        kept = [names[j] for j in used]
        return SensitiveMechanism(
            entries, self.useful, kept, sensitive=self.sensitive, p_joint=self.p_joint, about=about
        )

    def _masses(self, joint: Joint | None) -> ObjectArray:
        """P(s, x) of a joint or of the design, row by row."""
        if joint is None:
            if self.p_joint is None:
                raise InvalidMechanismError(
                    "the mechanism carries no P(s, x), which values need. Give a joint of the table: in_values(joint)."
                )
            return exact_integers(self.p_joint).reshape(-1)
        self._for_joint(joint)  # knows all pairs that occur
        place_s = {label: k for k, label in enumerate(self.sensitive)}
        place_x = {label: k for k, label in enumerate(self.useful)}
        cells = np.zeros((self.n_sensitive, self.n_useful), dtype=object)
        for s, line in zip(joint.sensitive, joint.masses.tolist()):
            for x, mass in zip(joint.useful, line):
                if mass:
                    cells[place_s[s], place_x[x]] = mass
        return cells.reshape(-1)

    def _with_values(
        self, entries: tuple[Any, Any, Any], released: Sequence[str], places: Sequence[int], about: About, masses: Any
    ) -> SensitiveMechanism:
        p_joint = proportions(masses).reshape(self.n_sensitive, -1)
        parts: dict[str, Any] = {"places": places, "denominator": FINE_DENOMINATOR, "p_joint": p_joint}
        return SensitiveMechanism(entries, self.useful, released, sensitive=self.sensitive, about=about, **parts)

    def draws(self) -> tuple[Draw, ...]:
        columns = self.checked_columns()
        if not self.sensitive_columns:
            raise InputError("the mechanism reads S but does not know its columns. Design it from a table.")
        useful = spread_labels(self.useful, len(columns))
        sensitive = spread_labels(self.sensitive, len(self.sensitive_columns))
        symbols = tuple(s + x for s, x in itertools.product(sensitive, useful))
        return (self._draw(column_name(columns), (*self.sensitive_columns, *columns), symbols),)

    def _stored_parts(self) -> dict[str, Any]:
        return {
            **super()._stored_parts(),
            "sensitive": [labels.encode(label) for label in self.sensitive],
            "p_joint": None if self.p_joint is None else self.p_joint.tolist(),
        }

    @classmethod
    def _restored(cls, stored: Mapping[str, Any], useful: Sequence[Any], about: About) -> SensitiveMechanism:
        sensitive = [labels.decode(label) for label in stored["sensitive"]]
        parts = {"sensitive": sensitive, "p_joint": stored.get("p_joint"), **cls._restored_values(stored)}
        return cls(*cls._restored_rows(stored, useful), about=about, **parts)

    def describe(self) -> str:
        own = " of the column's own values" if self.is_in_values else ""
        return (
            f"Each of {self.n_useful} values is released as one of {self.n_released}{own}, drawn at random by a rule "
            "that looks at the sensitive value too."
        )

    def __repr__(self) -> str:
        method = f", {self.method}" if self.method else ""
        return visible(f"SensitiveMechanism({self.n_useful} useful -> {self.n_released} released, reads S{method})")

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"
