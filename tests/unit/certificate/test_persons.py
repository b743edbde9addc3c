"""Several records of one person: the promise for all labels together, against sums by hand."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet import LIP, Joint, Mechanism, design
from discreet.certificate.persons import check_persons
from discreet.certificate.record import sealed
from discreet.errors import BrokenNotionError, InputError, UnusableColumnError
from discreet.mechanism.product import ProductMechanism
from discreet.releasing import Request, run
from discreet.tables import open_table


def visits(persons: int, most: int, seed: int, tilt: float = 0.15, *, household: bool = False) -> pa.Table:
    """Each person with up to some records, whose values lean a little towards s, which the records share or not."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(persons), rng.integers(1, most + 1, persons))
    s = rng.integers(0, 2, len(who)) if household else rng.integers(0, 2, persons)[who]
    x = (rng.random(len(who)) < 0.5 + tilt * (2 * s - 1)).astype(int) + 2 * rng.integers(0, 2, len(who))
    order = rng.permutation(len(who))
    return pa.table({"who": [f"p{k}" for k in who[order]], "s": s[order], "x": x[order]})


def by_hand(table: pa.Table, mechanism: Mechanism) -> tuple[float, float]:
    """The extreme log-lifts of records, and of persons whose records share s, by loops and fractions."""
    held: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in table.to_pylist():
        held[row["who"]].append((row["s"], row["x"]))
    rows = {x: [(y, Fraction(int(w), 2**60)) for y, w in enumerate(mechanism.weights[k]) if w]
            for k, x in enumerate(mechanism.useful)}  # fmt: skip
    of_record: dict[tuple[Any, Any], Fraction] = defaultdict(Fraction)
    of_person: dict[tuple[Any, Any], Fraction] = defaultdict(Fraction)
    for records in held.values():
        values = sorted({x for _, x in records})
        for chosen in itertools.product(*(rows[x] for x in values)):
            label = {x: y for x, (y, _) in zip(values, chosen)}
            weight = math.prod((w for _, w in chosen), start=Fraction(1))
            outcome = tuple(sorted(label[x] for _, x in records))
            for s, x in records:
                of_record[s, (label[x], outcome)] += weight
            if len({s for s, _ in records}) == 1:
                of_person[records[0][0], outcome] += weight
    lifts: list[Fraction] = []
    for cells in (of_record, of_person):
        prior: Counter[Any] = Counter()
        mass: Counter[Any] = Counter()
        for (s, o), p in cells.items():
            prior[s] += p
            mass[o] += p
        total = sum(prior.values())
        lifts += [cells.get((s, o), Fraction(0)) * total / (prior[s] * mass[o]) for s in prior for o in mass]
    return math.log(max(lifts)), -math.inf if min(lifts) == 0 else math.log(min(lifts))


def checked(table: pa.Table, mechanism: Mechanism, notion: dc.Notion) -> Any:
    with open_table(table) as opened:
        return check_persons(opened, mechanism, notion, person="who", sensitive=["s"], suppressed={})


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans())
def test_all_labels_of_a_person_are_decided_together(seed: int, most: int, household: bool) -> None:
    table = visits(40, most, seed, household=household)
    joint = Joint.from_table(table, "s", "x")
    mechanism = design(joint, LIP(0.4), "grr").mechanism
    high, low = by_hand(table, mechanism)
    found = checked(table, mechanism, dc.ALIP(eps_lower=None, eps_upper=high + 0.1))
    assert found.how == "exactly"
    assert high <= float(found.lifts["log_max_lift"]) <= high + 0.0011
    assert low == float(found.lifts["log_min_lift"]) or low - 0.0011 <= float(found.lifts["log_min_lift"]) <= low
    if high > 0.02:
        with pytest.raises(BrokenNotionError, match="together have log-lifts"):
            checked(table, mechanism, dc.ALIP(eps_lower=None, eps_upper=high - 0.01))


