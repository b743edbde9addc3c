"""A release that replaces another fails or is killed at every step: all old files, or after the next run all new."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet import LIP, Joint, design
from discreet._support.errors import InputError, InternalError
from discreet.releasing import lock, pipeline, transaction
from discreet.releasing import prepared as prepared_module
from discreet.releasing.transaction import Move, Transaction
from tests.conftest import quick_first
from tests.releases import awkward_table
from tests.signing import new_key, public_of

PUBLIC = "out.parquet.certificate.json"
FILES = ("out.parquet", "out.parquet.codebook.json", "private.json", f"{PUBLIC}.sig", PUBLIC)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("transactions")
    table = awkward_table(2_000)
    pq.write_table(table, folder / "in.parquet")
    new_key(folder / "signing-key")
    joint = Joint.from_table(table, "ill", "job")
    design(joint, LIP(0.3)).mechanism.to_json(folder / "old.json")
    design(joint, LIP(0.3), "subset-merging").mechanism.to_json(folder / "new.json")
    return folder


def release(prepared: Path, which: str, folder: Path, **options: Any) -> None:
    given = {"id": "number", "seed": 1, "private_certificate": folder / "private.json", "force": True}
    given |= {"sign": prepared / "signing-key", **options}
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


def settle(output: Path) -> None:
    """What the next release to a name does first."""
    with Transaction(output):
        pass


def no_space(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("number", range(4))
def test_a_full_disk_at_any_text_leaves_all_old_files(
    number: int, prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The codebook, the private certificate, the signature and the public certificate in turn."""
    release(prepared, "old", tmp_path)
    before = contents(tmp_path)
    original, written = os.fdopen, []

    def failing(handle: int, *arguments: Any, **options: Any) -> Any:
        if arguments == ("wb",):  # a text, not the journal
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


#: Before, while and after each of the five files is moved; the most telling moments first.
MOMENTS = [("between", 1), ("after", 1), ("after", 3), ("before", 1)]
MOMENTS += [moment for moment in product(("before", "between", "after"), (1, 2, 3, 4, 5)) if moment not in MOMENTS]


@pytest.mark.parametrize(("moment", "number"), quick_first(MOMENTS, 4))
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
    settle(tmp_path / "out.parquet")
    mended = contents(tmp_path)
    assert mended == (new if any(are_new) else old)
    signer = public_of(prepared / "signing-key")
    assert dc.verify(tmp_path / "private.json", prepared / "in.parquet", tmp_path / "out.parquet", signer=signer)


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
    settle(tmp_path / "a")
    assert contents(tmp_path) == {"a": b"old a", "b": b"old b"}


@pytest.mark.parametrize(("mode", "staged"), [(0o666, ".discreet-tmp-0123abcd-1-precious"), (0o600, "evil")])
def test_a_journal_of_someone_else_moves_nothing(mode: int, staged: str, tmp_path: Path) -> None:
    """A file that others may write could name any file of the owner; the release stops, and nothing is removed."""
    (tmp_path / "precious").write_text("mine")
    (tmp_path / staged).write_text("theirs")
    journal = tmp_path / ".discreet-journal-out.parquet"
    moves = [[str(tmp_path / staged), str(tmp_path / "precious"), "replace", None], ["/x", "/y", "new", None]]
    journal.write_text(json.dumps({"direction": "forward", "spill": str(tmp_path / "s"), "moves": moves}))
    journal.chmod(mode)
    before = contents(tmp_path)
    with pytest.raises(InputError, match="interrupted"):
        settle(tmp_path / "out.parquet")
    assert contents(tmp_path) == before


def test_a_second_release_to_a_name_waits_for_nobody(prepared: Path, tmp_path: Path) -> None:
    with Transaction(tmp_path / "out.parquet"), pytest.raises(InputError, match="is being written"):
        release(prepared, "new", tmp_path)
    release(prepared, "new", tmp_path)
    assert len(contents(tmp_path)) == len(FILES)


