"""Sketches of ids: the same mechanism, key and id column are the same draw only for people who kept their ids."""

from __future__ import annotations

import itertools
import json
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.errors import BrokenNotionError, DiscreetWarning, InputError, UnusableColumnError
from discreet.releasing.sketch import MOST_IDS, Sketch

#: Tables here mostly have no further column, which a release says.
pytestmark = pytest.mark.filterwarnings("ignore:.*is not checked")

#: Kept by one release of the mechanism, and by no two.
NOTION = dc.LIP(0.22)
KEY = dc.ReleaseKey.from_seed(5)


def people(n: int = 4000) -> pa.Table:
    rng = np.random.default_rng(8)
    job = rng.integers(0, 5, n)
    rich = np.where(rng.random(n) < 0.2 + 0.13 * job, "yes", "no")
    return pa.table({"id": np.arange(n), "job": job, "rich": rich})


TABLE = people()
MECHANISM = dc.design(dc.Joint.from_table(TABLE, "rich", "job"), dc.LIP(0.2)).mechanism


def renumbered(table: pa.Table, share: float = 1.0) -> pa.Table:
    """The same people, of whom a share got the ids of each other."""
    rng = np.random.default_rng(1)
    ids = table.column("id").to_numpy().copy()
    moved = rng.permutation(len(ids))[: int(share * len(ids))]
    ids[moved] = ids[rng.permutation(moved)]
    return table.set_column(0, "id", pa.array(ids))


def changed(table: pa.Table, share: float) -> pa.Table:
    """The same people under their ids, a share of them in the job of another who is as rich; counts stay the same."""
    rng, job, rich = np.random.default_rng(2), table.column("job").to_numpy().copy(), table.column("rich").to_numpy()
    moved = rng.permutation(len(job))[: int(share * len(job))]
    for value in ("yes", "no"):
        own = moved[rich[moved] == value]
        job[own] = job[rng.permutation(own)]
    return table.set_column(1, "job", pa.array(job))


def release(table: Any, place: Path, name: str, **options: Any) -> None:
    given = {"id": "id", "notion": NOTION, "key": KEY, "as_values": False, "ledger": place / "ledger"}
    dc.release(table, MECHANISM, output=place / f"{name}.parquet", **(given | options))


def log_lifts(mechanism: dc.Mechanism, draws: int) -> float:
    """The largest |log-lift| of S after so many independent draws for each person, in fractions over all records."""
    rows = TABLE.to_pylist()
    weights = [[Fraction(int(w), 2**60) for w in row] for row in mechanism.weights]
    prior = Fraction(sum(row["rich"] == "yes" for row in rows), len(rows))
    cells: dict[tuple[int, str], int] = {}
    for row in rows:
        cells[row["job"], row["rich"]] = cells.get((row["job"], row["rich"]), 0) + 1
    found = []
    for seen in itertools.product(range(mechanism.n_released), repeat=draws):
        mass = {"yes": Fraction(0), "no": Fraction(0)}
        for (job, rich), n in cells.items():
            chance = Fraction(n)
            for y in seen:
                chance *= weights[mechanism.useful.index(job)][y]
            mass[rich] += chance
        total = mass["yes"] + mass["no"]
        found += [mass["yes"] / total / prior, mass["no"] / total / (1 - prior)] if total else []
    return max(abs(float(np.log(float(lift)))) for lift in found)


def test_renumbered_people_are_drawn_again_and_that_breaks_the_promise(tmp_path: Path) -> None:
    """One draw keeps LIP(0.22) and two do not; whoever gets another id is drawn a second time."""
    assert log_lifts(MECHANISM, 1) <= 0.2 + 1e-9
    assert log_lifts(MECHANISM, 2) > 0.22 + 0.01
    release(TABLE, tmp_path, "june")
    anew = renumbered(TABLE)
    release(anew, tmp_path, "july", ledger=None)
    june, july = (pq.read_table(tmp_path / f"{name}.parquet").column("job").to_pylist() for name in ("june", "july"))
    assert np.mean([a != b for a, b in zip(june, july)]) > 0.1  # rows are the same people's, and draws are not
    with pytest.raises(BrokenNotionError, match=r"key of release 1 .* not the same draw: .*stand for other values"):
        release(anew, tmp_path, "august")
    assert not (tmp_path / "august.parquet").exists()
    assert len(dc.Ledger.read(tmp_path / "ledger").entries) == 1


def test_people_who_kept_their_ids_are_drawn_alike_in_any_order(tmp_path: Path) -> None:
    release(TABLE, tmp_path, "june")
    order = np.random.default_rng(3).permutation(TABLE.num_rows)
    pq.write_table(TABLE.take(pa.array(order)), tmp_path / "moved.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*is not checked")
        release(tmp_path / "moved.parquet", tmp_path, "july")  # a file as well as a frame
        text = TABLE.set_column(0, "id", TABLE.column("id").cast(pa.string()))
        release(text, tmp_path, "august")
    first, *others = dc.Ledger.read(tmp_path / "ledger").entries
    assert all(entry.sketch == first.sketch for entry in others)


