"""The draw: known answers, thresholds, and lookup tables that give the same entry as the cumulated weights."""

from __future__ import annotations

import hashlib
import itertools

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import Mechanism
from discreet._support.numeric import DENOMINATOR
from discreet.drawing import thresholds
from discreet.drawing.entries import entry_table
from discreet.drawing.keys import DrawKeys
from discreet.drawing.lookup import symbol_rows
from discreet.drawing.statement import Statement, joined_tables, symbol_columns
from discreet.drawing.thresholds import KNOWN_ANSWERS, WIDE, draw_value, draws_of, threshold_text
from discreet.mechanism import ChannelMechanism
from discreet.tables.dialect import DUCKDB


def test_known_answers_are_sha256() -> None:
    for subkey, row, record, u in KNOWN_ANSWERS:
        message = subkey.encode() + f"{row:06x}".encode() + record.encode()
        assert hashlib.sha256(message).hexdigest()[:15] == u == draw_value(subkey, row, record)


@given(st.integers(0, DENOMINATOR - 1), st.integers(1, DENOMINATOR))
def test_thresholds_compare_like_numbers(u: int, cumulated: int) -> None:
    assert (f"{u:015x}" < threshold_text(cumulated)) == (u < cumulated)


@given(
    st.lists(st.integers(0, 2**20), min_size=1, max_size=40).filter(any),
    st.integers(0, DENOMINATOR - 1),
)
def test_lookup_tables_give_the_entry_of_the_cumulated_weights(shares: list[int], u: int) -> None:
    """Entry k is drawn for cumulated(k - 1) <= u < cumulated(k), however the table is cut."""
    exact = [share * DENOMINATOR // sum(shares) for share in shares]
    exact[int(np.argmax(exact))] += DENOMINATOR - sum(exact)
    mechanism = Mechanism.from_weights(np.array([exact]), useful=["x"], useful_columns=["x"])
    (draw,) = draws_of(mechanism)
    cumulated = list(itertools.accumulate(w for w in exact if w))
    wanted = mechanism.released[next(k for k, total in enumerate(cumulated) if u < total)]
    lookup = draw.lookup()
    text = f"{u:015x}"
    (row,) = [row for row in lookup.rows if row[1] == text[: lookup.digits]]
    thresholds, labels = row[2 : 1 + lookup.width], row[1 + lookup.width :]
    found = next(y for h, y in zip((*thresholds, "g"), labels) if text < h)
    assert found == wanted


def test_long_rows_are_cut_short() -> None:
    n = 300
    weights = np.full((1, n), DENOMINATOR // n)
    weights[0, 0] += DENOMINATOR - weights.sum()
    (draw,) = draws_of(Mechanism.from_weights(weights, useful=["x"], useful_columns=["x"]))
    assert draw.draw.widest == n
    assert draw.lookup().width <= WIDE


def test_a_mechanism_without_columns_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="useful_columns"):
        draws_of(Mechanism.from_channel([[1.0]]))


@pytest.mark.parametrize("is_searched", [False, True])
def test_thirty_digits_decide_in_values(is_searched: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a threshold that shares 29 digits with u all thirty are compared: in Python, in SQL and by judges."""
    if is_searched:
        monkeypatch.setattr(thresholds, "MOST_CELLS", 0)
    subkey, record, whole = "0" * 32, "somebody", DENOMINATOR**2
    digest = hashlib.sha256((subkey + "000000" + record).encode()).hexdigest()
    u = int(digest[:30], 16)
    for first, wanted in ((u, "b"), (u + 1, "a")):  # drawn where u lies below the threshold
        entries = ([0, 0], [0, 1], np.array([first, whole - first], dtype=object))
        mechanism = ChannelMechanism(entries, ["x"], ["a", "b"], denominator=whole, useful_columns=["x"])
        (draw,) = draws_of(mechanism)
        assert (draw.digits, draw.label(subkey, 0, record)) == (30, wanted)
        table = entry_table(draw.draw).to_pydict()
        inside = [y for y, low, high in zip(table["y"], table["low"], table["high"]) if low <= digest[:30] < high]
        assert inside == [wanted]
        (joined,) = joined_tables([draw])
        assert joined.lookup is not None
        assert joined.lookup.is_searched == is_searched
        keys = DrawKeys((subkey,), "")
        connection = duckdb.connect()
        rows = symbol_rows(mechanism, joined, keys, {})
        columns = ["i0", *symbol_columns(joined)]
        connection.register("symbols", pa.table(dict(zip(columns, map(list, zip(*rows))))))
        connection.execute(f"CREATE TABLE {joined.symbols} AS SELECT * FROM symbols")
        if joined.is_apart:
            connection.register("apart", joined.lookup.arrow)
            connection.execute(f"CREATE TABLE {joined.thresholds} AS SELECT * FROM apart")
        source = f"(SELECT 'x' AS x, '{record}' AS id)"
        query = Statement(DUCKDB, source, {"x": "x"}, "id", (joined,), ((0, "y"),)).text()
        assert connection.sql(query).fetchall() == [(wanted,)]
