"""The walk of a row: rooms call downwards only, the steps come in order, and every connection keeps its limits."""

from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet import LIP, Joint, design
from discreet.releasing import pipeline
from discreet.releasing import prepared as prepared_module
from discreet.tables import session
from tests.releases import awkward_table

SOURCE = str(Path(dc.__file__).parent) + os.sep

#: From the ground up: a function may call into its own room and into those before it.
ROOMS = [
    "_support", "core", "mechanism", "measures", "notions", "tables", "drawing", "certificate", "releasing",
]  # fmt: skip


@pytest.fixture
def prepared(tmp_path: Path) -> tuple[Path, dc.Mechanism]:
    table = awkward_table(3_000)
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=1_000)
    return tmp_path, design(Joint.from_table(table, "ill", "job"), LIP(0.3)).mechanism


def released(prepared: tuple[Path, dc.Mechanism], **options: Any) -> None:
    folder, mechanism = prepared
    given: dict[str, Any] = {"id": "number", "keep": ["sex", "age"], "uncovered": ["sex", "age"], "seed": 1, **options}
    dc.release(folder / "in.parquet", mechanism, output=folder / "out.parquet", **given)


def room_of(frame: FrameType | None) -> str | None:
    name = "" if frame is None else frame.f_code.co_filename
    if not name.startswith(SOURCE) or frame is None or frame.f_code.co_name == "<module>":
        return None
    return name.removeprefix(SOURCE).split(os.sep)[0]


def test_no_room_calls_upwards(prepared: tuple[Path, dc.Mechanism]) -> None:
    upwards: set[tuple[str, str]] = set()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            callee, caller = room_of(frame), room_of(frame.f_back)
            if callee in ROOMS and caller in ROOMS and ROOMS.index(callee) > ROOMS.index(caller):
                upwards.add((f"{caller}: {frame.f_back.f_code.co_name}", f"{callee}: {frame.f_code.co_name}"))

    sys.setprofile(watch)
    threading.setprofile(watch)
    try:
        released(prepared, private_certificate=prepared[0] / "private.json")
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    # Exact masses are made when they are first asked for, by a function that whoever built the joint gave to it.
    assert {(caller, callee) for caller, callee in upwards if caller != "core: masses"} == set()


def test_the_steps_come_once_and_in_order(prepared: tuple[Path, dc.Mechanism], monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    def noted(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def call(*arguments: Any, **options: Any) -> Any:
            steps.append(name)
            return original(*arguments, **options)

        monkeypatch.setattr(owner, name, call)

    from discreet.releasing.engines.duckdb import DuckDBEngine
    from discreet.releasing.transaction import Transaction

    for name in ("make_plan", "check_table", "audit_beside"):
        noted(prepared_module, name)
    noted(pipeline, "certified")
    noted(DuckDBEngine, "draw")
    noted(Transaction, "commit")
    released(prepared)
    assert steps == ["make_plan", "check_table", "audit_beside", "draw", "certified", "commit"]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The settings of every connection as it is opened, and the mode of its folder."""
    found: list[dict[str, Any]] = []
    original = duckdb.connect

    def noting(*arguments: Any, **options: Any) -> Any:
        connection = original(*arguments, **options)
        names = ("memory_limit", "temp_directory", "threads")
        settings = {name: connection.execute(f"SELECT current_setting('{name}')").fetchall()[0][0] for name in names}
        settings["mode"] = stat.S_IMODE(os.stat(settings["temp_directory"]).st_mode)
        found.append(settings)
        return connection

    monkeypatch.setattr(session.duckdb, "connect", noting)
    return found


def test_one_connection_and_one_for_each_worker(
    prepared: tuple[Path, dc.Mechanism], opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is kept, checked and certified; all of them under the limit, with a folder that others cannot read."""
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    released(prepared, memory_limit="512MiB", private_certificate=prepared[0] / "private.json")
    main, *workers = opened
    assert main["memory_limit"] == "512.0 MiB"
    assert len(workers) == 3
    assert {worker["memory_limit"] for worker in workers} == {"170.6 MiB"}
    assert {worker["threads"] for worker in workers} == {1}
    assert {found["mode"] for found in opened} == {0o700}
    assert len({found["temp_directory"] for found in opened}) == 1
    assert not os.path.exists(main["temp_directory"])


def test_a_frame_in_memory_is_opened_once(opened: list[dict[str, Any]]) -> None:
    table = awkward_table(500)
    mechanism = design(Joint.from_table(table, "ill", "job"), LIP(0.3)).mechanism
    opened.clear()
    dc.release(
        table, mechanism, id="number", keep=["sex", "age"], uncovered=["sex", "age"], seed=1, memory_limit="256MiB"
    )
    assert [found["memory_limit"] for found in opened] == ["256.0 MiB"]
    assert [found["mode"] for found in opened] == [0o700]


def test_verification_opens_one_connection_and_one_for_each_worker(
    prepared: tuple[Path, dc.Mechanism], opened: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    released(prepared)
    opened.clear()
    folder = prepared[0]
    certificate = folder / "out.parquet.certificate.json"
    assert dc.verify(certificate, folder / "in.parquet", folder / "out.parquet", memory_limit="512MiB")
    main, *workers = opened
    assert main["memory_limit"] == "512.0 MiB"
    assert {worker["memory_limit"] for worker in workers} == {"170.6 MiB"}
    assert [worker["threads"] for worker in workers] == [1, 1, 1]
    assert {found["mode"] for found in opened} == {0o700}
    assert len({found["temp_directory"] for found in opened}) == 1
