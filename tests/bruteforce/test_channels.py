"""Optima in a column's own values against programmes written from the definitions."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import ALIP, LDP, LIP, Joint, L1Lift, MaxLift, design
from discreet.core.beliefs import belief_classes
from discreet.notions import Notion
from discreet.utilities import Accuracy, Distance, Invariant
from tests.bruteforce.channels import column_rows, least_loss
from tests.bruteforce.test_beliefs import repeating

#: Both sides solve programmes with numbers of size one within 1e-9 or less.
SAME = 1e-9

NOTIONS = [
    LIP(0.4),
    LIP(0.05),
    ALIP(eps_lower=0.7, eps_upper=0.2),
    LDP(0.5),
    MaxLift(eps_upper=0.3),
    L1Lift(eps_upper=0.25),
]


def fields(notion: Notion) -> dict[str, float]:
    return {name: value for name, value in vars(notion).items() if value is not None}


def small_joint(seed: int) -> Joint:
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 40, (2 + seed % 2, 3 + seed % 3)) * (rng.random((2 + seed % 2, 3 + seed % 3)) < 0.8)
    counts[:, 0] += 1
    counts[0] += counts.sum(axis=0) == 0
    return Joint.from_counts(counts, useful=np.cumsum(rng.integers(1, 9, 3 + seed % 3)).tolist())


@pytest.mark.parametrize("invariant", [False, True])
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_the_share_that_stays_is_the_best_there_is(seed: int, notion: Notion, invariant: bool) -> None:
    """P(X' = X) of the design is the optimum of a programme written by other hands."""
    joint = small_joint(seed)
    rows = column_rows(joint.probabilities, notion.name, fields(notion))
    best = 1 - least_loss(joint.probabilities, 1 - np.eye(joint.n_useful), rows, invariant)
    found = design(joint, notion, utility="accuracy", invariant=invariant)
    mechanism = found.mechanism
    if found.kept < SAME and not invariant:  # all values are one, which is not published as any of them
        assert best == pytest.approx(joint.p_useful.max(), abs=SAME)
        return
    place = [[str(x) for x in joint.useful].index(label) for label in mechanism.released]
    told = sum(joint.p_useful[x] * mechanism.channel[x, y] for y, x in enumerate(place))
    assert told == pytest.approx(best, abs=SAME)
    assert found.measured is not None
    assert found.measured.value == pytest.approx(best, abs=SAME)
    assert (found.status, found.evidence) == ("optimal", "checkable")
    assert notion.holds(joint, mechanism)
    if invariant:
        assert np.abs((joint.p_useful @ mechanism.channel) - joint.p_useful[place]).max() <= 1e-15


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_shares_of_a_larger_table_are_kept_at_the_least_cost(seed: int, notion: Notion) -> None:
    """Where some records are published and not counted, it is the shares of all that are kept."""
    joint = small_joint(seed)
    rng = np.random.default_rng(seed + 100)
    sizes = np.where(joint.occurs, joint.p_useful * joint.records + rng.integers(0, 20, joint.n_useful), 0.0)
    rows = column_rows(joint.probabilities, notion.name, fields(notion))
    shares = sizes / sizes.sum()
    best = 1 - least_loss(joint.probabilities, 1 - np.eye(joint.n_useful), rows, invariant=True, kept=shares)
    utility = Invariant(Accuracy(), dict(zip(joint.useful, sizes.tolist())))
    found = design(joint, notion, utility=utility)
    assert found.measured is not None
    assert found.measured.value == pytest.approx(best, abs=SAME)
    assert (found.status, found.evidence) == ("optimal", "checkable")
    place = [[str(x) for x in joint.useful].index(label) for label in found.mechanism.released]
    assert np.abs(shares @ found.mechanism.channel - shares[place]).max() <= 1e-15


@pytest.mark.parametrize("invariant", [False, True])
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_the_distance_that_is_left_is_the_least_there_is(seed: int, notion: Notion, invariant: bool) -> None:
    joint = small_joint(seed)
    values = np.array(joint.useful, dtype=float)
    distances = np.abs(values[:, None] - values)
    rows = column_rows(joint.probabilities, notion.name, fields(notion))
    best = least_loss(joint.probabilities, distances, rows, invariant)
    found = design(joint, notion, utility="distance", invariant=invariant)
    assert found.measured is not None
    assert found.measured.value == pytest.approx(best, abs=SAME * distances.max())
    assert found.status == "optimal"
    assert notion.holds(joint, found.mechanism)
    given = design(joint, notion, utility=Distance(distances), invariant=invariant)
    assert given.kept == pytest.approx(found.kept, abs=SAME)


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_one_released_symbol_for_each_guess_is_enough(seed: int, notion: Notion) -> None:
    joint = small_joint(seed)
    rng = np.random.default_rng(seed)
    losses = rng.random((joint.n_useful, joint.n_useful)) * (1 - np.eye(joint.n_useful))
    rows = column_rows(joint.probabilities, notion.name, fields(notion))
    once, often = (least_loss(joint.probabilities, losses, rows, copies=k) for k in (1, 3))
    assert once == pytest.approx(often, abs=SAME)
    own = Distance(losses)
    found = design(joint, notion, utility=own)
    left = own.prior(joint) - own.value(joint, found.mechanism)
    assert left * losses.max() == pytest.approx(once, abs=SAME)


@pytest.mark.parametrize("notion", [LIP(0.3), LDP(0.6)], ids=str)
def test_the_accuracy_of_a_channel_is_that_of_its_best_guess(notion: Notion) -> None:
    """Without the distribution being kept, no release is guessed better than the values that are published."""
    for seed in range(4):
        joint = small_joint(seed)
        found = design(joint, notion, utility=Accuracy())
        cells = joint.p_useful[:, None] * found.mechanism.channel
        assert found.measured is not None
        assert cells.max(axis=0).sum() == pytest.approx(found.measured.value, abs=1e-12)


@pytest.mark.parametrize("invariant", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_accuracy_on_classes_of_equal_beliefs_is_the_best_on_symbols(seed: int, invariant: bool) -> None:
    joint = repeating(seed)
    for notion in NOTIONS:
        rows = column_rows(joint.probabilities, notion.name, fields(notion))
        best = 1 - least_loss(joint.probabilities, 1 - np.eye(joint.n_useful), rows, invariant)
        found = design(joint, notion, utility="accuracy", invariant=invariant)
        assert found.measured is not None
        assert found.measured.value == pytest.approx(best, abs=SAME)
        assert (found.status, found.evidence) == ("optimal", "checkable")
        assert found.proof.polytope.n_useful == len(np.unique(belief_classes(joint)))
        if invariant:
            place = [[str(x) for x in joint.useful].index(label) for label in found.mechanism.released]
            assert np.abs((joint.p_useful @ found.mechanism.channel) - joint.p_useful[place]).max() <= 1e-15


def test_accuracy_costs_as_many_beliefs_as_there_are() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(20, 300, (3, 12))[:, rng.permutation(np.arange(1500) % 12)] * rng.integers(1, 5, 1500)
    counts[:, 7] = 0
    joint = Joint.from_counts(counts)
    for invariant in (False, True):
        for other in ([], [Joint.from_counts(counts * 2)]):
            found = design(joint, LIP(0.2), utility="accuracy", invariant=invariant, also=other)
            assert found.status == "optimal"
            assert len(found.mechanism.entries.rows) < 50 * joint.n_useful
            assert set(found.mechanism.released) <= {str(x) for x in joint.useful}
