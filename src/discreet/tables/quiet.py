"""Spark while it works for us: its loggers are silent, since they quote cells, and no name is taken for a variable.

Errors are raised in our words, so nothing is lost. Settings of a session of the caller's own come back when the last of
those who work in it is done.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any

__all__ = ["at_work"]

#: Loggers of pyspark itself, which print every error of a query with its message.
LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")

#: Setting that lets Spark replace ${...} in all that it parses, texts and names of columns included.
SUBSTITUTE = "spark.sql.variable.substitute"

Undo = Callable[[], None]
_lock = threading.Lock()
_held: dict[Hashable, tuple[int, Undo]] = {}


@contextlib.contextmanager
def at_work(session: Any) -> Iterator[None]:
    """A session whose loggers are silent and which takes texts as they are."""
    with (
        _shared(("logs", id(getattr(session, "_jvm", None))), lambda: _silence(session)),
        _shared(("settings", id(session)), lambda: _take_literally(session)),
    ):
        yield


@contextlib.contextmanager
def _shared(key: Hashable, start: Callable[[], Undo]) -> Iterator[None]:
    """A change that the first of several threads makes, and the last one takes back."""
    with _lock:
        users, undo = _held[key] if key in _held else (0, start())
        _held[key] = (users + 1, undo)
    try:
        yield
    finally:
        with _lock:
            users, undo = _held.pop(key)
            if users > 1:
                _held[key] = (users - 1, undo)
            else:
                with contextlib.suppress(Exception):  # a session that ended meanwhile has no settings any more
                    undo()


def _silence(session: Any) -> Undo:
    """Every logger of Spark off, on this side and in Java; the log of a server elsewhere is out of reach."""
    kind = getattr(sys.modules.get("pyspark.logger"), "PySparkLogger", None)
    ours = [] if kind is None else [kind.getLogger(name) for name in LOGGERS]
    before = [logger.disabled for logger in ours]
    for logger in ours:
        logger.disabled = True
    restore_java = _silence_java(getattr(session, "_jvm", None))

    def undo() -> None:
        for logger, disabled in zip(ours, before):
            logger.disabled = disabled
        restore_java()

    return undo


def _silence_java(jvm: Any) -> Undo:
    if jvm is None:
        return lambda: None
    logging = jvm.org.apache.logging.log4j
    context, off = logging.LogManager.getContext(False), logging.Level.OFF
    before = [(logger, logger.getExplicitLevel()) for logger in context.getConfiguration().getLoggers().values()]
    for logger, _ in before:
        logger.setLevel(off)
    context.updateLoggers()

    def undo() -> None:
        for logger, level in before:
            logger.setLevel(level)
        context.updateLoggers()

    return undo


def _take_literally(session: Any) -> Undo:
    before = session.conf.get(SUBSTITUTE, "true")
    session.conf.set(SUBSTITUTE, "false")
    return lambda: session.conf.set(SUBSTITUTE, before)
