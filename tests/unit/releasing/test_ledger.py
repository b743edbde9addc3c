"""Ledgers: one promise about all releases of the same people, kept in a file that only grows."""

from __future__ import annotations

import itertools
import json
import os
import stat
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.errors import BrokenNotionError, DiscreetWarning, InputError

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
        [lines[0][:50] + "\n"],
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
    with pytest.raises(InputError, match="the table lacks job, which release 1 of the ledger is of"):
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


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dc.Certificate]:
    """A ledger of two releases, and the private certificate of the second."""
    place = tmp_path_factory.mktemp("two")
    release(designed("job", 0.2), place, "first", notion=NOTION)
    after = dc.Ledger.read(place / "ledger").earlier(TABLE, ["school"], kept=["town"])
    mechanism = designed("school", 0.4, after=after)
    release(mechanism, place, "second", notion=NOTION, keep=["town"], private_certificate=place / "private.json")
    return place, dc.Certificate.from_json(place / "private.json")


def changed_lines(place: Path) -> dict[str, dict[str, object]]:
    """The last line with one field changed, by its name."""
    first, last = map(json.loads, (place / "ledger").read_text().splitlines())
    weaker = designed("school", 0.1).to_dict()
    of_town = designed("town", 0.5).to_dict()
    return {
        "notion": last | {"notion": {"name": "lip", "epsilon": 5.0}},
        "mechanism": last | {"mechanism": weaker},
        "another column's mechanism": last | {"mechanism": first["mechanism"]},
        "a third column's mechanism": last | {"mechanism": of_town},
        "sensitive": last | {"sensitive": ["town"]},
        "kept": last | {"kept": []},
        "more kept": last | {"kept": ["town", "job"]},
        "key": last | {"key": first["key"]},
        "id": last | {"id": None},
        "rows": last | {"rows": last["rows"] - 1},
        "certificate": last | {"certificate": first["certificate"]},
    }


def test_a_certificate_tells_of_every_field_of_the_last_line(second: tuple[Path, dc.Certificate]) -> None:
    place, certificate = second
    assert dc.Ledger.read(place / "ledger").differences(certificate, TABLE) == []
    first, last = (place / "ledger").read_text().splitlines(keepends=True)
    for name, changed in changed_lines(place).items():
        forged = place / "forged"
        forged.touch(0o600)
        forged.write_text(first + json.dumps(changed, ensure_ascii=False) + "\n")
        ledger = dc.Ledger.read(forged)
        assert not ledger.confirms(certificate, TABLE), name
        assert ledger.differences(certificate, TABLE)[0] in (name, name.partition("'s ")[2], "kept", "release")
    untold = {"number", "before", "format", "sketch"}  # who had which id stays in the ledger
    assert json.loads(last).keys() - untold <= {*changed_lines(place)}


def test_the_proof_of_a_later_release_stays_with_it(tmp_path: Path) -> None:
    release(designed("job", 0.2), tmp_path, "first", notion=NOTION)
    after = dc.Ledger.read(tmp_path / "ledger").earlier(TABLE, ["school"])
    joint = dc.Joint.from_table(TABLE, "rich", "school")
    made = dc.design(joint, NOTION, after=after)
    private = tmp_path / "private.json"
    release(made.mechanism, tmp_path, "second", proof=made.proof, private_certificate=private)
    stated = dc.Certificate.from_json(private)
    assert stated["bound_evidence"] == "proof"
    assert float(stated["bound"]) == pytest.approx(made.bound, abs=2e-6)
    assert float(stated["bound"]) < dc.design(joint, NOTION).bound
    assert dc.verify(private, TABLE).level == "verified"
    with pytest.raises(InputError, match="what was published before"):
        dc.certify(made.mechanism, joint, NOTION, proof=made.proof)


def test_files_that_are_no_ledger_are_told_apart(tmp_path: Path) -> None:
    mechanism = designed("job", 0.2)
    mechanism.to_json(tmp_path / "m.json")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    (tmp_path / "bytes").write_bytes(bytes(range(128, 256)))
    for name in ("m.json", "t.csv", "bytes"):
        with pytest.raises(InputError, match=f"'.*{name}' is not a ledger: it is a file of another kind"):
            dc.Ledger.read(tmp_path / name)
    with pytest.raises(InputError, match=r"there is no ledger '.*none'"):
        dc.Ledger.read(tmp_path / "none")
    options = {"output": tmp_path / "out.csv", "id": "id", "notion": NOTION}
    for path, why in (
        (".", "names no file"),
        (tmp_path / "no" / "l", "there is no directory"),
        (tmp_path, "directory"),
    ):
        with pytest.raises(InputError, match=why):
            dc.release(TABLE, mechanism, ledger=path, **options)
    with pytest.raises(InputError, match="the ledger and the output are one file"):
        dc.release(TABLE, mechanism, ledger=tmp_path / "." / "out.csv", **options)
    assert sorted(os.listdir(tmp_path)) == ["bytes", "m.json", "t.csv"]


