"""How far a query of DuckDB is, told to whoever listens."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from discreet._support.progress import Stage

__all__ = ["following"]

#: Seconds between two looks at the progress of a query.
PAUSE = 0.2


@contextlib.contextmanager
def following(connections: Sequence[Any], stage: Stage) -> Iterator[None]:
    """Ask connections how far they are, from another thread, while they work; where nobody listens they are left alone.

    DuckDB does not know it of all queries: then only the time goes on.
    """
    if not stage.is_heard or not connections:
        yield
        return
    over = threading.Event()

    def ask() -> None:
        while not over.wait(PAUSE):
            done = sum(max(0.0, connection.query_progress()) for connection in connections) / len(connections)
            if done >= 1:
                stage.update(round(done), 100)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
