"""What a release publishes, what it refuses, and what it leaves behind when it fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet import LIP, Joint, Mechanism, design
from discreet._support.errors import (
    BrokenNotionError,
    ColumnNotFoundError,
    DataError,
    InputError,
    UnseenSymbolError,
    UnusableColumnError,
)
from discreet.releasing import Request, run
from tests.releases import awkward_table, by_id, mechanisms

ROWS = 2_000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return awkward_table(ROWS)


@pytest.fixture(scope="module")
def mechanism(table: pa.Table) -> Mechanism:
    return design(Joint.from_table(table, "ill", "job"), LIP(0.3)).mechanism


@pytest.fixture
def path(table: pa.Table, tmp_path: Path) -> Path:
    pq.write_table(table, tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


def files_in(folder: Path) -> set[str]:
    return set(os.listdir(folder))


def test_only_what_is_chosen_is_published(table: pa.Table, mechanism: Mechanism) -> None:
    assert dc.release(table, mechanism, seed=1).column_names == ["job"]
    assert dc.release(table, mechanism, seed=1, id="uuid").column_names == ["uuid", "job"]
    assert dc.release(table, mechanism, seed=1, id="uuid", publish_id=False).column_names == ["job"]
    everything = dc.release(
        table, mechanism, seed=1, id="uuid", keep="all", uncovered=["number", "name", "sex", "age", "weight"]
    )
    assert everything.column_names == ["number", "name", "uuid", "job", "sex", "age", "weight"]
    assert dc.release(table, mechanism, seed=1, keep=["age"], uncovered=["age"], rename="work").column_names == [
        "work",
        "age",
    ]
    for name in ("number", "name", "uuid", "sex", "age", "weight"):
        assert everything.column(name).equals(table.column(name))


def test_kept_columns_of_pandas_are_untouched() -> None:
    n = 400
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "s": rng.integers(0, 2, n),
            "x": pd.Categorical(rng.choice(list("abc"), n)),
            "when": pd.date_range("2020-01-01", periods=n, tz="Europe/Paris"),
            "whole": pd.array(rng.integers(0, 5, n), dtype="Int64"),
            "kind": pd.Categorical(rng.choice(["u", "v"], n)),
        },
        index=rng.permutation(n) + 1000,
    )
    kept = ["when", "whole", "kind"]
    mechanism = design(Joint.from_table(frame, "s", "x"), LIP(0.1)).mechanism
    got = dc.release(frame, mechanism, seed=1, keep="all", uncovered=kept)
    pd.testing.assert_frame_equal(got[kept], frame[kept].reset_index(drop=True))
    assert got.index.tolist() == list(range(n))  # the index is no chosen column


def test_the_same_record_and_value_always_get_the_same_release(table: pa.Table, mechanism: Mechanism) -> None:
    """No averaging over repeated releases, whatever else is in the table and in whichever order."""
    part = table.take(pa.array(np.random.default_rng(1).permutation(ROWS)[:1500]))
    stored = mechanism.in_values(Joint.from_table(table, "ill", "job"))
    for drawn, as_values in ((mechanism, False), (stored, True)):
        options: dict[str, Any] = {"id": "uuid", "as_values": as_values}
        one, other = (
            {row["uuid"]: row["job"] for row in dc.release(table, drawn, seed=seed, **options).to_pylist()}
            for seed in (1, 2)
        )
        some = dc.release(part, drawn, seed=1, notion=LIP(2.0), **options)
        assert all(one[row["uuid"]] == row["job"] for row in some.to_pylist())
        assert one != other


def test_a_fresh_key_is_drawn_each_time(table: pa.Table, mechanism: Mechanism) -> None:
    assert dc.release(table, mechanism).to_pylist() != dc.release(table, mechanism).to_pylist()
    key = dc.ReleaseKey.fresh()
    assert dc.release(table, mechanism, key=key).equals(dc.release(table, mechanism, key=key))


def test_order_is_kept_or_random_by_key(table: pa.Table, mechanism: Mechanism, path: Path, tmp_path: Path) -> None:
    plain = dc.release(table, mechanism, seed=1, id="number", keep=["age"], uncovered=["age"])
    options: dict[str, Any] = {"seed": 1, "id": "number", "keep": ["age"], "uncovered": ["age"]}
    options |= {"shuffle": True, "publish_id": True}
    shuffled = dc.release(table, mechanism, **options)
    assert shuffled.column("number").to_pylist() != plain.column("number").to_pylist()
    assert shuffled.sort_by("number").equals(plain.sort_by("number"))
    dc.release(path, mechanism, output=tmp_path / "o.parquet", **options)
    other = pq.read_table(tmp_path / "o.parquet")  # a file is another table than a frame, so it has another order
    assert other.to_pylist() != shuffled.to_pylist()
    assert by_id(other, "number") == by_id(plain, "number")
    dc.release(path, mechanism, output=tmp_path / "again.parquet", **options)
    assert pq.read_table(tmp_path / "again.parquet").equals(other)


def test_order_tells_neither_the_value_nor_the_entry_drawn(table: pa.Table) -> None:
    """Neighbours of the output share x as often as those of the input; rows of one entry do not cluster."""
    large = awkward_table(60_000, seed=4)
    mechanism = design(Joint.from_table(large, "ill", "job"), LIP(0.2)).mechanism
    for shuffle in (False, True):
        got = dc.release(large, mechanism, seed=3, id="number", shuffle=shuffle, publish_id=True, as_values=False)
        true = dict(zip(large.column("number").to_pylist(), large.column("job").to_pylist()))
        x = pd.factorize(pd.Series([str(true[n]) for n in got.column("number").to_pylist()]))[0]
        y = pd.factorize(pd.Series(got.column("job").to_pylist()))[0]
        for codes in (x, y):
            alike = float((codes[1:] == codes[:-1]).mean())
            chance = float(((np.bincount(codes) / len(codes)) ** 2).sum())
            assert abs(alike - chance) < 6 * np.sqrt(chance / len(codes))


@pytest.mark.parametrize("column", ["job", "ill"])
def test_sorted_input_is_refused(column: str, table: pa.Table, mechanism: Mechanism) -> None:
    ordered = table.sort_by(column)
    with pytest.raises(BrokenNotionError, match=r"order of the rows tells values of '(job|ill)'"):
        dc.release(ordered, mechanism, seed=1, id="number")
    got = dc.release(ordered, mechanism, seed=1, id="number", shuffle=True)
    assert got.equals(dc.release(table, mechanism, seed=1, id="number", shuffle=True))


def test_input_partitioned_by_folders_is_refused(table: pa.Table, mechanism: Mechanism, tmp_path: Path) -> None:
    for k, ill in enumerate((0, 1)):
        part = table.filter(pa.compute.equal(table.column("ill"), ill)).drop_columns(["ill"])
        (tmp_path / "in" / f"ill={ill}").mkdir(parents=True)
        pq.write_table(part, tmp_path / "in" / f"ill={ill}" / f"{k}.parquet")
    with pytest.raises(BrokenNotionError, match="order of the rows"):
        dc.release(tmp_path / "in", mechanism, seed=1, output=tmp_path / "out.parquet")
    options = {"seed": 1, "id": "number", "shuffle": True, "publish_id": True}
    dc.release(tmp_path / "in", mechanism, output=tmp_path / "out.parquet", **options)
    got = pq.read_table(tmp_path / "out.parquet")
    assert by_id(got, "number") == by_id(dc.release(table, mechanism, seed=1, id="number"), "number")


def test_unknown_values_stop_or_are_suppressed(table: pa.Table, mechanism: Mechanism) -> None:
    jobs = table.column("job").to_pylist()
    jobs[3], jobs[4] = "spy", "king"
    strange = table.set_column(table.schema.get_field_index("job"), "job", pa.array(jobs))
    with pytest.raises(UnseenSymbolError, match=r"2 value\(s\) of job in 2 row") as error:
        dc.release(strange, mechanism, seed=1, id="number")
    assert "spy" not in str(error.value)
    done = run(Request.of(strange, mechanism, seed=1, id="number", unseen="suppress", notion=LIP(0.4)))
    nulled = table.set_column(table.schema.get_field_index("job"), "job", pa.array(
        [None if job in ("spy", "king") else job for job in jobs]
    ))  # fmt: skip
    assert done.table.equals(dc.release(nulled, mechanism, seed=1, id="number", notion=LIP(0.4)))
    assert done.checked.suppressed_rows == 2
    like = dc.release(strange, mechanism, seed=1, id="number", unseen="suppress", suppress_as="it's", notion=LIP(0.4))
    assert like.column("job")[0].as_py() == done.table.column("job")[0].as_py()
    with pytest.raises(InputError, match="itself unknown"):
        dc.release(strange, mechanism, seed=1, unseen="suppress", suppress_as="nobody")


def test_a_table_on_which_the_promise_fails_is_not_released(mechanism: Mechanism, tmp_path: Path) -> None:
    other = awkward_table(ROWS, seed=9)
    ill = np.asarray(other.column("job").fill_null("?").combine_chunks().dictionary_encode().indices) % 2
    skewed = other.set_column(other.schema.get_field_index("ill"), "ill", pa.array(ill))
    pq.write_table(skewed, tmp_path / "in.parquet")
    with pytest.raises(BrokenNotionError, match="nothing was released"):
        dc.release(tmp_path / "in.parquet", mechanism, seed=1, output=tmp_path / "out.parquet")
    assert files_in(tmp_path) == {"in.parquet"}


def test_without_s_the_design_must_be_trusted(table: pa.Table, mechanism: Mechanism, tmp_path: Path) -> None:
    blind = table.drop_columns(["ill"])
    with pytest.raises(ColumnNotFoundError, match="--trust-design"):
        dc.release(blind, mechanism, seed=1)
    whole = dc.release(table, mechanism, seed=1, id="number")
    assert dc.release(blind, mechanism, seed=1, id="number", trust_design=True).equals(whole)
    pq.write_table(blind, tmp_path / "in.parquet")
    dc.release(tmp_path / "in.parquet", mechanism, seed=1, output=tmp_path / "o.parquet", trust_design=True)
    stated = dc.Certificate.from_json(tmp_path / "o.parquet.certificate.json")
    assert stated["checked_on"] == "the design only (trusted)"
    assert stated["achieved"] is None
    assert not dc.verify(stated)
    reads = mechanisms(table)["conditional reporting"]
    with pytest.raises(ColumnNotFoundError, match="reads the sensitive column"):
        dc.release(blind, reads, seed=1, trust_design=True)


def test_ids_must_be_unique_and_given(table: pa.Table, mechanism: Mechanism) -> None:
    for column, values, message in (
        ("number", [1, *range(1, ROWS)], "repeats: 1 rows"),
        ("number", [10**15, 10**15, *range(2, ROWS)], "repeats: 1 rows"),
        ("name", ["a", "a", *map(str, range(2, ROWS))], "repeats: 1 rows"),
        ("name", [None, *map(str, range(1, ROWS))], "null in 1 rows"),
    ):
        damaged = table.set_column(table.schema.get_field_index(column), column, pa.array(values))
        with pytest.raises(UnusableColumnError, match=message):
            dc.release(damaged, mechanism, seed=1, id=column)
    with pytest.raises(UnusableColumnError, match="integers or text"):
        dc.release(table, mechanism, seed=1, id="weight")
    with pytest.raises(InputError, match="cannot be the id"):
        dc.release(table, mechanism, seed=1, id="job")
    with pytest.raises(InputError, match="no stable order"):
        dc.release(pl.from_arrow(table).lazy(), mechanism, seed=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": ["job"]}, "published as drawn only"),
        ({"keep": ["ill"]}, "--publish-sensitive"),
        ({"keep": ["nothing"]}, "no column 'nothing'"),
        ({"keep": "age"}, "list of columns"),
        ({"keep": ["age"], "uncovered": ["nothing"]}, "no column 'nothing'"),
        ({"keep": ["age"], "uncovered": ["sex"]}, "named as uncovered and not kept"),
        ({"keep": ["age"], "uncovered": "age"}, "list of columns"),
        ({"keep": ["age"], "audit": False}, "no option 'audit'"),
        ({"keep": ["age"], "rename": "AGE"}, "called"),
        ({"engine": "pandas"}, "engine must be"),
        ({"unseen": "drop"}, "unseen must be"),
        ({"colour": 1}, "no option 'colour'"),
        ({"key": b"short"}, "32 bytes"),
        ({"master": "local"}, "engine spark"),
    ],
)
def test_wrong_options_are_refused(
    options: dict[str, Any], message: str, table: pa.Table, mechanism: Mechanism
) -> None:
    with pytest.raises(InputError, match=message):
        dc.release(table, mechanism, **options)


def test_sensitive_columns_are_published_only_on_demand(table: pa.Table, mechanism: Mechanism) -> None:
    got = run(Request.of(table, mechanism, seed=1, keep=["ill"], publish_sensitive=True))
    assert got.table.column_names == ["job", "ill"]
    assert got.beside.uncovered == ({"column": "ill", "values": 2, "reason": "it is sensitive itself"},)


def test_several_columns_need_a_name(table: pa.Table) -> None:
    both = mechanisms(table)["two columns"]
    with pytest.raises(InputError, match="--as"):
        dc.release(table, both, seed=1, as_values=False)
    assert dc.release(table, both, seed=1, rename="work").column_names == ["work"]
    with pytest.raises(InputError, match="one column for each attribute"):
        dc.release(table, mechanisms(table)["attributes"], seed=1, rename="work")


def test_a_mechanism_without_a_promise_is_not_released(table: pa.Table) -> None:
    bare = Mechanism.from_blocks(Joint.from_table(table, "ill", "job"), [0] * 8)
    with pytest.raises(InputError, match="no privacy notion"):
        dc.release(table, bare)
    assert dc.release(table, bare, notion=dc.PerfectPrivacy()).num_rows == ROWS


def test_outputs_that_cannot_be_are_refused(table: pa.Table, mechanism: Mechanism, path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    (tmp_path / "old.parquet").write_text("precious")
    (tmp_path / "many").mkdir()
    pq.write_table(table, tmp_path / "many" / "a.parquet")
    for source, output, message in (
        (path, path, "the input itself"),
        (path, tmp_path / "old.parquet", "exists already"),
        (path, tmp_path / "no" / "out.parquet", "no directory"),
        (path, tmp_path / "out.xlsx", "should end in"),
        (tmp_path / "many" / "*.parquet", tmp_path / "many" / "out.parquet", "part of the input"),
        (tmp_path / "many", tmp_path / "many" / "out.csv", "part of the input"),
        (path, None, "name the output"),
    ):
        with pytest.raises(InputError, match=message):
            dc.release(source, mechanism, seed=1, output=output)
    assert path.read_bytes() == before
    assert (tmp_path / "old.parquet").read_text() == "precious"
    with pytest.raises(InputError, match="the input itself"):
        dc.release(path, mechanism, seed=1, output=path, force=True)
    dc.release(path, mechanism, seed=1, output=tmp_path / "old.parquet", force=True)
    assert pq.read_table(tmp_path / "old.parquet").num_rows == ROWS
    assert not [name for name in files_in(tmp_path) if "tmp" in name]


def test_a_table_of_another_type_is_explained(table: pa.Table, mechanism: Mechanism) -> None:
    numbers = table.set_column(table.schema.get_field_index("job"), "job", pa.array(range(ROWS)))
    with pytest.raises(DataError):
        dc.release(numbers, mechanism, seed=1, id="number")


def test_memory_can_be_limited(path: Path, mechanism: Mechanism, tmp_path: Path) -> None:
    dc.release(path, mechanism, seed=1, output=tmp_path / "a.parquet", memory_limit="200MB")
    dc.release(path, mechanism, seed=1, output=tmp_path / "b.parquet")
    assert pq.read_table(tmp_path / "a.parquet").equals(pq.read_table(tmp_path / "b.parquet"))
    assert not [name for name in files_in(tmp_path) if name.startswith(".")]


@pytest.mark.parametrize("name", ["discreet_y00", "Discreet_U0", "discreet_id", "discreet_row", "file_row_number"])
def test_columns_cannot_take_the_place_of_the_draw(
    name: str, table: pa.Table, mechanism: Mechanism, tmp_path: Path
) -> None:
    """An engine that finds two columns of one name takes the first, which would be the user's."""
    strange = table.append_column(name, pa.array(["0" * 15] * ROWS))
    pq.write_table(strange, tmp_path / "in.parquet")
    with pytest.raises((InputError, UnusableColumnError), match="name that"):
        dc.release(tmp_path / "in.parquet", mechanism, seed=1, id="number", output=tmp_path / "o.parquet")
    with pytest.raises((InputError, UnusableColumnError), match="name that"):
        dc.release(strange, mechanism, seed=1, id="number", keep="all")
    with pytest.raises(InputError, match="name that"):
        dc.release(table, mechanism, seed=1, rename=name)


