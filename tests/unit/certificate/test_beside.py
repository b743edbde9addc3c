"""What is published beside a release, against sums in fractions over every record."""

from __future__ import annotations

import datetime
import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet import LDP, LIP, SRLIP, Joint, Mechanism, design
from discreet._support.errors import BrokenNotionError, DiscreetWarning, InputError
from discreet._support.numeric import DENOMINATOR
from discreet.certificate import exposure, lifts
from discreet.certificate.beside import Beside, audit_beside
from discreet.releasing import Request, run
from discreet.tables import open_table
from tests.releases import mechanisms

LAX = LIP(500.0)


def audited(table: Any, mechanism: Mechanism, notion: dc.Notion, kept: list[str], **options: Any) -> Beside:
    given = {"sensitive": ["s"], "uncovered": [], "suppressed": {}, **options}
    with open_table(table, places=True) as source:
        return audit_beside(source, mechanism, notion, kept=kept, **given)


def weights_of(mechanism: Mechanism, s: Any, x: Any) -> dict[str, Fraction]:
    """P(y | s, x), out of the draws that a release makes."""
    values = x if isinstance(x, tuple) else (x,)
    inputs = dict(zip((*mechanism.sensitive_columns, *mechanism.useful_columns), (s, *values)))
    result = {"": Fraction(1)}
    for draw in mechanism.draws():
        row = draw.symbols.index(tuple(inputs[column] for column in draw.inputs))
        entries = range(draw.starts[row], draw.starts[row + 1])
        own = {draw.labels[k]: Fraction(int(draw.weights[k]), DENOMINATOR) for k in entries}
        result = {y + "|" + own_y: p * own[own_y] for y, p in result.items() for own_y in own}
    return result


def lifts_by_hand(table: pa.Table, mechanism: Mechanism | None, kept: list[str]) -> list[list[Fraction]]:
    """Lifts of every value of S at every symbol (z, y), record by record."""
    mass: Counter[tuple[Any, Any]] = Counter()
    useful = () if mechanism is None else mechanism.useful_columns
    records = zip(*(table.column(column).to_pylist() for column in ("s", *useful, *kept)))
    for (s, *values), n in Counter(records).items():
        x, z = tuple(values[: len(useful)]), tuple(values[len(useful) :])
        if mechanism is None:
            mass[s, z] += n
            continue
        for y, p in weights_of(mechanism, s, x if len(x) > 1 else x[0]).items():
            mass[s, (z, y)] += n * p
    prior: Counter[Any] = Counter()
    symbol: Counter[Any] = Counter()
    for (s, y), p in mass.items():
        prior[s] += p
        symbol[y] += p
    total = sum(prior.values())
    return [[Fraction(mass[s, y]) * total / (prior[s] * symbol[y]) for s in prior] for y in symbol if symbol[y]]


def texts(lifts: list[list[Fraction]]) -> dict[str, str]:
    """Thousandths of a nat, away from zero; floats are enough since no log-lift but 0 is a thousandth."""
    flat = list(itertools.chain.from_iterable(lifts))

    def step(value: Fraction, rounded: Any) -> str:
        if value == 0:
            return "-inf"
        log = math.log(value.numerator) - math.log(value.denominator)
        return f"{rounded(1000 * log) / 1000 if value != 1 else 0:.3f}"

    return {"log_max_lift": step(max(flat), math.ceil), "log_min_lift": step(min(flat), math.floor)}


def keeps_by_hand(notion: dc.Notion, lifts: list[list[Fraction]]) -> bool:
    if isinstance(notion, LDP):
        return all(min(row) > 0 and math.log(max(row) / min(row)) <= notion.epsilon for row in lifts)
    assert isinstance(notion, LIP)
    flat = list(itertools.chain.from_iterable(lifts))
    return min(flat) > 0 and max(-math.log(min(flat)), math.log(max(flat))) <= notion.epsilon


def made(kind: str, table: pa.Table) -> Mechanism:
    one = Joint.from_table(table, "s", "x")
    if kind == "channel":
        return design(one, LIP(0.4), "grr").mechanism
    if kind == "merging":
        return design(one, LIP(0.4), "subset-merging").mechanism
    if kind == "reads S":
        return design(one, LIP(0.4), "conditional-reporting").mechanism
    return design(Joint.from_table(table, "s", ["x", "v"]), SRLIP(0.8), "independent-attributes").mechanism