@pytest.mark.parametrize(("share", "is_same"), [(0.03, True), (0.06, True), (0.15, False), (0.5, False)])
def test_a_few_may_have_changed(share: float, is_same: bool, tmp_path: Path) -> None:
    release(TABLE, tmp_path, "june")
    for make in (changed, renumbered):
        if is_same:
            release(make(TABLE, share), tmp_path, make.__name__)
        else:
            with pytest.raises(BrokenNotionError, match="may have been given anew"):
                release(make(TABLE, share), tmp_path, make.__name__)


def test_values_that_nearly_all_share_do_not_hide_other_ids() -> None:
    """Of 1,000 people 980 have one value: renumbered, 96 in 100 agree by chance alone."""
    ids = tuple(f"{k:016x}" for k in range(MOST_IDS))
    values = ["a" * 16] * 980 + ["b" * 16] * 20
    one = Sketch(ids, tuple(values))
    assert one.why_others(one) is None
    assert one.why_others(Sketch(ids, tuple(values[::-1]))) is not None
    assert one.why_others(Sketch(ids, (*values[1:-1], "b" * 16, "a" * 16))) is None
    alike = Sketch(ids, ("a" * 16,) * MOST_IDS)
    assert "do not tell them apart" in str(alike.why_others(alike))


def exchanged(table: pa.Table) -> pa.Table:
    """People who are as rich and have the same job get each other's ids; of anybody else nothing changes."""
    rng, ids = np.random.default_rng(6), table.column("id").to_numpy().copy()
    job, rich = table.column("job").to_numpy(), np.asarray(table.column("rich").to_pylist())
    for a, b in itertools.product(range(5), ("yes", "no")):
        group = np.flatnonzero((job == a) & (rich == b))
        ids[group] = ids[rng.permutation(group)]
    return table.set_column(0, "id", pa.array(ids))


def with_columns(table: pa.Table, month: int) -> pa.Table:
    """The same people, who were born once, live in one of three towns, and have another balance every month."""
    rng, n = np.random.default_rng(9), table.num_rows
    born, town, balance = rng.integers(0, 9000, n), rng.integers(0, 3, n), np.random.default_rng(month).random(n)
    columns = {"born": born, "town": town, "balance": balance, "month": np.full(n, month)}
    for name, values in columns.items():
        table = table.append_column(name, [values])
    return table


@pytest.mark.parametrize("stays", [["born"], ["town"], ["town", "balance"], ["born", "balance", "month"]], ids=str)
def test_people_of_equal_values_are_told_apart_by_other_columns(stays: list[str], tmp_path: Path) -> None:
    """What (S, X) cannot show shows in a column that people keep, beside others that change for everybody."""
    june, july = (with_columns(TABLE, month).select(["id", "job", "rich", *stays]) for month in (6, 7))
    release(june, tmp_path, "june")
    release(july, tmp_path, "july")
    assert dc.Ledger.read(tmp_path / "ledger")._numbers(None) == [0]
    with pytest.raises(BrokenNotionError, match=f"have other values of .*{stays[0]}.*may have been given anew"):
        release(exchanged(july), tmp_path, "august")


def test_where_no_column_tells_people_apart_their_values_decide(tmp_path: Path) -> None:
    june, july = (with_columns(TABLE, month).select(["id", "job", "rich", "month"]) for month in (6, 7))
    release(june, tmp_path, "june")
    with pytest.warns(DiscreetWarning, match="kept their ids since release 1 is not checked"):
        release(exchanged(july), tmp_path, "july")
    with pytest.warns(DiscreetWarning, match="kept their ids since release 2 is not checked"):
        release(with_columns(TABLE, 8), tmp_path, "august")  # columns that one table has alone say nothing


def test_columns_of_a_sketch_are_few_and_those_of_most_values(tmp_path: Path) -> None:
    from discreet.releasing.sketch import MOST_COLUMNS

    rng = np.random.default_rng(4)
    wide = TABLE
    for k in range(MOST_COLUMNS + 4):
        wide = wide.append_column(f"c{k}", [rng.integers(0, k + 1, TABLE.num_rows)])
    wide = wide.append_column("list", pa.array([[1]] * TABLE.num_rows))
    beyond = np.arange(TABLE.num_rows, dtype="int32") + 4_000_000  # days: years that Python does not know
    wide = wide.append_column("far", pa.array(beyond).cast(pa.date32()))
    release(wide, tmp_path, "wide")
    sketch = dc.Ledger.read(tmp_path / "ledger").entries[0].sketch
    assert sketch is not None
    assert {*sketch.others} == {f"c{k}" for k in range(4, MOST_COLUMNS + 4)}


