"""One release to a name at a time: a lock that the system takes back when its holder dies."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
from pathlib import Path

from discreet._support.errors import InputError

__all__ = ["Lock"]


class Lock:
    """A lock on the name of an output, held through a file beside it.

    Parameters
    ----------
    output : Path
        Whose name is locked.
    """

    def __init__(self, output: Path) -> None:
        if not output.name:
            raise InputError(f"{str(output)!r} names no file. Name one.")
        self._output = output
        self._path = output.with_name(f".discreet-lock-{output.name}")
        self._handle: int | None = None

    def acquire(self) -> None:
        """Take the lock, or an `InputError` where someone else has it."""
        while self._handle is None:
            handle = self._opened()
            try:
                _lock(handle)
            except BlockingIOError:
                os.close(handle)
                raise InputError(
                    f"another release to {str(self._output)!r} is being written. Wait for it, or choose another name."
                ) from None
            if self._is_current(handle):
                self._handle = handle
            else:
                os.close(handle)  # its last holder removed the file in between

    def _opened(self) -> int:
        if not self._path.parent.is_dir():
            shown = str(self._output)
            raise InputError(f"cannot write {shown!r}: there is no directory {str(self._output.parent)!r}.")
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise InputError(f"cannot write {str(self._output)!r}: {error.strerror}.") from None

    def _is_current(self, handle: int) -> bool:
        with contextlib.suppress(OSError):
            return os.path.samestat(os.fstat(handle), os.stat(self._path))
        return False

    def release(self) -> None:
        """Give the lock back."""
        if self._handle is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
            os.close(self._handle)
            self._handle = None


def _lock(handle: int) -> None:
    try:
        import fcntl
    except ImportError:  # a system without such locks: the journal alone has to do
        return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
