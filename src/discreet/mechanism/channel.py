"""Plain channels P(y | x): one row of integer weights for every useful value."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from discreet._support.errors import InvalidMechanismError
from discreet._support.numeric import (
    DENOMINATOR,
    FINE_DENOMINATOR,
    BoolArray,
    FloatArray,
    IntArray,
    ObjectArray,
    log_shares,
)
from discreet._support.visible import visible
from discreet.core import labels, partition
from discreet.core.joint import Joint
from discreet.mechanism.about import About, provenance
from discreet.mechanism.draw import Draw, column_name, spread_labels
from discreet.mechanism.entries import Entries, Spread
from discreet.mechanism.rows import RowMechanism
from discreet.mechanism.weights import checked_channel, shares, to_weights

__all__ = ["ChannelMechanism"]

#: Rows that a notebook shows.
SHOWN = 20


class ChannelMechanism(RowMechanism):
    r"""A channel :math:`P(y \mid x)` as integer weights: row ``x`` sums to exactly :math:`2^{60}`.

    Rows are sparse, since a symbol is usually released as one of a few.

    Parameters
    ----------
    entries : triple of integer arrays
        ``(useful index, released index, weight)`` of the positive weights.
    useful, released : sequence
        Labels of rows and columns. Released labels are distinct strings, each released by some row.
    places : sequence of int, optional
        Where a mechanism is in values: the place among ``useful`` of the value that each released label is.
    denominator : int
        What weights of a row sum to, 2**60 or 2**120.
    **about
        Where the mechanism comes from and what it promises: ``about``, or the attributes of an `About`.
    """

    kind: ClassVar[str] = "channel"

    def __init__(
        self,
        entries: tuple[Any, Any, Any],
        useful: Sequence[Any],
        released: Sequence[str],
        *,
        places: Sequence[int] | None = None,
        denominator: int = DENOMINATOR,
        **about: Any,
    ) -> None:
        super().__init__(entries, useful, released, About.given(**about), len(useful), places, denominator)

    @classmethod
    def from_channel(
        cls,
        channel: Any,
        *,
        useful: Iterable[Any] | None = None,
        released: Iterable[Any] | None = None,
        **about: Any,
    ) -> ChannelMechanism:
        """A mechanism from a matrix of floats, rounded to weights over 2**60.

        Zeros stay zeros, equal rows stay equal, and the largest entry of a row takes up its rounding.
        Rounding may push a borderline channel over its budget: check with ``notion.holds``.
        """
        return cls.from_weights(to_weights(checked_channel(channel)), useful=useful, released=released, **about)

    @classmethod
    def from_weights(
        cls,
        weights: Any,
        *,
        useful: Iterable[Any] | None = None,
        released: Iterable[Any] | None = None,
        **about: Any,
    ) -> ChannelMechanism:
        """A mechanism from a matrix of integer weights; released symbols that never occur are left out."""
        matrix = np.asarray(weights)
        if matrix.ndim != 2 or not np.issubdtype(matrix.dtype, np.integer):
            raise InvalidMechanismError("weights must be a matrix of integers (useful, released).")
        names = range(matrix.shape[1]) if released is None else list(released)
        entries, used = Entries.of_matrix(matrix)
        rows = range(matrix.shape[0]) if useful is None else [labels.plain(label) for label in useful]
        return cls(entries, rows, [labels.text(names[j]) for j in used], **about)

    @classmethod
    def from_blocks(cls, joint: Joint, block_of: Any, *, uniform: Iterable[int] = (), **about: Any) -> ChannelMechanism:
        """Release, for every symbol, the block that it belongs to.

        Parameters
        ----------
        joint : Joint
            Gives the labels, the columns' names and :math:`P_X`.
        block_of : array_like of int, shape (n_useful,)
            Symbols with equal numbers are merged.
        uniform : iterable of int
            Blocks whose members are not merged but drawn uniformly: each of them is released as any member
            with the same probability, whatever it was. This leaks exactly as much as merging.
        """
        members = partition.members(block_of)
        drawn = np.isin(np.asarray(block_of)[[block[0] for block in members]], list(uniform))
        names = [
            labels.block_text([joint.useful[x] for x in part])
            for block, one_by_one in zip(members, drawn)
            for part in ([[x] for x in block] if one_by_one else [block])
        ]
        entries = _block_entries(partition.numbered(block_of), np.where(drawn, [len(block) for block in members], 1))
        return cls(entries, joint.useful, labels.unique_texts(names), **provenance(joint), **about)

    @property
    def _shape(self) -> tuple[int, ...]:
        return self.n_useful, self.n_released

    def _row_of(self, symbols: IntArray, sensitive: Any) -> IntArray:
        return symbols

    def spread_over(self, useful: Sequence[Any], occurs: BoolArray) -> Spread:
        """The entries that apply to another alphabet, matched by label; what never occurs needs no row."""
        rows, columns, weights = self.entries
        if tuple(useful) != self.useful:
            place = {label: i for i, label in enumerate(useful)}
            self.check_known(useful, occurs)
            target = np.array([place.get(label, -1) for label in self.useful])[rows]
            # Rows of absent symbols stay as zero weights of symbol 0, so that every released symbol keeps a run.
            rows, weights = np.maximum(target, 0), np.where(target >= 0, weights, 0)
        order = np.argsort(columns, kind="stable")
        starts = np.searchsorted(columns[order], np.arange(self.n_released))
        return Spread(rows[order], weights[order], starts)

    def carried(self, joint: Joint) -> tuple[FloatArray, Callable[[], ObjectArray]]:
        spread = self.spread_over(joint.useful, joint.occurs)
        return spread.floats(joint.probabilities), lambda: spread.integers(joint.masses)

    def expected(self, joint: Joint) -> Joint:
        spread = self.spread_over(joint.useful, joint.occurs)
        known = joint.shares_rounded_once  # a mechanism leaves P(s) as it was
        return Joint(
            spread.floats(joint.probabilities),
            lambda: spread.integers(joint.masses),
            useful=self.released,
            **joint.described(),
            floats_suffice=None if joint.floats_suffice else False,
            guard=None if known is None else spread.rounding(joint.n_sensitive),
            p_sensitive=known,
        )

    def useful_information(self, joint: Joint) -> float:
        spread = self.spread_over(joint.useful, joint.p_useful > 0)
        p_released = spread.floats(joint.p_useful[None, :])[0]
        share = shares(spread.weight)
        target = np.repeat(np.arange(len(spread.starts)), np.diff(spread.starts, append=len(share)))
        mass = joint.p_useful[spread.source] * share
        used = mass > 0
        surprise = np.log(share[used]) - log_shares(p_released)[target[used]]
        return max(0.0, float((mass[used] * surprise).sum()))

    def outcome_weights(self) -> ObjectArray:
        return self.weights.astype(object).T[:, None, :]

    def outcomes(self, joint: Joint) -> tuple[IntArray, IntArray, FloatArray]:
        return self.entries.rows, self.entries.columns, self.entries.shares

    def releases_everything(self, joint: Joint) -> bool:
        if not self.is_deterministic or self.useful != joint.useful:
            return False
        column = self.entries.columns[joint.occurs]  # one entry a row
        return len(np.unique(column)) == len(column)

    def reweighted(self, weights: Any, released: Iterable[Any]) -> ChannelMechanism:
        about = replace(self.about, notion=None, method=None)
        return ChannelMechanism.from_weights(weights, useful=self.useful, released=released, about=about)

    def _masses(self, joint: Joint | None) -> ObjectArray:
        return self.known_masses(joint)

    def _with_values(
        self, entries: tuple[Any, Any, Any], released: Sequence[str], places: Sequence[int], about: About, masses: Any
    ) -> ChannelMechanism:
        parts: dict[str, Any] = {"places": places, "denominator": FINE_DENOMINATOR}
        return ChannelMechanism(entries, self.useful, released, about=about, **parts)

    def draws(self) -> tuple[Draw, ...]:
        columns = self.checked_columns()
        return (self._draw(column_name(columns), columns, spread_labels(self.useful, len(columns))),)

    def codebook(self, joint: Joint | None = None) -> dict[str, dict[Any, float]]:
        """What a released symbol stands for: P(x | y), likeliest first; see `Mechanism.codebook`.

        Examples
        --------
        >>> joint = Joint.from_counts([[1, 1, 0], [0, 1, 1]], useful=["a", "b", "c"])
        >>> ChannelMechanism.from_blocks(joint, [0, 0, 1]).codebook()
        {'{a, b}': {'b': 0.6666666666666666, 'a': 0.3333333333333333}, 'c': {'c': 1.0}}
        """
        rows, columns, _ = self.entries
        mass = self.known_p_useful(joint)[rows] * self.entries.shares
        total = np.bincount(columns, mass, minlength=self.n_released)
        share = np.divide(mass, total[columns], out=np.zeros_like(mass), where=total[columns] > 0)
        book: dict[str, dict[Any, float]] = {label: {} for label in self.released}
        for k in np.lexsort((rows, -share)).tolist():
            book[self.released[columns[k]]][self.useful[rows[k]]] = float(share[k])
        return book

    @classmethod
    def _restored(cls, stored: Mapping[str, Any], useful: Sequence[Any], about: About) -> ChannelMechanism:
        return cls(*cls._restored_rows(stored, useful), about=about, **cls._restored_values(stored))

    def describe(self) -> str:
        sure = "always the same one" if self.is_deterministic else "drawn at random"
        own = " of the column's own values" if self.is_in_values else ""
        return f"Each of {self.n_useful} values is released as one of {self.n_released}{own}, {sure}."

    def __repr__(self) -> str:
        kind = "merging" if self.is_deterministic else "randomising"
        kind += ", in values" if self.is_in_values else ""
        method = f", {self.method}" if self.method else ""
        return visible(f"Mechanism({self.n_useful} useful -> {self.n_released} released, {kind}{method})")

    def _repr_html_(self) -> str:
        rows, columns, chances = self.entries.rows, self.entries.columns, self.entries.shares
        lines = []
        for i in range(min(self.n_useful, SHOWN)):
            here = rows == i
            parts = ", ".join(
                f"{html.escape(visible(self.released[j]))} ({p:.3g})"
                for j, p in zip(columns[here].tolist(), chances[here].tolist())
            )
            lines.append(f"<tr><th>{html.escape(visible(labels.text(self.useful[i])))}</th><td>{parts}</td></tr>")
        more = f"<p>and {self.n_useful - SHOWN} more</p>" if self.n_useful > SHOWN else ""
        return (
            f"<p>{html.escape(repr(self))}</p>"
            f"<table><tr><th>useful</th><th>released as</th></tr>{''.join(lines)}</table>{more}"
        )


def _block_entries(target: IntArray, width: IntArray) -> Entries:
    """Entries that send each symbol to its block, drawn uniformly where the block is ``width`` symbols wide."""
    column = np.cumsum(width) - width  # first released symbol of each block
    repeat = width[target]
    rows = np.repeat(np.arange(len(target)), repeat)
    offset = np.arange(len(rows)) - np.repeat(np.cumsum(repeat) - repeat, repeat)
    weight = DENOMINATOR // repeat[rows] + (offset < DENOMINATOR % repeat[rows])
    return Entries(rows, column[target][rows] + offset, weight)
