"""The best proof of a limit that there is time for: on cells of symbols where they are many, and on the symbols."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from discreet._support.progress import Stage
from discreet.designers.history import History
from discreet.designers.posteriors.cells import can_be_gathered
from discreet.designers.posteriors.extremes import shares_by_single_rows
from discreet.designers.posteriors.generation import Budget, ColumnGeneration
from discreet.designers.posteriors.prover import prove
from discreet.designers.posteriors.search import Found, proven_around
from discreet.proof.boxes import Proof, closed_form
from discreet.proof.polytope import Polytope
from discreet.utilities import SeparableUtility

__all__ = ["best_proof"]

#: Larger alphabets are proven on cells first, of these numbers, each for a share of what time is left: a small one
#: where boxes of the symbols themselves still prove more in the end.
PROVEN_DIRECTLY, CELLS_OF_PROOFS = 100, (40, 80, 160)
LITTLE_UP_TO, LITTLE, MUCH = 300, 0.05, 0.5

#: Seconds for each symbol that it takes to gather them into cells and to prove something around those, at least.
CELLS_SECONDS = 2e-6


def best_proof(
    polytope: Polytope,
    generation: ColumnGeneration | None,
    found: Found | None,
    utility: SeparableUtility | None,
    seed: int,
    budget: Budget,
    most_work: float,
    stage: Stage,
    history: History,
) -> Proof | None:
    """The highest limit that is proven on ever more cells, and on the symbols themselves where they are few enough."""
    if utility is None:
        return None
    proofs: list[Proof] = []
    if polytope.n_useful > PROVEN_DIRECTLY and can_be_gathered(polytope):
        for number in CELLS_OF_PROOFS:
            left = budget.share(LITTLE if polytope.n_useful <= LITTLE_UP_TO else MUCH)
            if not left.is_enough_for(CELLS_SECONDS * polytope.n_useful):
                break
            if number < polytope.n_useful and not (left.over and proofs):
                proofs.append(proven_around(polytope, utility, number, seed, left, most_work))
                history.saw(limit=proofs[-1].limit)
                single = shares_by_single_rows(polytope)
                if generation is not None and proofs[-1].limit < closed_form(utility, polytope.p_useful, single):
                    break  # beliefs have too many dimensions for so few cells: the symbols themselves prove more
                if generation is not None:
                    generation.told(stage, max(proof.limit for proof in proofs))
    if generation is not None and found is not None:
        work = generation.pricing.work + most_work
        proofs.append(prove(generation, utility, budget, work, stage, largest=found.largest, centre=found.centre))
    return max(proofs, key=lambda proof: proof.limit, default=None)
