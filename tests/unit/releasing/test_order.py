"""Releases whose rows, or whose ids, stand in an order that tells a protected column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet import LIP, Joint, Mechanism, design
from discreet._support.errors import BrokenNotionError
from discreet.certificate.sequence import tolerance
from discreet.tables import stretches
from discreet.tables.session import open_table
from tests.unit.certificate.test_sequence import TELLING

ROWS = 10_000
ORDERS = ["alternating", "halves", "households", "pairs", "opposite pairs", "sorted"]


def ordered(order: str, rows: int) -> pa.Table:
    """S in a telling order, X that hides most of it, and ids in no order."""
    rng = np.random.default_rng(8)
    s = TELLING[order](rows, rng)
    x = np.where(rng.random(rows) < 0.3, s, rng.integers(0, 4, rows))
    return pa.table({"id": rng.permutation(rows), "s": s, "x": x})


def mechanism_of(table: pa.Table) -> Mechanism:
    return design(Joint.from_table(table, "s", "x"), LIP(0.5), "watchdog").mechanism


def in_id_order(table: pa.Table, ids: Any) -> pa.Table:
    """Ids in the order of the rows, and the rows in no order."""
    mixed = np.random.default_rng(9).permutation(table.num_rows)
    return table.set_column(0, "id", pa.array(ids)).take(pa.array(mixed))


@pytest.fixture(scope="module")
def halves() -> pa.Table:
    return ordered("halves", ROWS)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rows", [ROWS, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_telling_orders_are_refused(order: str, rows: int, tmp_path: Path) -> None:
    table = ordered(order, rows)
    mechanism = mechanism_of(table)
    with pytest.raises(BrokenNotionError, match=r"order of the rows tells .*shuffle=True, --shuffle"):
        dc.release(table, mechanism, seed=1, id="id")
    pq.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(BrokenNotionError, match="order of the rows tells"):
        dc.release(tmp_path / "in.parquet", mechanism, seed=1, output=tmp_path / "o.parquet")
    assert dc.release(table, mechanism, seed=1, id="id", shuffle=True).column_names == ["x"]
    numbered = in_id_order(table, np.arange(rows))
    with pytest.raises(BrokenNotionError, match=r"order of the published id 'id' tells .*publish_id=False, --drop-id"):
        dc.release(numbered, mechanism, seed=1, id="id")
    assert dc.release(numbered, mechanism, seed=1, id="id", publish_id=False).column_names == ["x"]


def test_the_refusal_names_what_really_helps(halves: pa.Table) -> None:
    mechanism = mechanism_of(halves)
    both = halves.set_column(0, "id", pa.array(np.arange(ROWS)))
    for table, given, said, unsaid in (
        (halves, {}, ("order of the rows", "--shuffle", "leaves the id out"), ("--drop-id", "published id")),
        (in_id_order(halves, np.arange(ROWS)), {}, ("published id 'id'", "--drop-id"), ("--shuffle", "of the rows")),
        (both, {}, ("of the rows", "published id 'id'", "--shuffle", "--drop-id"), ()),
        (both, {"shuffle": True, "publish_id": True}, ("published id 'id'", "--drop-id"), ("--shuffle",)),
        (both, {"publish_id": False}, ("of the rows", "--shuffle"), ("--drop-id",)),
    ):
        with pytest.raises(BrokenNotionError) as refused:
            dc.release(table, mechanism, seed=1, id="id", **given)
        assert all(part in str(refused.value) for part in said)
        assert not any(part in str(refused.value) for part in unsaid)
        assert refused.value.exit_code == 1


def test_a_shuffled_release_has_an_id_only_where_it_is_asked_for(halves: pa.Table, tmp_path: Path) -> None:
    mechanism = mechanism_of(halves)
    options: dict[str, Any] = {"seed": 1, "id": "id", "shuffle": True}
    pq.write_table(halves, tmp_path / "in.parquet")
    for published, names in ((None, ["x"]), (False, ["x"]), (True, ["id", "x"])):
        assert dc.release(halves, mechanism, **options, publish_id=published).column_names == names
        output = tmp_path / f"{published}.parquet"
        dc.release(tmp_path / "in.parquet", mechanism, **options, publish_id=published, output=output)
        assert pq.read_schema(output).names == names
    mixed = halves.take(pa.array(np.random.default_rng(1).permutation(ROWS)))
    assert dc.release(mixed, mechanism, seed=1, id="id").column_names == ["id", "x"]


def test_integers_are_ordered_as_numbers_and_text_as_text(halves: pa.Table) -> None:
    mechanism = mechanism_of(halves)
    numbers = np.arange(ROWS)
    with pytest.raises(BrokenNotionError, match="published id"):
        dc.release(in_id_order(halves, numbers - ROWS // 2), mechanism, seed=1, id="id")
    with pytest.raises(BrokenNotionError, match="published id"):
        dc.release(in_id_order(halves, [f"A-{k:05d}" for k in numbers]), mechanism, seed=1, id="id")
    sorted_as_text = np.array(sorted(map(str, numbers)))
    with pytest.raises(BrokenNotionError, match="published id"):
        dc.release(in_id_order(halves, sorted_as_text), mechanism, seed=1, id="id")


def test_files_follow_one_another_by_name(halves: pa.Table, tmp_path: Path) -> None:
    """Each half by itself is in no order."""
    mechanism = mechanism_of(halves)
    for kind in ("parquet", "csv"):
        folder = tmp_path / kind
        folder.mkdir()
        for k, part in enumerate((halves.slice(0, ROWS // 2), halves.slice(ROWS // 2))):
            if kind == "csv":
                pyarrow.csv.write_csv(part.select(["s", "x"]), folder / f"{k}.csv")
            else:
                pq.write_table(part, folder / f"{k}.parquet")
    with pytest.raises(BrokenNotionError, match="order of the rows"):
        dc.release(tmp_path / "parquet", mechanism, seed=1, output=tmp_path / "o.parquet")
    with pytest.raises(BrokenNotionError, match="order of the rows"):
        dc.release(tmp_path / "csv", _of_text(mechanism, tmp_path / "csv"), seed=1, output=tmp_path / "o.csv")


def _of_text(mechanism: Mechanism, path: Path) -> Mechanism:
    """The same design for values that are read from text."""
    return design(Joint.from_table(path, "s", "x"), LIP(0.5), "watchdog").mechanism


@pytest.mark.parametrize("ids", ["numbers", "text"])
def test_of_long_tables_stretches_are_looked_at(ids: str, halves: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"MOST_ROWS": 5_000, "SHOWN": 4_000, "STRETCH": 100, "WINDOWS": 40, "ONE_ID_IN": 100}.items():
        monkeypatch.setattr(stretches, name, value)
    mechanism = mechanism_of(halves)
    with pytest.raises(BrokenNotionError, match="order of the rows"):
        dc.release(halves, mechanism, seed=1)
    numbers = np.arange(ROWS)
    numbered = in_id_order(halves, numbers if ids == "numbers" else [f"{k:06d}'\\" for k in numbers])
    with pytest.raises(BrokenNotionError, match="published id"):
        dc.release(numbered, mechanism, seed=1, id="id")
    with open_table(numbered, places=True) as table:
        shown = table.in_order(["id", "s"], "id", ROWS, ())[0].to_pylist()
        assert shown == sorted(set(shown))
        assert ROWS // 10 < len(shown) < ROWS
        # Nearly all of them follow the one before, and they come from everywhere.
        places = np.array([int(str(k)[:6]) for k in shown])
        assert (np.diff(places) == 1).mean() > 0.95
        assert (np.bincount(places * 4 // ROWS) > ROWS // 50).all()
        rows = table.in_order(["discreet_row"], None, ROWS, ())[0].to_numpy()
        assert (np.diff(rows) > 0).all()
        assert ROWS // 10 < len(rows) < ROWS
        assert (np.diff(rows) == 1).mean() > 0.95


def test_a_tenth_of_the_smallest_budget_is_tolerated() -> None:
    assert tolerance(LIP(0.5)) == pytest.approx(0.05)
    assert tolerance(dc.ALIP(eps_lower=1.0, eps_upper=0.25)) == pytest.approx(0.025)
    assert tolerance(dc.MaxLift(0.3)) == pytest.approx(0.03)
    assert tolerance(dc.PerfectPrivacy()) == 0


@pytest.mark.parametrize(("notion", "refused"), [(LIP(0.5), False), (LIP(0.05), True)])
def test_the_budget_decides_what_counts(notion: dc.Notion, refused: bool) -> None:
    """A drift of 0.03 nats is within a tenth of half a nat, and beyond a tenth of a tenth of it."""
    rng, n = np.random.default_rng(11), 1_000_000
    s = (rng.random(n) < 0.5 * np.exp(np.linspace(-0.03, 0.03, n))).astype(np.int64)
    table = pa.table({"s": s, "x": rng.integers(0, 2, n)})
    mechanism = design(Joint.from_table(table, "s", "x"), notion, "watchdog").mechanism
    if refused:
        with pytest.raises(BrokenNotionError, match="tells values of 's'"):
            dc.release(table, mechanism, seed=1)
    else:
        assert dc.release(table, mechanism, seed=1).num_rows == n


@pytest.mark.parametrize("options", [{"id": "id"}, {}], ids=["by id", "by place"])
def test_an_order_that_tells_beside_the_label_alone(options: dict[str, Any]) -> None:
    """S is random along the rows and so is X, but what X says about S turns round in the middle."""
    rng = np.random.default_rng(3)
    s = rng.integers(0, 2, 4_000)
    x = s ^ (np.arange(4_000) < 2_000)
    table = pa.table({"id": np.arange(4_000), "s": s, "x": x.astype(int)})
    notion = LIP(0.1)
    mechanism = Mechanism.from_channel(
        np.eye(2), useful=[0, 1], useful_columns=["x"], sensitive_columns=["s"], notion=notion.to_dict()
    )
    with pytest.raises(BrokenNotionError, match="sensitive and useful columns together"):
        dc.release(table, mechanism, seed=1, **options)
    assert dc.release(table, mechanism, seed=1, shuffle=True, **options).column_names == ["x"]


def test_an_order_that_tells_two_sensitive_columns_together() -> None:
    rng = np.random.default_rng(4)
    first = rng.integers(0, 2, 4_000)
    second = first ^ (np.arange(4_000) < 2_000)
    table = pa.table({"a": first, "b": second.astype(int), "x": rng.integers(0, 2, 4_000)})
    mechanism = Mechanism.from_channel(
        np.ones((2, 1)), useful=[0, 1], useful_columns=["x"], sensitive_columns=["a", "b"], notion=LIP(0.3).to_dict()
    )
    with pytest.raises(BrokenNotionError, match="'a' and 'b' together"):
        dc.release(table, mechanism, seed=1)
