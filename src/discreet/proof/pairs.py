r"""Proofs by bands as proofs by pairs of sensitive values, which is how notions and checkers name their rows.

A band (`discreet.notions.Band`) says :math:`t \le (L v)(s) \le f t`. Multipliers :math:`u_s` of its upper rows and
:math:`w_s` of its lower ones that leave t alone have :math:`\sum w = f \sum u`, so there are amounts :math:`m_{ss'}`
that share out u among the lower rows, and

.. math:: \sum_s u_s L_s - \sum_{s'} w_{s'} L_{s'} = \sum_{s, s'} m_{ss'} (L_s - f L_{s'})

which are multipliers of rows of pairs, no more of them than rows of the band. A proof names the pairs that it uses.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from discreet._support.numeric import FloatArray, IntArray
from discreet.notions import Band
from discreet.proof.boxes import LEVELS, Proof, closed_form
from discreet.proof.multipliers import Multipliers, Run, runs_of
from discreet.proof.polytope import ROUNDING, Polytope

__all__ = ["by_pairs", "every_pair"]

#: Proofs whose pairs would have more numbers than this stay in bands, which `Proof.check` evaluates all the same.
MOST_NUMBERS = 20_000_000

#: What sums of the same numbers in another order may differ by: of an entry, for each unit of its multipliers, and of
#: the limit, whose boxes may have multipliers of a million.
REORDERED, REORDERED_LIMIT = 2.0**-44, 1e-9

#: A pair: the band, and which of its upper and of its lower rows.
Pair = tuple[int, int, int]


def by_pairs(proof: Proof) -> Proof:
    """The same proof on the rows of the pairs that it needs; as it is where it has no bands, or too many pairs."""
    polytope = proof.polytope
    if not polytope.is_banded or proof.inside:
        return proof
    pairs = _Pairs(polytope)
    largest = [pairs.run(run) for run in runs_of(proof.largest_multipliers)]
    smallest = [pairs.run(run) for run in runs_of(proof.smallest_multipliers)]
    boxes = None if proof.multipliers is None else [pairs.run(run) for run in proof.multipliers]
    if len(pairs.numbers) * 3 * polytope.n_useful > MOST_NUMBERS:
        return proof
    paired = pairs.polytope()
    count = len(paired.rows)
    most = np.minimum(proof.largest + REORDERED * (1 + _sizes(largest)), 1.0)
    least = np.maximum(proof.smallest - REORDERED * (1 + _sizes(smallest)), 0.0)
    if any(((most >= level) != (proof.largest >= level)).any() for level in LEVELS[1:]):
        return proof  # boxes begin there: others would be asked for
    limit = proof.limit - REORDERED_LIMIT
    if boxes is None:
        limit = closed_form(proof.utility, paired.p_useful, most)
    return replace(
        proof,
        polytope=paired,
        limit=limit,
        largest=most,
        largest_multipliers=Multipliers.of(largest, count).dense(0, len(largest)),
        smallest=least,
        smallest_multipliers=Multipliers.of(smallest, count).dense(0, len(smallest)),
        multipliers=None if boxes is None else Multipliers.of(boxes, count),
    )


def every_pair(polytope: Polytope) -> Polytope:
    """A polytope of bands as one of the rows of all pairs."""
    pairs = _Pairs(polytope)
    for number, band in enumerate(polytope.bands):
        for k, s in enumerate(band.of_above.tolist()):
            for j in np.flatnonzero(band.of_below != s).tolist():
                pairs.number((number, k, j))
    return pairs.polytope()


class _Pairs:
    """Pairs met so far, numbered after the rows that are of no band."""

    def __init__(self, polytope: Polytope) -> None:
        assert polytope.scale is not None  # rows of bands are scaled like all others
        self.banded, self.scale = polytope, polytope.scale
        of_bands = np.zeros(len(polytope.rows), dtype=bool)
        for band in polytope.bands:
            of_bands[band.above] = of_bands[band.below] = True
        self.plain = np.flatnonzero(~of_bands)
        self._new = np.full(len(polytope.rows), -1)
        self._new[self.plain] = np.arange(len(self.plain))
        self.numbers: dict[Pair, int] = {}
        self._sides = np.zeros((len(polytope.bands), len(polytope.rows)), dtype=np.int64)  # 1 above, -1 below
        self._place = [0] * len(polytope.rows)  # in the band, on its side
        for number, band in enumerate(polytope.bands):
            for side, places in ((1, band.above), (-1, band.below)):
                self._sides[number, places] = side
                for k, row in enumerate(places.tolist()):
                    self._place[row] = k
        self._lifts = [polytope.lifts(band) for band in polytope.bands]
        self._sizes: dict[Pair, float] = {}

    def number(self, pair: Pair) -> int:
        """The row of a pair."""
        return self.numbers.setdefault(pair, len(self.plain) + len(self.numbers))

    def run(self, run: Run) -> Run:
        """Multipliers of rows of pairs that add up to those of bands."""
        row, value = run
        kept = self._new[row] >= 0
        rows, values = [self._new[row[kept]]], [value[kept]]
        for number in range(len(self.banded.bands)):
            first, second = np.flatnonzero(self._sides[number][row] > 0), np.flatnonzero(self._sides[number][row] < 0)
            raw = value / self.scale[row]
            of_first, of_second = row[first].tolist(), row[second].tolist()
            place = self._place
            shared = [
                ((number, place[of_first[k]], place[of_second[j]]), amount)
                for k, j, amount in _shared_out(raw[first], raw[second])
            ]
            rows.append(np.array([self.number(pair) for pair, _ in shared], dtype=np.int64))
            values.append(np.array([amount * self._size(pair) for pair, amount in shared]))
        return np.concatenate(rows), np.concatenate(values)

    def _size(self, pair: Pair) -> float:
        """What the row of a pair is divided by."""
        if pair not in self._sizes:
            size = float(np.abs(self._row(pair)).max())
            self._sizes[pair] = size if size > 0 else 1.0
        return self._sizes[pair]

    def _row(self, pair: Pair) -> FloatArray:
        number, k, j = pair
        above, below = self._lifts[number]
        row: FloatArray = above[k] - self.banded.bands[number].factor * below[j]
        return row

    def polytope(self) -> Polytope:
        """The rows of no band, and those of the pairs met."""
        banded, plain = self.banded, self.plain
        scale = np.array([self._size(pair) for pair in self.numbers])
        rows = np.array([self._row(pair) for pair in self.numbers]).reshape(-1, banded.n_useful)
        rows /= scale[:, None]
        size = np.array([self._terms(pair) for pair in self.numbers])
        return Polytope(
            np.vstack([banded.own_rows[plain], rows]),
            np.append(banded.equal[plain], np.zeros(len(rows), dtype=bool)),
            banded.p_useful,
            np.append(banded.rounding[plain], ROUNDING * size / scale),
            np.append(self.scale[plain], scale),
            self._labels(),
        )

    def _terms(self, pair: Pair) -> float:
        """The largest sum of what the entries of a row are differences of."""
        number, k, j = pair
        above, below = self._lifts[number]
        return float((above[k] + self.banded.bands[number].factor * below[j]).max())

    def _labels(self) -> tuple[tuple[Any, ...], ...]:
        """Names of all rows, where those of no band have names and the values are those of one joint."""
        named = self.banded.labels
        if (len(self.plain) and not named) or not self.banded.has_names:
            return ()
        return (*(named[k] for k in self.plain.tolist()), *map(self._label, self.numbers))

    def _label(self, pair: Pair) -> tuple[Any, ...]:
        band: Band = self.banded.bands[pair[0]]
        return "ratio", int(band.of_above[pair[1]]), int(band.of_below[pair[2]]), band.number


def _shared_out(given: FloatArray, taken: FloatArray) -> Iterable[tuple[int, int, float]]:
    """Amounts (first, second, amount) that add up to what is given, and are in proportion to what is taken."""
    if not (given.sum() > 0 and taken.sum() > 0):
        return []
    first, second = np.cumsum(given), np.cumsum(taken)
    second *= first[-1] / second[-1]
    second[-1] = first[-1]  # both end there, whatever the rounding, so that no pair comes twice
    edges = np.sort(np.concatenate([first, np.minimum(second, first[-1])]))
    amounts = edges - np.append(0.0, edges[:-1])
    of_first: IntArray = np.searchsorted(first, edges)
    of_second: IntArray = np.searchsorted(second, edges)
    return [one for one in zip(of_first.tolist(), of_second.tolist(), amounts.tolist()) if one[2] > 0]


def _sizes(runs: list[Run]) -> FloatArray:
    """The sum of the multipliers of each run."""
    return np.array([float(np.abs(value).sum()) for _, value in runs])
