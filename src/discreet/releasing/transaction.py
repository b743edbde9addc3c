"""All files of a release, or none: staged under other names, then moved into place, the certificate last.

Every file is written whole under a temporary name beside its target. Only when all of them are there does a journal
name them, and they are moved one after the other. An error before or while they are moved puts everything back. A
process that is killed leaves its temporary files, and perhaps a journal: the next release to the same name completes
what was begun to be moved, and removes the rest.
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
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from discreet._support.errors import InputError

__all__ = ["Transaction", "recover", "spill_folder", "writing"]

#: Start of everything temporary; a number in its name is that of the process that works on it.
MARK = "discreet-tmp"

#: Endings of what belongs to a temporary file: parts of it, the file that it replaces, and the journal of all.
PARTS, OLD, JOURNAL = "-parts", "-old", "-journal"


@dataclass(frozen=True)
class Move:
    """One file or folder on its way.

    Attributes
    ----------
    staged, target : Path
        Where it lies, and where it goes.
    kind : str
        ``"replace"`` what is there, appear as a ``"new"`` file only, or ``"remove"`` what is there: nothing is staged.
    existed : bool
        Whether something was there before.
    """

    staged: Path
    target: Path
    kind: str
    existed: bool

    @property
    def old(self) -> Path:
        """What was there, kept until all files are in place."""
        return self.staged.with_name(self.staged.name + OLD)

    @property
    def is_made(self) -> bool:
        """Whether the file is in its place."""
        return not os.path.lexists(self.target if self.kind == "remove" else self.staged)

    def make(self) -> None:
        """Move into place; what was there stays beside it."""
        if self.kind == "new":
            os.link(self.staged, self.target)  # fails where something is there
            self.staged.unlink()
            return
        if self.target.is_dir() and not self.target.is_symlink():
            os.rename(self.target, self.old)
        elif os.path.lexists(self.target):
            _keep(self.target, self.old)
        if self.kind == "remove":
            remove(self.target)
        else:
            os.replace(self.staged, self.target)

    def undo(self) -> None:
        """Put back what was there, whether or not the move was made, and however often it is asked."""
        if self.existed and os.path.lexists(self.old):
            if self.old.is_dir():
                remove(self.target)
            os.replace(self.old, self.target)
            remove(self.old)  # two names of one file stay two when one replaces the other
        elif not self.existed and self.is_made:
            remove(self.target)
        remove(self.staged)


class Transaction:
    """Files that appear together.

    Use it as a context: leaving it without `commit`, or with an error, removes all that was staged.

    Parameters
    ----------
    output : Path
        The target after which the journal is named.
    """

    def __init__(self, output: Path) -> None:
        self._output = Path(os.path.realpath(output))
        self._moves: list[Move] = []
        self._journal = temporary_name(self._output, ending=JOURNAL)

    def __enter__(self) -> Transaction:
        return self

    def stage(self, target: Path, kind: str = "replace") -> Path:
        """Where a file is to be written that will appear as ``target``; files appear in the order of staging."""
        real = Path(os.path.realpath(target))  # a link keeps pointing where it did
        move = Move(temporary_name(real), real, kind, os.path.lexists(real))
        self._moves.append(move)
        return move.staged

    def remove(self, target: Path) -> None:
        """What an earlier release left there goes with it."""
        self.stage(target, "remove")

    def write(self, target: Path, content: str, *, private: bool = False, kind: str = "replace") -> None:
        """Stage a text; a private one can be read by its owner alone from its first byte on."""
        staged = self.stage(target, kind)
        with writing(target):
            handle = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
            with os.fdopen(handle, "wb") as stream:
                stream.write(content.encode())

    def commit(self) -> None:
        """Move all staged files into place; where one cannot be moved, none is."""
        for move in self._moves:
            with writing(move.target):
                _synchronise(move.staged)
        with writing(self._output):
            self._write_journal("forward")
        try:
            for move in self._moves:
                with writing(move.target):
                    move.make()
        except BaseException:
            self._write_journal("back")
            for move in reversed(self._moves):
                move.undo()
            raise
        _forget(self._journal, self._moves)
        self._moves = []

    def _write_journal(self, direction: str) -> None:
        moves = [[str(move.staged), str(move.target), move.kind, move.existed] for move in self._moves]
        partly = self._journal.with_name(self._journal.name + PARTS)
        handle = os.open(partly, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as stream:
            json.dump({"direction": direction, "moves": moves}, stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partly, self._journal)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for path in (self._journal, self._journal.with_name(self._journal.name + PARTS)):
            remove(path)
        for move in self._moves:
            for path in (move.staged, move.staged.with_name(move.staged.name + PARTS)):
                remove(path)


def recover(output: Path) -> None:
    """Settle what killed releases to this name left: complete what was begun to be moved, remove the rest.

    What belongs to a process that still lives stays.
    """
    real = Path(os.path.realpath(output))
    for journal in _left_behind(real, JOURNAL):
        _settle(journal)
    for ending in ("", PARTS, OLD, JOURNAL + PARTS):
        for path in _left_behind(real, ending):
            remove(path)


def _settle(journal: Path) -> None:
    direction, moves = _read_journal(journal)
    if direction == "forward" and any(move.is_made for move in moves if move.kind != "remove"):
        for move in moves:
            if not move.is_made:
                with contextlib.suppress(FileExistsError):  # a file that must not be replaced stays
                    move.make()
                remove(move.staged)
    else:
        for move in moves:
            move.undo()
    _forget(journal, moves)


def _read_journal(journal: Path) -> tuple[str, list[Move]]:
    """Direction and moves of a journal of ours; nothing where it could have been written by anyone else."""
    found = os.lstat(journal)
    if found.st_uid != os.geteuid() or found.st_mode & 0o077:
        return "", []
    try:
        content = json.loads(journal.read_text())
        moves = [Move(Path(staged), Path(target), kind, existed) for staged, target, kind, existed in content["moves"]]
    except (OSError, ValueError, KeyError, TypeError):
        return "", []
    if not all(_is_ours(move) for move in moves):
        return "", []
    return str(content.get("direction")), moves


def _forget(journal: Path, moves: list[Move]) -> None:
    for move in moves:
        remove(move.old)
    remove(journal)


@contextlib.contextmanager
def spill_folder(output: Path) -> Iterator[Path]:
    """A private folder beside the output for what does not fit into memory; gone at the end."""
    folder = temporary_name(Path(os.path.realpath(output)), "spill-")
    with writing(output):
        folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        remove(folder)


@contextlib.contextmanager
def writing(target: Path) -> Iterator[None]:
    """Errors of a full or lost disk in our words."""
    try:
        yield
    except FileExistsError:
        raise InputError(f"{str(target)!r} exists already, and is never replaced. Choose another name.") from None
    except OSError as error:
        raise InputError(f"cannot write {str(target)!r}: {error.strerror or type(error).__name__}.") from None


def temporary_name(target: Path, kind: str = "", ending: str = "") -> Path:
    """A name in the folder of the target that no other process uses."""
    # The name of the target stays at the end, because readers tell formats by it.
    return target.with_name(f".{MARK}-{kind}{secrets.token_hex(4)}-{os.getpid()}-{target.name}{ending}")


def _pattern(target: Path) -> re.Pattern[str]:
    return re.compile(rf"\.{MARK}-(?:spill-)?[0-9a-f]{{8}}-(\d+)-{re.escape(target.name)}")


def _is_ours(move: Move) -> bool:
    """Whether a move stays in one folder, under a name that we give."""
    return move.staged.parent == move.target.parent and _pattern(move.target).fullmatch(move.staged.name) is not None


def _left_behind(target: Path, ending: str) -> list[Path]:
    """Temporary files of processes that are gone."""
    left = []
    for name in sorted(os.listdir(target.parent)):
        found = _pattern(target).fullmatch(name.removesuffix(ending)) if name.endswith(ending) else None
        if found and int(found.group(1)) != os.getpid() and not _lives(int(found.group(1))):
            left.append(target.parent / name)
    return left


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _keep(target: Path, old: Path) -> None:
    """The file under a second name; where the file system has no links, under that name alone."""
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
