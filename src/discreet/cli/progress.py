"""Progress on stderr, where a person watches."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["watched"]


@contextmanager
def watched(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function (done, total) that moves a bar on a terminal; None elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import Progress

    from discreet.reporting.text.console import make_console

    with Progress(console=make_console(sys.stderr), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
