"""Several releases by mechanisms of all kinds, beside sums over everything that are written from the definition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import InputError, UnseenSymbolError
from discreet.mechanism import BitMechanism, ProductMechanism, SensitiveMechanism

ONE = 2**60

Chance = Callable[[Any, Any], list[Fraction]]  # of everything that can be released, given s and x


def random_row(rng: np.random.Generator, size: int) -> list[int]:
    """Weights that sum to 2**60, some of them zero."""
    parts = rng.integers(0, 6, size) * int(rng.integers(1, 1000))
    parts[rng.integers(size)] += 1
    row = [int(part) * ONE // int(parts.sum()) for part in parts]
    row[int(np.argmax(row))] += ONE - sum(row)
    return row


def of_columns(*columns: str) -> dict[str, Any]:
    return {"sensitive_columns": ["s"], "useful_columns": list(columns)}


def a_channel(rng: np.random.Generator, column: str, values: Sequence[Any]) -> tuple[dc.Mechanism, Chance]:
    rows = [random_row(rng, 3) for _ in values]
    rows[0][:] = [ONE // 2, ONE // 4, ONE // 4]  # everything can be released
    made = dc.Mechanism.from_weights(np.array(rows), useful=values, **of_columns(column))
    place = {value: k for k, value in enumerate(values)}
    return made, lambda s, x: [Fraction(w, ONE) for w in rows[place[x]]]


def one_that_reads(rng: np.random.Generator, column: str, values: Sequence[Any]) -> tuple[dc.Mechanism, Chance]:
    rows = {(s, x): random_row(rng, 3) for s in SECRETS for x in values}
    rows[SECRETS[0], values[0]] = [ONE // 2, ONE // 4, ONE // 4]
    weights = np.array([[rows[s, x] for x in values] for s in SECRETS])
    joint = dc.Joint.from_counts(np.ones((len(SECRETS), len(values)), int), sensitive=SECRETS, useful=values)
    made = SensitiveMechanism.from_cells(joint, weights, ["a", "b", "c"], **of_columns(column))
    return made, lambda s, x: [Fraction(w, ONE) for w in rows[s, x]]


def bits(rng: np.random.Generator, column: str, values: Sequence[Any]) -> tuple[dc.Mechanism, Chance]:
    other, true = sorted(int(w) for w in rng.integers(1, ONE, 2))
    p, q = Fraction(true, ONE), Fraction(other, ONE)

    def chance(s: Any, x: Any) -> list[Fraction]:
        sets = itertools.product((0, 1), repeat=len(values))
        one = [p if value == x else q for value in values]
        return [math.prod(c if bit else 1 - c for c, bit in zip(one, drawn)) for drawn in sets]

    return BitMechanism(values, true, other, **of_columns(column)), chance


def a_product(rng: np.random.Generator, *columns: str) -> tuple[dc.Mechanism, Chance]:
    rows = [[random_row(rng, 2), [ONE // 4, 3 * ONE // 4]] for _ in columns]
    parts = [dc.Mechanism.from_weights(np.array(own), useful=["u", "v"]) for own in rows]
    made = ProductMechanism(parts, list(itertools.product("uv", repeat=len(columns))), **of_columns(*columns))

    def chance(s: Any, x: Any) -> list[Fraction]:
        own = [[Fraction(w, ONE) for w in table["uv".index(value)]] for table, value in zip(rows, x)]
        return [math.prod(drawn) for drawn in itertools.product(*own)]

    return made, chance


SECRETS = ["no", "yes"]
ONES, OTHERS = [1, 2, 3], ["k", "l"]


def people(seed: int) -> list[dict[str, Any]]:
    """A few records, of which single columns and pairs tell about S."""
    rng = np.random.default_rng(seed)
    columns = {"a": rng.choice(ONES, 40), "b": rng.choice(OTHERS, 40)}
    columns |= {"u": rng.choice(["u", "v"], 40), "v": rng.choice(["u", "v"], 40)}
    told = rng.random(40) < 0.2 + 0.15 * columns["a"] + 0.1 * (columns["u"] == columns["v"])
    columns["s"] = np.where(told, "yes", "no")
    return [dict(zip(columns, map(np.ndarray.item, map(np.asarray, row)))) for row in zip(*columns.values())]


def lifts(records: Sequence[dict[str, Any]], *seen: tuple[Sequence[str], Chance]) -> list[list[Fraction]]:
    """P(s | all that is seen) / P(s) of everything that can be seen, summed over all records."""
    prior = {s: Fraction(sum(r["s"] == s for r in records), len(records)) for s in SECRETS}
    masses: dict[tuple[int, ...], dict[str, Fraction]] = {}
    for record in records:
        values = [record[c[0]] if len(c) == 1 else tuple(record[k] for k in c) for c, _ in seen]
        chances = [chance(record["s"], x) for (_, chance), x in zip(seen, values)]
        for places in itertools.product(*(range(len(one)) for one in chances)):
            own = masses.setdefault(places, dict.fromkeys(SECRETS, Fraction(0)))
            own[record["s"]] += math.prod(one[k] for one, k in zip(chances, places))
    totals = [(own, sum(own.values())) for own in masses.values()]
    return sorted({tuple(own[s] / total / prior[s] for s in SECRETS) for own, total in totals if total})


def lifts_of(joint: dc.Joint) -> list[list[Fraction]]:
    """The same of a joint of S and all that is seen."""
    masses = joint.masses.tolist()
    prior = [Fraction(sum(row), sum(map(sum, masses))) for row in masses]
    columns = [column for column in zip(*masses) if sum(column)]
    return sorted({tuple(Fraction(m, sum(column)) / p for m, p in zip(column, prior)) for column in columns})


MAKERS: dict[str, tuple[tuple[str, ...], Callable[[np.random.Generator], tuple[dc.Mechanism, Chance]]]] = {
    "channel": (("a",), lambda rng: a_channel(rng, "a", ONES)),
    "other channel": (("b",), lambda rng: a_channel(rng, "b", OTHERS)),
    "reads S": (("a",), lambda rng: one_that_reads(rng, "a", ONES)),
    "other reads S": (("b",), lambda rng: one_that_reads(rng, "b", OTHERS)),
    "bits": (("a",), lambda rng: bits(rng, "a", ONES)),
    "product": (("u", "v"), lambda rng: a_product(rng, "u", "v")),
}
PAIRS = [
    ("reads S", "channel"),
    ("reads S", "other channel"),
    ("channel", "reads S"),
    ("other channel", "reads S"),
    ("reads S", "other reads S"),
    ("bits", "channel"),
    ("bits", "other channel"),
    ("channel", "bits"),
    ("product", "channel"),
    ("channel", "product"),
    ("product", "reads S"),
    ("bits", "product"),
]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_two_releases_of_any_kind_tell_what_all_sums_say(first: str, second: str, seed: int) -> None:
    rng, records = np.random.default_rng(seed), people(seed)
    (before, (one, chance)), (then, (two, other)) = ((MAKERS[k][0], MAKERS[k][1](rng)) for k in (first, second))
    earlier = dc.Earlier.from_table(pa.Table.from_pylist(records), "s", list(then), [one])
    assert earlier.mechanisms == (one,)
    assert lifts_of(earlier.through()) == lifts(records, (before, chance))
    assert lifts_of(earlier.through(two)) == lifts(records, (before, chance), (then, other))


@pytest.mark.parametrize("first", ["channel", "reads S", "bits"])
def test_releases_of_the_same_values_need_no_table(first: str) -> None:
    rng, records = np.random.default_rng(5), people(5)
    one, chance = MAKERS[first][1](rng)
    joint = dc.Joint.from_table(pa.Table.from_pylist(records), "s", "a")
    both = dc.Earlier.of(joint, [one, one]).through(one)
    assert lifts_of(both) == lifts(records, *[(("a",), chance)] * 3)


def test_a_design_after_one_that_reads_the_secret_is_certified(tmp_path: Any) -> None:
    rng = np.random.default_rng(2)
    joint = dc.Joint.from_counts(rng.integers(20, 90, (2, 4)), useful=list("abcd"))
    for method in ("conditional-reporting", "optimal-with-sensitive", "oue"):
        first = dc.design(joint, dc.LIP(0.2), method).mechanism
        found = dc.design(joint, dc.LIP(0.5), after=[first])
        certificate = dc.certify(found)
        assert dc.verify(certificate).level == "verified"
        then = dc.certify(first, joint, dc.LIP(0.9), after=[found.mechanism])
        assert dc.verify(then).level == "verified"


def test_what_reads_another_secret_or_knows_too_few_is_refused() -> None:
    rng, table = np.random.default_rng(1), pa.Table.from_pylist(people(1))
    reads, _ = one_that_reads(rng, "a", ONES)
    with pytest.raises(InputError, match="reads s, and not u"):
        dc.Earlier.from_table(table, "u", "b", [reads])
    third = pa.Table.from_pylist([*people(1), people(1)[0] | {"s": "perhaps"}])
    with pytest.raises(UnseenSymbolError, match="the earlier release of a is by a mechanism that does not know some"):
        dc.Earlier.from_table(third, "s", "b", [reads])
    wide = BitMechanism(range(40), ONE // 2, ONE // 4)
    joint = dc.Joint.from_counts(np.ones((2, 40), int))
    with pytest.raises(InputError, match="too many outcomes"):
        dc.Earlier.of(joint, [wide])
