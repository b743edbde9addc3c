"""Whole tables in a ledger: one promise with all that was published about the same people."""

from __future__ import annotations

import itertools
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.tables import open_table
from discreet.twins.records import read_records
from tests.unit.publishing.made_up import people

TABLE = people(4000, seed=4)
NOTION = dc.LIP(0.5, confidence=0.9)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(TABLE, tmp_path / "people.parquet")
    return tmp_path


def publish(folder: Path, name: str, **options: Any) -> dc.Publication:
    return dc.publish(
        folder / "people.parquet",
        "ill",
        notion=options.pop("notion", NOTION),
        output=folder / f"{name}.parquet",
        private_certificate=folder / f"{name}.json",
        **options,
    )


def classes_of(entry: dc.releasing.ledger.Entry) -> np.ndarray:
    with open_table(TABLE, places=True) as opened:
        found = entry.classes.read(read_records(opened, entry.columns))
    assert found is not None
    return found


def lifts(ledger: dc.Ledger) -> list[Fraction]:
    """P(s | all that is seen) / P(s), from each record's chances by themselves, in fractions."""
    secret = TABLE.column("ill").to_pylist()
    jobs = TABLE.column("job").to_pylist()
    chances = []
    for entry in ledger.entries:
        rows = [
            [Fraction(int(w), entry.mechanism.denominator) for w in row]
            for row in np.asarray(entry.mechanism.weights, dtype=object)
        ]
        if entry.classes is None:
            place = {label: k for k, label in enumerate(entry.mechanism.useful)}
            chances.append([place[job] for job in jobs])
        else:
            chances.append(classes_of(entry).tolist())
        chances[-1] = (rows, chances[-1])
    cells: dict[tuple[Any, ...], int] = {}
    for record in zip(secret, *(own for _, own in chances)):
        cells[record] = cells.get(record, 0) + 1
    prior = {s: Fraction(secret.count(s), len(secret)) for s in set(secret)}
    found = []
    for seen in itertools.product(*(range(len(rows[0])) for rows, _ in chances)):
        masses = dict.fromkeys(prior, Fraction(0))
        for (s, *own), number in cells.items():
            chance = Fraction(number)
            for (rows, _), k, y in zip(chances, own, seen):
                chance *= rows[k][y]
            masses[s] += chance
        total = sum(masses.values())
        found += [mass / total / prior[s] for s, mass in masses.items() if total]
    return found


def within(ledger: dc.Ledger, epsilon: float) -> bool:
    found = lifts(ledger)
    return max(found) <= np.exp(epsilon) * (1 + 1e-9) and min(found) >= np.exp(-epsilon) * (1 - 1e-9)


def test_two_publications_keep_one_promise(folder: Path) -> None:
    path = folder / "ledger.jsonl"
    first = publish(folder, "first", seed=1, ledger=path, margin=0.1)
    assert path.stat().st_mode & 0o077 == 0
    assert "after" not in first.certificate["publication"]
    second = publish(folder, "second", seed=2, ledger=path)
    ledger = dc.Ledger.read(path)
    assert [entry.rows for entry in ledger.entries] == [4000, 4000]
    assert within(ledger, 0.5)
    assert 0 <= ledger.room(TABLE, dc.LIP(0.5)) < 0.05
    with pytest.raises(dc.errors.ColumnNotFoundError, match="the table lacks job, which release 1 of the ledger is of"):
        ledger.room(TABLE.drop_columns("job"), dc.LIP(0.5))
    assert len(second.certificate["publication"]["after"]) == 1
    for name in ("first", "second"):
        certificate = dc.Certificate.from_json(folder / f"{name}.json")
        assert ledger.confirms(certificate, TABLE)
        assert dc.verify(certificate, TABLE).level == "verified"
    alone = publish(folder, "alone", seed=2)
    assert alone.unchanged > second.unchanged + 0.01
    entry = ledger.entries[1]
    unaware = dc.releasing.ledger.Entry(
        entry.notion, alone.fitted.mechanism, entry.sensitive, (), entry.key, None, 4000, None, entry.classes
    )
    assert not within(dc.Ledger(ledger.entries[:1], ledger.lines[:1]).with_entry(unaware), 0.5)


