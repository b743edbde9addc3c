r"""The best channel in the column's own values, by one linear programme.

.. math:: \min \sum_{x, g} P(x) R(g \mid x) \, l(x, g) \quad \text{over } R \ge 0, \; \sum_g R(g \mid x) = 1, \;
   A \, (P(\cdot) R(g \mid \cdot), t_g) \le 0 \text{ for every } g

with A the homogeneous rows of the allowed posteriors, t their auxiliary variables, and :math:`\sum_x W(x) R(g \mid x) =
W(g)` where a distribution W is to be kept: P, or that of a larger table. Our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from discreet._support.numeric import FloatArray
from discreet.designers.posteriors.lp import minimise
from discreet.proof.channels import ChannelProof
from discreet.proof.polytope import Polytope

__all__ = ["BestChannel", "best_channel"]

#: Rows of a guess are scaled by its share, and no further: numbers that differ by more are trouble for a solver.
LEAST_SHARE = 1e-6

#: How far inside its rows a channel is asked for; its proof is about the rows as they are, and this much less tight.
HAIR = 1e-11

#: Programmes with so many coefficients that keep shares are solved from the interior.
INTERIOR_FROM = 200_000


class BestChannel(NamedTuple):
    """R(g | x), shape (x, g), a hair inside up to the solver's tolerance, and a proof of how little any loses."""

    channel: FloatArray
    proof: ChannelProof


def _tightened(polytope: Polytope) -> FloatArray:
    """Rows that hold by a hair, so that rounding a channel breaks none; those that P_X itself has no room in stay."""
    room = -(polytope.own_rows @ polytope.p_useful)
    hair = np.where(polytope.equal, 0.0, np.clip(room / 100, 0.0, HAIR))
    rows = polytope.rows.copy()
    rows[:, : polytope.n_useful] += hair[:, None]
    return rows


def best_channel(
    polytope: Polytope, losses: FloatArray, *, shares: FloatArray | None, time_limit: float | None = None
) -> BestChannel | None:
    """The channel of least loss; None where the solver gives up, or time runs out.

    Parameters
    ----------
    polytope : Polytope
        Allowed posteriors over n symbols.
    losses : ndarray of shape (n, n_guesses)
        Loss of each guess; where shares are kept the guesses are the symbols.
    shares : ndarray of shape (n,) or None
        The distribution W that the published column keeps, where it keeps any.
    time_limit : float, optional
        Seconds.
    """
    started = time.monotonic()
    rows, p, n = polytope.rows, polytope.p_useful, polytope.n_useful
    m, width, guesses = len(rows), rows.shape[1], losses.shape[1]
    # Variables are R(g | x), then the auxiliary ones, guess by guess. Rows are as large whatever the mass of a column.
    mass = np.maximum(shares if shares is not None else p @ (losses == losses.min(axis=1, keepdims=True)), LEAST_SHARE)
    scaled = _tightened(polytope) * np.append(p, np.ones(width - n))
    g, k, x = np.meshgrid(np.arange(guesses), np.arange(m), np.arange(width), indexing="ij")
    inside = np.broadcast_to(scaled != 0, g.shape)
    parts = [((g * m + k)[inside], (g * width + x)[inside], (scaled / mass[:, None, None])[inside])]
    every_g, every_x = np.divmod(np.arange(guesses * n), n)
    column = every_g * width + every_x
    parts.append((guesses * m + every_x, column, np.ones(guesses * n)))
    lower, upper = (
        [np.tile(np.where(polytope.equal, 0.0, -np.inf), guesses), np.ones(n)],
        [np.zeros(guesses * m), np.ones(n)],
    )
    if shares is not None:
        parts.append((guesses * m + n + every_g, column, shares[every_x] / mass[every_g]))
        lower.append(shares / mass)
        upper.append(shares / mass)
    cost = np.zeros((guesses, width))
    cost[:, :n] = (losses * p[:, None]).T
    entries = tuple(np.concatenate(part) for part in zip(*parts))
    found = minimise(
        cost.ravel(),
        (entries[0], entries[1], entries[2]),
        np.concatenate(lower),
        np.concatenate(upper),
        time_limit=None if time_limit is None else time_limit - (time.monotonic() - started),
        interior=shares is not None and len(entries[0]) > INTERIOR_FROM,
    )
    if found is None:
        return None
    multipliers = -found.prices[: guesses * m].reshape(guesses, m) / mass[:, None]
    prices = None if shares is None else found.prices[guesses * m + n :] / mass
    channel = found.values.reshape(guesses, width)[:, :n].T
    proof = ChannelProof(polytope, losses, multipliers, prices, shares)
    return BestChannel(channel, replace(proof, limit=proof.check()))
