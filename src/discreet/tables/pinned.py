"""Files that stay the same ones while a table is open, whatever becomes of their names.

Counting, checks, digests and the draw each open the files of a table again, by name. Whoever can turn a link or rename
a folder in between could show one table to the checks and another to the draw. So names are followed once: every file
is opened, and read through a private folder of links to what is open.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from discreet._support.errors import DiscreetError, UnreadableTableError
from discreet.tables.files import table_root
from discreet.tables.spill import private_folder

__all__ = ["pinned"]

#: Where the system shows what a process has open.
OPEN = Path("/proc/self/fd")

#: Open files that a process needs for other things.
SPARE = 128


@contextlib.contextmanager
def pinned(path: str, files: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Path and files of a table under names that lead to what is open now; as they are where that is not possible."""
    if not OPEN.is_dir():
        yield path, list(files)
        return
    _allow(len(files))
    root = table_root(path)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(private_folder()))
        links = []
        for file in files:
            try:
                handle = os.open(file, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            except OSError as error:
                raise UnreadableTableError(f"cannot read {file!r}: {error.strerror}.") from None
            stack.callback(os.close, handle)
            link = folder / os.path.relpath(file, root)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(OPEN / str(handle))
            links.append(str(link))
        with _named(str(folder), root):
            yield (links[0] if os.path.isfile(path) else str(folder)), links


def _allow(number: int) -> None:
    """Let the process hold as many files open, within what the system lets it have."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = len(os.listdir(OPEN)) + 2 * number + SPARE  # DuckDB opens each of them again
    if soft == resource.RLIM_INFINITY or wanted <= soft:
        return
    if hard != resource.RLIM_INFINITY and wanted > hard:
        raise UnreadableTableError(
            f"the table has {number} files, which are held open so that nobody can exchange them, and this process may "
            f"open {hard} only. Raise the limit (ulimit -n), or write the table to fewer files."
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextlib.contextmanager
def _named(folder: str, root: str) -> Iterator[None]:
    """Errors that name files as their owner knows them."""
    try:
        yield
    except DiscreetError as error:
        error.args = tuple(arg.replace(folder, root) if isinstance(arg, str) else arg for arg in error.args)
        raise
