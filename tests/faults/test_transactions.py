"""A release that replaces another fails or is killed at every step: all old files, or after the next run all new."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet import LIP, Joint, design
from discreet._support.errors import InputError, InternalError
from discreet.releasing import pipeline, transaction
from discreet.releasing.transaction import Move, Transaction, recover
from tests.releases import awkward_table

FILES = ("out.parquet", "out.parquet.codebook.json", "private.json", "out.parquet.certificate.json")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("transactions")
    table = awkward_table(2_000)
    pq.write_table(table, folder / "in.parquet")
    joint = Joint.from_table(table, "ill", "job")
    design(joint, LIP(0.3)).mechanism.to_json(folder / "old.json")
    design(joint, LIP(0.3), "subset-merging").mechanism.to_json(folder / "new.json")
    return folder


def release(prepared: Path, which: str, folder: Path, **options: Any) -> None:
    given = {"id": "number", "seed": 1, "private_certificate": folder / "private.json", "force": True, **options}
    mechanism = dc.Mechanism.from_json(prepared / f"{which}.json")
    dc.release(prepared / "in.parquet", mechanism, output=folder / "out.parquet", **given)


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder))}


@pytest.fixture(scope="module")
def new(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the second release looks like where nothing goes wrong; certificates name no time, so it is repeatable."""
    folder = tmp_path_factory.mktemp("new")
    release(prepared, "new", folder)
    return contents(folder)


