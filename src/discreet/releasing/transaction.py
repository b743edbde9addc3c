"""All files of a release, or none: staged under other names, then moved into place, the certificate last.

Who writes a release holds a lock on its name. Every file is written whole under a temporary name beside its target, and
a journal lists them. When all are there the journal says "forward", and they are moved one after the other. An error
puts everything back. A process that is killed loses its lock and leaves its journal: whoever releases to the same name
next completes what was begun to be moved, or removes what was only staged. A file that someone else wrote meanwhile,
such as a ledger with a line of another release, is left alone: nothing is put back over it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from discreet._support.errors import InputError
from discreet._support.files import check_no_link, in_real_folder
from discreet._support.processes import lives
from discreet.releasing.lock import Lock

__all__ = ["PARTS", "Move", "Transaction", "writing"]

#: Start of everything temporary; a number in its name is that of the process that works on it.
MARK = "discreet-tmp"

#: Start of the name of a journal.
JOURNAL = "discreet-journal"

#: Endings of what belongs to a temporary file: parts of it, and the file that it replaces.
PARTS, OLD = "-parts", "-old"

#: What tells that a file is the one that was there: inode, size and time of change.
Identity = tuple[int, int, int] | None


@dataclass(frozen=True)
class Move:
    """One file or folder on its way.

    Attributes
    ----------
    staged, target : Path
        Where it lies, and where it goes.
    kind : str
        ``"replace"`` what is there, appear as a ``"new"`` file only, or ``"remove"`` what is there: nothing is staged.
    before : tuple or None
        What was there, None where nothing was.
    own : tuple or None
        What was staged, once it is whole: by that it is known in its place. None of what is only removed.
    """

    staged: Path
    target: Path
    kind: str
    before: Identity
    own: Identity = None

    @classmethod
    def to(cls, target: Path, kind: str) -> Move:
        """A move under a temporary name; a link is refused here, and one that appears later is replaced itself."""
        check_no_link(target)
        real = in_real_folder(target)
        return cls(temporary_name(real), real, kind, identity(real))

    @property
    def old(self) -> Path:
        """What was there, kept until all files are in place."""
        return self.staged.with_name(self.staged.name + OLD)

    @property
    def is_made(self) -> bool:
        """Whether the file is in its place."""
        return not os.path.lexists(self.target if self.kind == "remove" else self.staged)

    @property
    def is_due(self) -> bool:
        """Whether it is still to be made, and nobody else wrote to its target."""
        there = identity(self.target)
        moved_away = there is None and identity(self.old) == self.before
        return not self.is_made and (there == self.before or moved_away)

    def make(self) -> None:
        """Move into place; what was there stays beside it."""
        if self.kind == "new":
            os.link(self.staged, self.target)  # fails where something is there
            self.staged.unlink()
            return
        if os.path.lexists(self.target) and not os.path.lexists(self.old):
            _keep(self.target, self.old)
        if self.kind == "remove":
            remove(self.target)
        else:
            os.replace(self.staged, self.target)

    def undo(self) -> None:
        """Put back what was there, whether or not the move was made, and however often it is asked.

        Nothing is put back over a file that is neither that nor ours: somebody wrote it since.
        """
        there = identity(self.target)
        if self.before is not None and os.path.lexists(self.old) and there in (None, self.before, self.own):
            if self.old.is_dir():
                remove(self.target)
            os.replace(self.old, self.target)
            remove(self.old)  # two names of one file stay two when one replaces the other
        elif self.before is None and there is not None and there == self.own:
            remove(self.target)
        remove(self.staged)

    def forget(self) -> None:
        """Nothing temporary stays."""
        for path in (self.staged, self.staged.with_name(self.staged.name + PARTS), self.old):
            remove(path)


class Transaction:
    """Files that appear together, and a private folder for what does not fit into memory.

    Use it as a context: it waits for nobody, settles first what a killed process left, and leaving it without `commit`
    removes all that was staged.

    Parameters
    ----------
    output : Path
        The target after which lock and journal are named.
    """

    def __init__(self, output: Path) -> None:
        self._output = in_real_folder(output)
        self._lock = Lock(self._output)
        self._moves: list[Move] = []
        self._is_moving = False
        self._journal = self._output.with_name(f".{JOURNAL}-{self._output.name}")
        self.spill = temporary_name(self._output, "spill-")

    def __enter__(self) -> Transaction:
        try:
            with writing(self._output):
                self._lock.acquire()
                self._recover()
                self._begin()
        except BaseException:
            self._lock.release()
            raise
        return self

    def _begin(self) -> None:
        """Make the journal and the folder for what does not fit; where that is interrupted, neither is left."""
        try:
            self._write_journal("staging")
            self.spill.mkdir(mode=0o700)
        except BaseException:
            remove(self.spill)
            self._remove_journal()
            raise

    def stage(self, target: Path, kind: str = "replace", *, first: bool = False) -> Path:
        """Where a file is to be written that will appear as ``target``, in the order of staging or ``first`` of all."""
        move = Move.to(target, kind)
        self._moves.insert(0 if first else len(self._moves), move)
        with writing(self._output):
            self._write_journal("staging")
        return move.staged

    def remove(self, target: Path) -> None:
        """What an earlier release left there goes with it."""
        self.stage(target, "remove")

    def write(
        self, target: Path, content: str, *, private: bool = False, kind: str = "replace", first: bool = False
    ) -> None:
        """Stage a text; a private one can be read by its owner alone from its first byte on."""
        staged = self.stage(target, kind, first=first)
        with writing(target):
            handle = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
            with os.fdopen(handle, "wb") as stream:
                stream.write(content.encode())

    def commit(self) -> None:
        """Move all staged files into place; where one cannot be moved, none is."""
        for move in self._moves:
            with writing(move.target):
                _synchronise(move.staged)
        self._moves = [replace(move, own=identity(move.staged)) for move in self._moves]
        with writing(self._output):
            self._write_journal("forward")
        self._is_moving = True
        try:
            for move in self._moves:
                with writing(move.target):
                    move.make()
        except BaseException:
            with contextlib.suppress(OSError):  # a full disk must not keep the old files from coming back
                self._write_journal("back")
            for move in reversed(self._moves):
                move.undo()
            self._is_moving = False
            raise
        self._is_moving = False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            remove(self.spill)
            if not self._is_moving:  # else even putting back was interrupted: the next release goes on with it
                for move in self._moves:
                    move.forget()
                self._remove_journal()
        finally:  # whatever interrupts this, the journal says how to go on
            self._lock.release()

    def _remove_journal(self) -> None:
        """Also what an interruption left of one that was being written."""
        for path in (self._journal, self._journal.with_name(self._journal.name + PARTS)):
            remove(path)

    def _write_journal(self, direction: str) -> None:
        moves = [[str(move.staged), str(move.target), move.kind, move.before, move.own] for move in self._moves]
        partly = self._journal.with_name(self._journal.name + PARTS)
        remove(partly)
        handle = os.open(partly, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "w") as stream:
                json.dump({"direction": direction, "spill": str(self.spill), "moves": moves}, stream)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(partly, self._journal)
        except BaseException:
            remove(partly)
            raise

    def _recover(self) -> None:
        """Settle what a killed process left: complete what was begun to be moved, remove the rest."""
        if os.path.lexists(self._journal):
            direction, spill, moves = _read_journal(self._journal)
            if direction == "forward" and any(move.is_made for move in moves if move.kind != "remove"):
                for move in moves:
                    if move.is_due:
                        move.make()
            elif direction != "staging":
                for move in reversed(moves):
                    move.undo()
            for move in moves:
                move.forget()
            remove(spill)
            remove(self._journal)
        for path in _left_behind(self._output):
            remove(path)


def _read_journal(journal: Path) -> tuple[str, Path, list[Move]]:
    """Direction, scratch folder and moves of a journal of ours; whoever else wrote it could name any file."""
    found = os.lstat(journal)
    try:
        if found.st_uid != os.geteuid() or found.st_mode & 0o077 or journal.is_symlink():
            raise ValueError
        content = json.loads(journal.read_text())
        moves = [
            Move(Path(staged), Path(target), kind, *(None if one is None else tuple(one) for one in identities))
            for staged, target, kind, *identities in content["moves"]
        ]
        spill = Path(content["spill"])
        if not all(_is_ours(move.staged, move.target) for move in moves) or spill.parent != journal.parent:
            raise ValueError
        return str(content["direction"]), spill, moves
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(
            f"a release to this name was interrupted, and its journal {str(journal)!r} is damaged or someone else's. "
            "Let its owner release again, or look at the files there and remove it."
        ) from None


@contextlib.contextmanager
def writing(target: Path) -> Iterator[None]:
    """Errors of a full or lost disk in our words."""
    try:
        yield
    except FileExistsError:
        raise InputError(f"{str(target)!r} exists already, and is never replaced. Choose another name.") from None
    except OSError as error:
        raise InputError(f"cannot write {str(target)!r}: {error.strerror or type(error).__name__}.") from None


def identity(path: Path) -> Identity:
    """What is at a path now."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def temporary_name(target: Path, kind: str = "") -> Path:
    """A name in the folder of the target that no other process uses."""
    # The name of the target stays at the end, because readers tell formats by it.
    return target.with_name(f".{MARK}-{kind}{secrets.token_hex(4)}-{os.getpid()}-{target.name}")