def test_the_certificate_of_a_table_tells_of_every_field_of_its_line(folder: Path) -> None:
    path = folder / "ledger.jsonl"
    publish(folder, "first", seed=1, ledger=path)
    certificate = dc.Certificate.from_json(folder / "first.json")
    entry = dc.Ledger.read(path).entries[0]
    assert entry.classes is not None
    plain = dc.Mechanism.from_channel(np.eye(entry.mechanism.n_useful), useful=entry.mechanism.useful)
    changed: dict[str, Any] = {
        "notion": dc.LIP(5.0, confidence=0.9),
        "mechanism": plain,
        "sensitive": ("job",),
        "kept": ("job",),
        "key": "0" * 64,
        "id": "job",
        "rows": 3999,
        "certificate": "0" * 64,
        "classes": replace(entry.classes, packed=entry.classes.packed[:-8] + "AAAAAAAA"),
    }
    assert set(changed) == {field.name for field in fields(entry)} - {"sketch"}  # which whole tables have none of
    for name, value in changed.items():
        ledger = dc.Ledger().with_entry(replace(entry, **{name: value}))
        assert ledger.differences(certificate, TABLE) == ["release" if name == "certificate" else name]
    for classes, told in (
        (replace(entry.classes, columns=entry.classes.columns[:-1]), "columns"),
        (replace(entry.classes, records="0" * 64), "what was published before"),
        (None, "whole table"),
    ):
        ledger = dc.Ledger().with_entry(replace(entry, classes=classes))
        assert ledger.differences(certificate, TABLE) == [told]
    assert not dc.Ledger.read(path).confirms(certificate, people(4000, seed=5))


def test_a_column_after_a_publication_and_the_other_way_round(folder: Path) -> None:
    path, notion = folder / "ledger.jsonl", dc.LIP(0.5)
    publish(folder, "first", seed=1, ledger=path, margin=0.3)
    joint = dc.Joint.from_table(TABLE, "ill", "job")
    alone = dc.Mechanism.from_channel(
        np.eye(joint.n_useful), useful=joint.useful, sensitive_columns=["ill"], useful_columns=["job"]
    )
    options: dict[str, Any] = {"notion": notion, "shuffle": True, "ledger": path, "output": folder / "job.parquet"}
    with pytest.raises(dc.errors.BrokenNotionError, match="together with what the ledger says"):
        dc.release(folder / "people.parquet", alone, **options)
    before = dc.Ledger.read(path).earlier(TABLE, ["job"])
    assert before is not None
    made = dc.design(before.joint, notion, after=before)
    dc.release(folder / "people.parquet", made.mechanism, **options)
    assert within(dc.Ledger.read(path), 0.5)

    other = folder / "other.jsonl"
    first = dc.design(joint, dc.LIP(0.2)).mechanism
    dc.release(
        folder / "people.parquet", first, notion=notion, shuffle=True, ledger=other, output=folder / "first-job.parquet"
    )
    publish(folder, "second", seed=1, ledger=other)
    assert within(dc.Ledger.read(other), 0.5)