def test_one_record_each_is_the_promise_itself() -> None:
    table = visits(500, 1, 3)
    mechanism = design(Joint.from_table(table, "s", "x"), LIP(0.2)).mechanism
    found = checked(table, mechanism, LIP(0.2))
    assert (found.persons, found.most_records, found.how) == (500, 1, "exactly")


def test_what_cannot_be_listed_is_bounded() -> None:
    rng = np.random.default_rng(1)
    table = pa.table({"who": np.repeat(np.arange(200), 12), "s": np.repeat(rng.integers(0, 2, 200), 12),
                      "x": np.tile(np.arange(12), 200)})  # fmt: skip
    flat = np.full((12, 3), 1 / 3) + np.array([[0.004, -0.002, -0.002]]) * (np.arange(12) % 2)[:, None]
    joint = Joint.from_table(table, "s", "x")
    mechanism = Mechanism.from_channel(flat, useful=joint.useful, useful_columns=["x"], sensitive_columns=["s"])
    found = checked(table, mechanism, LIP(0.3))
    ratio = math.log((1 / 3 + 0.004) / (1 / 3))
    assert found.how == "by a bound"
    assert 12 * ratio <= float(found.lifts["log_max_lift"]) < 12 * ratio + 0.01
    with pytest.raises(BrokenNotionError, match="are only known to have"):
        checked(table, mechanism, LIP(0.1))


def test_persons_are_released_verified_and_stated(tmp_path: Path) -> None:
    table = visits(3_000, 3, 5, tilt=0.05)
    pq.write_table(table, tmp_path / "in.parquet")
    mechanism = design(Joint.from_table(table, "s", "x"), LIP(0.05)).mechanism
    with pytest.raises(UnusableColumnError, match="--person who"):
        dc.release(table, mechanism, id="who", seed=1)
    key = dc.ReleaseKey.fresh()
    given_ = {"key": key, "notion": LIP(0.3), "output": tmp_path / "o.parquet", "force": True}
    with pytest.raises(InputError, match="--shuffle"):
        dc.release(table, mechanism, person="who", seed=1)
    for options in ({"person": "who", "shuffle": True}, {"person": "who", "keep": ["who"], "shuffle": True}):
        certificate = run(Request.of(tmp_path / "in.parquet", mechanism, **given_, **options)).certificate
        assert certificate is not None
        assert certificate["persons"]["persons"] == 3_000
        got = pq.read_table(tmp_path / "o.parquet")
        assert ("who" in got.column_names) == ("keep" in options)
        verdict = dc.verify(certificate, tmp_path / "in.parquet", tmp_path / "o.parquet", key=key)
        assert verdict.level == "redrawn", verdict
        forged = certificate.to_dict()
        forged["persons"] = {**forged["persons"], "log_max_lift": "0.001"}
        assert dc.verify(sealed(forged), tmp_path / "in.parquet").level == "failed"
        if "keep" in options:  # equal values of a person share their draw
            values: dict[str, set[Any]] = defaultdict(set)
            labels: dict[str, set[Any]] = defaultdict(set)
            for who, x in zip(table["who"].to_pylist(), table["x"].to_pylist()):
                values[who].add(x)
            for who, y in zip(got["who"].to_pylist(), got["x"].to_pylist()):
                labels[who].add(y)
            assert all(len(labels[who]) <= len(values[who]) for who in values)


def test_a_random_order_does_not_keep_a_person_together(tmp_path: Path) -> None:
    table = visits(2_000, 3, 6, tilt=0.05)
    mechanism = design(Joint.from_table(table, "s", "x"), LIP(0.05)).mechanism
    got = dc.release(table, mechanism, person="who", keep=["who"], shuffle=True, seed=3, notion=LIP(0.5))
    who = got.column("who").to_pylist()
    assert sum(a == b for a, b in itertools.pairwise(who)) < 0.02 * len(who)


