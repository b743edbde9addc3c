"""``method="auto"``: the best method that fits the notion, the size and the time given."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence

from discreet.core.beliefs import belief_classes
from discreet.core.joint import Joint
from discreet.designers.merging.subset_merging import subset_merging
from discreet.designers.outcome import Outcome
from discreet.designers.posteriors.guessing import automatic_guessing, is_about_guesses
from discreet.designers.posteriors.optimal import optimal
from discreet.designers.posteriors.quotient import is_about_beliefs
from discreet.designers.posteriors.subset_response import subset_response
from discreet.designers.protocols.excess import bounds_lifts
from discreet.mechanism import Earlier, Mechanism
from discreet.notions import Notion
from discreet.utilities import Distance, Utility

__all__ = ["automatic"]

#: The largest alphabet for which the optimum is tried where members of cells cannot be walked along.
OPTIMAL_UP_TO = 1000


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

    Under several joints, and after other releases, it is the optimum.
    """
    if also or after is not None:
        return optimal(
            joint, notion, utility=utility, seed=seed, time_limit=time_limit, also=also, near=near, after=after
        )
    if not notion.is_polyhedral:
        return subset_merging(joint, notion)
    if is_about_guesses(utility):
        return automatic_guessing(joint, notion, utility=utility, seed=seed, time_limit=time_limit)
    size = int(belief_classes(joint).max()) + 1 if is_about_beliefs(notion, utility) else joint.n_useful
    if size > OPTIMAL_UP_TO and not (is_about_beliefs(notion, utility) and bounds_lifts(notion)):
        return subset_response(joint, notion, utility=utility, seed=seed, time_limit=time_limit)
    return optimal(joint, notion, utility=utility, seed=seed, time_limit=time_limit, near=near)
