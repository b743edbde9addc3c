"""What [DF20]_ compares with: generalisation and suppression, binning, and merging by the privacy funnel."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet._support.errors import InputError
from discreet._support.numeric import FloatArray, IntArray, xlogx
from discreet.core import partition
from discreet.core.joint import Joint
from discreet.core.range import Range
from discreet.measures.nonstochastic import distinct_sensitive
from discreet.quantising.distortion import Distortion

__all__ = ["binning", "funnel", "suppression"]

#: Symbols of which all pairs are compared by the funnel.
MOST_COMPARED = 2_000


def suppression(whole: Range, k: int) -> IntArray:
    """Merge all useful values that leave fewer than k sensitive values into one, and more while it is not enough.

    Source: Samarati and Sweeney (1998), Section 3.1, as [DF20]_ runs it.
    """
    if not 1 <= k <= whole.n_sensitive:
        raise InputError(f"no partition leaves {k} sensitive values in every block: there are {whole.n_sensitive}.")
    block_of = np.arange(whole.n_useful)
    merged = whole.sizes < k
    if not merged.any():
        return block_of
    for x in np.argsort(whole.sizes, kind="stable").tolist():  # values with few come first
        block_of = np.where(merged, int(np.flatnonzero(merged)[0]), np.arange(whole.n_useful))
        if distinct_sensitive(whole.merged(block_of)) >= k:
            break
        merged[x] = True
    return np.where(merged, int(np.flatnonzero(merged)[0]), np.arange(whole.n_useful))


def binning(whole: Range, distortion: Distortion, k: int) -> IntArray:
    """Equal-width bins, halved in number until each leaves k sensitive values, as Datafly generalises a number."""
    if not distortion.is_line:
        raise InputError("binning needs values that are numbers on a line.")
    if not 1 <= k <= whole.n_sensitive:
        raise InputError(f"no partition leaves {k} sensitive values in every block: there are {whole.n_sensitive}.")
    line = np.asarray(distortion.values)[:, 0]
    width = float(line.max() - line.min()) or 1.0
    bins = 1 << int(np.ceil(np.log2(max(whole.n_useful, 1))))
    while True:
        code = np.minimum(((line - line.min()) / width * bins).astype(np.int64), bins - 1)
        block_of = partition.named(code)
        if distinct_sensitive(whole.merged(block_of)) >= k or bins == 1:
            return block_of
        bins //= 2


def funnel(joint: Joint, weight: float) -> Iterator[IntArray]:
    """Merge the pair that lowers I(S; Y) - weight I(X; Y) most, until one block is left.

    Source: Makhdoumi et al. (2014), the privacy funnel, as [DF20]_ cites it.
    """
    if joint.n_useful > MOST_COMPARED:
        raise InputError(f"{joint.n_useful} values are too many for the funnel; up to {MOST_COMPARED} are.")
    columns = [joint.probabilities[:, x] for x in range(joint.n_useful)]
    members = [[x] for x in range(joint.n_useful)]
    while True:
        block_of = np.empty(joint.n_useful, dtype=np.int64)
        for block in members:
            block_of[block] = min(block)
        yield block_of
        if len(members) == 1:
            return
        cells = np.array(columns)
        change = _changes(cells, weight)
        a, b = sorted(divmod(int(change.argmin()), len(columns)))
        columns[a] = columns[a] + columns.pop(b)
        members[a] += members.pop(b)


def _changes(cells: FloatArray, weight: float) -> FloatArray:
    """Change of I(S; Y) - weight I(X; Y) for each pair of blocks; a block's row is P(s, block)."""
    mass = cells.sum(axis=1)
    own = xlogx(cells).sum(axis=1) - xlogx(mass)
    both = cells[:, None] + cells[None]
    merged = xlogx(both).sum(axis=2) - xlogx(mass[:, None] + mass[None])
    leak = merged - own[:, None] - own[None]
    # I(X; Y) = H(Y) for a partition.
    kept = -xlogx(mass[:, None] + mass[None]) + xlogx(mass)[:, None] + xlogx(mass)[None]
    change: FloatArray = leak - weight * kept
    np.fill_diagonal(change, np.inf)
    return change
