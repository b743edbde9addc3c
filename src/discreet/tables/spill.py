"""Private folders for what does not fit into memory: each ends with its reader, or with the next one after a kill."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator

from discreet._support.processes import lives

__all__ = ["private_folder"]

#: Start of the names of such folders; the number of the process follows.
MARK = "discreet-spill"


@contextlib.contextmanager
def private_folder() -> Iterator[str]:
    """A folder that its owner alone may read, for the time being; those of readers that were killed are removed."""
    _sweep(tempfile.gettempdir())
    prefix = f"{MARK}-{os.getpid()}-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder, _held(folder):
        yield folder


@contextlib.contextmanager
def _held(folder: str) -> Iterator[None]:
    """A lock on a folder, which ends with this process.

    Processes of another container may share the folder of temporary files, but not the numbers of processes.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle)
        yield
    finally:
        os.close(handle)


def _sweep(place: str) -> None:
    for name in _left_behind(place):
        with contextlib.suppress(OSError), _held(name):  # someone else removes it, or still holds it
            shutil.rmtree(name, ignore_errors=True)


def _left_behind(place: str) -> list[str]:
    """Folders of ours whose process is gone."""
    left = []
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            found = re.fullmatch(rf"{MARK}-(\d+)-\w+", entry.name)
            if found and not lives(int(found.group(1))) and _is_own_folder(entry):
                left.append(entry.path)
    return left


def _is_own_folder(entry: os.DirEntry[str]) -> bool:
    with contextlib.suppress(OSError):
        is_own = entry.stat(follow_symlinks=False).st_uid == os.geteuid()
        return is_own and entry.is_dir(follow_symlinks=False)
    return False


def _lock(handle: int) -> None:
    try:
        import fcntl
    except ImportError:  # a system without such locks: the number of the process alone has to do
        return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