def test_values_that_an_earlier_mechanism_does_not_know_are_named_by_their_column(tmp_path: Path) -> None:
    release(designed("job", 0.2), tmp_path, "first", notion=NOTION)
    rows = TABLE.to_pylist()
    grown = pa.Table.from_pylist([*rows[:-1], rows[-1] | {"job": 9}])
    with pytest.raises(dc.errors.UnseenSymbolError, match="the earlier release of job is by a mechanism that does not"):
        dc.Ledger.read(tmp_path / "ledger").earlier(grown, ["school"])


def test_a_larger_budget_is_advised_where_one_helps(tmp_path: Path) -> None:
    table = pa.table({"id": range(8), "a": list("xxxxyyyy"), "b": list("xyxyxyxy"), "s": list("01011010")})
    joint = {name: dc.Joint.from_table(table, "s", name) for name in "ab"}  # s is whether they differ
    whole = {
        name: dc.Mechanism.from_channel(np.eye(2), useful=["x", "y"], sensitive_columns=["s"], useful_columns=[name])
        for name in "ab"
    }
    assert all(dc.LIP(0.1).holds(joint[name], whole[name]) for name in "ab")
    options = {"ledger": tmp_path / "ledger", "id": "id", "notion": dc.LIP(0.1), "as_values": False}
    dc.release(table, whole["a"], output=tmp_path / "a.csv", **options)
    with pytest.raises(BrokenNotionError, match=r"rule out a sensitive value for some.*design --ledger\)\.$"):
        dc.release(table, whole["b"], output=tmp_path / "b.csv", **options)


def test_a_first_release_under_a_notion_that_none_can_follow_warns(tmp_path: Path) -> None:
    notion = dc.Chi2Lift(eps_upper=0.5)
    joint = dc.Joint.from_table(TABLE, "rich", "job")
    mechanism = dc.design(joint, notion, time_limit=5).mechanism
    with pytest.warns(dc.errors.DiscreetWarning, match="no release is designed to keep Chi2Lift"):
        release(mechanism, tmp_path, "first")
    after = dc.Ledger.read(tmp_path / "ledger").earlier(TABLE, ["school"])
    with pytest.raises(InputError, match="are designed for LIP, ALIP, LDP or max-lift, not for Chi2Lift") as found:
        dc.design(dc.Joint.from_table(TABLE, "rich", "school"), notion, after=after)
    assert "also" not in str(found.value)


def told_by_two(hidden: list[object], kind: pa.DataType) -> pa.Table:
    """S says whether a hidden part of ``f`` and the region differ; neither of them tells anything by itself."""
    cells = [(h, region, k) for h in range(2) for region in "ab" for k in range(100)]
    order = np.random.default_rng(1).permutation(len(cells))
    rows = [cells[k] for k in order]
    secret = [int(h ^ (region == "a")) if k < 95 else 1 - int(h ^ (region == "a")) for h, region, k in rows]
    columns = {"s": secret, "f": pa.array([hidden[h] for h, _, _ in rows], kind)}
    return pa.table(columns | {"region": [row[1] for row in rows], "job": ["uv"[row[2] % 2] for row in rows]})


@pytest.mark.parametrize("hidden", [[float("nan"), None], [0.0, -0.0]], ids=str)
def test_kept_values_count_as_a_reader_tells_them_apart(hidden: list[object], tmp_path: Path) -> None:
    table, notion = told_by_two(hidden, pa.float64()), dc.LIP(0.25)
    first, second = (dc.design(dc.Joint.from_table(table, "s", x), notion).mechanism for x in ("job", "region"))
    options = {"shuffle": True, "ledger": tmp_path / "ledger", "notion": notion}
    dc.release(table, first, output=tmp_path / "one.parquet", keep=["f"], **options)
    with pytest.raises(BrokenNotionError, match="together with what the ledger says"):
        dc.release(table, second, output=tmp_path / "two.parquet", **options)


