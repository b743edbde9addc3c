"""Ledgers: one promise about all releases of the same people, kept in a file that only grows."""

from __future__ import annotations

import itertools
import json
import os
import stat
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.errors import BrokenNotionError, InputError

NOTION = dc.LIP(0.5)


def people(n: int = 3000, seed: int = 0) -> pa.Table:
    """Job and school tell about being rich; town is published as it is, and tells a little."""
    rng = np.random.default_rng(seed)
    job, school, town = rng.integers(0, 4, n), rng.integers(0, 3, n), rng.integers(0, 2, n)
    rich = rng.random(n) < 0.15 + 0.12 * job + 0.12 * school + 0.03 * town
    columns = {"id": np.arange(n), "job": job, "school": school, "town": town, "rich": np.where(rich, "yes", "no")}
    return pa.table(columns)


TABLE = people()


def designed(useful: str, epsilon: float, **options: object) -> dc.Mechanism:
    joint = dc.Joint.from_table(TABLE, "rich", useful)
    return dc.design(joint, dc.LIP(epsilon), time_limit=5, **options).mechanism


def worst(mechanisms: list[dc.Mechanism], shown: list[str]) -> float:
    """The largest |log-lift| of S given all that is seen, counted record by record."""
    rows = TABLE.to_pylist()
    share = Fraction(sum(row["rich"] == "yes" for row in rows), len(rows))
    places = [(mechanism.useful.index, mechanism.weights.tolist()) for mechanism in mechanisms]
    columns = [mechanism.useful_columns[0] for mechanism in mechanisms]
    groups: dict[tuple[object, ...], list[int]] = {}
    for row in rows:
        key = (*(row[column] for column in columns), *(row[name] for name in shown))
        groups.setdefault(key, [0, 0])[row["rich"] == "yes"] += 1
    values = {key[len(columns) :] for key in groups}
    found = []
    for seen in itertools.product(*(range(m.n_released) for m in mechanisms)):
        for value in values:
            masses = [0, 0]
            for key, counts in groups.items():
                if key[len(columns) :] == value:
                    weight = 1
                    for (place, weights), x, y in zip(places, key, seen):
                        weight *= weights[place(x)][y]
                    masses = [mass + weight * n for mass, n in zip(masses, counts)]
            if sum(masses):
                found += [Fraction(masses[1], sum(masses)) / share, Fraction(masses[0], sum(masses)) / (1 - share)]
    return max(float(np.log(float(max(found)))), -float(np.log(float(min(found)))))


def release(mechanism: dc.Mechanism, place: Path, name: str, **options: object) -> Path:
    target = place / f"{name}.parquet"
    dc.release(TABLE, mechanism, output=target, ledger=place / "ledger", id="id", as_values=False, **options)
    return target


def test_a_release_that_breaks_the_promise_with_those_before_is_refused(tmp_path: Path) -> None:
    first, alone = designed("job", 0.25), designed("school", 0.5)
    release(first, tmp_path, "first", notion=NOTION)
    assert stat.S_IMODE(os.stat(tmp_path / "ledger").st_mode) == 0o600
    assert worst([first, alone], []) > 0.5
    with pytest.raises(BrokenNotionError, match="together with what the ledger says was published before"):
        release(alone, tmp_path, "second")
    assert not (tmp_path / "second.parquet").exists()
    ledger = dc.Ledger.read(tmp_path / "ledger")
    assert len(ledger.entries) == 1
    assert 0 < ledger.room(TABLE, NOTION) < 0.5
    second = designed("school", 0.5, after=ledger.earlier(TABLE, ["school"]))
    private = tmp_path / "private.json"
    release(second, tmp_path, "second", private_certificate=private)
    assert worst([first, second], []) <= 0.5 + 1e-12
    certificate = json.loads(private.read_text())
    assert certificate["after"] == [
        None if first.is_private else dc.certify(first, TABLE_JOINT, NOTION)["digests"]["mechanism"]
    ]
    assert dc.verify(private, TABLE, tmp_path / "second.parquet").level in ("verified", "redrawn")
    ledger = dc.Ledger.read(tmp_path / "ledger")
    assert [entry.mechanism.useful_columns for entry in ledger.entries] == [("job",), ("school",)]
    assert ledger.entries[1].certificate == dc.Certificate.from_json(private).public["certificate_digest"]
    assert ledger.room(TABLE, NOTION) >= 0
    assert ledger.room(TABLE, dc.LIP(0.3)) < 0
    stated = dc.Certificate.from_json(private)
    assert ledger.confirms(stated, TABLE)
    assert not dc.Ledger(ledger.entries[1:], ledger.lines[1:]).confirms(stated, TABLE)
    assert not ledger.confirms(stated, people(seed=1))
    assert not ledger.confirms(dc.certify(second, dc.Joint.from_table(TABLE, "rich", "school"), NOTION), TABLE)


TABLE_JOINT = dc.Joint.from_table(TABLE, "rich", "job")


