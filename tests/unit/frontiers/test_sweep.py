"""Frontiers: monotone, the same for any number of workers, checked under each budget's own notion."""

from __future__ import annotations

import csv
import io
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from discreet import ALIP, LIP, Chi2Lift, Joint, design, frontier
from discreet._support.errors import InputError, UnknownMethodError
from discreet.frontiers.record import EPSILON_TOLERANCE

EPSILONS = [0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0, 1.5]
METHODS = ["watchdog", "subset-merging", "optimal"]


@pytest.fixture(scope="module")
def joint() -> Joint:
    return Joint.random(4, 9, seed=7)


@pytest.fixture(scope="module")
def sweep(joint: Joint):
    return frontier(joint, LIP, EPSILONS, METHODS)


def test_every_curve_grows_and_keeps_its_promise(joint: Joint, sweep) -> None:
    for rows in sweep.curves().values():
        assert [row.epsilon for row in rows] == EPSILONS
        assert (np.diff([row.nmi for row in rows]) >= 0).all()
        for row in rows:
            assert LIP(row.epsilon).holds(joint, row.design.mechanism)
            assert max(row.log_max_lift, -row.log_min_lift) <= row.epsilon
            assert row.bound is None or row.bound >= row.nmi


def test_greedy_methods_keep_the_mechanism_of_a_smaller_budget() -> None:
    """Found by search: merging keeps less at 0.4 than at 0.3 on this joint."""
    for seed in range(300):
        joint = Joint.random(3, 8, seed=seed)
        low, high = (design(joint, LIP(e), "subset-merging") for e in (0.3, 0.4))
        if high.nmi < low.nmi - 1e-6:
            break
    else:
        pytest.fail("no joint on which the greedy method is not monotone")
    rows = frontier(joint, LIP, [0.3, 0.4], ["subset-merging"]).rows
    assert rows[1].nmi == rows[0].nmi == low.nmi
    assert (rows[1].designed_for, rows[1].epsilon) == (0.3, 0.4)
    assert rows[1].design.notion == LIP(0.4)


def test_a_chain_finds_what_single_designs_find(joint: Joint, sweep) -> None:
    for row in sweep.curves()["optimal", None]:
        alone = design(joint, LIP(row.epsilon))
        assert row.status == alone.status == "optimal"
        assert row.nmi == pytest.approx(alone.nmi, abs=1e-7)


def test_workers_do_not_change_the_rows(joint: Joint, sweep) -> None:
    two = frontier(joint, LIP, EPSILONS, METHODS, workers=2)
    assert [(r.method, r.epsilon, r.nmi, r.bound) for r in two.rows] == [
        (r.method, r.epsilon, r.nmi, r.bound) for r in sweep.rows
    ]


def test_lams_are_swept_too(joint: Joint) -> None:
    sweep = frontier(joint, ALIP.split, [0.5, 1.0], ["optimal"], lams=[0.4, 0.6])
    assert set(sweep.curves()) == {("optimal", 0.4), ("optimal", 0.6)}
    assert sweep.best()[0].nmi == max(row.nmi for row in sweep.rows if row.epsilon == 0.5)


def test_the_smallest_epsilon_is_the_smallest(joint: Joint, sweep) -> None:
    target = 0.9
    smallest = sweep.smallest(target)
    assert smallest.epsilon == sweep.smallest_epsilon(nmi=target)
    assert design(joint, LIP(smallest.epsilon)).nmi >= target - 1e-7
    below = design(joint, LIP(smallest.epsilon - 2 * EPSILON_TOLERANCE))
    assert below.bound < target  # proven: no mechanism does it with less
    assert sweep.smallest_epsilon(nmi=0) <= EPSILON_TOLERANCE
    with pytest.raises(InputError, match="Sweep larger budgets"):
        frontier(joint, LIP, [0.1], ["watchdog"]).smallest_epsilon(nmi=0.99)
    with pytest.raises(InputError, match="between 0 and 1"):
        sweep.smallest_epsilon(nmi=90)


def test_the_knee_is_furthest_above_the_chord(sweep) -> None:
    best = sweep.best()
    epsilon, nmi = (np.array([getattr(row, name) for row in best]) for name in ("epsilon", "nmi"))
    above = (nmi - nmi[0]) / (nmi[-1] - nmi[0]) - (epsilon - epsilon[0]) / (epsilon[-1] - epsilon[0])
    assert sweep.knee() == best[int(above.argmax())]
    assert frontier(Joint.random(2, 3), LIP, [0.5], ["watchdog"]).knee().epsilon == 0.5


def test_files_hold_the_rows(sweep, tmp_path: Path) -> None:
    for name in ("f.csv", "f.json", "f.svg", "f.png"):
        sweep.save(tmp_path / name)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "f.csv").read_text())))
    assert [float(row["nmi"]) for row in rows] == [row.nmi for row in sweep.rows]
    assert len(json.loads((tmp_path / "f.json").read_text())["rows"]) == len(sweep.rows)
    drawing = (tmp_path / "f.svg").read_text()
    for text in ("epsilon (nats)", "proven limit", "subset-merging", "largest log max-lift (nats)"):
        assert text in drawing
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    sweep.save(tmp_path / "g.svg")
    assert (tmp_path / "g.svg").read_bytes() == (tmp_path / "f.svg").read_bytes()
    with pytest.raises(InputError, match=r"\.csv, \.json"):
        sweep.save(tmp_path / "f.xls")


def test_progress_is_reported(joint: Joint) -> None:
    seen: list[tuple[int, int]] = []
    frontier(joint, LIP, [0.1 * k for k in range(1, 9)], ["watchdog"], progress=lambda *at: seen.append(at))
    assert seen == [(6, 8), (8, 8)]


def test_wrong_requests_are_named(joint: Joint) -> None:
    with pytest.raises(InputError, match="at least one epsilon"):
        frontier(joint, LIP, [])
    with pytest.raises(UnknownMethodError, match="max-truth"):
        frontier(joint, lambda e: Chi2Lift(eps_upper=e), [1.0], ["max-truth"])
    with pytest.raises(InputError, match="must return a notion"):
        frontier(joint, lambda e: e, [1.0])


def test_joints_travel_to_other_processes(joint: Joint) -> None:
    copy = pickle.loads(pickle.dumps(joint))
    assert (copy.masses == joint.masses).all()
    assert (copy.probabilities == joint.probabilities).all()


def test_a_design_starts_from_a_mechanism(joint: Joint) -> None:
    """With no time at all, what was given is what comes back; it must be over the same values."""
    good = design(joint, LIP(0.5)).mechanism
    hasty = design(joint, LIP(0.5), start=good, time_limit=1e-9)
    assert hasty.nmi == pytest.approx(design(joint, LIP(0.5)).nmi, abs=1e-9)
    tighter = design(joint, LIP(0.2), start=good)
    assert LIP(0.2).holds(joint, tighter.mechanism)
    with pytest.raises(InputError, match="start"):
        design(joint, LIP(0.5), start=design(Joint.random(2, 3), LIP(1)).mechanism)
