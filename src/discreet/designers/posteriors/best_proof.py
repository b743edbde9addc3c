"""The best proof of a limit that there is time for: on cells of many symbols, on the symbols, by groups."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence

from discreet._support.numeric import IntArray
from discreet._support.progress import Stage
from discreet.designers.history import History
from discreet.designers.posteriors.cells import can_be_gathered
from discreet.designers.posteriors.chained import chained
from discreet.designers.posteriors.extremes import shares_by_single_rows
from discreet.designers.posteriors.generation import Budget, ColumnGeneration
from discreet.designers.posteriors.prover import closed_gap, prove
from discreet.designers.posteriors.search import Found, proven_around
from discreet.proof.boxes import Proof, closed_form
from discreet.proof.polytope import Polytope
from discreet.utilities import SeparableUtility

__all__ = ["best_proof"]

#: Larger alphabets are proven on cells first, of these numbers, each for a share of what time is left: a small one
#: where boxes of the symbols themselves still prove more in the end.
PROVEN_DIRECTLY, CELLS_OF_PROOFS = 100, (40, 80, 160)
LITTLE_UP_TO, LITTLE, MUCH = 300, 0.05, 0.5

#: Share of the time after which the chain rule is tried where it may prove more than boxes of the symbols, which close
#: small problems by then; and of what is left the most for the first of two chains, which has fewer groups.
DIRECTLY, FIRST_CHAIN = 0.1, 0.8

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
    chains: Sequence[IntArray] = (),
) -> Proof | None:
    """The highest limit that is proven on ever more cells, and on the symbols themselves where they are few enough.

    Where these do not close the gap, ``chains`` are groups of symbols whose limits may be higher by the chain rule.
    """
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
        proofs += _on_symbols(generation, found, utility, seed, budget, most_work, stage, chains)
    return max(proofs, key=lambda proof: proof.limit, default=None)


def _on_symbols(
    generation: ColumnGeneration,
    found: Found,
    utility: SeparableUtility,
    seed: int,
    budget: Budget,
    most_work: float,
    stage: Stage,
    chains: Sequence[IntArray],
) -> list[Proof]:
    """Proofs by boxes of the symbols; where these do not suffice soon, by chains, and by boxes again in the rest."""

    def directly(part: Budget) -> Proof:
        work = generation.pricing.work + most_work
        return prove(generation, utility, part, work, stage, largest=found.largest, centre=found.centre)

    proofs = [directly(budget.share(DIRECTLY) if chains else budget)]

    def is_open() -> bool:
        gap = generation.value - max(proof.limit for proof in proofs)
        return not budget.over and gap > closed_gap(generation.whole)

    for number, groups in enumerate(chains, 1):
        if is_open():
            part = budget.share(FIRST_CHAIN if number < len(chains) else 1.0)
            proofs.append(chained(generation, groups, utility, seed, part, most_work))
            generation.told(stage, max(proof.limit for proof in proofs))
    if chains and budget.is_limited and is_open():
        proofs.append(directly(budget))
    return proofs