def test_people_may_join_and_leave(tmp_path: Path) -> None:
    release(TABLE, tmp_path, "june")
    with pytest.warns(DiscreetWarning, match="from now on"):
        release(TABLE.slice(0, 3900), tmp_path, "july", notion=dc.LIP(0.24), looser=True)
    with pytest.warns(DiscreetWarning, match="from now on"):
        release(TABLE.slice(0, 2500), tmp_path, "august", notion=dc.LIP(0.4), looser=True)
    assert dc.Ledger.read(tmp_path / "ledger")._numbers(None) == [0]
    shifted = TABLE.set_column(0, "id", pa.array(np.arange(4000) + 3000))
    with pytest.raises(BrokenNotionError, match="fewer than half of the ids are the same"):
        release(shifted, tmp_path, "september", notion=NOTION)


def test_of_sketches_only_ids_that_both_could_have_are_compared() -> None:
    """Of ten times as many people a sketch reaches a tenth as far."""
    rng = np.random.default_rng(1)
    every = sorted(f"{n:016x}" for n in rng.integers(0, 2**63, 10_000))
    values = {code: f"{k % 7:016x}" for k, code in enumerate(every)}

    def sketch(ids: list[str]) -> Sketch:
        chosen = sorted(ids)[:MOST_IDS]
        return Sketch(tuple(chosen), tuple(values[code] for code in chosen))

    some = [code for code in every if rng.random() < 0.1]
    assert sketch(every).why_others(sketch(some)) is None
    assert sketch(some).why_others(sketch(every)) is None
    assert sketch(every[:5000:2]).why_others(sketch(every[1:5000:2])) is not None
    assert sketch(every[:100]).why_others(sketch(every[50:150])) is None
    assert "fewer than half" in str(sketch(every[:100]).why_others(sketch(every[51:151])))
    assert Sketch((), ()).why_others(sketch(some)) is not None


def anew(table: pa.Table) -> list[tuple[str, pa.Table, dict[str, Any]]]:
    """Releases that draw by ids under the key of an earlier one, for people who may not have had them."""
    return [
        ("renumbered", renumbered(table), {}),
        ("another column", table.append_column("number", table.column("id")), {"id": "number"}),
    ]


@pytest.mark.parametrize("case", anew(TABLE), ids=lambda case: case[0])
def test_draws_that_depend_on_earlier_ones_are_refused_whatever_is_promised(
    case: tuple[str, pa.Table, dict[str, Any]], tmp_path: Path
) -> None:
    """Whoever has another's id and value has their draw too, which no product of two chances counts."""
    _, table, options = case
    release(TABLE, tmp_path, "june", notion=dc.LIP(1.5))
    with pytest.raises(BrokenNotionError, match=r"Keep the ids that people had.*a new key \(--write-key FILE"):
        release(table, tmp_path, "july", notion=dc.LIP(1.5), **options)
    assert not (tmp_path / "july.parquet").exists()
    release(table, tmp_path, "july", notion=dc.LIP(1.5), key=dc.ReleaseKey.fresh(), **options)
    room = dc.Ledger.read(tmp_path / "ledger").room(TABLE, dc.LIP(1.5))
    assert room == pytest.approx(1.5 - log_lifts(MECHANISM, 2))


def test_draws_of_places_do_not_follow_from_those_of_ids(tmp_path: Path) -> None:
    """The table itself goes into their secret; each of them counts."""
    options = {"notion": dc.LIP(1.5), "shuffle": True}
    release(TABLE, tmp_path, "june", **options)
    release(TABLE, tmp_path, "july", id=None, **options)
    ledger = dc.Ledger.read(tmp_path / "ledger")
    assert ledger._numbers(None) == [0, 1]
    with pytest.raises(BrokenNotionError, match=r"mechanism of release 1 without its ids: with that key .*--id id"):
        release(TABLE, tmp_path, "august", id=None, notion=NOTION, shuffle=True)
    with pytest.raises(BrokenNotionError, match="mechanism of release 1 under another key: with that key"):
        release(TABLE, tmp_path, "august", key=dc.ReleaseKey.fresh(), notion=NOTION)


def test_lines_of_older_ledgers_take_no_more_under_their_key(tmp_path: Path) -> None:
    """Nobody knows who had which id, so that nothing says that a second draw is the first."""
    release(TABLE, tmp_path, "june")
    entry = dc.Ledger.read(tmp_path / "ledger").entries[0]
    old = dc.Ledger().with_entry(replace(entry, sketch=None))
    assert "sketch" not in json.loads(old.lines[0])
    (tmp_path / "ledger").write_text(old.text())
    with pytest.raises(BrokenNotionError, match="a line of an older version does not say who had which id"):
        release(TABLE, tmp_path, "july")