def no_space(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("number", range(3))
def test_a_full_disk_at_any_text_leaves_all_old_files(
    number: int, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The codebook, the private and the public certificate in turn."""
    release(prepared, "old", tmp_path)
    before = contents(tmp_path)
    original, written = os.fdopen, []

    def failing(handle: int, *arguments: Any, **options: Any) -> Any:
        written.append(handle)
        if len(written) > number:
            os.close(handle)
            no_space()
        return original(handle, *arguments, **options)

    monkeypatch.setattr(os, "fdopen", failing)
    with pytest.raises(InputError, match="space"):
        release(prepared, "new", tmp_path)
    assert contents(tmp_path) == before


def test_a_full_disk_at_the_table_leaves_all_old_files(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(prepared, "old", tmp_path)
    before = contents(tmp_path)
    monkeypatch.setattr("discreet.releasing.engines.duckdb.join_parquet", no_space)
    with pytest.raises(InputError, match="space"):
        release(prepared, "new", tmp_path)
    assert contents(tmp_path) == before


def test_an_error_in_the_certificate_leaves_all_old_files(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(prepared, "old", tmp_path)
    before = contents(tmp_path)

    def wrong(*_: Any) -> None:
        raise InternalError("the certificate cannot be made.")

    monkeypatch.setattr(pipeline, "certified", wrong)
    with pytest.raises(InternalError):
        release(prepared, "new", tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("number", range(len(FILES)))
def test_a_move_that_fails_puts_everything_back(
    number: int, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(prepared, "old", tmp_path)
    before = contents(tmp_path)
    original, made = Move.make, []

    def failing(move: Move) -> None:
        made.append(move)
        if len(made) > number:
            no_space()
        original(move)

    monkeypatch.setattr(Move, "make", failing)
    with pytest.raises(InputError, match="space"):
        release(prepared, "new", tmp_path)
    assert contents(tmp_path) == before


def test_a_first_release_that_fails_while_it_is_moved_leaves_nothing(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Move.make

    def failing(move: Move) -> None:
        if move.target.name == "out.parquet.certificate.json":
            no_space()
        original(move)

    monkeypatch.setattr(Move, "make", failing)
    with pytest.raises(InputError, match="space"):
        release(prepared, "new", tmp_path, write_key=tmp_path / "key", seed=None)
    assert contents(tmp_path) == {}


KILLED = """
import os, signal, sys
from pathlib import Path
from discreet.releasing import transaction
from tests.faults.test_transactions import release
prepared, folder, moment, number = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
original, made = transaction.Move.make, []
def dying(move):
    made.append(move)
    if len(made) == number and moment == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    if len(made) == number and moment == "between":
        os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    original(move)
    if len(made) == number and moment == "after":
        os.kill(os.getpid(), signal.SIGKILL)
transaction.Move.make = dying
release(prepared, "new", folder)
"""


@pytest.mark.parametrize("number", [1, 2, 3, 4])
@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_after_a_kill_no_file_is_torn_and_the_next_run_mends(
    moment: str, number: int, prepared: Path, new: dict[str, bytes], tmp_path: Path
) -> None:
    release(prepared, "old", tmp_path)
    old = contents(tmp_path)
    command = [sys.executable, "-c", KILLED, str(prepared), str(tmp_path), moment, str(number)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    left = {name: (tmp_path / name).read_bytes() for name in FILES}
    for name in FILES:
        assert left[name] in (old[name], new[name])
    are_new = [left[name] == new[name] for name in FILES]
    verdict = dc.verify(tmp_path / "private.json", prepared / "in.parquet", tmp_path / "out.parquet")
    public = dc.verify(tmp_path / FILES[-1], prepared / "in.parquet", tmp_path / "out.parquet")
    assert bool(verdict and public) == (all(are_new) or not any(are_new))
    recover(tmp_path / "out.parquet")
    mended = contents(tmp_path)
    assert mended == (new if any(are_new) else old)
    assert dc.verify(tmp_path / "private.json", prepared / "in.parquet", tmp_path / "out.parquet")


def test_a_kill_while_things_are_put_back_is_mended_backwards(tmp_path: Path) -> None:
    """The journal says in which direction; what was put back already stays."""
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"old {name}")
    code = """
import os, signal, sys
from pathlib import Path
from discreet.releasing import transaction
folder = Path(sys.argv[1])
undone = []
make, undo = transaction.Move.make, transaction.Move.undo
def failing(move):
    if move.target.name == "b":
        raise OSError(28, "no space")
    make(move)
def dying(move):
    undone.append(move)
    if len(undone) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    undo(move)
transaction.Move.make, transaction.Move.undo = failing, dying
with transaction.Transaction(folder / "a") as files:
    files.write(folder / "a", "new a")
    files.write(folder / "b", "new b")
    files.commit()
"""
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == -signal.SIGKILL
    recover(tmp_path / "a")
    assert contents(tmp_path) == {"a": b"old a", "b": b"old b"}


def test_a_journal_of_someone_else_moves_nothing(tmp_path: Path) -> None:
    """A file that others may write could name any file of the owner."""
    (tmp_path / "precious").write_text("mine")
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    )
    start = f".discreet-tmp-0123abcd-{int(gone.stdout)}"
    staged = tmp_path / f"{start}-evil"
    staged.write_text("theirs")
    journal = tmp_path / f"{start}-out.parquet-journal"
    moves = f'["{staged}", "{tmp_path / "precious"}", "replace", true]'
    journal.write_text(
        f'{{"direction": "forward", "moves": [{moves}, ["{tmp_path}/x", "{tmp_path}/y", "new", false]]}}'
    )
    for mode in (0o666, 0o600):
        if journal.exists():
            journal.chmod(mode)
        recover(tmp_path / "out.parquet")
        assert (tmp_path / "precious").read_text() == "mine"


def test_a_key_never_replaces_a_file(prepared: Path, tmp_path: Path) -> None:
    release(prepared, "old", tmp_path, write_key=tmp_path / "key", seed=None)
    before = contents(tmp_path)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="exists already"):
        release(prepared, "new", tmp_path, write_key=tmp_path / "key", seed=None)
    with Transaction(tmp_path / "other") as files:
        files.write(tmp_path / "other", "x")
        files.write(tmp_path / "key", "y", kind="new")
        with pytest.raises(InputError, match="exists already"):
            files.commit()
    assert contents(tmp_path) == before


def test_a_release_without_a_codebook_takes_the_old_one_away(prepared: Path, tmp_path: Path) -> None:
    """A codebook that stays would explain another release."""
    release(prepared, "old", tmp_path)
    table = pq.read_table(prepared / "in.parquet")
    wide = design(Joint.from_table(table, "ill", "age"), LIP(0.5), "oue").mechanism
    dc.release(table, wide, id="number", seed=1, output=tmp_path / "out.parquet", force=True)
    assert not (tmp_path / "out.parquet.codebook.json").exists()
    (tmp_path / "out.parquet.codebook.json").write_text("{}")
    verdict = dc.verify(tmp_path / FILES[-1], table, tmp_path / "out.parquet")
    assert "codebook" in {finding.subject for finding in verdict.failures}


def test_an_input_that_changes_meanwhile_is_not_certified(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.parquet").write_bytes((prepared / "in.parquet").read_bytes())
    mechanism = dc.Mechanism.from_json(prepared / "old.json")
    original = pipeline.check_all

    def changing(*arguments: Any, **options: Any) -> Any:
        found = original(*arguments, **options)
        pq.write_table(awkward_table(2_000, seed=5), tmp_path / "in.parquet")
        return found

    monkeypatch.setattr(pipeline, "check_all", changing)
    with pytest.raises(dc.errors.DataError):
        dc.release(tmp_path / "in.parquet", mechanism, id="number", output=tmp_path / "out.parquet")
    assert sorted(contents(tmp_path)) == ["in.parquet"]


def test_temporary_names_are_private_to_a_process(tmp_path: Path) -> None:
    first, second = (transaction.temporary_name(tmp_path / "x") for _ in range(2))
    assert first != second
    assert str(os.getpid()) in first.name