STOPPED = """
import os, signal, sys
from pathlib import Path
from discreet.releasing.transaction import Transaction
a, private = Path(sys.argv[1]), Path(sys.argv[2])
with Transaction(a) as files:
    files.write(a, "new a")
    files.write(private, "new private", private=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("moment", ["open", "_lock", "_is_current", "_recover", "_write_journal", "replace"])
def test_an_interrupt_while_the_lock_is_taken_leaves_no_file(
    moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As SIGTERM does it: the work of a call is done, and the exception comes before anything is kept of it."""
    owner = {"open": os, "replace": os, "_lock": lock, "_is_current": lock.Lock}.get(moment, Transaction)
    right, calls = getattr(owner, moment), []

    def interrupted(*args: Any) -> Any:
        found = right(*args)
        calls.append(found)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patched:
        patched.setattr(owner, moment, interrupted)
        with pytest.raises(KeyboardInterrupt):
            Transaction(tmp_path / "out.csv").__enter__()
    assert os.listdir(tmp_path) == []
    with Transaction(tmp_path / "out.csv"):
        assert list(tmp_path.glob(".discreet-lock*"))
    assert os.listdir(tmp_path) == []


def test_what_was_only_staged_is_removed_in_every_folder(tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    a, private = tmp_path / "here" / "a", tmp_path / "there" / "private"
    command = [sys.executable, "-c", STOPPED, str(a), str(private)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path / "here")) == 4  # lock, journal, spill, the staged file
    assert len(os.listdir(tmp_path / "there")) == 1
    settle(a)
    assert os.listdir(tmp_path / "here") == os.listdir(tmp_path / "there") == []


def test_what_someone_else_wrote_meanwhile_is_left_alone(tmp_path: Path) -> None:
    """A release that was killed between two moves does not take the place of a later one of another name."""
    code = STOPPED.replace(
        "os.kill(os.getpid(), signal.SIGKILL)",
        "files._write_journal('forward'); files._moves[0].make(); os.kill(os.getpid(), signal.SIGKILL)",
    ).replace("import Transaction", "import Transaction, Move")
    a, private = tmp_path / "a", tmp_path / "private"
    private.write_text("old private")
    assert subprocess.run([sys.executable, "-c", code, str(a), str(private)], check=False).returncode < 0
    with Transaction(tmp_path / "b") as files:
        files.write(private, "of b", private=True)
        files.commit()
    settle(a)
    assert contents(tmp_path) == {"a": b"new a", "private": b"of b"}


KILLED_AT_THE_LEDGER = """
import os, signal, sys
from pathlib import Path
from discreet.releasing import transaction
folder, moment = Path(sys.argv[1]), sys.argv[2]
make, undo, replaced = transaction.Move.make, transaction.Move.undo, os.replace
def dying(*_):
    os.kill(os.getpid(), signal.SIGKILL)
def dying_at_the_ledger(staged, target):
    return dying() if str(target).endswith("/ledger") else replaced(staged, target)
def failing(move):
    if move.target.name == "a":
        raise OSError(28, "no space")
    make(move)
def dying_after_the_table(move):
    return dying() if move.target.name == "ledger" else undo(move)
with transaction.Transaction(folder / "a") as files:
    files.write(folder / "a", "new a")
    files.write(folder / "ledger", "1\\n2 of a\\n", private=True, first=True)
    if moment == "forward":
        transaction.os.replace = lambda *names: dying_at_the_ledger(*names)
    else:
        transaction.Move.make, transaction.Move.undo = failing, dying_after_the_table
    files.commit()
"""


@pytest.mark.parametrize("moment", ["forward", "back"])
@pytest.mark.parametrize("existed", [True, False])
def test_lines_of_other_releases_stay_in_a_ledger(moment: str, existed: bool, tmp_path: Path) -> None:
    """A killed release puts no older ledger back over one that has grown since."""
    ledger = tmp_path / "ledger"
    if existed:
        ledger.write_text("1\n")
    code = [sys.executable, "-c", KILLED_AT_THE_LEDGER, str(tmp_path), moment]
    assert subprocess.run(code, check=False).returncode == -signal.SIGKILL
    grown = (ledger.read_text() if ledger.exists() else "") + "of b\n"
    with Transaction(tmp_path / "b") as files:
        files.write(ledger, grown, private=True)
        files.commit()
    settle(tmp_path / "a")
    assert contents(tmp_path) == {"ledger": grown.encode()}