def test_records_of_one_person_break_what_each_keeps() -> None:
    table = visits(3_000, 3, 7, tilt=0.3)
    mechanism = design(Joint.from_table(table, "s", "x"), LIP(0.3)).mechanism
    dc.release(table, mechanism, seed=1)
    with pytest.raises(BrokenNotionError, match="persons have several records"):
        dc.release(table, mechanism, seed=1, person="who", shuffle=True)


def test_a_household_with_every_secret_is_not_empty() -> None:
    """All have the same set of sensitive values, and shared draws tie the records together."""
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(300), 40)
    s = np.tile([0, 1], 6_000)
    x = np.where(rng.random(12_000) < 0.6, s, 1 - s) + 2 * rng.integers(0, 2, 12_000)
    order = rng.permutation(12_000)
    table = pa.table({"who": who[order], "s": s[order], "x": x[order]})
    mechanism = design(Joint.from_table(table, "s", "x"), LIP(0.1)).mechanism
    dc.release(table, mechanism, seed=1)
    with pytest.raises(BrokenNotionError, match="300 of 300 persons have several records"):
        dc.release(table, mechanism, seed=1, person="who", shuffle=True)


def test_the_id_of_a_person_may_be_named_twice() -> None:
    table = visits(500, 1, 8, tilt=0.02)
    mechanism = design(Joint.from_table(table, "s", "x"), LIP(0.05)).mechanism
    once = dc.release(table, mechanism, seed=1, person="who", shuffle=True)
    assert dc.release(table, mechanism, seed=1, person="who", id="who", shuffle=True).equals(once)


def test_columns_beside_persons_are_named() -> None:
    table = visits(500, 2, 8, tilt=0.02)
    table = table.append_column("z", pa.array(np.arange(table.num_rows) % 2))
    mechanism = design(Joint.from_table(table, "s", "x"), LIP(0.05)).mechanism
    options: dict[str, Any] = {"seed": 1, "person": "who", "notion": LIP(0.5), "keep": ["z"], "shuffle": True}
    with pytest.raises(BrokenNotionError, match="over all of its records"):
        dc.release(table, mechanism, **options)
    assert dc.release(table, mechanism, uncovered=["z"], **options).column_names == ["x", "z"]


def test_spark_finds_the_same(spark: Any) -> None:
    table = visits(300, 3, 9)
    mechanism = design(Joint.from_table(table, "s", "x"), LIP(0.3)).mechanism
    notion = dc.MaxLift(3.0)
    assert checked(spark.createDataFrame(table.to_pandas()), mechanism, notion) == checked(table, mechanism, notion)


def test_attributes_of_a_person_share_their_draws() -> None:
    """Equal values of one attribute get one draw, whatever stands beside them: two labels rule equal values out."""
    rng = np.random.default_rng(2)
    s = rng.integers(0, 2, 1_000)
    first = rng.integers(0, 2, 1_000)
    second = np.where(s == 1, first, 1 - first)  # ill persons have the same a twice, others both
    who = np.concatenate([np.arange(1_000)] * 2)
    table = pa.table({"who": who, "s": np.tile(s, 2), "a": np.concatenate([first, second]),
                      "b": np.repeat([0, 1], 1_000)})  # fmt: skip
    about = {"sensitive_columns": ["s"]}
    part = Mechanism.from_channel([[0.6, 0.4], [0.4, 0.6]], useful=[0, 1], useful_columns=["a"], **about)
    other = Mechanism.from_channel([[0.5, 0.5], [0.5, 0.5]], useful=[0, 1], useful_columns=["b"], **about)
    mechanism = ProductMechanism(
        [part, other], list(itertools.product([0, 1], [0, 1])), useful_columns=["a", "b"], **about
    )
    with open_table(table) as opened, pytest.raises(BrokenNotionError, match="from -inf to"):
        check_persons(opened, mechanism, LIP(1.0), person="who", sensitive=["s"], suppressed={})


