"""Files that appear whole or not at all."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from discreet.errors import InputError

__all__ = ["check_target", "write_text"]


def check_target(path: str | os.PathLike[str], *, force: bool) -> None:
    """Refuse, before any work is done, a target that could not be written or would be lost."""
    target = Path(path)
    if target.is_dir():
        raise InputError(f"cannot write {str(target)!r}: it is a directory.")
    if target.exists() and not force:
        raise InputError(f"{str(target)!r} exists already. Choose another name, or replace it with --force.")
    if not target.parent.is_dir():
        raise InputError(f"cannot write {str(target)!r}: there is no directory {str(target.parent)!r}.")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write under a temporary name in the same folder, then rename: no reader sees half a file."""
    target = Path(path)
    check_target(target, force=True)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise InputError(f"cannot write {str(target)!r}: {error.strerror}.") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise InputError(f"cannot write {str(target)!r}: {error.strerror}.") from None
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
