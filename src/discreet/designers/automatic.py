"""``method="auto"``: the best method that fits the notion, the size and the time given."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from discreet.core.beliefs import belief_classes
from discreet.core.joint import Joint
from discreet.designers.merging.subset_merging import subset_merging
from discreet.designers.outcome import Outcome
from discreet.designers.posteriors.generation import Budget
from discreet.designers.posteriors.guessing import automatic_guessing, is_about_guesses
from discreet.designers.posteriors.optimal import optimal
from discreet.designers.posteriors.quotient import is_about_beliefs
from discreet.designers.posteriors.subset_response import subset_response
from discreet.designers.protocols.excess import bounds_lifts
from discreet.mechanism import Earlier, Mechanism
from discreet.notions import Notion, premises
from discreet.utilities import Distance, Utility

__all__ = ["automatic"]

#: The largest alphabet for which the optimum is tried where members of cells cannot be walked along.
OPTIMAL_UP_TO = 1000

#: Gaps that are a larger share of the whole than this let a simpler method be tried, for alphabets up to this size.
WIDE, SIMPLER_UP_TO = 0.05, 200

#: Share of a time limit that is kept for it.
SIMPLER_SHARE = 0.1

#: Share of the time that goes to the optimum by cuts; the rest goes to notions that imply the one that is asked for,
#: the least that each of them gets, and the share of the whole below which nothing is left for them to find.
CUTTING_SHARE, LEAST_SECONDS, SMALL = 0.7, 0.1, 1e-6


def automatic(
    joint: Joint,
    notion: Notion,
    *,
    utility: Utility,
    seed: int = 0,
    time_limit: float | None = None,
    also: Sequence[Joint] = (),
    near: Distance | None = None,
    after: Earlier | None = None,
) -> Mechanism | Outcome:
    """The best of the methods that there is time for; never below subset merging, which each of them starts from.

    Merging itself is cut short where it would take longer than there is time.
    Under several joints, and after other releases, it is the optimum. Where the allowed posteriors are not a polytope,
    polytopes inside of them are tried beside that.
    """
    if also or after is not None:
        return optimal(
            joint, notion, utility=utility, seed=seed, time_limit=time_limit, also=also, near=near, after=after
        )
    if not notion.is_polyhedral:
        return _curved(joint, notion, utility=utility, seed=seed, time_limit=time_limit, near=near)
    if is_about_guesses(utility):
        return automatic_guessing(joint, notion, utility=utility, seed=seed, time_limit=time_limit)
    if _size(joint, notion, utility) > OPTIMAL_UP_TO and not (
        is_about_beliefs(notion, utility) and bounds_lifts(notion)
    ):
        return subset_response(joint, notion, utility=utility, seed=seed, time_limit=time_limit)
    return _or_simpler(joint, notion, utility=utility, seed=seed, time_limit=time_limit, near=near)


def _or_simpler(
    joint: Joint, notion: Notion, *, utility: Utility, seed: int, time_limit: float | None, near: Distance | None
) -> Outcome:
    """The optimum, or what a simpler method keeps where that is far from proven, as with values that are too rare."""
    budget = Budget(time_limit)
    kept = SIMPLER_SHARE if joint.n_useful <= SIMPLER_UP_TO else 0.0
    most = None if time_limit is None else (1 - kept) * time_limit
    best = optimal(joint, notion, utility=utility, seed=seed, time_limit=most, near=near)
    gap = math.inf if best.limit is None else best.limit - utility.value(joint, best.mechanism)
    if gap <= WIDE * utility.whole(joint) or joint.n_useful > SIMPLER_UP_TO or budget.over:
        return best
    left = None if time_limit is None else budget.left()
    found = subset_response(joint, notion, utility=utility, seed=seed, time_limit=left)
    mechanism = found.mechanism if isinstance(found, Outcome) else found
    is_better = utility.value(joint, mechanism) > utility.value(joint, best.mechanism)
    return replace(best, mechanism=mechanism) if is_better and notion.holds(joint, mechanism) else best


def _curved(
    joint: Joint, notion: Notion, *, utility: Utility, seed: int, time_limit: float | None, near: Distance | None
) -> Outcome:
    """The best of merging, of the optimum by cuts, and of designs under notions that imply this one.

    Those are tried where the optimum is not proven, or was not looked for because it would take too long.
    """
    budget = Budget(time_limit)
    best = Outcome(subset_merging(joint, notion, is_over=budget.is_over))
    if notion.is_enclosed and not is_about_guesses(utility) and _size(joint, notion, utility) <= OPTIMAL_UP_TO:
        share = None if time_limit is None else CUTTING_SHARE * time_limit
        best = optimal(joint, notion, utility=utility, seed=seed, time_limit=share, near=near)
        if best.limit is not None and best.limit - utility.value(joint, best.mechanism) <= SMALL * utility.whole(joint):
            return best
    known = premises(notion)
    for number, premise in enumerate(known):
        if budget.over:
            break
        left = None if time_limit is None else max(LEAST_SECONDS, budget.left() / (len(known) - number))
        found = automatic(joint, premise, utility=utility, seed=seed, time_limit=left, near=near)
        mechanism = found.mechanism if isinstance(found, Outcome) else found
        if notion.holds(joint, mechanism) and utility.value(joint, mechanism) > utility.value(joint, best.mechanism):
            best = replace(best, mechanism=mechanism)
    return best


def _size(joint: Joint, notion: Notion, utility: Utility) -> int:
    """How many symbols, or classes of them, the optimum is about."""
    return int(belief_classes(joint).max()) + 1 if is_about_beliefs(notion, utility) else joint.n_useful
