"""What is told with a publication: why few rows are unchanged, and how much is promised about together only."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.publishing.telling import most_telling
from discreet.twins.cells import cells_of

RNG = np.random.default_rng(3)
N = 3000
AGE, TOWN = RNG.integers(0, 100, N), RNG.integers(0, 4, N)
CHANCE = RNG.random(N)
TOLD = np.where((AGE > 50) ^ (CHANCE < 0.02), "yes", "no")


def notes_of(secret: np.ndarray, notion: dc.Notion) -> tuple[dc.Publication, str]:
    table = pa.table({"age": AGE, "town": TOWN, "ill": secret})
    found = dc.publish(table, "ill", notion=notion, seed=1)
    assert found.to_dict()["notes"] == list(found.notes)
    return found, " | ".join(found.notes)


def test_few_unchanged_rows_are_explained_in_numbers() -> None:
    found, notes = notes_of(TOLD, dc.LIP(0.1, confidence=0.95))
    assert found.unchanged < 0.5
    before, classes = found.attack.before, found.joint.n_useful
    for said in (
        f"only {100 * found.unchanged:.1f} % of rows are unchanged",
        f"an AUC of {before.auc:.3f}",
        f"log-lifts of {before.log_min_lift:.2f} to {before.log_max_lift:.2f} nats, where -0.1 to 0.1 are promised",
        f"2 sensitive values are counted in {classes} classes of some ",
        "percentage points up or down on average",
        "What helps: a larger epsilon, leaving out what tells most (age), more rows",
    ):
        assert said in notes, (said, notes)


def test_many_values_are_guessed_by_accuracy_and_a_table_has_no_limits() -> None:
    found, notes = notes_of(np.array(["a", "b", "c", "d"])[(AGE // 25 + (CHANCE < 0.1)) % 4], dc.LIP(0.1))
    assert found.unchanged < 0.5
    assert f"an accuracy of {100 * found.attack.before.accuracy:.1f} % (the commonest value: " in notes
    assert "percentage points" not in notes
    assert "a larger epsilon, fewer sensitive values (bins, --bins), leaving out" in notes


def test_a_budget_of_nothing_is_explained() -> None:
    found, notes = notes_of(TOLD, dc.LIP(0.0, confidence=0.95))
    assert notes.startswith("a budget of 0 nats leaves nothing of what columns tell about S")
    # Every record appears as one that is drawn at random: all rows of the channel are the same.
    channel = np.asarray(found.fitted.mechanism.channel)
    assert np.ptp(channel, axis=0).max() < 1e-12


def test_rows_that_mostly_stay_are_not_explained() -> None:
    found, notes = notes_of(np.where(CHANCE < 0.3, "yes", "no"), dc.LIP(1.0, confidence=0.95))
    assert found.unchanged > 0.5
    assert notes == ""


def test_values_that_are_promised_about_together_are_counted() -> None:
    many = np.where(CHANCE < 0.7, "common", np.array([f"v{k}" for k in RNG.integers(0, 200, N)]))
    found, notes = notes_of(many, dc.LIP(1.0, confidence=0.95))
    gathered = len(found.fitted.rule.gathered)
    assert gathered > 60
    share = 100 * (1 - np.isin(many, ["common", *found.joint.sensitive]).mean())
    assert f"{gathered} of {len(set(many))} sensitive values, " in notes
    told = float(notes.split("sensitive values, ")[1].split(" %")[0])
    assert told == pytest.approx(share, abs=1.5)  # of the records that are counted
    assert "are promised about together only: v" in notes
    assert "Nothing is promised about which of them a record has" in notes
    few = np.where(CHANCE < 0.002, "a", np.where(CHANCE < 0.005, "b", np.where(CHANCE < 0.5, "c", "d")))
    notes = notes_of(few, dc.LIP(1.0, confidence=0.95))[1]
    assert "2 of 4 sensitive values, 0." in notes
    assert "Nothing is promised" not in notes


def test_columns_that_tell_most_come_first_and_noise_does_not_count() -> None:
    classes = np.clip((AGE + RNG.normal(0, 5, N)).astype(int) // 25, 0, 4)
    joint = dc.Joint.from_counts([[90, 60, 30, 10, 5], [10, 40, 70, 90, 95]])
    cells = {
        "noise": cells_of("noise", pa.array(RNG.integers(0, 25, N))),
        "many": cells_of("many", pa.array([f"t{k}" for k in RNG.integers(0, 2000, N)])),
        "some": cells_of("some", pa.array((AGE > 50) ^ (CHANCE < 0.2))),
        "most": cells_of("most", pa.array(AGE)),
        "null": cells_of("null", pa.nulls(N, pa.int64())),
    }
    assert most_telling(list(cells.values()), classes, joint) == ("most", "some")
    assert most_telling(list(cells.values()), classes, joint, 1) == ("most",)
    assert most_telling([cells["null"]], classes, joint) == ()
