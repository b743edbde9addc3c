"""The input is replaced at a moment of a release: nothing is written, or what is written is about one table alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet import LIP, Joint, design
from discreet.errors import DiscreetError
from discreet.releasing import Request, pipeline, prepared, run
from discreet.releasing import checks as checks_of
from discreet.releasing.engines import duckdb as engine
from discreet.tables import session

#: (module, function): the moments of a release, in their order.
MOMENTS = [
    (pipeline, "engine_for"),
    (session, "existing_files"),
    (prepared, "make_plan"),
    (checks_of, "check_places"),
    (checks_of, "count_table"),
    (prepared, "check_promise"),
    (prepared, "check_ids"),
    (prepared, "checking_orders"),
    (prepared, "audit_beside"),
    (prepared, "_needs_content"),
    (engine, "shared_out"),
    (engine, "join_parquet"),
    (pipeline, "certified"),
]


def table(tilt: float, seed: int) -> pa.Table:
    """What x tells about s, more or less of it; as many rows of the same values."""
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, 4_000)
    x = np.where(rng.random(4_000) < tilt, s, rng.integers(0, 2, 4_000))
    return pa.table({"id": rng.permutation(4_000), "s": s, "x": x})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A harmless table, and one on which the mechanism gives s away."""
    pq.write_table(table(0.02, 1), tmp_path / "harmless.parquet")
    pq.write_table(table(1.0, 2), tmp_path / "telling.parquet")
    return tmp_path


def replaced(folder: Path) -> None:
    """Another file under the same name."""
    shutil.copy(folder / "telling.parquet", folder / "new")
    os.replace(folder / "new", folder / "in.parquet")


def overwritten(folder: Path) -> None:
    """Other bytes in the same file, with the old time written on it."""
    before = (folder / "in.parquet").stat()
    content = (folder / "telling.parquet").read_bytes()
    with open(folder / "in.parquet", "r+b") as stream:
        stream.write(content)
        stream.truncate(len(content))
    os.utime(folder / "in.parquet", ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("how", [replaced, overwritten])
@pytest.mark.parametrize("moment", range(len(MOMENTS)), ids=[name for _, name in MOMENTS])
def test_no_certificate_is_about_another_table(
    moment: int, how: Callable[[Path], None], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(folder / "harmless.parquet", folder / "in.parquet")
    harmless = pq.read_table(folder / "harmless.parquet")
    mechanism = design(Joint.from_table(harmless, "s", "x"), LIP(0.1)).mechanism
    module, name = MOMENTS[moment]
    original, done = getattr(module, name), []

    def at_that_moment(*args: Any, **options: Any) -> Any:
        if not done:
            done.append(how(folder))
        return original(*args, **options)

    monkeypatch.setattr(module, name, at_that_moment)
    options = {"id": "id", "key": bytes(32), "output": folder / "out.parquet"}
    try:
        certificate = run(Request.of(folder / "in.parquet", mechanism, **options)).certificate
    except DiscreetError:
        assert not [path.name for path in folder.iterdir() if "out.parquet" in path.name]
    else:  # the file that was opened is read to the end
        assert dc.verify(certificate, folder / "harmless.parquet", folder / "out.parquet", key=bytes(32))
        assert not dc.verify(certificate, folder / "telling.parquet", folder / "out.parquet", key=bytes(32))
    assert done


def test_a_link_that_is_turned_for_the_time_of_the_draw(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks would see one table and the draw another, and at the end all would be as it was."""
    link = folder / "in.parquet"
    link.symlink_to(folder / "harmless.parquet")
    mechanism = design(Joint.from_table(link, "s", "x"), LIP(0.1)).mechanism
    original, joined = engine.shared_out, engine.join_parquet

    def turned(target: str, then: Callable[..., Any]) -> Callable[..., Any]:
        def function(*args: Any) -> Any:
            (folder / "new").symlink_to(folder / target)
            os.replace(folder / "new", link)
            return then(*args)

        return function

    monkeypatch.setattr(engine, "shared_out", turned("telling.parquet", original))
    monkeypatch.setattr(engine, "join_parquet", turned("harmless.parquet", joined))
    certificate = run(Request.of(link, mechanism, id="id", key=bytes(32), output=folder / "out.parquet")).certificate
    verdict = dc.verify(certificate, folder / "harmless.parquet", folder / "out.parquet", key=bytes(32))
    assert verdict.level == "redrawn", verdict


def test_many_files_are_held_open_too(folder: Path) -> None:
    """However many: else a turned link would pass where there are more than some number."""
    whole = pq.read_table(folder / "harmless.parquet")
    (folder / "many").mkdir()
    for k in range(300):
        pq.write_table(whole.slice(13 * k, 13), folder / "many" / f"{k:03d}.parquet")
    with session.open_table(folder / "many", places=True) as opened:
        (folder / "many").rename(folder / "away")
        assert opened.count() == 3_900
        opened.check_unchanged()
