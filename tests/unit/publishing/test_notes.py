"""What is told with a publication: why few rows are unchanged, and how much is promised about together only."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.publishing.notes import _about_columns
from discreet.publishing.roles import roles_of
from discreet.publishing.telling import most_telling
from discreet.tables import open_table
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
    found, notes = notes_of(TOLD, dc.LIP(0.05, confidence=0.95))
    assert found.unchanged < 0.5
    before, classes = found.attack.before, found.joint.n_useful
    for said in (
        f"only {100 * found.unchanged:.1f} % of rows are unchanged",
        f"an AUC of {before.auc:.3f}",
        f"log-lifts of {before.log_min_lift:.2f} to {before.log_max_lift:.2f} nats, where -0.05 to 0.05 are promised",
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
    assert "a larger epsilon, fewer sensitive values (join kindred ones in the table), leaving out" in notes


def test_numbers_that_are_cut_can_be_cut_into_fewer_parts() -> None:
    _, notes = notes_of(AGE * 10.0 + CHANCE, dc.LIP(0.1))
    assert "a larger epsilon, fewer parts of the sensitive numbers (bins, --bins), leaving out" in notes


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
    assert f" and {gathered - 5:,} more. Nothing is promised about which of them a record has" in notes
    assert "make fewer and commoner values of the column first" in notes
    assert found.to_dict()["note_codes"] == [note.code for note in found.notes]
    assert "gathered" in found.to_dict()["note_codes"]
    few = np.where(CHANCE < 0.002, "a", np.where(CHANCE < 0.005, "b", np.where(CHANCE < 0.5, "c", "d")))
    notes = notes_of(few, dc.LIP(1.0, confidence=0.95))[1]
    assert "2 of 4 sensitive values, 0." in notes
    assert notes.endswith(": a, b. Nothing is promised about which of them a record has, and a reader may learn it")


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


def test_rows_that_are_singled_out_are_counted_and_the_columns_named() -> None:
    street, sex = RNG.permutation(np.arange(N) // 2), RNG.integers(0, 2, N)
    table = pa.table({"sex": sex, "street": [f"s{k}" for k in street], "age": AGE, "ill": np.where(CHANCE < 0.3, 1, 0)})
    found = dc.publish(table, "ill", notion=dc.LIP(1.0, confidence=0.9), seed=1)
    alone = (table.drop_columns("ill").to_pandas().value_counts() == 1).sum()
    said = next(note for note in found.notes if "the only ones" in note)
    assert said.startswith(f"{alone:,} of {N:,} records are the only ones with their values, and most are published")
    assert "singled out by street and age)" in said


def test_cuts_are_told_with_their_edges() -> None:
    days = pa.array(np.datetime64("2000-01-01") + RNG.integers(0, 3000, N))
    table = pa.table({"age": AGE, "rent": RNG.integers(0, 90, N) * 101 + 0.37, "born": days})
    bins = {"rent": [2000, 6061.37], "born": "quantiles:2"}
    found = dc.publish(table, ["rent", "born"], notion=dc.LIP(1.0, confidence=0.9), seed=1, each=True, bins=bins)
    notes = " | ".join(found.notes)
    assert "cut into parts: rent (at 2,000, 6,060). Nothing is promised about which value inside its part" in notes
    assert "cut into parts: born (at 200" in notes


def test_ids_that_repeat_are_told_unless_the_person_is() -> None:
    ids = [f"r{k // 3:04d}" for k in range(N)]
    table = pa.table({"age": AGE, "resident_id": ids, "nr": np.arange(N), "ill": np.where(CHANCE < 0.3, 1, 0)})
    for person, told in ((None, True), ("resident_id", False)):
        found = dc.publish(table, "ill", notion=dc.LIP(1.0, confidence=0.9), seed=1, person=person)
        assert any("resident_id repeats: if its rows are one person's" in note for note in found.notes) is told
        assert not any("nr repeats" in note for note in found.notes)


def test_codes_of_persons_are_left_out_and_named_where_they_repeat() -> None:
    person = RNG.integers(0, 2 * N // 3, N)
    codes, streets = [f"B{k:06d}" for k in person], [f"Long street {k}" for k in person]
    posts = [f"{1000 + k}AB" for k in person]
    table = pa.table({"age": AGE, "n": codes, "street": streets, "post": posts, "ill": np.where(CHANCE < 0.3, 1, 0)})
    with open_table(table) as opened:
        roles = roles_of(opened, "ill")
    assert (roles.useful, roles.ids, roles.repeating) == (("age", "street", "post"), ("n",), ("n",))
    said = {note.code: note for note in _about_columns(roles)}
    assert "n repeats: if its rows are one person's, say so (person, --person n)" in said["repeating-id"]
    assert "(drop, --drop street)" in said["many-values"]
    assert "(person, --person street)" in said["many-values"]


def test_all_columns_that_cannot_be_published_are_named() -> None:
    times = pa.array(np.arange(N), pa.duration("s"))
    table = pa.table({"age": AGE, "dur": times, "raw": pa.array([b"a"] * N), "ill": TOLD})
    said = "'dur' holds INTERVAL, 'raw' holds BLOB, which cannot be compared as single values. Drop them"
    with open_table(table) as opened, pytest.raises(dc.errors.UnusableColumnError, match=said):
        roles_of(opened, "ill")


def test_a_secret_of_single_values_is_refused() -> None:
    own = {"name": [f"n{k % (N - 100)}" for k in range(N)], "pay": np.arange(N)}
    table = pa.table({"age": AGE, "town": TOWN, **own})
    for sensitive in ("name", ["name", "pay"]):
        with pytest.raises(dc.errors.UnusableColumnError, match=r"nearly every record has its own value .* --bins"):
            dc.publish(table, sensitive, useful=["age"], seed=1)
    assert dc.publish(table, "pay", useful=["age", "town"], seed=1).joint.n_sensitive == 5
