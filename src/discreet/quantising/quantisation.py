"""`Quantisation`: one partition of the useful values, what it leaves of S, and what it costs."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from discreet._support.numeric import DENOMINATOR, IntArray
from discreet.core import labels, partition
from discreet.core.joint import Joint
from discreet.core.range import Range
from discreet.measures.nonstochastic import components, distinct_sensitive
from discreet.mechanism import ChannelMechanism, Mechanism, provenance
from discreet.quantising.distortion import Distortion

__all__ = ["Quantisation"]


@dataclass(frozen=True, eq=False)
class Quantisation:
    """One partition of the useful values: what is left of S, and what it costs.

    Attributes
    ----------
    block_of : ndarray
        Number of the block of every useful value.
    bound : float or None
        Proven limit at this cost, where one is known: of ``k`` for the resolution, of ``distortion`` for it, of the
        number of components for the maximin information.
    status : str
        ``"optimal"`` where the limit is met, ``"gap"`` where it is not, ``"heuristic"`` without a limit.
    """

    whole: Range = field(repr=False)
    block_of: IntArray = field(repr=False)
    source: Any = field(default=None, repr=False)
    metric: Distortion | None = field(default=None, repr=False)
    bound: float | None = None
    status: str = "heuristic"

    @cached_property
    def merged(self) -> Range:
        """The range of the release."""
        return self.whole.merged(self.block_of)

    @cached_property
    def _members(self) -> list[list[int]]:
        return partition.members(self.block_of)

    @cached_property
    def blocks(self) -> tuple[tuple[Any, ...], ...]:
        """Labels of the members of every block."""
        return tuple(tuple(self.whole.useful[x] for x in members) for members in self._members)

    @cached_property
    def k(self) -> int:
        """Fewest distinct sensitive values of a block."""
        return distinct_sensitive(self.merged)

    @cached_property
    def components(self) -> int:
        """Connected components of the release."""
        return components(self.merged).number

    @property
    def largest_block(self) -> int:
        """Members of the largest block."""
        return max(len(members) for members in self._members)

    @cached_property
    def distortion(self) -> float | None:
        """Largest distance of a value to its block's codeword; None without values."""
        return None if self.metric is None else max(self.metric.of(members) for members in self._members)

    @property
    def leakage_bits(self) -> float:
        """L_0 of the release."""
        return math.log2(self.whole.n_sensitive / self.k)

    @property
    def maximin_bits(self) -> float:
        """I_* of the release."""
        return math.log2(self.components)

    @property
    def resolution_bits(self) -> float:
        """U1, the information about X that the coarsest block leaves: log2(n / largest block)."""
        return math.log2(self.whole.n_useful / self.largest_block)

    @property
    def loss(self) -> float:
        """1 - U1 / H_0(X), in [0, 1]; 0 for a single value."""
        whole = math.log2(self.whole.n_useful)
        return 1 - self.resolution_bits / whole if whole > 0 else 0.0

    @property
    def mechanism(self) -> Mechanism:
        """The quantisation as a deterministic mechanism, with readable labels."""
        names = labels.unique_texts(_block_label([self.whole.useful[x] for x in block]) for block in self._members)
        column = np.empty(self.whole.n_useful, dtype=np.int64)
        for k, block in enumerate(self._members):
            column[block] = k
        useful, rows = list(self.whole.useful), np.arange(self.whole.n_useful)
        about: dict[str, Any] = {}
        if isinstance(self.source, Joint):
            about = provenance(self.source)
            place = {label: k for k, label in enumerate(self.source.useful)}
            # Declared values that never occur go with the first block.
            absent = [label for label in self.source.useful if label not in set(useful)]
            useful, column = [*useful, *absent], np.concatenate([column, np.zeros(len(absent), dtype=np.int64)])
            order = np.argsort([place[label] for label in useful])
            useful, column, rows = [useful[k] for k in order], column[order], np.arange(len(useful))
        weights = np.full(len(useful), DENOMINATOR)
        return ChannelMechanism((rows, column, weights), useful, names, method="quantise", **about)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {
            "k": self.k,
            "components": self.components,
            "leakage_bits": self.leakage_bits,
            "maximin_bits": self.maximin_bits,
            "largest_block": self.largest_block,
            "resolution_bits": self.resolution_bits,
            "loss": self.loss,
            "distortion": self.distortion,
            "blocks": len(self._members),
            "bound": self.bound,
            "status": self.status,
        }

    def __repr__(self) -> str:
        far = "" if self.distortion is None else f", distortion {self.distortion:.4g}"
        return (
            f"Quantisation({self.whole.n_useful} -> {len(self._members)} values, k {self.k}, "
            f"largest block {self.largest_block}{far}, {self.status})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


def _block_label(members: Sequence[Any]) -> str:
    """``130-160`` for several numbers, the value itself for one, a set of names otherwise."""
    numbers = [_number(x) for x in members]
    if len(members) > 1 and None not in numbers:
        order = sorted(range(len(members)), key=lambda k: numbers[k] or 0.0)
        return f"{labels.text(members[order[0]])}-{labels.text(members[order[-1]])}"
    return labels.block_text(members)


def _number(label: Any) -> float | None:
    """A number, or a text that reads as one; None for anything else."""
    if isinstance(label, bool) or not isinstance(label, int | float | str):
        return None
    try:
        value = float(label)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