def random_table(seed: int, rows: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    s = rng.integers(0, rng.integers(2, 4), rows)
    return pa.table(
        {
            "s": s,
            "x": [f"x{k}" for k in (s + rng.integers(0, 3, rows)) % 3],
            "v": rng.integers(0, 2, rows),
            "a": pa.array([None if k == 2 else k for k in rng.integers(0, 3, rows).tolist()], pa.int64()),
            "b": [f"b{k}" for k in (s * rng.integers(0, 2, rows) + rng.integers(0, 2, rows)) % 3],
        }
    )


@given(
    st.integers(0, 10**6),
    st.integers(60, 150),
    st.sampled_from(["channel", "merging", "reads S", "product"]),
    st.sampled_from([["a"], ["b"], ["a", "b"]]),
    st.sampled_from([LIP(0.3), LIP(0.9), LIP(3.0), LDP(1.0), LDP(4.0), LAX]),
)
def test_columns_and_release_together_are_measured_in_fractions(
    seed: int, rows: int, kind: str, kept: list[str], notion: dc.Notion
) -> None:
    table = random_table(seed, rows)
    mechanism = made(kind, table)
    wanted = lifts_by_hand(table, mechanism, kept)
    combinations = len({tuple(r[c] for c in (*kept, *mechanism.useful_columns)) for r in table.to_pylist()})
    if 5 * combinations > rows or not keeps_by_hand(notion, wanted):
        with pytest.raises(BrokenNotionError) as error:
            audited(table, mechanism, notion, kept)
        span = "between {log_min_lift} and {log_max_lift} nats, so nothing was released".format(**texts(wanted))
        assert (span in str(error.value)) == (5 * combinations <= rows)
        return
    assert audited(table, mechanism, notion, kept) == Beside(tuple(kept), texts(wanted), ())


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(["channel", "reads S"]))
def test_blocks_and_single_queries_change_nothing(seed: int, kind: str) -> None:
    """Combinations a few at a time, and every set of columns counted by itself."""
    table = random_table(seed, 200)
    mechanism = made(kind, table)
    whole = audited(table, mechanism, LAX, ["a", "b"], uncovered=["b"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exposure, "CELLS_AT_ONCE", 1)
        patch.setattr(exposure, "COUNTED_AT_ONCE", 0)
        assert audited(table, mechanism, LAX, ["a", "b"], uncovered=["b"]) == whole
        patch.setattr(lifts, "UNSURE", 1.0)  # every rounding in integers
        assert audited(table, mechanism, LAX, ["a", "b"], uncovered=["b"]) == whole
    (row,) = whole.uncovered
    assert row["alone"] == texts(lifts_by_hand(table, None, ["b"]))
    assert row["with_release"] == texts(lifts_by_hand(table, mechanism, ["b"]))


def xor_table(rows: int = 400) -> pa.Table:
    """S is a XOR b, and tells nothing of a, b, c or x alone: every combination occurs equally often."""
    cells = list(itertools.product((0, 1), (0, 1), (0, 1), "pq"))
    chosen = np.random.default_rng(5).permutation(np.repeat(np.arange(len(cells)), rows // len(cells)))
    a, b, c, x = zip(*(cells[k] for k in chosen))
    return pa.table({"s": [i ^ j for i, j in zip(a, b)], "x": x, "a": a, "b": b, "c": c})


@pytest.fixture(scope="module")
def xor() -> tuple[pa.Table, Mechanism]:
    table = xor_table()
    return table, Mechanism.from_channel(
        [[0.75, 0.25], [0.25, 0.75]],
        useful=["p", "q"],
        released=["p", "q"],
        notion=LIP(0.5).to_dict(),
        sensitive_columns=["s"],
        useful_columns=["x"],
    )


def test_what_tells_only_together_is_refused(xor: tuple[pa.Table, Mechanism]) -> None:
    table, mechanism = xor
    for column in "abc":
        done = run(Request.of(table, mechanism, seed=1, keep=[column]))
        assert done.beside == Beside((column,), {"log_max_lift": "0.000", "log_min_lift": "0.000"}, ())
    with pytest.raises(BrokenNotionError) as error:
        dc.release(table, mechanism, seed=1, keep=["a", "b", "c"])
    message = str(error.value)
    assert "breaks LIP(0.5): log-lifts between -inf and 0.694 nats" in message
    assert "Each of them alone would be covered" in message
    assert "'a' and 'c' could stay covered" in message
    assert "Leave 'b' out" in message
    assert "design anew" in message
    assert "uncovered=['b'], --uncovered b" in message
    with pytest.warns(DiscreetWarning, match="covers x, a, c; it does not cover b"):
        dc.release(table, mechanism, seed=1, keep=["a", "b", "c"], uncovered=["b"])


def test_what_breaks_alone_is_named(xor: tuple[pa.Table, Mechanism]) -> None:
    table, mechanism = xor
    telling = table.append_column("copy", table.column("s"))
    with pytest.raises(BrokenNotionError) as error:
        dc.release(telling, mechanism, seed=1, keep=["a", "copy"])
    assert "'copy' breaks it alone (log-lifts between -inf and 0.694 nats)" in str(error.value)
    assert "'a' could stay covered" in str(error.value)


def test_an_override_is_stated_and_verified(xor: tuple[pa.Table, Mechanism], tmp_path: Path) -> None:
    table, mechanism = xor
    pq.write_table(table, tmp_path / "in.parquet")
    with pytest.warns(DiscreetWarning, match="covers x, a; it does not cover b"):
        dc.release(
            tmp_path / "in.parquet", mechanism, seed=1, keep=["a", "b"], uncovered=["b"], output=tmp_path / "o.parquet"
        )
    stated = json.loads((tmp_path / "o.parquet.certificate.json").read_text())
    zero = {"log_max_lift": "0.000", "log_min_lift": "0.000"}
    assert stated["covered"] == {"columns": ["a"], **zero}
    reason = "it was taken out of the promise"
    assert stated["not_covered"] == [
        {"column": "b", "values": 2, "reason": reason, "alone": zero, "with_release": zero}
    ]
    assert dc.verify(tmp_path / "o.parquet.certificate.json", tmp_path / "in.parquet", tmp_path / "o.parquet")


def test_a_column_that_a_certificate_forgets_is_found(xor: tuple[pa.Table, Mechanism], tmp_path: Path) -> None:
    table, mechanism = xor
    dc.release(table, mechanism, seed=1, keep=["a", "c"], output=tmp_path / "o.parquet")
    certificate = dc.Certificate.from_json(tmp_path / "o.parquet.certificate.json")
    assert certificate["covered"]["columns"] == ["a", "c"]
    changed = certificate.with_fields(covered={**certificate["covered"], "columns": ["a"]})
    verdict = dc.verify(changed, table, tmp_path / "o.parquet")
    assert not verdict
    assert any(found.subject == "statements" and found.passed is False for found in verdict.findings)


def many_columns(rows: int) -> tuple[pa.Table, Mechanism]:
    rng = np.random.default_rng(3)
    further = {f"c{k}": rng.integers(0, 2 + 4 * k, rows) for k in range(12)}
    table = pa.table({"s": rng.integers(0, 4, rows), "x": rng.integers(0, 8, rows), **further})
    return table, design(Joint.from_table(table, "s", "x"), LIP(0.5), "subset-merging").mechanism


def test_twelve_columns_are_too_many_together() -> None:
    table, mechanism = many_columns(30_000)
    names = [f"c{k}" for k in range(12)]
    with pytest.raises(BrokenNotionError) as error:
        dc.release(table, mechanism, seed=1, keep="all")
    assert "Together: fewer than 5 records for each combination" in str(error.value)
    assert "-0" not in str(error.value).replace("-0.", "")
    done = run(Request.of(table, mechanism, seed=1, keep="all", uncovered=names[1:]))
    assert done.beside.covered == ("c0",)
    assert done.beside.uncovered_columns == tuple(names[1:])
    assert [row["values"] for row in done.beside.uncovered] == [2 + 4 * k for k in range(1, 12)]
    assert all("with_release" in row for row in done.beside.uncovered)


def test_a_set_that_could_stay_is_one_that_does() -> None:
    table, mechanism = many_columns(30_000)
    with pytest.raises(BrokenNotionError) as error:
        run(Request.of(table, mechanism, seed=1, keep="all"))
    out = str(error.value).split("uncovered=[")[1].split("]")[0].replace("'", "").split(", ")
    assert 0 < len(out) < 12
    done = run(Request.of(table, mechanism, seed=1, keep="all", uncovered=out))
    assert len(done.beside.covered) == 12 - len(out)
    for column in out:  # it is as large as can be
        with pytest.raises(BrokenNotionError):
            run(Request.of(table, mechanism, seed=1, keep="all", uncovered=[c for c in out if c != column]))


def test_rare_values_are_not_measured(xor: tuple[pa.Table, Mechanism]) -> None:
    table, mechanism = xor
    strange = table.append_column("street", pa.array(np.arange(table.num_rows) // 2))
    with pytest.raises(BrokenNotionError, match="'street': fewer than 5 records"):
        dc.release(strange, mechanism, seed=1, keep=["a", "street"])
    done = run(Request.of(strange, mechanism, seed=1, keep=["a", "street"], uncovered=["street"]))
    assert done.beside.uncovered == ({"column": "street", "values": 200, "reason": exposure.TOO_MANY},)


def test_what_cannot_be_measured_is_published_by_name_only(
    xor: tuple[pa.Table, Mechanism], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, mechanism = xor
    nested = table.append_column("parts", pa.array([[1, 2]] * table.num_rows))
    with pytest.raises(BrokenNotionError, match=r"'parts': its values are of type BIGINT\[\]"):
        dc.release(nested, mechanism, seed=1, keep=["parts", "a"])
    found = run(Request.of(nested, mechanism, seed=1, keep=["parts", "a"], uncovered=["parts"])).beside
    assert found.covered == ("a",)
    assert [(row["column"], row["values"]) for row in found.uncovered] == [("parts", None)]
    without = table.drop_columns(["s"])
    with pytest.raises(BrokenNotionError, match="no sensitive column"):
        dc.release(without, mechanism, seed=1, keep=["a"], trust_design=True)
    found = run(Request.of(without, mechanism, seed=1, keep=["a"], uncovered=["a"], trust_design=True)).beside
    assert found.to_dict()["covered"] is None
    assert found.uncovered[0]["values"] == 2
    monkeypatch.setattr(exposure, "MOST_CELLS", 4)
    with pytest.raises(BrokenNotionError, match="too many combinations with the sensitive"):
        dc.release(table, mechanism, seed=1, keep=["a"])


def test_conditional_notions_and_bits_cover_nothing_beside() -> None:
    table = random_table(1, 2_000)
    product = made("product", table)
    with pytest.raises(BrokenNotionError, match="speaks of people who know part"):
        dc.release(table, product, seed=1, keep=["a"])
    rng = np.random.default_rng(0)
    wide = pa.table({"s": rng.integers(0, 2, 4_000), "x": rng.integers(0, 30, 4_000), "a": rng.integers(0, 2, 4_000)})
    bits = design(Joint.from_table(wide, "s", "x"), LIP(0.5), "oue").mechanism
    with pytest.raises(BrokenNotionError, match="too many values that the mechanism may release"):
        dc.release(wide, bits, seed=1, keep=["a"])
    found = run(Request.of(wide, bits, seed=1, keep=["a"], uncovered=["a"])).beside
    assert "with_release" not in found.uncovered[0]
    assert found.uncovered[0]["alone"] == texts(lifts_by_hand(wide, None, ["a"]))


def test_few_bits_are_listed() -> None:
    table = random_table(4, 300)
    bits = design(Joint.from_table(table, "s", "x"), LIP(0.9), "oue").mechanism
    found = audited(table, bits, LAX, ["a"])
    same = Mechanism.from_channel(bits.channel, useful=bits.useful, released=bits.released, useful_columns=["x"])
    assert found.lifts == audited(table, same, LAX, ["a"]).lifts


def test_cells_that_readers_can_tell_apart_are_apart(xor: tuple[pa.Table, Mechanism]) -> None:
    """NaN and null, -0 and 0, and letters of both cases under a collation that takes them for equal."""
    table, mechanism = xor
    s = table.column("s").to_pylist()
    for first, second in ((math.nan, None), (0.0, -0.0)):
        cells = pa.array([first if value else second for value in s], pa.float64(), from_pandas=False)
        with pytest.raises(BrokenNotionError, match="'f' breaks it alone"):
            dc.release(table.append_column("f", cells), mechanism, seed=1, keep=["f"])
    with duckdb.connect() as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE t (s BIGINT, x VARCHAR, f VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t SELECT DISTINCT s, x, 'a' FROM given")  # found first, it would stand for both
        connection.execute("INSERT INTO t SELECT s, x, CASE WHEN s = 1 THEN 'A' ELSE 'a' END FROM given")
        asked: dict[str, Any] = {"sensitive": ["s"], "kept": ["f"], "uncovered": [], "suppressed": {}}
        with (
            open_table(connection.table("t")) as source,
            pytest.raises(BrokenNotionError, match="'f' breaks it alone"),
        ):
            audit_beside(source, mechanism, LIP(0.5), **asked)


@pytest.mark.parametrize("spelled", ["ILL", "Ill"])
def test_columns_are_protected_in_whatever_case(spelled: str) -> None:
    table = random_table(2, 300).select(["s", "x", "b"]).rename_columns(["ill", "job", "b"])
    mechanism = design(Joint.from_table(table, "ill", "job"), LIP(0.4), "grr").mechanism
    other = table.rename_columns([spelled, "job", "b"])
    asked: dict[str, Any] = {"seed": 1, "trust_design": True, "uncovered": ["b"]}
    assert dc.release(other, mechanism, keep="all", **asked).column_names == ["job", "b"]
    with pytest.raises(InputError, match="--publish-sensitive"):
        dc.release(other, mechanism, keep=["b", spelled], **asked)
    done = run(Request.of(other, mechanism, keep="all", publish_sensitive=True, **asked))
    assert {row["column"]: row["reason"] for row in done.beside.uncovered}[spelled] == "it is sensitive itself"
    with pytest.raises(InputError, match="cannot be the id"):
        dc.release(other, mechanism, id=spelled, keep="all", **asked)


def test_unknown_values_are_measured_as_what_they_are_drawn_like() -> None:
    table = random_table(7, 400)
    known = table.filter(pa.compute.not_equal(table["x"], "x2"))
    for kind in ("channel", "reads S"):
        mechanism = made(kind, known)
        treated = pa.table(
            {**{c: table[c] for c in "svab"}, "x": [("x0" if x == "x2" else x) for x in table["x"].to_pylist()]}
        )
        asked: dict[str, Any] = {"seed": 1, "unseen": "suppress", "suppress_as": "x0", "notion": LAX}
        found = run(Request.of(table, mechanism, keep=["a"], **asked)).beside
        assert found.lifts == texts(lifts_by_hand(treated, mechanism, ["a"]))


def test_long_tables_say_about_how_many_values(
    xor: tuple[pa.Table, Mechanism], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, mechanism = xor
    monkeypatch.setattr("discreet.certificate.beside.LONG_TABLE", 100)
    found = run(Request.of(table, mechanism, seed=1, keep=["b"], uncovered=["b"])).beside
    assert found.uncovered[0]["values"] == "about 2"


def test_dates_and_times_are_measured(xor: tuple[pa.Table, Mechanism]) -> None:
    table, mechanism = xor
    days = [datetime.datetime(2024, 1, 1 + a, tzinfo=datetime.UTC) for a in table.column("a").to_pylist()]
    dated = table.append_column("day", pa.array(days)).append_column("on", pa.array([d.date() for d in days]))
    assert run(Request.of(dated, mechanism, seed=1, keep=["day", "on"])).beside.covered == ("day", "on")
    with pytest.raises(BrokenNotionError, match=r"-inf and 0\.694"):
        dc.release(dated, mechanism, seed=1, keep=["b", "day"])


def test_every_kind_of_mechanism_is_measured_or_said_not_to_be() -> None:
    from tests.releases import awkward_table, rename_of

    table = awkward_table(4_000)
    for name, mechanism in mechanisms(table).items():
        kept = ["sex"] if "sex" not in mechanism.useful_columns else ["ill2"]
        strange = table.append_column("ill2", pa.array(np.random.default_rng(0).integers(0, 2, 4_000)))
        found = run(Request.of(strange, mechanism, seed=1, keep=kept, uncovered=kept, rename=rename_of(mechanism)))
        measured = "with_release" in found.beside.uncovered[0]
        assert measured == (name != "attributes")


def test_spark_finds_the_same(xor: tuple[pa.Table, Mechanism], spark: Any) -> None:
    table, mechanism = xor
    wider = table.append_column("w", pa.array([None if k % 3 else k / 7 for k in range(table.num_rows)]))
    wider = wider.append_column("id", pa.array(range(table.num_rows)))
    frame = spark.createDataFrame(wider.to_pandas())
    asked: dict[str, Any] = {"seed": 1, "id": "id", "keep": ["a", "b", "c", "w"], "uncovered": ["b", "w"]}
    here = run(Request.of(wider.to_pandas(), mechanism, **asked)).beside
    assert here.uncovered[1]["values"] == 134
    assert run(Request.of(frame, mechanism, **asked)).beside == here
    with pytest.raises(BrokenNotionError, match=r"between -inf and 0\.694 nats"):
        run(Request.of(frame, mechanism, seed=1, id="id", keep=["a", "b"]))
