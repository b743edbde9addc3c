"""Power means of lifts: orders that would overflow, and values that a symbol rules out."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import Joint, measures
from discreet.measures import kernels

WITH_A_ZERO = Joint.from_array([[0.30, 0.15, 0.05, 0.0], [0.10, 0.15, 0.20, 0.05]])


@pytest.mark.parametrize("alpha", [1.5, 2, 1000, 1e6, 1e300])
def test_a_ruled_out_value_is_infinite_at_every_order_without_a_warning(alpha: float) -> None:
    found = measures.alpha_lift_inverse(WITH_A_ZERO, alpha)
    assert found[3] == np.inf
    assert np.isfinite(found[:3]).all()
    assert (found <= measures.min_lift_inverse(WITH_A_ZERO) * (1 + 1e-12)).all()


def test_the_other_lifts_of_such_a_symbol_are_large_too() -> None:
    """One value ruled out and another at a thousandth of its share: the power of the second would overflow."""
    joint = Joint.from_array([[0.0, 0.25], [0.0001, 0.2499], [0.4, 0.1]])
    assert measures.alpha_lift_inverse(joint, 1000)[0] == np.inf


def test_large_orders_tend_to_the_largest_inverse_lift() -> None:
    found = measures.alpha_lift_inverse(WITH_A_ZERO, 1e6)[:3]
    assert found == pytest.approx(measures.min_lift_inverse(WITH_A_ZERO)[:3], rel=1e-5)


def test_a_value_without_mass_counts_for_nothing_even_where_infinite() -> None:
    lifts, prior = np.array([[np.inf], [0.001], [0.002]]), np.array([0.0, 0.5, 0.5])
    assert kernels.alpha_lift(lifts, prior, 1000.0) == pytest.approx([0.002 * 0.5**0.001])