def _pattern(target: Path) -> re.Pattern[str]:
    return re.compile(rf"\.{MARK}-(?:spill-)?[0-9a-f]{{8}}-(\d+)-{re.escape(target.name)}(?:{PARTS}|{OLD})?")


def _is_ours(staged: Path, target: Path) -> bool:
    """Whether a move stays in one folder, under a name that we give."""
    return staged.parent == target.parent and _pattern(target).fullmatch(staged.name) is not None


def _left_behind(target: Path) -> list[Path]:
    """Temporary files of processes that are gone; a number of our own is one that was used before."""
    left = []
    for name in sorted(os.listdir(target.parent)):
        found = _pattern(target).fullmatch(name)
        if found and (int(found.group(1)) == os.getpid() or not lives(int(found.group(1)))):
            left.append(target.parent / name)
    return left


def _keep(target: Path, old: Path) -> None:
    """A file under a second name; a folder, and a file where there are no links, under that name alone."""
    try:
        os.link(target, old, follow_symlinks=False)
    except OSError:
        os.rename(target, old)


def _synchronise(path: Path) -> None:
    """Everything of a file or folder on the disk; of what is only to be removed there is nothing."""
    for file in [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]:
        handle = os.open(file, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove(path: Path) -> None:
    """Remove a file or folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()
