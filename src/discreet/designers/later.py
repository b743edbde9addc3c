r"""Designs for the next table: how often a fresh sample of the same size and population keeps a promise.

The counts leave the population open, and the next table is another sample of it. Both are simulated: populations are
drawn from their posterior under Jeffreys' prior, a Dirichlet distribution with the counts plus one half, and tables of
as many records from each. A design is made for limits of P(s | x) that single cells are beyond with a chance of alpha,
and alpha is the largest of a few tried for which enough of the simulated tables keep the promise, and of those of an
unlucky population nearly as many. Notions without such limits get a margin instead. Our own.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from discreet._support import progress
from discreet._support.errors import InputError, InvalidNotionError
from discreet._support.numeric import FloatArray, IntArray
from discreet.core.joint import Joint
from discreet.designers.outcome import Outcome
from discreet.mechanism import ChannelMechanism, Mechanism
from discreet.notions import LIFTS, Notion
from discreet.notions.foreseen import Foreseen

__all__ = ["Foresight", "design_for_later", "share_of_next_tables"]

#: Populations that are simulated, and tables of each.
POPULATIONS, TABLES = 40, 50

#: The share of populations that is called unlucky; tables of those may fail twice as often.
UNLUCKY = 0.1

#: Entries of what is released of simulated tables that are held at once.
MOST_ENTRIES = 10_000_000

#: Designs that are tried, each for a share of the time.
TRIES = 6

#: How many standard deviations of a cell the limits of designs are wide at most.
WIDEST = 6.0


@dataclass(frozen=True)
class Foresight:
    """An outcome, and the share of simulated next tables that keep its promise."""

    outcome: Outcome
    share: float


def share_of_next_tables(joint: Joint, notion: Notion, mechanism: Mechanism, *, seed: int = 0) -> float:
    """Share of simulated next tables on which a mechanism keeps a notion: 50 each of 40 populations.

    Parameters
    ----------
    joint : Joint
        With the counts of this table.
    notion, mechanism : Notion, Mechanism
        The promise, about tables as they are counted, and a plain channel.
    seed : int
        Of the simulation.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> from discreet import LIP
    >>> joint = Joint.from_counts([[300, 150, 50], [100, 150, 250]], useful=["a", "b", "c"])
    >>> share_of_next_tables(joint, LIP(0.1), Mechanism.from_blocks(joint, [0, 0, 0]))
    1.0
    """
    return float(_shares(joint, notion, mechanism, seed).mean())


def _shares(joint: Joint, notion: Notion, mechanism: Mechanism, seed: int) -> FloatArray:
    """The share of next tables that keep a notion, of each simulated population."""
    if not isinstance(mechanism, ChannelMechanism):
        raise InputError("the next table is simulated for plain channels: not for bits, attributes or readers of S.")
    if notion.is_conditional or notion.confidence is not None:
        raise InvalidNotionError(f"{notion} is not decided on the counts of a table alone. Leave out for_later.")
    return np.array([_kept(tables, notion, mechanism, joint).mean() for tables in _next_tables(joint, seed)])


def _next_tables(joint: Joint, seed: int) -> Iterator[IntArray]:
    """Counts of simulated next tables of one population after the other, shape (TABLES, n_sensitive, n_useful)."""
    if joint.counts is None:
        raise InputError("the next table needs the counts of this one. Make the joint with Joint.from_counts.")
    counts = np.asarray(joint.counts, dtype=np.float64)
    shape, records = counts.shape, int(joint.counts.sum())
    known = np.where(joint.occurs, counts + 0.5, 0.0).ravel()
    rng = np.random.default_rng(seed)
    for _ in range(POPULATIONS):
        weights = rng.standard_gamma(known)
        drawn: IntArray = rng.multinomial(records, weights / weights.sum(), TABLES)
        yield drawn.reshape(TABLES, *shape)


def _kept(tables: IntArray, notion: Notion, mechanism: ChannelMechanism, joint: Joint) -> FloatArray:
    """Which of these tables keep the notion, as 0 and 1."""
    spread = mechanism.spread_over(joint.useful, joint.occurs)
    step = max(1, MOST_ENTRIES // (joint.n_sensitive * max(len(spread.source), 1)))
    kept = np.ones(len(tables))
    for first in range(0, len(tables), step):
        some = tables[first : first + step].astype(np.float64)
        cells = spread.floats(some.reshape(-1, joint.n_useful)).reshape(len(some), joint.n_sensitive, -1)
        prior, mass = cells.sum(axis=2, keepdims=True), cells.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            lifts = cells * prior.sum(axis=1, keepdims=True) / (prior * mass)
        lifts = np.where((prior > 0) & (mass > 0), lifts, 1.0)  # what does not occur promises nothing
        shares = (prior / prior.sum(axis=1, keepdims=True))[:, :, 0]
        for bound in notion.bounds:
            levels = bound.level(bound.value(lifts, shares))
            kept[first : first + step] *= (levels <= bound.epsilon).all(axis=1)
    return kept


def design_for_later(
    joint: Joint, notion: Notion, chance: float, seed: int, make: Callable[[Notion, float], Outcome]
) -> Foresight:
    """The design that keeps most of those tried whose promise enough of the simulated next tables keep.

    ``make`` designs for a notion in a share of the time. Where no design is good enough, everything is merged.
    """
    nothing = Mechanism.from_blocks(joint, np.zeros(joint.n_useful, dtype=np.int64))
    best = Foresight(Outcome(nothing), 1.0)
    low, high, width = 0.0, WIDEST, 2.0
    with progress.stage("designing for later") as stage:
        for number in range(TRIES):
            outcome = make(_stricter(notion, width), 1 / (TRIES - number))
            shares = _shares(joint, notion, outcome.mechanism, seed)
            share, unlucky = float(shares.mean()), float(np.quantile(shares, UNLUCKY))
            if share >= chance and unlucky >= 1 - 2 * (1 - chance):
                best, high = Foresight(outcome, share), width
            else:
                low = width
            stage.update(number + 1, TRIES, detail=f"{100 * share:.1f} % of next tables keep {notion}")
            width = (low + high) / 2
    return best


def _stricter(notion: Notion, width: float) -> Notion:
    """Something to design for that leaves room: limits so many standard deviations wide, or a margin."""
    from scipy.special import ndtr

    if {bound.kind for bound in notion.bounds} <= set(LIFTS):
        return Foreseen(notion, float(ndtr(-width)))
    smallest = min(bound.epsilon for bound in notion.bounds)
    return notion.tightened(smallest * width / (WIDEST + 1))