def test_unknown_values_that_are_treated_alike_share_their_draw() -> None:
    table = pa.table({"who": np.repeat(np.arange(200), 2), "s": np.repeat(np.arange(200) % 2, 2),
                      "x": ["a", "b"] * 200})  # fmt: skip
    mechanism = Mechanism.from_channel(
        [[0.5, 0.5]], useful=["a"], released=["0", "1"], useful_columns=["x"], sensitive_columns=["s"]
    )
    with open_table(table) as opened:
        found = check_persons(opened, mechanism, LIP(0.1), person="who", sensitive=["s"], suppressed={("b",): ("a",)})
    assert (found.lifts["log_max_lift"], found.how) == ("0.000", "exactly")


def test_the_order_of_persons_is_tested_on_all_of_their_values() -> None:
    """The first half has {a, b}, the second {a, c}."""
    rng = np.random.default_rng(5)
    who = np.repeat(np.arange(2_000), 2)
    s = np.where(np.arange(4_000) % 2 == 0, "a", np.where(who < 1_000, "b", "c"))
    order = rng.permutation(4_000)
    table = pa.table({"who": who[order], "s": s[order], "x": rng.integers(0, 2, 4_000)})
    about = {"useful_columns": ["x"], "sensitive_columns": ["s"], "notion": LIP(0.3).to_dict()}
    mechanism = Mechanism.from_channel(np.full((2, 1), 1.0), useful=[0, 1], **about)
    assert dc.release(table, mechanism, seed=1, person="who", shuffle=True).column_names == ["x"]
    with pytest.raises(BrokenNotionError, match="order of the published id 'who'"):
        dc.release(table, mechanism, seed=1, person="who", shuffle=True, keep=["who"])


def test_few_persons_are_few_however_many_records_they_have(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    who = np.repeat(np.arange(40), 25)
    s = np.repeat(rng.permutation([0, 1] * 20), 25)
    order = rng.permutation(1_000)
    table = pa.table({"who": who[order], "s": s[order], "x": [f"value {k}" for k in who[order]]})
    joint = Joint.from_table(table, "s", "x")
    mechanism = Mechanism.from_channel(np.full((40, 1), 1.0), useful=joint.useful, useful_columns=["x"],
                                       sensitive_columns=["s"], notion=LIP(0.3).to_dict())  # fmt: skip
    options: dict[str, Any] = {"seed": 1, "person": "who", "shuffle": True, "force": True}
    dc.release(table, mechanism, output=tmp_path / "o.parquet", **options)
    public = dc.Certificate.from_json(tmp_path / "o.parquet.certificate.json")
    assert public["private_mechanism"]
    assert public["mechanism"] is None
    with pytest.raises(InputError, match="fewer than 5 persons"):
        dc.release(table, mechanism, output=tmp_path / "o.parquet", public_counts=True, **options)


def test_the_order_of_persons_is_tested_on_how_often_they_have_a_value() -> None:
    """All persons have both values, the first half one of them three times, the second the other."""
    rng = np.random.default_rng(5)
    who = np.repeat(np.arange(2_000), 4)
    s = np.where(who < 1_000, np.tile([0, 0, 0, 1], 2_000), np.tile([0, 1, 1, 1], 2_000))
    order = rng.permutation(8_000)
    table = pa.table({"who": who[order], "s": s[order], "x": rng.integers(0, 2, 8_000)})
    about = {"useful_columns": ["x"], "sensitive_columns": ["s"], "notion": LIP(0.3).to_dict()}
    mechanism = Mechanism.from_channel(np.full((2, 1), 1.0), useful=[0, 1], **about)
    with pytest.raises(BrokenNotionError, match="order of the published id 'who'"):
        dc.release(table, mechanism, seed=1, person="who", shuffle=True, keep=["who"])


def test_one_person_of_another_kind_does_not_switch_the_check_off() -> None:
    rng = np.random.default_rng(7)
    number = np.where(rng.random(1_000) < 0.5, 1, 3)
    s = (rng.random(1_000) < np.where(number == 3, 0.7, 0.3)).astype(int)  # how many records tells s
    who = np.repeat(np.arange(1_000), number)
    mixed = {"who": [*who, 1_000, 1_000], "s": [*s[who], 0, 1], "x": [0] * (len(who) + 2)}
    about = {"useful_columns": ["x"], "sensitive_columns": ["s"]}
    mechanism = Mechanism.from_channel([[1.0]], useful=[0], **about)
    for table in (pa.table({"who": who, "s": s[who], "x": np.zeros(len(who), int)}), pa.table(mixed)):
        with pytest.raises(BrokenNotionError, match="persons have several records"):
            checked(table, mechanism, LIP(0.3))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.__setitem__("order", "input"),
        lambda d: (d["columns"].__setitem__("id", "x"), d["columns"]["published"].append("x")),
        lambda d: d["persons"].__setitem__("log_min_lift", "-2.192000"),  # more than the notion allows
    ],
)
def test_what_a_release_refuses_is_refused_in_certificates_too(change: Any, tmp_path: Path) -> None:
    table = visits(500, 2, 8, tilt=0.02)
    mechanism = design(Joint.from_table(table, "s", "x"), LIP(0.05)).mechanism
    options: dict[str, Any] = {"person": "who", "shuffle": True, "notion": LIP(0.5), "seed": 1}
    certificate = run(Request.of(table, mechanism, output=tmp_path / "o.csv", **options)).certificate
    assert certificate is not None
    assert dc.verify(certificate).level == "verified"
    data = certificate.to_dict()
    change(data)
    assert "statements" in {finding.subject for finding in dc.verify(sealed(data)).failures}


