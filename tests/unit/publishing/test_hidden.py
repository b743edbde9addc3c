"""Secrets behind what an order of values hides: weekdays, last digits, single codes among very many."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.publishing.features import Encoder, features_of
from discreet.publishing.parts import part_of, parts_of
from discreet.publishing.trees import boosting
from discreet.twins.cells import cells_of

N = 12_000


def _with_noise(rng: np.random.Generator, likely: np.ndarray) -> pa.Array:
    return pa.array(np.where(rng.random(len(likely)) < np.where(likely, 0.75, 0.15), "ill", "well"))


def weekdays(rng: np.random.Generator) -> pa.Table:
    days = np.datetime64("2020-01-01") + rng.integers(0, 2000, N)
    is_sunday = (days.astype("datetime64[D]").view("int64") - 3) % 7 == 0  # day 3 of 1970 was a Sunday
    return pa.table({"day": pa.array(days.astype("datetime64[D]")), "secret": _with_noise(rng, is_sunday)})


def written_weekdays(rng: np.random.Generator) -> pa.Table:
    table = weekdays(rng)
    texts = [day.strftime("%d.%m.%Y") for day in table.column("day").to_pylist()]
    return table.set_column(0, "day", pa.array(texts))


def last_digits(rng: np.random.Generator) -> pa.Table:
    numbers = rng.integers(10_000, 90_000, N)
    return pa.table({"amount": numbers, "secret": _with_noise(rng, numbers % 10 == 7)})


def single_codes(rng: np.random.Generator) -> pa.Table:
    codes = rng.integers(0, 700, N)
    names = np.array([f"{k:03d}{chr(97 + k % 26)}" for k in range(700)])
    return pa.table({"code": names[codes], "secret": _with_noise(rng, rng.permutation(700)[codes] < 150)})


def written_numbers(rng: np.random.Generator) -> pa.Table:
    numbers, is_short = rng.integers(10, 90, N), rng.random(N) < 0.3
    texts = [f"{n}.5" if short else f"{n}.50" for n, short in zip(numbers.tolist(), is_short.tolist())]
    return pa.table({"amount": texts, "secret": _with_noise(rng, is_short)})


def minutes(rng: np.random.Generator) -> pa.Table:
    at = np.datetime64("2024-01-01T00:00") + rng.integers(0, 500_000, N)
    late = at.view("int64") % 60 < 20
    return pa.table({"at": pa.array(at.astype("datetime64[us]")), "secret": _with_noise(rng, late)})


def odd_codes(rng: np.random.Generator) -> pa.Table:
    """Mostly numbers, as in lists of diagnoses: codes with a letter are odd, and each is one of its own."""
    numbers = rng.integers(100, 999, N)
    odd = rng.choice([22, 23, 24, 50, 55, 60, 66], N)
    is_odd = rng.random(N) < 0.3
    texts = np.where(is_odd, np.char.add("V", odd.astype(str)), numbers.astype(str))
    return pa.table({"code": texts, "secret": _with_noise(rng, is_odd & (odd < 30))})


def behind_dates(rng: np.random.Generator) -> pa.Table:
    days = (np.datetime64("2024-01-01") + rng.integers(0, 300, N)).astype(str)
    room = rng.integers(1, 4, N)
    texts = [f"{day} room {number}" for day, number in zip(days.tolist(), room.tolist())]
    return pa.table({"seen": texts, "secret": _with_noise(rng, room == 2)})


def seconds(rng: np.random.Generator) -> pa.Table:
    by_machine = rng.random(N) < 0.3
    at = np.datetime64("2024-01-01T00:00:00") + rng.integers(0, 300_000, N) * 60
    at = at + np.where(by_machine, 0, rng.integers(1, 60, N))
    return pa.table({"at": pa.array(at.astype("datetime64[us]")), "secret": _with_noise(rng, by_machine)})


def exactness(rng: np.random.Generator) -> pa.Table:
    is_told, weight = rng.random(N) < 0.3, rng.normal(75, 15, N)
    shown = np.where(is_told, np.round(weight, 1), np.round(weight, 6))
    return pa.table({"weight": shown, "secret": _with_noise(rng, is_told)})


def two_dates(rng: np.random.Generator) -> pa.Table:
    """Half of the dates year first, half day first: old people are ill."""
    days = np.datetime64("1930-01-01") + rng.integers(0, 30_000, N)
    shown = [
        day.isoformat() if first else day.strftime("%d.%m.%Y")
        for day, first in zip(days.astype("datetime64[D]").tolist(), (rng.random(N) < 0.5).tolist())
    ]
    return pa.table({"born": shown, "secret": _with_noise(rng, days < np.datetime64("1955-01-01"))})


def two_numbers(rng: np.random.Generator) -> pa.Table:
    amounts = np.exp(rng.normal(6, 1.5, N))
    shown = [
        f"${amount:,.2f}" if first else f"{amount:,.2f} €".translate(str.maketrans(".,", ",."))
        for amount, first in zip(amounts.tolist(), (rng.random(N) < 0.5).tolist())
    ]
    return pa.table({"cost": shown, "secret": _with_noise(rng, amounts > 1000)})


def words(rng: np.random.Generator) -> pa.Table:
    takes = rng.random(N) < 0.3
    texts = [f"case {k % 700}: {'insulin' if drug else 'water'} on {k % 7}" for k, drug in enumerate(takes.tolist())]
    return pa.table({"note": texts, "secret": _with_noise(rng, takes)})


HIDDEN = [weekdays, written_weekdays, last_digits, single_codes, written_numbers, minutes]
HIDDEN += [odd_codes, behind_dates, seconds, exactness, two_dates, two_numbers, words]


@pytest.mark.parametrize("made", HIDDEN)
def test_what_an_order_hides_is_found_before_and_not_after(made: Callable[[np.random.Generator], pa.Table]) -> None:
    rng = np.random.default_rng(5)
    table = made(rng).append_column("other", pa.array(rng.integers(0, 9, N)))
    published = dc.publish(table, "secret", notion=dc.LIP(0.5, confidence=0.9), seed=2)
    before, after = published.attack.before, published.attack.after
    assert before.log_max_lift > 0.65
    assert published.attack.verdict == "not broken"
    assert after.log_max_lift < 0.7
    assert after.log_min_lift > -0.9


def test_what_is_told_by_dates_and_numbers_in_two_ways_is_bounded_for_whoever_reads_both() -> None:
    """A reader who understands both ways of writing sees no more in twentieths of the numbers than is promised."""
    table = two_numbers(np.random.default_rng(5)).append_column("other", pa.array(np.arange(N) % 9))
    published = dc.publish(table, "secret", notion=dc.LIP(0.5, confidence=0.9), seed=2)
    shown = np.array(cells_of("cost", table.column("cost").take(published.sources)).codes)
    ill = np.asarray(table.column("secret").to_numpy(zero_copy_only=False)) == "ill"
    parts = np.argsort(np.argsort(shown, kind="stable")) * 20 // N
    lifts = np.log([ill[parts == k].mean() / ill.mean() for k in range(20)])
    assert np.abs(lifts).max() < 0.7  # the counts of 600 records are off by about .1


def test_codes_and_numbers_of_two_ways_are_read_as_one() -> None:
    cells = cells_of(
        "cost", pa.array(["$1,234.50", "1.234,50 €", "999", "1.234", "12,5", "odd", "7", "8", "9", "10", "0,5"])
    )
    assert cells.way == "comma or point"
    numbers = dict(zip(cells.values.to_pylist(), cells.numbers.tolist()))
    assert numbers["$1,234.50"] == numbers["1.234,50 €"] == 1234.5
    assert (numbers["1.234"], numbers["12,5"], numbers["7"]) == (1234.0, 12.5, 7.0)
    assert np.isnan(numbers["odd"])
    dates = cells_of("born", pa.array(["1971-03-02", "02.03.1971", "2.3.1971 10:00"]))
    assert dates.way == "year month day or day month year"
    assert len(set(dates.numbers.tolist())) == 1


@given(st.dates(dt.date(1800, 1, 1), dt.date(2200, 12, 31)))
def test_parts_of_dates_are_those_of_the_calendar(day: dt.date) -> None:
    expected = {"weekday": day.weekday(), "month": day.month, "day": day.day}
    written = f"{day.year:04d}-{day.month:02d}-{day.day:02d}"
    for values in (pa.array([day]), pa.array([written]), pa.array([dt.datetime.combine(day, dt.time(13))])):
        cells = cells_of("x", values)
        assert {name: part_of(cells, name)[0] for name in expected} == expected


def test_parts_are_those_that_tell_something() -> None:
    whole, cents = pa.array(range(100, 200)), pa.array([k / 100 for k in range(100, 200)])
    assert parts_of(cells_of("x", whole)) == ("digit at 0", "tens at 0")
    assert parts_of(cells_of("x", cents)) == ("digit at 2", "tens at 2", "cents")
    assert part_of(cells_of("x", cents), "cents").tolist() == [k % 100 for k in range(100, 200)]
    assert parts_of(cells_of("x", pa.array([float(k) * 10 for k in range(100)]))) == ("tens at 0",)  # all end in 0
    assert parts_of(cells_of("x", pa.array(["1,200", "1200", "7"]))) == ("form",)
    long = pa.array([10**17 + k for k in range(50)])
    assert part_of(cells_of("x", long), "digit at 0").tolist() == [k % 10 for k in range(50)]
    clock = cells_of("x", pa.array(["2024-05-03 23:10:00", "2024-05-04T07:05"]))
    assert [part_of(clock, name).tolist() for name in ("hour", "minute")] == [[23, 7], [10, 5]]
    assert parts_of(cells_of("x", pa.array(np.random.default_rng(0).normal(size=50)))) == ()
    assert parts_of(cells_of("x", pa.array([1, 2, 3]))) == ()
    assert parts_of(cells_of("x", pa.array([None, None], pa.timestamp("us")))) == ()


def test_parts_of_a_later_table_are_those_of_the_first() -> None:
    encoder = Encoder([cells_of("x", pa.array(range(100)))])
    found = encoder.features([cells_of("x", pa.array([17, 5]))]).matrix
    assert found.tolist() == [[17, 7, 1], [5, 5, 0]]
    prices = Encoder([cells_of("x", pa.array([k / 100 for k in range(100)]))])
    assert prices.features([cells_of("x", pa.array([3.0, 4.0]))]).matrix.tolist() == [[3, 0, 0, 0], [4, 0, 0, 0]]


def test_no_record_s_own_label_is_part_of_its_shares() -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 400, 4000)
    features = features_of([cells_of("code", pa.array([f"v{k:03d}" for k in codes]))])
    assert next(kind.is_many for kind in features.kinds)
    secret = rng.integers(0, 2, 4000)
    seen = []
    for own in (0, 1):
        given = secret.copy()
        given[0] = own
        model = boosting(features, 1)
        inner = model._make
        model._make = lambda *facts, _inner=inner: _Spy(_inner(*facts), seen)  # type: ignore[assignment, misc]
        model.fit(features.matrix, given)
    first, second = seen
    assert (first[0] == second[0])[~np.isnan(first[0])].all()
    assert (first != second).any()  # that of other records with its value


class _Spy:
    """Keeps what a model is trained on."""

    def __init__(self, model: object, seen: list[np.ndarray]) -> None:
        self.model, self.seen, self.classes_ = model, seen, np.arange(2)

    def fit(self, matrix: np.ndarray, codes: np.ndarray) -> _Spy:
        self.seen.append(matrix.copy())
        return self


NEAR = {
    "integers": lambda s: pa.array([2**60 + int(bit) for bit in s]),
    "large integers": lambda s: pa.array([2**63 + int(bit) for bit in s], pa.uint64()),
    "decimals": lambda s: pa.array([Decimal(f"123456789012345678.0{int(bit)}") for bit in s], pa.decimal128(20, 2)),
    "times": lambda s: pa.array(1_700_000_000_000_000_000 + s, pa.timestamp("ns")),
    "texts": lambda s: pa.array([f"100000000000000000{int(bit)}" for bit in s]),
    "floats": lambda s: pa.array(np.where(s == 1, np.nextafter(0.3, 1), 0.3)),
}


@pytest.mark.parametrize("make", NEAR.values(), ids=NEAR)
def test_numbers_with_more_digits_than_floats_are_told_apart(make: Callable[[np.ndarray], pa.Array]) -> None:
    rng = np.random.default_rng(0)
    secret = (rng.random(4000) < 0.4).astype(np.int64)
    table = pa.table({"age": rng.integers(20, 70, 4000), "x": make(secret), "secret": secret})
    assert dc.attack(table, table.select(["age", "x"]), "secret", dc.LIP(0.5)).verdict == "broken"
    found = dc.publish(table, "secret", notion=dc.LIP(0.5, confidence=0.9), seed=1)
    assert found.attack.verdict != "broken"
    moved = np.asarray(found.sources)
    shown = np.where(secret[moved] == 1)[0]
    assert abs(np.log(secret[shown].mean() / secret.mean())) < 0.5  # what x tells of its row's own secret
