"""Secrets: labels of sensitive columns, together or each, cut and gathered."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from discreet.twins.records import Records
from discreet.twins.secret import RARER, Secret, SecretRule, quantile_edges
from discreet.twins.store import packed, state_of, unpacked

TABLE = pa.table({"a": ["x", "y", None, "x"], "b": [1, 2, 30, None]})


def labels(rule: SecretRule, turns: list[int] | None = None) -> list[str]:
    found = rule.read(TABLE, np.array(turns or [0] * 4))
    return [found.labels[code] for code in found.codes]


def test_values_are_labels_and_null_is_one() -> None:
    assert labels(SecretRule(("a",))) == ["x", "y", "null", "x"]
    assert labels(SecretRule(("b",), edges={"b": (2.0, 10.0)})) == ["< 2", "[2, 10)", ">= 10", "null"]


def test_columns_are_one_secret_together_or_one_each() -> None:
    assert labels(SecretRule(("a", "b"))) == ["(x, 1)", "(y, 2)", "(null, 30)", "(x, null)"]
    assert labels(SecretRule(("a", "b"), each=True), [0, 1, 0, 1]) == ["a: x", "b: 2", "a: null", "b: null"]


def test_rare_labels_are_gathered() -> None:
    assert labels(SecretRule(("a",), gathered=("y", "null"))) == ["x", RARER, RARER, "x"]


def test_a_rule_comes_back() -> None:
    rule = SecretRule(("a", "b"), True, {"b": (2.0,)}, ("y",))
    assert SecretRule.from_dict(rule.to_dict()) == rule


def test_quantiles_never_leave_a_part_empty() -> None:
    assert quantile_edges(np.array([1.0] * 90 + [5.0] * 10), 5) == ()
    assert quantile_edges(np.array([1.0] * 50 + [5.0] * 50), 2) == (5.0,)
    assert quantile_edges(np.array([np.nan]), 5) == ()
    assert quantile_edges(np.arange(100.0), 4) == (25.0, 50.0, 75.0)


def test_numbers_of_records_are_stored_by_their_digests() -> None:
    digests = np.array([b"c" * 64, b"a" * 64, b"c" * 64, b"b" * 64])
    records = Records.of(None, digests, np.array([1, 1, 2, 1]))
    assert records.tuples.tolist() == [2, 0, 2, 1]
    assert records.canonical.tolist() == [2, 0, 3, 1]
    state = state_of(records, np.array([7, 5, 7, 6]))
    assert state.tolist() == [5, 6, 7]
    assert unpacked(packed(state, "<u2"), "<u2", 3).tolist() == [5, 6, 7]
    with pytest.raises(ValueError, match="damaged"):
        unpacked("nonsense!", "<u2", 3)


def test_secrets_are_codes_of_sorted_labels() -> None:
    found = Secret.of(np.array(["b", "a", "b"], dtype=object))
    assert (found.codes.tolist(), found.labels) == ([1, 0, 1], ("a", "b"))