def test_whoever_repeats_a_repetition_repeats_the_first(tmp_path: Path) -> None:
    """Values change from month to month: ever fewer are those of the first, and none is drawn twice in one."""
    tables = [TABLE]
    for _ in range(4):
        tables.append(changed(tables[-1].take(pa.array(np.random.default_rng(len(tables)).permutation(4000))), 0.04))
    for month, table in enumerate(tables):
        release(table, tmp_path, f"month-{month}", notion=dc.LIP(0.3))
    ledger = dc.Ledger.read(tmp_path / "ledger")
    assert not ledger.entries[-1].repeats(ledger.entries[0])
    assert ledger._numbers(None) == [0]


def test_two_draws_stay_two_whatever_is_like_both(tmp_path: Path) -> None:
    """Half of the ids of one draw and half of another: nothing that either of them told is taken back."""

    def sketch(first: int) -> Sketch:
        return Sketch(tuple(f"{k:016x}" for k in range(first, first + 10)), tuple(f"{k % 3:016x}" for k in range(10)))

    release(TABLE, tmp_path, "first")
    one, other = (replace(dc.Ledger.read(tmp_path / "ledger").entries[0], sketch=sketch(k)) for k in (0, 12))
    ledger = dc.Ledger().with_entry(one).with_entry(other)
    assert ledger._numbers(None) == [0, 1]
    assert ledger._numbers(one) == [1]
    assert ledger._numbers(other) == [0]
    ids = tuple(f"{k:016x}" for k in range(4, 20))
    both = replace(one, sketch=Sketch(ids, (*sketch(0).values[4:], "0" * 16, "0" * 16, *sketch(12).values[:8])))
    assert both.repeats(one)
    assert both.repeats(other)
    assert ledger._numbers(both) == [0]
    assert ledger.with_entry(both)._numbers(None) == [0, 1]


def test_a_sketch_tells_nothing_without_the_key(tmp_path: Path) -> None:
    release(TABLE, tmp_path, "june", notion=dc.LIP(1.5))
    release(TABLE, tmp_path, "other", key=dc.ReleaseKey.fresh(), notion=dc.LIP(1.5))
    one, two = (entry.sketch for entry in dc.Ledger.read(tmp_path / "ledger").entries)
    assert one is not None
    assert two is not None
    assert not set(one.ids) & set(two.ids)
    assert not set(one.values) & set(two.values)
    assert len(one.ids) == MOST_IDS
    certificate = json.loads((tmp_path / "june.parquet.certificate.json").read_text())
    assert "sketch" not in certificate


def test_a_damaged_sketch_is_a_changed_line(tmp_path: Path) -> None:
    release(TABLE, tmp_path, "june")
    line = json.loads((tmp_path / "ledger").read_text())
    ids, values = line["sketch"]["ids"], line["sketch"]["values"]
    whole = {"ids": ids, "values": values}
    for wrong in (
        whole | {"others": {"a": "ab"}},
        whole | {"others": {"a": "abcd"}},
        whole | {"others": 3},
        {"ids": ids},
        {"ids": ids[1:], "values": values},
        {"ids": ids[16:], "values": values},
    ):
        (tmp_path / "ledger").write_text(json.dumps(line | {"sketch": wrong}) + "\n")
        with pytest.raises(InputError, match="line 1 of the ledger"):
            dc.Ledger.read(tmp_path / "ledger")


def test_ids_that_are_missing_or_shared_are_not_entered(tmp_path: Path) -> None:
    ids = TABLE.column("id").to_pylist()
    for wrong in ([None, *ids[1:]], [ids[1], *ids[1:]]):
        with pytest.raises(UnusableColumnError, match="the id column 'id'"):
            release(TABLE.set_column(0, "id", pa.array(wrong)), tmp_path, "wrong")
    with pytest.raises(InputError, match="one record for each person"):
        release(TABLE, tmp_path, "person", id=None, person="id", shuffle=True)
    assert not (tmp_path / "ledger").exists()


def test_spark_chooses_the_same_ids(tmp_path: Path, spark: Any) -> None:
    table = with_columns(TABLE, 6)
    release(table, tmp_path, "june")
    frame = spark.createDataFrame(table.to_pandas()).repartition(3)
    release(frame, tmp_path, "july")
    pq.write_table(table, tmp_path / "people.parquet")
    release(tmp_path / "people.parquet", tmp_path, "files", engine="spark")
    one, *others = (entry.sketch for entry in dc.Ledger.read(tmp_path / "ledger").entries)
    assert others == [one, one]
    with pytest.raises(BrokenNotionError, match="may have been given anew"):
        release(spark.createDataFrame(renumbered(TABLE).to_pandas()), tmp_path, "august")
