"""Several releases of the same records under one promise, beside the definition in fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.certificate import checker
from discreet.certificate.record import sealed
from discreet.errors import BrokenNotionError, InputError
from tests.bruteforce import vertices


def worst_lifts(counts: np.ndarray, mechanisms: Sequence[dc.Mechanism]) -> tuple[Fraction, Fraction]:
    """The smallest and the largest P(s | y1, y2, ...) / P(s) over all that can be seen."""
    total = Fraction(int(counts.sum()))
    prior = [int(n) / total for n in counts.sum(axis=1)]
    weights = [mechanism.weights.tolist() for mechanism in mechanisms]
    found = []
    for seen in itertools.product(*(range(len(rows[0])) for rows in weights)):
        shown = [math.prod(rows[x][y] for rows, y in zip(weights, seen)) for x in range(counts.shape[1])]
        masses = [sum(int(n) * w for n, w in zip(row, shown)) for row in counts]
        if sum(masses):
            found += [Fraction(mass, sum(masses)) / p for mass, p in zip(masses, prior)]
    return min(found), max(found)


def keeps(lifts: tuple[Fraction, Fraction], epsilon: float) -> bool:
    """Within exp(-epsilon) and exp(epsilon), by 60 digits."""
    with mpmath.workdps(60):
        limit = mpmath.exp(mpmath.mpf(epsilon))
        low, high = (mpmath.mpf(one.numerator) / one.denominator for one in lifts)
        return bool(low >= 1 / limit and high <= limit)


def joint_of(seed: int, n_sensitive: int, n_useful: int) -> dc.Joint:
    counts = np.random.default_rng(seed).integers(1, 60, (n_sensitive, n_useful))
    return dc.Joint.from_counts(counts, useful=[f"x{k}" for k in range(n_useful)])


@pytest.mark.parametrize("seed", range(200))
def test_pairs_of_releases_keep_one_promise(seed: int) -> None:
    joint = joint_of(seed, 2 + seed % 2, 3 + seed % 3)
    first = dc.design(joint, dc.LIP(0.25)).mechanism
    notion = dc.LIP(0.5)
    second = dc.design(joint, notion, after=[first])
    assert keeps(worst_lifts(joint.counts, [first, second.mechanism]), 0.5)
    assert second.status == "optimal" or second.bound - second.nmi < 0.02
    assert second.nmi <= dc.design(joint, notion).nmi + 1e-9


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("utility", ["information", "accuracy"])
def test_a_promise_with_confidence_is_kept_alone_and_on_counts_with_what_came_before(seed: int, utility: str) -> None:
    counts = joint_of(seed, 2, 4).counts * 50
    joint = dc.Joint.from_counts(counts, useful=[f"x{k}" for k in range(4)])
    first = dc.design(joint, dc.LIP(0.25)).mechanism
    notion = dc.LIP(0.5, confidence=0.9)
    options = {"utility": utility, "invariant": utility == "accuracy"}
    found = dc.design(joint, notion, after=[first], **options)
    assert notion.holds(joint, found.mechanism)
    assert keeps(worst_lifts(joint.counts, [first, found.mechanism]), 0.5)
    for other in (dc.design(joint, notion, **options), dc.design(joint, dc.LIP(0.5), after=[first], **options)):
        assert found.kept <= (1.0 if other.bound is None else other.bound) + 1e-9
    with pytest.raises(InputError, match="without confidence"):
        dc.certify(found)


def test_without_what_came_before_most_pairs_break_the_promise() -> None:
    broken = 0
    for seed in range(100):
        joint = joint_of(seed, 2 + seed % 2, 3 + seed % 3)
        made = [dc.design(joint, dc.LIP(0.25)).mechanism, dc.design(joint, dc.LIP(0.5)).mechanism]
        broken += not keeps(worst_lifts(joint.counts, made), 0.5)
    assert broken > 70


@pytest.mark.parametrize("seed", range(50))
def test_triples_of_releases_keep_one_promise(seed: int) -> None:
    joint = joint_of(1000 + seed, 2, 3 + seed % 2)
    made: list[dc.Mechanism] = []
    for epsilon in (0.2, 0.35, 0.5):
        made.append(dc.design(joint, dc.LIP(epsilon), **({"after": made} if made else {})).mechanism)
    assert keeps(worst_lifts(joint.counts, made), 0.5)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("notion", [dc.LIP(0.5), dc.LDP(0.8), dc.MaxLift(0.4)], ids=str)
def test_the_optimum_is_that_of_all_vertices(seed: int, notion: dc.Notion) -> None:
    joint = joint_of(2000 + seed, 2, 3)
    first = dc.design(joint, notion.tightened(0.3)).mechanism
    counts, p = joint.counts / joint.counts.sum(), joint.p_useful
    prior, rows = counts.sum(axis=1), []
    for column in first.channel.T:
        lift = counts * column / p / prior[:, None]  # of P(s, x, y) / P(x), each beside P(s)
        if notion.name == "ldp":
            rows += [lift[0] - math.exp(0.8) * lift[1], lift[1] - math.exp(0.8) * lift[0]]
        else:
            rows += [row - math.exp(notion.bounds[0].epsilon) * column for row in lift]
        if notion.name == "lip":
            rows += [math.exp(-0.5) * column - row for row in lift]
    best = vertices.best_mixture(vertices.vertices(np.array(rows)), p)
    found = dc.design(joint, notion, after=[first])
    assert found.mutual_information == pytest.approx(best, abs=1e-6)


def test_other_columns_of_the_same_records_are_counted_together() -> None:
    rng = np.random.default_rng(4)
    n = 4000
    job, school = rng.integers(0, 3, n), rng.integers(0, 4, n)
    rich = rng.random(n) < 0.2 + 0.15 * job + 0.1 * school
    table = pa.table({"job": job, "school": school, "rich": rich})
    notion = dc.LIP(0.4)
    first = dc.design(dc.Joint.from_table(table, "rich", "job"), notion.tightened(0.2)).mechanism
    earlier = dc.Earlier.from_table(table, "rich", "school", [first])
    joint = dc.Joint.from_table(table, "rich", "school")
    second = dc.design(joint, notion, after=earlier)
    alone = dc.design(joint, notion)

    def lifts(mechanism: dc.Mechanism) -> tuple[Fraction, Fraction]:
        found = []
        for y in range(first.n_released):
            for z in range(mechanism.n_released):
                w = [[int(first.weights[a, y]) * int(mechanism.weights[b, z]) for b in range(4)] for a in range(3)]
                masses = [0, 0]
                for a, b, s in zip(job.tolist(), school.tolist(), rich.tolist()):
                    masses[s] += w[first.useful.index(a)][mechanism.useful.index(b)]
                share = Fraction(int(rich.sum()), n)
                if sum(masses):
                    found += [Fraction(masses[1], sum(masses)) / share, Fraction(masses[0], sum(masses)) / (1 - share)]
        return min(found), max(found)

    assert keeps(lifts(second.mechanism), 0.4)
    assert not keeps(lifts(alone.mechanism), 0.4)
    with pytest.raises(InputError, match=r"about job, not about school: count both together, by Earlier\.from_table"):
        dc.design(joint, notion, after=[first])


def test_certificates_name_what_came_before_and_forged_ones_fail() -> None:
    joint = joint_of(1, 3, 5)
    first = dc.design(joint, dc.LIP(0.25)).mechanism
    found = dc.design(joint, dc.LIP(0.6), after=[first])
    certificate = dc.certify(found)
    assert certificate["after"] == [None if first.is_private else checker.digest(first.public_dict())]
    assert certificate["bound_evidence"] == "proof"
    assert dc.verify(certificate).level == "verified"
    assert "outcomes" not in certificate.public.to_dict().get("counts", {})
    free = dc.design(joint, dc.LIP(0.6))
    with pytest.raises(BrokenNotionError, match="after the earlier releases the mechanism breaks"):
        dc.certify(free.mechanism, joint, dc.LIP(0.6), after=[first])
    content, other = certificate.to_dict(), dc.certify(free).to_dict()
    counts = content["counts"]
    outcomes = counts["outcomes"]
    forged = [
        {**other, "after": content["after"], "counts": {**other["counts"], "outcomes": outcomes}},
        {**content, "counts": {**counts, "outcomes": outcomes[1:]}},
        {**content, "counts": {**counts, "outcomes": [[[0, 0, 1]], *outcomes]}},
        {**content, "counts": {name: value for name, value in counts.items() if name != "outcomes"}},
        {name: value for name, value in content.items() if name != "after"},
    ]
    for changed in forged:
        assert any(passed is False for _, passed, _ in checker.check(sealed(changed)))


def test_what_tells_nothing_tells_nothing_together() -> None:
    notion = dc.PerfectPrivacy()
    for counts, is_free in (
        ([[4, 2, 4, 12], [2, 2, 2, 6], [1, 4, 1, 3], [2, 1, 2, 6]], False),  # each outcome leaves two beliefs
        ([[4, 8, 2, 1], [1, 2, 4, 2]], True),  # symbols of one belief may be told again
    ):
        joint = dc.Joint.from_counts(counts)
        first = dc.design(joint, notion)
        second = dc.design(joint, notion, after=[first.mechanism])
        assert worst_lifts(joint.counts, [first.mechanism, second.mechanism]) == (1, 1)
        assert first.nmi > 0.3
        assert (second.nmi > 0.3) == is_free
        assert second.bound - second.nmi < 1e-6


def test_what_cannot_be_added_up_is_refused() -> None:
    joint = joint_of(3, 2, 3)
    first = dc.design(joint, dc.LIP(0.5)).mechanism
    with pytest.raises(BrokenNotionError, match=r"published before breaks LIP\(0.2\)"):
        dc.design(joint, dc.LIP(0.2), after=[first])
    with pytest.raises(InputError, match="another joint"):
        dc.design(joint, dc.LIP(0.5), after=dc.Earlier.of(joint_of(4, 2, 3), [first]))
    with pytest.raises(InputError, match="list of mechanisms"):
        dc.design(joint, dc.LIP(0.5), after=["first.json"])
    with pytest.raises(InputError, match="leave out other tables"):
        dc.design(joint, dc.LIP(0.5), after=[first], also=[joint])


def test_what_came_before_is_not_checked_on_half_of_the_records_or_on_later_tables() -> None:
    joint = joint_of(3, 2, 3)
    first = dc.design(joint, dc.LIP(0.25)).mechanism
    with pytest.raises(InputError, match=r"leave holdout out.*--margin"):
        dc.design(joint, dc.LIP(0.5), after=[first], holdout=0.5)
    with pytest.raises(InputError, match=r"not for all releases together.*--margin"):
        dc.design(joint, dc.LIP(0.5), after=[first], for_later=0.95)
    room = dc.design(joint, dc.LIP(0.5), after=[first], margin=0.1)
    assert keeps(worst_lifts(joint.counts, [first, room.mechanism]), 0.4)


def test_the_slack_of_a_promise_with_confidence_is_counted_with_what_came_before() -> None:
    joint = dc.Joint.from_counts([[900, 700, 400], [400, 700, 900]], useful=["a", "b", "c"])
    first = dc.design(joint, dc.LIP(0.1)).mechanism
    made = dc.design(joint, dc.LIP(0.5, confidence=0.95), after=[first])
    low, high = worst_lifts(joint.counts, [first, made.mechanism])
    assert 0 <= made.slack <= 0.5 - max(math.log(high), -math.log(low)) + 1e-9
    assert made.to_dict()["after"] == 1


def test_the_same_release_twice_tells_what_its_outcomes_tell() -> None:
    joint = joint_of(5, 2, 4)
    first = dc.design(joint, dc.LIP(0.3)).mechanism
    seen = dc.Earlier.of(joint, [first]).through()
    assert dc.LIP(0.3).slack(seen) == pytest.approx(dc.LIP(0.3).slack(joint, first), abs=1e-12)
    both = dc.Earlier.of(joint, [first]).through(first)
    low, high = worst_lifts(joint.counts, [first, first])
    assert dc.measures.max_lift(both).max() == pytest.approx(float(high))
    assert dc.measures.min_lift(both).min() == pytest.approx(float(low))
