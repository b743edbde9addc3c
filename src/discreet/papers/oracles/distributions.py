"""Lifts, leakages and information of P(s, y), each from its definition; rows are sensitive values."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = [
    "arimoto",
    "average",
    "chi2",
    "entropy",
    "information",
    "level",
    "lifts",
    "maximal_leakage",
    "nmi",
    "ratios",
    "renyi",
    "sibson",
    "through",
    "total_variation",
    "useful_information",
]

Cells = Any  # two-dimensional arrays of probabilities


def lifts(cells: Cells) -> Any:
    """P(s | y) / P(s): posterior over prior."""
    posterior = cells / cells.sum(axis=0)
    return np.array([row / prior for row, prior in zip(posterior, cells.sum(axis=1))])


def level(cells: Cells) -> float:
    """The least epsilon of which the release is epsilon-LIP: the largest absolute log of a posterior over its prior."""
    found = lifts(cells)
    return math.inf if (found <= 0).any() else float(np.abs(np.log(found)).max())


def ratios(cells: Cells) -> list[float]:
    """max P(y | s) / P(y | s') over pairs, for every y: what LDP bounds."""
    given = [row / row.sum() for row in cells]
    return [
        max(
            (a[y] / b[y] if b[y] > 0 else math.inf if a[y] > 0 else 1.0) for a in given for b in given
        )
        for y in range(cells.shape[1])
    ]  # fmt: skip


def average(cells: Cells, y: int, kind: str, alpha: float = 2.0, *, inverse: bool = False) -> float:
    """l1-, chi-square- or alpha-lift of a released symbol, or the same of inverse lifts: means over the prior."""
    mass, prior = cells[:, y].sum(), cells.sum(axis=1)
    found = [cells[s, y] / mass / prior[s] for s in range(len(cells))]
    if inverse:
        if min(found) == 0:
            return math.inf
        found = [1 / lift for lift in found]
    if kind == "alpha":
        most = max(found)  # taken out of the power, which would overflow
        return float(most * sum(p * (lift / most) ** alpha for p, lift in zip(prior, found)) ** (1 / alpha))
    return float(sum(p * (abs(lift - 1) if kind == "l1" else (lift - 1) ** 2) for p, lift in zip(prior, found)))


def entropy(probabilities: Any) -> float:
    """Shannon entropy in nats."""
    p = np.ravel(probabilities)
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


def information(cells: Cells) -> float:
    """H(S) + H(Y) - H(S, Y)."""
    return entropy(cells.sum(axis=1)) + entropy(cells.sum(axis=0)) - entropy(cells)


def total_variation(cells: Cells) -> float:
    """Half the absolute distance of the joint from the product of its marginals."""
    return float(np.abs(cells - np.outer(cells.sum(axis=1), cells.sum(axis=0))).sum()) / 2


def chi2(cells: Cells) -> float:
    """Squared distance of the joint from the product of its marginals, over that product."""
    product = np.outer(cells.sum(axis=1), cells.sum(axis=0))
    return float(((cells - product) ** 2 / product).sum())


def renyi(cells: Cells, output: Any, alpha: float) -> float:
    """Renyi divergence of the joint from P_S times any law of the output."""
    product = np.outer(cells.sum(axis=1), output)
    return math.log(float((cells**alpha * product ** (1 - alpha)).sum())) / (alpha - 1)


def sibson(cells: Cells, alpha: float, rounds: int = 40) -> float:
    """The infimum of `renyi` over laws of the output, by moving mass between two symbols at a time."""
    output = np.full(cells.shape[1], 1 / cells.shape[1])
    prior = cells.sum(axis=1)
    weight = (cells**alpha * prior[:, None] ** (1 - alpha)).sum(
        axis=0
    )  # renyi is a sum over y of weight * q^(1 - alpha)
    for _ in range(rounds):
        for y in range(len(output)):
            for z in range(y):
                both, low, high = output[y] + output[z], 0.0, 1.0
                for _ in range(60):  # the derivative along the line rises: bisection
                    share = (low + high) / 2
                    falling = weight[y] * (share * both) ** -alpha > weight[z] * ((1 - share) * both) ** -alpha
                    low, high = (share, high) if falling else (low, share)
                output[y], output[z] = low * both, (1 - low) * both
    return renyi(cells, output, alpha)


def arimoto(cells: Cells, alpha: float) -> float:
    """Renyi entropy of S less Arimoto's conditional one; at infinity the log of the gain in guessing S."""
    prior = cells.sum(axis=1)
    if math.isinf(alpha):
        return math.log(sum(max(column) for column in cells.T) / max(prior))
    before = math.log(float((prior**alpha).sum())) / (1 - alpha)
    norms = sum(float((column**alpha).sum()) ** (1 / alpha) for column in cells.T)
    return before - alpha / (1 - alpha) * math.log(norms)


def maximal_leakage(cells: Cells) -> float:
    """log of the sum over y of the largest P(y | s)."""
    return math.log(sum(max(row[y] / row.sum() for row in cells) for y in range(cells.shape[1])))


def through(cells: Cells, channel: Any) -> Any:
    """P(s, y) of P(s, x) and P(y | x), or P(y | s, x); symbols that never occur are left out."""
    channel = np.asarray(channel, dtype=float)
    seen = np.einsum("sx,sxy->sy", cells, channel) if channel.ndim == 3 else cells @ channel
    return seen[:, seen.sum(axis=0) > 0]


def useful_information(cells: Cells, channel: Any) -> float:
    """I(X; Y), from P(x, y)."""
    channel = np.asarray(channel, dtype=float)
    if channel.ndim == 3:
        return information(np.einsum("sx,sxy->xy", cells, channel))
    return information(cells.sum(axis=0)[:, None] * channel)


def nmi(cells: Cells, channel: Any) -> float:
    """I(X; Y) / H(X), not clipped."""
    return useful_information(cells, channel) / entropy(cells.sum(axis=0))
