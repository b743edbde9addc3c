"""Mechanisms that read S: P(y | s, x), one row of integer weights for every pair."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet._support.errors import InvalidMechanismError, UnseenSymbolError
from discreet._support.numeric import DENOMINATOR, FloatArray, IntArray, ObjectArray, xlogx
from discreet.core import labels
from discreet.core.joint import Joint
from discreet.mechanism.base import Mechanism, provenance, stored_about, stored_entries
from discreet.mechanism.estimate import Estimate

__all__ = ["SensitiveMechanism"]


class SensitiveMechanism(Mechanism):
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
        **about: Any,
    ) -> None:
        self.sensitive = tuple(sensitive)
        self._n_rows = len(self.sensitive) * len(useful)
        super().__init__(entries, useful, released, **about)
        self.p_joint = None if p_joint is None else np.asarray(p_joint, dtype=np.float64)
        if len(set(self.sensitive)) != len(self.sensitive):
            raise InvalidMechanismError("sensitive labels must be distinct.")
        if self.p_joint is not None and not ((self.p_joint >= 0) & (self.p_joint <= 1)).all():
            raise InvalidMechanismError("p_joint must hold probabilities.")
        if self.p_joint is not None and self.p_joint.shape != (len(self.sensitive), self.n_useful):
            raise InvalidMechanismError(
                "p_joint must have a row for each sensitive and a column for each useful value."
            )

    @classmethod
    def from_cells(cls, joint: Joint, weights: IntArray, released: Iterable[str], **about: Any) -> SensitiveMechanism:
        """From integer weights of shape (n_sensitive, n_useful, n_released); symbols never released are left out."""
        names = list(released)
        flat = weights.reshape(-1, weights.shape[-1])
        used = np.flatnonzero((flat > 0).any(axis=0))
        rows, columns = np.nonzero(flat[:, used])
        return cls(
            (rows, columns, flat[:, used][rows, columns]),
            joint.useful,
            [names[j] for j in used],
            sensitive=joint.sensitive,
            p_joint=joint.probabilities,
            **provenance(joint),
            **about,
        )

    @property
    def n_sensitive(self) -> int:
        """Number of sensitive values."""
        return len(self.sensitive)

    @property
    def n_rows(self) -> int:
        return self._n_rows

    @cached_property
    def weights(self) -> IntArray:
        """The integer weights (n_sensitive, n_useful, n_released); those of a pair sum to 2**60."""
        dense = np.zeros((self.n_rows, self.n_released), dtype=np.int64)
        dense[self._rows, self._columns] = self._weights
        dense.setflags(write=False)
        return dense.reshape(self.n_sensitive, self.n_useful, self.n_released)

    def _rows_of(self, symbols: IntArray, sensitive: Any) -> IntArray:
        if sensitive is None:
            raise InvalidMechanismError("the mechanism reads S: give the sensitive values too.")
        return np.asarray(sensitive) * self.n_useful + symbols

    def carried(self, joint: Joint) -> tuple[FloatArray, Callable[[], ObjectArray]]:
        weights = self._for_joint(joint)

        def masses() -> ObjectArray:
            pairs = joint.masses[:, :, None] * weights.astype(object)
            result: ObjectArray = pairs.sum(axis=1)
            return result

        return np.einsum("sx,sxy->sy", joint.probabilities, weights / DENOMINATOR), masses

    def useful_information(self, joint: Joint) -> float:
        cells = np.einsum("sx,sxy->xy", joint.probabilities, self._for_joint(joint) / DENOMINATOR)
        kept = xlogx(cells).sum() - xlogx(cells.sum(axis=0)).sum() - xlogx(cells.sum(axis=1)).sum()
        return max(0.0, float(kept))

    def _for_joint(self, joint: Joint) -> IntArray:
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
        chosen: IntArray = self.weights[np.ix_(rows, columns)]
        return chosen

    def codebook(self) -> dict[str, dict[Any, float]]:
        """What a released symbol stands for: P(x | y), likeliest first."""
        if self.p_joint is None:
            raise InvalidMechanismError("the mechanism carries no P(s, x), which a codebook needs: pass p_joint.")
        cells = np.einsum("sx,sxy->yx", self.p_joint, self.channel)
        book: dict[str, dict[Any, float]] = {}
        for label, row in zip(self.released, cells):
            order = np.argsort(-row, kind="stable")
            book[label] = {self.useful[x]: float(row[x] / row.sum()) for x in order.tolist() if row[x] > 0}
        return book

    def estimate(self, released_counts: Any) -> Estimate:
        """Not possible: the frequencies of x alone do not determine those of the release."""
        raise InvalidMechanismError(
            "the mechanism reads S, so released counts depend on S as well as on X and no estimate of P(x) exists."
        )

    def reweighted(self, weights: Any, released: Iterable[Any]) -> Mechanism:
        matrix = np.asarray(weights).reshape(self.n_rows, -1)
        names = [labels.text(name) for name in released]
        used = np.flatnonzero((matrix > 0).any(axis=0))
        rows, columns = np.nonzero(matrix[:, used])
        return SensitiveMechanism(
            (rows, columns, matrix[:, used][rows, columns]),
            self.useful,
            [names[j] for j in used],
            sensitive=self.sensitive,
            p_joint=self.p_joint,
            p_useful=self.p_useful,
            sensitive_columns=self.sensitive_columns,
            useful_columns=self.useful_columns,
            bins=self.bins,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            **super().to_dict(),
            "sensitive": [labels.encode(label) for label in self.sensitive],
            "p_joint": None if self.p_joint is None else self.p_joint.tolist(),
        }

    @classmethod
    def _restored(cls, stored: Mapping[str, Any]) -> Mechanism:
        return cls(
            stored_entries(stored["rows"]),
            [labels.decode(label) for label in stored["useful"]],
            stored["released"],
            sensitive=[labels.decode(label) for label in stored["sensitive"]],
            p_joint=stored.get("p_joint"),
            **stored_about(stored),
        )

    def __repr__(self) -> str:
        method = f", {self.method}" if self.method else ""
        return f"SensitiveMechanism({self.n_useful} useful -> {self.n_released} released, reads S{method})"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"
