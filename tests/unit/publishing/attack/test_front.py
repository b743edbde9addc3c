"""Attacks on planted secrets: found as they are, not where nothing is left, and refused where they would mislead."""

from __future__ import annotations

import json
import math
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet._support import jsonable
from discreet.errors import ColumnNotFoundError, InputError, InvalidNotionError, UnsupportedNotionError
from discreet.publishing.attack.halves import Halves, rows_each_of
from discreet.publishing.attack.measuring import attacked
from discreet.publishing.attack.standing import standing_beside
from discreet.twins.cells import cells_of

N = 4000


def a_table(seed: int = 0, n: int = N) -> pd.DataFrame:
    """S = whether two columns say the same, with noise; age tells a little, the last column nothing."""
    random = np.random.default_rng(seed)
    a, b, age = random.integers(0, 2, n), random.integers(0, 2, n), random.integers(18, 90, n)
    s = np.where(random.random(n) < 0.85, a ^ b, age > 60)
    named = [f"p{k}" for k in range(n)]
    return pd.DataFrame(
        {"id": named, "a": a, "b": np.where(b, "yes", "no"), "age": age, "c": random.integers(0, 9, n), "s": s}
    )


def shuffled(table: pd.DataFrame, seed: int = 1) -> pd.DataFrame:
    """Every useful column in an order of its own, beside the ids."""
    random = np.random.default_rng(seed)
    columns = {name: random.permutation(table[name].to_numpy()) for name in ("a", "b", "age", "c")}
    return pd.DataFrame({"id": table["id"], **columns})


def test_a_planted_secret_breaks_the_promise_and_is_gone_where_nothing_is_left() -> None:
    table = a_table()
    as_it_is = dc.attack(table, table.drop(columns="s"), "s", dc.LIP(0.5), id="id")
    assert as_it_is.verdict == "broken"
    assert any(reason.startswith("boosting") for reason in as_it_is.reasons)
    assert as_it_is.after.auc == pytest.approx(as_it_is.before.auc, abs=0.01)
    assert as_it_is.after["boosting"].auc > 0.85  # nothing but both columns together tells
    assert as_it_is.after["counting"].auc > 0.8  # ids and places, which tell nothing, are counted as well
    assert as_it_is.after["logistic"].auc < 0.7
    low, high = as_it_is.after.intervals["log_max_lift"]
    assert 0.5 < low < as_it_is.after.log_max_lift <= high
    safe = dc.attack(table, shuffled(table), "s", dc.LIP(0.5), id="id")
    assert (safe.verdict, safe.reasons) == ("not broken", ())
    assert safe.before["boosting"].auc == pytest.approx(as_it_is.before["boosting"].auc, abs=0.05)
    for measured in safe.after.by_model.values():
        assert measured.intervals["log_max_lift"][0] <= 0 <= measured.intervals["log_min_lift"][1]
        assert abs(measured.auc - 0.5) < 0.07
    assert set(safe.after.by_model) == {
        *safe.before.by_model,
        *(f"original's {name}" for name in safe.before.by_model),
    }


def test_a_model_of_the_original_finds_what_a_release_gives_away_to_few() -> None:
    """Half of the records are swapped against others: the original's model is not confused by them."""
    table = a_table()
    random = np.random.default_rng(3)
    rows = np.where(random.random(N) < 0.5, random.integers(0, N, N), np.arange(N))
    mixed = table[["a", "b", "age", "c"]].iloc[rows].reset_index(drop=True)
    found = dc.attack(table, mixed, "s", models="counting")
    assert found.verdict is None
    assert found.after["original's counting"].auc > found.after["counting"].auc - 0.02
    assert 0.6 < found.after.auc < found.before.auc


def test_the_same_seed_gives_the_same_attack_and_another_does_not() -> None:
    table = a_table(n=1500)
    first, second, third = (dc.attack(table, table[["age", "b"]], "s", dc.LIP(1), seed=seed) for seed in (3, 3, 4))
    assert jsonable.dumps(first.to_dict()) == jsonable.dumps(second.to_dict())
    assert first.cells != third.cells


def test_the_order_of_an_original_that_is_linked_changes_nothing() -> None:
    table = a_table(n=2000)
    moved, released = table.sample(frac=1, random_state=3), table.drop(columns="s")
    found = [dc.attack(one, released, "s", dc.LIP(0.5), "id", seed=4) for one in (table, moved)]
    first, second = (jsonable.plain(one.to_dict()) for one in found)
    assert first == second


