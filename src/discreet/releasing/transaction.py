"""Output that appears whole or not at all, and never in the place of the input."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import fnmatch
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from discreet._support.errors import InputError
from discreet._support.files import check_target

__all__ = ["PARTS", "appearing", "check_output", "spill_folder"]

#: Ending of the folder in which parts of an output lie until they are joined.
PARTS = "-parts"

#: Start of everything temporary; a number in its name is that of the process that works on it.
MARK = "discreet-tmp"


def check_output(output: Path, source: str | None, files: tuple[str, ...], *, force: bool, is_folder: bool) -> None:
    """Refuse, before any work is done, an output that cannot be written, exists, or overlaps the input."""
    target = Path(os.path.abspath(output))
    for file in files:
        if os.path.exists(target) and os.path.samefile(file, target):
            raise InputError(f"{str(output)!r} is the input itself. Choose another name.")
        if is_folder and _inside(Path(file), target):
            raise InputError(f"{str(output)!r} holds the input. Choose another folder.")
    if source is not None:
        named = os.path.abspath(source)
        if _inside(target, Path(named)) or fnmatch.fnmatch(str(target), named):
            raise InputError(f"{str(output)!r} would become part of the input {source!r}. Choose another place.")
    if is_folder and target.is_dir():
        if not force:
            raise InputError(f"{str(output)!r} exists already. Choose another name, or replace it with --force.")
        if any(not name.startswith(("part-", "_", ".")) for name in os.listdir(target)):
            raise InputError(f"{str(output)!r} holds other files than a release does; it is not replaced.")
    else:
        if is_folder and target.is_file():
            raise InputError(f"{str(output)!r} is a file, and Spark writes a folder. Choose another name.")
        check_target(output, force=force)
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"cannot write {str(output)!r}: the folder is read-only.")


def _inside(path: Path, folder: Path) -> bool:
    return os.path.isdir(folder) and Path(os.path.realpath(folder)) in Path(os.path.realpath(path)).parents


@contextlib.contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """A temporary name in the folder of the target, renamed to it at the end and removed on an error."""
    real = Path(os.path.realpath(target))
    _remove_leftovers(real)
    temporary = _temporary(real)
    try:
        yield temporary
        _synchronise(temporary)
        _replace(temporary, real)
    except BaseException:
        _remove(temporary)
        raise


@contextlib.contextmanager
def spill_folder(target: Path) -> Iterator[Path]:
    """A private folder beside the target for what does not fit into memory; gone at the end."""
    folder = _temporary(Path(os.path.realpath(target)), "spill-")
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        _remove(folder)


def _temporary(target: Path, kind: str = "") -> Path:
    # The name of the target stays at the end, because readers tell formats by it.
    return target.with_name(f".{MARK}-{kind}{secrets.token_hex(4)}-{os.getpid()}-{target.name}")


def _remove_leftovers(target: Path) -> None:
    """What a killed run left behind; what belongs to a process that still lives stays."""
    pattern = re.compile(rf"\.{MARK}-(?:spill-)?[0-9a-f]{{8}}-(\d+)-{re.escape(target.name)}(?:{PARTS})?")
    for name in os.listdir(target.parent):
        found = pattern.fullmatch(name)
        if found and int(found.group(1)) != os.getpid() and not _lives(int(found.group(1))):
            _remove(target.parent / name)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _synchronise(path: Path) -> None:
    for file in [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]:
        handle = os.open(file, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _replace(temporary: Path, target: Path) -> None:
    if temporary.is_dir() and target.is_dir():
        old = _temporary(target)
        os.rename(target, old)
        os.rename(temporary, target)
        _remove(old)
    else:
        os.replace(temporary, target)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()
