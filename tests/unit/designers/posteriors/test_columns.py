"""First columns of a design are allowed ones."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import ALIP, LDP, LIP, Joint, MaxLift, Notion, PerfectPrivacy
from discreet.designers.posteriors.columns import towards_symbols
from discreet.designers.posteriors.problem import Problem
from discreet.utilities import Information

#: Rows have a largest entry of one, and posteriors sum to one: what rounding leaves.
ROUNDING = 1e-12


@pytest.mark.parametrize(
    "notion", [PerfectPrivacy(), LIP(0), LIP(0.3), LDP(0.5), MaxLift(0.2), ALIP(eps_lower=0.1, eps_upper=0.7)], ids=str
)
@pytest.mark.parametrize("counts", [[[40_000, 5, 0, 2], [30_000, 2, 2, 4], [40_000, 2, 3, 4]], [[3, 1, 2], [1, 3, 2]]])
def test_what_lies_between_the_prior_and_a_symbol_keeps_every_row(notion: Notion, counts: list[list[int]]) -> None:
    """Equations too: a symbol on their lower side is no more allowed than one on the upper."""
    problem = Problem(Joint.from_counts(counts), notion, Information())
    points = towards_symbols(problem.polytope)
    assert np.allclose(points.sum(axis=1), 1)
    assert (problem.polytope.exceeded(points) <= ROUNDING).all()
