"""Files that appear whole or not at all."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from discreet._support.errors import InputError

__all__ = ["check_no_link", "check_target", "check_targets", "in_real_folder", "write_bytes", "write_text"]


def check_targets(
    paths: Iterable[str | os.PathLike[str] | None],
    *,
    force: bool,
    never: Iterable[str | os.PathLike[str]] = (),
) -> None:
    """`check_target` for all files that one command writes, which must be different ones."""
    given = [path for path in paths if path is not None]
    if len({os.path.realpath(path) for path in given}) < len(given):
        raise InputError("two of the files to write are the same. Give them different names.")
    kept = list(never)
    for path in given:
        check_target(path, force=force, never=kept)


def check_no_link(path: str | os.PathLike[str]) -> None:
    """Refuse a target that is a symbolic link, wherever it points: who set it chooses the file that would be lost."""
    if os.path.islink(path):
        raise InputError(
            f"cannot write {os.fspath(path)!r}: it is a symbolic link, and links are not followed when files are "
            "written. Name the file itself, or remove the link."
        )


def in_real_folder(path: str | os.PathLike[str]) -> Path:
    """A target by the real name of its folder; the last part stays as it is, whatever it is by now."""
    target = Path(path)
    return Path(os.path.realpath(target.parent), target.name)


def check_target(
    path: str | os.PathLike[str],
    *,
    force: bool,
    never: Iterable[str | os.PathLike[str]] = (),
    is_replaceable: bool = True,
) -> None:
    """Refuse, before any work is done, a target that could not be written or would be lost.

    ``never`` lists files that must stay, whatever ``force`` says: the input above all. What is not replaceable must be
    new, whatever ``force`` says.
    """
    target = Path(path)
    check_no_link(target)
    if target.is_dir():
        raise InputError(f"cannot write {str(target)!r}: it is a directory.")
    if target.exists():
        if not target.is_file():
            raise InputError(f"cannot write {str(target)!r}: it is not an ordinary file.")
        if any(os.path.samefile(target, other) for other in never if os.path.exists(other)):
            raise InputError(f"{str(target)!r} is the input itself. Choose another name.")
        if not is_replaceable:
            raise InputError(f"{str(target)!r} exists already, and such a file is never replaced. Choose another name.")
        if not force:
            raise InputError(
                f"{str(target)!r} exists already. Choose another name, or replace it (force=True, --force)."
            )
    if not target.parent.is_dir():
        raise InputError(f"cannot write {str(target)!r}: there is no directory {str(target.parent)!r}.")


def write_text(path: str | os.PathLike[str], text: str, *, private: bool = False) -> None:
    """Write text in UTF-8, whole or not at all."""
    write_bytes(path, text.encode(), private=private)


def write_bytes(path: str | os.PathLike[str], content: bytes, *, private: bool = False) -> None:
    """Write under a temporary name in the same folder, then rename: no reader sees half a file.

    A private file can be read by its owner alone.
    """
    check_target(path, force=True)
    target = in_real_folder(path)  # a link that appears from here on is replaced, not followed
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise InputError(f"cannot write {str(target)!r}: {error.strerror}.") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o600 if private else 0o666 & ~_umask())
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
