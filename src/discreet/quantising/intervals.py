r"""Intervals on a line that leave at least k sensitive values each and have the least largest distortion.

Only sorted neighbours are merged, so a partition is a sequence of cuts, and a dynamic programme finds the best one:
:math:`f(i) = \min_j \max(f(j), d(j, i))` over intervals that see k values. Every block, interval or not, lies inside a
window that sees k values, and its distortion is at least half of its width: the smallest such window around each value
is a lower bound for *any* partition, and where it is met the intervals are optimal among all. Our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray
from discreet.core.range import Range
from discreet.quantising.distortion import Distortion

__all__ = ["interval_bound", "intervals"]


def intervals(whole: Range, distortion: Distortion, k: int) -> IntArray:
    """The partition into intervals of least largest distortion that leaves k sensitive values each."""
    values, order, reach = _on_line(whole, distortion, k)
    n = len(values)
    total = np.concatenate([[0.0], np.cumsum(values)])
    centred = distortion.codeword == "centroid"

    def cost(start: IntArray, end: int) -> FloatArray:
        """Distortion of the intervals from each start up to and with ``end``."""
        bottom, top = values[start], values[end]
        if not centred:
            half: FloatArray = (top - bottom) / 2
            return half
        centre = (total[end + 1] - total[start]) / (end + 1 - start)
        off: FloatArray = np.maximum(top - centre, centre - bottom)
        return off

    # Cutting as soon as k values are seen gives an upper limit, which keeps the programme to narrow windows.
    limit = _greedy(values, reach, cost)
    best = np.full(n + 1, np.inf)  # of the first i values
    best[0] = 0.0
    cut = np.zeros(n + 1, dtype=np.int64)
    last = 0  # starts before this one see k values by the current end
    for end in range(n):
        while last < n and reach[last] <= end:
            last += 1
        first = int(np.searchsorted(values, values[end] - 2 * limit * (1 + 1e-12)))
        if first >= last:
            continue
        start = np.arange(first, last)
        worst = np.maximum(best[start], cost(start, end))
        chosen = int(worst.argmin())
        best[end + 1], cut[end + 1] = worst[chosen], start[chosen]
    block_of = np.empty(n, dtype=np.int64)
    end = n
    while end:
        block_of[order[cut[end] : end]] = order[cut[end] : end].min()
        end = int(cut[end])
    return block_of


def interval_bound(whole: Range, distortion: Distortion, k: int) -> float:
    """No partition that leaves k sensitive values in every block has a smaller largest distortion."""
    values, _, reach = _on_line(whole, distortion, k)
    if 2 * k > np.minimum(np.bincount(whole.sensitive_of), 2).sum():
        return distortion.of(range(whole.n_useful))  # two blocks cannot both have k values
    smallest = np.full(len(values), np.inf)
    for start in np.flatnonzero(reach < len(values)).tolist():
        inside = slice(start, int(reach[start]) + 1)
        np.minimum(smallest[inside], values[reach[start]] - values[start], out=smallest[inside])
    # A window that sees enough before it comes to a value must still be stretched to it.
    before = np.searchsorted(reach, np.arange(len(values)), side="right") - 1
    stretched = before >= 0
    np.minimum(smallest, np.where(stretched, values - values[np.maximum(before, 0)], np.inf), out=smallest)
    return float(smallest.max()) / 2


def _on_line(whole: Range, distortion: Distortion, k: int) -> tuple[FloatArray, IntArray, IntArray]:
    """Sorted values, their order, and for every start the first end that sees k sensitive values (n where none)."""
    if not distortion.is_line:
        raise InputError("intervals need values that are numbers, with centroid or midpoint codewords.")
    if not 1 <= k <= whole.n_sensitive:
        raise InputError(f"no partition leaves {k} sensitive values in every block: there are {whole.n_sensitive}.")
    line = np.asarray(distortion.values)[:, 0]
    order = np.argsort(line, kind="stable")
    seen = [whole.sensitive_of[whole.starts[x] : whole.starts[x + 1]].tolist() for x in order.tolist()]
    n, count = len(order), [0] * whole.n_sensitive
    reach = np.full(n, n, dtype=np.int64)
    distinct, end = 0, 0
    for start in range(n):
        while end < n and distinct < k:
            for s in seen[end]:
                distinct += count[s] == 0
                count[s] += 1
            end += 1
        if distinct >= k:
            reach[start] = end - 1
        for s in seen[start]:
            count[s] -= 1
            distinct -= count[s] == 0
    return line[order], order, reach


def _greedy(values: FloatArray, reach: IntArray, cost: Callable[[IntArray, int], FloatArray]) -> float:
    ends: list[tuple[int, int]] = []
    start, n = 0, len(values)
    while start < n and reach[start] < n:
        ends.append((start, int(reach[start])))
        start = int(reach[start]) + 1
    if start < n:  # too few are left: the last interval takes them in
        ends[-1] = (ends[-1][0], n - 1)
    return max(float(cost(np.array([a]), b)[0]) for a, b in ends)
