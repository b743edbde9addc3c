"""What is being done just now: any room says it, and whoever listens shows it or writes it down.

Work that can take seconds is wrapped in a stage::

    with progress.stage("designing") as stage:
        stage.update(done, total, detail="keeps 0.81, at most 0.85")

Nobody hands a callback down: listeners are found in the context (`heard_by`). Without one a stage costs next to
nothing. Words and details name stages, columns and figures, never a cell of the table. Threads do not inherit the
context: a stage that is handed to a thread is heard all the same, one that is begun there is not.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from types import TracebackType
from typing import Protocol

__all__ = ["UNHEARD", "Listener", "Stage", "heard_by", "stage"]


class Listener(Protocol):
    """Who is told. Stages may move in threads; what a listener raises is lost, but for an interruption."""

    def began(self, stage: Stage) -> None:
        """A stage begins; those that began before and have not ended are around it."""

    def moved(self, stage: Stage) -> None:
        """There is news of it: its share, or its detail."""

    def ended(self, stage: Stage) -> None:
        """It is over; ``stage.failure`` names the kind of error that ended it, if one did."""


class Stage:
    """A piece of work that takes a while, how far it is, and its best so far."""

    __slots__ = ("_listeners", "_started", "detail", "done", "failure", "total", "words")

    def __init__(self, words: str, listeners: tuple[Listener, ...]) -> None:
        self.words = words
        self.done: float = 0
        self.total: float | None = None
        self.detail = ""
        self.failure: str | None = None
        self._listeners = listeners
        self._started = time.perf_counter()

    @property
    def is_heard(self) -> bool:
        """Whether anyone listens, for details that are dear to compute."""
        return bool(self._listeners)

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.perf_counter() - self._started

    def update(self, done: float | None = None, total: float | None = None, *, detail: str | None = None) -> None:
        """Say how far the work is; what is left out stays as it was."""
        if not self._listeners:
            return
        self.done = self.done if done is None else done
        self.total = self.total if total is None else total
        self.detail = self.detail if detail is None else detail
        self._tell(lambda listener: listener.moved(self))

    def __enter__(self) -> Stage:
        self._tell(lambda listener: listener.began(self))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if not self._listeners:
            return
        self.failure = None if kind is None else kind.__name__
        self._tell(lambda listener: listener.ended(self))

    def _tell(self, what: Callable[[Listener], None]) -> None:
        for listener in self._listeners:
            with suppress(Exception):  # whoever watches must not break the work
                what(listener)


_LISTENERS: ContextVar[tuple[Listener, ...]] = ContextVar("discreet-listeners", default=())

#: A stage that nobody hears, for work that is too small to speak of.
UNHEARD = Stage("", ())


def stage(words: str) -> Stage:
    """A stage for a ``with``, heard by the listeners of this context.

    >>> with stage("counting") as counting:
    ...     counting.update(1, 2)
    """
    listeners = _LISTENERS.get()
    return Stage(words, listeners) if listeners else UNHEARD


@contextmanager
def heard_by(*listeners: Listener) -> Iterator[None]:
    """Add listeners for as long as the block runs."""
    token = _LISTENERS.set((*_LISTENERS.get(), *listeners))
    try:
        yield
    finally:
        _LISTENERS.reset(token)