def test_rows_that_stand_in_a_telling_order_are_found() -> None:
    """Sorted by S the place of a row tells it; sorted by a date, rows that show another's stand out."""
    table = a_table(n=3000)
    by_secret = table.sort_values("s", kind="stable", ignore_index=True)
    assert dc.attack(by_secret, by_secret[["a"]], "s", dc.LIP(0.5)).after.log_min_lift == -np.inf
    rng = np.random.default_rng(2)
    table = pd.DataFrame({"day": np.arange(12_000) // 3, "s": (rng.random(12_000) < 0.4).astype(int)})
    rows = np.arange(12_000)
    moved = np.flatnonzero(rng.random(12_000) < np.where(table["s"] == 1, 0.6, 0.2))  # who moves tells s
    rows[moved] = rng.permutation(moved)
    released = table[["day"]].iloc[rows].reset_index(drop=True)
    assert dc.attack(table, released, "s", dc.LIP(0.2)).verdict == "broken"
    order = rng.permutation(12_000)
    mixed = [one.iloc[order].reset_index(drop=True) for one in (table, released)]
    assert dc.attack(*mixed, "s", dc.LIP(0.2)).verdict != "broken"


def test_rows_are_linked_by_id_in_any_order() -> None:
    table = a_table(n=1500)
    released = table[["id", "a", "b", "age"]]
    straight = dc.attack(table, released, "s", id="id", models="bayes")
    turned = dc.attack(table, released.sample(frac=1, random_state=5), "s", id="id", models="bayes")
    assert straight.cells_before == turned.cells_before
    assert straight.after.auc == pytest.approx(turned.after.auc, abs=0.02)
    part = dc.attack(table, released.sample(frac=0.7, random_state=5), "s", id="id", models="bayes")
    assert part.rows == 1050


@pytest.mark.parametrize("where", ["order", "id"])
def test_an_id_and_the_order_of_a_linked_file_are_seen(where: str) -> None:
    rng = np.random.default_rng(2)
    ill, n = rng.random(3000) < 0.3, 3000
    rank = np.argsort(np.argsort(ill + rng.random(n) * 0.5))
    ids = rank * 7 + 3 if where == "id" else rng.permutation(n)
    original = pa.table({"id": ids, "age": rng.integers(20, 60, n), "ill": ill})
    released = original.drop_columns("ill").take(np.argsort(rank) if where == "order" else rng.permutation(n))
    assert dc.attack(original, released, "ill", dc.LIP(0.5), id="id").verdict == "broken"
    harmless = original.set_column(0, "id", pa.array(rng.permutation(n)))
    mixed = harmless.drop_columns("ill").take(rng.permutation(n))
    assert dc.attack(harmless, mixed, "ill", dc.LIP(0.5), id="id").verdict == "not broken"


def test_bytes_and_free_text_leave_a_promise_undecided() -> None:
    rng = np.random.default_rng(2)
    n = 1000
    base = pa.table({"age": rng.integers(20, 60, n), "ill": rng.random(n) < 0.3})
    raw = pa.array([rng.bytes(8) for _ in range(n)], pa.binary())
    said = pa.array([f"met {k} people on day {k % 31} of it" for k in range(n)])
    for column, words in ((raw, "holds bytes"), (said, "is free text")):
        found = dc.attack(base, base.drop_columns("ill").append_column("x", column), "ill", dc.LIP(0.5))
        assert found.verdict == "undecided"
        assert any(words in reason for reason in found.reasons)


def test_rows_that_are_partly_in_another_order_are_noted() -> None:
    rng = np.random.default_rng(2)
    table = pa.table(
        {"age": rng.integers(20, 60, 3000), "town": rng.integers(0, 99, 3000), "ill": rng.random(3000) < 0.3}
    )
    order = np.arange(3000)
    some = np.sort(rng.choice(3000, 1800, replace=False))
    order[some] = rng.permutation(some)
    found = dc.attack(table, table.drop_columns("ill").take(order), "ill", dc.LIP(0.5))
    assert any("100% of rows are in both tables, 4" in note for note in found.notes), found.notes
    assert not any("in both tables" in note for note in dc.attack(table, table.drop_columns("ill"), "ill").notes)


@pytest.mark.parametrize("far", [np.inf, -np.inf, 999_999_999.0])
@pytest.mark.parametrize("model", ["neighbours", "logistic"])
def test_a_few_very_large_numbers_hide_nothing(model: str, far: float) -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(0, 1, 4000)
    ill = rng.random(4000) < 1 / (1 + np.exp(-3 * x))
    x[rng.choice(4000, 40, replace=False)] = far
    table = pa.table({"x": x, "ill": ill})
    found = dc.attack(table, table.drop_columns("ill"), "ill", dc.LIP(0.5), models=[model])
    assert found.after.auc > 0.85
    assert found.verdict == "broken"


def test_what_would_mislead_is_refused() -> None:
    table = a_table(n=1000)
    released = table[["a", "b", "age", "c"]]
    order = np.random.default_rng(0).permutation(1000)
    cases = [
        (
            released.iloc[order],
            {},
            r"do not seem to correspond.*shuffle=False, --keep-order\), or link rows by an id \(id=, --id\)",
        ),
        (released.iloc[:900], {}, "1,000 rows and the release 900.*id="),
        (released.rename(columns=str.upper), {}, "no useful column of the original is in the release"),
        (released.iloc[:90], {"original": table.iloc[:90]}, "at least 100 rows"),
        (released, {"original": table.assign(s=1)}, "one value only"),
        (table[["id", "a"]].assign(id="same"), {"id": "id"}, "'id' repeats in the release"),
        (table[["id", "a"]].assign(id=None), {"id": "id"}, "'id' is null in 1,000 rows of the release"),
        (table[["id", "a"]].assign(id=table["id"] + "x"), {"id": "id"}, "fewer than half"),
        (released, {"seed": -1}, "seed must be"),
        (released, {"models": "magic"}, "models must be"),
        (released, {"notion": 0.5}, "notion must be a privacy notion"),
    ]
    for given, options, said in cases:
        original = options.pop("original", table)
        with pytest.raises(InputError, match=said):
            dc.attack(original, given, "s", **options)
    for wrong in ({"sensitive": "t"}, {"sensitive": "s", "id": "t"}, {"sensitive": "s", "useful": "t"}):
        with pytest.raises(ColumnNotFoundError):
            dc.attack(table, released, **wrong)
    with pytest.raises(InvalidNotionError, match="confidence"):
        dc.attack(table, released, "s", confidence=1.5)
    with pytest.raises(UnsupportedNotionError, match="limits no single lift"):
        dc.attack(table, released, "s", dc.notions.L1Lift(eps_upper=1))


def test_a_generalised_release_of_another_tool_is_attacked() -> None:
    table = a_table()
    decade = [f"{age // 10 * 10}-{age // 10 * 10 + 10}" for age in table["age"]]
    released = pd.DataFrame({"age": decade, "a": table["a"].astype(str), "b": table["b"], "zone": table["c"] // 3})
    released.loc[::10, ["a", "b"]] = "*"
    found = dc.attack(table, released, "s", dc.LIP(0.5), models=["boosting", "bayes", "counting"])
    assert found.verdict == "broken"
    assert 0.75 < found.after["boosting"].auc < found.before["boosting"].auc + 0.02
    assert found.after["original's counting"].auc > 0.75  # of a and b, whose values are those of the original
    broad = dc.attack(table, released[["age"]], "s", models=["bayes"])
    assert "original's bayes" not in broad.after.by_model
    assert "No column of the release holds values of the original" in " ".join(broad.notes)
    assert not broad.presence.applies


def test_any_kind_of_table_gives_the_same(tmp_path: Path) -> None:
    table = a_table(n=1200).drop(columns="id")
    released = table[["a", "b", "age"]]
    table.to_csv(tmp_path / "o.csv", index=False)
    pq.write_table(pa.Table.from_pandas(released, preserve_index=False), tmp_path / "r.parquet")
    wanted = dc.attack(table, released, "s", models="counting").cells
    relation = duckdb.from_arrow(pa.Table.from_pandas(table, preserve_index=False))
    for original, given in (
        (tmp_path / "o.csv", str(tmp_path / "r.parquet")),
        (pl.from_pandas(table), pl.from_pandas(released)),
        (relation, pa.Table.from_pandas(released, preserve_index=False)),
    ):
        assert dc.attack(original, given, "s", models="counting").cells == wanted


def test_numbers_are_cut_null_is_a_value_and_columns_go_together() -> None:
    table = a_table(n=2000)
    wage = table["age"] * 100.0 + np.random.default_rng(0).normal(0, 300, 2000)
    wage[::9] = np.nan
    table = table.assign(wage=wage, rare=["x" if k % 500 == 0 else "y" for k in range(2000)])
    found = dc.attack(table, table[["age", "a"]], "wage", models=["boosting", "counting"])
    assert (len(found.values), found.values[-1], found.after.auc) == (6, "null", None)
    assert "wage is cut into 5 parts" in " ".join(found.notes)
    assert found.after["boosting"].accuracy > found.after.base_rate + 0.2
    both = dc.attack(table, table[["age", "b"]], ["s", "rare"], models="counting")
    assert both.values == ("(0, x)", "(0, y)", "(1, x)", "(1, y)")
    assert {row["value"] for row in both.cells} <= set(both.values)
    for row in both.cells:
        assert row["low"] <= row["log_lift"] <= row["high"]
    many = table.assign(name=[f"n{min(k, 77)}" for k in np.random.default_rng(0).geometric(0.05, 2000)])
    found = dc.attack(many, many[["age"]], "name", models="bayes")
    assert (len(found.values), found.values[-1]) == (40, "other values")


def test_the_record_is_plain_data_and_draws_itself(tmp_path: Path) -> None:
    table = a_table(n=1500)
    found = dc.attack(table, table[["a", "b", "s"]], "s", dc.LIP(0.5), models=["bayes", "counting"])
    data = json.loads(jsonable.dumps(found.to_dict()))
    assert (data["verdict"], data["notion"], data["rows"]) == ("broken", {"name": "lip", "epsilon": 0.5}, 1500)
    assert set(data["after"]["by_model"]) == {"bayes", "counting", "original's bayes", "original's counting"}
    assert data["promised"] == {"low": -0.5, "high": 0.5, "apart": "inf"}
    assert len(data["cells"]) == len(found.cells)
    assert "The release itself holds the sensitive column 's'" in data["notes"][0]
    assert "LIP(0.5) is broken" in repr(found)
    assert "<p>Attack(" in found._repr_html_()
    found.save(tmp_path / "plot.svg")
    assert "promised" in (tmp_path / "plot.svg").read_text()
    with pytest.raises(InputError, match=r"Use \.svg"):
        found.save(tmp_path / "plot.txt")


def test_intervals_share_out_what_may_fail() -> None:
    """The more models, the wider each interval: all of them hold at once."""
    table = a_table(n=1500)
    one = dc.attack(table, table[["a", "b"]], "s", models="bayes").after["bayes"]
    two = dc.attack(table, table[["a", "b"]], "s", models=["bayes", "counting"]).after["bayes"]
    assert one.log_max_lift == two.log_max_lift
    assert two.intervals["log_max_lift"][0] < one.intervals["log_max_lift"][0]
    assert math.isfinite(one.calibration)


def test_cells_in_memory_are_attacked_the_same() -> None:
    """What `publish` calls: one code for both tables, and beliefs that it has already."""
    table = a_table(n=1500)
    rows = np.where(
        np.random.default_rng(0).random(1500) < 0.5, np.random.default_rng(1).permutation(1500), range(1500)
    )
    names = ["a", "b", "c"]  # all rows occur more than once
    before = [cells_of(name, pa.chunked_array([pa.array(table[name])])) for name in names]
    after = [cells.taken(rows) for cells in before]
    secret = table["s"].to_numpy().astype(np.int64)
    released = table[names].iloc[rows].reset_index(drop=True)
    models = ["bayes", "boosting"]
    beside = standing_beside(before), standing_beside(after)
    found = attacked(before, after, secret, [0, 1], notion=dc.LIP(0.5), models=models, beside=beside)
    assert jsonable.plain(found.cells) == jsonable.plain(
        dc.attack(table, released, "s", dc.LIP(0.5), models=models).cells
    )
    beliefs = np.full((1500, 2), 0.5)
    flat = attacked(before, after, secret, [0, 1], models=models, beliefs=beliefs).presence
    assert flat.applies == found.presence.applies
    for cell in flat.cells:
        assert cell.expected == pytest.approx(cell.n * np.bincount(secret)[cell.value] / 1500, rel=0.2)
    assert dc.attack(table, released, "s", models="boosting", seed=1 << 40).seed == 1 << 40


def test_lifts_are_relative_to_the_whole_original() -> None:
    """Most ill rows are left out: who is in the release is less likely to be ill than anybody was said to be."""
    table = a_table().assign(ill=np.random.default_rng(7).random(N) < 0.4)
    for left in (0.1, 0.0):
        stays = ~table["ill"] | (np.random.default_rng(8).random(N) < left)
        released = shuffled(table[stays].reset_index(drop=True))
        found = dc.attack(table, released, "ill", dc.LIP(0.5), id="id", models=["bayes", "counting"])
        assert found.verdict == "broken"
        assert found.after.log_min_lift < -1
        assert found.values == ("false", "true")


def test_what_was_not_looked_at_leaves_a_promise_undecided() -> None:
    table = a_table()
    safe = shuffled(table)
    odd = safe.assign(id=np.where(np.arange(N) < 100, "odd" + table["id"], table["id"]))
    found = dc.attack(table, odd, "s", dc.LIP(0.5), id="id", models="bayes")
    said = "Of 4,000 released rows 100 have an 'id' that the original lacks: they were not looked at."
    assert (found.verdict, found.reasons) == ("undecided", (said,))
    assert "Of 4,000 rows of the original 100 are not in the release." in " ".join(found.notes)
    assert said in found.notes
    few = odd.assign(id=np.where(np.arange(N) < 40, odd["id"], table["id"]))
    assert dc.attack(table, few, "s", dc.LIP(0.5), id="id", models="bayes").verdict == "not broken"
    broken = dc.attack(table, table[["a", "b"]].assign(id=odd["id"]), "s", dc.LIP(0.5), id="id", models="counting")
    assert broken.verdict == "broken"


def test_stretches_in_another_order_leave_a_promise_undecided() -> None:
    table = a_table().assign(ill=np.random.default_rng(7).random(N) < 0.4)
    order = np.append(np.arange(2000), 2000 + np.random.default_rng(1).permutation(2000))
    found = dc.attack(table, table[["age", "c"]].iloc[order], "ill", dc.LIP(0.5), models="bayes")
    assert found.verdict == "undecided"
    assert all("agree with the original no better than by chance" in reason for reason in found.reasons)


@pytest.mark.parametrize("kind", ["list", "structure", "bytes"])
def test_a_secret_in_nested_cells_is_found(kind: str) -> None:
    table = a_table(n=1500)
    made = {"list": lambda s: [int(s)], "structure": lambda s: {"of": int(s)}, "bytes": lambda s: bytes([200 + s])}
    nested = pa.array([made[kind](s) for s in table["s"]])
    released = pa.Table.from_pandas(table[["age"]], preserve_index=False).append_column("more", nested)
    assert dc.attack(table, released, "s", dc.LIP(0.5), models="bayes").verdict == "broken"


def of_persons(each: int = 10, n: int = 400) -> pd.DataFrame:
    """Some rows of every person, who tell by a shop of their own who they are, and by nothing whether they are ill."""
    random = np.random.default_rng(0)
    person = np.repeat(np.arange(n), each)
    ill = random.random(n) < 0.4
    table = {"person": person, "shop": 7 * person % n, "price": random.integers(0, 50, n * each), "ill": ill[person]}
    return pd.DataFrame(table)


def test_rows_of_a_person_are_in_one_half() -> None:
    table = of_persons()
    released = table[["shop", "price"]]
    by_row = dc.attack(table, released, "ill", dc.LIP(0.5), models="boosting")
    assert (by_row.verdict, round(by_row.after.auc or 0)) == ("broken", 1)  # other rows of the same person told it
    found = dc.attack(table, released, "ill", person="person", models="boosting")
    assert found.after.auc is not None
    assert abs(found.after.auc - 0.5) < 0.15
    assert 0.4 * len(table) < found.measured <= found.rows - found.trained
    seeds = (dc.attack(table, released, "ill", dc.LIP(0.2), person="person", models="bayes", seed=k) for k in range(8))
    assert {one.verdict for one in seeds} == {"not broken"}  # ten rows of a person say no more than one
    moved = table.sample(frac=1, random_state=3)
    again = dc.attack(moved, moved[["shop", "price"]], "ill", person="person", models="boosting")
    assert jsonable.plain(again.to_dict()) == jsonable.plain(found.to_dict())
    with pytest.raises(ColumnNotFoundError):
        dc.attack(table, released, "ill", person="who")
    with pytest.raises(InputError, match="few persons have nearly all rows"):
        dc.attack(table.assign(one=np.minimum(table["person"], 1) // 1), released, "ill", person="one")


def test_rows_say_as_much_as_they_are_independent() -> None:
    persons, random = np.repeat(np.arange(500), 10), np.random.default_rng(0)
    assert rows_each_of(persons, persons % 2) == pytest.approx(10)
    assert rows_each_of(persons, random.integers(0, 2, 5000)) == pytest.approx(1, abs=0.2)
    assert rows_each_of(np.arange(5000), persons % 2) == 1.0


def test_persons_are_whole_and_rare_tuples_are_not_measured_twice() -> None:
    table = of_persons()
    persons = table["person"].to_numpy()
    twice = np.arange(len(table)) // 2 + 1 - np.arange(len(table)) % 2  # tuples that two rows have, of two persons
    cells = [cells_of("x", pa.array(np.roll(twice, 1)))]
    halves = Halves.of_persons(cells, cells, table["ill"].to_numpy().astype(np.int64), 2, persons, 3)
    assert not set(persons[halves.trained]) & set(persons[halves.measured])
    codes = cells[0].codes
    assert not set(codes[halves.trained]) & set(codes[halves.measured])
    assert not halves.apart.any()