def test_kept_columns_count_as_seen(tmp_path: Path) -> None:
    first = designed("job", 0.2)
    release(first, tmp_path, "first", notion=NOTION, keep=["town"])
    ledger = dc.Ledger.read(tmp_path / "ledger")
    assert ledger.entries[0].kept == ("town",)
    second = designed("school", 0.5, after=ledger.earlier(TABLE, ["school"]))
    release(second, tmp_path, "second")
    assert worst([first, second], ["town"]) <= 0.5 + 1e-12
    assert NOTION.slack(ledger.earlier(TABLE, ["school"]).through(second)) == pytest.approx(
        0.5 - worst([first, second], ["town"]), abs=1e-9
    )


def test_the_same_draws_again_add_nothing_and_new_ones_do(tmp_path: Path) -> None:
    mechanism, key, notion = designed("job", 0.2), dc.ReleaseKey.fresh(), dc.LIP(0.22)
    assert worst([mechanism, mechanism], []) > 0.22
    release(mechanism, tmp_path, "june", notion=notion, key=key)
    release(mechanism, tmp_path, "july", notion=notion, key=key)
    with pytest.raises(BrokenNotionError, match="together with what the ledger"):
        release(mechanism, tmp_path, "august", notion=notion, key=dc.ReleaseKey.fresh())
    assert len(dc.Ledger.read(tmp_path / "ledger").entries) == 2


def test_the_same_draws_beside_other_columns_are_added_up(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, 4000), rng.integers(0, 2, 4000)
    rich = np.where(rng.random(4000) < 0.5 + 0.45 * (a ^ b) - 0.225, "yes", "no")  # neither column tells by itself
    job = rng.integers(0, 3, 4000)
    table = pa.table({"id": np.arange(4000), "job": job, "a": a, "b": b, "rich": rich})
    notion, key = dc.LIP(0.2), dc.ReleaseKey.fresh()
    mechanism = dc.design(dc.Joint.from_table(table, "rich", "job"), notion).mechanism
    options = {"ledger": tmp_path / "ledger", "id": "id", "key": key, "as_values": False}
    dc.release(table, mechanism, output=tmp_path / "one.parquet", keep=["a"], **options)
    with pytest.raises(BrokenNotionError, match="together with what the ledger"):
        dc.release(table, mechanism, output=tmp_path / "two.parquet", keep=["b"], **options)
    assert len(dc.Ledger.read(tmp_path / "ledger").entries) == 1


def test_a_changed_ledger_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    for name in ("one", "two", "three"):
        release(designed("job", 0.1), tmp_path, name, notion=NOTION)
    lines = path.read_text().splitlines(keepends=True)
    other = json.loads(lines[1]) | {"rows": 5}
    for changed in (
        lines[1:],
        [lines[0], lines[2]],
        [lines[1], lines[0], lines[2]],
        [lines[0], json.dumps(other) + "\n", lines[2]],
        [*lines[:2], lines[2][:-1]],
        ["{}\n"],
        ["\n"],
    ):
        path.write_text("".join(changed))
        with pytest.raises(InputError, match=r"line \d of the ledger|cut off"):
            dc.Ledger.read(path)
        with pytest.raises(InputError, match=r"line \d of the ledger|cut off"):
            release(designed("job", 0.1), tmp_path, "four", notion=NOTION)
    path.write_text("".join(lines))
    path.chmod(0o644)
    with pytest.raises(InputError, match="Make it private"):
        dc.Ledger.read(path)


def test_what_a_ledger_cannot_add_up_is_refused(tmp_path: Path) -> None:
    first = designed("job", 0.25)
    with pytest.raises(InputError, match="written to a file and certified"):
        dc.release(TABLE, first, ledger=tmp_path / "ledger", id="id")
    release(first, tmp_path, "first", notion=NOTION)
    other = dc.design(dc.Joint.from_table(TABLE, "town", "job"), dc.LIP(0.5)).mechanism
    with pytest.raises(InputError, match="the ledger is about rich, the release about town"):
        release(other, tmp_path, "other")
    narrow = TABLE.drop_columns(["job"])
    second = designed("school", 0.5)
    with pytest.raises(InputError, match="job"):
        dc.release(narrow, second, output=tmp_path / "n.parquet", ledger=tmp_path / "ledger", id="id")
    assert sorted(os.listdir(tmp_path)) == [
        "first.parquet",
        "first.parquet.certificate.json",
        "first.parquet.codebook.json",
        "ledger",
    ]


def test_files_are_released_with_a_ledger_as_frames_are(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    first = designed("job", 0.25)
    dc.release(tmp_path / "t.parquet", first, output=tmp_path / "a.csv", ledger=tmp_path / "l", id="id", notion=NOTION)
    found = dc.Ledger.read(tmp_path / "l").earlier(tmp_path / "t.parquet", ["school"])
    assert found.joint.n_useful == 3
