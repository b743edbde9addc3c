"""Tuple information: I(X; X') / H(X) of an original tuple X and what is published for it, by the channel of each tool.

Counting pairs (x, x') of one release would say that every tuple that occurs once tells all about its twin, however far
away that is. So the channel P(x' | x) is used, which every tool here has: a function for those that generalise (where
counting is exact), a closed form for swaps, and for discreet the channel between classes with who stands opposite whom.
The law of X is that of the table.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_array

from discreet.mechanism import Mechanism
from discreet.twins.coupling import Coupling


def codes_of(table: pd.DataFrame) -> np.ndarray:
    """A number for each distinct tuple."""
    return table.groupby(list(table.columns), sort=False, observed=True).ngroup().to_numpy()


def entropy(weights: np.ndarray) -> float:
    """Of weights that need not sum to one, nats."""
    some = weights[weights > 0] / weights.sum()
    return float(-(some * np.log(some)).sum())


def counted(first: np.ndarray, second: np.ndarray) -> float:
    """I / H(first) as counted: exact where the second is a function of the first."""
    both = entropy(np.unique(first * (int(second.max()) + 1) + second, return_counts=True)[1])
    own, other = (entropy(np.bincount(codes)) for codes in (first, second))
    return (own + other - both) / own if own > 0 else 0.0


def swapped(codes: np.ndarray, keep: float) -> float:
    """Whole tuples that stay with probability ``keep`` and else are those of a random row."""
    p = np.bincount(codes) / len(codes)
    stay = keep + (1 - keep) * p
    elsewhere = (1 - keep) * np.log(1 - keep) * (1 - (p**2).sum()) if keep < 1 else 0.0
    return float(((p * stay * np.log(stay / p)).sum() + elsewhere) / entropy(p))


def columns_swapped(original: pd.DataFrame, released: pd.DataFrame, keep: float) -> float:
    """Every column by itself as in `swapped`; H(X') as the mean of -log P(x') over the rows of one release.

    P(x') is a mixture over the columns that stayed: their joint share in the original, times the shares of the others.
    """
    columns = list(original.columns)
    shares = {name: original[name].value_counts(normalize=True) for name in columns}
    spread = sum(_spread(share.to_numpy(), keep) for share in shares.values())
    alone = np.stack([released[name].map(shares[name]).to_numpy(dtype=float) for name in columns])
    law = np.zeros(len(released))
    for stayed in itertools.product([False, True], repeat=len(columns)):
        weight = np.prod([keep if stays else 1 - keep for stays in stayed])
        names = [name for name, stays in zip(columns, stayed) if stays]
        others = alone[[not stays for stays in stayed]].prod(axis=0)
        law += weight * others * (_joint_share(original[names], released[names]) if names else 1.0)
    return (-float(np.log(law).mean()) - spread) / entropy(np.bincount(codes_of(original)))


def _spread(p: np.ndarray, keep: float) -> float:
    """H(X'|X) of a single column."""
    found = 0.0
    for k, weight in enumerate(p):
        row = (1 - keep) * p
        row[k] += keep
        found += weight * entropy(row)
    return found


def _joint_share(original: pd.DataFrame, released: pd.DataFrame) -> np.ndarray:
    """Of every released tuple its share in the original."""
    codes = codes_of(pd.concat([original, released], ignore_index=True))
    n = len(original)
    return np.bincount(codes[:n], minlength=int(codes.max()) + 1)[codes[n:]] / n


def coupled(codes: np.ndarray, classes: np.ndarray, mechanism: Mechanism, coupling: Coupling) -> float:
    """discreet's own channel: the design between classes, and inside a pair of them the stretches that overlap."""
    places: Sequence[int] | None = mechanism.own_places
    assert places is not None
    channel = np.zeros((mechanism.n_useful,) * 2)
    channel[:, list(places)] = mechanism.channel
    n, n_codes = len(codes), int(codes.max()) + 1
    stays = np.diag(channel)[classes] / n
    parts: list[tuple[Any, Any, Any]] = [(codes, codes, stays)]
    for (first, second), line in coupling.opposite.items():
        small, large = coupling.members[first], line
        a, b, share = _overlaps(len(small), len(large))
        one, other = codes[small[a]], codes[large[b]]
        parts.append((one, other, share * channel[first, second] * len(small) / n))
        parts.append((other, one, share * channel[second, first] * len(large) / n))
    rows, columns, weights = (np.concatenate(part) for part in zip(*parts))
    joint = coo_array((weights, (rows, columns)), shape=(n_codes, n_codes)).tocsr()
    assert abs(joint.sum() - 1) < 1e-9, "the channel's rows sum to one"
    own, other = np.asarray(joint.sum(axis=1)).ravel(), np.asarray(joint.sum(axis=0)).ravel()
    return (entropy(own) + entropy(other) - entropy(joint.data)) / entropy(own)


def _overlaps(n_first: int, n_second: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of two classes on a line from 0 to 1 that stand opposite each other, and how much of it they share."""
    ends = np.union1d(np.arange(n_first + 1) * n_second, np.arange(n_second + 1) * n_first)
    starts, length = ends[:-1], np.diff(ends)
    return starts // n_second, starts // n_first, length / (n_first * n_second)