def test_no_file_that_is_written_is_another_one(
    table: pa.Table, mechanism: Mechanism, path: Path, tmp_path: Path
) -> None:
    before = path.read_bytes()
    output = tmp_path / "o.parquet"
    for private in (path, output, tmp_path / "o.parquet.certificate.json", tmp_path / "o.parquet.codebook.json"):
        with pytest.raises(InputError, match=r"different names|would replace|the input itself"):
            dc.release(path, mechanism, seed=1, output=output, private_certificate=private, force=True)
    assert path.read_bytes() == before
    assert files_in(tmp_path) == {"in.parquet"}
    named = tmp_path / "x.csv.codebook.json"
    named.write_bytes(path.read_bytes())
    with pytest.raises(InputError, match="would replace"):
        dc.release(named, mechanism, seed=1, output=tmp_path / "x.csv")
    assert named.read_bytes() == before


def test_values_in_order_are_refused_even_when_all_differ(mechanism: Mechanism) -> None:
    rng = np.random.default_rng(1)
    numbers = pa.table({"x": np.arange(1_500), "s": rng.integers(0, 2, 1_500)})
    merged = Mechanism.from_blocks(Joint.from_table(numbers, "s", "x"), [0] * 1_500)
    with pytest.raises(BrokenNotionError, match="values rise or fall along it"):
        dc.release(numbers, merged, seed=1, notion=dc.PerfectPrivacy())
    mixed = numbers.take(pa.array(rng.permutation(1_500)))
    assert dc.release(mixed, merged, seed=1, notion=dc.PerfectPrivacy()).num_rows == 1_500


def test_zero_has_one_sign() -> None:
    frame = pa.table({"x": [0.0, -0.0, 1.0, 2.0] * 30, "s": [0, 1, 1] * 40})
    joint = Joint.from_table(frame, "s", "x")
    assert joint.useful == (0.0, 1.0, 2.0)
    assert dc.release(frame, design(joint, LIP(0.3)).mechanism, seed=1, shuffle=True).num_rows == 120


def test_relations_and_readers_are_written_and_certified(table: pa.Table, mechanism: Mechanism, tmp_path: Path) -> None:
    import duckdb

    for number, source in enumerate((duckdb.from_arrow(table), table.to_reader(), pl.from_arrow(table).lazy())):
        output = tmp_path / f"{number}.parquet"
        dc.release(source, mechanism, key=bytes(32), id="number", output=output)
        assert dc.verify(f"{output}.certificate.json", table, output, key=bytes(32))


def test_a_key_of_a_strange_type_is_refused(table: pa.Table, mechanism: Mechanism) -> None:
    with pytest.raises(InputError, match="got int"):
        dc.release(table, mechanism, key=5)
