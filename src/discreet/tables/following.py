"""How far a query of DuckDB is, told to whoever listens."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from discreet._support.progress import Stage

__all__ = ["following"]

#: Seconds between two looks at the progress of a query.
PAUSE = 0.2


@contextlib.contextmanager
def following(connection: Any, stage: Stage) -> Iterator[None]:
    """Ask a connection how far it is, from a second thread, while it works; where nobody listens it is left alone."""
    asked = getattr(connection, "query_progress", None)
    if not stage.is_heard or asked is None:
        yield
        return
    over = threading.Event()

    def ask() -> None:
        while not over.wait(PAUSE):
            stage.update(max(0, round(asked())), 100)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
