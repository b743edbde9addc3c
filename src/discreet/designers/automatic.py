"""``method="auto"``: the best method that fits the notion, the size and the time given."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time

from discreet.core.beliefs import belief_classes
from discreet.core.joint import Joint
from discreet.designers.merging.subset_merging import subset_merging
from discreet.designers.outcome import Outcome
from discreet.designers.posteriors.guessing import automatic_guessing, is_about_guesses
from discreet.designers.posteriors.optimal import optimal
from discreet.designers.posteriors.quotient import is_about_beliefs
from discreet.designers.posteriors.subset_response import subset_response
from discreet.mechanism import Mechanism
from discreet.notions import Notion
from discreet.utilities import Utility

__all__ = ["automatic"]

#: Larger alphabets respond at random inside blocks first, which takes seconds; the optimum gets what time is left. What
#: counts is the number of beliefs, wherever symbols of the same one can be taken together.
BLOCKS_FIRST_ABOVE = 300

#: The largest alphabet for which the optimum is tried without a time limit.
OPTIMAL_UP_TO = 1000


def automatic(
    joint: Joint, notion: Notion, *, utility: Utility, seed: int = 0, time_limit: float | None = None
) -> Mechanism | Outcome:
    """The best of the methods that there is time for; never below subset merging, which each of them starts from."""
    if not notion.is_polyhedral:
        return subset_merging(joint, notion)
    if is_about_guesses(utility):
        return automatic_guessing(joint, notion, utility=utility, seed=seed, time_limit=time_limit)
    start = time.monotonic()
    size = int(belief_classes(joint).max()) + 1 if is_about_beliefs(notion, utility) else joint.n_useful
    if size <= BLOCKS_FIRST_ABOVE or notion.is_conditional:
        return optimal(joint, notion, utility=utility, seed=seed, time_limit=time_limit)
    by_blocks = subset_response(joint, notion, utility=utility, seed=seed, time_limit=time_limit)
    left = None if time_limit is None else time_limit - (time.monotonic() - start)
    if (left is None and size > OPTIMAL_UP_TO) or (left is not None and left <= 0):
        return by_blocks
    best = optimal(joint, notion, utility=utility, seed=seed, time_limit=left)
    if utility.value(joint, best.mechanism) >= utility.value(joint, by_blocks.mechanism):
        return best
    return Outcome(by_blocks.mechanism, best.limit, best.proof)
