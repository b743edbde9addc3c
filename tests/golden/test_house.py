"""The stored behaviour: releases on every engine, claims, exported SQL and designs are what they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from tests.golden import make_house
from tests.releases import awkward_table

#: A design in floats may differ in its last digits from one machine to the next.
LAST_DIGITS = 1e-7


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    return json.loads(make_house.STORED.read_text())  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return awkward_table(make_house.ROWS)


@pytest.fixture(scope="module")
def made(table: pa.Table, stored: dict[str, Any]) -> dict[str, dc.Mechanism]:
    return make_house.stored_mechanisms(table, stored)


def test_releases(table: Any, made: Any, stored: Any, tmp_path: Path) -> None:
    assert dict(make_house.released(table, made, tmp_path)) == stored["releases"]


def test_releases_by_spark(table: Any, made: Any, stored: Any, spark: Any, tmp_path: Path) -> None:
    assert dict(make_house.released_by_spark(table, made, spark, tmp_path)) == stored["spark"]


def test_claims(table: Any, made: Any, stored: Any, tmp_path: Path) -> None:
    found = json.loads(json.dumps(dict(make_house.certified(table, made, tmp_path))))
    assert found == stored["certificates"]


def test_exports(made: Any, stored: Any, tmp_path: Path) -> None:
    assert dict(make_house.exported(made, tmp_path)) == stored["exports"]


def test_designs(stored: Any) -> None:
    found = dict(make_house.designed())
    assert list(found) == list(stored["designs"])
    for name, figures in found.items():
        before = stored["designs"][name]
        assert (figures["status"], figures["released"]) == (before["status"], before["released"]), name
        assert figures["nmi"] == pytest.approx(before["nmi"], abs=LAST_DIGITS), name
        assert figures["bound"] == pytest.approx(before["bound"], abs=LAST_DIGITS), name