def test_a_kept_column_is_not_counted_in_the_bins_of_a_later_release(tmp_path: Path) -> None:
    """The parity of an age is kept raw; a later cut at 25 does not take it back."""
    table, notion = told_by_two([30, 31], pa.int64()), dc.LIP(0.25)
    first = dc.design(dc.Joint.from_table(table, "s", "job"), notion).mechanism
    joint = dc.Joint.from_table(table, "s", ["f", "region"], bins={"f": [25]})
    options = {"shuffle": True, "ledger": tmp_path / "ledger", "notion": notion}
    dc.release(table, first, output=tmp_path / "one.parquet", keep=["f"], **options)
    with pytest.raises(BrokenNotionError, match="together with what the ledger says"):
        dc.release(table, dc.design(joint, notion).mechanism, output=tmp_path / "two.parquet", **options)
    with pytest.raises(InputError, match="'f' is published in two ways"):
        dc.Earlier.from_table(table, "s", "f", [first], shown=["f"], bins={"f": [25]})


def test_another_cut_of_the_sensitive_column_is_another_secret(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    table = pa.table({"pay": rng.integers(20, 80, 900), "a": rng.integers(0, 2, 900), "b": rng.integers(0, 2, 900)})
    options = {"shuffle": True, "ledger": tmp_path / "ledger", "notion": NOTION}
    made = [
        dc.design(dc.Joint.from_table(table, "pay", x, bins={"pay": [cut]}), dc.LIP(0.2)).mechanism
        for x, cut in (("a", 50), ("b", 30), ("b", 50))
    ]
    dc.release(table, made[0], output=tmp_path / "one.parquet", **options)
    with pytest.raises(InputError, match="pay is cut into other parts than in the ledger"):
        dc.release(table, made[1], output=tmp_path / "two.parquet", **options)
    dc.release(table, made[2], output=tmp_path / "three.parquet", **options)
    assert dc.Ledger.read(tmp_path / "ledger").room(table, NOTION) > 0


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85", "\x0b"])
def test_values_with_ends_of_lines_in_them_leave_the_ledger_whole(end: str, tmp_path: Path) -> None:
    values = np.array([f"x{end}y", "z"])[np.random.default_rng(1).integers(0, 2, 600)]
    table = pa.table({"s": np.arange(600) * 7 % 11 % 2, "x": values})
    made = dc.design(dc.Joint.from_table(table, "s", "x"), NOTION).mechanism
    dc.release(table, made, output=tmp_path / "one.parquet", shuffle=True, ledger=tmp_path / "ledger", notion=NOTION)
    assert len(dc.Ledger.read(tmp_path / "ledger").entries) == 1


def test_the_line_of_a_release_is_there_before_anything_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is killed in between leaves a line too many, and never one too few."""
    from discreet.releasing import transaction

    class Killed(BaseException):
        pass

    made, moved = transaction.Move.make, []

    def killed(move: transaction.Move) -> None:
        made(move)
        moved.append(move.target.name)
        raise Killed

    monkeypatch.setattr(transaction.Move, "make", killed)
    monkeypatch.setattr(transaction.Move, "undo", lambda move: None)
    with pytest.raises(Killed):
        release(designed("job", 0.25), tmp_path, "first", notion=NOTION)
    assert moved == ["ledger"]
    assert len(dc.Ledger.read(tmp_path / "ledger").entries) == 1
    assert not (tmp_path / "first.parquet").exists()


READ_SECRET = ("conditional-reporting", "optimal-with-sensitive")


@pytest.mark.parametrize("method", [*READ_SECRET, "oue"])
def test_releases_of_other_kinds_are_followed_by_others(method: str, tmp_path: Path) -> None:
    first = dc.design(TABLE_JOINT, dc.LIP(0.2), method).mechanism
    release(first, tmp_path, "first", notion=NOTION)
    ledger = dc.Ledger.read(tmp_path / "ledger")
    with pytest.raises(BrokenNotionError, match="together with what the ledger"):
        release(designed("school", 0.5), tmp_path, "second")
    second = designed("school", 0.5, after=ledger.earlier(TABLE, ["school"]))
    private = tmp_path / "private.json"
    release(second, tmp_path, "second", private_certificate=private)
    stated, ledger = dc.Certificate.from_json(private), dc.Ledger.read(tmp_path / "ledger")
    assert len(stated["after"]) == 1
    assert dc.verify(private, TABLE, tmp_path / "second.parquet").level in ("verified", "redrawn")
    assert ledger.differences(stated, TABLE) == []
    assert 0 <= ledger.room(TABLE, NOTION) < 0.5


@pytest.mark.parametrize("method", [*READ_SECRET, "oue"])
def test_releases_of_other_kinds_follow_others(method: str, tmp_path: Path) -> None:
    release(designed("job", 0.2), tmp_path, "first", notion=NOTION)
    joint = dc.Joint.from_table(TABLE, "rich", "school")
    with pytest.raises(BrokenNotionError, match="together with what the ledger"):
        release(dc.design(joint, dc.LIP(0.5), method).mechanism, tmp_path, "second", notion=NOTION)
    private = tmp_path / "private.json"
    second = dc.design(joint, dc.LIP(0.15), method).mechanism
    release(second, tmp_path, "second", notion=NOTION, private_certificate=private)
    ledger = dc.Ledger.read(tmp_path / "ledger")
    assert dc.verify(private, TABLE, tmp_path / "second.parquet").level in ("verified", "redrawn")
    assert ledger.differences(dc.Certificate.from_json(private), TABLE) == []
    assert 0 < ledger.room(TABLE, NOTION) < 0.3


def test_attributes_that_are_drawn_one_by_one_are_added_up(tmp_path: Path) -> None:
    both = dc.Joint.from_table(TABLE, "rich", ["job", "school"])
    first = dc.design(both, dc.SRLIP(0.4), "independent-attributes").mechanism
    release(first, tmp_path, "first", notion=NOTION)
    ledger = dc.Ledger.read(tmp_path / "ledger")
    second = designed("town", 0.5, after=ledger.earlier(TABLE, ["town"]))
    release(second, tmp_path, "second")
    assert 0 <= dc.Ledger.read(tmp_path / "ledger").room(TABLE, NOTION) < 0.5


@pytest.mark.parametrize("values", [17, 30])
def test_what_could_never_be_added_up_is_not_entered(values: int, tmp_path: Path) -> None:
    """A ledger with a release that nothing can be counted beside would take no more."""
    rng = np.random.default_rng(4)
    table = pa.table({"id": np.arange(6000), "x": rng.integers(0, values, 6000), "rich": rng.integers(0, 2, 6000)})
    made = dc.design(dc.Joint.from_table(table, "rich", "x"), NOTION, "oue").mechanism
    with pytest.raises(InputError, match=r"no release could follow this one.*another method.*without a ledger"):
        dc.release(table, made, output=tmp_path / "o.parquet", ledger=tmp_path / "ledger", id="id", as_values=False)
    assert os.listdir(tmp_path) == []


def test_what_leaves_room_for_small_columns_alone_warns(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    columns = {"id": np.arange(6000), "x": rng.integers(0, 14, 6000), "two": rng.integers(0, 2, 6000)}
    table = pa.table(columns | {"many": rng.integers(0, 11, 6000), "rich": rng.integers(0, 2, 6000)})
    made = {x: dc.design(dc.Joint.from_table(table, "rich", x), dc.LIP(0.1), m).mechanism for x, m in ROOM.items()}
    options = {"ledger": tmp_path / "ledger", "id": "id", "as_values": False, "notion": dc.LIP(1.0)}
    with pytest.warns(dc.errors.DiscreetWarning, match="only columns of at most 10 values are counted beside it later"):
        dc.release(table, made["x"], output=tmp_path / "x.parquet", **options)
    with pytest.raises(InputError, match="too many outcomes together"):
        dc.release(table, made["many"], output=tmp_path / "many.parquet", **options)
    before = dc.Ledger.read(tmp_path / "ledger").earlier(table, ["two"])
    assert dc.LIP(1.0).holds(before.through(made["two"]))


def test_the_last_that_can_be_counted_warns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps its promise with all before, and may be made; of bits alone that would be too late."""
    from discreet.mechanism import earlier

    release(designed("job", 0.1), tmp_path, "first", notion=dc.LIP(1.0))
    monkeypatch.setattr(earlier, "MOST_NUMBERS", 100)
    with pytest.warns(dc.errors.DiscreetWarning, match="that nothing can be counted beside it later"):
        release(designed("job", 0.1), tmp_path, "second", notion=dc.LIP(1.0))


ROOM = {"x": "oue", "two": "watchdog", "many": "watchdog"}


@pytest.mark.parametrize("options", [{"keep": ["rich"]}, {"keep": "all", "uncovered": ["rich"]}], ids=str)
def test_a_secret_that_is_published_leaves_nothing_to_promise(options: dict[str, object], tmp_path: Path) -> None:
    table = TABLE.select(["id", "job", "rich"])
    with pytest.raises(InputError, match=r"the sensitive column rich would be published.*nothing can be promised"):
        dc.release(
            table,
            designed("job", 0.2),
            output=tmp_path / "out.parquet",
            ledger=tmp_path / "ledger",
            id="id",
            publish_sensitive=True,
            **options,
        )
    assert os.listdir(tmp_path) == []


def test_an_empty_file_is_no_new_ledger(tmp_path: Path) -> None:
    """A disk was full, or a copy failed: what it had is not known to be nothing."""
    (tmp_path / "ledger").touch(0o600)
    with pytest.raises(InputError, match=r"is empty, which none ever is.*remove the file"):
        release(designed("job", 0.25), tmp_path, "first", notion=NOTION)
    assert os.listdir(tmp_path) == ["ledger"]


def test_a_new_ledger_says_that_it_knows_of_nothing_before(tmp_path: Path) -> None:
    with pytest.warns(
        DiscreetWarning, match=r"ledger' begins a new ledger: nothing that was published before is known"
    ):
        release(designed("job", 0.1), tmp_path, "first", notion=NOTION)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release(designed("job", 0.1), tmp_path, "second", notion=NOTION)


def test_a_promise_is_not_let_go_of_in_silence(tmp_path: Path) -> None:
    """Budgets of designs may differ; what is promised about all of them stays, unless somebody asks for less."""
    release(designed("job", 0.1), tmp_path, "first", notion=NOTION)
    for looser in (dc.LIP(1.0), dc.MaxLift(0.5)):
        with pytest.raises(BrokenNotionError, match=r"does not imply LIP\(0.5\) of release 1.*looser=True, --looser"):
            release(designed("school", 0.05), tmp_path, "second", notion=looser)
    release(designed("school", 0.05), tmp_path, "second", notion=dc.LIP(0.4))
    release(designed("town", 0.01), tmp_path, "third", notion=dc.LIP(0.4))
    told = r"promised LIP\(2\) from now on, and no longer LIP\(0.5\) of release 1 and LIP\(0.4\) of release 3"
    with pytest.warns(DiscreetWarning, match=told):
        release(designed("school", 0.5), tmp_path, "fourth", notion=dc.LIP(2.0), looser=True)
    ledger = dc.Ledger.read(tmp_path / "ledger")
    assert ledger.strictest() == [dc.LIP(0.4)]
    assert ledger.room(TABLE, dc.LIP(0.4)) < 0 < ledger.room(TABLE, dc.LIP(2.0))
    with pytest.raises(InputError, match="name it"):
        dc.release(TABLE, designed("job", 0.1), output=tmp_path / "x.parquet", id="id", looser=True)


def test_promises_of_which_none_implies_the_other_are_all_the_strictest(tmp_path: Path) -> None:
    release(designed("job", 0.1), tmp_path, "first", notion=dc.ALIP(eps_lower=0.4, eps_upper=0.5))
    with pytest.warns(DiscreetWarning, match="no longer"):
        release(designed("job", 0.1), tmp_path, "second", notion=dc.ALIP(eps_lower=0.5, eps_upper=0.4), looser=True)
    assert len(dc.Ledger.read(tmp_path / "ledger").strictest()) == 2


def test_what_a_ledger_cannot_add_up_is_said_in_words(tmp_path: Path) -> None:
    release(designed("job", 0.1), tmp_path, "first", notion=NOTION)
    both = dc.Joint.from_table(TABLE, "rich", ["job", "school"])
    second = dc.design(both, dc.SRLIP(0.1), "independent-attributes").mechanism
    with pytest.raises(InputError, match=r"a ledger cannot add up SRLIP\(0.1\)"):
        release(second, tmp_path, "second", looser=True)
    with pytest.raises(InputError, match=r"a ledger cannot add up SRLIP\(0.1\)"):
        dc.Ledger.read(tmp_path / "ledger").room(TABLE, dc.SRLIP(0.1))


def test_a_certificate_of_another_table_is_told(second: tuple[Path, dc.Certificate]) -> None:
    place, certificate = second
    ledger = dc.Ledger.read(place / "ledger")
    assert ledger.number_of(certificate) == 2
    assert ledger.differences(certificate, people(seed=3)) == ["table"]
    assert ledger.differences(certificate, TABLE.slice(1)) == ["table"]


def test_the_first_certificate_is_compared_with_its_table_too(tmp_path: Path) -> None:
    """Nothing came before it that would have to be counted there."""
    private = tmp_path / "private.json"
    release(designed("job", 0.2), tmp_path, "first", notion=NOTION, private_certificate=private)
    ledger, certificate = dc.Ledger.read(tmp_path / "ledger"), dc.Certificate.from_json(private)
    assert ledger.differences(certificate, TABLE) == []
    assert ledger.differences(certificate, people(seed=3)) == ["table"]
