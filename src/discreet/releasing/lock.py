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
        """Take the lock, or an `InputError` where someone else has it; whoever is interrupted leaves no file behind."""
        try:
            while not self._is_held():
                pass  # the last holder removed the file in between
        except BlockingIOError:
            self._close()
            raise InputError(
                f"another release to {str(self._output)!r} is being written. Wait for it, or choose another name."
            ) from None
        except BaseException:
            self._forget()
            raise

    def _is_held(self) -> bool:
        self._handle = self._opened()
        _lock(self._handle)
        if self._is_current(self._handle):
            return True
        self._close()
        return False

    def _forget(self) -> None:
        """Remove the file where nobody holds it: it may have been made in the very moment of an interruption."""
        with contextlib.suppress(OSError):
            if self._handle is None:
                self._handle = os.open(self._path, os.O_RDWR | os.O_NOFOLLOW)
            _lock(self._handle)
            if self._is_current(self._handle):
                os.unlink(self._path)
        self._close()

    def _close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

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
            self._close()


def _lock(handle: int) -> None:
    try:
        import fcntl
    except ImportError:  # a system without such locks: the journal alone has to do
        return
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