def test_columns_that_no_model_saw_together_are_refused(tmp_path: Path) -> None:
    """S says whether two fair bits differ: neither tells anything, and both together everything."""
    rng = np.random.default_rng(1)
    one, two = rng.integers(0, 2, 3000), rng.integers(0, 2, 3000)
    weight = np.round(rng.normal(70, 12, 3000), 3)
    pq.write_table(pa.table({"w": weight, "a": one, "b": two, "s": one ^ two}), tmp_path / "bits.parquet")
    table, ledger = tmp_path / "bits.parquet", tmp_path / "ledger.jsonl"
    dc.publish(table, "s", ["w", "a"], NOTION, seed=1, ledger=ledger, output=tmp_path / "first.parquet")
    stored = ledger.read_bytes()
    with pytest.raises(dc.errors.InputError, match="readers of all releases would see b beside columns of a whole"):
        dc.publish(table, "s", ["w", "b"], NOTION, seed=2, ledger=ledger, output=tmp_path / "second.parquet")
    joint = dc.Joint.from_table(table, "s", "b")
    alone = dc.design(joint, dc.LIP(0.5)).mechanism
    with pytest.raises(dc.errors.InputError, match="would see b beside"):
        dc.release(table, alone, notion=dc.LIP(0.5), shuffle=True, ledger=ledger, output=tmp_path / "b.parquet")
    with pytest.raises(dc.errors.InputError, match="would see b beside"):
        dc.Ledger.read(ledger).earlier(table, ["b"])
    assert ledger.read_bytes() == stored
    assert not (tmp_path / "second.parquet").exists()
    largest = {"seed": 3, "ledger": ledger, "output": tmp_path / "all.parquet"}
    with pytest.raises(dc.errors.BrokenNotionError, match=r"does not imply LIP\(0.5, confidence=0.9\) of release 1"):
        dc.publish(table, "s", ["w", "a", "b"], dc.LIP(1.0), **largest)
    with pytest.warns(dc.errors.DiscreetWarning, match=r"promised LIP\(1\) from now on, and no longer LIP\(0.5"):
        dc.publish(table, "s", ["w", "a", "b"], dc.LIP(1.0), looser=True, **largest)


def test_the_same_publication_again_tells_nothing_new(folder: Path) -> None:
    path = folder / "ledger.jsonl"
    first = publish(folder, "first", seed=1, ledger=path)
    room = dc.Ledger.read(path).room(TABLE, dc.LIP(0.5))
    again = publish(folder, "again", seed=1, ledger=path)
    assert (folder / "again.parquet").read_bytes() == (folder / "first.parquet").read_bytes()
    assert first.unchanged == again.unchanged
    assert dc.Ledger.read(path).room(TABLE, dc.LIP(0.5)) == room


def test_what_cannot_be_added_up_is_refused_and_nothing_is_written(folder: Path) -> None:
    path = folder / "ledger.jsonl"
    with pytest.raises(dc.errors.InputError, match="name the output"):
        dc.publish(TABLE, "ill", notion=NOTION, seed=1, ledger=path)
    with pytest.raises(dc.errors.InputError, match="cut, gathered"):
        dc.publish(folder / "people.parquet", "pay", seed=1, ledger=path, output=folder / "out.parquet")
    assert sorted(one.name for one in folder.iterdir()) == ["people.parquet"]
    publish(folder, "first", seed=1, ledger=path)
    content = path.read_bytes()
    pq.write_table(people(4000, seed=5), folder / "others.parquet")
    with pytest.raises(dc.errors.InputError, match="of other records than these"):
        dc.publish(folder / "others.parquet", "ill", notion=NOTION, seed=2, ledger=path, output=folder / "out.parquet")
    with pytest.raises(dc.errors.InputError, match="the ledger is about ill"):
        dc.publish(folder / "people.parquet", "left", notion=NOTION, ledger=path, output=folder / "out.parquet")
    assert path.read_bytes() == content
    assert not (folder / "out.parquet").exists()


def test_classes_are_those_of_the_records_in_any_order() -> None:
    """Also where the table was written and read again."""
    order = np.random.default_rng(0).permutation(TABLE.num_rows)
    from discreet.twins.known import KnownClasses

    with open_table(TABLE, places=True) as opened:
        records = read_records(opened, ["age", "job", "town"])
    numbers = records.tuples % 7
    known = KnownClasses.of(["age", "job", "town"], records, numbers)
    with open_table(TABLE.take(pa.array(order)), places=True) as opened:
        moved = KnownClasses.from_dict(known.to_dict()).read(read_records(opened, known.columns))
    assert moved is not None
    assert (moved == numbers[order]).all()
    with open_table(TABLE.slice(1), places=True) as opened:
        assert known.read(read_records(opened, known.columns)) is None


def test_a_first_publication_keeps_its_promise_on_all_records(folder: Path) -> None:
    """Records that are set aside to decide on classes are published too."""
    for name, notion in (("counted", dc.LIP(0.5)), ("sure", NOTION)):
        path = folder / f"{name}.jsonl"
        publish(folder, name, seed=1, ledger=path, notion=notion)
        assert within(dc.Ledger.read(path), 0.5)