def test_old_files_come_back_where_nothing_more_can_be_written(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even the journal that says so."""
    release(prepared, "old", tmp_path)
    before = contents(tmp_path)
    original, make = Transaction._write_journal, Move.make

    def journal(files: Transaction, direction: str) -> None:
        if direction == "back":
            no_space()
        original(files, direction)

    def failing(move: Move) -> None:
        if move.target.name == FILES[-1]:
            no_space()
        make(move)

    monkeypatch.setattr(Transaction, "_write_journal", journal)
    monkeypatch.setattr(Move, "make", failing)
    with pytest.raises(InputError, match="space"):
        release(prepared, "new", tmp_path)
    assert contents(tmp_path) == before


def test_an_interrupt_while_things_are_put_back_is_mended_by_the_next_run(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(prepared, "old", tmp_path)
    before = contents(tmp_path)
    make, undo, undone = Move.make, Move.undo, []

    def failing(move: Move) -> None:
        if move.target.name == FILES[-1]:
            no_space()
        make(move)

    def interrupted(move: Move) -> None:
        undone.append(move)
        if len(undone) == 2:
            raise KeyboardInterrupt
        undo(move)

    monkeypatch.setattr(Move, "make", failing)
    monkeypatch.setattr(Move, "undo", interrupted)
    with pytest.raises(KeyboardInterrupt):
        release(prepared, "new", tmp_path)
    monkeypatch.undo()
    settle(tmp_path / "out.parquet")
    assert contents(tmp_path) == before


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
    private = tmp_path / "private.json"  # ages have few records each, so the public certificate tells no mechanism
    given = {"id": "number", "seed": 1, "force": True, "private_certificate": private}
    dc.release(table, wide, output=tmp_path / "out.parquet", **given)
    assert not (tmp_path / "out.parquet.codebook.json").exists()
    (tmp_path / "out.parquet.codebook.json").write_text("{}")
    verdict = dc.verify(private, table, tmp_path / "out.parquet")
    assert "codebook" in {finding.subject for finding in verdict.failures}


@pytest.mark.parametrize("options", [{"sign": None}, {"certificate": False, "sign": None, "private_certificate": None}])
def test_a_release_without_a_signature_takes_the_old_one_away(
    options: dict[str, Any], prepared: Path, tmp_path: Path
) -> None:
    """A signature that stays would be of another certificate."""
    release(prepared, "old", tmp_path)
    assert (tmp_path / f"{PUBLIC}.sig").exists()
    release(prepared, "new", tmp_path, **options)
    assert not (tmp_path / f"{PUBLIC}.sig").exists()


def test_an_input_that_changes_meanwhile_is_not_certified(
    prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.parquet").write_bytes((prepared / "in.parquet").read_bytes())
    mechanism = dc.Mechanism.from_json(prepared / "old.json")
    original = prepared_module.check_table

    def changing(*arguments: Any, **options: Any) -> Any:
        found = original(*arguments, **options)
        pq.write_table(awkward_table(2_000, seed=5), tmp_path / "in.parquet")
        return found

    monkeypatch.setattr(prepared_module, "check_table", changing)
    with pytest.raises(dc.errors.DataError):
        dc.release(tmp_path / "in.parquet", mechanism, id="number", output=tmp_path / "out.parquet")
    assert sorted(contents(tmp_path)) == ["in.parquet"]


def test_temporary_names_are_private_to_a_process(tmp_path: Path) -> None:
    first, second = (transaction.temporary_name(tmp_path / "x") for _ in range(2))
    assert first != second
    assert str(os.getpid()) in first.name