@pytest.mark.parametrize("values", [12, 2], ids=["bounded", "listed"])
def test_a_secret_that_only_mixed_persons_have(values: int) -> None:
    who = np.repeat(np.arange(100), values)
    s = np.repeat(np.arange(100) % 2, values)
    s[-values : -values // 2] = 2  # the last person has a secret that nobody else has, and another one
    table = pa.table({"who": who, "s": s, "x": np.tile(np.arange(values), 100)})
    joint = Joint.from_table(table, "s", "x")
    about = {"useful_columns": ["x"], "sensitive_columns": ["s"]}
    mechanism = Mechanism.from_channel(np.full((values, 3), 1 / 3), useful=joint.useful, **about)
    found = checked(table, mechanism, LIP(0.1))  # equal numbers of records and a flat mechanism tell nothing
    assert found.how == ("exactly" if values == 2 else "by a bound")
    assert {abs(float(end)) for end in found.lifts.values()} <= {0.0, 0.001}


def test_a_bound_for_persons_holds_both_sides_of_a_promise() -> None:
    """Numbers of records that make a secret nine times less likely, and none more likely than allowed."""
    rng = np.random.default_rng(0)
    rows = []
    for k, number in enumerate(rng.permutation(1_400).tolist()):
        secret = "ill" if k < 60 or 1_000 <= k < 1_002 else "well"
        rows += [(f"p{number:05d}", secret, v) for v in range(10)]
        rows += [(f"p{number:05d}", secret, int(rng.integers(0, 10)))] * (k >= 1_000)
    order = rng.permutation(len(rows))
    person, secrets, value = zip(*(rows[k] for k in order.tolist()))
    table = pa.table({"person": person, "s": secrets, "x": value})
    channel = np.full((10, 10), 0.1) + np.eye(10) * 1e-4
    mechanism = dc.Mechanism.from_channel(
        channel / channel.sum(axis=1, keepdims=True),
        useful=list(range(10)),
        released=[f"v{k}" for k in range(10)],
        useful_columns=("x",),
        sensitive_columns=("s",),
    )
    options = {"person": "person", "shuffle": True, "keep": ["person"], "seed": 1}
    with pytest.raises(BrokenNotionError, match="of a person"):
        dc.release(table, mechanism, notion=dc.LIP(0.4), **options)
    assert dc.release(table, mechanism, notion=dc.MaxLift(0.4), **options).num_rows == len(rows)
