"""What an attack says of a promise: broken for sure, undecided, or not broken by what was tried."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from discreet._support.errors import InputError, UnsupportedNotionError
from discreet._support.numeric import FloatArray
from discreet.measures.limits import limits_of
from discreet.notions import Notion
from discreet.publishing.attack.lifts import Cell
from discreet.publishing.attack.presence import PresenceCell

__all__ = ["Found", "Judgement", "Promised", "Word", "findings", "judged", "promised", "with_unchecked"]

Word = Literal["broken", "undecided", "not broken"]

#: Estimates beyond the budget by this factor, and by this many nats, leave a promise undecided.
FACTOR, MARGIN = 2.0, 0.25

#: Chance up to which such an estimate may be one of many that are off: limits of it alone cover the promise then.
SINGLE = 0.01

#: Estimates from fewer expected records are not looked at: they are anything.
LEAST_EXPECTED = 5.0

#: Reasons that are given.
MOST_REASONS = 12


class Promised(NamedTuple):
    """Log-lifts that a promise allows, and how far logarithms of two lifts may lie apart; nats."""

    low: float
    high: float
    apart: float = math.inf


class Found(NamedTuple):
    """A log-lift that was measured, its limits, the number of records, P(s), and where, in words."""

    log_lift: float
    low: float
    high: float
    n: int
    prior: float
    words: str
    measure: str = "log-lift"
    is_presence: bool = False

    @property
    def odds(self) -> Found:
        r"""The same for the odds of s.

        The mean lift of all other values is (1 - P(s | part)) / (1 - P(s)), so some two lifts lie as far apart as

        .. math:: \log \frac{P(s \mid \text{part})}{P(s)} - \log \frac{1 - P(s \mid \text{part})}{1 - P(s)}
        """
        middle, low, high = (_log_odds(value, self.prior) for value in (self.log_lift, self.low, self.high))
        return self._replace(log_lift=middle, low=low, high=high, measure="log-ratio of odds")

    def beyond(self, to: Promised) -> float:
        """How far the estimate lies beyond a promise, nats."""
        return max(self.log_lift - to.high, to.low - self.log_lift)


class Judgement(NamedTuple):
    """The verdict, the cells that it rests on, and how far estimates that break the promise lie beyond it, nats.

    As far as can be where the presence of tuples breaks it: no budget between classes mends that.
    """

    word: Word
    reasons: tuple[str, ...] = ()
    beyond: float = 0.0


def promised(notion: Notion | None) -> Promised | None:
    """How far single lifts may fall and rise under a notion, and how far two may lie apart.

    >>> from discreet import LDP, MaxLift
    >>> promised(LDP(1)), promised(MaxLift(0.5))
    (Promised(low=-1.0, high=1.0, apart=1.0), Promised(low=-inf, high=0.5, apart=inf))
    """
    if notion is None:
        return None
    if not isinstance(notion, Notion):
        raise InputError(f"notion must be a privacy notion such as LIP(0.5), got {type(notion).__name__}.")
    budgets = [bound.kind.lift_budgets(bound.epsilon) for bound in notion.bounds]
    falling, rising = (min(side) for side in zip(*budgets))
    if math.isinf(falling) and math.isinf(rising):
        raise UnsupportedNotionError(
            f"{notion} limits no single lift, so an attack cannot judge it. Use LIP, ALIP, MaxLift or LDP."
        )
    apart = min((bound.epsilon for bound in notion.bounds if bound.kind.compares_pairs), default=math.inf)
    return Promised(0.0 - falling, rising, apart)  # no -0


def findings(
    cells: Iterable[Cell],
    presence: Iterable[PresenceCell],
    prior: FloatArray,
    values: Sequence[str],
    rows_each: float = 1.0,
) -> Iterator[Found]:
    """All that counts against a promise; so many rows say no more than one."""
    for cell in cells:
        where = f"{cell.model}, among {cell.n:,} untouched records: {values[cell.value]}"
        n = round(cell.n / rows_each)
        yield Found(cell.log_lift, cell.low, cell.high, n, float(prior[cell.value]), where)
    for one in presence:
        where = f"presence, {one.appearances} appearances, {one.n:,} records, given equal belief: {values[one.value]}"
        n = round(one.n / rows_each)
        yield Found(one.log_ratio, one.low, one.high, n, one.expected / one.n, where, is_presence=True)


def judged(found: Iterable[Found], allowed: Promised) -> Judgement:
    """What findings say of a promise."""
    everything, ratio = list(found), Promised(-allowed.apart, allowed.apart)
    limits = [(one.odds, ratio) for one in everything] if math.isfinite(allowed.apart) else []
    if allowed.low > ratio.low or allowed.high < ratio.high or not limits:  # else it follows
        limits += [(one, allowed) for one in everything]
    broken = [(max(one.low - to.high, to.low - one.high), one, to) for one, to in limits]
    broken = [case for case in broken if case[0] > 0]
    if broken:
        beyond = max(math.inf if one.is_presence else one.beyond(to) for _, one, to in broken)
        return Judgement("broken", _reasons(broken), beyond)
    sure = [(one, to) for one, to in limits if one.n * one.prior >= LEAST_EXPECTED]
    unsure = [(max(one.log_lift - _beyond(to.high), -_beyond(-to.low) - one.log_lift), one, to) for one, to in sure]
    unsure = [case for case in unsure if case[0] > 0 and _is_beyond_chance(case[1], case[2])]
    return Judgement("undecided", _reasons(unsure)) if unsure else Judgement("not broken")


def with_unchecked(found: Judgement, unchecked: Sequence[str]) -> Judgement:
    """What was not looked at may break the promise: what is not broken by the rest is undecided."""
    if found.word == "broken" or not unchecked:
        return found
    return Judgement("undecided", (*found.reasons, *unchecked))


def _is_beyond_chance(found: Found, to: Promised) -> bool:
    """Whether limits for this part alone exclude the promise."""
    if found.measure != "log-lift":
        return True
    share = min(1.0, found.prior * math.exp(found.log_lift))
    known = np.array([[round(share * found.n)]])
    low, high = (float(ends[0, 0]) for ends in limits_of(known, np.array([found.n]), SINGLE / 2).floats)
    return low > found.prior * math.exp(to.high) or high < found.prior * math.exp(to.low)


def _beyond(budget: float) -> float:
    return max(FACTOR * budget, budget + MARGIN)


def _log_odds(log_lift: float, prior: float) -> float:
    share = prior * math.exp(log_lift)
    return math.inf if share >= 1 else log_lift + math.log((1 - prior) / (1 - share))


def _reasons(cases: Sequence[tuple[float, Found, Promised]]) -> tuple[str, ...]:
    """Cells in words, the worst first."""
    worst = sorted(cases, key=lambda case: -case[0])
    told = [
        f"{one.words} has a {one.measure} of {one.log_lift:.2f} nats, {one.low:.2f} to {one.high:.2f} "
        f"(promised {to.low:g} to {to.high:g})."
        for _, one, to in worst[:MOST_REASONS]
    ]
    more = len(worst) - len(told)
    return (*told, *([f"And {more} more."] if more else []))
