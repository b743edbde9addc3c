"""Max-truth: the mechanism that most often tells the truth under the notion.

A cheap answer between randomised response and the optimum, polynomial in the alphabet; see `truth`.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from discreet._support.errors import InputError
from discreet.core.joint import Joint
from discreet.designers.outcome import Outcome
from discreet.designers.posteriors.problem import Problem
from discreet.designers.posteriors.truth import coefficients, most_truthful
from discreet.notions import Notion
from discreet.utilities import Utility

__all__ = ["max_truth"]

#: Coefficients of the programme; more would take minutes.
MOST_COEFFICIENTS = 20_000_000


def max_truth(joint: Joint, notion: Notion, *, utility: Utility, time_limit: float | None = None) -> Outcome:
    """The most truthful mechanism, or subset merging where that keeps more or the solver runs out of time."""
    problem = Problem(joint, notion, utility)
    size = coefficients(problem.polytope)
    if size > MOST_COEFFICIENTS:
        raise InputError(
            f"max-truth would need {size:.3g} coefficients, more than {MOST_COEFFICIENTS:.3g}. "
            "Use method='subset-response' for large alphabets."
        )
    found = most_truthful(problem.polytope, time_limit)
    if found is None:  # no time left, or probabilities too small for the solver
        return Outcome(problem.merged()[0])
    return problem.outcome(*found, None)
